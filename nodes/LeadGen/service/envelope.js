'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.readEnvelope = readEnvelope;
exports.withoutData = withoutData;
const errors_1 = require('./errors');
const http_1 = require('./http');
/** What to do about each error code of interface 7. */
const ADVICE = {
	INVALID_REQUEST: 'Check the fields of this item; the service does not take them as they are.',
	UNAUTHORIZED: 'Check the API key in the LeadGen credential.',
	INSUFFICIENT_CREDITS:
		'Nothing was bought. Add credits to the account or wait for its reset date, then run the workflow again.',
	NOT_FOUND: 'Check the identifier; the service has nothing under it.',
	RATE_LIMIT_EXCEEDED:
		'The account makes more requests than its plan allows. Wait a minute, then run the workflow again.',
};
/**
 * The `data` of a success envelope (interface 2.1), with every field that the service sent.
 * `null` where the service says `"data": null`.
 * @throws ServiceError for an error envelope with any HTTP status, and for whatever is no envelope
 */
function readEnvelope(response, request) {
	const { status } = response;
	if (status >= 300 && status < 400) throw redirected(response);
	const envelope = parseObject(response.text);
	if (envelope?.success === false || isObject(envelope?.error)) {
		throw errorOf(isObject(envelope.error) ? envelope.error : {}, status);
	}
	if (!envelope || status >= 400) throw unreadable(response, request);
	const { data } = envelope;
	if (data === null || isObject(data)) return data;
	throw withoutData(request);
}
/** The error for a success that brings nothing. */
function withoutData(request) {
	return new errors_1.ServiceError(
		'The service answered without the result',
		`Its answer is a success, but holds no data. ${(0, http_1.outcomeAdvice)(request)}`,
		{ outcome: 'unknown' },
	);
}
function errorOf(error, httpStatus) {
	const code = typeof error.code === 'string' && error.code ? error.code : 'no code';
	const said = typeof error.message === 'string' && error.message ? error.message : 'no message';
	return new errors_1.ServiceError(
		`The service says: ${said} (${code})`,
		ADVICE[code] ?? 'The documentation of the service may say more about this code.',
		{ outcome: 'refused', code, httpStatus },
	);
}
function redirected({ status, headers }) {
	const target = typeof headers.location === 'string' ? headers.location : 'an unnamed address';
	return new errors_1.ServiceError(
		`The service redirects to ${target}`,
		`Redirects are not followed, because the API key would be sent there (HTTP ${status}). If that address is right, put it into the base URL of the LeadGen credential.`,
		{ outcome: 'refused', httpStatus: status },
	);
}
/** An answer that is not from the API, or that was broken on its way. */
function unreadable({ status, text }, request) {
	const what =
		text.trim() === ''
			? 'an empty body'
			: /^\s*</.test(text)
				? 'a web page'
				: 'something other than its JSON envelope';
	// A 4xx says that the request was not accepted, except 408, which says that something was late.
	const refused = status >= 400 && status < 500 && status !== 408;
	const wrongAddress =
		status < 500
			? 'Check the base URL in the LeadGen credential: this may be another server. '
			: '';
	return new errors_1.ServiceError(
		`The service answered HTTP ${status} with ${what}`,
		wrongAddress + (refused ? '' : (0, http_1.outcomeAdvice)(request)),
		{ outcome: refused ? 'refused' : 'unknown', httpStatus: status },
	);
}
function parseObject(text) {
	try {
		const value = JSON.parse(text);
		return isObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
function isObject(value) {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
