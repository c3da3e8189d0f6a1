import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';
import { addHint } from '../common/compatibility';
import { failedItem, nodeError } from '../common/nodeError';
import { anySignal, takeTurns, throwIfStopped } from '../common/pause';
import { MAX_SOCKETS } from '../service/limits/traffic';
import { ItemService, PaidCallLimit } from '../service/itemService';
import { Service } from '../service/service';
import { Accounts } from './accounts';
import { DryRun } from './dryRun';
import { chosenOperation, ItemParameters } from './itemParameters';
import type { Operation } from './operations/operation';
import { costOf, namesOfResult, readOutput, splitItems, type Outcome } from './outputs';
import { sayProgress } from './progress';
import { readRunOptions } from './runOptions';
import { StartedScrapes } from './startedScrapes';
import { boughtRemark, summaryOf } from './summary';

/** Items that are processed at once: as many as can have a call in flight. */
const ITEMS_AT_ONCE = MAX_SOCKETS;

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
	const stopButton = context.getExecutionCancelSignal();
	const givenUp = new AbortController();
	const signal = anySignal(stopButton, givenUp.signal);
	const scrapes = new StartedScrapes(context, stopButton);
	const connecting = connect(context, operation, parameters, scrapes, signal);
	// If it failed, so does each item.
	const accounts = (await connecting.catch(() => undefined))?.accounts;
	await accounts?.of(0).catch(() => {});
	const dryRun = new DryRun();
	const began = Date.now();
	const over = new AbortController();
	let done = 0;
	sayProgress(context, inputs.length, () => done, over.signal).catch(() => {});

	const outcomes = new Array<Outcome>(inputs.length);
	let failure: { error: unknown; index: number } | undefined;
	// n8n needs milliseconds to resolve the expressions of an item. In between, let calls go out and answers come in.
	const letOthersRun = takeTurns();

	const runItem = async (index: number, input: INodeExecutionData): Promise<Outcome> => {
		const own = parameters.of(index);
		let used: ItemService | undefined;
		try {
			const toItem = readOutput(operation, own, input, index);
			const { accounts, isDryRun, limit } = await connecting;
			const service = await accounts.of(index);
			await letOthersRun();
			throwIfStopped(signal);
			const prepared = operation.prepare(own);
			const { request, mayFollow = 0 } = prepared;
			if (isDryRun)
				return { item: toItem(dryRun.plan(request, mayFollow, service)), isPlanned: true };
			const item = new ItemService(service, limit);
			used = item;
			const result = await item.during(request, mayFollow, async () => {
				throwIfStopped(signal);
				return await (prepared.run?.(item) ?? item.data(request));
			});
			return { item: toItem(result, item.paidCalls), result };
		} catch (error) {
			return itemFailed(error, index, input, used?.paidCalls ?? 0);
		}
	};
	const itemFailed = (
		error: unknown,
		index: number,
		input: INodeExecutionData,
		paidCalls: number,
	): Outcome => {
		if (!context.continueOnFail()) {
			failure ??= { error, index };
			// Wait for the calls in flight, because they may be paid for. Make no other call.
			givenUp.abort();
		}
		const own = parameters.of(index);
		const names = namesOfResult(operation, own);
		const cost = costOf(own, paidCalls);
		return { item: failedItem(context, error, input, index, names, cost), error, paidCalls };
	};
	await forEachAtOnce(inputs, signal, async (input, index) => {
		outcomes[index] = await runItem(index, input);
		done++;
	});

	over.abort();
	scrapes.end();
	throwIfStopped(stopButton);
	const services = accounts?.all ?? [];
	if (failure) {
		const remark = scrapes.remark ?? boughtRemark(services, failure.error);
		throw nodeError(context, failure.error, failure.index, remark);
	}
	for (const message of parameters.warnings) addHint(context, { message, type: 'warning' });
	if (services.length > 0) {
		addHint(context, summaryOf(services, outcomes, dryRun.totals, began));
	}
	// A loop gives the items to the node one by one. One that waits for scrapes does not matter.
	if (operation.paid === 'lookup' && inputs.length === 1 && parameters.runIndex > 0) {
		addHint(context, {
			message:
				'This node runs again for each item. It handles all items at once, so it needs no Loop Over Items node.',
			type: 'info',
		});
	}
	return splitItems(operation, parameters.of(0), outcomes);
}

/** The accounts for one run of the node. The options of the first item decide how calls are made. */
async function connect(
	context: IExecuteFunctions,
	operation: Operation,
	parameters: ItemParameters,
	scrapes: StartedScrapes,
	signal: AbortSignal,
): Promise<{ accounts: Accounts; isDryRun: boolean; limit: PaidCallLimit | undefined }> {
	const { isDryRun, maxPaidCalls, ...options } = readRunOptions(parameters.of(0), operation);
	const executionId = context.getExecutionId();
	const settings = {
		...options,
		executionId,
		payer: parameters.run,
		signal,
		onStart: scrapes.add.bind(scrapes),
	};
	const begin = (credential: ICredentialDataDecryptedObject) =>
		new Service(context, credential, settings);
	const limit =
		maxPaidCalls < Infinity
			? new PaidCallLimit(maxPaidCalls, executionId, context.getNode().name)
			: undefined;
	return await Promise.resolve({ accounts: new Accounts(context, begin, signal), isDryRun, limit });
}

/** Begins no further item once the signal is aborted. */
async function forEachAtOnce<T>(
	items: T[],
	signal: AbortSignal,
	run: (item: T, index: number) => Promise<void>,
): Promise<void> {
	const queue = items.entries();
	const worker = async () => {
		for (const [index, item] of queue) {
			if (signal.aborted) return;
			await run(item, index);
		}
	};
	await Promise.all(Array.from({ length: Math.min(ITEMS_AT_ONCE, items.length) }, worker));
}
