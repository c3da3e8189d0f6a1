import { jsonIn } from '../json';

/** Searches what a notification contains. Its shape is not known, and anyone may send one, so all searches are bounded. */

/** One value in a notification, and where it is. */
export interface Entry {
	/** In lower case. An element of a list has the name of the list. */
	name: string;
	/** Text that contains JSON is parsed. */
	value: unknown;
	depth: number;
	parent?: Entry;
	/** Whether it is inside a list, which may be the list of leads. */
	isInList: boolean;
}

const MAX_ENTRIES = 20_000;
/** How many texts are parsed as JSON, and how many characters all together. */
const MAX_PARSED = 100;
const MAX_PARSED_LENGTH = 4_000_000;

/** The values of a notification, those that are less deep first. */
export function entriesOf(...roots: unknown[]): Entry[] {
	const parse = boundedParser();
	const entries = roots.map((root): Entry => ({
		name: '',
		value: parse(root),
		depth: 0,
		isInList: false,
	}));
	for (let seen = 0; seen < entries.length && seen < MAX_ENTRIES; seen++) {
		const parent = entries[seen];
		if (!parent || typeof parent.value !== 'object' || parent.value === null) continue;
		const isList = listIn(parent.value) !== undefined;
		for (const key of Object.keys(parent.value).slice(0, MAX_ENTRIES - entries.length)) {
			entries.push({
				name: isList ? parent.name : key.toLowerCase(),
				value: parse((parent.value as Record<string, unknown>)[key]),
				depth: parent.depth + 1,
				parent,
				isInList: parent.isInList || isList,
			});
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
	const keys = Object.keys(value);
	const isList = keys.length > 0 && keys.every((key) => /^\d{1,9}$/.test(key));
	return isList ? Object.values(value) : undefined;
}

/** A body as it is meant: JSON lines as a list, and the fields of a form whose names have brackets as objects. */
export function meantBody(body: unknown, text: string): unknown {
	const parsed = jsonIn(body);
	if (typeof parsed === 'string') return linesIn(parsed) ?? parsed;
	if (!isObject(parsed) || !Object.keys(parsed).some((key) => /^[[{]|[^[]\[[^\]]*\]/.test(key))) {
		return parsed;
	}
	// JSON that was sent with the content type of a form.
	const json = jsonIn(text);
	return typeof json === 'string' ? unfold(parsed) : json;
}

function linesIn(text: string): unknown[] | undefined {
	const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
	if (!text.trimStart().startsWith('{') || lines.length > MAX_ENTRIES) return undefined;
	const values = lines.map(jsonIn);
	return values.every(isObject) ? values : undefined;
}

/** `{ 'leads[0][name]': 'Ada' }` as `{ leads: { 0: { name: 'Ada' } } }`. */
function unfold(fields: Record<string, unknown>): Record<string, unknown> {
	// Without a prototype, because the names come from outside.
	const root = Object.create(null) as Record<string, unknown>;
	for (const [field, value] of Object.entries(fields).slice(0, MAX_ENTRIES)) {
		const path = field.split(/\]\[|[[\]]/).filter((part, at) => part !== '' || at === 0);
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

export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
