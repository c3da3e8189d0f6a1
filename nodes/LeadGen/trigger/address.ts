import type { IHookFunctions, ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';

/** The last part of the node's URL. */
export const PATH = 'leadgen';

/** Where n8n listens unless it was told otherwise. */
const DEFAULT_INTERNAL = 'http://127.0.0.1:5678';

/**
 * The addresses under which the node may reach itself, the likeliest first. From inside, the public one
 * often does not work: behind NAT, a proxy with a login, or a name that only the outside resolves.
 * @param internal as the person set it; then only that counts
 */
export function ownAddresses(url: string, internal: string, hasWebhookId: boolean): string[] {
	if (internal !== '') return [internal + innerPath(url, hasWebhookId)];
	return [...new Set([url, DEFAULT_INTERNAL + innerPath(url, hasWebhookId)])];
}

/** The path without what a proxy in front of n8n may have added: `/webhook/<id>/leadgen`. */
function innerPath(url: string, hasWebhookId: boolean): string {
	const parts = new URL(url).pathname.split('/').filter((part) => part !== '');
	return `/${parts.slice(hasWebhookId ? -3 : -4).join('/')}`;
}

/** Whether an address is of the machine itself or of a private network, by its name alone. */
export function isPrivate(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase();
	return (
		/^(localhost|.*\.local|.*\.localhost|.*\.internal|::1|0\.0\.0\.0)$/.test(host) ||
		/^(127|10)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\./.test(host) ||
		/^f[cd][0-9a-f]{2}:|^fe80:/.test(host) ||
		!/[.:]/.test(host)
	);
}

/**
 * Calls the node's own URL.
 * @returns the answer of `webhook()`; undefined if what answered is something else
 */
export async function callOneself(
	context: Pick<IHookFunctions | ITriggerFunctions | IWebhookFunctions, 'helpers'>,
	url: string,
	secret: string,
	body: object,
): Promise<unknown> {
	const answer: unknown = await context.helpers.httpRequest({
		method: 'POST',
		url,
		headers: { [KNOCK_HEADER]: secret, 'Content-Type': 'application/json' },
		body: JSON.stringify(body),
		encoding: 'text',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		timeout: 600_000,
	});
	const { statusCode, body: text } = answer as { statusCode: number; body: unknown };
	if (statusCode !== 200 || typeof text !== 'string') return undefined;
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** The header that lets a knock in. */
export const KNOCK_HEADER = 'x-leadgen-knock';
