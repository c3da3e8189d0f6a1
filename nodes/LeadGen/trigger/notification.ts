import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { jsonIn } from '../json';

/** Parses requests to the URL of the node. */

/** A request from any sender. */
export interface IncomingRequest {
	method: string;
	headers: Record<string, unknown>;
	query: Record<string, unknown>;
	/** As n8n parsed it: an object, a list, a text, or nothing. */
	body: unknown;
}

/** The part of Express's request that we use. Its types are not part of n8n-workflow. */
interface HttpRequest {
	method: string;
	rawBody?: unknown;
}

/** The request that a call of `webhook()` handles. */
export function requestOf(context: IWebhookFunctions): IncomingRequest {
	const { method, rawBody } = context.getRequestObject() as unknown as HttpRequest;
	const body: unknown = context.getBodyData();
	const isEmpty =
		typeof body === 'object' ? Object.keys(body ?? {}).length === 0 : body === undefined;
	return {
		method,
		headers: context.getHeaderData(),
		query: context.getQueryData() as Record<string, unknown>,
		// n8n does not parse bodies of this content type.
		body: isEmpty && Buffer.isBuffer(rawBody) ? rawBody.toString('utf8') : body,
	};
}

/**
 * Names of fields that may contain a scrape ID, in lower case, without dashes and underscores: names of a scrape ID,
 * names that fit one, and names of any identifier.
 */
const NAMES = [/^scrapeids?$/, /^(id|jobid|scrape|job)s?$/, /ids?$/];
const MAX_IDS = 5;
/** One notification may name many scrapes. */
const MAX_EXACT_IDS = 100;
const MAX_ID_LENGTH = 200;
/** How much of a notification is searched. It may be as large as the leads of a scrape. */
const MAX_VALUES = 2000;
const MAX_TEXT = 4000;

/** Possible scrape IDs in a notification, the likeliest first. */
export interface NamedIds {
	/** Values with a name that fits a scrape ID. */
	likely: string[];
	/** Values with the name of another identifier. */
	others: string[];
	/** The depth of each ID in the notification. */
	depths?: ReadonlyMap<string, number>;
}

/**
 * Finds the scrape ID of a notification. Neither the shape of a notification nor its method is known
 * (docs/service.md, "The completion notification"), so this searches the query, the body at any depth, and text.
 */
export function idsOf({ query, body }: IncomingRequest): NamedIds {
	const found = NAMES.map(() => new Set<string>());
	const depths = new Map<string, number>();
	// Breadth first: IDs of the scrape itself come before IDs of its leads.
	const queue = [query, jsonIn(body)].map((value) => ({ value, depth: 0 }));
	for (let seen = 0; seen < queue.length && seen < MAX_VALUES; seen++) {
		const { value, depth = 0 } = queue[seen] ?? {};
		if (typeof value === 'string') for (const id of idsInText(value)) found[1]?.add(id);
		if (typeof value !== 'object' || value === null) continue;
		for (const [name, text] of Object.entries(value).slice(0, MAX_VALUES)) {
			const inner = jsonIn(text);
			const plain = plainName(name);
			const kind = NAMES.findIndex((each) => each.test(plain));
			const ids = kind < 0 ? [] : [inner].flat().flatMap((each) => idIn(each) ?? []);
			for (const id of ids) {
				found[kind]?.add(id);
				if (!depths.has(id)) depths.set(id, depth);
			}
			if (ids.length === 0 && typeof inner === 'object' && queue.length < MAX_VALUES) {
				queue.push({ value: inner, depth: depth + 1 });
			}
		}
	}
	const [exact = [], likely = [], others = []] = found.map((ids) => [...ids]);
	return {
		likely: exact.length > 0 ? exact.slice(0, MAX_EXACT_IDS) : likely.slice(0, MAX_IDS),
		others: others.slice(0, MAX_IDS),
		depths,
	};
}

/** The last part of a name. A form names nested fields `data[scrapeId]` or `data.scrapeId`. */
function plainName(name: string): string {
	const parts = name.split(/[[\].]+/).filter((part) => part !== '');
	return (parts.at(-1) ?? '').toLowerCase().replace(/[-_]/g, '');
}

/** A scrape ID, also if it is a number. */
export function idIn(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	return typeof text === 'string' && text !== '' && text.length <= MAX_ID_LENGTH ? text : undefined;
}

/** Values that the text names as a scrape ID; if there are none, words that contain a digit. */
function idsInText(text: string): string[] {
	const start = text.slice(0, MAX_TEXT);
	const named = start.matchAll(/scrape_?id"?\s*[:=]\s*"?([^"\s,;&}]+)/gi);
	const ids = [...named].flatMap(([, id]) => id ?? []);
	const words = start.match(/[\w-]{4,200}/g) ?? [];
	return ids.length > 0 ? ids : words.filter((word) => /\d/.test(word));
}

const SECRET_HEADERS = /^(authorization|proxy-authorization|cookie|x-api-key|x-leadgen-.*)$/i;
/** Query parameters that the node adds to its own URL. */
const OWN_QUERY = new Set(['attempt', 'signature', 'token']);

/** The notification as it arrived, for the output, without headers and query parameters that contain secrets. */
export function rawNotification(request: IncomingRequest): IDataObject {
	const headers = Object.entries(request.headers).filter(([name]) => !SECRET_HEADERS.test(name));
	const query = Object.entries(request.query).filter(([name]) => !OWN_QUERY.has(name));
	return {
		method: request.method,
		headers: Object.fromEntries(headers),
		query: Object.fromEntries(query),
		// A body that is nested thousands of levels deep cannot be copied.
		body: (copyWithout([], request.body) as IDataObject | undefined) ?? null,
	};
}

/** A copy without the secrets at any depth: the service may repeat the signed URL that it received. */
export function copyWithout(secrets: string[], value: unknown): unknown {
	try {
		let json = JSON.stringify(value ?? null);
		for (const secret of secrets) json = json.replaceAll(secret, '***');
		return JSON.parse(json) as unknown;
	} catch {
		return undefined;
	}
}
