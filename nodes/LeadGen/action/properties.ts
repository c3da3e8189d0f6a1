import type { INodeProperties } from 'n8n-workflow';
import { includeCost, includeInput, resultField, splitOptions } from './outputs';
import type { Field } from '../common/parameters';
import { runOptions } from './runOptions';
import type { Operation, Resource } from './operations/operation';

/**
 * The properties of the action node, built from the table of operations: the selectors, then the fields of each
 * operation, then its options.
 */
export function buildProperties(resources: readonly Resource[]): INodeProperties[] {
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
		...resources.flatMap((resource) =>
			resource.operations.flatMap((operation) => operationProperties(resource, operation)),
		),
	];
}

function operationSelector({ value, operations, chosen }: Resource): INodeProperties {
	const { value: first } = chosen;
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [value] } },
		options: operations.map(({ value, name, action, description }) => ({
			value,
			name,
			action,
			description,
		})),
		default: first,
	};
}

function operationProperties(resource: Resource, operation: Operation): INodeProperties[] {
	// In groups: the output, the operation, the cost, the calls.
	const options = [
		includeInput,
		resultField,
		...splitOptions(operation),
		...(operation.options ?? []),
		...(operation.paid ? [includeCost] : []),
		...runOptions(operation),
	].map(propertyOf);
	const properties: INodeProperties[] = [
		...noticesOf(operation),
		...operation.fields.map(propertyOf),
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			options,
		},
	];
	return properties.map((property) => ({
		...property,
		displayOptions: {
			...property.displayOptions,
			show: {
				resource: [resource.value],
				operation: [operation.value],
				...property.displayOptions?.show,
			},
		},
	}));
}

function noticesOf({ notice, toolNotice }: Operation): INodeProperties[] {
	const isTool = { '@tool': [true] };
	return [
		{ text: notice, name: 'notice', displayOptions: toolNotice ? { hide: isTool } : {} },
		{ text: toolNotice, name: 'toolNotice', displayOptions: { show: isTool } },
	].flatMap(({ text, ...property }) =>
		text ? [{ ...property, displayName: text, type: 'notice' as const, default: '' }] : [],
	);
}

function propertyOf({ property }: Field): INodeProperties {
	return property;
}

/** An expression that returns the action of the selected operation, such as "Verify email address". */
export function buildSubtitle(resources: readonly Resource[]): string {
	const actions = resources.flatMap(({ value: resource, operations }) =>
		operations.map(({ value, action }) => [`${resource}.${value}`, action]),
	);
	const table = JSON.stringify(Object.fromEntries(actions));
	return `={{ (${table})[$parameter["resource"] + "." + $parameter["operation"]] }}`;
}
