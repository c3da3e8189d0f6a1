import type { IDataObject, INodeExecutionData, INodeTypeDescription } from 'n8n-workflow';
import { booleanField, notForTools, type Parameters } from '../common/parameters';
import type { Operation, Resource } from './operations/operation';

const DRY_RUN = 'Dry Run';

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
	const operations = resources.flatMap((resource) => resource.operations);
	const names = Object.fromEntries(operations.map(({ value, split }) => [value, split?.outputs]));
	return `={{ ((names, dry) => names ? [...names, ...dry].map((displayName) => ({ type: "main", displayName })) : ["main"])($parameter["options"]?.["splitOutput"] && (${JSON.stringify(names)})[$parameter["operation"]], $parameter["options"]?.["dryRun"] ? ["${DRY_RUN}"] : []) }}`;
}

/** What became of an item. */
export interface Outcome {
	/** The item that comes out. */
	item: INodeExecutionData;
	/** The result, or the plan of a dry run. */
	result?: IDataObject;
	/** Why it failed. */
	error?: unknown;
}

/** Sends all items to one output, or each item to the output of its result. */
export function splitItems(
	{ split }: Operation,
	parameters: Parameters,
	outcomes: Outcome[],
	isDryRun: boolean,
): INodeExecutionData[][] {
	if (!split || !parameters.option(splitOutput)) return [outcomes.map(({ item }) => item)];
	const outputOf = ({ error, result }: Outcome) =>
		isDryRun && error === undefined ? DRY_RUN : split.outputOf(result);
	return [...split.outputs, ...(isDryRun ? [DRY_RUN] : [])].map((name) =>
		outcomes.filter((each) => outputOf(each) === name).map(({ item }) => item),
	);
}
