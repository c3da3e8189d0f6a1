import { jsonParse, type IDataObject } from 'n8n-workflow';
import { ServiceError } from '../common/errors';
import { filled, isObject, isText, without, wordIn } from '../common/json';
import { isFree, outcomeAdvice, type ServiceRequest } from './request';

/** What to do about each error code of docs/service.md (The envelope). */
const ADVICE = new Map(
	Object.entries({
		INVALID_REQUEST: 'The service does not accept these values. Check the fields of this node.',
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
const ASK = 'Check the fields of this node. If they are correct, ask the provider of the service.';
/** What to do where another server seems to answer. */
export const CHECK_ADDRESS =
	'Check the base URL in the LeadGen credential. This may be another server.';
/** The same where the service accepted other requests: it is being deployed, or a firewall blocked this one. */
const TRY_LATER =
	'The service accepted other requests with this API key, so a gateway or a firewall may have answered this one. Try it again later. If that does not help, ask the provider of the service.';

/** Codes with which HTTP 403 is about the key. Others, and no code, can be those of a firewall. */
export const ABOUT_KEY = /key|token|auth/i;

/** How much of an answer that cannot be read an error contains, in characters; and of a text in a message. */
const [MAX_ANSWER, MAX_TEXT] = [4096, 500];

/** An answer as it arrived over HTTP, whatever it contains. */
export interface RawResponse {
	status: number;
	/** Names in lower case. */
	headers: Record<string, unknown>;
	text: string;
}

/** The `data` of a call, which is `null` if the service returns `"data": null`; or why there is none. */
export type Answer<Failure = Error> = { data: IDataObject | null } | { error: Failure };

/** A service may say what it did not find. A path that does not exist is another matter. */
const NAMED_NOT_FOUND = /^(EMAIL|PERSON|CONTACT|PROFILE|LEAD|COMPANY|SCRAPE|JOB)_NOT_FOUND$/;

/** The documented code that a text spells in any case, such as "Not found", or `EMAIL_NOT_FOUND`. */
export function documentedCode(text: string): string | undefined {
	const code = (wordIn(text) ?? '').toUpperCase();
	if (NAMED_NOT_FOUND.test(code)) return 'NOT_FOUND';
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

/** Whether a paid call may have been paid for without a result. */
export function isUnclear(answer: Answer): boolean {
	if ('data' in answer) return false;
	return answer.error instanceof ServiceError && answer.error.outcome === 'unknown';
}

/**
 * Reads an answer: the `data` of a success envelope (docs/service.md, The envelope) with every field that the service
 * sent; or an error for an error envelope with any HTTP status, and for anything that is not an envelope.
 * @param isKeyRight whether the service accepted other calls with the key
 */
export function readEnvelope(
	response: RawResponse,
	request: ServiceRequest,
	isKeyRight = false,
): Answer<ServiceError> {
	const { status, text } = response;
	if (status >= 300 && status < 400) return { error: redirected(response, request) };
	const envelope = jsonParse<unknown>(text, { fallbackValue: null });
	if (!isObject(envelope)) return { error: unreadable(response, request, isKeyRight) };
	const { data } = envelope;
	// Another server may answer every request with JSON of its own.
	const isEnvelope = ['success', 'data', 'error'].some((name) => envelope[name] !== undefined);
	if (status < 400 && !isEnvelope && !isKeyRight)
		return { error: unreadable(response, request, isKeyRight) };
	if (isError(envelope, status)) return { error: errorOf(envelope, status, request, isKeyRight) };
	if (status >= 400) return { error: unreadable(response, request, isKeyRight) };
	if (isObject(data)) return { data };
	// Some languages write an object without fields as a list.
	const isNothing = data === null || (Array.isArray(data) && data.length === 0);
	if (isNothing && !request.needsData) return { data: null };
	return { error: withoutData(request, envelope, status) };
}

/** Without data, an answer is also an error if it holds one, or only a message. */
function isError({ success, data, error, message }: IDataObject, status: number): boolean {
	if (success === false) return true;
	if (isObject(data) && status < 400) return false;
	return isObject(error) || isText(error) || (success !== true && isText(message));
}

/** The error of an error envelope. */
function errorOf(
	envelope: IDataObject,
	httpStatus: number,
	request: ServiceRequest,
	isKeyRight: boolean,
): ServiceError {
	const { error } = envelope;
	// Servers and frameworks say this of a path that they do not have. They know no envelope.
	const isBare = httpStatus === 404 && envelope.success === undefined;
	const isForeign = isBare && !isKeyRight;
	const own = isObject(error) ? error : { ...envelope, ...(isBare && { code: '' }) };
	const { code: sent } = own;
	const message = [own.message, error].find(isText) ?? '';
	const code = typeof sent === 'string' || typeof sent === 'number' ? excerpt(String(sent)) : '';
	// Only a code says that nothing was done: with HTTP 200 and a text, or a 5xx status, a paid call may have been done.
	const documented = documentedCode(code);
	const isSure = documented === 'RATE_LIMIT_EXCEEDED' || (httpStatus < 400 && Boolean(documented));
	const isRefused = isSure || isRefusalStatus(httpStatus);
	const otherwise = code ? LOOK_UP : isForeign ? CHECK_ADDRESS : ASK;
	const isBlocked = httpStatus === 403 && isKeyRight && !documented && !ABOUT_KEY.test(code);
	const byCode = isBlocked ? TRY_LATER : ADVICE.get(meaning(code, httpStatus) ?? '');
	return new ServiceError(
		saying(excerpt(message), documented ?? code),
		isRefused ? (byCode ?? otherwise) : outcomeAdvice(request),
		{
			outcome: isRefused ? 'refused' : 'unknown',
			code: (documented ?? code) || undefined,
			httpStatus,
			answer: untold(envelope),
		},
		isForeign,
	);
}

/** What an envelope contains beside what its error tells by itself. */
function untold(envelope: IDataObject): IDataObject | undefined {
	const { error } = envelope;
	const more = isObject(error) ? filled(withoutTold(error)) : isText(error) ? undefined : error;
	return filled({ ...withoutTold(envelope), error: more });
}

function withoutTold(object: IDataObject): IDataObject {
	const told = ['success', 'code', ...(isText(object.message) ? ['message'] : [])];
	return without(object, new Set(told));
}

function saying(message: string, code: string): string {
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
export function withoutData(
	request: ServiceRequest,
	envelope: IDataObject = {},
	httpStatus?: number,
): ServiceError {
	return new ServiceError(
		'The service returned no result',
		`The response reports success but contains no data. ${outcomeAdvice(request)}`,
		{ outcome: 'unknown', ...(httpStatus && { httpStatus }), answer: untold(envelope) },
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
		true,
	);
}

/** An answer that does not come from the API, or that was damaged on its way. */
function unreadable(
	{ status, text }: RawResponse,
	request: ServiceRequest,
	isKeyRight: boolean,
): ServiceError {
	const isPage = /^\s*</.test(text);
	const other = isPage ? 'a web page' : 'something other than the expected JSON';
	const isRefused = isRefusalStatus(status);
	const byStatus = status === 403 && isKeyRight ? '' : ADVICE.get(meaning('', status) ?? '');
	const refusal = byStatus || (isKeyRight ? TRY_LATER : CHECK_ADDRESS);
	const unclear = `${status < 300 ? `${CHECK_ADDRESS} ` : ''}${outcomeAdvice(request)}`;
	// It may be what was paid for, or say why it failed.
	const kept = isPage && status >= 300 ? '' : beginning(text.trim(), MAX_ANSWER);
	return new ServiceError(
		`The service answered HTTP ${String(status)} with ${text.trim() === '' ? 'an empty body' : other}`,
		isRefused ? refusal : unclear,
		{ outcome: isRefused ? 'refused' : 'unknown', httpStatus: status, answer: kept || undefined },
		status < 500 && status !== 429 && status !== 408,
	);
}

/** Characters that break or reverse a line of a log, or that a terminal obeys. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** The beginning of a text, with a sign that it goes on. */
function beginning(text: string, length: number): string {
	if (text.length <= length) return text;
	// Half of a character that consists of two code units would be left.
	return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A text of the service for an error message or a log: short, on one line, and without markup. */
export function excerpt(text: string): string {
	const line = beginning(text, MAX_TEXT).replace(CONTROL, ' ').replace(/ {2,}/g, ' ').trim();
	return line.replaceAll('<', '‹').replaceAll('>', '›');
}
