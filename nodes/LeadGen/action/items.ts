import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { isTool } from '../common/compatibility';
import { count } from '../common/count';
import { LeadGenError, NotAttemptedError } from '../common/errors';
import { failedItem, nodeError } from '../common/nodeError';
import { show } from '../common/parameters';
import { takeTurns, throwIfStopped } from '../common/pause';
import { MAX_SOCKETS } from '../service/limits/inFlight';
import { Service } from '../service/service';
import { foresee, planItems, type Planned } from './dryRun';
import { chosenOperation, ItemParameters, nodeOf, runIndexOf } from './itemParameters';
import type { Operation } from './operations/operation';
import { readOutput } from './outputItem';
import { splitItems } from './outputs';
import { Progress, sum } from './progress';
import { dryRun, readRunSettings, requestTimeout } from './runOptions';

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
	const parameters = new ItemParameters(context);
	const progress = new Progress(context, inputs.length);
	const { stopButton, signal, giveUp } = stopSignals(context);
	progress.watch(stopButton);
	const connection = await connect(context, operation, parameters, progress, signal);

	const items = new Array<INodeExecutionData>(inputs.length);
	const results = new Array<IDataObject | undefined>(inputs.length);
	const planned = new Map<number, Planned>();
	let failure: { error: unknown; index: number } | undefined;
	let notAttempted = 0;
	// n8n needs milliseconds to resolve the expressions of an item. In between, let calls go out and answers come in.
	const turn = takeTurns();

	const runItem = async (index: number, input: INodeExecutionData) => {
		const own = parameters.of(index);
		const toItem = readOutput(own, input, index);
		if ('error' in connection) throw connection.error;
		const { service, isDryRun } = connection;
		await turn();
		throwIfStopped(signal);
		const prepared = operation.prepare(own);
		const foreseen = isDryRun ? await foresee(prepared, service) : undefined;
		if (foreseen) {
			planned.set(index, { ...foreseen, toItem });
			return;
		}
		let paidCalls = 0;
		const result = await prepared.run(
			reporting(service, () => paidCalls++),
			signal,
		);
		results[index] = result;
		items[index] = toItem(result, paidCalls);
	};
	const itemFailed = (error: unknown, index: number, input: INodeExecutionData) => {
		if (error instanceof NotAttemptedError) notAttempted++;
		if (context.continueOnFail()) items[index] = failedItem(context, error, input, index);
		else {
			failure ??= { error, index };
			// Wait for the calls in flight, because they may be paid for. Make no other call.
			giveUp();
		}
	};
	const queue = inputs.entries();
	const worker = async () => {
		for (const [index, input] of queue) {
			if (signal.aborted) return;
			await runItem(index, input).catch((error: unknown) => {
				itemFailed(error, index, input);
			});
			progress.itemDone();
		}
	};
	await Promise.all(Array.from({ length: Math.min(ITEMS_AT_ONCE, inputs.length) }, worker));

	progress.end();
	if (stopButton?.aborted) progress.sayScrapes();
	throwIfStopped(stopButton);
	const service = 'error' in connection ? undefined : connection.service;
	if (failure) {
		const remark = service ? boughtRemark(service, failure.error) : '';
		throw nodeError(context, failure.error, failure.index, remark);
	}
	for (const message of [...parameters.warnings, ...(service?.warnings ?? [])]) {
		progress.hint(message, 'warning');
	}
	const totals = planItems(planned, items);
	const failed = items.length - planned.size - results.filter(Boolean).length;
	if (planned.size > 0) progress.foresee(totals, failed);
	else if (service) progress.finish(service, { results, notAttempted });
	if (isInLoop(context, operation, inputs.length)) {
		progress.hint(
			'This node runs again for each item. It handles all items at once, so it needs no Loop Over Items node.',
			'info',
		);
	}
	return splitItems(operation, parameters.of(0), items, results, new Set(planned.keys()));
}

/** @returns a signal that ends the run: when the user presses Stop, or at a call of `giveUp` */
function stopSignals(context: IExecuteFunctions): {
	stopButton: AbortSignal | undefined;
	signal: AbortSignal;
	giveUp: () => void;
} {
	const stopButton = context.getExecutionCancelSignal();
	const own = new AbortController();
	const signal = stopButton ? AbortSignal.any([stopButton, own.signal]) : own.signal;
	const giveUp = () => {
		own.abort();
	};
	return { stopButton, signal, giveUp };
}

/**
 * The service for one run of the node. The options of the first item decide how calls are made.
 * @returns the error, with which each item fails, if it cannot be used
 */
async function connect(
	context: IExecuteFunctions,
	operation: Operation,
	parameters: ItemParameters,
	progress: Progress,
	signal: AbortSignal,
): Promise<{ service: Service; isDryRun: boolean } | { error: unknown }> {
	try {
		const options = parameters.of(0);
		const service = await Service.connect(context, options.option(requestTimeout) * 1000, {
			...readRunSettings(options, operation),
			executionId: context.getExecutionId(),
			place: nodeOf(context),
			payer: parameters.run,
			signal,
			onStart: progress.scrapeStarted.bind(progress),
		});
		progress.service = service;
		return { service, isDryRun: options.option(dryRun) };
	} catch (error) {
		return { error };
	}
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

/**
 * What the user must know before running a stopped node again.
 * @param error may already contain a part of it
 */
function boughtRemark({ bought, started, whenRunAgain }: Service, error: unknown): string {
	if (started.length > 0) {
		const ids = started.slice(0, MAX_SHOWN).map((answer) => show(answer.scrapeId ?? answer));
		const more = started.length > MAX_SHOWN ? ' …' : '';
		return `This run started ${count(started.length, 'scrape')}: ${ids.join(', ')}${more}. Before you run the workflow again, remove the items whose scrapes were started. Otherwise you pay for those scrapes again.`;
	}
	const paid = sum(bought);
	if (paid === 0) return '';
	const isSaid = error instanceof LeadGenError && error.advice.includes(whenRunAgain);
	return `This run paid for ${count(paid, 'result')}. ${isSaid ? '' : whenRunAgain}`;
}
