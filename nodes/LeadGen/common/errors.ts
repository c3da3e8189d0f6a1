import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
} from 'n8n-workflow';
import { filled } from './json';

/** An error whose text is written for the user who runs the workflow. */
export class LeadGenError extends Error {
	/**
	 * @param message what happened
	 * @param advice what to do next
	 * @param details facts for later steps of the workflow; they become fields of `error` in the item
	 */
	constructor(
		message: string,
		public advice: string,
		public details: IDataObject = {},
	) {
		super(message);
		this.name = new.target.name;
	}

	/** A copy with details that the caller knows, to throw again. Several items may share the original error. */
	with(details: IDataObject, advice: string): this {
		const copy = Object.create(this) as this;
		copy.details = { ...details, ...this.details };
		copy.advice = `${this.advice} ${advice}`.trim();
		return copy;
	}
}

/** An invalid parameter, found before anything was sent. */
export class InputError extends LeadGenError {
	/** @param field display name of the parameter, as the editor shows it */
	constructor(field: string, problem: string, advice: string) {
		super(`${field} ${problem}`, advice, { field, outcome: 'notSent' });
	}
}

/**
 * What is known about a failed call:
 * - `refused`: the service answered that it did not do the work
 * - `notSent`: the request never reached the service
 * - `unknown`: the service may have done the work, and charged for it
 */
export type Outcome = 'refused' | 'notSent' | 'unknown';

/** A call to the service that brought no result. */
export class ServiceError extends LeadGenError {
	readonly outcome: Outcome;
	/** The service's own error code (docs/service.md, The envelope), if it sent one. */
	readonly code: string | undefined;
	readonly httpStatus: number | undefined;

	constructor(
		message: string,
		advice: string,
		facts: {
			outcome: Outcome;
			code?: string | undefined;
			httpStatus?: number;
			/** What the service sent instead of a result. */
			answer?: IDataObject | string | undefined;
		},
		/** Whether another server seems to have answered, such as a login page. */
		readonly isForeign = false,
	) {
		super(message, advice, filled(facts));
		this.outcome = facts.outcome;
		this.code = facts.code;
		this.httpStatus = facts.httpStatus;
	}
}

/** A call that was not made, because an earlier event showed that it must not be made. */
export class NotAttemptedError extends LeadGenError {
	constructor(message: string, advice: string) {
		super(message, advice, { attempted: false, outcome: 'notSent' });
	}
}

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
		const cause = error instanceof Error ? error : String(error);
		return new NodeOperationError(node, cause, { itemIndex });
	}
	const { message, details } = error;
	const description = `${error.advice} ${remark}`.trim();
	// Contains only our own text: the original error of a request contains the key.
	const options = { message, description, itemIndex };
	const shown =
		error instanceof ServiceError
			? new NodeApiError(node, { message }, { ...options, httpCode: error.httpStatus?.toString() })
			: new NodeOperationError(node, message, options);
	shown.context.details = details;
	return withMessage(shown, message);
}

/** What an error may have, whichever library it is from. */
interface Level extends Error {
	description?: string;
	code?: unknown;
	httpCode?: unknown;
	messages?: string[];
	syscall?: string;
	errors?: unknown[];
}

/** An error of no item, as n8n shows it. */
export function operationError(
	node: INode,
	message: string,
	description: string,
): NodeOperationError {
	return withMessage(new NodeOperationError(node, message, { description }), message);
}

/** n8n replaces a message that names a network error with text that blames the service, or advises to pay twice. */
function withMessage<Kind extends Error>(error: Kind, message: string): Kind {
	return Object.assign(error, { message });
}

/** An error and its causes, at most five, the outermost first. n8n and axios wrap the original error. */
export function levelsOf(error: unknown): Level[] {
	const levels: Level[] = [];
	for (let next = error; typeof next === 'object' && next && levels.length < 5;) {
		const level = next as Level;
		levels.push(level);
		// If a host has several addresses, each of them has its own error.
		next = level.cause ?? level.errors?.[0];
	}
	return levels;
}
