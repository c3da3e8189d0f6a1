import type { IDataObject } from 'n8n-workflow';
import { entriesOf, type Entry } from './contents';
import type { IncomingRequest } from './request';
import { PARAMETER } from './signature';

/**
 * Names of fields that may contain a scrape ID, in lower case, without dashes and underscores: names of a scrape ID,
 * names that fit one, and names of any identifier.
 */
const NAMES = [/^scrape(job|task|run)?u{0,2}ids?$/, /^(id|uuid|jobid|scrape|job)s?$/, /ids?$/];
const MAX_IDS = 5;
/** One notification may name many scrapes. */
const MAX_EXACT_IDS = 100;
const MAX_ID_LENGTH = 200;
const MAX_TEXT = 4000;

/** Possible scrape IDs in a notification, the likeliest first. */
interface NamedIds {
	/** Values with a name that fits a scrape ID. */
	likely: string[];
	/** Values with the name of another identifier. */
	others: string[];
}

/**
 * Finds the scrape IDs of a notification. Neither its shape nor its method is known (docs/service.md, "The completion
 * notification"), so this searches the query, the body at any depth, and text.
 * @param contents of the body
 */
export function idsIn(query: object, contents: Entry[]): NamedIds {
	const found = NAMES.map(() => new Set<string>());
	for (const { name, value, depth } of [...entriesOf(query), ...contents]) {
		if (depth === 0 && typeof value === 'string')
			for (const id of idsInText(value)) found[1]?.add(id);
		const plain = plainName(name);
		const kind = NAMES.findIndex((each) => each.test(plain));
		const id = kind < 0 || name === PARAMETER ? undefined : idIn(value);
		if (id !== undefined) found[kind]?.add(id);
	}
	const [exact = [], likely = [], others = []] = found.map((ids) => [...ids]);
	return {
		likely: exact.length > 0 ? exact.slice(0, MAX_EXACT_IDS) : likely.slice(0, MAX_IDS),
		others: others.slice(0, MAX_IDS),
	};
}

/** Names of fields that say how a scrape is, and words for its end. */
const STATUS_NAMES = /(status|state|event|type)$/;
const FINAL_WORDS = /\b(complet(ed?|ion)|finished|done|succeeded|failed|failure)\b/i;
/** Where a new word begins in a name such as `scrape_completed` or `scrapeCompleted`. */
const WORD_BREAK = /_|(?<=[a-z])(?=[A-Z])/g;

/** Whether a notification says that a scrape is finished, such as `completed`, `scrape_failed`, or in a text. */
export function saysFinished(query: object, contents: Entry[]): boolean {
	return [...entriesOf(query), ...contents].some(({ name, value, depth }) => {
		const isStatus = depth === 0 || STATUS_NAMES.test(plainName(name));
		if (!isStatus || typeof value !== 'string') return false;
		return FINAL_WORDS.test(value.slice(0, MAX_TEXT).replace(WORD_BREAK, ' '));
	});
}

/** The last part of a name. A form names nested fields `data[scrapeId]` or `data.scrapeId`. */
function plainName(name: string): string {
	const parts = name
		.slice(-MAX_ID_LENGTH)
		.split(/[[\].]+/)
		.filter((part) => part !== '');
	return (parts.at(-1) ?? '').replace(/[-_]/g, '');
}

/** A scrape ID, also if it is a number. Text that could forge a line of a log or a link is none. */
export function idIn(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	const isId =
		typeof text === 'string' &&
		text !== '' &&
		text.length <= MAX_ID_LENGTH &&
		!/[\p{C}\p{Zl}\p{Zp}<>]/u.test(text);
	return isId ? text : undefined;
}

/** Values that the text names as a scrape ID; if there are none, words that contain a digit. */
function idsInText(text: string): string[] {
	const start = text.slice(0, MAX_TEXT);
	const named = start.matchAll(/scrape_?id"?\s*[:=]\s*"?([^"\s,;&}]+)/gi);
	const ids = [...named].flatMap(([, id]) => idIn(id) ?? []);
	const words = start.match(/[\w-]{4,200}/g) ?? [];
	return ids.length > 0 ? ids : words.filter((word) => /\d/.test(word));
}

const SECRET_HEADERS = /^(authorization|proxy-authorization|cookie|x-api-key|x-leadgen-.*)$/i;

/**
 * The notification as it arrived, for the output, without headers and query parameters that contain secrets.
 * @param secret a signature; the service may repeat the signed URL that it received
 */
export function rawNotification(request: IncomingRequest, secret = ''): IDataObject {
	const headers = Object.entries(request.headers).filter(([name]) => !SECRET_HEADERS.test(name));
	const query = Object.entries(request.query).filter(([name]) => name !== PARAMETER);
	const raw = {
		method: request.method,
		headers: Object.fromEntries(headers),
		query: Object.fromEntries(query),
		body: request.body ?? null,
	} as IDataObject;
	try {
		const json = JSON.stringify(raw);
		const isRepeated = secret !== '' && json.toLowerCase().includes(secret);
		return isRepeated
			? (JSON.parse(json.replaceAll(new RegExp(secret, 'gi'), '***')) as IDataObject)
			: raw;
	} catch {
		// A body that is nested thousands of levels deep cannot be written as JSON. n8n could not save it either.
		return { ...raw, body: null };
	}
}
