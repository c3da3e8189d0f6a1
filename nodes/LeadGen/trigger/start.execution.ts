import { instanceOf } from '../common/compatibility';
import { LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import { numberIn } from '../common/json';
import { anySignal, pause } from '../common/pause';
import { mayStartAgain } from '../service/retry';
import { Gate, type Delivery, type Passage } from './gate';
import type { Executing } from './node';
import {
	Ended,
	noticeOf,
	noticeText,
	NotReachedError,
	notStarted,
	START_AGAIN,
	unknownOutcome,
} from './notices';
import { postToSelf } from './ownUrl';
import { startBody, startScrape, type Turn } from './scrape';
import { isAskedFor, scrapeOf, type Message, type Saved, type Scrape } from './state';

/**
 * What an execution that starts a scrape begins with: the attempt, which starts one scrape at most, what was saved of the
 * activation when it began, and the production URL.
 */
export type Start = { attempt: string; activation: string; url: string };

/** How long a start that the service cannot take is tried again, and the pauses. Only what was not sent is sent again. */
const MAX_TRYING_MS = 15 * 60_000;
const [FIRST_TRY_PAUSE_MS, MAX_TRY_PAUSE_MS] = [5000, 60_000];
/** The pauses before the tries to save a start: n8n may be busy, or the process that takes requests away for a while. */
const SAVE_MS = [0, 1000, 1000, 1000, 1000];
const SAVE_IN_WORKER_MS = [
	...SAVE_MS,
	5000,
	10_000,
	20_000,
	40_000,
	80_000,
	160_000,
	320_000,
	640_000,
];

/**
 * Starts a scrape once, whatever n8n repeats. *Retry* starts it only if it is certain that the service did not.
 * @throws LeadGenError if no scrape was started, or if nobody knows
 */
export async function startOnce(node: Executing, begun: Delivery, start: Start): Promise<Ended> {
	const { attempt, activation } = start;
	const sent = await send(node, begun, start).catch(failed);
	if (sent === 'unwanted') {
		const text = 'The workflow was unpublished before this start was sent. Nothing was sent.';
		return new Ended(text, 'nothing sent', undefined);
	}
	// Without this URL, nothing can be saved. The leader begins the start of an activation again, if n8n stops now.
	if (sent instanceof NotReachedError) throw notStarted(sent);
	const scrapes = isStarted(sent) ? [sent.scrape] : [];
	const through = activation === attempt ? attempt : undefined;
	const { saved, problem } = await saveStart(node, { through, scrapes });
	if (sent instanceof LeadGenError) throw sent;
	const { scrapeId } = (isStarted(sent) ? sent.scrape : scrapeOf(saved, attempt)) ?? {};
	if (isStarted(sent))
		return new Ended(sent.text + problem, 'started', scrapeId, problem ? 'warning' : 'info');
	if (sent === 'again' && scrapeId === undefined)
		throw unknownOutcome(new Error('An earlier try of this start did not end'));
	const text = scrapeId
		? `This start ran before, and started scrape ${scrapeId}. Nothing was sent. When the scrape finishes, the workflow runs.`
		: `Another execution sends this start, or n8n stopped while it did, so this one sent nothing. If no scrape comes of it: ${START_AGAIN}`;
	return new Ended(text, 'nothing sent', scrapeId, scrapeId ? 'info' : 'warning');
}

type Started = { scrape: Scrape; text: string };
/** What became of a start: a scrape, an error, or why this execution sent nothing. */
type Sent = Started | LeadGenError | Passage | 'unwanted';

function isStarted(sent: Sent): sent is Started {
	return typeof sent === 'object' && 'scrape' in sent;
}

function failed(error: unknown): LeadGenError {
	if (error instanceof NotReachedError) return error;
	return isOutcomeUnknown(error) ? unknownOutcome(error) : notStarted(error);
}

function isOutcomeUnknown(error: unknown): boolean {
	return error instanceof ServiceError && error.outcome === 'unknown';
}

/**
 * Sends a start when the service takes it. While it waits, the gate is open for another try: n8n may stop, or the user may
 * stop the execution. @throws any error; the outcome of the start is unknown only if a ServiceError says so
 */
async function send(node: Executing, begun: Delivery, start: Start): Promise<Sent> {
	const { context, state } = node;
	const gate = new Gate(node, begun, `start ${start.attempt}`);
	const isRetry = context.getMode() === 'retry';
	const stopped = context.getExecutionCancelSignal();
	// They end a wait, but no request that was sent: its answer holds what was paid for.
	const closed = state.signal;
	const signal = anySignal(stopped, closed);
	const end = Date.now() + MAX_TRYING_MS;
	for (let pauseMs = FIRST_TRY_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_TRY_PAUSE_MS)) {
		let hasPassed = false as boolean;
		let why: Sent | undefined;
		const permit = async () => {
			const now = await postToSelf(node).catch(asLeadGenError);
			const passage = isAskedFor(now, start.activation, isRetry) ? await gate.pass() : 'unwanted';
			hasPassed = passage === 'first' || passage === 'unsure';
			if (hasPassed) return;
			why = passage;
			throw new NotAttemptedError('The start must not be sent', '');
		};
		const tried = await trySending(node, start, { permit, signal }).catch(
			(error: unknown) => error,
		);
		if (why !== undefined) return why;
		if (isStarted(tried as Sent)) return tried as Started;
		const isUnknown = isOutcomeUnknown(tried);
		if (hasPassed && !isUnknown) await gate.forget();
		if (closed.aborted && !isUnknown) return 'unwanted';
		const mayTryAgain = mayStartAgain(tried) || tried instanceof NotAttemptedError;
		if (!mayTryAgain || Date.now() + pauseMs > end) throw tried as Error;
		node.log('warn', `a start is tried again: ${String(tried)}`);
		// If the signal is aborted, the next try throws.
		await pause(pauseMs, signal).catch(() => {});
	}
}

/** @throws a LeadGenError, because only of such an error it is known that the start was not sent */
function asLeadGenError(error: unknown): never {
	const { message, advice } = noticeOf(error);
	throw error instanceof LeadGenError ? error : new LeadGenError(message, advice);
}

async function trySending(node: Executing, { attempt, url }: Start, turn: Turn): Promise<Started> {
	const body = startBody(node.parameters);
	// The same key must start the scrape and sign the URL, and the user may have changed it meanwhile.
	const { credential, signer } = await node.access(0);
	const given = { ...body, webhookUrl: signer.callbackUrl(url, attempt) };
	const { scrapeId, estimatedCredits } = await startScrape(node, credential, given, turn);
	const credits = numberIn(estimatedCredits);
	const cost = credits === undefined ? '' : ` It will use about ${String(credits)} credits.`;
	const text = `Scrape ${scrapeId} was started.${cost} When it finishes, the workflow runs in a separate execution, so this one has no output.`;
	return { scrape: { attempt, scrapeId, since: Date.now(), isDone: false }, text };
}

/** What is saved, and what the user must know if n8n did not save the start yet. */
type SavedStart = { saved: Saved; problem: string };

/** Has n8n save what became of the start. The scrape is polled from then on. */
async function saveStart(node: Executing, message: Message): Promise<SavedStart> {
	const { context, state } = node;
	// A worker does not know what other processes saved, so it must not write the static data: n8n would save an old copy.
	// Its execution lasts until the process that takes requests is back.
	const { isWorker: isAlone = false } = instanceOf(context);
	let problem = '';
	for (const ms of isAlone ? SAVE_IN_WORKER_MS : SAVE_MS) {
		await pause(ms, undefined);
		try {
			return { ...(await postToSelf(node, message)), problem: '' };
		} catch (error) {
			problem = ` ${noticeText(noticeOf(error))}`;
		}
	}
	// While n8n stops, it takes no requests, but saves what an execution writes. Otherwise the leader sends it later.
	if (!isAlone) state.write(node, message);
	return { saved: state.saved, problem };
}
