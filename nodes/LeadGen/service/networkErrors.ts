import { ServiceError } from './errors';
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

/** Whether nothing was sent, for a temporary reason. Wrong addresses and certificates are not temporary. */
export function mayConnectLater({ outcome, code = '' }: ServiceError): boolean {
	return outcome === 'notSent' && MAY_PASS.has(code);
}

/** What a failed exchange means for the request. Built from error codes alone, so that no header can leak. */
export function noAnswer(error: unknown, request: ServiceRequest): ServiceError {
	const { code: said, syscall, message } = innermost(error);
	// The deadline of the request. If the user pressed Stop, nobody sees the error.
	const code = said === 'ERR_CANCELED' ? 'ECONNABORTED' : said;
	// n8n's protection against requests to private addresses (SSRF), if an administrator enabled it.
	if (error instanceof Error && error.name.startsWith('Ssrf')) {
		return new ServiceError(
			'n8n does not allow requests to the address of the service',
			`${error.message} Nothing was sent. Check the base URL in the LeadGen credential, or allow the host in the settings of n8n.`,
			{ outcome: 'notSent', code },
		);
	}
	if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
		return new ServiceError(
			'The host of the service was not found',
			`Check the base URL in the LeadGen credential, and the network of n8n (${code}). Nothing was sent.`,
			{ outcome: 'notSent', code },
		);
	}
	const isUnconnected = NOT_CONNECTED.has(code) && syscall !== 'read' && syscall !== 'write';
	if (isUnconnected || syscall === 'connect' || isRefusedHandshake(`${code} ${message}`)) {
		return new ServiceError(
			'The service could not be reached',
			`Check the base URL in the LeadGen credential, and check that the service is up (${code}). Nothing was sent.`,
			{ outcome: 'notSent', code },
		);
	}
	const timedOut = code === 'ECONNABORTED' || code === 'ETIMEDOUT';
	return new ServiceError(
		timedOut
			? 'The service did not answer in time'
			: 'The connection broke before the service answered',
		`${outcomeAdvice(request)} The error code is ${code}.`,
		{ outcome: 'unknown', code },
	);
}

/** The handshake comes before the request is sent. Other TLS failures may also affect the answer. */
function isRefusedHandshake(failure: string): boolean {
	const certificate = /^(ERR_TLS_CERT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;
	const protocol = /wrong.version|unsupported.protocol|alert.(handshake.failure|protocol.version)/i;
	return certificate.test(failure) || protocol.test(failure);
}

interface Failure {
	code: string;
	syscall: string;
	message: string;
}

/** The code, system call and message of the innermost error that has them. n8n and axios wrap the original error. */
function innermost(error: unknown): Failure {
	let found = wrapped(error);
	for (let level = error, depth = 0; level instanceof Error && depth < 5; depth++) {
		const { code, syscall } = level as { code?: unknown; syscall?: unknown };
		if (typeof code === 'string') {
			const known = typeof syscall === 'string' ? syscall : found.syscall;
			found = { code, syscall: known, message: level.message };
		}
		// If a host has several addresses, each of them has its own error.
		const [first] = (level as { errors?: unknown[] }).errors ?? [];
		level = level.cause ?? first;
	}
	return found;
}

/** The same, as n8n's error names it: in many versions of n8n, such as 1.122 and 2.16, it has no cause. */
function wrapped(error: unknown): Failure {
	const { httpCode, messages } = (error ?? {}) as { httpCode?: unknown; messages?: unknown[] };
	const code = typeof httpCode === 'string' ? httpCode : 'no code';
	const [message] = messages ?? [];
	if (typeof message !== 'string') return { code, syscall: '', message: '' };
	// Node.js begins with the system call, as in "connect ECONNREFUSED 127.0.0.1:80".
	const [, syscall = ''] = new RegExp(`^(\\w+) ${code}\\b`).exec(message) ?? [];
	return { code, syscall, message };
}
