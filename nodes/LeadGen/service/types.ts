import type { IDataObject } from 'n8n-workflow';

/**
 * One request to the service.
 *
 * `kind` says what may be done with it: a `read` (GET) costs nothing and may be repeated; a `lookup`
 * (POST) is paid for, and identical ones have the same answer; a `start` (POST) is paid for, and each
 * one is a scrape of its own.
 */
export interface ServiceRequest {
	kind: 'read' | 'lookup' | 'start';
	/** As in interface 4, such as `/email/find`. */
	path: string;
	query?: Record<string, string>;
	body?: IDataObject;
}

/** An answer as it came over HTTP, whatever it holds. */
export interface RawResponse {
	status: number;
	/** Names in lower case. */
	headers: Record<string, unknown>;
	text: string;
}
