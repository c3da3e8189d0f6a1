import { jsonParse, type IDataObject } from 'n8n-workflow';

/** A finite number, also if it is written as text. */
export function numberIn(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Text as docs/service.md spells its words. The service may write them in another case, or as `catch-all`. */
export function wordIn(value: unknown): string | undefined {
	if (typeof value !== 'string') return undefined;
	return value
		.trim()
		.toLowerCase()
		.replace(/[\s-]+/g, '_');
}

/** Parses text that contains a JSON object or list, such as a field of a form. Returns any other value unchanged. */
export function jsonIn(value: unknown): unknown {
	const isJson = typeof value === 'string' && /^\s*[[{]/.test(value);
	return isJson ? jsonParse(value, { fallbackValue: value }) : value;
}

export function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object but these. */
export function without(object: IDataObject, names: ReadonlySet<string>): IDataObject {
	const kept = Object.entries(object).filter(([name]) => !names.has(name));
	return Object.fromEntries<IDataObject[string]>(kept);
}

/** Text that is not empty. */
export function isText(value: unknown): value is string {
	return typeof value === 'string' && value !== '';
}

/** The fields that have a value; undefined if there are none. */
export function filled(fields: IDataObject): IDataObject | undefined {
	const entries = Object.entries(fields).filter(([, value]) => (value ?? '') !== '');
	return entries.length > 0 ? Object.fromEntries<IDataObject[string]>(entries) : undefined;
}

/** A deeper value would end n8n when it saves the execution. */
const MAX_DEPTH = 100;
/** To look through a longer text would hold up everything else in the process. */
const MAX_REPAIRED = 100_000;
const MAX_EXACT = 1_000_000;
/** JavaScript would round a number of so many digits, which would be the ID of something else. */
const MANY_DIGITS = /[:,[]\s*-?\d{16}/;
/** A text, which may lack its end; a comma at the end of an object or list; a word or number. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*"?)|(,)(?=\s*[}\]])|[-+.\w]+/gs;

/**
 * The value of a JSON text. Also reads `NaN`, and a comma at the end of a list or object. A whole number that JavaScript
 * would round becomes a text. A long text is only parsed.
 * @returns undefined for anything else, and for a value that is nested too deeply
 */
export function parseLoosely(text: string): unknown {
	let value = parse(text);
	const isWhole = value !== undefined;
	const isShort = text.length <= (isWhole ? MAX_EXACT : MAX_REPAIRED);
	if (isShort && (!isWhole || MANY_DIGITS.test(text))) value = parse(repaired(text)) ?? value;
	return isShallow(value, MAX_DEPTH) ? value : undefined;
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function repaired(json: string): string {
	return json.replace(TOKEN, (token: string, string?: string, comma?: string) => {
		if (string !== undefined) return string;
		if (comma !== undefined) return '';
		if (token === 'NaN') return 'null';
		const isRounded = /^-?\d{16,}$/.test(token) && String(Number(token)) !== token;
		return isRounded ? `"${token}"` : token;
	});
}

function isShallow(value: unknown, depth: number): boolean {
	if (typeof value !== 'object' || value === null) return true;
	return depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));
}
