import type { INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import { OPTION_GROUPS } from './options';
import type { Operation, Resource } from './operations/operation';
import { DRY_RUN_OUTPUT } from './output';

type FieldsOf = (typeof OPTION_GROUPS)[number];

/**
 * The properties of the action node, built from the table of operations: the selectors, the fields, and the options. Each
 * field is there once, for all operations that have it.
 */
export function buildProperties(resources: readonly Resource[]): INodeProperties[] {
	const operations = resources.flatMap((resource) => resource.operations);
	return [
		{
			displayName: 'Resource',
			name: 'resource',
			type: 'options',
			noDataExpression: true,
			options: resources.map(({ name, value }) => ({ name, value })),
			default: 'email',
		},
		...resources.map(operationSelector),
		...resources.flatMap(({ value, operations }) =>
			propertiesOf(operations, ({ fields }) => fields, 'operation', { resource: [value] }),
		),
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			options: OPTION_GROUPS.flatMap((fieldsOf) =>
				propertiesOf(operations, fieldsOf, '/operation'),
			),
		},
	];
}

function operationSelector({ value, operations }: Resource): INodeProperties {
	const [{ value: first }] = operations;
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [value] } },
		options: operations.map(({ value, name, action, description }) => {
			return { value, name, action, description };
		}),
		default: first,
	};
}

/**
 * The fields of some operations.
 * @param path of the selector of the operation, as the fields see it
 * @param others conditions of all fields
 */
function propertiesOf(
	operations: readonly Operation[],
	fieldsOf: FieldsOf,
	path: string,
	others: Record<string, string[]> = {},
): INodeProperties[] {
	return [...new Set(operations.flatMap(fieldsOf))].map((field) => {
		const { displayOptions, ...property } = field.property;
		const having = operations.filter((operation) => fieldsOf(operation).includes(field));
		const values = having.map(({ value }) => value);
		// Those of the field come last: n8n shows a field at the first condition whose value is an expression.
		const show = { ...others, [path]: values, ...displayOptions?.show };
		return { ...property, displayOptions: { ...displayOptions, show } };
	});
}

/** An expression that returns the action of the selected operation, such as "Verify email address". */
export function buildSubtitle(resources: readonly Resource[]): string {
	const operations = resources.flatMap((resource) => resource.operations);
	const actions = Object.fromEntries(operations.map(({ value, action }) => [value, action]));
	return `={{ (${JSON.stringify(actions)})[$parameter["operation"]] }}`;
}

/** The outputs of the node for the editor and the engine: one, unless the user splits it. A dry run then has its own. */
export function buildOutputs(resources: readonly Resource[]): INodeTypeDescription['outputs'] {
	const operations = resources.flatMap((resource) => resource.operations);
	const names = Object.fromEntries(operations.map(({ value, split }) => [value, split?.outputs]));
	return `={{ ((names, dry) => names ? [...names, ...dry].map((displayName) => ({ type: "main", displayName })) : ["main"])($parameter["options"]?.["splitOutput"] && (${JSON.stringify(names)})[$parameter["operation"]], $parameter["options"]?.["dryRun"] ? ["${DRY_RUN_OUTPUT}"] : []) }}`;
}
