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
import { includeCost, includeInput, resultField } from './properties';
import { dryRun, readRunSettings, requestTimeout } from './runOptions';
import { LeadGenError, NotAttemptedError } from './service/errors';
import { MAX_SOCKETS } from './service/limits/inFlight';
import { Service } from './service/service';

/** Items that are processed at once: as many as can have a call in flight. */
const ITEMS_AT_ONCE = MAX_SOCKETS;

/** The maximum number of scrapes that an error names. */
const MAX_SHOWN = 1000;

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
	const progress = new Progress(context, inputs.length);
	const connecting = connect(context, operation, signal, progress);
	stopButton?.addEventListener('abort', () => {
		progress.stopped();
	});
	const place = `${nodeOf(context)} ${String(runIndexOf(context))}`;
	const read = readerOf(context);
	const warnings = new Set<string>();
	const warn = (message: string) => void warnings.add(message);
	let notAttempted = 0;

	// n8n needs milliseconds to resolve the expressions of an item. In between, let calls go out and answers come in.
	const turn = takeTurns();

	const runItem = async (index: number, input: INodeExecutionData) => {
		const own = `${place} ${String(index)}`;
		const parameters = parametersOf(context, index, own, read, warn);
		let paidCalls = 0;
		try {
			const toItem = readOutput(parameters, input, index);
			const { service, isDryRun } = await connecting;
			await turn();
			throwIfStopped(signal);
			const foreseen = isDryRun ? await foresee(operation, parameters, service) : undefined;
			if (foreseen) {
				planned.set(index, foreseen);
				return;
			}
			const counting = reporting(service, () => paidCalls++);
			const result = await operation.run(parameters, counting, signal);
			results[index] = result;
			items[index] = toItem(result, paidCalls);
		} catch (error) {
			if (error instanceof NotAttemptedError) notAttempted++;
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

	progress.end();
	if (stopButton?.aborted) progress.sayScrapes();
	throwIfStopped(stopButton);
	if (failure) {
		const connection = await connecting.catch(() => undefined);
		const remark = connection ? boughtRemark(connection.service, failure.error) : '';
		throw nodeError(context, failure.error, failure.index, remark);
	}
	const totals = planItems(planned, items);
	const failed = items.length - planned.size - results.filter(Boolean).length;
	const connection = await connecting.catch(() => undefined);
	for (const message of [...warnings, ...(connection?.service.warnings ?? [])]) {
		progress.hint(message, 'warning');
	}
	if (planned.size > 0) progress.foresee(totals, failed);
	else if (connection) progress.finish(connection.service, { results, notAttempted });
	if (isInLoop(context, operation, inputs.length)) {
		progress.hint(
			'This node runs again for each item. It handles all items at once, so it needs no Loop Over Items node.',
			'info',
		);
	}
	return splitItems(operation, parametersOf(context, 0), items, results, new Set(planned.keys()));
}

/** The service, which also reports each call that is paid for. */
function reporting(service: Service, onPaid: () => void): Service {
	const own = Object.create(service) as Service;
	own.call = async (request) => await service.call({ ...request, onPaid });
	return own;
}

/** Whether a loop gives the items to the node one by one. A loop that waits for scrapes does not matter. */
function isInLoop(context: IExecuteFunctions, { paid }: Operation, items: number): boolean {
	return paid === 'lookup' && items === 1 && !isTool(context) && runIndexOf(context) > 0;
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
	warn?: (message: string) => void,
): Parameters {
	const tool = isTool(context);
	const raw = (path: string, ifMissing?: NodeParameterValueType) => read(path, index, ifMissing);
	return new Parameters(raw, tool ? '' : place, tool, warn);
}

/** The service for one run of the node. The options of the first item decide how calls are made. */
async function connect(
	context: IExecuteFunctions,
	operation: Operation,
	signal: AbortSignal,
	progress: Progress,
): Promise<{ service: Service; isDryRun: boolean }> {
	const options = parametersOf(context, 0);
	const service = await Service.connect(context, options.option(requestTimeout) * 1000, {
		...readRunSettings(options, operation),
		executionId: context.getExecutionId(),
		place: nodeOf(context),
		signal,
		onStart: progress.scrapeStarted.bind(progress),
	});
	progress.service = service;
	return { service, isDryRun: options.option(dryRun) };
}

/** The node in its execution. It stays the same when n8n runs the node again, and in a loop. */
function nodeOf(context: IExecuteFunctions): string {
	return `${context.getExecutionId()} ${context.getNode().id}`;
}

/** How often a loop has run the node before. */
function runIndexOf(context: IExecuteFunctions): number {
	return context.getWorkflowDataProxy(0).$runIndex as number;
}

/**
 * Reads how a result becomes an item: alone or with the incoming fields, flat or in a field.
 * @throws InputError before anything is paid for
 */
function readOutput(
	parameters: Parameters,
	input: INodeExecutionData,
	item: number,
): (result: IDataObject, paidCalls: number) => INodeExecutionData {
	const field = parameters.option(resultField);
	const isIncluded = parameters.option(includeInput);
	const hasCost = parameters.option(includeCost);
	return (result, paidCalls) => {
		const ordered = { ...inOrder(result), ...(hasCost && { paidCalls }) };
		const json = field === '' ? ordered : { [field]: ordered };
		return isIncluded
			? {
					json: { ...input.json, ...json },
					...(input.binary && { binary: input.binary }),
					pairedItem: { item },
				}
			: { json, pairedItem: { item } };
	};
}

/** With the fields first for which users look. */
function inOrder(result: IDataObject): IDataObject {
	if (!('email' in result)) return result;
	const first = ['email', 'status', 'confidence'].filter((name) => name in result);
	return { ...Object.fromEntries(first.map((name) => [name, result[name]])), ...result };
}

/**
 * What the user must know before running a stopped node again.
 * @param error may already contain a part of it
 */
function boughtRemark({ bought, started, whenRunAgain }: Service, error: unknown): string {
	if (started.length > 0) {
		const ids = started.slice(0, MAX_SHOWN).map(({ scrapeId }) => show(scrapeId));
		const more = started.length > MAX_SHOWN ? ' …' : '';
		return `This run started ${count(started.length, 'scrape')}: ${ids.join(', ')}${more}. Before you run the workflow again, remove the items whose scrapes were started. Otherwise you pay for those scrapes again.`;
	}
	const paid = sum(bought);
	if (paid === 0) return '';
	const isSaid = error instanceof LeadGenError && error.advice.includes(whenRunAgain);
	return `This run paid for ${count(paid, 'result')}. ${isSaid ? '' : whenRunAgain}`;
}
