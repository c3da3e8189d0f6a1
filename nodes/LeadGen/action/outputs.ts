import type { IDataObject, INodeExecutionData, INodeTypeDescription } from 'n8n-workflow';
import { booleanField, type Field, type Parameters } from '../common/parameters';
import type { Operation, Resource, Split } from './operations/operation';

/** The switch in the "Options" collection. Hidden for AI agents, because n8n gives them only the first output. */
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

/** The option of an operation for where its results go. */
export function splitOptions({ split }: Operation): Field[] {
	return split ? [splitField(split)] : [];
}

/** The outputs of the node for the editor and the engine: one, unless the user splits it. A dry run then has its own. */
export function buildOutputs(resources: readonly Resource[]): INodeTypeDescription['outputs'] {
	const names = resources.flatMap(({ value: resource, operations }) =>
		operations.flatMap(({ value, split }) =>
			split ? [[`${resource}.${value}`, split.outputs]] : [],
		),
	);
	const table = JSON.stringify(Object.fromEntries(names));
	return `={{ ((names, dry) => names ? [...names, ...dry].map((displayName) => ({ type: "main", displayName })) : ["main"])($parameter["options"]?.["splitOutput"] && (${table})[$parameter["resource"] + "." + $parameter["operation"]], $parameter["options"]?.["dryRun"] ? ["Dry Run"] : []) }}`;
}

/**
 * Sends all items to one output, or each item to the output of its result.
 * @param results the result for each item; undefined for failed items
 * @param planned the items of a dry run, which are no results
 */
export function splitItems(
	{ split }: Operation,
	parameters: Parameters,
	items: INodeExecutionData[],
	results: ReadonlyArray<IDataObject | undefined>,
	planned: ReadonlySet<number>,
): INodeExecutionData[][] {
	if (!split || !parameters.option(splitField(split))) return [items];
	const outputs = split.outputs.map((name) =>
		items.filter((_, index) => !planned.has(index) && split.outputOf(results[index]) === name),
	);
	return planned.size === 0
		? outputs
		: [...outputs, items.filter((_, index) => planned.has(index))];
}
