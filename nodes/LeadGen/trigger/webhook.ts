import {
	sleep,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { findLeads } from '../leads';
import { isNotificationSaved, withoutContent, type Content } from './content';
import { deliveryItem } from './delivery';
import {
	cachedAccess,
	acknowledged,
	FRESH_MS,
	memoryOf,
	type Access,
	type NodeMemory,
} from './memory';
import type { SyncReply, SyncRequest } from './messages';
import { textOf } from './notices';
import { idsOf, rawNotification, requestOf, type IncomingRequest } from './notification';
import { applyNotification } from './received';
import { ownMessage, SIGNATURE_HEADER } from './ownUrl';
import { addressesOf, identityOf, readPlan } from './plan';
import { SAVE_DEBOUNCE_MS } from './planner';
import { PROCESS } from './process';
import { startBody } from './scrape';
import { isFinal } from './state';
import { beginStart } from './start';
import { Store } from './store';
import { answerSenders, LONGEST_ANSWER_MS } from './sync';
import { follow } from './timer';

/** The header of 1.0.0. After an update of the package, 1.0.0 keeps running until n8n restarts. */
const LEGACY_HEADER = 'x-leadgen-knock';

/**
 * Handles a request to the production URL: a message of the node to itself, a notification, or a request by a stranger.
 * Never throws, because n8n would create a failed execution for each request.
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
		// n8n takes long to decrypt a credential. A request without a signature does not need it.
		if (!isSigned) return isListening ? receiveNotification(context, memory) : refuse(context);
		const access = await cachedAccess(context, memory, FRESH_MS);
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

/** The sender may retry. The node must not confirm a notification that is not saved. */
function notNow(context: IWebhookFunctions): IWebhookResponseData {
	return answer(context, 503, { error: 'Try again later' });
}

/** Gives everyone the same answer, and reads, looks up and runs nothing. */
function refuse(context: IWebhookFunctions): IWebhookResponseData {
	return answer(context, 403, { error: 'This URL is for the service only' });
}

/**
 * Records a notification. Looks up and executes nothing.
 * @param attempt the attempt whose URL received it: '' for a URL of 1.0.0, undefined without a signature
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
	const { mode } = readPlan(context);
	const content = contentOf(request, now);
	const { outcome, source } = applyNotification(state, attempt, idsOf(request), mode, content);
	if (outcome === 'full') return notNow(context);
	if (source === undefined) {
		const why = 'it came before, or names no scrape of this node';
		context.logger.info(`LeadGen Trigger: a notification has no effect: ${why}`);
		return answer(context, 200, { received: true });
	}
	follow(context, memory);
	answerSenders(memory, (each) => isNotificationSaved(state, store.saved, each.source));
	// The service repeats a notification that got no answer in time.
	if (isNotificationSaved(state, store.saved, source))
		return answer(context, 200, { received: true });
	// When hundreds arrive at once, one request every `SAVE_DEBOUNCE_MS` writes all notifications so far, and a sync writes
	// the rest.
	const isWritten = now - memory.writtenAt >= SAVE_DEBOUNCE_MS;
	if (isWritten) {
		memory.writtenAt = now;
		store.save();
	}
	// Answer when n8n is seen to have saved it, because n8n does not report a failed save.
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

/** Handles a message of the node to itself. */
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
		// Do not save at once: in another process, the execution may still be running.
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
	if (state?.owner === memory.state.owner) memory.merge(state);
	const plan = readPlan(context);
	const item = deliver && deliveryItem(memory, access, deliver, Date.now());
	if (item && isFinal(memory.state.notices[deliver.id] ?? memory.state.scrapes[deliver.id])) {
		context.logger.error(`LeadGen Trigger: ${deliver.id} is delivered for the last time`);
	}
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
	// A message from this process contains nothing new for it.
	if (process !== PROCESS) memory.reconciler?.wake();
	return answer(context, 200, { leadGen: 2, ...reply }, item);
}

function startNeeds(context: IWebhookFunctions): SyncReply['start'] {
	try {
		return { body: startBody(context) };
	} catch (error) {
		return textOf(error);
	}
}

/** The part of Express's response that we use. Its types are not part of n8n-workflow. */
interface HttpResponse {
	status(code: number): { json(body: object): void };
}

/**
 * Answers the request directly: if n8n answers it, n8n 2 loses what was written to the static data.
 * @param item the item that runs the workflow
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
