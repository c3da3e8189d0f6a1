import type { IDataObject, IWebhookResponseData } from 'n8n-workflow';
import { isObject } from '../common/json';
import { itemFor } from './execution';
import { PROCESS, type Receiving } from './node';
import { scrapeIdIn } from './notification';
import { errorText } from './notices';
import { answerTo, messageIn, placeOf, SIGNATURE_HEADER, type Reply } from './ownUrl';
import { isCallback, PARAMETER } from './signature';
import { scrapeOf } from './state';

const WARN_MS = 60_000;
const BROKEN_URL =
	'a notification came to a URL whose signature is incomplete or wrong. The service may have shortened or changed the URL, or the API key was changed.';
/** How old a reading of the credential may be: the user may have changed the key, and strangers may call often. */
const FRESH_MS = 2000;
const SECRET_OR_TRANSPORT =
	/^(authorization|proxy-.*|cookie|x-api-key|x-leadgen-.*|host|connection|keep-alive|te|upgrade.*|transfer-encoding|content-.*|accept.*|user-agent|forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cdn-loop|cf-.*|sec-.*)$/i;

/**
 * Handles a request to the production URL: a message of the node to itself, a notification, or a request by a stranger.
 * Never throws, because n8n would create a failed execution for each request.
 */
export async function handleRequest(node: Receiving): Promise<IWebhookResponseData> {
	try {
		return await handle(node);
	} catch (error) {
		warn(node, `a request could not be answered: ${errorText(error)}`);
		// The sender may retry.
		return respond(node, 503, { error: 'Try again later' });
	}
}

async function handle(node: Receiving): Promise<IWebhookResponseData> {
	const { originalUrl: url } = requestOf(node);
	const mayBeSigned = SIGNATURE_HEADER in node.context.getHeaderData() || isCallback(url);
	const { signer } = mayBeSigned ? await node.access(FRESH_MS) : {};
	const message = signer && messageIn(node, signer);
	if (message) {
		const { state } = node;
		state.write(node, message);
		const { saved, begun } = state;
		const isActive = state.isActive(node) && !node.isListening;
		return answerTo(node, signer, { saved, isActive, begun, process: PROCESS } satisfies Reply);
	}
	const attempt = signer?.attemptIn(url);
	if (attempt !== undefined || node.isListening) return beginCompletion(node, attempt);
	if (isCallback(url)) warn(node, BROKEN_URL);
	return respond(node, 403, { error: 'This URL only accepts notifications of the service' });
}

/** Begins an execution for a notification, unless its scrape ran. @param attempt if its URL was signed */
function beginCompletion(node: Receiving, attempt: string | undefined): IWebhookResponseData {
	const { state } = node;
	const notification = rawNotification(node);
	const scrape = attempt === undefined ? undefined : scrapeOf(state.read(node), attempt);
	const scrapeId = attempt === undefined ? scrapeIdIn(notification) : scrape?.scrapeId;
	if (attempt === undefined && scrapeId === undefined)
		return respond(node, 400, { error: 'This names no scrape ID' });
	const accepted = { webhookResponse: { received: true } };
	if (scrape?.isDone) return accepted;
	if (attempt !== undefined) state.beginCompletion(attempt);
	const { addresses } = state.place ?? placeOf(node);
	const item = itemFor({ completion: { attempt, scrapeId, notification } }, addresses);
	return { ...accepted, workflowData: [[item]] };
}

/** The part of Express's request that we use. Its types are not part of n8n-workflow. */
export function requestOf({ context }: Receiving) {
	const request: unknown = context.getRequestObject();
	return request as { method: string; originalUrl: string; rawBody?: unknown };
}

/** The notification for the output, without headers that are secret or of the transport. */
export function rawNotification(node: Receiving): IDataObject {
	const { method, rawBody } = requestOf(node);
	const headers = Object.entries(node.context.getHeaderData());
	const query = Object.entries(node.context.getQueryData() as IDataObject);
	const body = (node.context.getBodyData() as unknown) ?? {};
	// n8n does not read a body of an unknown content type.
	const isUnread = isObject(body) && Object.keys(body).length === 0 && Buffer.isBuffer(rawBody);
	return {
		method,
		headers: Object.fromEntries(headers.filter(([name]) => !SECRET_OR_TRANSPORT.test(name))),
		query: Object.fromEntries(query.filter(([name]) => name.toLowerCase() !== PARAMETER)),
		body: isUnread && rawBody.length > 0 ? rawBody.toString() : body,
	};
}

function respond({ context }: Receiving, code: number, body: object): IWebhookResponseData {
	const response: unknown = context.getResponseObject();
	(response as { status(code: number): { json(body: object): void } }).status(code).json(body);
	return { noWebhookResponse: true };
}

let warnedAt = -Infinity;

/** Warns once a minute, because anyone may send requests. */
function warn(node: Receiving, text: string): void {
	if (performance.now() - warnedAt < WARN_MS) return;
	warnedAt = performance.now();
	node.log('warn', text);
}
