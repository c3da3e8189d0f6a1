import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { isSaved, toSend } from './content';
import { accessTo, type NodeMemory } from './memory';
import type { SyncReply, SyncRequest } from './messages';
import { sendMessage } from './ownUrl';
import { PROCESS } from './process';

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
	deliver?: SyncRequest['deliver'],
): Promise<SyncReply> {
	const now = Date.now();
	const { signer } = await accessTo(context, memory);
	const { state, addresses = [], reply: last, text } = memory;
	const needed = state.scrapes[deliver?.id ?? '']?.source;
	const isElsewhere = last?.process !== PROCESS;
	const known = toSend(state, PROCESS, needed, isElsewhere);
	const message: SyncRequest = { process: PROCESS, state: known, deliver };
	const answer = await sendMessage(context, addresses, signer, message);
	if (!answer) throw new NotReachedError('No address of the node answers');
	const reply = answer.reply as SyncReply;
	if (reply.problem !== undefined) throw new Error(reply.problem);
	// The next time this address comes first.
	memory.addresses &&= [...new Set([answer.address, ...memory.addresses])];
	// This process did so when it answered, with what changed until then.
	if (reply.process !== PROCESS) memory.wrote(text);
	memory.take(reply.state);
	memory.reply = reply;
	memory.syncedAt = now;
	// The reply may miss what came in since it was asked for.
	const isKnown = (source: string) => isSaved(reply.state, reply.saved, source);
	answerSenders(memory, ({ since, source }) => since < now && isKnown(source));
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
