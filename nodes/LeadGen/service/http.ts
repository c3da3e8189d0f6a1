import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IHttpRequestOptions,
} from 'n8n-workflow';
import { InputError, ServiceError } from './errors';
import { isFree, type RawResponse, type ServiceRequest } from './types';

export const CREDENTIAL_TYPE = 'leadGenApi';

/**
 * The base address of the service, without trailing slashes.
 * @throws InputError if it is not an http(s) address that a path can be added to
 */
export function baseUrlOf(credential: ICredentialDataDecryptedObject): string {
	const text = typeof credential.baseUrl === 'string' ? credential.baseUrl.trim() : '';
	const url = URL.canParse(text) ? new URL(text) : undefined;
	if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
		throw new InputError(
			'Base URL',
			'in the credential is not an address that requests can be sent to',
			'Open the LeadGen credential and give the full address, such as https://api.example.com/v1',
		);
	}
	return text.replace(/\/+$/, '');
}

/**
 * One exchange with the service over n8n's HTTP helper, which adds the key, honours n8n's proxy
 * settings and is cut off when a person presses Stop.
 * @returns the answer, whatever its status, or an error that is `notSent` or `unknown` if none came;
 * redirects are not followed, since the key would go along
 */
export async function exchange(
	context: IAllExecuteFunctions,
	credential: ICredentialDataDecryptedObject,
	request: ServiceRequest,
	timeoutMs: number,
): Promise<RawResponse | ServiceError> {
	const options: IHttpRequestOptions = {
		method: isFree(request) ? 'GET' : 'POST',
		url: baseUrlOf(credential) + request.path,
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
	try {
		const answer = (await context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL_TYPE,
			options,
			// Without this n8n reads the credential from its database and decrypts it for every request.
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_TYPE, data: credential } },
		)) as { statusCode: number; headers: Record<string, unknown>; body: unknown };
		return {
			status: answer.statusCode,
			headers: answer.headers,
			text: typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? ''),
		};
	} catch (error) {
		return noAnswer(error, request);
	}
}

/** Error codes of Node.js that say that the connection itself was not made. */
const NOT_CONNECTED = new Set([
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EHOSTUNREACH',
	'ENETUNREACH',
]);

/** What a failed exchange means for the request; built from codes alone, so that no header can leak. */
function noAnswer(error: unknown, request: ServiceRequest): ServiceError {
	const { code, syscall, message } = networkFailure(error);
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
			`Check the base URL in the LeadGen credential, and that the service is up (${code}). Nothing was sent.`,
			{ outcome: 'notSent', code },
		);
	}
	const timedOut = code === 'ECONNABORTED' || code === 'ETIMEDOUT';
	return new ServiceError(
		timedOut
			? 'The service did not answer in time'
			: 'The connection broke before the service had answered',
		outcomeAdvice(request) + ` (${code})`,
		{ outcome: 'unknown', code },
	);
}

/** What to tell a person about a request that got no usable answer. */
export function outcomeAdvice(request: ServiceRequest): string {
	return isFree(request)
		? 'Nothing was bought by this request. Run it again.'
		: 'The service may have done the work, and charged for it, so the request was not sent again. Compare the credits of your account before you run it again.';
}

/** The handshake comes before the request is sent. Other failures of TLS may hit the answer as well. */
function isRefusedHandshake(failure: string): boolean {
	const certificate = /^(ERR_TLS_CERT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;
	const protocol = /wrong.version|unsupported.protocol|alert.(handshake.failure|protocol.version)/i;
	return certificate.test(failure) || protocol.test(failure);
}

/** Code, system call and words of the innermost error that has them; n8n and axios wrap the original. */
function networkFailure(error: unknown): { code: string; syscall: string; message: string } {
	let found = { code: 'no code', syscall: '', message: '' };
	for (let level = error, depth = 0; level instanceof Error && depth < 5; depth++) {
		const { code, syscall } = level as { code?: unknown; syscall?: unknown };
		if (typeof code === 'string') {
			const known = typeof syscall === 'string' ? syscall : found.syscall;
			found = { code, syscall: known, message: level.message };
		}
		level = level.cause;
	}
	return found;
}
