import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { isNotificationSaved, toSend } from './content';
import { cachedAccess, type NodeMemory } from './memory';
import type { SyncReply, SyncRequest } from './messages';
import { sendMessage } from './ownUrl';
import { PROCESS } from './process';

/** The sender of a notification waits for the answer no longer than this. */
export const LONGEST_ANSWER_MS = 8000;

/** No server answers at the node's own URL, or a server that is not n8n. */
export class NotReachedError extends Error {}

/** Whether n8n throws this error because the credential was deleted. Its class is internal, so the name decides. */
export function isCredentialGone(error: unknown): boolean {
	return error instanceof Error && error.constructor.name === 'CredentialNotFoundError';
}

/**
 * Merges what this process knows about a node with what n8n has saved, over the node's own URL.
 * @throws NotReachedError, or an error with the reason why the node cannot work
 */
export async function sync(
	context: ITriggerFunctions | IWebhookFunctions,
	memory: NodeMemory,
	deliver?: SyncRequest['deliver'],
): Promise<SyncReply> {
	const now = Date.now();
	const { signer } = await cachedAccess(context, memory);
	const { state, addresses = [], reply: last, text } = memory;
	const needed = state.scrapes[deliver?.id ?? '']?.source;
	const isElsewhere = last?.process !== PROCESS;
	const known = toSend(state, PROCESS, needed, isElsewhere);
	const message: SyncRequest = { process: PROCESS, state: known, deliver };
	const reply = (await sendMessage(context, addresses, signer, message)) as SyncReply | undefined;
	if (!reply) throw new NotReachedError('No address of the node answers');
	if (reply.problem !== undefined) throw new Error(reply.problem);
	// If this process answered, it has already recorded this, including the changes until then.
	if (reply.process !== PROCESS) memory.markWritten(text);
	memory.merge(reply.state);
	memory.reply = reply;
	memory.syncedAt = now;
	// The reply may not contain what arrived after it was requested.
	const isKnown = (source: string) => isNotificationSaved(reply.state, reply.saved, source);
	answerSenders(memory, ({ since, source }) => since < now && isKnown(source));
	return reply;
}

/** Answers the senders whose notifications are saved, and those that have waited too long. */
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
