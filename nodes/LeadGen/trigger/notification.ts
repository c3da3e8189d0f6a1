import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import type { Plan } from './plan';
import { fingerprint } from './signature';
import { isDone, openScrapes, reject, type TriggerState } from './state';
import type { Check } from './status';

/** What comes in at the URL of the node, and what it changes in the state. */

/** A request that came in, whoever sent it. */
export interface IncomingRequest {
	method: string;
	headers: Record<string, unknown>;
	query: Record<string, unknown>;
	/** As n8n parsed it: an object, a list, a text, or nothing. */
	body: unknown;
}

/** The part of Express's request that we use; its types are no part of n8n-workflow. */
interface HttpRequest {
	method: string;
	rawBody?: unknown;
}

/** The request that a call of `webhook()` is about. */
export function requestOf(context: IWebhookFunctions): IncomingRequest {
	const { method, rawBody } = context.getRequestObject() as unknown as HttpRequest;
	const body: unknown = context.getBodyData();
	const isEmpty =
		typeof body === 'object' ? Object.keys(body ?? {}).length === 0 : body === undefined;
	return {
		method,
		headers: context.getHeaderData(),
		query: context.getQueryData() as Record<string, unknown>,
		// A content type that n8n does not parse.
		body: isEmpty && Buffer.isBuffer(rawBody) ? rawBody.toString('utf8') : body,
	};
}

/** Names that a scrape ID may have, as compared without case, dashes and underscores. */
const ID_NAMES = new Set(['scrapeid', 'id', 'jobid', 'scrape', 'job']);
const OTHER_NAME = /id$/;
const MAX_IDS = 5;
const MAX_ID_LENGTH = 200;
/** How much of a notification is looked through; it may be as large as the leads of a scrape. */
const MAX_VALUES = 2000;
const MAX_TEXT = 4000;

/** What may be a scrape ID in a notification, the likeliest first. */
export interface NamedIds {
	/** What has the name of one. */
	likely: string[];
	/** What has the name of some identifier. */
	others: string[];
}

/**
 * Neither the shape of a notification nor its method is known (docs/service.md, "The completion
 * notification"), so the scrape ID is looked for everywhere: in the query, in the body at any depth, and in plain text.
 */
export function idsOf({ query, body }: IncomingRequest): NamedIds {
	const exact: string[] = [];
	const likely: string[] = [];
	const others: string[] = [];
	// Breadth first: what belongs to the scrape itself comes before what belongs to its leads.
	const queue: unknown[] = [query, body];
	for (let seen = 0; seen < queue.length && seen < MAX_VALUES; seen++) {
		const value = queue[seen];
		if (typeof value === 'string') likely.push(...idsInText(value));
		if (typeof value !== 'object' || value === null) continue;
		for (const [name, inner] of Object.entries(value).slice(0, MAX_VALUES)) {
			const plain = name.toLowerCase().replace(/[-_]/g, '');
			const id = toId(inner);
			if (id !== undefined && ID_NAMES.has(plain)) {
				(plain === 'scrapeid' ? exact : likely).push(id);
			} else if (id !== undefined && OTHER_NAME.test(plain)) {
				others.push(id);
			} else if (typeof inner === 'object' && inner !== null && queue.length < MAX_VALUES) {
				queue.push(inner);
			}
		}
	}
	return { likely: first(exact.length > 0 ? exact : likely), others: first(others) };
}

function first(ids: string[]): string[] {
	return [...new Set(ids)].slice(0, MAX_IDS);
}

function toId(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	return typeof text === 'string' && text !== '' && text.length <= MAX_ID_LENGTH ? text : undefined;
}

/** Words with a digit in them. A text may also be JSON that does not say so. */
function idsInText(text: string): string[] {
	const start = text.slice(0, MAX_TEXT);
	const named = [...start.matchAll(/scrape_?id"?\s*[:=]\s*"?([^"\s,;&}]+)/gi)].flatMap(
		([, id]) => id ?? [],
	);
	if (named.length > 0) return named;
	const words = start.match(/[\w-]{4,200}/g) ?? [];
	return words.filter((word) => /\d/.test(word) && word.length <= MAX_ID_LENGTH);
}

const SECRET_HEADERS = /^(authorization|proxy-authorization|cookie|x-api-key|x-leadgen-.*)$/i;
/** What the node itself adds to its URL. */
const OWN_QUERY = new Set(['attempt', 'signature', 'token']);

/** The notification as it came, for the output, without the headers and the query that hold secrets. */
export function rawNotification(request: IncomingRequest): IDataObject {
	const headers = Object.entries(request.headers).filter(([name]) => !SECRET_HEADERS.test(name));
	const query = Object.entries(request.query).filter(([name]) => !OWN_QUERY.has(name));
	return {
		method: request.method,
		headers: Object.fromEntries(headers),
		query: Object.fromEntries(query),
		// A body that is nested thousands deep cannot be copied.
		body: (copyWithout([], request.body) as IDataObject | undefined) ?? null,
	};
}

/** A copy without the secrets, wherever they are: the service may repeat the URL that it was given. */
export function copyWithout(secrets: string[], value: unknown): unknown {
	try {
		let json = JSON.stringify(value ?? null);
		for (const secret of secrets) json = json.replaceAll(secret, '***');
		return JSON.parse(json) as unknown;
	} catch {
		return undefined;
	}
}

/** More IDs that only notifications name are put off. */
export const MAX_UNVERIFIED = 500;
/** The service could not answer for so long: what it was asked for makes room. */
const STALE_MS = 3_600_000;

/** What a notification led to. */
export interface Received {
	outcome: 'noted' | 'known' | 'ignored' | 'full';
	/** What it is kept for: see `notifications` of the state. More than one where it names what others named. */
	sources: string[];
}

/**
 * A notification came in. Only its signature proves anything; the IDs that it names are looked up.
 * @param attempt whose URL it came to: '' for a URL of 1.0.0, undefined without a signature
 */
export function notified(
	state: TriggerState,
	attempt: string | undefined,
	{ likely, others }: NamedIds,
	{ plan, checks }: { plan: Plan; checks: ReadonlyMap<string, Check> },
	now: number,
): Received {
	const start = attempt ? state.starts[attempt] : undefined;
	const open = openScrapes(state);
	const named = [...likely, ...others];
	const [, scrape] =
		open.find(([id, { source }]) => id === start?.scrapeId || (attempt && source === attempt)) ??
		open.find(([id]) => named.includes(id)) ??
		// With several scrapes under way, what names none belongs to none.
		(attempt === '' && likely.length === 0 && open.length === 1 ? open[0] : undefined) ??
		[];
	if (scrape) return { outcome: 'noted', sources: [scrape.source] };
	// The answer to the start is on its way, unless it gets lost: then the IDs are all that is known.
	if (attempt && start?.stage === 'planned' && likely.length === 0) {
		return { outcome: 'noted', sources: [attempt] };
	}
	const ids = likely.length > 0 || plan.mode === 'startScrape' ? likely : others;
	if (start?.scrapeId !== undefined || ids.some((id) => isDone(state, id))) {
		return { outcome: 'known', sources: [] };
	}
	const mayBeOurs = attempt !== undefined || plan.mode === 'listen';
	if (ids.length === 0 || !mayBeOurs) return { outcome: 'ignored', sources: [] };
	return addUnverified(state, ids, attempt, checks, now);
}

function addUnverified(
	state: TriggerState,
	ids: readonly string[],
	attempt: string | undefined,
	checks: ReadonlyMap<string, Check>,
	now: number,
): Received {
	const { scrapes } = state;
	const unverified = Object.entries(scrapes).filter(([, { stage }]) => stage === 'unverified');
	const sources = unverified.flatMap(([id, { source }]) => (ids.includes(id) ? source : []));
	// Several notifications may name the same thing beside their scrapes, such as an account.
	const fresh = ids.filter((id) => scrapes[id] === undefined);
	if (fresh.length === 0) return { outcome: sources.length > 0 ? 'noted' : 'full', sources };
	if (unverified.length + fresh.length > MAX_UNVERIFIED) {
		// Those that the service does not find, or could not answer for long, make room.
		const stale = unverified.filter(([id, { since }]) => {
			const check = checks.get(id);
			return check && (check.missingSince !== undefined || check.at - since > STALE_MS);
		});
		if (stale.length < fresh.length) return { outcome: 'full', sources: [] };
		for (const [id] of stale.slice(0, fresh.length)) reject(state, id, now);
	}
	const source = attempt || fingerprint([ids, now]);
	for (const id of fresh) scrapes[id] = { stage: 'unverified', at: now, since: now, source };
	return { outcome: 'noted', sources: [...new Set([source, ...sources])] };
}
