import type { IDataObject, INodeExecutionData, INodeTypeDescription } from 'n8n-workflow';
import { booleanField, type Field, type Parameters } from './parameters';
import type { Operation, Resource, Split } from './operations/operation';

/** The switch in the "Options" collection; n8n gives an AI agent the first output only. */
function splitField({ description }: Split): Field<boolean> {
	return booleanField({
		displayName: 'Split Output',
		name: 'splitOutput',
		default: false,
		noDataExpression: true,
		displayOptions: { hide: { '@tool': [true] } },
		description,
	});
}

/** The option that an operation offers for where its results go. */
export function splitOptions({ split }: Operation): Field[] {
	return split ? [splitField(split)] : [];
}

/** The outputs of the node as the editor and the engine see them: one, unless a person splits it. */
export function buildOutputs(resources: readonly Resource[]): INodeTypeDescription['outputs'] {
	const names = resources.flatMap(({ value: resource, operations }) =>
		operations.flatMap(({ value, split }) =>
			split ? [[`${resource}.${value}`, split.outputs]] : [],
		),
	);
	const table = JSON.stringify(Object.fromEntries(names));
	return `={{ ((names) => names ? names.map((displayName) => ({ type: "main", displayName })) : ["main"])($parameter["options"]?.["splitOutput"] && (${table})[$parameter["resource"] + "." + $parameter["operation"]]) }}`;
}

/**
 * Where the items go: all to one output, or each to that of its result.
 * @param results what the operation gave for each item; nothing for those that failed
 */
export function splitItems(
	{ split }: Operation,
	parameters: Parameters,
	items: INodeExecutionData[],
	results: ReadonlyArray<IDataObject | undefined>,
): INodeExecutionData[][] {
	if (!split || !parameters.option(splitField(split))) return [items];
	return split.outputs.map((name) =>
		items.filter((_, index) => split.outputOf(results[index]) === name),
	);
}
