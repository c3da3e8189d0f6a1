import type { INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import { OPTION_GROUPS } from './options';
import type { Operation, Resource } from './operations/operation';
import { DRY_RUN_OUTPUT } from './output';

type FieldsOf = (typeof OPTION_GROUPS)[number];

/**
 * What the description of the node takes from the table of operations: the properties, each once for all operations
 * that have it; the subtitle, which is the action of the operation, such as "Verify email address"; and the outputs:
 * one, unless the user splits it. A dry run then has its own.
 */
export function descriptionOf(resources: readonly Resource[]) {
	const operations = resources.flatMap((resource) => resource.operations);
	const properties: INodeProperties[] = [
		{
			displayName: 'Resource',
			name: 'resource',
			type: 'options',
			noDataExpression: true,
			options: resources.map(({ name, value }) => ({ name, value })),
			default: 'email',
		},
		...resources.map(operationSelector),
		...resources.flatMap(({ value, operations: own }) =>
			propertiesOf(own, ({ fields }) => fields, 'operation', { resource: [value] }),
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
	/** An expression that returns a fact of the selected operation. */
	const selected = (factOf: (operation: Operation) => unknown) => {
		const facts = Object.fromEntries(operations.map((each) => [each.value, factOf(each)]));
		return `(${JSON.stringify(facts)})[$parameter["operation"]]`;
	};
	const subtitle = `={{ ${selected(({ action }) => action)} }}`;
	const names = `$parameter["options"]?.["splitOutput"] && ${selected(({ split }) => split?.outputs)}`;
	const dryRun = `$parameter["options"]?.["dryRun"] ? ["${DRY_RUN_OUTPUT}"] : []`;
	const outputs: INodeTypeDescription['outputs'] = `={{ ((names, dry) => names ? [...names, ...dry].map((displayName) => ({ type: "main", displayName })) : ["main"])(${names}, ${dryRun}) }}`;
	return { properties, subtitle, outputs };
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
