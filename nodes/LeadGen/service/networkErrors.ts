import { ServiceError } from '../common/errors';
import { outcomeAdvice, type ServiceRequest } from './types';

/** Node.js error codes for a connection that was not made, but may be made later. */
const NOT_CONNECTED = new Set([
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EHOSTUNREACH',
	'ENETUNREACH',
]);

/** These codes, and further ones for a connection that was not made. */
const MAY_PASS = new Set([...NOT_CONNECTED, 'ETIMEDOUT', 'EADDRNOTAVAIL', 'EMFILE']);

/** Node.js refuses to send the request. */
const MALFORMED = new Set([
	'ERR_HTTP_INVALID_HEADER_VALUE',
	'ERR_INVALID_CHAR',
	'ERR_INVALID_HTTP_TOKEN',
	'ERR_INVALID_PROTOCOL',
	'ERR_INVALID_URL',
	'ERR_SOCKET_BAD_PORT',
	'ERR_UNESCAPED_CHARACTERS',
]);

/** Whether nothing was sent, for a temporary reason. Wrong addresses and certificates are not temporary. */
export function mayConnectLater({ outcome, code = '' }: ServiceError): boolean {
	return outcome === 'notSent' && MAY_PASS.has(code);
}

/** What a failed exchange means for the request. Contains no text of the request, so that no header can leak. */
export function noAnswer(error: unknown, request: ServiceRequest): ServiceError {
	const { code: said = '', syscall, message: text } = innermost(error);
	// The deadline of the request. If the user pressed Stop, nobody sees the error.
	const code = said === 'ERR_CANCELED' ? 'ECONNABORTED' : said;
	const notSent = (message: string, check: string) =>
		new ServiceError(message, `Check ${check} (${code}). Nothing was sent.`, {
			outcome: 'notSent',
			code: code || undefined,
		});
	const blocked = levelsOf(error).find(isBlocked);
	if (blocked) {
		const { message: why = '', description = why } = blocked;
		return new ServiceError(
			'n8n does not allow requests to the address of the service',
			`${description} Nothing was sent. Check the base URL in the LeadGen credential. If it is correct, an administrator of n8n can allow it: its host in N8N_SSRF_ALLOWED_HOSTNAMES, or its IP address in N8N_SSRF_ALLOWED_IP_RANGES.`,
			{ outcome: 'notSent' },
		);
	}
	if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
		return notSent(
			'The host of the service was not found',
			'the base URL in the LeadGen credential, and the network of n8n',
		);
	}
	if (MALFORMED.has(code)) {
		return notSent(
			'n8n cannot send this request',
			'the base URL and the API key in the LeadGen credential, and the fields of this item',
		);
	}
	const isUnconnected = NOT_CONNECTED.has(code) && syscall !== 'read' && syscall !== 'write';
	if (isUnconnected || syscall === 'connect' || isRefusedHandshake(`${code} ${text}`)) {
		return notSent(
			'The service could not be reached',
			'the base URL in the LeadGen credential, and check that the service is up',
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
	syscall?: unknown;
	cause?: unknown;
	errors?: unknown[];
}

const MAX_LEVELS = 5;

interface Failure {
	code?: string;
	syscall: string;
	message: string;
}

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
function innermost(error: unknown): Failure {
	let found = wrapped(error);
	for (const { code, syscall, message = '' } of levelsOf(error)) {
		if (typeof code === 'string') {
			const known = typeof syscall === 'string' ? syscall : found.syscall;
			found = { code, syscall: known, message };
		}
	}
	return found;
}

/** The same, as n8n's error names it: in many versions of n8n, such as 1.122 and 2.16, it has no cause. */
function wrapped(error: unknown): Failure {
	const { httpCode, messages } = (error ?? {}) as { httpCode?: unknown; messages?: unknown[] };
	const code = typeof httpCode === 'string' ? httpCode : undefined;
	const [message] = messages ?? [];
	if (typeof message !== 'string') return { code, syscall: '', message: '' };
	// Node.js begins with the system call, as in "connect ECONNREFUSED 127.0.0.1:80".
	const [, syscall = ''] = new RegExp(`^(\\w+) ${code ?? ''}\\b`).exec(message) ?? [];
	return { code, syscall, message };
}
