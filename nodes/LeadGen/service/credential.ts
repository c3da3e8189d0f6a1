import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { InputError } from '../common/errors';

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
 * @throws InputError if it is empty, or if a header cannot hold it: some versions of n8n would send another key instead
 */
export function apiKeyOf({ apiKey }: ICredentialDataDecryptedObject): string {
	const key = typeof apiKey === 'string' ? apiKey.trim().replace(/^bearer(\s+|$)/i, '') : '';
	if (key === '') {
		throw new InputError(
			'API Key',
			'in the LeadGen credential is empty',
			'Open the LeadGen credential and enter the API key of your account. If it holds an expression, check the field that it reads.',
		);
	}
	const [odd] = /[^\x20-\x7e]/u.exec(key) ?? [];
	if (odd === undefined) return key;
	const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
	throw new InputError(
		'API Key',
		`in the LeadGen credential contains a character that no key can contain (U+${code})`,
		'Copy the key again from your account dashboard, without any other text. A document or a chat may have changed it.',
	);
}
