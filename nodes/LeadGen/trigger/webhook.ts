import { sleep, type IWebhookFunctions, type IWebhookResponseData } from 'n8n-workflow';
import { contentsOf } from './contents';
import { itemFor } from './execution';
import { leadsKeys } from './leads';
import { hasRoom, knownScrapes } from './listening';
import { memoryOf, type NodeMemory, type Told } from './nodeMemory';
import { cannotVerify, textOf } from './notices';
import { idsIn, rawNotification, saysFinished } from './notification';
import { ownMessage, replyTo, SIGNATURE_HEADER, urlsOf } from './ownUrl';
import { mode } from './triggerProperties';
import { requestOf, respond, type IncomingRequest } from './request';
import { scrapeIdOf } from './running';
import { parametersOf } from './scrape';
import { CALLBACK, mayBeSigned } from './signature';

const WARN_MS = 60_000;
/** A sender may not wait longer for its answer. */
const ANSWER_MS = 8000;

/**
 * Handles a request to the production URL: a message of the node to itself, a notification, or a request by a stranger.
 * Never throws, because n8n would create a failed execution for each request.
 */
export async function handleRequest(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await handle(context, requestOf(context), memoryOf(context));
	} catch (error) {
		const { message } = textOf(error);
		context.logger.warn(`LeadGen Trigger: a request could not be answered: ${message}`);
		// The sender may retry.
		return respond(context, 503, { error: 'Try again later' });
	}
}

async function handle(
	context: IWebhookFunctions,
	request: IncomingRequest,
	memory: NodeMemory,
): Promise<IWebhookResponseData> {
	// Strangers may call often, and reading the credential takes n8n long.
	const isSigned = SIGNATURE_HEADER in request.headers || mayBeSigned(request.text);
	const signer = isSigned ? (await memory.accessOf(context)).signer : undefined;
	const change = signer && ownMessage(context, signer);
	if (change) return { webhookResponse: replyTo(change, context, memory, signer) };
	const attempt = signer?.attemptIn(request.text);
	const isListening = parametersOf(context).get(mode) === 'listen';
	if (attempt === undefined && !isListening) {
		if (CALLBACK.test(request.text)) warnOfBrokenUrl(context);
		return respond(context, 403, { error: 'This URL only accepts notifications of the service' });
	}
	memory.read(context);
	if (attempt === undefined) return await ofListener(context, memory, request);
	// The signature proves that the service sent it.
	const scrapeId = scrapeIdOf(memory.saved, attempt);
	const contents = contentsOf(request.body);
	const leads = leadsKeys(contents)(scrapeId);
	const told = { attempt, scrapeId, leads, isFinal: saysFinished(request.query, contents) };
	if (!memory.isNew(told)) return accepted();
	return begin(context, memory, rawNotification(request, signer?.signatureOf(attempt)), [told]);
}

/** A notification for a node that only listens. The service must know a scrape before an execution begins. */
async function ofListener(
	context: IWebhookFunctions,
	memory: NodeMemory,
	request: IncomingRequest,
): Promise<IWebhookResponseData> {
	const contents = contentsOf(request.body);
	const { likely, others } = idsIn(request.query, contents);
	const named = likely.length > 0 ? likely : others;
	if (named.length === 0) return accepted();
	// Without a credential, nothing can be verified, and the sender must try again.
	await memory.accessOf(context).catch((error: unknown) => {
		memory.leader?.tell(cannotVerify(error));
		throw error;
	});
	if (!hasRoom(memory, named, request.size)) {
		return respond(context, 503, { error: 'Too many notifications. Try again later' });
	}
	const leadsKey = leadsKeys(contents);
	const isFinal = saysFinished(request.query, contents);
	const toldOf = (name: string, scrapeId = name) => ({ scrapeId, leads: leadsKey(name), isFinal });
	const news = named.filter((name) => memory.isNew(toldOf(name)));
	if (news.length === 0) return accepted();
	const notification = rawNotification(request);
	const known = knownScrapes(context, memory, news, request.size);
	const isLate = await Promise.race([known.then(() => false), sleep(ANSWER_MS).then(() => true)]);
	const answer = isLate ? respond(context, 200, { received: true }) : accepted();
	const scrapes = [...(await known)].map(([name, scrapeId]) => toldOf(name, scrapeId));
	return scrapes.length === 0
		? answer
		: { ...begin(context, memory, notification, scrapes), ...answer };
}

function begin(
	context: IWebhookFunctions,
	memory: NodeMemory,
	notification: ReturnType<typeof rawNotification>,
	scrapes: Told[],
): IWebhookResponseData {
	const { addresses } = memory.urls ?? urlsOf(context);
	const item = itemFor({ completion: { notification, scrapes, addresses } });
	return { ...accepted(), workflowData: [[item]] };
}

let warnedAt = -Infinity;

function warnOfBrokenUrl({ logger }: IWebhookFunctions): void {
	if (performance.now() - warnedAt < WARN_MS) return;
	warnedAt = performance.now();
	const what = 'a notification came to a URL whose signature is incomplete or wrong';
	logger.warn(
		`LeadGen Trigger: ${what}. The service may have shortened or changed the URL, or the API key was changed.`,
	);
}

function accepted(): IWebhookResponseData {
	return { webhookResponse: { received: true } };
}
