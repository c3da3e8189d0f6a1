import type { IDataObject } from 'n8n-workflow';

/**
 * One request to the service.
 *
 * `kind` says how the request may be handled. GET: a `read` costs nothing, and one answer serves all items of a run; a
 * `poll` asks for the status of a scrape, and is sent again each time. POST: a `lookup` costs credits, and identical
 * lookups have the same answer; a `start` costs credits, and each start creates its own scrape.
 */
export interface ServiceRequest {
	kind: 'read' | 'poll' | 'lookup' | 'start';
	/** The noun for a paid call that the user sees, in the singular: `verification`. */
	noun?: string;
	/** Of a lookup: the field of the data without which it has not ended. */
	result?: string;
	/** Whether its data is the balance and the plan of the account. */
	isBalance?: boolean;
	/** As in docs/service.md, such as `/email/find`. */
	path: string;
	query?: Record<string, string>;
	body?: IDataObject;
	/** Distinguishes starts: the place of the item in its execution. Without a place, the body distinguishes them. */
	place?: string;
	/** Of a free request: aborted when nobody waits for the answer any more. */
	signal?: AbortSignal;
}

/** Whether a request costs no credits. Only GET requests cost none. */
export function isFree({ kind }: ServiceRequest): boolean {
	return kind === 'read' || kind === 'poll';
}

/** Advice for the user about a request without a usable answer. */
export function outcomeAdvice(request: ServiceRequest): string {
	return isFree(request)
		? 'This request costs no credits. Run it again.'
		: 'The service may have done the work and charged for it, so the node did not send the request again. Compare the credits of your account before you run it again.';
}

/** An answer as it arrived over HTTP, whatever it contains. */
export interface RawResponse {
	status: number;
	/** Names in lower case. */
	headers: Record<string, unknown>;
	text: string;
}
