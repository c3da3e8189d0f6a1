import { randomUUID } from 'crypto';
import {
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { addHint, mayEndEmpty, saveWithExecution } from '../common/compatibility';
import { throwIfStopped } from '../common/pause';
import { complete, type Completion } from './completion';
import { contentsOf } from './contents';
import type { Delivery } from './gate';
import { leadsIn } from './leads';
import { PROCESS } from './nodeMemory';
import { outputItems } from './output';
import { Ended, textOf, type NoticeText } from './notices';
import { parametersOf } from './scrape';
import { start, type Start } from './startExecution';

/** What an execution is for. It is in the item with which the execution begins, under {@link KEY}. */
export type Purpose = { start: Start } | { completion: Completion } | { notice: NoticeText };

const KEY = 'leadGenTrigger';

/** The item with which an execution begins. */
export function itemFor(purpose: Purpose): INodeExecutionData {
	const delivery: Delivery = { delivery: randomUUID(), process: PROCESS };
	return { json: { [KEY]: { ...purpose, ...delivery } } };
}

/**
 * Runs first in each execution that the trigger begins, in any process: sends a start, or lets a completion through.
 * @returns no item if the execution ends here
 * @throws NodeOperationError with a message for the user, unless the node is set to continue
 */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[][] | null> {
	const json = context.getInputData()[0]?.json ?? {};
	const purpose = json[KEY] as unknown as (Purpose & Delivery) | undefined;
	if (!purpose) return [testOutput(context, json)];
	const result = await run(context, purpose).catch(textOf);
	throwIfStopped(context.getExecutionCancelSignal());
	if (Array.isArray(result)) return [result];
	return result instanceof Ended ? end(context, result) : fail(context, result);
}

async function run(
	context: IExecuteFunctions,
	purpose: Purpose & Delivery,
): Promise<INodeExecutionData[] | Ended | NoticeText> {
	if ('notice' in purpose) return purpose.notice;
	if ('start' in purpose) return await start(context, purpose.start, purpose);
	return await complete(context, purpose.completion, purpose);
}

/** A test run begins with its output. */
function testOutput(
	context: IExecuteFunctions,
	{ hint, ...json }: IDataObject,
): INodeExecutionData[] {
	if (typeof hint === 'string') addHint(context, { message: hint, type: 'warning' });
	const { body } = (json.notification ?? {}) as IDataObject;
	return outputItems(context, parametersOf(context), json, leadsIn(contentsOf(body)));
}

/** Ends the execution as a success. It says why, in a hint where n8n allows an empty output. */
function end(context: IExecuteFunctions, { message, type }: Ended): INodeExecutionData[][] | null {
	context.logger.info(`LeadGen Trigger: execution ${context.getExecutionId()}: ${message}`);
	if (context.getNode().alwaysOutputData === true) {
		throw new NodeOperationError(context.getNode(), message, {
			description: `The execution ends here, so that it does not run the workflow without data. Switch off 'Always Output Data' in the settings of this node.`,
		});
	}
	addHint(context, { message, type });
	if (mayEndEmpty(context)) return [[]];
	saveWithExecution(context, 'leadgen', message.split(' '));
	return null;
}

/** Ends the execution as a failure, in the way that the user chose under On Error. */
function fail(
	context: IExecuteFunctions,
	{ message, advice }: NoticeText,
): INodeExecutionData[][] | null {
	const { onError } = context.getNode();
	if (onError === 'continueErrorOutput') return [[{ json: { error: { message, advice } } }]];
	// With "Continue", n8n would pass the failure on as if it were a scrape.
	if (onError === 'continueRegularOutput') {
		context.logger.error(`LeadGen Trigger: ${message}. ${advice}`);
		return end(context, new Ended(`${message}. ${advice}`, 'warning'));
	}
	throw new NodeOperationError(context.getNode(), message, { description: advice });
}
