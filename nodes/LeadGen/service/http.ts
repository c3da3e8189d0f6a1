import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IHttpRequestOptions,
} from 'n8n-workflow';
import { onAbort } from '../common/pause';
import { InputError, type ServiceError } from '../common/errors';
import { noAnswer } from './networkErrors';
import { isFree, type RawResponse, type ServiceRequest } from './types';

export const CREDENTIAL_TYPE = 'leadGenApi';

/**
 * The base URL of the service, without trailing slashes.
 * @throws InputError if it is not an http(s) URL to which a path can be added
 */
export function baseUrlOf({ baseUrl }: ICredentialDataDecryptedObject): string {
	const text = typeof baseUrl === 'string' ? baseUrl.trim() : '';
	const url = URL.canParse(text) ? new URL(text) : undefined;
	const hasScheme = /^https?:\/\//i.test(text);
	// With a login, n8n would send that instead of the key. An empty query or fragment leaves no trace in `url`.
	const isBase = url && !url.username && !url.password && !/[?#]/.test(text);
	if (hasScheme && isBase) return text.replace(/\/+$/, '');
	throw new InputError(
		'Base URL',
		`in the LeadGen credential ${hasScheme ? 'is not a web address that the node can send requests to' : 'must begin with https://'}`,
		'Open the LeadGen credential, and enter the full address, such as https://api.example.com/v1.',
	);
}

/**
 * The API key, without the spaces, the line breaks and the word "Bearer" that were copied with it.
 * @throws InputError if a header cannot hold it; some versions of n8n would send another key instead
 */
export function apiKeyOf({ apiKey }: ICredentialDataDecryptedObject): string {
	const key = typeof apiKey === 'string' ? apiKey.trim().replace(/^bearer\s+/i, '') : '';
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

/** What a request needs. */
export interface Sending {
	context: IAllExecuteFunctions;
	credential: ICredentialDataDecryptedObject;
	/** As from `baseUrlOf`. */
	baseUrl: string;
	/** Removes the key of the credential from a text. */
	withoutKey: (text: string) => string;
	/** How long to wait for the whole answer, in milliseconds. */
	timeoutMs: number;
}

/**
 * Sends one request with n8n's HTTP helper, which adds the key and honours n8n's proxy settings. Only a free request is
 * aborted when the user presses Stop. Redirects are not followed, because the key would go along.
 * @returns the answer without the key, whatever its status; if no answer came, an error that is `notSent` or `unknown`
 */
export async function exchange(
	{ context, credential, baseUrl, withoutKey, timeoutMs }: Sending,
	request: ServiceRequest,
): Promise<RawResponse | ServiceError> {
	const timeout = Math.min(timeoutMs, Math.max(1, (request.deadline ?? Infinity) - Date.now()));
	const options: IHttpRequestOptions = {
		method: isFree(request) ? 'GET' : 'POST',
		url: baseUrl + request.path,
		headers: { Accept: 'application/json' },
		encoding: 'text',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		timeout,
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
	const late = AbortSignal.timeout(Math.min(Math.ceil(timeout), MAX_TIMER_MS));
	const forgets = [stop, late].map((signal) => onAbort(signal, end.abort.bind(end)));
	const getExecutionCancelSignal = { value: () => end.signal };
	try {
		const { statusCode, headers, body } = (await context.helpers.httpRequestWithAuthentication.call(
			Object.create(context, { getExecutionCancelSignal }) as IAllExecuteFunctions,
			CREDENTIAL_TYPE,
			options,
			// Otherwise n8n reads the credential from its database and decrypts it for every request.
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_TYPE, data: credential } },
		)) as { statusCode: number; headers: Record<string, unknown>; body: unknown };
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
	} finally {
		for (const forget of forgets) forget();
	}
}
