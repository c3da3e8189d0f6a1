import { NodeApiError, NodeOperationError, type IExecuteFunctions } from 'n8n-workflow';
import { LeadGenError, ServiceError } from './errors';

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
