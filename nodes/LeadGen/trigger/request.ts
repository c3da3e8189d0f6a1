import type { IDataObject, IWebhookResponseData } from 'n8n-workflow';
import { isObject, jsonIn } from '../common/json';
import { MANY_DIGITS, parseLoosely } from '../service/looseJson';
import { keysOf, MAX_FIELDS } from './contents';
import type { Receiving } from './node';
import { PARAMETER } from './signature';

/** Reads and answers requests to the URL of the node. */

/** A request from any sender. */
export interface IncomingRequest {
	method: string;
	headers: Record<string, unknown>;
	query: Record<string, unknown>;
	/** An object, a list, a text, or nothing. */
	body: unknown;
	/** The URL, the headers and the body as they arrived, as far as they are searched for a signature. */
	text: string;
	/** The size of the body in bytes. */
	size: number;
}

/** The part of Express's request that we use. Its types are not part of n8n-workflow. */
interface HttpRequest {
	method: string;
	originalUrl?: string;
	rawBody?: unknown;
}

const MAX_SEARCHED_BYTES = 1_000_000;

/** The request that a call of `webhook()` handles. */
export function requestOf({ context }: Receiving): IncomingRequest {
	const request = context.getRequestObject() as unknown as HttpRequest;
	const raw = Buffer.isBuffer(request.rawBody) ? request.rawBody : Buffer.alloc(0);
	const headers = context.getHeaderData();
	const parts = [
		request.originalUrl,
		...Object.values(headers),
		raw.toString('utf8', 0, MAX_SEARCHED_BYTES),
	];
	return {
		method: request.method,
		headers,
		query: context.getQueryData() as Record<string, unknown>,
		body: bodyOf(context.getBodyData(), raw),
		text: parts.join('\n'),
		size: raw.length,
	};
}

/** How many fields of a form n8n reads. */
const MAX_FORM_FIELDS = 1000;

/**
 * What n8n does not read of a body: numbers of many digits, one of an unknown content type, JSON that was sent as a form,
 * and the rest of a long form.
 */
function bodyOf(body: unknown, raw: Buffer): unknown {
	const text = raw.toString('utf8');
	const mayBeRounded = raw.length <= MAX_SEARCHED_BYTES && MANY_DIGITS.test(text);
	const exact = mayBeRounded ? parseLoosely(text) : undefined;
	if (exact !== undefined) return exact;
	const names = isObject(body) ? keysOf(body) : [];
	const [name = ''] = names;
	const isEmpty = body === undefined || (isObject(body) && names.length === 0);
	if (isEmpty && raw.length > 0) return text;
	const isJson = /^\s*[[{]/.test(name);
	if (!isJson && names.length < MAX_FORM_FIELDS) return body;
	if (isJson) return [text, name].map(jsonIn).find((value) => typeof value === 'object') ?? body;
	const isForm = !text.trimStart().startsWith('{');
	const fields = text.split('&', MAX_FIELDS).join('&');
	return isForm ? Object.fromEntries(new URLSearchParams(fields)) : body;
}

/** The part of Express's response that we use. Its types are not part of n8n-workflow. */
interface HttpResponse {
	status(code: number): { json(body: object): void };
}

/** Answers with another status than 200. */
export function respond({ context }: Receiving, code: number, body: object): IWebhookResponseData {
	const response = context.getResponseObject() as unknown as HttpResponse;
	response.status(code).json(body);
	return { noWebhookResponse: true };
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
