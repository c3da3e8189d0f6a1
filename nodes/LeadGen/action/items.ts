import type { IExecuteFunctions, INodeExecutionData, NodeExecutionHint } from 'n8n-workflow';
import { addHint } from '../common/compatibility';
import { nodeError } from '../common/errors';
import { anySignal, takeTurns, throwIfStopped } from '../common/pause';
import { CREDENTIAL_TYPE } from '../service/account';
import { MAX_SOCKETS } from '../service/limits/traffic';
import { ItemService, PaidCallLimit } from '../service/itemService';
import { Service } from '../service/service';
import { chosenOperation, ItemParameters } from './itemParameters';
import type { Operation } from './operations/operation';
import { ItemOutput } from './itemOutput';
import { splitItems, type Outcome } from './outputs';
import { sayProgress } from './progress';
import { readRunOptions } from './runOptions';
import { StartedScrapes } from './startedScrapes';
import { boughtRemark, summaryOf } from './summary';

const LOOP_HINT: NodeExecutionHint = {
	message:
		'This node runs again for each item. It handles all items at once, so it needs no Loop Over Items node.',
	type: 'info',
};

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
	const scrapes = new StartedScrapes(context);
	const connecting = connect(context, operation, parameters, scrapes, signal);
	// If it failed, so does each item.
	const connection = await connecting.catch(() => undefined);
	const began = Date.now();
	const over = new AbortController();
	let done = 0;
	sayProgress(context, inputs.length, () => done, over.signal).catch(() => {});

	const outcomes = new Array<Outcome>(inputs.length);
	let failure: { error: unknown; index: number } | undefined;
	// n8n needs milliseconds to resolve the expressions of an item. In between, let calls go out and answers come in.
	const letOthersRun = takeTurns();

	const runItem = async (input: INodeExecutionData, index: number): Promise<Outcome> => {
		const own = parameters.of(index);
		const output = new ItemOutput(context, operation, input, index);
		try {
			output.configure(own);
			const { service, isDryRun, limit } = await connecting;
			await letOthersRun();
			throwIfStopped(signal);
			const prepared = operation.prepare(own);
			const { request, mayFollow = 0 } = prepared;
			const { path, body = {} } = request;
			const item = new ItemService(service, limit);
			const result = isDryRun
				? { dryRun: true, call: service.foresee(request), path, request: body, mayFollow }
				: await item.during(1 + mayFollow, async () => {
						throwIfStopped(signal);
						return await (prepared.run?.(item) ?? item.data(request));
					});
			return { item: output.result(result, isDryRun), result };
		} catch (error) {
			if (!context.continueOnFail()) {
				failure ??= { error, index };
				// Wait for the calls in flight, because they may be paid for. Make no other call.
				givenUp.abort();
			}
			return { item: output.failed(error), error };
		}
	};
	const queue = inputs.entries();
	const worker = async () => {
		for (const [index, input] of queue) {
			if (signal.aborted) return;
			outcomes[index] = await runItem(input, index);
			done++;
		}
	};
	// As many at once as can have a call in flight.
	await Promise.all(Array.from({ length: Math.min(MAX_SOCKETS, inputs.length) }, worker));

	over.abort();
	throwIfStopped(stopButton);
	if (failure) {
		const remark = connection && boughtRemark(connection.service, scrapes.ids, failure.error);
		throw nodeError(context, failure.error, failure.index, remark);
	}
	const isDryRun = connection?.isDryRun === true;
	// A loop gives the items to the node one by one. One that waits for scrapes does not matter.
	const isInLoop = operation.paid === 'lookup' && inputs.length === 1 && parameters.runIndex > 0;
	const hints: NodeExecutionHint[] = [
		...[...parameters.warnings].map((message) => ({ message, type: 'warning' as const })),
		...(connection ? [summaryOf(connection.service, isDryRun, outcomes, began)] : []),
		...(isInLoop ? [LOOP_HINT] : []),
	];
	for (const hint of hints) addHint(context, hint);
	return splitItems(operation, parameters.of(0), outcomes, isDryRun);
}

/** Uses the credential and the options of the first item for all items. */
async function connect(
	context: IExecuteFunctions,
	operation: Operation,
	parameters: ItemParameters,
	scrapes: StartedScrapes,
	signal: AbortSignal,
): Promise<{ service: Service; isDryRun: boolean; limit: PaidCallLimit | undefined }> {
	const { isDryRun, maxPaidCalls, ...options } = readRunOptions(parameters.of(0), operation);
	const executionId = context.getExecutionId();
	const service = new Service(context, await context.getCredentials(CREDENTIAL_TYPE, 0), {
		...options,
		executionId,
		payer: parameters.run,
		signal,
		onStart: scrapes.add.bind(scrapes),
	});
	const hasLimit = maxPaidCalls < Infinity;
	const { name } = context.getNode();
	const limit = hasLimit ? PaidCallLimit.of(maxPaidCalls, executionId, name) : undefined;
	return { service, isDryRun, limit };
}
