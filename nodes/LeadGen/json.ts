import { jsonParse } from 'n8n-workflow';

/** A finite number, also one that is written as text. */
export function numberIn(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A text as it is compared with the words of docs/service.md; the service may spell them in another case. */
export function wordIn(value: unknown): string | undefined {
	return typeof value === 'string' ? value.trim().toLowerCase() : undefined;
}

/** What a text holds that is JSON without saying so, such as a field of a form; else the value as it is. */
export function jsonIn(value: unknown): unknown {
	const isJson = typeof value === 'string' && /^\s*[[{]/.test(value);
	return isJson ? jsonParse(value, { fallbackValue: value }) : value;
}
