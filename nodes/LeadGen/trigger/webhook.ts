import { sleep, type IDataObject, type IWebhookResponseData } from 'n8n-workflow';
import { itemFor } from './execution';
import { hasRoom, knownScrapes } from './listening';
import type { Receiving } from './node';
import type { Told } from './nodeMemory';
import { cannotVerify, textOf } from './notices';
import { Notification } from './notification';
import { ownMessage, replyTo, SIGNATURE_HEADER, urlsOf } from './ownUrl';
import { rawNotification, requestOf, respond, type IncomingRequest } from './request';
import { scrapeIdOf } from './running';
import { CALLBACK, mayBeSigned } from './signature';

const WARN_MS = 60_000;
const BROKEN_URL =
	'a notification came to a URL whose signature is incomplete or wrong. The service may have shortened or changed the URL, or the API key was changed.';
/** A sender may not wait longer for its answer. */
const ANSWER_MS = 8000;

/**
 * Handles a request to the production URL: a message of the node to itself, a notification, or a request by a stranger.
 * Never throws, because n8n would create a failed execution for each request.
 */
export async function handleRequest(node: Receiving): Promise<IWebhookResponseData> {
	try {
		return await handle(node, requestOf(node));
	} catch (error) {
		warn(node, `a request could not be answered: ${textOf(error).message}`);
		// The sender may retry.
		return respond(node, 503, { error: 'Try again later' });
	}
}

async function handle(node: Receiving, request: IncomingRequest): Promise<IWebhookResponseData> {
	// Strangers may call often, and reading the credential takes n8n long.
	const isSigned = SIGNATURE_HEADER in request.headers || mayBeSigned(request.text);
	const signer = isSigned ? (await node.access()).signer : undefined;
	const change = signer && ownMessage(request, signer);
	if (change) return { webhookResponse: replyTo(request, change, node, signer) };
	const attempt = signer?.attemptIn(request.text);
	if (attempt === undefined && !node.isListening) {
		if (CALLBACK.test(request.text)) warn(node, BROKEN_URL);
		return respond(node, 403, { error: 'This URL only accepts notifications of the service' });
	}
	const saved = node.read();
	const notification = new Notification(request);
	if (attempt === undefined) return await ofListener(node, request, notification);
	// The signature proves that the service sent it.
	const scrapeId = scrapeIdOf(saved, attempt);
	const told = { attempt, scrapeId, ...notification.saysOf(scrapeId) };
	if (!node.memory.isNew(told)) return accepted();
	return begin(node, rawNotification(request, signer?.signatureOf(attempt)), [told]);
}

/** A notification for a node that only listens. The service must know a scrape before an execution begins. */
async function ofListener(
	node: Receiving,
	request: IncomingRequest,
	notification: Notification,
): Promise<IWebhookResponseData> {
	const { memory } = node;
	const { named } = notification;
	if (named.length === 0) {
		warn(node, 'a notification names no scrape ID that the node recognizes');
		return accepted();
	}
	// Without a credential, nothing can be verified, and the sender must try again.
	await node.access().catch((error: unknown) => {
		memory.leader?.tell(cannotVerify(error));
		throw error;
	});
	if (!hasRoom(node, named, request.size)) {
		return respond(node, 503, { error: 'Too many notifications. Try again later' });
	}
	const toldOf = (name: string, scrapeId = name) => ({ scrapeId, ...notification.saysOf(name) });
	const news = named.filter((name) => memory.isNew(toldOf(name)));
	if (news.length === 0) return accepted();
	const raw = rawNotification(request);
	const known = knownScrapes(node, news, request.size);
	const isLate = await Promise.race([known.then(() => false), sleep(ANSWER_MS).then(() => true)]);
	const answer = isLate ? respond(node, 200, { received: true }) : accepted();
	// It may name a scrape by two IDs.
	const byId = new Map([...(await known)].map(([name, id]) => [id, toldOf(name, id)]));
	const scrapes = [...byId.values()];
	return scrapes.length === 0 ? answer : { ...begin(node, raw, scrapes), ...answer };
}

function begin(node: Receiving, notification: IDataObject, scrapes: Told[]): IWebhookResponseData {
	const { addresses } = node.memory.urls ?? urlsOf(node);
	const item = itemFor({ completion: { notification, scrapes } }, addresses);
	return { ...accepted(), workflowData: [[item]] };
}

let warnedAt = -Infinity;

/** Warns once a minute, because anyone may send requests. */
function warn(node: Receiving, text: string): void {
	if (performance.now() - warnedAt < WARN_MS) return;
	warnedAt = performance.now();
	node.log('warn', text);
}

function accepted(): IWebhookResponseData {
	return { webhookResponse: { received: true } };
}
