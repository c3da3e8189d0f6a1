import type { IDataObject, INodeExecutionData, INodeTypeDescription } from 'n8n-workflow';
import { booleanField, textField, type Field, type Parameters, asTool } from '../common/parameters';
import { without } from '../common/json';
import type { Operation, Resource } from './operations/operation';

const DRY_RUN = 'Dry Run';
const PAID_CALLS = 'paidCalls';

/** An AI agent gets only the first output, and has no incoming fields. */
const notForTools = { hide: asTool };

export const includeInput = booleanField({
	displayName: 'Include Other Input Fields',
	name: 'includeInput',
	displayOptions: notForTools,
	description:
		'Whether to pass on the fields of the incoming item too. A field of the result replaces one of the same name.',
});

export const resultField = textField({
	displayName: 'Put Output in Field',
	name: 'resultField',
	displayOptions: notForTools,
	placeholder: 'e.g. leadgen',
	description: 'The name of a field for the whole result, which avoids name clashes',
});

export const includeCost = booleanField({
	displayName: 'Include Cost',
	name: 'includeCost',
	description:
		'Whether to add the number of paid calls for the item, as "paidCalls". Reused results are free.',
});

export const splitOutput = booleanField({
	displayName: 'Split Output',
	name: 'splitOutput',
	noDataExpression: true,
	displayOptions: notForTools,
	description:
		'Whether to use one output for each outcome: Found and Not Found, or Valid, Invalid and Risky (catch-all, unknown, failed)',
});

/** The outputs of the node for the editor and the engine: one, unless the user splits it. A dry run then has its own. */
export function buildOutputs(resources: readonly Resource[]): INodeTypeDescription['outputs'] {
	const names = resources.flatMap(({ value: resource, operations }) =>
		operations.flatMap(({ value, split }) =>
			split ? [[`${resource}.${value}`, split.outputs]] : [],
		),
	);
	const table = JSON.stringify(Object.fromEntries(names));
	return `={{ ((names, dry) => names ? [...names, ...dry].map((displayName) => ({ type: "main", displayName })) : ["main"])($parameter["options"]?.["splitOutput"] && (${table})[$parameter["resource"] + "." + $parameter["operation"]], $parameter["options"]?.["dryRun"] ? ["${DRY_RUN}"] : []) }}`;
}

/**
 * The names that the fields of a result have in an item. An incoming field of such a name holds an old result, except
 * one that the operation asks for, such as the address to verify.
 */
export function namesOfResult(
	{ output, rareFields = [], fields }: Operation,
	parameters: Parameters,
): Set<string> {
	const field = optionOr(parameters, resultField, '');
	const names = new Set(
		field === '' ? [...Object.keys(output), ...rareFields, PAID_CALLS] : [field],
	);
	for (const { property } of fields) names.delete(property.name);
	return names;
}

/**
 * Reads how a result becomes an item: alone or with the incoming fields, flat or in a field.
 * @returns makes an item of a result, or of the plan of a dry run, which has no cost
 * @throws InputError before anything is paid for
 */
export function readOutput(
	operation: Operation,
	parameters: Parameters,
	input: INodeExecutionData,
	item: number,
): (result: IDataObject, paidCalls?: number) => INodeExecutionData {
	const field = parameters.option(resultField);
	const names = namesOfResult(operation, parameters);
	const isIncluded = parameters.option(includeInput);
	const hasCost = parameters.option(includeCost);
	return (result, paidCalls) => {
		const isPlan = paidCalls === undefined;
		const ordered = { ...inOrder(result), ...(hasCost && !isPlan && { [PAID_CALLS]: paidCalls }) };
		const json = field === '' ? ordered : { [field]: ordered };
		const pairedItem = { item };
		if (!isIncluded) return { json, pairedItem };
		const { binary } = input;
		const old = new Set([...(isPlan ? [] : names), 'error']);
		const kept = without(input.json, old);
		return { json: { ...kept, ...json }, ...(binary && { binary }), pairedItem };
	};
}

/** What a failed item cost, if the user wants to know. */
export function costOf(parameters: Parameters, paidCalls: number): IDataObject {
	return optionOr(parameters, includeCost, false) ? { [PAID_CALLS]: paidCalls } : {};
}

/** @param otherwise if the option is invalid, which is the error of the item */
function optionOr<T>(parameters: Parameters, field: Field<T>, otherwise: T): T {
	try {
		return parameters.option(field);
	} catch {
		return otherwise;
	}
}

/** With the fields first for which users look. */
function inOrder(result: IDataObject): IDataObject {
	if (!('email' in result)) return result;
	const first = ['email', 'status', 'confidence'].filter((name) => name in result);
	return { ...Object.fromEntries(first.map((name) => [name, result[name]])), ...result };
}

/** What became of an item: its result, the plan of a dry run, or neither if it failed. */
export interface Outcome {
	item: INodeExecutionData;
	result?: IDataObject;
	isPlanned?: boolean;
	/** Why it failed. */
	error?: unknown;
	/** How many of its calls were paid for, if it failed. */
	paidCalls?: number;
}

/** Sends all items to one output, or each item to the output of its result. */
export function splitItems(
	{ split }: Operation,
	parameters: Parameters,
	outcomes: Outcome[],
): INodeExecutionData[][] {
	if (!split || !parameters.option(splitOutput)) return [outcomes.map(({ item }) => item)];
	const outputOf = ({ isPlanned, result }: Outcome) =>
		isPlanned ? DRY_RUN : split.outputOf(result);
	const isDryRun = outcomes.some(({ isPlanned }) => isPlanned);
	return [...split.outputs, ...(isDryRun ? [DRY_RUN] : [])].map((name) =>
		outcomes.filter((each) => outputOf(each) === name).map(({ item }) => item),
	);
}
