import type { IAllExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { onAbort, timeoutSignal } from '../common/pause';
import { ServiceError } from '../common/errors';
import { CREDENTIAL_TYPE } from './account';
import { NOT_CONNECTED } from './retry';
import type { NodeRun } from './run';
import { isFree, outcomeAdvice, type RawResponse, type ServiceRequest } from './types';

/**
 * Sends one request with n8n's HTTP helper, which adds the key and honours n8n's proxy settings. Only a free request is
 * aborted when the user presses Stop. Redirects are not followed, because the key would go along.
 * @returns the answer without the key, whatever its status; if no answer came, an error that is `notSent` or `unknown`
 */
export async function exchange(
	{ context, credential, baseUrl, withoutKey, settings: { timeoutMs } }: NodeRun,
	request: ServiceRequest,
): Promise<RawResponse | ServiceError> {
	const options: IHttpRequestOptions = {
		method: isFree(request) ? 'GET' : 'POST',
		url: baseUrl + request.path,
		headers: { Accept: 'application/json' },
		encoding: 'text',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		timeout: timeoutMs,
	};
	if (request.query) options.qs = request.query;
	if (request.body) {
		options.headers = { ...options.headers, 'Content-Type': 'application/json' };
		options.body = request.body;
	}
	// The timeout in the options only ends a silence, and n8n replaces a signal there by that of the context for Stop. So
	// the deadline is in the latter. `AbortSignal.any` would keep memory for each request until the run ends.
	const end = new AbortController();
	// A paid request goes on: its answer is paid for, and Retry finds it in memory.
	const isStoppable = isFree(request) && 'getExecutionCancelSignal' in context;
	const stop = isStoppable ? context.getExecutionCancelSignal() : undefined;
	const late = timeoutSignal(timeoutMs);
	const forgets = [stop, late, request.signal].map((signal) =>
		onAbort(signal, end.abort.bind(end)),
	);
	const getExecutionCancelSignal = { value: () => end.signal };
	try {
		const { statusCode, headers, body } = (await context.helpers.httpRequestWithAuthentication.call(
			Object.create(context, { getExecutionCancelSignal }) as IAllExecuteFunctions,
			CREDENTIAL_TYPE,
			options,
			// Otherwise n8n reads the credential from its database and decrypts it for every request.
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_TYPE, data: credential } },
		)) as { statusCode: number; headers: Record<string, unknown>; body: unknown };
		const { location } = headers;
		return {
			status: statusCode,
			// The only header that an error repeats.
			headers: {
				...headers,
				location: typeof location === 'string' ? withoutKey(location) : undefined,
			},
			text: withoutKey(typeof body === 'string' ? body : JSON.stringify(body ?? '')),
		};
	} catch (error) {
		return noAnswer(error, request);
	} finally {
		for (const forget of forgets) forget();
	}
}

/** What a failed exchange means for the request. Contains no text of the request, so that no header can leak. */
export function noAnswer(error: unknown, request: ServiceRequest): ServiceError {
	const { code: said, syscall, message: text } = innermost(error);
	// The deadline of the request. If the user pressed Stop, nobody sees the error.
	const code = said === 'ERR_CANCELED' ? 'ECONNABORTED' : said;
	const known = code || undefined;
	const blocked = levelsOf(error).find(isBlocked);
	if (blocked) {
		const { message: why = '', description = why } = blocked;
		return new ServiceError(
			'n8n does not allow requests to the address of the service',
			`${description} Nothing was sent. Check the base URL in the LeadGen credential. If it is correct, an administrator of n8n can allow it: its host in N8N_SSRF_ALLOWED_HOSTNAMES, or its IP address in N8N_SSRF_ALLOWED_IP_RANGES.`,
			{ outcome: 'notSent' },
		);
	}
	const notSent = (message: string, check: string) => {
		const advice = `Check the base URL in the LeadGen credential, and ${check} (${code}). Nothing was sent.`;
		return new ServiceError(message, advice, { outcome: 'notSent', code: known });
	};
	if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
		return notSent('The host of the service was not found', 'the network of n8n');
	}
	const isUnconnected = NOT_CONNECTED.has(code) && syscall !== 'read' && syscall !== 'write';
	if (isUnconnected || syscall === 'connect' || isRefusedHandshake(`${code} ${text}`)) {
		return notSent('The service could not be reached', 'that the service is up');
	}
	return new ServiceError(
		code === 'ECONNABORTED' || code === 'ETIMEDOUT'
			? 'The service did not answer in time'
			: 'The connection broke before the service answered',
		`${outcomeAdvice(request)}${code === '' ? '' : ` The error code is ${code}.`}`,
		{ outcome: 'unknown', code: known },
	);
}

/** The handshake comes before the request is sent. Other TLS failures may also affect the answer. */
function isRefusedHandshake(failure: string): boolean {
	const certificate = /^(ERR_TLS_CERT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;
	const protocol = /wrong.version|unsupported.protocol|alert.(handshake.failure|protocol.version)/i;
	return certificate.test(failure) || protocol.test(failure);
}

/** Whether an error is from n8n's protection against requests to internal addresses (SSRF). */
function isBlocked({ name = '', message = '' }: Level): boolean {
	return name.startsWith('Ssrf') || message.startsWith('The request was blocked because');
}

/** What an error may have, whichever library it is from. */
interface Level {
	name?: string;
	message?: string;
	description?: string;
	code?: unknown;
	httpCode?: unknown;
	messages?: string[];
	syscall?: unknown;
	cause?: unknown;
	errors?: unknown[];
}

const MAX_LEVELS = 5;

/** An error and its causes, the outermost first. n8n and axios wrap the original error. */
export function levelsOf(error: unknown): Level[] {
	const levels: Level[] = [];
	for (let next = error; typeof next === 'object' && next && levels.length < MAX_LEVELS;) {
		const level: Level = next;
		levels.push(level);
		// If a host has several addresses, each of them has its own error.
		next = level.cause ?? level.errors?.[0];
	}
	return levels;
}

/** The code, system call and message of the innermost error that has them. */
function innermost(error: unknown): { code: string; syscall: string; message: string } {
	const levels = levelsOf(error);
	// In many versions of n8n, such as 1.122 and 2.16, its error has no cause, but repeats the text of Node.js. That begins
	// with the system call, as in "connect ECONNREFUSED 127.0.0.1:80".
	const { httpCode, messages } = levels[0] ?? {};
	let message = messages?.[0] ?? '';
	let code = typeof httpCode === 'string' ? httpCode : '';
	let [, syscall = ''] = new RegExp(`^(\\w+) ${code}\\b`).exec(message) ?? [];
	for (const level of levels) {
		if (typeof level.code !== 'string') continue;
		code = level.code;
		message = level.message ?? '';
		if (typeof level.syscall === 'string') syscall = level.syscall;
	}
	return { code, syscall, message };
}
