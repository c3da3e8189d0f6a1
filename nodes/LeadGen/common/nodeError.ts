import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { LeadGenError, ServiceError } from './errors';
import { without } from './json';

/**
 * An error as n8n shows it, with the item that it belongs to.
 * @param remark added to the advice for the user
 */
export function nodeError(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex: number,
	remark = '',
): NodeApiError | NodeOperationError {
	const node = context.getNode();
	if (!(error instanceof LeadGenError)) {
		return new NodeOperationError(node, error instanceof Error ? error : String(error), {
			itemIndex,
		});
	}
	const { message, details } = error;
	const description = `${error.advice} ${remark}`.trim();
	// Contains only our own text: the original error of a request contains the key.
	const shown =
		error instanceof ServiceError
			? new NodeApiError(
					node,
					{ message },
					{ message, description, itemIndex, httpCode: error.httpStatus?.toString() },
				)
			: new NodeOperationError(node, message, { description, itemIndex });
	// n8n replaces a message that names a network error with text that may advise the user to pay twice.
	shown.message = message;
	shown.context.details = details;
	return shown;
}

/**
 * An item that says under `error` why it failed: `message`, `advice` and the facts. n8n moves it to the error output.
 * If `error` is its only key, n8n also adds the fields of the incoming item there (n8n 1.x has no other way that keeps
 * the facts), but no files. With an `error` beside `json`, n8n would drop everything except the message. On the regular
 * output, we add the incoming fields ourselves.
 * @param old the incoming fields that hold an old result, which would look like that of this run
 * @param cost a field for what the item cost. On the error output it is in `error`
 */
export function failedItem(
	context: IExecuteFunctions,
	error: unknown,
	input: INodeExecutionData,
	index: number,
	old: ReadonlySet<string>,
	cost: IDataObject = {},
): INodeExecutionData {
	const { message, description } = nodeError(context, error, index);
	const facts = error instanceof LeadGenError ? error.details : {};
	const said = { ...facts, message, advice: description };
	const isOnErrorOutput = context.getNode().onError === 'continueErrorOutput';
	return {
		json: isOnErrorOutput
			? { error: { ...said, ...cost } }
			: { ...without(input.json, old), error: said, ...cost },
		...(input.binary && { binary: input.binary }),
		pairedItem: { item: index },
	};
}
