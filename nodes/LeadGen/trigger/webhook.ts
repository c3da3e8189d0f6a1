import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { CompletedScrape } from './completion';
import { contentsOf } from './contents';
import { itemFor } from './execution';
import { newDelivery, type Delivery } from './gate';
import { leadsKeys } from './leads';
import { hasRoom, knownScrapes } from './listening';
import { memoryOf, type NodeMemory } from './nodeMemory';
import { cannotVerify, textOf } from './notices';
import { idsIn, rawNotification, saysFinished } from './notification';
import { ownAddresses, ownMessage, replyTo, SIGNATURE_HEADER } from './ownUrl';
import { internalUrl, mode } from './triggerProperties';
import { requestOf, respond, type IncomingRequest } from './request';
import { scrapeIdOf } from './running';
import { parametersOf } from './scrape';
import { CALLBACK, mayBeSigned } from './signature';

const WARN_MS = 60_000;

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
		warnOfBrokenUrl(context, memory, request);
		return respond(context, 403, { error: 'This URL only accepts notifications of the service' });
	}
	memory.read(context.getWorkflowStaticData('global'));
	if (attempt === undefined) return await ofListener(context, memory, request);
	// The signature proves that the service sent it.
	const scrapeId = scrapeIdOf(memory.saved, attempt);
	const contents = contentsOf(request.body);
	const leads = leadsKeys(contents)(scrapeId);
	const isFinal = saysFinished(request.query, contents);
	if (!memory.isNew({ scrape: attempt, leads, isFinal })) return accepted();
	const notification = rawNotification(request, signer?.signatureOf(attempt));
	return begin(context, memory, notification, [{ attempt, scrapeId, leads, isFinal }]);
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
	const news = named.filter((id) => memory.isNew({ scrape: id, leads: leadsKey(id), isFinal }));
	if (news.length === 0) return accepted();
	const notification = rawNotification(request);
	const { ids, isAnswered } = await knownScrapes(context, memory, news, request.size);
	const answer = isAnswered ? { noWebhookResponse: true } : accepted();
	if (ids.size === 0) return answer;
	const scrapes = [...ids].map(([name, scrapeId]) => ({
		scrapeId,
		leads: leadsKey(name),
		isFinal,
	}));
	return { ...begin(context, memory, notification, scrapes), ...answer };
}

function begin(
	context: IWebhookFunctions,
	memory: NodeMemory,
	notification: IDataObject,
	scrapes: Array<Omit<CompletedScrape, keyof Delivery>>,
): IWebhookResponseData {
	const internal = parametersOf(context).option(internalUrl);
	const url = context.getNodeWebhookUrl('default') ?? '';
	const addresses = memory.addresses ?? ownAddresses(url, internal, context.getNode());
	const delivered = scrapes.map((scrape) => ({ ...scrape, ...newDelivery() }));
	const item = itemFor({ completion: { notification, scrapes: delivered, addresses } });
	return { ...accepted(), workflowData: [[item]] };
}

function warnOfBrokenUrl(
	{ logger }: IWebhookFunctions,
	memory: NodeMemory,
	{ text }: IncomingRequest,
): void {
	const now = Date.now();
	if (!CALLBACK.test(text) || now - memory.warnedAt < WARN_MS) return;
	memory.warnedAt = now;
	const what = 'a notification came to a URL whose signature is incomplete or wrong';
	logger.warn(
		`LeadGen Trigger: ${what}. The service may have shortened or changed the URL, or the API key was changed.`,
	);
}

function accepted(): IWebhookResponseData {
	return { webhookResponse: { received: true } };
}
