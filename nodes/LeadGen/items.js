'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.runItems = runItems;
const n8n_workflow_1 = require('n8n-workflow');
const operations_1 = require('./operations');
const parameters_1 = require('./parameters');
const properties_1 = require('./properties');
const errors_1 = require('./service/errors');
const service_1 = require('./service/service');
/**
 * Runs the chosen operation for every incoming item.
 * @returns one item per incoming item, in their order, each paired with its own
 * @throws NodeApiError or NodeOperationError for the first item that fails, unless the node is set to
 * continue; then the item holds the error
 */
async function runItems(context) {
	const operation = chosenOperation(context);
	const results = [];
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
function chosenOperation(context) {
	const resource = context.getNodeParameter('resource', 0);
	const name = context.getNodeParameter('operation', 0);
	const operation = operations_1.resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === name);
	if (operation) return operation;
	throw new n8n_workflow_1.NodeOperationError(
		context.getNode(),
		`There is no operation "${name}" for the resource "${resource}"`,
		{ description: 'Choose a resource and an operation from the lists of the node.' },
	);
}
async function runItem(context, operation, item, index) {
	const parameters = new parameters_1.Parameters((name) => context.getNodeParameter(name, index));
	const service = await service_1.Service.connect(
		context,
		parameters.option(properties_1.requestTimeout) * 1000,
	);
	const result = await operation.run(parameters, service, context.getExecutionCancelSignal());
	const field = parameters.option(properties_1.resultField);
	const json = field === '' ? result : { [field]: result };
	return parameters.option(properties_1.includeInput)
		? { ...item, json: { ...item.json, ...json }, pairedItem: { item: index } }
		: { json, pairedItem: { item: index } };
}
/**
 * An item that says why it failed. n8n moves it to the error output, and adds the fields of the incoming
 * item there, if its keys are only `error`, `message` and `details`; with an `error` beside `json` it would
 * throw away everything but the message. On the regular output we add the incoming fields ourselves.
 */
function failedItem(context, error, item, index) {
	const { message, description } = nodeError(context, error, index);
	const facts = error instanceof errors_1.LeadGenError ? error.details : {};
	const json = { error: message, details: { advice: description, ...facts } };
	return {
		json: context.getNode().onError === 'continueErrorOutput' ? json : { ...item.json, ...json },
		pairedItem: { item: index },
	};
}
/** The error as n8n shows it, with the item that it belongs to. */
function nodeError(context, error, itemIndex) {
	const node = context.getNode();
	if (error instanceof errors_1.ServiceError) {
		// Made of our own words only: the original error of a request holds the key.
		return new n8n_workflow_1.NodeApiError(
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
	if (error instanceof errors_1.LeadGenError) {
		return new n8n_workflow_1.NodeOperationError(node, error.message, {
			description: error.advice,
			itemIndex,
		});
	}
	return new n8n_workflow_1.NodeOperationError(
		node,
		error instanceof Error ? error : String(error),
		{ itemIndex },
	);
}
