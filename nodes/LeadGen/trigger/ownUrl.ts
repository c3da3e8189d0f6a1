import { randomUUID } from 'crypto';
import { jsonParse, type IWebhookResponseData } from 'n8n-workflow';
import { InputError } from '../common/errors';
import { isObject } from '../common/json';
import { pause } from '../common/pause';
import { show } from '../common/values';
import type { Receiving, TriggerNode } from './node';
import { notReached } from './notices';
import { internalUrl } from './properties';
import type { Signer } from './signature';
import type { Message, Place, Saved } from './state';

// The node sends messages to its own URL, because n8n saves static data reliably only in `webhook()`.

export const SIGNATURE_HEADER = 'x-leadgen-signature';

const DEFAULT_INTERNAL = 'http://127.0.0.1:5678';
/** For the answer of an address, and for the age of a message. The clocks of two machines may differ. */
const [DEADLINE_MS, VALID_MS] = [60_000, 5 * 60_000];

/** A workflow does not wait longer until n8n has saved what became of a completion. */
const MAX_TELL_MS = 5000;

/**
 * The answer to a message: what is saved, whether the node is active, which process answers, and for which attempts
 * completions began there that n8n has not run.
 */
export type Reply = { saved: Saved; isActive: boolean; process: string; begun: string[] };

/** The signature is over the text and the message, so that no earlier answer can be sent again. */
type SignedReply = { text?: string; signature?: string };

/**
 * Where the node is reached. From inside, the public address often does not work.
 * @throws InputError if it is no URL
 */
export function placeOf({ context, parameters }: TriggerNode): Place {
	const internal = parameters.option(internalUrl);
	const url = 'getNodeWebhookUrl' in context ? (context.getNodeWebhookUrl('default') ?? '') : '';
	if (!URL.canParse(url)) {
		const advice = 'In the environment of n8n, begin WEBHOOK_URL with https://, and restart n8n.';
		throw new InputError('WEBHOOK_URL', `gives this node the address ${show(url)}`, advice);
	}
	// Without a prefix that a proxy in front of n8n may have added: `/webhook/<id>/leadgen`.
	const parts = new URL(url).pathname.split('/');
	const path = `/${parts.slice(context.getNode().webhookId === undefined ? -4 : -3).join('/')}`;
	// If the user set an address, no other one is used.
	const addresses = internal === '' ? [url, DEFAULT_INTERNAL + path] : [internal + path];
	return { url, addresses: [...new Set(addresses)] };
}

/**
 * Sends a message of the node to its own URL; an empty one only asks for what is saved.
 * @throws LeadGenError if the URL does not take it
 */
export async function postToSelf(node: TriggerNode, message: Message = {}): Promise<Reply> {
	const { state } = node;
	const { signal } = state;
	const reply = await callSelf(node, message).catch((error: unknown) => {
		state.notReached(message);
		throw error;
	});
	state.reached(reply.saved, signal);
	return reply;
}

/** The same, but does not wait for long, and does not fail. */
export async function tellSelf(node: TriggerNode, message: Message): Promise<void> {
	await Promise.race([postToSelf(node, message).catch(() => {}), pause(MAX_TELL_MS, undefined)]);
}

/**
 * Tries the addresses of the node in order until one answers with a signature, which comes first from then on.
 * @throws LeadGenError if none does
 */
export async function callSelf(node: TriggerNode, message: Message = {}): Promise<Reply> {
	const { addresses } = node;
	const { signer } = await node.access();
	const text = JSON.stringify({ ...message, sentAt: Date.now(), nonce: randomUUID() });
	const problems = new Map<string, unknown>();
	for (const url of [...addresses]) {
		try {
			const reply = await callAddress(node, url, text, signer);
			addresses.unshift(...addresses.splice(addresses.indexOf(url), 1));
			return reply;
		} catch (error) {
			problems.set(url, error);
		}
	}
	// The user may have changed the key.
	node.forgetAccess();
	throw notReached(problems);
}

/** @throws if the address does not answer in time, or something else answers there */
async function callAddress(
	node: TriggerNode,
	url: string,
	text: string,
	signer: Signer,
): Promise<Reply> {
	const signature = signer.sign('message', text);
	const answer: unknown = await node.context.helpers.httpRequest({
		method: 'POST',
		url,
		headers: { [SIGNATURE_HEADER]: signature, 'Content-Type': 'application/json' },
		body: JSON.stringify({ message: text }),
		encoding: 'text',
		disableFollowRedirect: true,
		timeout: DEADLINE_MS,
	});
	const reply = jsonParse<SignedReply>(String(answer), { fallbackValue: {} });
	if (signer.isSigned(reply.signature, 'reply', signature, String(reply.text)))
		return jsonParse<Reply>(String(reply.text));
	throw new Error('something else answers there');
}

/** An answer to a message of the node to itself, which no one else can give. */
export function answerTo(node: Receiving, signer: Signer, reply: object): IWebhookResponseData {
	const text = JSON.stringify(reply);
	const message = String(node.context.getHeaderData()[SIGNATURE_HEADER]);
	const webhookResponse: SignedReply = { text, signature: signer.sign('reply', message, text) };
	return { webhookResponse };
}

/** The message in a request of the node to itself; undefined if someone else sent the request. */
export function messageIn({ context }: Receiving, signer: Signer): Message | undefined {
	const body: unknown = context.getBodyData();
	const { message } = isObject(body) ? body : {};
	const signature = context.getHeaderData()[SIGNATURE_HEADER];
	if (typeof message !== 'string') return undefined;
	if (!signer.isSigned(signature, 'message', message)) return undefined;
	const { sentAt, ...rest } = jsonParse<Message & { sentAt: number }>(message);
	return Math.abs(Date.now() - sentAt) < VALID_MS ? rest : undefined;
}
