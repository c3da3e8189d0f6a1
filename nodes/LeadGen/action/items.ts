import {
	NodeOperationError,
	type IExecuteFunctions,
	type INodeExecutionData,
	type NodeExecutionHint,
} from 'n8n-workflow';
import { addHint, isTool } from '../common/compatibility';
import { InputError, nodeError, NotAttemptedError } from '../common/errors';
import { Parameters } from '../common/parameters';
import { anySignal, takeTurns, throwIfStopped } from '../common/pause';
import { show } from '../common/values';
import { CREDENTIAL_TYPE } from '../service/credential';
import { MAX_SOCKETS } from '../service/limits/traffic';
import { NodeRun } from '../service/run';
import { Service } from '../service/service';
import { resources } from './operations';
import type { Operation } from './operations/operation';
import { readOptions, type RunOptions } from './options';
import { itemsByOutput, type ItemOutcome } from './output';
import { hintsOf, remarkOn, reportStart, saveTotals } from './summary';

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
	const began = Date.now();
	const operation = chosenOperation(context);
	const inputs = context.getInputData();
	const { parametersOf, runIndex, warnings } = readerOf(context);
	const stopButton = context.getExecutionCancelSignal();
	const givenUp = new AbortController();
	const signal = anySignal(stopButton, givenUp.signal);
	const beginning = beginRun(context, operation, parametersOf(0), inputs.length, signal);
	// If it failed, so does each item.
	const begun = await beginning.catch(() => undefined);

	const outcomes = new Array<ItemOutcome>(inputs.length);
	let failure: { error: unknown; index: number } | undefined;
	// n8n needs milliseconds to resolve the expressions of an item. If it did so for all items first, calls would then go
	// out faster than answers are read, and many in vain if the service refuses one.
	const letOthersRun = takeTurns(() => begun?.run.account.limiter.atOnce ?? 1);

	const runItem = async (index: number): Promise<ItemOutcome> => {
		let service: Service | undefined;
		try {
			const { run, options } = await beginning;
			await letOthersRun();
			const prepared = operation.prepare(parametersOf(index));
			const { request, mayFollow = 0 } = prepared;
			throwIfStopped(signal);
			service = new Service(run, 1 + mayFollow);
			if (options.isDryRun) {
				const { call, request: next } = service.foresee(request, prepared.follows);
				const { path, body = {} } = next;
				const more = next === request ? mayFollow : mayFollow - 1;
				return { result: { dryRun: true, call, path, request: body, mayFollow: more } };
			}
			const result = await (prepared.run?.(service) ?? service.data(request));
			return { result, paidCalls: operation.paid === 'lookup' ? service.paidCalls : undefined };
		} catch (error) {
			if (!context.continueOnFail()) {
				failure ??= { error, index };
				// Wait for the calls in flight, because they may be paid for. Make no other call.
				givenUp.abort();
			}
			return { error, paidCalls: service?.paidCalls ?? 0 };
		} finally {
			service?.end();
		}
	};
	const queue = inputs.keys();
	const worker = async () => {
		for (const index of queue) {
			// After an invalid item, the others are read, to say how many are invalid.
			const isReading = begun && failure?.error instanceof InputError;
			if (stopButton?.aborted || (failure && !isReading)) return;
			outcomes[index] = await runItem(index);
		}
	};
	// As many at once as can have a call in flight.
	await Promise.all(Array.from({ length: Math.min(MAX_SOCKETS, inputs.length) }, worker));

	if (begun) {
		saveTotals(context, begun.run);
		const isCutShort = outcomes.some(({ error }) => error instanceof NotAttemptedError);
		if (failure ?? (isCutShort || stopButton?.aborted)) begun.run.rememberOn();
	}
	throwIfStopped(stopButton);
	if (failure) {
		const { error, index } = failure;
		throw nodeError(context, error, index, begun && remarkOn(error, begun.run, outcomes));
	}
	for (const message of warnings) addHint(context, { message, type: 'warning' });
	if (begun) for (const hint of hintsOf(begun, outcomes, began)) addHint(context, hint);
	// A loop gives the items to the node one by one. One that waits for scrapes does not matter.
	if (operation.paid === 'lookup' && inputs.length === 1 && runIndex > 0)
		addHint(context, LOOP_HINT);
	return itemsByOutput(context, operation, begun?.options, inputs, outcomes);
}

/**
 * What n8n itself offers as a resource and as an operation of each node whose credential the HTTP Request node can use.
 */
const CUSTOM_API_CALL = '__CUSTOM_API_CALL__';

/** @throws NodeOperationError if the workflow names an operation that does not exist */
function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const name = context.getNodeParameter('operation', 0, CUSTOM_API_CALL);
	const operation = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === name);
	if (operation) return operation;
	const [message, description] =
		name === CUSTOM_API_CALL
			? [
					'This node makes no custom API calls',
					'For another call of the service, use the HTTP Request node with Predefined Credential Type > LeadGen API.',
				]
			: [
					`There is no operation ${show(name)} for the resource ${show(resource)}`,
					'Choose a resource and an operation from the lists of the node.',
				];
	throw new NodeOperationError(context.getNode(), message, { description });
}

/** Reads the options and the credential of the first item for all items. */
async function beginRun(
	context: IExecuteFunctions,
	operation: Operation,
	parameters: Parameters,
	items: number,
	signal: AbortSignal,
): Promise<{ run: NodeRun; options: RunOptions }> {
	const options = readOptions(parameters, operation);
	const credential = await context.getCredentials(CREDENTIAL_TYPE, 0);
	// It may hold expressions.
	const last = items > 1 ? await context.getCredentials(CREDENTIAL_TYPE, items - 1) : credential;
	if (last.baseUrl !== credential.baseUrl || last.apiKey !== credential.apiKey) {
		const problem = 'names another account for the last item than for the first one';
		const advice =
			'All items of a run use one account. Use Loop Over Items to run the node for the items of each account, or one LeadGen node for each account.';
		throw new InputError('LeadGen credential', problem, advice);
	}
	const run: NodeRun = new NodeRun(context, credential, {
		...options,
		executionId: context.getExecutionId(),
		signal,
		onStart(request, answer) {
			reportStart(context, run, request, answer);
		},
	});
	return { run, options };
}

/** Reads the parameters of the node for each item. Warnings are kept once. */
function readerOf(context: IExecuteFunctions) {
	const warnings = new Set<string>();
	const isForAgent = isTool(context);
	// If the node is a tool of an AI agent, n8n counts each retry as another run, so this identifies nothing.
	const runIndex = isForAgent ? 0 : (context.getWorkflowDataProxy(0).$runIndex as number);
	const { id, name } = context.getNode();
	const parametersOf = (index: number) =>
		new Parameters(
			(path, ifMissing) => context.getNodeParameter(path, index, ifMissing),
			// The same when n8n runs the node again. Nodes that were copied as JSON may share an ID.
			isForAgent ? '' : [id, name, runIndex, index].join(' '),
			isForAgent,
			(message) => void warnings.add(message),
		);
	return { parametersOf, runIndex, warnings };
}
