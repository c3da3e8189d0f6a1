import { sleep, type ITriggerFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { LeadGenError } from '../service/errors';
import { started, startFailed } from './events';
import { accessTo, change, PROCESS, type NodeMemory } from './memory';
import { sendMessage } from './ownUrl';
import { startScrape } from './scrape';
import type { TriggerState } from './state';
import { sync, type SyncReply } from './sync';

type Context = ITriggerFunctions | IWebhookFunctions;
type Needs = NonNullable<SyncReply['start']>;

/** How often a process says that it still waits for the answer; less than `LEASE_MS` in events. */
const ALIVE_MS = 5000;
/** n8n ends the process after 30 seconds by default, whatever is under way. */
const LONGEST_CLOSING_MS = 15_000;
/** A server that answers does so in this time. */
const LONGEST_PROBE_MS = 3000;
/** n8n saves static data in this time. */
const SAVING_MS = 500;

/**
 * Sends a start that is saved as planned, and writes down what became of it, also if the node is closed.
 * @returns whether that could not be saved
 */
export async function sendStart(
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
	void keepOpen(context, memory, attempt).catch(() => {});
	const result = await send(context, memory, attempt, needs).catch((error: unknown) => ({ error }));
	isOver = true;
	const isUnsaved = await save((state) => {
		const now = Date.now();
		if ('error' in result) startFailed(state, attempt, result.error, now);
		else started(state, attempt, result.scrapeId, now);
	});
	const words = 'error' in result ? String(result.error) : `scrape ${result.scrapeId}`;
	context.logger.info(`LeadGen Trigger: start attempt ${attempt}: ${words}, in process ${PROCESS}`);
	return isUnsaved;
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
	const starts = [...memory.busy].filter(([name]) => memory.state?.starts[name] !== undefined);
	if (starts.length === 0) return;
	// n8n 1 does not bear that closing takes a moment, where it only stops leading.
	const isReached = sync(context, memory).then(
		() => true,
		() => false,
	);
	if (await Promise.race([isReached, sleep(LONGEST_PROBE_MS)])) return;
	const over = Promise.allSettled(starts.map(([, task]) => task)).then(() => sleep(SAVING_MS));
	await Promise.race([over, sleep(LONGEST_CLOSING_MS)]);
}

async function send(
	context: Context,
	memory: NodeMemory,
	attempt: string,
	needs: Needs,
): Promise<{ scrapeId: string }> {
	if ('message' in needs) throw new LeadGenError(needs.message, needs.advice);
	const { signer } = await accessTo(context, memory);
	const webhookUrl = signer.callbackUrl(needs.url, attempt);
	return { scrapeId: await startScrape(context, { ...needs.body, webhookUrl }) };
}
