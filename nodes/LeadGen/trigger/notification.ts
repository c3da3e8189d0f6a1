import type { IDataObject } from 'n8n-workflow';
import { isObject, jsonIn } from '../common/json';

// Searches notifications of the service. Neither their shape nor their method is known (docs/service.md, "The
// completion notification"), and anyone may send one to a node that listens, so each search is bounded.

type Searched = { query?: unknown; body?: unknown };

/** How many values one search visits, and how long an ID may be. */
const [MAX_VALUES, MAX_ID_LENGTH] = [20_000, 200];
/** How deep the leads, a scrape ID and any other ID may be. */
const [LEADS_DEPTH, SCRAPE_ID_DEPTH, ID_DEPTH] = [4, 4, 2];

/** Names of fields, without dashes and underscores. */
const SCRAPE_ID = /^scrape(job)?id$/i;
const ID = /^(job)?id$/i;
const LEADS =
	/^(leads?|people|persons?|contacts?|profiles?|prospects?|results?|records|items|rows|data)$/i;

/** The ID of the scrape that a notification is about; undefined if it names none. */
export function scrapeIdIn({ query, body }: Searched): string | undefined {
	const named = (names: RegExp, depth: number) =>
		first([query, body], depth, ({ name, value }) => (names.test(name) ? idIn(value) : undefined));
	return named(SCRAPE_ID, SCRAPE_ID_DEPTH) ?? named(ID, ID_DEPTH);
}

/**
 * The leads in the body of a notification: the first list of objects with a usual name, otherwise the body, if it is
 * such a list.
 * @param path of the list, such as `data.leads`; empty to search for it @returns undefined without leads
 */
export function leadsIn({ body }: Searched, path = ''): unknown[] | undefined {
	if (path !== '') return listIn(valueAt(body, path));
	const named = first([body], LEADS_DEPTH, ({ name, value }) =>
		LEADS.test(name) ? objectsIn(value) : undefined,
	);
	return named ?? objectsIn(jsonIn(body));
}

/** A scrape ID, also if it is a number. Text that could forge a line of a log or a link is none. */
export function idIn(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	const isShort = typeof text === 'string' && text !== '' && text.length <= MAX_ID_LENGTH;
	return isShort && !/[\p{C}\p{Zl}\p{Zp}<>]/u.test(text) ? text : undefined;
}

/** A value, and its name; empty for a root, and for an element of a list. */
type Named = { name: string; value: unknown };

/**
 * Finds something in the values in some roots, those that are less deep first. A root that is text is read as JSON
 * once.
 */
function first<T>(
	roots: unknown[],
	maxDepth: number,
	find: (named: Named) => T | undefined,
): T | undefined {
	let level: Named[] = roots.map((root) => ({ name: '', value: jsonIn(root) }));
	let left = MAX_VALUES;
	for (let depth = 0; depth <= maxDepth; depth++) {
		const next: Named[] = [];
		for (const each of level) {
			const found = find(each);
			if (found !== undefined) return found;
			if (depth < maxDepth) next.push(...childrenOf(each.value, left - next.length));
		}
		left -= next.length;
		level = next;
	}
	return undefined;
}

function childrenOf(value: unknown, most: number): Named[] {
	if (Array.isArray(value))
		return value.slice(0, most).map((each: unknown) => ({ name: '', value: each }));
	if (!isObject(value)) return [];
	const names = Object.keys(value).slice(0, most);
	return names.map((name) => ({ name: name.replace(/[-_]/g, ''), value: value[name] }));
}

/** The value at a path of names, such as `data.leads` or `data[0].leads`. */
function valueAt(root: unknown, path: string): unknown {
	const names = path.split(/[[\].]+/).filter((name) => name !== '');
	const within = (value: unknown, name: string) =>
		typeof value === 'object' && value !== null ? (value as IDataObject)[name] : undefined;
	return names.reduce<unknown>(within, jsonIn(root));
}

function listIn(value: unknown): unknown[] | undefined {
	return Array.isArray(value) && value.length > 0 ? (value as unknown[]) : undefined;
}

function objectsIn(value: unknown): unknown[] | undefined {
	return listIn(value)?.every(isObject) ? listIn(value) : undefined;
}
