import type { IDataObject } from 'n8n-workflow';

/**
 * One request to the service.
 *
 * `kind` says what may be done with it. GET: a `read` costs nothing, and one answer serves all items of a
 * run; a `poll` is a read that asks anew each time. POST: a `lookup` is paid for, and identical ones have
 * the same answer; a `start` is paid for, and each one is a scrape of its own.
 */
export interface ServiceRequest {
	kind: 'read' | 'poll' | 'lookup' | 'start';
	/** What a person calls a paid one, in the singular: `verification`. */
	noun?: string;
	/** As in docs/service.md, such as `/email/find`. */
	path: string;
	query?: Record<string, string>;
	body?: IDataObject;
	/** Tells apart starts: the place of the item in its execution. Without one, the body does. */
	place?: string;
	/** When its answer is of no use any more, in milliseconds since 1970. */
	deadline?: number;
	/** What the person who makes it should know; shown beside the result. */
	warning?: string;
}

/** Whether a request costs no credits; those are the GETs. */
export function isFree({ kind }: ServiceRequest): boolean {
	return kind === 'read' || kind === 'poll';
}

/** Whether a request looks at the status of a scrape again. */
export function isPoll({ kind, path }: ServiceRequest): boolean {
	return kind === 'poll' && path === '/status';
}

/** What to tell a person about a request that got no usable answer. */
export function outcomeAdvice(request: ServiceRequest): string {
	return isFree(request)
		? 'This request costs no credits. Run it again.'
		: 'The service may have done the work and charged for it, so the node did not send the request again. Compare the credits of your account before you run it again.';
}

/** An answer as it came over HTTP, whatever it holds. */
export interface RawResponse {
	status: number;
	/** Names in lower case. */
	headers: Record<string, unknown>;
	text: string;
}
