import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { Completion } from './completion';
import { itemFor } from './execution';
import { newDelivery } from './gate';
import { leadsIn } from './leads';
import { knownScrapes } from './listening';
import { memoryOf, PROCESS, type NodeMemory } from './memory';
import { cannotVerify, textOf } from './notices';
import { idsOf, rawNotification, requestOf, respond, type IncomingRequest } from './notification';
import {
	ownAddresses,
	ownMessage,
	signedReply,
	SIGNATURE_HEADER,
	type Message,
	type Reply,
} from './ownUrl';
import { internalUrl, mode } from './properties';
import { leadsOf, merged, readSaved, scrapeIdOf, writeSaved } from './running';
import { parametersOf } from './scrape';
import { CALLBACK, fingerprint, mayBeSigned, type Signer } from './signature';

const WARN_MS = 60_000;

/**
 * Handles a request to the production URL: a message of the node to itself, a notification, or a request by a stranger.
 * Never throws, because n8n would create a failed execution for each request.
 */
export async function handleRequest(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const memory = memoryOf(context);
	const request = requestOf(context);
	try {
		const isListening = parametersOf(context).get(mode) === 'listen';
		const { [SIGNATURE_HEADER]: signature } = request.headers;
		const isSigned = signature !== undefined || mayBeSigned(request.text);
		const signer = isSigned ? (await memory.accessOf(context)).signer : undefined;
		const message = signature === undefined ? undefined : signer && ownMessage(context, signer);
		if (signer && message) {
			return { webhookResponse: signedReply(signer, signature, answer(context, memory, message)) };
		}
		const attempt = signer?.attemptIn(request.text);
		if (signer && attempt !== undefined)
			return ofAttempt(context, memory, request, signer, attempt);
		if (isListening) return await ofListener(context, memory, request);
		warnOfBrokenUrl(context, memory, request);
		return respond(context, 403, { error: 'This URL only accepts notifications of the service' });
	} catch (error) {
		const { message } = textOf(error);
		context.logger.warn(`LeadGen Trigger: a request could not be answered: ${message}`);
		// The sender may retry.
		return respond(context, 503, { error: 'Try again later' });
	}
}

/** Saves what a message of the node says. n8n saves what `webhook()` writes only if no execution begins. */
function answer(context: IWebhookFunctions, memory: NodeMemory, message: Message): Reply {
	const { started, failed, done } = message;
	const staticData = context.getWorkflowStaticData('global');
	const read = readSaved(staticData, memory.key);
	const activation = message.activation ?? read.activation;
	const isThrough = activation !== undefined && [started?.attempt, failed].includes(activation);
	// Another node may have saved an old copy, so this adds what this process knows.
	memory.saved = merged(memory.saved, {
		activation: isThrough ? '' : activation,
		running: [...read.running, ...(started ? [started] : [])],
		done: [...read.done, ...(done ? [done] : [])],
	});
	writeSaved(staticData, memory.key, memory.saved);
	memory.leader?.follow();
	return { saved: memory.saved, isActive: context.getWorkflow().active, process: PROCESS };
}

/** A notification at the URL of a start. The signature proves that the service sent it. */
function ofAttempt(
	context: IWebhookFunctions,
	memory: NodeMemory,
	request: IncomingRequest,
	signer: Signer,
	attempt: string,
): IWebhookResponseData {
	const saved = merged(
		memory.saved,
		readSaved(context.getWorkflowStaticData('global'), memory.key),
	);
	const scrapeId = scrapeIdOf(saved, attempt);
	const named = scrapeId === undefined ? idsOf(request).likely : [];
	const notification = rawNotification(request, signer.signatureOf(attempt));
	const leads = leadsTexts(notification)(scrapeId);
	if (!isNew(memory, attempt, leads, leadsOf(saved, attempt))) return accepted();
	return begin(context, memory, [{ attempt, scrapeId, named, notification, leads }]);
}

/** A notification for a node that only listens. The service must know a scrape before an execution begins. */
async function ofListener(
	context: IWebhookFunctions,
	memory: NodeMemory,
	request: IncomingRequest,
): Promise<IWebhookResponseData> {
	const saved = merged(
		memory.saved,
		readSaved(context.getWorkflowStaticData('global'), memory.key),
	);
	// Without a credential, nothing can be verified, and the sender must try again.
	await memory.accessOf(context).catch((error: unknown) => {
		memory.leader?.tell(cannotVerify(error));
		throw error;
	});
	const { likely, others } = idsOf(request);
	const named = likely.length > 0 ? likely : others;
	if (named.length === 0) return accepted();
	const notification = rawNotification(request);
	const leadsOfId = leadsTexts(notification);
	const leads = new Map(named.map((id) => [id, leadsOfId(id)]));
	const news = named.filter((id) => isNew(memory, id, leads.get(id) ?? '', leadsOf(saved, id)));
	if (news.length === 0) return accepted();
	const known = await knownScrapes(context, memory, news, request.size);
	if (known === 'full') {
		for (const id of news) memory.forget(id, leads.get(id));
		return respond(context, 503, { error: 'Too many notifications. Try again later' });
	}
	const answer = known.isAnswered ? { noWebhookResponse: true } : accepted();
	if (known.ids.size === 0) return answer;
	const completions = [...known.ids].map(([name, id]) => ({
		scrapeId: id,
		notification,
		leads: leads.get(name) ?? '',
	}));
	return { ...begin(context, memory, completions), ...answer };
}

/** What identifies the leads of each scrape in a notification; empty without leads. */
function leadsTexts({ body }: IDataObject): (scrapeId?: string) => string {
	const find = leadsIn(body);
	// Many scrapes may share a long list.
	const known = new Map<unknown, string>([[undefined, '']]);
	return (scrapeId) => {
		const leads = find(scrapeId);
		const text = known.get(leads) ?? fingerprint(leads);
		known.set(leads, text);
		return text;
	};
}

/**
 * Whether a notification begins an execution: the first one for a scrape, and each with other leads.
 * @param ran the leads for which the workflow ran, if it ran
 */
function isNew(
	memory: NodeMemory,
	scrape: string,
	leads: string,
	ran: string | undefined,
): boolean {
	const isOver = ran !== undefined && (leads === '' || leads === ran);
	if (isOver || memory.hasBegun(scrape, leads)) return false;
	memory.begin(scrape, leads);
	return true;
}

function begin(
	context: IWebhookFunctions,
	memory: NodeMemory,
	completions: Array<Omit<Completion, 'addresses' | 'delivery' | 'process'>>,
): IWebhookResponseData {
	const internal = parametersOf(context).option(internalUrl);
	const url = context.getNodeWebhookUrl('default') ?? '';
	const addresses = memory.addresses ?? ownAddresses(url, internal, context.getNode());
	const all = completions.map((each) => ({ ...each, ...newDelivery(), addresses }));
	return { ...accepted(), workflowData: [[itemFor({ completions: all })]] };
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
