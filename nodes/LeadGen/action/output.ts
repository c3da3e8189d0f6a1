import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { LeadGenError, nodeError } from '../common/errors';
import { without } from '../common/json';
import type { Operation } from './operations/operation';
import type { RunOptions } from './options';

/** The output of a dry run, if the output is split. */
export const DRY_RUN_OUTPUT = 'Dry Run';

/** What became of an item. */
export interface ItemOutcome {
	/** The result, or the plan of a dry run. */
	result?: IDataObject;
	/** Why it failed. */
	error?: unknown;
	/** How many calls the item paid for, or may have paid for; undefined if none was to be paid for. */
	paidCalls?: number | undefined;
}

/**
 * The items that come out: the result alone or with the incoming fields, flat or in a field.
 * @param options undefined if they are invalid: then only failed items come out
 * @returns the items by output: all in one, or each in that of its result
 */
export function itemsByOutput(
	context: IExecuteFunctions,
	operation: Operation,
	options: RunOptions | undefined,
	inputs: INodeExecutionData[],
	outcomes: ItemOutcome[],
): INodeExecutionData[][] {
	const {
		includesInput = false,
		isSplit = false,
		isDryRun = false,
		resultField = '',
	} = options ?? {};
	const old = namesOfResult(operation, resultField);
	const isOnErrorOutput = context.getNode().onError === 'continueErrorOutput';
	const items = outcomes.map(({ result, error, paidCalls }, index) => {
		const input = inputs[index] ?? { json: {} };
		const paid = paidCalls === undefined ? {} : { paidCalls };
		if (!result) {
			const { message, description: advice } = nodeError(context, error, index);
			const facts = error instanceof LeadGenError ? error.details : {};
			// n8n moves the item to the error output. If `error` is its only key, n8n also adds the fields of the incoming item
			// there (n8n 1.x has no other way that keeps the facts), but no files. With an `error` beside `json`, n8n would drop
			// everything except the message. On the regular output, we add the incoming fields ourselves.
			const kept = isOnErrorOutput ? {} : without(input.json, old);
			return withFiles({ ...kept, error: { ...facts, message, advice, ...paid } }, input, index);
		}
		const fields = { ...inOrder(result), ...paid };
		const json = resultField === '' ? fields : { [resultField]: fields };
		if (!includesInput) return { json, pairedItem: { item: index } };
		// The plan of a dry run replaces no old result.
		const replaced = isDryRun ? new Set(['error']) : old;
		return withFiles({ ...without(input.json, replaced), ...json }, input, index);
	});
	const { split } = operation;
	if (!split || !isSplit) return [items];
	const outputOf = ({ error, result }: ItemOutcome) =>
		isDryRun && error === undefined ? DRY_RUN_OUTPUT : split.outputOf(result);
	return [...split.outputs, ...(isDryRun ? [DRY_RUN_OUTPUT] : [])].map((name) =>
		items.filter((_, index) => outputOf(outcomes[index] ?? {}) === name),
	);
}

/**
 * The names that the fields of a result have in an item. An incoming field of such a name holds an old result, except
 * one that the operation asks for, such as the address to verify.
 */
function namesOfResult({ output, fields }: Operation, resultField: string): Set<string> {
	const names = new Set(['error', ...(resultField === '' ? Object.keys(output) : [resultField])]);
	for (const { property } of fields) names.delete(property.name);
	return names;
}

function withFiles(json: IDataObject, { binary }: INodeExecutionData, item: number) {
	return { json, ...(binary && { binary }), pairedItem: { item } };
}

/** With the fields first for which users look. */
function inOrder(result: IDataObject): IDataObject {
	if (!('email' in result)) return result;
	const first = ['email', 'status', 'confidence'].filter((name) => name in result);
	return { ...Object.fromEntries(first.map((name) => [name, result[name]])), ...result };
}
