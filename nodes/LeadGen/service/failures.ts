import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../common/errors';
import { isObject, isText } from '../common/json';
import { ADVICE, documentedCode, isDocumented } from './codes';
import { beginning, excerpt } from './texts';
import { isFree, outcomeAdvice, type RawResponse, type ServiceRequest } from './types';

/** What to do about other codes than those of docs/service.md. */
const LOOK_UP = 'Look up this code in the documentation of the service.';
/** What to do about a refusal without a code. */
const ASK = 'Check the fields of this item. If they are correct, ask the provider of the service.';
/** What to do about an answer that does not come from the service. */
const CHECK_ADDRESS = 'Check the base URL in the LeadGen credential. This may be another server.';

/** What an HTTP status means if the answer has no documented code, such as the answer of a gateway. */
const CODE_OF_STATUS = new Map([
	[401, 'UNAUTHORIZED'],
	[402, 'INSUFFICIENT_CREDITS'],
	[403, 'UNAUTHORIZED'],
]);
/** After a POST that was done, many services redirect to its result in this way. */
const MAY_BE_DONE = new Set([301, 302, 303]);

/** How much of an answer that cannot be read an error contains, in characters. */
const MAX_ANSWER = 4096;

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

export function unfinished(
	answer: IDataObject,
	httpStatus: number,
	request: ServiceRequest,
): ServiceError {
	return new ServiceError(
		'The service has not finished this lookup',
		`Its answer contains no result yet. ${outcomeAdvice(request)}`,
		{ outcome: 'unknown', httpStatus, answer },
	);
}

/** The error of an error envelope. */
export function errorOf(
	envelope: IDataObject,
	httpStatus: number,
	request: ServiceRequest,
): ServiceError {
	const { error, message } = envelope;
	// Servers and frameworks say this of a path that they do not have. They know no envelope.
	const isOtherServer = httpStatus === 404 && envelope.success === undefined;
	// Some services write the code beside the message.
	const codeBeside =
		isText(envelope.code) && !isOtherServer ? documentedCode(envelope.code) : undefined;
	const { code: sent, message: own } = isObject(error)
		? error
		: { code: codeBeside, message: error };
	const given = isCode(sent) ? excerpt(String(sent)) : '';
	const texts = [own, message].filter(isText).map(excerpt).filter(isText);
	const said = [...new Set(texts)].join(': ');
	const codeOfText = isOtherServer ? undefined : texts.map(documentedCode).find(Boolean);
	// A text alone may be about a rate limit behind this service, after the work was done. So without a 4xx status, no paid
	// call is sent again for it.
	const isClearText =
		isRefusal(httpStatus) || (httpStatus < 400 && codeOfText !== 'RATE_LIMIT_EXCEEDED');
	// A code that is not documented says less than a text that says why. A number is often only an HTTP status.
	const isTextClearer = isClearText && (!isText(sent) || codeOfText === 'INSUFFICIENT_CREDITS');
	const code = documentedCode(given) ?? (isTextClearer ? codeOfText : undefined) ?? given;
	// With a 5xx status, the service itself failed at an unknown point. It is not known which status belongs to which
	// error, so below 400 only documented codes are a clear refusal.
	const isClear = httpStatus < 400 ? isDocumented(code) : code === 'RATE_LIMIT_EXCEEDED';
	const isRefused = isClear || isRefusal(httpStatus);
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
	const inError = isObject(error)
		? filled({
				...error,
				code: isCode(error.code) ? undefined : error.code,
				message: unlessText(error.message),
			})
		: unlessText(error);
	return filled({ ...others, success: undefined, message: unlessText(message), error: inError });
}

/** The fields that have a value; undefined if there are none. */
export function filled(fields: IDataObject): IDataObject | undefined {
	const entries = Object.entries(fields).filter(([, value]) => (value ?? '') !== '');
	return entries.length > 0 ? Object.fromEntries<IDataObject[string]>(entries) : undefined;
}

/** @param message what the service says; may be empty like `code` */
function saying(message: string, code: string): string {
	if (message !== '') return `The service says: ${message}${code && ` (${code})`}`;
	return code === ''
		? 'The service reports an error, without a message or a code'
		: `The service reports the error ${code}, without a message`;
}

function adviceOn(httpStatus: number): string | undefined {
	return ADVICE.get(CODE_OF_STATUS.get(httpStatus) ?? '');
}

/** A 4xx status means that the request was not accepted, except 408, which means that something was late. */
function isRefusal(httpStatus: number): boolean {
	return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408;
}

export function redirected(
	{ status, headers }: RawResponse,
	request: ServiceRequest,
): ServiceError {
	const target = typeof headers.location === 'string' ? headers.location : 'an unnamed address';
	// A redirect to the same path on another host, or with another scheme, comes before anything is done.
	const isSamePath = new RegExp(`${request.path}/?$`).test(target.replace(/[?#].*/s, ''));
	const isDone = MAY_BE_DONE.has(status) && !isFree(request) && !(isSamePath && status !== 303);
	const advice = `The node does not follow redirects (HTTP ${String(status)}), because that would send the API key to another address. If this address is correct, enter it as the base URL in the LeadGen credential.`;
	return new ServiceError(
		`The service redirects to ${excerpt(target)}`,
		isDone ? `${advice} ${outcomeAdvice(request)}` : advice,
		{ outcome: isDone ? 'unknown' : 'refused', httpStatus: status },
	);
}

/** An answer that does not come from the API, or that was damaged on its way. */
export function unreadable({ status, text }: RawResponse, request: ServiceRequest): ServiceError {
	const isEmpty = text.trim() === '';
	const isPage = /^\s*</.test(text);
	const other = isPage ? 'a web page' : 'something other than the expected JSON';
	const refused = isRefusal(status);
	const wrongAddress = status < 500 ? CHECK_ADDRESS : undefined;
	const advice = [adviceOn(status), wrongAddress, refused ? undefined : outcomeAdvice(request)];
	// It may be what was paid for, or say why it failed.
	const isTold = !isEmpty && (status < 300 || !isPage);
	return new ServiceError(
		`The service answered HTTP ${String(status)} with ${isEmpty ? 'an empty body' : other}`,
		advice.filter(Boolean).join(' '),
		{
			outcome: refused ? 'refused' : 'unknown',
			httpStatus: status,
			answer: isTold ? beginning(text, MAX_ANSWER) : undefined,
		},
	);
}

function isCode(value: unknown): value is string | number {
	return typeof value === 'string' || typeof value === 'number';
}
