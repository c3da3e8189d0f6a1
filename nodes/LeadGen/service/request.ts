import type { IDataObject } from 'n8n-workflow';
import { folded } from '../common/addresses';
import { wordIn } from '../common/json';

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
	/** As in docs/service.md, such as `/email/find`. */
	path: string;
	query?: Record<string, string>;
	body?: IDataObject;
	/** Of a paid request: whether an answer without data is no result. In a search, it means that nobody was found. */
	needsData?: true;
	/** Distinguishes starts: the place of the item in its execution. Without a place, the body distinguishes them. */
	place?: string;
	/**
	 * Of a paid request: asked when it is the turn of the request, right before it is sent. If it throws a LeadGenError,
	 * nothing is sent. Such a request is sent once, so that its caller can ask again before the next try.
	 */
	permit?: () => Promise<void>;
	/** Of a free request: aborted when nobody waits for the answer any more. */
	signal?: AbortSignal;
}

/** The request for the balance and the plan (docs/service.md, Operations). */
export const BALANCE: ServiceRequest = { kind: 'read', path: '/credits' };

/** Whether a request costs no credits. Only GET requests cost none. */
export function isFree({ kind }: ServiceRequest): boolean {
	return kind === 'read' || kind === 'poll';
}

/**
 * The same text for requests that one answer serves. Spellings of one value make no difference to a lookup. Only its
 * place in its execution identifies a start, because an expression in its body may return something else when n8n runs
 * it again.
 */
export function keyOf(
	{ kind, path, query, body, place }: ServiceRequest,
	executionId = '',
): string {
	const fields = Object.entries(query ?? body ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
	const content = JSON.stringify(fields);
	if (kind === 'start') return `${path} ${executionId} ${place || content}`;
	if (kind === 'read') return `${path} ${content}`;
	return `${path} ${JSON.stringify(fields.map(([name, value]) => [name, folded(value)]))}`;
}

/** Advice for the user about a request without a usable answer. */
export function outcomeAdvice(request: ServiceRequest): string {
	if (request.kind === 'poll') return 'This request costs no credits.';
	return isFree(request)
		? 'This request costs no credits. Run it again.'
		: 'The service may have done the work and charged for it, so the node did not send the request again. Compare the credits of your account before you run it again.';
}

/** The statuses that end a scrape (docs/service.md, Scrapes and their status). */
const ENDS = ['completed', 'failed'] as const;

/** The request for the status of a scrape (docs/service.md, Operations), for one that asks again and again. */
export function pollRequest(id: string): ServiceRequest {
	return { kind: 'poll', path: '/status', query: { scrapeId: id } };
}

/** How a scrape ended; undefined while it is running. */
export function endOf({ status }: IDataObject): (typeof ENDS)[number] | undefined {
	return ENDS.find((end) => end === wordIn(status));
}
