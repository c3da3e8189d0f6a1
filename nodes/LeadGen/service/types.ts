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
	/** As in interface 4, such as `/email/find`. */
	path: string;
	query?: Record<string, string>;
	body?: IDataObject;
	/** Tells apart starts: the place of the item in its execution. Without one, the body does. */
	place?: string;
}

/** Whether a request costs no credits; those are the GETs. */
export function isFree({ kind }: ServiceRequest): boolean {
	return kind === 'read' || kind === 'poll';
}

/** An answer as it came over HTTP, whatever it holds. */
export interface RawResponse {
	status: number;
	/** Names in lower case. */
	headers: Record<string, unknown>;
	text: string;
}
