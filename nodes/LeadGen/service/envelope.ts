import type { IDataObject } from 'n8n-workflow';
import { wordIn } from '../common/json';
import { ServiceError } from '../common/errors';
import { parseLoosely } from './looseJson';
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

/** What to do about other codes. */
const LOOK_UP = 'Look up this code in the documentation of the service.';
/** What to do about a refusal without a code. */
const ASK = 'Check the fields of this item. If they are correct, ask the provider of the service.';
/** What to do about an answer that does not come from the service. */
const CHECK_ADDRESS = 'Check the base URL in the LeadGen credential. This may be another server.';

/** The HTTP status for too few credits, whatever the error code. */
const PAYMENT_REQUIRED = 402;
/** What an HTTP status means if the answer has no documented code, such as the answer of a gateway. */
const CODE_OF_STATUS = new Map([
	[401, 'UNAUTHORIZED'],
	[PAYMENT_REQUIRED, 'INSUFFICIENT_CREDITS'],
	[403, 'UNAUTHORIZED'],
]);
/** After a POST that was done, many services redirect to its result in this way. */
const MAY_BE_DONE = new Set([301, 302, 303]);

/** How much of an answer that cannot be read an error contains, in characters. */
const MAX_ANSWER = 4096;

/** Words for a lookup that goes on, and fields that tell where its result will be. */
const UNFINISHED =
	/^(in_?(progress|queue)|not_?(finished|ready)|pending|processing|queued|running|scheduled|started|submitted|waiting)$/;
/** The service took the request; or the mailbox takes mail. */
const ACCEPTED = /^(accepted|created)$/;
const RESULT_PLACE = /^(job|task)_?id$|^(poll|status|result)_?ur[il]$/i;

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
	const { error } = envelope;
	const data = inText(envelope.data);
	const isFailure = isError({ ...envelope, data });
	// The status of a failed scrape may come as an error.
	if (
		isFailure &&
		status < 400 &&
		isFree(request) &&
		isObject(data) &&
		wordIn(data.status) === 'failed'
	) {
		return { data: { error, ...data } };
	}
	if (isFailure) return { error: errorOf(envelope, status, request) };
	if (status >= 400) return { error: unreadable(response, request) };
	if (data !== null && !isObject(data)) return { error: withoutData(request, envelope) };
	// What says that the lookup goes on may be beside the data.
	const beside = { ...envelope, success: undefined, data: undefined, error: undefined };
	const whole = { ...filled(beside), ...data };
	const goesOn = [data ?? {}, whole].some((fields) => isUnfinished(fields, status, request));
	return goesOn ? { error: unfinished(whole, status, request) } : { data };
}

/** Whether the service documents an error code (docs/service.md, The envelope). */
export function isDocumented(code: string): boolean {
	return ADVICE.has(code);
}

/** Whether the account has too few credits for a call. */
export function isOutOfCredits({ code, httpStatus }: ServiceError): boolean {
	return code === 'INSUFFICIENT_CREDITS' || httpStatus === PAYMENT_REQUIRED;
}

/**
 * The error for a success without data.
 * @param envelope may hold in another place what was paid for
 */
export function withoutData(request: ServiceRequest, envelope: IDataObject = {}): ServiceError {
	return new ServiceError(
		'The service returned no result',
		`The response reports success but contains no data. ${outcomeAdvice(request)}`,
		{ outcome: 'unknown', ...restOf(envelope) },
	);
}

/** What an envelope contains beside `success`, for an error that cannot tell it in words. */
function restOf(envelope: IDataObject): { answer?: IDataObject } {
	const answer = filled({ ...envelope, success: undefined });
	return answer ? { answer } : {};
}

/** The fields that have a value; undefined if there are none. */
function filled(fields: IDataObject): IDataObject | undefined {
	const entries = Object.entries(fields).filter(([, value]) => (value ?? '') !== '');
	return entries.length > 0 ? Object.fromEntries<IDataObject[string]>(entries) : undefined;
}

/** Whether the service accepted a lookup and has no result yet, neither an address nor that it found none. */
function isUnfinished(
	data: IDataObject,
	httpStatus: number,
	{ kind, body }: ServiceRequest,
): boolean {
	// A verification repeats the address.
	if (kind !== 'lookup' || (data.email && !body?.email)) return false;
	const word = wordIn(data.status ?? data.state);
	if (word !== undefined && !ACCEPTED.test(word)) return UNFINISHED.test(word);
	if (data.found === false) return false;
	const goesOn = Object.keys(data).some((name) => RESULT_PLACE.test(name));
	return httpStatus === 202 || (goesOn && !('email' in data));
}

function unfinished(
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

/** A success may contain an error beside its data, or an empty error if nothing was found. */
function isError({ success, data, error, message }: Record<string, unknown>): boolean {
	const said = typeof success === 'boolean' ? String(success) : wordIn(success);
	if (said === 'false') return true;
	const isSuccess = said === 'true';
	if (isObject(data)) return !isSuccess && isObject(error);
	if (isObject(error)) {
		return !isSuccess || data === undefined || [error.code, error.message].some(Boolean);
	}
	return isText(error) || (success === undefined && isText(message));
}

function isText(value: unknown): value is string {
	return typeof value === 'string' && value !== '';
}

/** Ways to say that credits are missing, in lower case. That a call cost no credits is something else. */
const NO_CREDITS = new RegExp(
	[
		/(insufficient|too few|(not|n['’]t)( have)? enough)( \w+)? (credits?|balance|funds)\b/,
		/\bout of credits?\b/,
		/\bno( more)? credits? (left|remaining|available)/,
		/(^|\bhave )no( more)? credits?([.,;:!]|$)/,
		/(?<!\b(no|0) )\bcredits?( (?!not\b)\w+){0,3} (?<!\bnot )(exhausted|depleted|used up|too low)/,
		/\bcredits? (limit|quota)( (?!not\b)\w+){0,2} (?<!\bnot )(exceeded|reached)/,
	]
		.map(({ source }) => source)
		.join('|'),
);

/** Ways to say `NOT_FOUND` with the name of what is missing. A path or an account that is missing is something else. */
const MISSING =
	'(e ?mail|person|people|contact|profile|lead|match|record|result|scrape|job|resource)';
const NOTHING_FOUND = new RegExp(
	`^${MISSING}(es|s)?( address)? (was |were )?not found$|^no ${MISSING}(es|s)?( address)? (was |were )?found$`,
);

/** The documented code that a text spells in its own way, such as "Not found". */
function documentedCode(text: string): string | undefined {
	const words = text
		.trim()
		.toLowerCase()
		.replace(/[\s_-]+/g, ' ');
	const code = words.toUpperCase().replaceAll(' ', '_');
	if (isDocumented(code)) return code;
	if (NOTHING_FOUND.test(words.replace(/[.!]$/, ''))) return 'NOT_FOUND';
	return NO_CREDITS.test(words) ? 'INSUFFICIENT_CREDITS' : undefined;
}

function errorOf(envelope: IDataObject, httpStatus: number, request: ServiceRequest): ServiceError {
	const { error, message } = envelope;
	const { code: sent, message: own } = isObject(error) ? error : { message: error };
	const given = isCode(sent) ? excerpt(String(sent)) : '';
	const texts = [own, message].filter(isText).map(excerpt).filter(isText);
	const said = [...new Set(texts)].join(': ');
	// Servers and frameworks say this of a path that they do not have. They know no envelope.
	const isOtherServer = httpStatus === 404 && envelope.success === undefined;
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
	return new ServiceError(
		saying(said, code),
		isRefused
			? (ADVICE.get(httpStatus === PAYMENT_REQUIRED ? 'INSUFFICIENT_CREDITS' : code) ??
					([adviceOn(httpStatus), given && LOOK_UP].filter(Boolean).join(' ') ||
						(isOtherServer ? CHECK_ADDRESS : ASK)))
			: outcomeAdvice(request),
		{
			outcome: isRefused ? 'refused' : 'unknown',
			...(code !== '' && { code }),
			httpStatus,
			...untold(envelope),
		},
	);
}

/** What an envelope contains beside the texts and the code that its error tells. */
function untold({ error, message, ...others }: IDataObject): { answer?: IDataObject } {
	const unlessText = (value: IDataObject[string]) => (isText(value) ? undefined : value);
	if (!isObject(error)) {
		return restOf({ ...others, message: unlessText(message), error: unlessText(error) });
	}
	const { code } = error;
	const details = { ...error, code: isCode(code) ? undefined : code };
	const inError = filled({ ...details, message: unlessText(error.message) });
	return restOf({ ...others, message: unlessText(message), error: inError });
}

function isCode(value: unknown): value is string | number {
	return typeof value === 'string' || typeof value === 'number';
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

function redirected({ status, headers }: RawResponse, request: ServiceRequest): ServiceError {
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
function unreadable({ status, text }: RawResponse, request: ServiceRequest): ServiceError {
	const isPage = /^\s*</.test(text);
	const what =
		text.trim() === ''
			? 'an empty body'
			: isPage
				? 'a web page'
				: 'something other than the expected JSON';
	const refused = isRefusal(status);
	const wrongAddress = status < 500 ? CHECK_ADDRESS : undefined;
	const advice = [adviceOn(status), wrongAddress, refused ? undefined : outcomeAdvice(request)];
	return new ServiceError(
		`The service answered HTTP ${String(status)} with ${what}`,
		advice.filter(Boolean).join(' '),
		{
			outcome: refused ? 'refused' : 'unknown',
			httpStatus: status,
			// It may be what was paid for, or say why it failed.
			...((status < 300 || !isPage) &&
				text.trim() !== '' && { answer: beginning(text, MAX_ANSWER) }),
		},
	);
}

/** An object that comes as a JSON text. */
function inText(value: IDataObject[string]): unknown {
	const object = typeof value === 'string' && /^\s*{/.test(value) ? parseLoosely(value) : undefined;
	return object ?? value;
}

function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
