import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../common/errors';
import { filled, isObject, isText, parseLoosely, without, wordIn } from '../common/json';
import { beginning, excerpt } from './texts';
import { isFree, outcomeAdvice, type RawResponse, type ServiceRequest } from './types';

/** What to do about each error code of docs/service.md (The envelope). */
const ADVICE = new Map([
	['INVALID_REQUEST', 'The service does not accept the fields of this item. Check them.'],
	['UNAUTHORIZED', 'Check the API key in the LeadGen credential.'],
	[
		'INSUFFICIENT_CREDITS',
		'This request cost nothing. Add credits to the account, or wait until they reset.',
	],
	[
		'NOT_FOUND',
		'The service did not find what this request asks for. Check the values, such as the scrape ID.',
	],
	['RATE_LIMIT_EXCEEDED', 'The account makes more requests than its plan allows. Try again later.'],
]);
/** What an HTTP status means if the answer has no documented code, such as the answer of a gateway. */
const CODE_OF_STATUS = new Map([
	[401, 'UNAUTHORIZED'],
	[402, 'INSUFFICIENT_CREDITS'],
	[403, 'UNAUTHORIZED'],
]);
const LOOK_UP = 'Look up this code in the documentation of the service.';
const ASK = 'Check the fields of this item. If they are correct, ask the provider of the service.';
const CHECK_ADDRESS = 'Check the base URL in the LeadGen credential. This may be another server.';

/** How much of an answer that cannot be read an error contains, in characters. */
const MAX_ANSWER = 4096;

/** The documented code that a text spells in any case, such as "Not found". */
export function documentedCode(text: string): string | undefined {
	const code = text
		.trim()
		.toUpperCase()
		.replace(/[\s-]+/g, '_');
	return ADVICE.has(code) ? code : undefined;
}

/** Whether a lookup found nobody, which is a result that is paid for. */
export function foundNobody(error: unknown): boolean {
	return error instanceof ServiceError && error.code === 'NOT_FOUND';
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
	const envelope = parseLoosely(response.text);
	if (!isObject(envelope)) return { error: unreadable(response, request) };
	const { data, error } = envelope;
	if (isError(envelope)) {
		// The status of a failed scrape may come as an error.
		const isStatus = status < 400 && isFree(request) && isObject(data);
		return isStatus && wordIn(data.status) === 'failed'
			? { data: { error, ...data } }
			: { error: errorOf(envelope, status, request) };
	}
	if (status >= 400) return { error: unreadable(response, request) };
	if (data !== null && !isObject(data)) return { error: withoutData(request, envelope) };
	if (!isPending(data ?? {}, status, request)) return { data };
	const beside = without(envelope, new Set(['success', 'data', 'error']));
	const answer = { ...filled(beside), ...data };
	const advice = `Its answer contains no result yet. ${outcomeAdvice(request)}`;
	const facts = { outcome: 'unknown', httpStatus: status, answer } as const;
	return { error: new ServiceError('The service has not finished this lookup', advice, facts) };
}

/** Whether the service accepted a lookup that has no result yet. */
function isPending(data: IDataObject, httpStatus: number, { result }: ServiceRequest): boolean {
	if (result === undefined) return false;
	const isWaiting = (value: unknown) => /^(pending|processing)$/.test(wordIn(value) ?? '');
	const hasResult = data[result] && !isWaiting(data[result]);
	return !hasResult && (httpStatus === 202 || isWaiting(data.status));
}

/** A success may contain an error beside its data, or an empty error if nothing was found. */
function isError({ success, data, error, message }: IDataObject): boolean {
	const said = typeof success === 'boolean' ? String(success) : wordIn(success);
	if (said === 'false') return true;
	const isSuccess = said === 'true';
	if (isObject(data)) return !isSuccess && isObject(error);
	if (isObject(error)) {
		return !isSuccess || data === undefined || [error.code, error.message].some(Boolean);
	}
	return isText(error) || (success === undefined && isText(message));
}

/** The error of an error envelope. */
function errorOf(envelope: IDataObject, httpStatus: number, request: ServiceRequest): ServiceError {
	const { error, message } = envelope;
	// Servers and frameworks say this of a path that they do not have. They know no envelope.
	const isOtherServer = httpStatus === 404 && envelope.success === undefined;
	// Some services write the code beside the message.
	const beside = isText(envelope.code) && !isOtherServer && documentedCode(envelope.code);
	const { code: sent, message: own } = isObject(error) ? error : { code: beside, message: error };
	const given = isCode(sent) ? excerpt(String(sent)) : '';
	const texts = [own, message].filter(isText).map(excerpt).filter(isText);
	const said = [...new Set(texts)].join(': ');
	const isRefusal = isRefusalStatus(httpStatus);
	// A number is often only an HTTP status.
	const maySay = (httpStatus < 400 || isRefusal) && !isOtherServer && !isText(sent);
	const certain = documentedCode(given);
	const code = certain ?? (maySay ? texts.map(documentedCode).find(Boolean) : undefined) ?? given;
	// A text alone may be about something behind the service, after the work was done. With a 5xx status, the service failed
	// at an unknown point. It is not known which status belongs to which error.
	const clear = isFree(request) ? documentedCode(code) : certain;
	const isClear = httpStatus < 400 ? clear !== undefined : clear === 'RATE_LIMIT_EXCEEDED';
	const isRefused = isClear || isRefusal;
	const byStatus = [adviceOn(httpStatus), given && LOOK_UP].filter(Boolean).join(' ');
	const advice = ADVICE.get(code) ?? (byStatus || (isOtherServer ? CHECK_ADDRESS : ASK));
	return new ServiceError(saying(said, code), isRefused ? advice : outcomeAdvice(request), {
		outcome: isRefused ? 'refused' : 'unknown',
		code: code || undefined,
		httpStatus,
		answer: untold(envelope),
	});
}

/** What an envelope contains beside the texts and the code that its error tells. */
function untold({ error, message, ...others }: IDataObject): IDataObject | undefined {
	const unlessText = (value: IDataObject[string]) => (isText(value) ? undefined : value);
	const code = isObject(error) && !isCode(error.code) ? error.code : undefined;
	const inError = isObject(error)
		? filled({ ...error, code, message: unlessText(error.message) })
		: unlessText(error);
	return filled({ ...others, success: undefined, message: unlessText(message), error: inError });
}

function saying(message: string, code: string): string {
	if (message !== '') return `The service says: ${message}${code && ` (${code})`}`;
	if (code !== '') return `The service reports the error ${code}, without a message`;
	return 'The service reports an error, without a message or a code';
}

const adviceOn = (httpStatus: number) => ADVICE.get(CODE_OF_STATUS.get(httpStatus) ?? '');

/** A 4xx status means that the request was not accepted, except 408, which means that something was late. */
function isRefusalStatus(httpStatus: number): boolean {
	return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408;
}

function isCode(value: unknown): value is string | number {
	return typeof value === 'string' || typeof value === 'number';
}

/**
 * The error for a success without data.
 * @param envelope may hold in another place what was paid for
 */
export function withoutData(request: ServiceRequest, envelope: IDataObject = {}): ServiceError {
	return new ServiceError(
		'The service returned no result',
		`The response reports success but contains no data. ${outcomeAdvice(request)}`,
		{ outcome: 'unknown', answer: filled({ ...envelope, success: undefined }) },
	);
}

function redirected({ status, headers }: RawResponse, request: ServiceRequest): ServiceError {
	const target = typeof headers.location === 'string' ? headers.location : 'an unnamed address';
	// After a POST that was done, many services redirect to its result. But a redirect to the same path on another host, or
	// with another scheme, comes before anything is done.
	const isSamePath = new RegExp(`${request.path}/?$`).test(target.replace(/[?#].*/s, ''));
	const isDone = !isFree(request) && (status === 303 || (status < 303 && !isSamePath));
	const advice = `The node does not follow redirects (HTTP ${String(status)}), because that would send the API key to another address. If this address is correct, enter it as the base URL in the LeadGen credential.`;
	return new ServiceError(
		`The service redirects to ${excerpt(target)}`,
		isDone ? `${advice} ${outcomeAdvice(request)}` : advice,
		{ outcome: isDone ? 'unknown' : 'refused', httpStatus: status },
	);
}

/** An answer that does not come from the API, or that was damaged on its way. */
function unreadable({ status, text }: RawResponse, request: ServiceRequest): ServiceError {
	const isEmpty = text.trim() === '';
	const isPage = /^\s*</.test(text);
	const other = isPage ? 'a web page' : 'something other than the expected JSON';
	const isRefused = isRefusalStatus(status);
	const wrongAddress = status < 500 ? CHECK_ADDRESS : undefined;
	const advice = [adviceOn(status), wrongAddress, isRefused ? undefined : outcomeAdvice(request)];
	// It may be what was paid for, or say why it failed.
	const isKept = !isEmpty && (status < 300 || !isPage);
	return new ServiceError(
		`The service answered HTTP ${String(status)} with ${isEmpty ? 'an empty body' : other}`,
		advice.filter(Boolean).join(' '),
		{
			outcome: isRefused ? 'refused' : 'unknown',
			httpStatus: status,
			answer: isKept ? beginning(text, MAX_ANSWER) : undefined,
		},
	);
}
