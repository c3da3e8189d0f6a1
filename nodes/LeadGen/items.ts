import {
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type NodeParameterValueType,
} from 'n8n-workflow';
import { foresee, planItems, type Foreseen } from './dryRun';
import { isTool } from './compatibility';
import { failedItem, nodeError } from './nodeError';
import { resources } from './operations';
import type { Operation } from './operations/operation';
import { splitItems } from './outputs';
import { Parameters, show } from './parameters';
import { takeTurns, throwIfStopped } from './pause';
import { count } from './count';
import { Progress, sum } from './progress';
import { includeInput, resultField } from './properties';
import { dryRun, readRunSettings, requestTimeout } from './runOptions';
import { LeadGenError } from './service/errors';
import { MAX_SOCKETS } from './service/limits/inFlight';
import { Service } from './service/service';

/** Items that are processed at once: as many as can have a call in flight. */
const ITEMS_AT_ONCE = MAX_SOCKETS;

/** The maximum number of scrapes that an error names. */
const MOST_SHOWN = 1000;

/**
 * Runs the selected operation for every incoming item.
 * @returns the items by output: one for each incoming item, in the same order, and paired with it
 * @throws NodeApiError or NodeOperationError for the first item that fails, unless the node is set to continue; then
 * the item contains the error
 */
export async function runItems(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const operation = chosenOperation(context);
	const inputs = context.getInputData();
	const results = new Array<IDataObject | undefined>(inputs.length);
	const items = new Array<INodeExecutionData>(inputs.length);
	const planned = new Map<number, Foreseen>();
	let failure: { error: unknown; index: number } | undefined;

	const stopButton = context.getExecutionCancelSignal();
	const giveUp = new AbortController();
	const signal = stopButton ? AbortSignal.any([stopButton, giveUp.signal]) : giveUp.signal;
	const connecting = connect(context, operation, signal);
	const progress = new Progress(context, inputs.length);
	const place = placeOf(context);
	const read = readerOf(context);

	// n8n needs milliseconds to resolve the expressions of an item. In between, let calls go out and answers come in.
	const turn = takeTurns();

	const runItem = async (index: number, input: INodeExecutionData) => {
		const parameters = parametersOf(context, index, `${place} ${String(index)}`, read);
		try {
			const toItem = readOutput(parameters, input, index);
			const { service, isDryRun } = await connecting;
			await turn();
			throwIfStopped(signal);
			const foreseen = isDryRun ? foresee(operation, parameters, service) : undefined;
			if (foreseen) {
				planned.set(index, foreseen);
				return;
			}
			const result = await operation.run(parameters, service, signal);
			results[index] = result;
			items[index] = toItem(result);
		} catch (error) {
			if (context.continueOnFail()) items[index] = failedItem(context, error, input, index);
			else {
				failure ??= { error, index };
				// Wait for the calls in flight, because they may be paid for. Make no other call.
				giveUp.abort();
			}
		}
	};
	const queue = inputs.entries();
	const worker = async () => {
		for (const [index, input] of queue) {
			if (signal.aborted) return;
			await runItem(index, input);
			progress.itemDone();
		}
	};
	await Promise.all(Array.from({ length: Math.min(ITEMS_AT_ONCE, inputs.length) }, worker));

	throwIfStopped(stopButton);
	if (failure) {
		const connection = await connecting.catch(() => undefined);
		const remark = connection ? boughtRemark(connection.service, failure.error) : '';
		throw nodeError(context, failure.error, failure.index, remark);
	}
	const totals = planItems(planned, items);
	const connection = await connecting.catch(() => undefined);
	if (connection) progress.finish(connection.service);
	if (planned.size > 0) progress.foresee(totals);
	return splitItems(operation, parametersOf(context, 0), items, results);
}

function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const name = context.getNodeParameter('operation', 0);
	const operation = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === name);
	if (operation) return operation;
	throw new NodeOperationError(
		context.getNode(),
		`There is no operation "${name}" for the resource "${resource}"`,
		{ description: 'Choose a resource and an operation from the lists of the node.' },
	);
}

/**
 * Reads a parameter of an item. n8n is slow at this, so a parameter without an expression is read once for all items.
 */
type Reader = (path: string, index: number, ifMissing?: NodeParameterValueType) => unknown;

function readerOf(context: IExecuteFunctions): Reader {
	const { options, ...others } = context.getNode().parameters;
	const inOptions = Object.entries((options ?? {}) as IDataObject);
	const all = new Map<string, unknown>([
		...inOptions.map(([name, value]) => [`options.${name}`, value] as const),
		...Object.entries(others),
	]);
	const isChanging = (path: string) => JSON.stringify([all.get(path)]).includes('"=');
	const changing = new Set([...all.keys()].filter(isChanging));
	const fixed = new Map<string, unknown>();
	return (path, index, ifMissing) => {
		const read = (): unknown => context.getNodeParameter(path, index, ifMissing);
		if (changing.has(path)) return read();
		if (!fixed.has(path)) fixed.set(path, read());
		return fixed.get(path);
	};
}

/** If the node is a tool of an AI agent, n8n counts each retry as another run, so the place identifies nothing. */
function parametersOf(
	context: IExecuteFunctions,
	index: number,
	place = '',
	read = readerOf(context),
): Parameters {
	const tool = isTool(context);
	return new Parameters((path, ifMissing) => read(path, index, ifMissing), tool ? '' : place, tool);
}

/** The service for one run of the node. The options of the first item decide how calls are made. */
async function connect(
	context: IExecuteFunctions,
	operation: Operation,
	signal: AbortSignal,
): Promise<{ service: Service; isDryRun: boolean }> {
	const options = parametersOf(context, 0);
	const service = await Service.connect(context, options.option(requestTimeout) * 1000, {
		...readRunSettings(options, operation),
		executionId: context.getExecutionId(),
		place: placeOf(context),
		signal,
	});
	return { service, isDryRun: options.option(dryRun) };
}

/** The place in the execution where the node runs. It stays the same when n8n runs the node again. */
function placeOf(context: IExecuteFunctions): string {
	const run = isTool(context) ? 'tool' : String(context.getWorkflowDataProxy(0).$runIndex);
	return `${context.getExecutionId()} ${context.getNode().id} ${run}`;
}

/**
 * Reads how a result becomes an item: alone or with the incoming fields, flat or in a field.
 * @throws InputError before anything is paid for
 */
function readOutput(
	parameters: Parameters,
	input: INodeExecutionData,
	item: number,
): (result: IDataObject) => INodeExecutionData {
	const field = parameters.option(resultField);
	const isIncluded = parameters.option(includeInput);
	return (result) => {
		const json = field === '' ? result : { [field]: result };
		return isIncluded
			? {
					json: { ...input.json, ...json },
					...(input.binary && { binary: input.binary }),
					pairedItem: { item },
				}
			: { json, pairedItem: { item } };
	};
}

/**
 * What the user must know before running a stopped node again.
 * @param error may already contain a part of it
 */
function boughtRemark({ bought, started, whenRunAgain }: Service, error: unknown): string {
	if (started.length > 0) {
		const ids = started.slice(0, MOST_SHOWN).map(({ scrapeId }) => show(scrapeId));
		const more = started.length > MOST_SHOWN ? ' …' : '';
		return `This run started ${count(started.length, 'scrape')}: ${ids.join(', ')}${more}. Before you run the workflow again, remove the items whose scrapes were started. Otherwise you pay for those scrapes again.`;
	}
	const paid = sum(bought);
	if (paid === 0) return '';
	const isSaid = error instanceof LeadGenError && error.advice.includes(whenRunAgain);
	return `This run paid for ${count(paid, 'result')}. ${isSaid ? '' : whenRunAgain}`;
}
