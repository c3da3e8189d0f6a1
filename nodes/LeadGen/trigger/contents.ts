import { isObject, jsonIn } from '../common/json';

/** Searches what a notification contains. Its shape is not known, and anyone may send one, so all searches are bounded. */

/** One value in a notification, and where it is. */
export interface Entry {
	/** In lower case. An element of a list has the name of the list. */
	name: string;
	/** The name in an object, also if the object is a list whose keys are numbers. */
	key: string;
	/** Text that contains JSON is parsed. */
	value: unknown;
	/** Its elements, if it is a list. */
	list?: unknown[];
	depth: number;
	parent?: Entry;
	/** What it belongs to: the element of the innermost list around it, or the whole. */
	scope: Entry;
}

const MAX_ENTRIES = 20_000;
/** How many lines of JSON, or fields of a form, are read. */
export const MAX_FIELDS = 100_000;
/** How many texts are parsed as JSON, and how many characters all together. */
const MAX_PARSED = 100;
const MAX_PARSED_LENGTH = 4_000_000;
/** How deep the names of a form may be nested. */
const MAX_PATH = 20;

/** The values of a notification, those that are less deep first. */
export function entriesOf(...roots: unknown[]): Entry[] {
	const parse = boundedParser();
	const entries: Entry[] = [];
	const add = (raw: unknown, key = '', parent?: Entry) => {
		const value = parse(raw);
		const name = parent?.list ? parent.name : key;
		const depth = parent ? parent.depth + 1 : 0;
		const entry = { name, key, value, list: listIn(value), depth, parent } as Entry;
		entry.scope = parent && !parent.list ? parent.scope : entry;
		entries.push(entry);
	};
	for (const root of roots) add(root);
	for (let seen = 0; seen < entries.length && entries.length < MAX_ENTRIES; seen++) {
		const parent = entries[seen];
		const room = MAX_ENTRIES - entries.length;
		if (Array.isArray(parent?.value)) {
			for (const each of parent.value.slice(0, room)) add(each, '', parent);
		} else if (isObject(parent?.value)) {
			const { value } = parent;
			for (const key of keysOf(value).slice(0, room)) add(value[key], key.toLowerCase(), parent);
		}
	}
	return entries;
}

function boundedParser(): (value: unknown) => unknown {
	let [count, length] = [0, 0];
	return (value) => {
		if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
		length += value.length;
		return ++count > MAX_PARSED || length > MAX_PARSED_LENGTH ? value : jsonIn(value);
	};
}

/** The elements of a list. A form or PHP may write a list as an object whose keys are numbers. */
export function listIn(value: unknown): unknown[] | undefined {
	if (Array.isArray(value)) return value as unknown[];
	if (!isObject(value)) return undefined;
	const keys = keysOf(value);
	const isList = keys.length > 0 && keys.every((key) => /^\d{1,9}$/.test(key));
	return isList ? Object.values(value) : undefined;
}

/** A body as it is meant: JSON lines as a list, and the fields of a form whose names have brackets as objects. */
export function meantBody(body: unknown): unknown {
	const parsed = jsonIn(body);
	if (typeof parsed === 'string') return linesIn(parsed) ?? parsed;
	const isForm = isObject(parsed) && keysOf(parsed).some((key) => /^[^[]*\[[^\]]*\]/.test(key));
	return isForm ? unfold(parsed) : parsed;
}

function linesIn(text: string): unknown[] | undefined {
	if (!text.trimStart().startsWith('{')) return undefined;
	const lines = text.split('\n', MAX_FIELDS + 1);
	const values: unknown[] = [];
	const isJson = lines.every((line) => {
		if (line.trim() === '') return true;
		const value = jsonIn(line);
		values.push(value);
		return isObject(value);
	});
	return isJson && lines.length <= MAX_FIELDS ? values : undefined;
}

/** `{ 'leads[0][name]': 'Ada' }` as `{ leads: { 0: { name: 'Ada' } } }`. */
function unfold(fields: Record<string, unknown>): Record<string, unknown> {
	// Without a prototype, because the names come from outside.
	const root = Object.create(null) as Record<string, unknown>;
	for (const [field, value] of Object.entries(fields).slice(0, MAX_FIELDS)) {
		const path = field.split(/\]?\[|\]\.?/, MAX_PATH).filter((part) => part !== '');
		const last = path.pop() ?? field;
		let inner = root;
		for (const part of path) {
			const known = inner[part];
			const next = isObject(known) ? known : (Object.create(null) as Record<string, unknown>);
			inner = inner[part] = next;
		}
		inner[last] = value;
	}
	return root;
}

/** Objects with so many fields that asking for their names takes long. */
const manyKeys = new WeakMap<object, string[]>();
const MANY_KEYS = 1000;

/** The names of the fields of an object that does not change any more. */
export function keysOf(value: object): string[] {
	const keys = manyKeys.get(value) ?? Object.keys(value);
	if (keys.length > MANY_KEYS) manyKeys.set(value, keys);
	return keys;
}

/** The value at a path of names, such as `data.leads` or `data[0].leads`. */
export function valueAt(value: unknown, path: string): unknown {
	const names = path.split(/[[\].]+/).filter((name) => name !== '');
	return names.reduce<unknown>(
		(inner, name) =>
			isObject(inner) || Array.isArray(inner)
				? (inner as Record<string, unknown>)[name]
				: undefined,
		value,
	);
}
