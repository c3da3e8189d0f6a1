import type { IAllExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { onAbort, timeoutSignal } from '../common/pause';
import { levelsOf, ServiceError } from '../common/errors';
import { isText } from '../common/json';
import { readEnvelope, type RawResponse } from './answer';
import { apiKeyOf, baseUrlOf, CREDENTIAL_TYPE } from './credential';
import { readRateHeaders } from './limits/announced';
import { isFree, outcomeAdvice, type ServiceRequest } from './request';
import { NOT_CONNECTED } from './retry';
import type { NodeRun } from './run';

/**
 * Sends one request with n8n's HTTP helper, which honours n8n's proxy settings. The credential adds the key, and
 * forbids redirects, because the key would go along. Only a free request is aborted when the user presses Stop.
 * @returns what the answer means, whatever its status, and what it says about the rate limit; neither contains the key.
 * If no answer came, an error that is `notSent` or `unknown`
 */
export async function exchange(run: NodeRun, request: ServiceRequest) {
	const { context, credential, settings } = run;
	const isPaid = !isFree(request);
	const options: IHttpRequestOptions = {
		method: isPaid ? 'POST' : 'GET',
		url: baseUrlOf(credential) + request.path,
		headers: { Accept: 'application/json', ...(isPaid && { 'Content-Type': 'application/json' }) },
		...(request.query && { qs: request.query }),
		...(request.body && { body: request.body }),
		encoding: 'text',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		timeout: settings.timeoutMs,
	};
	// The timeout in the options only ends a silence: it replaces that of n8n, five minutes. n8n replaces a signal there
	// by that of the context for Stop, so the deadline is in the latter. `AbortSignal.any` would keep memory for each
	// request until the run ends.
	const end = new AbortController();
	// A paid request goes on: its answer is paid for, and Retry finds it in memory.
	const stop = isPaid ? undefined : settings.signal;
	const forgets = [stop, timeoutSignal(settings.timeoutMs), request.signal].map((signal) =>
		onAbort(signal, end.abort.bind(end)),
	);
	const getExecutionCancelSignal = { value: () => end.signal };
	let response: RawResponse;
	try {
		const given: unknown = await context.helpers.httpRequestWithAuthentication.call(
			Object.create(context, { getExecutionCancelSignal }) as IAllExecuteFunctions,
			CREDENTIAL_TYPE,
			options,
			// Otherwise n8n reads the credential from its database and decrypts it for every request.
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_TYPE, data: credential } },
		);
		response = withoutKey(given, apiKeyOf(credential));
	} catch (error) {
		return { answer: { error: noAnswer(error, request) } };
	} finally {
		for (const forget of forgets) forget();
	}
	const rateInfo = readRateHeaders(response, Date.now());
	return { answer: readEnvelope(response, request, run.hasSucceeded), rateInfo };
}

/** What stands in place of the key, as in n8n's own output. */
const HIDDEN = '**hidden**';
/** A shorter key is not one that a service gives out, and its text may mean something else. */
const MIN_KEY_LENGTH = 8;

/** The answer that a helper of n8n gives, without the key, also as an address contains it. */
export function withoutKey(given: unknown, key: string): RawResponse {
	type Given = { statusCode: number; headers: Record<string, unknown>; body: unknown };
	const { statusCode, headers, body } = given as Given;
	const { location } = headers;
	const clean = (text: string) => {
		if (key.length < MIN_KEY_LENGTH) return text;
		return text.replaceAll(key, HIDDEN).replaceAll(encodeURIComponent(key), HIDDEN);
	};
	return {
		status: statusCode,
		// The only header that an error repeats.
		headers: { ...headers, location: isText(location) ? clean(location) : undefined },
		text: clean(typeof body === 'string' ? body : JSON.stringify(body ?? '')),
	};
}

/** How n8n protects internal addresses (SSRF). */
const BLOCKED = /^Ssrf|: The request was blocked because/;
/** The handshake comes before the request is sent. Other TLS failures may also affect the answer. */
const REFUSED_HANDSHAKE =
	/^(ERR_TLS_CERT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)|wrong.version|unsupported.protocol|alert.(handshake.failure|protocol.version)/i;

/** What a failed exchange means for the request. Contains no text of the request, so that no header can leak. */
export function noAnswer(error: unknown, request: ServiceRequest): ServiceError {
	const { code, syscall, message } = innermost(error);
	const blocked = levelsOf(error).find((level) => BLOCKED.test(`${level.name}: ${level.message}`));
	if (blocked) {
		return new ServiceError(
			'n8n does not allow requests to the address of the service',
			`${blocked.description ?? blocked.message} Nothing was sent. Check the base URL in the LeadGen credential. If it is correct, an administrator of n8n can allow it: its host in N8N_SSRF_ALLOWED_HOSTNAMES, or its IP address in N8N_SSRF_ALLOWED_IP_RANGES.`,
			{ outcome: 'notSent' },
		);
	}
	const isUnconnected = NOT_CONNECTED.has(code) && syscall !== 'read' && syscall !== 'write';
	if (isUnconnected || syscall === 'connect' || REFUSED_HANDSHAKE.test(`${code} ${message}`)) {
		const isUnknownHost = code === 'ENOTFOUND' || code === 'EAI_AGAIN';
		return new ServiceError(
			isUnknownHost ? 'The host of the service was not found' : 'The service could not be reached',
			`Check the base URL in the LeadGen credential, the network of n8n, and that the service is up (${code}). Nothing was sent.`,
			{ outcome: 'notSent', code: code || undefined },
		);
	}
	return new ServiceError(
		code === 'ECONNABORTED' || code === 'ETIMEDOUT'
			? 'The service did not answer in time'
			: 'The connection broke before the service answered',
		`${outcomeAdvice(request)}${code === '' ? '' : ` The error code is ${code}.`}`,
		{ outcome: 'unknown', code: code || undefined },
	);
}

/** The code, system call and message of the innermost error that has a code. */
function innermost(error: unknown): { code: string; syscall: string; message: string } {
	const levels = levelsOf(error);
	const coded = levels.findLast((level) => typeof level.code === 'string');
	// In many versions of n8n, such as 1.123 and 2.16, its error has no cause, but repeats the text of Node.js. That
	// begins with the system call, as in "connect ECONNREFUSED 127.0.0.1:80".
	const { httpCode, messages = [''] } = levels[0] ?? {};
	const said = coded?.code ?? httpCode;
	// The deadline of the request. If the user pressed Stop, nobody sees the error.
	const code = said === 'ERR_CANCELED' ? 'ECONNABORTED' : typeof said === 'string' ? said : '';
	const message = coded?.message ?? messages[0] ?? '';
	const [, syscall = ''] = new RegExp(`^(\\w+) ${code}\\b`).exec(message) ?? [];
	return { code, syscall: coded?.syscall ?? syscall, message };
}
