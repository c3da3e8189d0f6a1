import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	INode,
	IWebhookFunctions,
} from 'n8n-workflow';
import type { Signer } from './signature';

/** The last part of the node's URL. */
export const PATH = 'leadgen';
export const SIGNATURE_HEADER = 'x-leadgen-signature';

/** The address at which n8n listens by default. */
const DEFAULT_INTERNAL = 'http://127.0.0.1:5678';
const TIMEOUT_MS = 60_000;
/** The maximum age of a message. The clocks of two machines may differ, and a machine may be busy. */
const VALID_MS = 5 * 60_000;

/**
 * The addresses at which the node may reach itself, the likeliest first. From inside, the public address often does not
 * work: behind NAT, behind a proxy with a login, or if its name resolves only outside.
 * @param internal the address that the user set; if it is not empty, no other address is used
 */
export function ownAddresses(url: string, internal: string, hasWebhookId: boolean): string[] {
	if (internal !== '') return [internal + innerPath(url, hasWebhookId)];
	return [...new Set([url, DEFAULT_INTERNAL + innerPath(url, hasWebhookId)])];
}

/** The address that the node can derive by itself. If n8n is set up in another way, the node reports an outage. */
export function defaultAddress({ webhookId = '', parameters: { options } }: INode): string {
	const { internalUrl = '' } = (options ?? {}) as { internalUrl?: string };
	const base = URL.canParse(internalUrl) ? internalUrl.replace(/\/+$/, '') : DEFAULT_INTERNAL;
	return `${base}/webhook/${webhookId}/${PATH}`;
}

/** The path without a prefix that a proxy in front of n8n may have added: `/webhook/<id>/leadgen`. */
function innerPath(url: string, hasWebhookId: boolean): string {
	const parts = new URL(url).pathname.split('/').filter((part) => part !== '');
	return `/${parts.slice(hasWebhookId ? -3 : -4).join('/')}`;
}

/** Whether an address belongs to this machine or to a private network. Only its host name decides. */
export function isPrivate(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase();
	return (
		/^(localhost|.*\.local|.*\.localhost|.*\.internal|::1|0\.0\.0\.0)$/.test(host) ||
		/^(127|10)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\./.test(host) ||
		/^f[cd][0-9a-f]{2}:|^fe80:/.test(host) ||
		!/[.:]/.test(host)
	);
}

/** Whether the service may reach a URL. A service on the same machine or network can reach a private one. */
export function isReachable(url: string, service: string): boolean {
	return !isPrivate(url) || isPrivate(service);
}

/**
 * Sends a message of the node to its own URL. Only an answer that contains `leadGen` comes from the node.
 * @param addresses of the node, tried in this order until one answers, which comes first from then on
 * @returns the answer; undefined if no address reaches the node
 */
export async function sendMessage(
	context: Pick<IHookFunctions | IExecuteFunctions, 'helpers' | 'logger'>,
	addresses: string[],
	signer: Signer,
	message: object,
): Promise<object | undefined> {
	// A string, so that the message arrives exactly as it was signed.
	const text = JSON.stringify({ ...message, sentAt: Date.now() });
	for (const address of [...addresses]) {
		try {
			const answer: unknown = await context.helpers.httpRequest({
				method: 'POST',
				url: address,
				headers: {
					[SIGNATURE_HEADER]: signer.header(text),
					'Content-Type': 'application/json',
				},
				body: JSON.stringify({ message: text }),
				encoding: 'text',
				disableFollowRedirect: true,
				timeout: TIMEOUT_MS,
			});
			const reply: unknown = JSON.parse(String(answer));
			if (typeof reply !== 'object' || !reply || !('leadGen' in reply)) continue;
			addresses.unshift(...addresses.splice(addresses.indexOf(address), 1));
			return reply;
		} catch (error) {
			const details = { address, error: String(error) };
			context.logger.debug('LeadGen Trigger: an address does not answer', details);
		}
	}
	return undefined;
}

/** The message of the node to itself; undefined if someone else sent the request. */
export function ownMessage(context: IWebhookFunctions, signer: Signer): object | undefined {
	const { message } = (context.getBodyData() as IDataObject | undefined) ?? {};
	const header = context.getHeaderData()[SIGNATURE_HEADER];
	if (!signer.isOwn(header, message)) return undefined;
	const { sentAt, ...rest } = JSON.parse(message) as { sentAt: number };
	return Math.abs(Date.now() - sentAt) < VALID_MS ? rest : undefined;
}
