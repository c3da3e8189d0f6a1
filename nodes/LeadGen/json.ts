import { jsonParse } from 'n8n-workflow';

/** What a text holds that is JSON without saying so, such as a field of a form; else the value as it is. */
export function jsonIn(value: unknown): unknown {
	const isJson = typeof value === 'string' && /^\s*[[{]/.test(value);
	return isJson ? jsonParse(value, { fallbackValue: value }) : value;
}
