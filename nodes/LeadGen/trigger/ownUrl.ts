import { randomUUID } from 'crypto';
import { jsonParse, type ICredentialDataDecryptedObject } from 'n8n-workflow';
import { InputError } from '../common/errors';
import { isObject } from '../common/json';
import { show } from '../common/parameters';
import { baseUrlOf } from '../service/http';
import type { TriggerNode } from './node';
import { PROCESS, type Urls } from './nodeMemory';
import { NotReachedError } from './notices';
import type { IncomingRequest } from './request';
import type { Change, Saved } from './running';
import type { Signer } from './signature';
import { internalUrl } from './triggerProperties';

/** The last part of the node's URL. */
export const PATH = 'leadgen';
export const SIGNATURE_HEADER = 'x-leadgen-signature';

/** The address at which n8n listens by default. */
const DEFAULT_INTERNAL = 'http://127.0.0.1:5678';
const TIMEOUT_MS = 60_000;
/** The maximum age of a message. The clocks of two machines may differ, and a machine may be busy. */
const VALID_MS = 5 * 60_000;

/** The answer to a message of the node to its own URL. */
export interface Reply {
	saved: Saved;
	/** Whether the workflow is active. n8n 1.100 also answers if it is not. */
	isActive: boolean;
	/** The process that answers. */
	process: string;
}

/**
 * Where the node is reached. From inside, the public address often does not work: behind NAT, behind a proxy with a login,
 * or if its name resolves only outside.
 * @throws InputError if n8n gives the node no web address
 */
export function urlsOf({ context, parameters }: TriggerNode): Urls {
	const { webhookId } = context.getNode();
	const internal = parameters.option(internalUrl);
	// The context of `trigger()` does not know it.
	const url =
		'getNodeWebhookUrl' in context
			? (context.getNodeWebhookUrl('default') ?? '')
			: `${DEFAULT_INTERNAL}/webhook/${webhookId ?? ''}/${PATH}`;
	if (!URL.canParse(url)) {
		throw new InputError(
			'WEBHOOK_URL',
			`gives this node the address ${show(url)}, which is not a web address`,
			'In the environment of n8n, begin WEBHOOK_URL with https://, and restart n8n.',
		);
	}
	// Without a prefix that a proxy in front of n8n may have added: `/webhook/<id>/leadgen`.
	const parts = new URL(url).pathname.split('/').filter((part) => part !== '');
	const path = `/${parts.slice(webhookId === undefined ? -4 : -3).join('/')}`;
	const others = [url, DEFAULT_INTERNAL + path];
	// If the user set an address, no other one is used. Only a main process has the test URL.
	const isTest = context.getMode() === 'manual';
	const addresses = internal === '' ? others : [internal + path, ...(isTest ? others : [])];
	return { url, addresses: [...new Set(addresses)] };
}

/** Whether an address belongs to this machine or to a private network. Only its host name decides. */
function isPrivate(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase();
	return (
		/^(localhost|.*\.local|.*\.localhost|.*\.internal|::1|0\.0\.0\.0)$/.test(host) ||
		/^(127|10)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\./.test(host) ||
		/^f[cd][0-9a-f]{2}:|^fe80:/.test(host) ||
		!/[.:]/.test(host)
	);
}

/** Whether the service may reach a URL. A service on the same machine or network can reach a private one. */
export function isReachable(url: string, credential: ICredentialDataDecryptedObject): boolean {
	return !isPrivate(url) || isPrivate(baseUrlOf(credential));
}

/**
 * Sends a message of the node to its own URL, so that `webhook()` saves a change.
 * @param node its addresses are tried in order until one answers with a signature, which comes first from then on
 * @param change without one, this only asks for what is saved
 * @param maxAgeMs of the credential that signs the message
 * @throws NotReachedError if no address reaches the node
 */
export async function tell(
	node: TriggerNode,
	change: Change = {},
	maxAgeMs?: number,
): Promise<Reply> {
	const { addresses } = node;
	const { signer } = await node.access(maxAgeMs);
	// A string, so that the message arrives exactly as it was signed.
	const text = JSON.stringify({ ...change, sentAt: Date.now(), nonce: randomUUID() });
	const signature = signer.sign('message', text);
	const problems: unknown[] = [];
	for (const url of [...addresses]) {
		try {
			const answer: unknown = await node.context.helpers.httpRequest({
				method: 'POST',
				url,
				headers: { [SIGNATURE_HEADER]: signature, 'Content-Type': 'application/json' },
				body: JSON.stringify({ message: text }),
				encoding: 'text',
				disableFollowRedirect: true,
				timeout: TIMEOUT_MS,
			});
			const reply = jsonParse<SignedReply>(String(answer), { fallbackValue: {} });
			if (signer.isSigned(reply.signature, 'reply', signature, String(reply.text))) {
				addresses.unshift(...addresses.splice(addresses.indexOf(url), 1));
				return jsonParse<Reply>(String(reply.text));
			}
			problems.push(new Error('something else answers there'));
		} catch (error) {
			problems.push(error);
		}
	}
	throw new NotReachedError(problems);
}

interface SignedReply {
	text?: string;
	/** Over the reply and the signature of the message, so that no earlier reply can be sent again. */
	signature?: string;
}

/**
 * Saves the change in a message of the node to itself. n8n saves what `webhook()` writes only if no execution begins.
 */
export function replyTo(
	request: IncomingRequest,
	change: Change,
	node: TriggerNode,
	signer: Signer,
): SignedReply {
	node.read();
	node.write(change);
	const { saved } = node.memory;
	const isActive = node.context.getWorkflow().active;
	return signed(request, { saved, isActive, process: PROCESS } satisfies Reply, signer);
}

/** An answer to a message of the node to itself, which no one else can give. */
export function signed({ headers }: IncomingRequest, reply: object, signer: Signer): SignedReply {
	const text = JSON.stringify(reply);
	return { text, signature: signer.sign('reply', String(headers[SIGNATURE_HEADER]), text) };
}

/** The change that the node asks itself to save; undefined if someone else sent the request. */
export function ownMessage({ headers, body }: IncomingRequest, signer: Signer): Change | undefined {
	const { message } = isObject(body) ? body : {};
	const signature = headers[SIGNATURE_HEADER];
	if (typeof message !== 'string' || !signer.isSigned(signature, 'message', message)) {
		return undefined;
	}
	const { sentAt, ...rest } = jsonParse<Change & { sentAt: number }>(message);
	return Math.abs(Date.now() - sentAt) < VALID_MS ? rest : undefined;
}
