import { randomUUID } from 'crypto';
import { type IDataObject, type INodeExecutionData } from 'n8n-workflow';
import { addHint, mayEndEmpty, saveWithExecution } from '../common/compatibility';
import { LeadGenError, operationError } from '../common/errors';
import { isObject } from '../common/json';
import { show } from '../common/values';
import { throwIfStopped } from '../common/pause';
import { complete, type Completion } from './completion.execution';
import type { Delivery } from './gate';
import { PROCESS, type Executing } from './node';
import { leadsIn } from './notification';
import { asLeadGenError, errorText, type Ended } from './notices';
import { leadsField, output } from './properties';
import { startOnce, type Start } from './start.execution';

/** What an execution is for. It is in the item with which the execution begins, under {@link KEY}. */
export type Purpose = { start: Start } | { completion: Completion } | { notice: Notice };

/** What a failed execution tells the user about what happens without them. */
type Notice = Pick<LeadGenError, 'message' | 'advice'>;

const KEY = 'leadGenTrigger';

/** The item with which an execution begins. @param addresses where the node reaches itself */
export function itemFor(purpose: Purpose, addresses: string[]): INodeExecutionData {
	const delivery: Delivery = { delivery: randomUUID(), process: PROCESS, addresses };
	return { json: { [KEY]: { ...purpose, ...delivery } } };
}

/**
 * Runs first in each execution that the trigger begins, in any process: sends a start, or lets a completion through.
 * @returns no item if the execution ends here @throws NodeOperationError, unless the node is set to continue
 */
export async function execute(node: Executing): Promise<INodeExecutionData[][] | null> {
	const json = node.context.getInputData()[0]?.json ?? {};
	const purpose = json[KEY] as unknown as (Purpose & Delivery) | undefined;
	// A test run begins with its output.
	const result = purpose
		? await carryOut(node, purpose).catch(asLeadGenError)
		: outputItems(node, json, findLeads(node, json.notification));
	throwIfStopped(node.context.getExecutionCancelSignal());
	if (Array.isArray(result)) return [result];
	return result instanceof LeadGenError ? fail(node, result) : end(node, result);
}

async function carryOut(node: Executing, purpose: Purpose & Delivery) {
	// When the user retries it, this process may know better ones.
	node.addresses = node.state.place?.addresses ?? purpose.addresses;
	if ('notice' in purpose) {
		const isRetry = node.context.getMode() === 'retry';
		if (!isRetry) throw new LeadGenError(purpose.notice.message, purpose.notice.advice);
		const message = 'This execution only told you of a problem. There is nothing to retry.';
		return { message, event: 'nothing sent' };
	}
	if ('start' in purpose) return await startOnce(node, purpose, purpose.start);
	const leads = findLeads(node, purpose.completion.notification);
	const completed = await complete(node, purpose, purpose.completion, leads !== undefined);
	return 'json' in completed ? outputItems(node, completed.json, leads) : completed;
}

/** The leads of a notification, if it has any. */
function findLeads({ parameters }: Executing, notification: unknown): unknown[] | undefined {
	return isObject(notification) ? leadsIn(notification, parameters.option(leadsField)) : undefined;
}

/** One item for a finished scrape, or for each lead. @param json the fields of the scrape, and the notification */
function outputItems(
	node: Executing,
	json: IDataObject,
	leads: unknown[] | undefined,
): INodeExecutionData[] {
	const { context, parameters } = node;
	const { notification, hint, ...scrape } = json;
	const { scrapeId, status } = scrape;
	label(node, scrapeId, status);
	if (typeof hint === 'string') addHint(context, { message: hint, type: 'warning' });
	const whole = [{ json: { ...scrape, notification }, pairedItem: { item: 0 } }];
	if (parameters.get(output) !== 'leads') return whole;
	if (!leads) {
		const path = parameters.option(leadsField);
		const where = path === '' ? '' : ` at "${path}" (see 'Leads Field')`;
		const message = `The notification holds no leads${where}, so the output is one item for the scrape.`;
		addHint(context, { message, type: 'warning' });
		// Without an item, the workflow would end silently.
		return whole;
	}
	return leads.map((lead) => ({
		json: { scrapeId, scrapeStatus: status, ...(isObject(lead) ? lead : { lead: lead as string }) },
		pairedItem: { item: 0 },
	}));
}

function textOf(value: unknown): string {
	return typeof value === 'string' ? value : show(value);
}

/** Saves with the execution what it was about, so that the list of executions can be filtered by it. */
function label({ context }: Executing, scrapeId: unknown, event: unknown): void {
	if (scrapeId !== undefined) saveWithExecution(context, 'leadgen', textOf(scrapeId));
	saveWithExecution(context, 'leadgen_event', textOf(event));
}

/** Ends the execution as a success. It says why, in a hint where n8n allows an empty output. */
function end(node: Executing, ended: Ended): INodeExecutionData[][] | null {
	const { context } = node;
	const { message, event, scrapeId, type = 'info' } = ended;
	node.log(type === 'info' ? 'info' : 'warn', `execution ${context.getExecutionId()}: ${message}`);
	label(node, scrapeId, event);
	addHint(context, { message, type });
	return mayEndEmpty(context) ? [[]] : null;
}

/** Ends the execution as a failure, in the way that the user chose under On Error. */
function fail(node: Executing, error: LeadGenError): INodeExecutionData[][] | null {
	const own = node.context.getNode();
	const { message, advice } = error;
	if (own.onError === 'continueErrorOutput') return [[{ json: { error: { message, advice } } }]];
	// With "Continue", n8n would pass the failure on as if it were a scrape.
	if (own.onError === 'continueRegularOutput')
		return end(node, { message: errorText(error), event: 'failed', type: 'warning' });
	throw operationError(own, message, advice);
}
