import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { resources } from './operations';
import type { Operation } from './operations/operation';
import { Parameters } from './parameters';
import { includeInput, requestTimeout, resultField } from './properties';
import { LeadGenError, ServiceError } from './service/errors';
import { Service } from './service/service';

/**
 * Runs the chosen operation for every incoming item.
 * @returns one item per incoming item, in their order, each paired with its own
 * @throws NodeApiError or NodeOperationError for the first item that fails, unless the node is set to
 * continue; then the item holds the error
 */
export async function runItems(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const operation = chosenOperation(context);
	const results: INodeExecutionData[] = [];
	for (const [index, item] of context.getInputData().entries()) {
		try {
			results.push(await runItem(context, operation, item, index));
		} catch (error) {
			if (!context.continueOnFail()) throw nodeError(context, error, index);
			results.push(failedItem(context, error, item, index));
		}
	}
	return [results];
}

function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const name = context.getNodeParameter('operation', 0);
	const operation = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === name);
	if (operation) return operation;
	throw new NodeOperationError(
		context.getNode(),
		`There is no operation "${name}" for the resource "${resource}"`,
		{ description: 'Choose a resource and an operation from the lists of the node.' },
	);
}

async function runItem(
	context: IExecuteFunctions,
	operation: Operation,
	item: INodeExecutionData,
	index: number,
): Promise<INodeExecutionData> {
	const parameters = new Parameters((name) => context.getNodeParameter(name, index));
	const service = await Service.connect(context, parameters.option(requestTimeout) * 1000);
	const result = await operation.run(parameters, service, context.getExecutionCancelSignal());
	const field = parameters.option(resultField);
	const json = field === '' ? result : { [field]: result };
	return parameters.option(includeInput)
		? { ...item, json: { ...item.json, ...json }, pairedItem: { item: index } }
		: { json, pairedItem: { item: index } };
}

/**
 * An item that says why it failed. n8n moves it to the error output, and adds the fields of the incoming
 * item there, if its keys are only `error`, `message` and `details`; with an `error` beside `json` it would
 * throw away everything but the message. On the regular output we add the incoming fields ourselves.
 */
function failedItem(
	context: IExecuteFunctions,
	error: unknown,
	item: INodeExecutionData,
	index: number,
): INodeExecutionData {
	const { message, description } = nodeError(context, error, index);
	const facts = error instanceof LeadGenError ? error.details : {};
	const json: IDataObject = { error: message, details: { advice: description, ...facts } };
	return {
		json: context.getNode().onError === 'continueErrorOutput' ? json : { ...item.json, ...json },
		pairedItem: { item: index },
	};
}

/** The error as n8n shows it, with the item that it belongs to. */
function nodeError(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex: number,
): NodeApiError | NodeOperationError {
	const node = context.getNode();
	if (error instanceof ServiceError) {
		// Made of our own words only: the original error of a request holds the key.
		return new NodeApiError(
			node,
			{ message: error.message, ...error.details },
			{
				message: error.message,
				description: error.advice,
				httpCode: error.httpStatus === undefined ? undefined : String(error.httpStatus),
				itemIndex,
			},
		);
	}
	if (error instanceof LeadGenError) {
		return new NodeOperationError(node, error.message, { description: error.advice, itemIndex });
	}
	return new NodeOperationError(node, error instanceof Error ? error : String(error), {
		itemIndex,
	});
}
