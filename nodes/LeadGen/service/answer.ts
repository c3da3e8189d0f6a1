import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../common/errors';
import { filled, isObject, isText, parseExactly, without, wordIn } from '../common/json';
import { endOf } from './scrapeStatus';
import { beginning, excerpt } from './texts';
import { isFree, outcomeAdvice, type RawResponse, type ServiceRequest } from './types';

/** What to do about each error code of docs/service.md (The envelope). */
const ADVICE = new Map(
	Object.entries({
		INVALID_REQUEST: 'The service does not accept the fields of this item. Check them.',
		UNAUTHORIZED: 'Check the API key in the LeadGen credential.',
		INSUFFICIENT_CREDITS:
			'This request cost nothing. Add credits to the account, or wait until they reset.',
		NOT_FOUND: 'The service did not find what this request asks for. Check its values.',
		RATE_LIMIT_EXCEEDED: 'The account makes more requests than its plan allows. Try again later.',
	}),
);
/** What an HTTP status means where an answer has no documented code. */
const CODE_OF_STATUS = new Map([
	[401, 'UNAUTHORIZED'],
	[402, 'INSUFFICIENT_CREDITS'],
	[403, 'UNAUTHORIZED'],
	[429, 'RATE_LIMIT_EXCEEDED'],
]);
const LOOK_UP = 'Look up this code in the documentation of the service.';
const ASK = 'Check the fields of this item. If they are correct, ask the provider of the service.';
const CHECK_ADDRESS = 'Check the base URL in the LeadGen credential. This may be another server.';

/** How much of an answer that cannot be read an error contains, in characters. */
const MAX_ANSWER = 4096;
/** What an error tells by itself. */
const TOLD = new Set(['success', 'code', 'message']);

/** The documented code that a text spells in any case, such as "Not found". */
export function documentedCode(text: string): string | undefined {
	const code = (wordIn(text) ?? '').toUpperCase();
	return ADVICE.has(code) ? code : undefined;
}

/** The documented code that an error means, by its code or else by its HTTP status. */
export function meaningOf(error: unknown): string | undefined {
	return error instanceof ServiceError ? meaning(error.code, error.httpStatus) : undefined;
}

function meaning(code = '', status = 0): string | undefined {
	return documentedCode(code) ?? CODE_OF_STATUS.get(status);
}

/** Whether a lookup found nobody, which is a result that is paid for. */
export function foundNobody(error: unknown): boolean {
	return meaningOf(error) === 'NOT_FOUND';
}

/** The `data` of a call, which is `null` if the service returns `"data": null`; or why there is none. */
export type Answer = { data: IDataObject | null } | { error: ServiceError };

/**
 * Reads an answer: the `data` of a success envelope (docs/service.md, The envelope) with every field that the service
 * sent; or an error for an error envelope with any HTTP status, and for anything that is not an envelope.
 */
export function readEnvelope(response: RawResponse, request: ServiceRequest): Answer {
	const { status } = response;
	if (status >= 300 && status < 400) return { error: redirected(response, request) };
	const envelope = parseExactly(response.text);
	if (!isObject(envelope)) return { error: unreadable(response, request) };
	const { data, error } = envelope;
	// The status of a failed scrape may come as an error.
	const isStatus = status < 400 && isFree(request) && isObject(data);
	if (isStatus && endOf(data) === 'failed') return { data: { ...filled({ error }), ...data } };
	if (isError(envelope, status)) return { error: errorOf(envelope, status, request) };
	if (status >= 400) return { error: unreadable(response, request) };
	if (data !== null && !isObject(data)) return { error: withoutData(request, envelope) };
	if (!isPending(data ?? {}, status, request)) return { data };
	const advice = `Its answer contains no result yet. ${outcomeAdvice(request)}`;
	const facts = { outcome: 'unknown', httpStatus: status, answer: untold(envelope) } as const;
	return { error: new ServiceError('The service has not finished this lookup', advice, facts) };
}

/** Without data, an answer is also an error if it holds one, or only a message. */
function isError({ success, data, error, message }: IDataObject, status: number): boolean {
	if (success === false) return true;
	if (isObject(data) && status < 400) return false;
	return isObject(error) || isText(error) || (success !== true && isText(message));
}

/** Whether the service accepted a lookup that has no result yet. */
function isPending(data: IDataObject, httpStatus: number, { result }: ServiceRequest): boolean {
	if (result === undefined) return false;
	const isWaiting = (value: unknown) => ['pending', 'processing'].includes(wordIn(value) ?? '');
	const hasResult = data[result] && !isWaiting(data[result]);
	return !hasResult && (httpStatus === 202 || isWaiting(data.status));
}

/** The error of an error envelope. */
function errorOf(envelope: IDataObject, httpStatus: number, request: ServiceRequest): ServiceError {
	const { error, message } = envelope;
	// Servers and frameworks say this of a path that they do not have. They know no envelope.
	const isOtherServer = httpStatus === 404 && envelope.success === undefined;
	const beside = isOtherServer ? undefined : envelope.code;
	const { code: ownCode, message: text = error } = isObject(error) ? error : { code: beside };
	const isCode = typeof ownCode === 'string' || typeof ownCode === 'number';
	const sent = isCode ? excerpt(String(ownCode)) : '';
	const spelled = isText(error) && !isOtherServer ? documentedCode(error) : undefined;
	// Only a code says that nothing was done: with HTTP 200 and a text, or a 5xx status, a paid call may have been done.
	const documented = documentedCode(sent);
	const code = documented ?? (sent || spelled);
	const isSure = documented === 'RATE_LIMIT_EXCEEDED' || (httpStatus < 400 && Boolean(documented));
	const isRefused = isSure || isRefusalStatus(httpStatus);
	const otherwise = code ? LOOK_UP : isOtherServer ? CHECK_ADDRESS : ASK;
	// Some frameworks send a list of messages.
	const texts = [text, message].flat().filter(isText).map(excerpt);
	return new ServiceError(
		saying([...new Set(texts)].join(': '), code),
		isRefused ? (ADVICE.get(meaning(code, httpStatus) ?? '') ?? otherwise) : outcomeAdvice(request),
		{ outcome: isRefused ? 'refused' : 'unknown', code, httpStatus, answer: untold(envelope) },
	);
}

/** What an envelope contains beside what its error tells. */
function untold(envelope: IDataObject): IDataObject | undefined {
	const { error } = envelope;
	const more = isObject(error) ? filled(without(error, TOLD)) : isText(error) ? undefined : error;
	return filled({ ...without(envelope, TOLD), error: more });
}

function saying(message: string, code = ''): string {
	if (message !== '') return `The service says: ${message}${code && ` (${code})`}`;
	if (code !== '') return `The service reports the error ${code}, without a message`;
	return 'The service reports an error, without a message or a code';
}

/** A 4xx status means that the request was not accepted, except 408, which means that something was late. */
function isRefusalStatus(httpStatus: number): boolean {
	return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408;
}

/**
 * The error for a success without data.
 * @param envelope may hold in another place what was paid for
 */
export function withoutData(request: ServiceRequest, envelope: IDataObject = {}): ServiceError {
	return new ServiceError(
		'The service returned no result',
		`The response reports success but contains no data. ${outcomeAdvice(request)}`,
		{ outcome: 'unknown', answer: untold(envelope) },
	);
}

function redirected({ status, headers }: RawResponse, request: ServiceRequest): ServiceError {
	const target = isText(headers.location) ? headers.location : 'an unnamed address';
	// After a POST that was done, many services redirect to its result. Only 307 and 308 come before anything is done.
	const isDone = !isFree(request) && status !== 307 && status !== 308;
	const advice = `The node does not follow redirects (HTTP ${String(status)}), because that would send the API key to another address. If this address is correct, enter it as the base URL in the LeadGen credential.`;
	return new ServiceError(
		`The service redirects to ${excerpt(target)}`,
		isDone ? `${advice} ${outcomeAdvice(request)}` : advice,
		{ outcome: isDone ? 'unknown' : 'refused', httpStatus: status },
	);
}

/** An answer that does not come from the API, or that was damaged on its way. */
function unreadable({ status, text }: RawResponse, request: ServiceRequest): ServiceError {
	const isPage = /^\s*</.test(text);
	const other = isPage ? 'a web page' : 'something other than the expected JSON';
	const isRefused = isRefusalStatus(status);
	const unclear = `${status < 300 ? `${CHECK_ADDRESS} ` : ''}${outcomeAdvice(request)}`;
	// It may be what was paid for, or say why it failed.
	const kept = isPage && status >= 300 ? '' : beginning(text.trim(), MAX_ANSWER);
	return new ServiceError(
		`The service answered HTTP ${String(status)} with ${text.trim() === '' ? 'an empty body' : other}`,
		isRefused ? (ADVICE.get(meaning('', status) ?? '') ?? CHECK_ADDRESS) : unclear,
		{ outcome: isRefused ? 'refused' : 'unknown', httpStatus: status, answer: kept || undefined },
	);
}
