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
