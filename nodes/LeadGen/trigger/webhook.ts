import {
	sleep,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { findLeads } from '../leads';
import { isSaved, withoutContent, type Content } from './content';
import { deliveryItem } from './delivery';
import { accessTo, acknowledged, FRESH_MS, memoryOf, type Access, type NodeMemory } from './memory';
import type { SyncReply, SyncRequest } from './messages';
import { textOf } from './notices';
import { idsOf, rawNotification, requestOf, type IncomingRequest } from './notification';
import { notified } from './notified';
import { ownMessage, SIGNATURE_HEADER } from './ownUrl';
import { addressesOf, identityOf, readPlan } from './plan';
import { TOGETHER_MS } from './planner';
import { PROCESS } from './process';
import { startBody } from './scrape';
import { beginStart } from './start';
import { Store } from './store';
import { answerSenders, LONGEST_ANSWER_MS } from './sync';
import { follow } from './timer';

/** How 1.0.0 calls itself, until n8n is restarted after an update of the package. */
const LEGACY_HEADER = 'x-leadgen-knock';

/**
 * A request to the production URL came in: a message of the node to itself, a notification, or a stranger.
 * Fails for nobody, because n8n would make a failed execution of each request.
 */
export async function handleRequest(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { [SIGNATURE_HEADER]: signature, [LEGACY_HEADER]: legacy } = context.getHeaderData();
	const query = context.getQueryData() as Record<string, unknown>;
	const memory = memoryOf(identityOf(context));
	let isOwn = false;
	try {
		const isListening = context.getNodeParameter('mode') === 'listen';
		const isSigned = [signature, legacy, query.signature, query.token].some(
			(value) => value !== undefined,
		);
		// n8n takes its time to decrypt a credential; a request without a signature needs none.
		if (!isSigned) return isListening ? receiveNotification(context, memory) : refuse(context);
		const access = await accessTo(context, memory, FRESH_MS);
		const { signer } = access;
		const message = ownMessage(context, signer);
		isOwn = message !== undefined;
		if (message) return await answerMessage(context, memory, access, message);
		if (signer.isLegacyKnock(legacy)) {
			follow(context, memory);
			return answer(context, 200, { again: 30_000 });
		}
		const attempt = signer.attemptOf(query);
		if (attempt === undefined && !isListening) return refuse(context);
		return receiveNotification(context, memory, attempt);
	} catch (error) {
		const { message: problem } = textOf(error);
		context.logger.warn(`LeadGen Trigger: a request could not be answered: ${problem}`);
		return isOwn ? answer(context, 200, { leadGen: 2, problem }) : notNow(context);
	}
}

/** The service may try again; what was not saved must not be called received. */
function notNow(context: IWebhookFunctions): IWebhookResponseData {
	return answer(context, 503, { error: 'Try again later' });
}

/** Says the same to everyone, and nothing is read, looked up or run. */
function refuse(context: IWebhookFunctions): IWebhookResponseData {
	return answer(context, 403, { error: 'This URL is for the service only' });
}

/**
 * Takes a notification down. Nothing is looked up or executed here.
 * @param attempt whose URL it came to: '' for a URL of 1.0.0, undefined without a signature
 */
function receiveNotification(
	context: IWebhookFunctions,
	memory: NodeMemory,
	attempt?: string,
): IWebhookResponseData {
	const store = new Store(context, memory);
	const { state } = memory;
	const now = Date.now();
	const request = requestOf(context);
	const view = { plan: readPlan(context), checks: memory.checks };
	const receive = () => contentOf(request, now);
	const { outcome, source } = notified(state, attempt, idsOf(request), view, receive, now);
	if (outcome === 'full') return notNow(context);
	if (source === undefined) {
		const why = outcome === 'known' ? 'came before' : 'names no scrape of this node';
		context.logger.info(`LeadGen Trigger: a notification has no effect: it ${why}`);
		return answer(context, 200, { received: true });
	}
	follow(context, memory);
	answerSenders(memory, (each) => isSaved(state, store.saved, each.source));
	// The service sends again what it got no answer for in time.
	if (isSaved(state, store.saved, source)) return answer(context, 200, { received: true });
	// Of hundreds at once one now and then writes for all before it, and a sync for the last ones.
	const isWritten = now - memory.writtenAt >= TOGETHER_MS;
	if (isWritten) {
		memory.writtenAt = now;
		store.save();
	}
	// Answered when n8n is seen to have saved it: it says nothing if it fails to.
	memory.waiting.push({
		since: now,
		source,
		isWritten,
		answer: (isSaved) => {
			if (isSaved) answer(context, 200, { received: true });
			else notNow(context);
		},
	});
	void sleep(LONGEST_ANSWER_MS).then(() => {
		answerSenders(memory, () => false);
	});
	return { noWebhookResponse: true };
}

function contentOf(request: IncomingRequest, at: number): Content {
	const raw = rawNotification(request);
	const { length } = findLeads(raw.body) ?? [];
	return { at, process: PROCESS, size: JSON.stringify(raw).length, leads: length, raw };
}

/** The node says something to itself. */
async function answerMessage(
	context: IWebhookFunctions,
	memory: NodeMemory,
	access: Access,
	request: SyncRequest,
): Promise<IWebhookResponseData> {
	const store = new Store(context, memory);
	const { begun, send } = request;
	if (send !== undefined) {
		const needs = { start: startNeeds(context), plan: readPlan(context) };
		beginStart(context, memory, send, store.saved, needs, store);
		await memory.inFlight.get(send);
	} else if (begun) {
		// Saved a moment later: in another process, the execution may still go on.
		acknowledged(memory, begun.id, begun.at);
		follow(context, memory);
	} else return answerSync(context, store, access, request);
	return answer(context, 200, { leadGen: 2, process: PROCESS });
}

function answerSync(
	context: IWebhookFunctions,
	store: Store,
	access: Access,
	{ process, state, deliver }: SyncRequest,
): IWebhookResponseData {
	const { memory } = store;
	memory.addresses = addressesOf(context, memory.addresses);
	if (state?.owner === memory.state.owner) memory.take(state);
	const plan = readPlan(context);
	const item = deliver && deliveryItem(memory, access, deliver, Date.now());
	const isConfirmed = store.save();
	const reply: SyncReply = {
		state: withoutContent(memory.state),
		saved: store.saved,
		isConfirmed,
		plan,
		isActive: context.getWorkflow().active,
		process: PROCESS,
		isDelivered: item !== undefined,
		start: startNeeds(context),
	};
	// What this process says to itself is no news to it.
	if (process !== PROCESS) memory.worker?.wake();
	return answer(context, 200, { leadGen: 2, ...reply }, item);
}

function startNeeds(context: IWebhookFunctions): SyncReply['start'] {
	try {
		return { body: startBody(context) };
	} catch (error) {
		return textOf(error);
	}
}

/** The part of Express's response that we use; its types are no part of n8n-workflow. */
interface HttpResponse {
	status(code: number): { json(body: object): void };
}

/**
 * Answers the request ourselves: where n8n does, n8n 2 loses what was written to the static data.
 * @param item that runs the workflow
 */
function answer(
	context: IWebhookFunctions,
	code: number,
	body: object,
	item?: INodeExecutionData,
): IWebhookResponseData {
	const response = context.getResponseObject() as unknown as HttpResponse;
	response.status(code).json(body);
	return { noWebhookResponse: true, ...(item && { workflowData: [[item]] }) };
}
