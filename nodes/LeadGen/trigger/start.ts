import { sleep, type ITriggerFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { LeadGenError } from '../service/errors';
import { started, startFailed } from './events';
import { accessTo, inBackground, type NodeMemory } from './memory';
import type { SyncReply } from './messages';
import { CONFIRM_MS } from './planner';
import { PROCESS } from './process';
import { startScrape } from './scrape';
import type { Store } from './store';
import { sync } from './sync';

type Context = ITriggerFunctions | IWebhookFunctions;

/** n8n ends the process after 30 seconds by default, whatever is under way. */
const LONGEST_CLOSING_MS = 15_000;
/** A server that answers does so in this time. */
const LONGEST_PROBE_MS = 3000;
/** What another node of the workflow saves at this moment is in the database in this time. */
const SAVING_MS = 500;
/** Until what became of a start is seen to be saved. */
const LONGEST_SAVING_MS = 10_000;
const SAVE_AGAIN_MS = 1000;

/**
 * Sends a start, if this process planned it, does not send it yet, and n8n is seen to have saved it: else a crash
 * could make somebody send it again.
 * @param saved what n8n has saved
 * @param needs what the request is made of
 * @param store of a request to the node that stays open meanwhile: n8n takes no new ones when it stops, but it lets
 * this one save the answer of the service
 */
export function beginStart(
	context: Context,
	memory: NodeMemory,
	attempt: string,
	saved: SyncReply['saved'],
	needs: Pick<SyncReply, 'start' | 'plan'>,
	store?: Store,
): void {
	const { starts } = memory.state;
	const start = starts[attempt];
	const isOwn = [start, saved.starts[attempt]].every(
		(known) => known?.process === PROCESS && known.stage === 'planned',
	);
	if (!start || !isOwn || memory.isOff || memory.inFlight.has(attempt)) return;
	if (Object.values(starts).some(({ id, stage }) => id === start.id && stage === 'started')) {
		// An earlier try was called not sent, and was.
		start.stage = 'failed';
		return;
	}
	// The filters may have changed since it was planned.
	starts[attempt] = { ...start, at: Date.now(), filters: needs.plan.filters };
	inBackground(context, memory, attempt, sendStart(context, memory, attempt, needs, store));
}

/** Sends a start, and sees to it that n8n saves what became of it, also if the node is closed. */
async function sendStart(
	context: Context,
	memory: NodeMemory,
	attempt: string,
	{ start, plan }: Pick<SyncReply, 'start' | 'plan'>,
	store?: Store,
): Promise<void> {
	const send = async () => {
		if ('message' in start) throw new LeadGenError(start.message, start.advice);
		// The key that starts the scrape signs the URL, too.
		const { credential, signer } = await accessTo(context, memory, 0);
		const webhookUrl = signer.callbackUrl(plan.url, attempt);
		return { scrapeId: await startScrape(context, credential, { ...start.body, webhookUrl }) };
	};
	const result = await send().catch((error: unknown) => ({ error }));
	const { state } = memory;
	const now = Date.now();
	if ('error' in result) startFailed(state, attempt, result.error, now);
	else started(state, attempt, result.scrapeId, now);
	const words = 'error' in result ? String(result.error) : `scrape ${result.scrapeId}`;
	context.logger.info(`LeadGen Trigger: start attempt ${attempt}: ${words}, in process ${PROCESS}`);
	if (await isSeenSaved(context, memory)) return;
	// Otherwise nothing is written: other nodes may have saved something since.
	await sleep(SAVING_MS);
	store?.save();
}

/**
 * Waits until n8n is seen to have saved what is known now: another node of the workflow may undo it at first.
 * @returns whether n8n answers; then it saves what it is given
 */
async function isSeenSaved(context: Context, memory: NodeMemory): Promise<boolean> {
	let isAnswered = false;
	let askedAt = Date.now();
	for (const end = askedAt + LONGEST_SAVING_MS; Date.now() < end;) {
		// n8n has saved all that was known then.
		if (memory.isOff) return true;
		// What works for the node asks, too. Where this process stops, another main process may answer.
		isAnswered = memory.syncedAt > askedAt || (await isSynced(context, memory));
		if (isAnswered && memory.reply?.isConfirmed) break;
		askedAt = Math.max(askedAt, memory.syncedAt);
		await sleep(isAnswered ? CONFIRM_MS + SAVING_MS : SAVE_AGAIN_MS);
	}
	return isAnswered;
}

async function isSynced(context: Context, memory: NodeMemory): Promise<boolean> {
	return await sync(context, memory).then(
		() => true,
		() => false,
	);
}

/** Waits for the starts under way where n8n stops, so that their answers can be saved. */
export async function finishStarts(context: Context, memory: NodeMemory): Promise<void> {
	const starts = [...memory.inFlight].filter(([name]) => memory.state.starts[name] !== undefined);
	// Where the node was deactivated, n8n goes on.
	if (starts.length === 0 || memory.isOff) return;
	// If the own URL answers, n8n goes on and only stops leading: the start goes on, too, and n8n 1 does not bear that
	// closing takes long.
	const isSaved = async () => {
		const isReached = await isSynced(context, memory);
		if (!isReached || memory.reply?.isConfirmed) return isReached;
		await sleep(SAVING_MS);
		return await isSynced(context, memory);
	};
	if (await Promise.race([isSaved(), sleep(LONGEST_PROBE_MS)])) return;
	const over = Promise.allSettled(starts.map(([, task]) => task)).then(() => sleep(2 * SAVING_MS));
	await Promise.race([over, sleep(LONGEST_CLOSING_MS)]);
}
