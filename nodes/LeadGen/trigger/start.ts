import { sleep, type ITriggerFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { LeadGenError, ServiceError } from '../service/errors';
import { started } from './events';
import { accessTo, change, PROCESS, type NodeMemory } from './memory';
import { notStarted, unknownOutcome, type NoticeText } from './notices';
import { sendMessage } from './ownUrl';
import { startScrape } from './scrape';
import { addNotice, type Start, type TriggerState } from './state';
import { sync, type SyncReply } from './sync';

type Context = ITriggerFunctions | IWebhookFunctions;
type Needs = NonNullable<SyncReply['start']>;
type Result =
	| { scrapeId: string }
	| { stage: Exclude<Start['stage'], 'planned' | 'started'>; notice?: NoticeText };

/** How often a process says that it still waits for the answer; less than the planner's lease. */
const ALIVE_MS = 5000;
/** n8n ends the process after 30 seconds by default, whatever is under way. */
const LONGEST_CLOSING_MS = 15_000;
/** A server that answers does so in this time. */
const LONGEST_PROBE_MS = 3000;
/** n8n saves static data in this time. */
const SAVING_MS = 500;
const FIRST_RETRY_MS = 15_000;
const SLOWEST_RETRY_MS = 10 * 60_000;

/** Sends a start that is saved as planned, and writes down what became of it, also if the node is closed. */
export async function sendStart(
	context: Context,
	memory: NodeMemory,
	attempt: string,
	needs: Needs,
): Promise<void> {
	const isUnsaved = trySend(context, memory, attempt, needs);
	memory.starting.set(attempt, isUnsaved);
	const saving = keepOpen(context, memory, attempt).catch(() => {});
	try {
		if (await isUnsaved) await saving;
	} finally {
		memory.starting.delete(attempt);
	}
}

/** @returns whether the answer could not be saved */
async function trySend(
	context: Context,
	memory: NodeMemory,
	attempt: string,
	needs: Needs,
): Promise<boolean> {
	const save = async (apply: (state: TriggerState) => void) => {
		change(memory, apply);
		return await sync(context, memory).then(
			() => false,
			() => true,
		);
	};
	let isOver = false;
	const keepAlive = async () => {
		for (;;) {
			await sleep(ALIVE_MS);
			if (isOver) return;
			await save(({ starts }) => {
				const start = starts[attempt];
				if (start) start.at = Date.now();
			});
		}
	};
	void keepAlive();
	const result = await send(context, memory, attempt, needs);
	isOver = true;
	const words = 'scrapeId' in result ? `scrape ${result.scrapeId}` : result.stage;
	context.logger.info(`LeadGen Trigger: start attempt ${attempt}: ${words}, in process ${PROCESS}`);
	return await save((state) => {
		apply(state, attempt, result, Date.now());
	});
}

/**
 * Calls the node's own URL, which answers when the start is over. n8n takes no new requests when it stops, but it
 * lets this one save the answer of the service.
 */
async function keepOpen(context: Context, memory: NodeMemory, attempt: string): Promise<void> {
	const { access, addresses = [], reply } = memory;
	// Another process goes on to answer.
	if (reply?.process !== PROCESS) return;
	if (access) await sendMessage(context, addresses, access.signer, { keepOpen: attempt });
}

/** Waits for the starts under way where n8n stops, so that their answers can be saved. */
export async function finishStarts(context: Context, memory: NodeMemory): Promise<void> {
	if (memory.starting.size === 0) return;
	// n8n 1 does not bear that closing takes a moment, where it only stops leading.
	const isReached = sync(context, memory).then(
		() => true,
		() => false,
	);
	if (await Promise.race([isReached, sleep(LONGEST_PROBE_MS)])) return;
	const over = Promise.all(memory.starting.values()).then(() => sleep(SAVING_MS));
	await Promise.race([over, sleep(LONGEST_CLOSING_MS)]);
}

async function send(
	context: Context,
	memory: NodeMemory,
	attempt: string,
	needs: Needs,
): Promise<Result> {
	if ('message' in needs)
		return { stage: 'failed', notice: notStarted(needs.message, needs.advice) };
	try {
		const { signer } = await accessTo(context, memory);
		const webhookUrl = signer.callbackUrl(needs.url, attempt);
		const scrapeId = await startScrape(context, { ...needs.body, webhookUrl }, attempt);
		if (scrapeId !== undefined) return { scrapeId };
		const why = 'The service answered without the ID of the scrape';
		return { stage: 'unknown', notice: unknownOutcome(why, attempt) };
	} catch (error) {
		return failed(error, attempt);
	}
}

function failed(error: unknown, attempt: string): Result {
	const { outcome, code } = error instanceof ServiceError ? error : {};
	if (outcome === 'notSent' || code === 'RATE_LIMIT_EXCEEDED') return { stage: 'notSent' };
	const message = error instanceof Error ? error.message : String(error);
	if (outcome === 'unknown') {
		return { stage: 'unknown', notice: unknownOutcome(message, attempt) };
	}
	const advice = error instanceof LeadGenError ? error.advice : '';
	return { stage: 'failed', notice: notStarted(message, advice) };
}

function apply(state: TriggerState, attempt: string, result: Result, now: number): void {
	const start = state.starts[attempt];
	if ('scrapeId' in result) started(state, attempt, result.scrapeId, now);
	else if (start) {
		const { stage, notice } = result;
		const delay = Math.min(SLOWEST_RETRY_MS, FIRST_RETRY_MS * 2 ** start.tries);
		state.starts[attempt] = {
			...start,
			stage,
			...(stage === 'notSent' && { retryAt: now + delay }),
		};
		if (notice) addNotice(state, `start ${attempt}`, notice, now);
	}
}
