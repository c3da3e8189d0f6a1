import { randomUUID } from 'crypto';
import { NodeOperationError, type IDataObject, type INodeExecutionData } from 'n8n-workflow';
import { addHint, mayEndEmpty, saveWithExecution } from '../common/compatibility';
import { throwIfStopped } from '../common/pause';
import { complete, type Completion } from './completion';
import { Gate, type Delivery } from './gate';
import type { Executing } from './node';
import { PROCESS } from './nodeMemory';
import { Notification } from './notification';
import { outputItems } from './output';
import { Ended, textOf, type NoticeText } from './notices';
import { start, type Start } from './startExecution';

/** What an execution is for. It is in the item with which the execution begins, under {@link KEY}. */
export type Purpose = { start: Start } | { completion: Completion } | { notice: NoticeText };

const KEY = 'leadGenTrigger';

/** The item with which an execution begins. @param addresses where the node reaches itself */
export function itemFor(purpose: Purpose, addresses: string[]): INodeExecutionData {
	const delivery: Delivery = { delivery: randomUUID(), process: PROCESS, addresses };
	return { json: { [KEY]: { ...purpose, ...delivery } } };
}

/**
 * Runs first in each execution that the trigger begins, in any process: sends a start, or lets a completion through.
 * @returns no item if the execution ends here
 * @throws NodeOperationError with a message for the user, unless the node is set to continue
 */
export async function execute(node: Executing): Promise<INodeExecutionData[][] | null> {
	const { context } = node;
	const json = context.getInputData()[0]?.json ?? {};
	const purpose = json[KEY] as unknown as (Purpose & Delivery) | undefined;
	if (!purpose) return [testOutput(node, json)];
	node.known = purpose.addresses;
	const result = await run(node, purpose, new Gate(node, purpose)).catch(textOf);
	throwIfStopped(context.getExecutionCancelSignal());
	if (Array.isArray(result)) return [result];
	return result instanceof Ended ? end(node, result) : fail(node, result);
}

async function run(node: Executing, purpose: Purpose, gate: Gate) {
	if ('notice' in purpose) return purpose.notice;
	if ('start' in purpose) return await start(node, gate, purpose.start);
	return await complete(node, gate, purpose.completion);
}

/** A test run begins with its output. */
function testOutput(node: Executing, { hint, notification, ...status }: IDataObject) {
	if (typeof hint === 'string') addHint(node.context, { message: hint, type: 'warning' });
	return outputItems(node, status, new Notification((notification ?? null) as IDataObject | null));
}

/** Ends the execution as a success. It says why, in a hint where n8n allows an empty output. */
function end(node: Executing, { message, type }: Ended): INodeExecutionData[][] | null {
	const { context } = node;
	node.log('info', `execution ${context.getExecutionId()}: ${message}`);
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
function fail(node: Executing, { message, advice }: NoticeText): INodeExecutionData[][] | null {
	const own = node.context.getNode();
	if (own.onError === 'continueErrorOutput') return [[{ json: { error: { message, advice } } }]];
	// With "Continue", n8n would pass the failure on as if it were a scrape.
	if (own.onError === 'continueRegularOutput') {
		node.log('error', `${message}. ${advice}`);
		return end(node, new Ended(`${message}. ${advice}`, 'warning'));
	}
	throw new NodeOperationError(own, message, { description: advice });
}
