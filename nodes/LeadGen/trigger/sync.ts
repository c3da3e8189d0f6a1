import type { IDataObject, ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { toSend } from './content';
import { accessTo, PROCESS, type NodeMemory } from './memory';
import { sendMessage } from './ownUrl';
import type { Plan } from './plan';
import type { TriggerState } from './state';

/** What the node says to itself. */
export interface SyncRequest {
	/** The process that says it. */
	process?: string;
	/** What the sender knows. */
	state?: TriggerState;
	/** An execution began for this scrape or notice. Nothing else comes with it. */
	done?: { id: string; at: number };
	/** Run the workflow for this scrape or notice, with the status of the scrape as the service gave it. */
	deliver?: { id: string; data?: IDataObject; completedAt?: number };
	/** Give what this attempt to start a scrape needs. */
	starting?: string;
	/** Answer when this attempt to start a scrape is over. Nothing else comes with it. */
	keepOpen?: string;
	/** Senders wait to hear that the notifications for these sources are saved. */
	waiting?: string[];
}

export interface SyncReply {
	/** Why the node can do nothing. */
	problem?: string;
	/** What is known now. */
	state: TriggerState;
	/** The state was written, and is not seen to be saved. */
	isWritten: boolean;
	/** Those of the sources that senders wait for whose notification n8n had saved. */
	saved: string[];
	plan: Plan;
	/** The process that answers. */
	process: string;
	/** Whether an execution begins. */
	isDelivered: boolean;
	/** URL of the node and body of the request, or why there can be none; given when n8n has saved the attempt. */
	start?: { url: string; body: IDataObject } | { message: string; advice: string };
}

/** The sender of a notification waits no longer for the answer. */
export const LONGEST_ANSWER_MS = 8000;

/** No server answers at the node's own URL, or another one than n8n. */
export class NotReachedError extends Error {}

/**
 * Brings together what this process knows of a node and what n8n has saved, over the node's own URL.
 * @throws NotReachedError, or an error with the reason why the node can do nothing
 */
export async function sync(
	context: ITriggerFunctions | IWebhookFunctions,
	memory: NodeMemory,
	request: Pick<SyncRequest, 'deliver' | 'starting'> = {},
): Promise<SyncReply> {
	const { isDirty } = memory;
	const now = Date.now();
	memory.isDirty = false;
	const reply = await exchange(context, memory, request).catch((error: unknown) => {
		delete memory.access;
		memory.isDirty ||= isDirty;
		throw error;
	});
	memory.take(reply.state);
	memory.reply = reply;
	memory.syncedAt = now;
	answerSenders(memory, ({ since, source }) => since < now && reply.saved.includes(source));
	return reply;
}

async function exchange(
	context: ITriggerFunctions | IWebhookFunctions,
	memory: NodeMemory,
	request: Pick<SyncRequest, 'deliver' | 'starting'>,
): Promise<SyncReply> {
	const access = await accessTo(context, memory);
	const { addresses = [], reply: last } = memory;
	const needed = memory.state?.scrapes[request.deliver?.id ?? '']?.source;
	const isElsewhere = last?.process !== PROCESS;
	const state = memory.state && toSend(memory.state, PROCESS, needed, isElsewhere);
	const waiting = memory.waiting.map(({ source }) => source);
	const message: SyncRequest = { ...request, process: PROCESS, state, waiting };
	const answer = await sendMessage(context, addresses, access.signer, message);
	if (!answer) throw new NotReachedError('No address of the node answers');
	const reply = answer.reply as SyncReply;
	if (reply.problem !== undefined) throw new Error(reply.problem);
	// The next time this address comes first.
	memory.addresses &&= [...new Set([answer.address, ...memory.addresses])];
	return reply;
}

/** Answers the senders of notifications that are saved, and those that waited for too long. */
export function answerSenders(
	memory: NodeMemory,
	isSaved: (waiting: NodeMemory['waiting'][number]) => boolean,
): void {
	memory.waiting = memory.waiting.filter((each) => {
		const saved = isSaved(each);
		if (!saved && Date.now() - each.since < LONGEST_ANSWER_MS) return true;
		each.answer(saved);
		return false;
	});
}
