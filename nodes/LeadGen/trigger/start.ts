import { sleep, type ITriggerFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { LeadGenError } from '../service/errors';
import { started, startFailed } from './events';
import { accessTo, change, PROCESS, type NodeMemory } from './memory';
import { sendMessage } from './ownUrl';
import { CONFIRM_MS } from './planner';
import { startScrape } from './scrape';
import type { TriggerState } from './state';
import type { Store } from './store';
import { sync, type SyncReply } from './sync';

type Context = ITriggerFunctions | IWebhookFunctions;

/** How often a process says that it still waits for the answer; less than `LEASE_MS` in events. */
const ALIVE_MS = 5000;
/** n8n ends the process after 30 seconds by default, whatever is under way. */
const LONGEST_CLOSING_MS = 15_000;
/** A server that answers does so in this time. */
const LONGEST_PROBE_MS = 3000;
/** What another node of the workflow saves at this moment is in the database in this time. */
const SAVING_MS = 500;
const MAX_CONFIRMS = 3;
const STOP_CHECK_MS = 100;

/**
 * Sends a start that is saved as planned, and writes down what became of it, also if the node is closed.
 * @returns whether that is seen to be saved
 */
export async function sendStart(
	context: Context,
	memory: NodeMemory,
	attempt: string,
	{ start, plan }: SyncReply,
): Promise<boolean> {
	const save = async (apply: (state: TriggerState) => void) => {
		change(memory, apply);
		await sync(context, memory).catch(() => {});
	};
	let isOver = false;
	const keepAlive = async () => {
		for (;;) {
			await sleep(ALIVE_MS);
			if (isOver) return;
			await save(({ starts }) => {
				const known = starts[attempt];
				if (known) known.at = Date.now();
			});
		}
	};
	void keepAlive();
	// Where it does not arrive, n8n may be stopping, and could not save the answer.
	if (!(await keepOpen(context, memory, attempt).catch(() => false))) {
		isOver = true;
		return false;
	}
	const send = async () => {
		if ('message' in start) throw new LeadGenError(start.message, start.advice);
		// The key that starts the scrape signs the URL, too.
		const { credential, signer } = await accessTo(context, memory, 0);
		const webhookUrl = signer.callbackUrl(plan.url, attempt);
		return { scrapeId: await startScrape(context, credential, { ...start.body, webhookUrl }) };
	};
	const result = await send().catch((error: unknown) => ({ error }));
	isOver = true;
	await save((state) => {
		const now = Date.now();
		if ('error' in result) startFailed(state, attempt, result.error, now);
		else started(state, attempt, result.scrapeId, now);
	});
	const words = 'error' in result ? String(result.error) : `scrape ${result.scrapeId}`;
	context.logger.info(`LeadGen Trigger: start attempt ${attempt}: ${words}, in process ${PROCESS}`);
	return await isConfirmed(context, memory);
}

/** Asks whether n8n has saved what it was given: another node of the workflow may have undone it meanwhile. */
async function isConfirmed(context: Context, memory: NodeMemory): Promise<boolean> {
	const { addresses } = memory;
	let reply: SyncReply | undefined;
	for (let tries = 0; tries < MAX_CONFIRMS; tries++) {
		const end = Date.now() + CONFIRM_MS;
		do await sleep(STOP_CHECK_MS);
		while (!memory.isStopping && Date.now() < end);
		// The node was deactivated, and n8n has saved all that was known then.
		if (addresses && !memory.addresses) return true;
		// Where n8n stops, another main process may answer.
		reply = await sync(context, memory).catch(() => undefined);
		if (reply?.isWritten === false) return true;
	}
	// Where n8n answers, it saves what it is given.
	return reply !== undefined;
}

/**
 * Calls the node's own URL, which answers when the start is over. n8n takes no new requests when it stops, but it
 * lets this one save the answer of the service.
 * @returns whether it arrived
 */
async function keepOpen(context: Context, memory: NodeMemory, attempt: string): Promise<boolean> {
	const { addresses = [], reply } = memory;
	// Another process goes on to answer.
	if (reply?.process !== PROCESS) return true;
	const { signer } = await accessTo(context, memory);
	const hasArrived = new Promise<boolean>((resolve) => {
		memory.keptOpen = () => {
			resolve(true);
		};
	});
	const isAnswered = sendMessage(context, addresses, signer, { keepOpen: attempt });
	return await Promise.race([hasArrived, isAnswered.then((answer) => answer !== undefined)]);
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
	memory.isStopping = true;
	const over = Promise.allSettled(starts.map(([, task]) => task)).then(() => sleep(2 * SAVING_MS));
	await Promise.race([over, sleep(LONGEST_CLOSING_MS)]);
}

/** Saves what became of a start in the request that was kept open for it, if n8n takes no other one. */
export async function saveAtStop(store: Store, attempt: string): Promise<void> {
	const { memory } = store;
	memory.keptOpen?.();
	const isSaved = await memory.busy.get(attempt);
	// Otherwise nothing is saved: other nodes may have saved static data meanwhile.
	if (isSaved !== false) return;
	await sleep(SAVING_MS);
	store.save();
}
