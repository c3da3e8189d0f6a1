import { sleep, type ITriggerFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { LeadGenError } from '../service/errors';
import { recordScrape, recordFailedStart } from './events';
import { cachedAccess, inBackground, type NodeMemory } from './memory';
import type { SyncReply } from './messages';
import { CONFIRM_MS } from './planner';
import { PROCESS } from './process';
import { startScrape } from './scrape';
import type { Store } from './store';
import { sync } from './sync';

type Context = ITriggerFunctions | IWebhookFunctions;

/** By default, n8n ends a stopping process after 30 seconds, even if requests are in flight. */
const LONGEST_CLOSING_MS = 15_000;
/** A server that answers at all answers within this time. */
const LONGEST_PROBE_MS = 3000;
/** If another node of the workflow is saving now, its save reaches the database within this time. */
const SAVING_MS = 500;
/** How long to wait until n8n is seen to have saved the outcome of a start. */
const LONGEST_SAVING_MS = 10_000;
const SAVE_AGAIN_MS = 1000;

/**
 * Sends a start if this process planned it and is not sending it yet, and if n8n is seen to have saved it. Otherwise
 * another process could send it again after a crash.
 * @param saved what n8n has saved
 * @param needs the data for the request
 * @param store of a request to the node that stays open meanwhile: while n8n stops, it accepts no new requests, but
 * this request can still save the answer of the service
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
		// An earlier try was reported as not sent, but had been sent.
		start.stage = 'failed';
		return;
	}
	// The filters may have changed since the start was planned.
	starts[attempt] = { ...start, at: Date.now(), filters: needs.plan.filters };
	inBackground(context, memory, attempt, sendStart(context, memory, attempt, needs, store));
}

/** Sends a start, and makes sure that n8n saves its outcome, even if the node is closed. */
async function sendStart(
	context: Context,
	memory: NodeMemory,
	attempt: string,
	{ start, plan }: Pick<SyncReply, 'start' | 'plan'>,
	store?: Store,
): Promise<void> {
	const send = async () => {
		if ('message' in start) throw new LeadGenError(start.message, start.advice);
		// Read the credential again: the same key must start the scrape and sign the URL.
		const { credential, signer } = await cachedAccess(context, memory, 0);
		const webhookUrl = signer.callbackUrl(plan.url, attempt);
		return { scrapeId: await startScrape(context, credential, { ...start.body, webhookUrl }) };
	};
	const result = await send().catch((error: unknown) => ({ error }));
	const { state } = memory;
	const now = Date.now();
	if ('error' in result) recordFailedStart(state, attempt, result.error, now);
	else recordScrape(state, attempt, result.scrapeId, now);
	const words = 'error' in result ? String(result.error) : `scrape ${result.scrapeId}`;
	context.logger.info(`LeadGen Trigger: start attempt ${attempt}: ${words}, in process ${PROCESS}`);
	if (await waitUntilSaved(context, memory)) return;
	// Write only if n8n no longer answers: otherwise this could overwrite what other nodes have saved since.
	await sleep(SAVING_MS);
	store?.save();
}

/**
 * Waits until n8n is seen to have saved the current state: another node of the workflow may undo the first save.
 * @returns whether n8n answers; if so, it saves the state that it receives
 */
async function waitUntilSaved(context: Context, memory: NodeMemory): Promise<boolean> {
	let isAnswered = false;
	let askedAt = Date.now();
	for (const end = askedAt + LONGEST_SAVING_MS; Date.now() < end;) {
		// n8n saved everything that was known when it deactivated the node.
		if (memory.isOff) return true;
		// The reconciler also syncs. If this process is stopping, another main process may answer.
		isAnswered = memory.syncedAt > askedAt || (await trySync(context, memory));
		if (isAnswered && memory.reply?.isConfirmed) break;
		askedAt = Math.max(askedAt, memory.syncedAt);
		await sleep(isAnswered ? CONFIRM_MS + SAVING_MS : SAVE_AGAIN_MS);
	}
	return isAnswered;
}

async function trySync(context: Context, memory: NodeMemory): Promise<boolean> {
	return await sync(context, memory).then(
		() => true,
		() => false,
	);
}

/** While n8n stops, waits for the starts in flight, so that their answers can be saved. */
export async function finishStarts(context: Context, memory: NodeMemory): Promise<void> {
	const starts = [...memory.inFlight].filter(([name]) => memory.state.starts[name] !== undefined);
	// After a deactivation, n8n keeps running.
	if (starts.length === 0 || memory.isOff) return;
	// If the own URL answers, n8n keeps running and this process only stops leading. The start then continues, and n8n 1
	// does not tolerate that closing takes long.
	const isSaved = async () => {
		const isReached = await trySync(context, memory);
		if (!isReached || memory.reply?.isConfirmed) return isReached;
		await sleep(SAVING_MS);
		return await trySync(context, memory);
	};
	if (await Promise.race([isSaved(), sleep(LONGEST_PROBE_MS)])) return;
	const over = Promise.allSettled(starts.map(([, task]) => task)).then(() => sleep(2 * SAVING_MS));
	await Promise.race([over, sleep(LONGEST_CLOSING_MS)]);
}
