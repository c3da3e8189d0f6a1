import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IHttpRequestOptions,
} from 'n8n-workflow';
import { onAbort } from '../common/pause';
import { InputError, type ServiceError } from '../common/errors';
import { noAnswer } from './networkErrors';
import { keyRemover } from './texts';
import { isFree, type RawResponse, type ServiceRequest } from './types';

export const CREDENTIAL_TYPE = 'leadGenApi';

/**
 * The base URL of the service, without trailing slashes.
 * @throws InputError if it is not an http(s) URL to which a path can be added
 */
export function baseUrlOf({ baseUrl }: ICredentialDataDecryptedObject): string {
	const text = typeof baseUrl === 'string' ? baseUrl.trim() : '';
	const url = URL.canParse(text) ? new URL(text) : undefined;
	if (!/^https?:\/\//i.test(text)) {
		throw new InputError(
			'Base URL',
			'in the LeadGen credential must begin with https://',
			'Open the LeadGen credential, and enter the full address, such as https://api.example.com/v1.',
		);
	}
	// With a login, n8n would send that instead of the key. An empty query or fragment leaves no trace in `url`.
	if (!url || url.username || url.password || /[?#]/.test(text)) {
		throw new InputError(
			'Base URL',
			'in the LeadGen credential is not a web address that the node can send requests to',
			'Open the LeadGen credential, and enter the full address, such as https://api.example.com/v1.',
		);
	}
	return text.replace(/\/+$/, '');
}

/**
 * The API key, without the spaces and line breaks that were copied with it.
 * @throws InputError if a header cannot hold it; some versions of n8n would send another key instead
 */
export function apiKeyOf({ apiKey }: ICredentialDataDecryptedObject): string {
	const key = typeof apiKey === 'string' ? apiKey.trim() : '';
	const [odd] = /[^\x20-\x7e]/u.exec(key) ?? [];
	if (odd === undefined) return key;
	const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
	throw new InputError(
		'API Key',
		`in the LeadGen credential contains a character that no key can contain (U+${code})`,
		'Copy the key again from your account dashboard, without any other text. A document or a chat may have changed it.',
	);
}

/** A timer with a longer time would ring at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Sends one request with n8n's HTTP helper, which adds the key, honours n8n's proxy settings, and aborts when the user
 * presses Stop. Redirects are not followed, because the key would go along.
 * @param timeoutMs how long to wait for the whole answer
 * @returns the answer without the key, whatever its status; if no answer came, an error that is `notSent` or `unknown`
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
	const send = async (self: IAllExecuteFunctions) =>
		(await context.helpers.httpRequestWithAuthentication.call(
			self,
			CREDENTIAL_TYPE,
			options,
			// Otherwise n8n reads the credential from its database and decrypts it for every request.
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_TYPE, data: credential } },
		)) as { statusCode: number; headers: Record<string, unknown>; body: unknown };
	try {
		const { statusCode, headers, body } = await withDeadline(context, timeoutMs, send);
		const withoutKey = keyRemover(apiKeyOf(credential));
		const cleaned = Object.entries(headers).map(([name, value]) => [
			name,
			typeof value === 'string' ? withoutKey(value) : value,
		]);
		return {
			status: statusCode,
			headers: Object.fromEntries(cleaned) as RawResponse['headers'],
			text: withoutKey(typeof body === 'string' ? body : JSON.stringify(body ?? '')),
		};
	} catch (error) {
		return noAnswer(error, request);
	}
}

/**
 * Sends with a deadline in the signal of the context for Stop. The timeout in the options of a request only ends a
 * silence, and n8n replaces a signal there by that of the context.
 */
async function withDeadline<T>(
	context: IAllExecuteFunctions,
	ms: number,
	send: (self: IAllExecuteFunctions) => Promise<T>,
): Promise<T> {
	const late = AbortSignal.timeout(Math.min(Math.ceil(ms), MAX_TIMER_MS));
	const stop =
		'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
	// `AbortSignal.any` would keep memory for each request until the run ends.
	const end = new AbortController();
	const abort = () => {
		end.abort();
	};
	const forgets = [late, stop].map((signal) => onAbort(signal, abort));
	try {
		const getExecutionCancelSignal = { value: () => end.signal };
		return await send(Object.create(context, { getExecutionCancelSignal }) as IAllExecuteFunctions);
	} finally {
		for (const forget of forgets) forget();
	}
}
