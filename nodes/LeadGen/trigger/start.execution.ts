import { instanceOf } from '../common/compatibility';
import { LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import { numberIn } from '../common/json';
import { anySignal, pause } from '../common/pause';
import { MINUTE_MS } from '../service/limits/policy';
import { mayStartAgain } from '../service/retry';
import { Gate, type Delivery, type Passage } from './gate';
import type { Executing } from './node';
import {
	asLeadGenError,
	errorText,
	notStarted,
	START_AGAIN,
	unknownOutcome,
	type Ended,
} from './notices';
import { postToSelf, tellSelf } from './ownUrl';
import { startBody, startScrape, type Turn } from './scrape';
import { scrapeOf, type Message, type Scrape } from './state';

/**
 * What an execution that starts a scrape begins with: the attempt, which starts one scrape at most, what was saved of
 * the activation when it began, and the production URL.
 */
export type Start = { attempt: string; activation: string; url: string };

/**
 * How long a start that the service cannot take is tried again, and the pauses. Only what was not sent is sent again.
 */
const MAX_TRYING_MS = 15 * MINUTE_MS;
const [FIRST_TRY_PAUSE_MS, MAX_TRY_PAUSE_MS] = [5000, MINUTE_MS];
/** The own URL may be away for so long, for example while n8n starts. After that, a start would only hold a slot. */
const MAX_UNREACHED_MS = 2 * MINUTE_MS;
/**
 * The pauses before a start is saved again, each twice as long: n8n may be busy, or the process that takes requests
 * away.
 */
const [FIRST_SAVE_PAUSE_MS, MAX_SAVE_PAUSE_MS, MAX_SAVE_PAUSE_IN_WORKER_MS] = [500, 2000, 512_000];

/** How long a save may take, and the pauses between looks. */
const [MAX_SAVING_MS, SAVING_LOOK_MS] = [30_000, 250];

/** An execution sends nothing: the gate says so, or the user does not want the start any more. */
class Unsent extends NotAttemptedError {
	constructor(readonly why: Exclude<Passage, 'first' | 'unsure'> | 'unwanted') {
		super('The start must not be sent', '');
	}
}

/**
 * Starts a scrape once, whatever n8n repeats. *Retry* starts it only if it is certain that the service did not.
 * @throws LeadGenError if no scrape was started, or if nobody knows
 */
export async function startOnce(node: Executing, begun: Delivery, start: Start): Promise<Ended> {
	const { attempt } = start;
	const through = attempt;
	const sent = await send(node, begun, start).catch(async (error: unknown) => {
		await tellSelf(node, { through });
		node.context.getContext('node').hasFailed = true;
		throw isOutcomeUnknown(error) ? unknownOutcome(error) : notStarted(error);
	});
	if (sent === 'unwanted' && node.context.getMode() === 'retry') {
		const problem = 'the workflow is not active';
		if (attempt !== start.activation)
			throw notStarted(new NotAttemptedError(problem, 'Publish it.'));
		throw new LeadGenError(
			`No scrape was started: ${problem}`,
			'Publish it, which starts a scrape.',
		);
	}
	if (sent === 'unwanted') {
		const text = 'The workflow was unpublished before this start was sent. Nothing was sent.';
		return { message: text, event: 'nothing sent' };
	}
	if (typeof sent === 'object') {
		const { scrape, text } = sent;
		const problem = await saveStart(node, { through, scrapes: [scrape] });
		const type = problem === '' ? 'info' : 'warning';
		return { message: text + problem, event: 'started', scrapeId: scrape.scrapeId, type };
	}
	// If another execution sends it, that one tells its end.
	const message = sent === 'again' ? { through } : {};
	const { saved } = await postToSelf(node, message).catch(() => node.state);
	const { scrapeId } = scrapeOf(saved, attempt) ?? {};
	if (sent === 'again' && scrapeId === undefined)
		throw unknownOutcome(new Error('An earlier try of this start did not end'));
	const text = scrapeId
		? `This start ran before, and started scrape ${scrapeId}. Nothing was sent. When the scrape finishes, the workflow runs.`
		: `Another execution sends this start, or n8n stopped while it did, so this one sent nothing. If no scrape comes of it: ${START_AGAIN}`;
	const type = scrapeId ? 'info' : 'warning';
	return { message: text, event: 'nothing sent', scrapeId, type };
}

function isOutcomeUnknown(error: unknown): boolean {
	return error instanceof ServiceError && error.outcome === 'unknown';
}

/**
 * Sends a start when the service takes it. While it waits, the gate is open for another try: n8n may stop, or the user
 * may stop the execution. @throws any error; the outcome of the start is unknown only if a ServiceError says so
 */
async function send(node: Executing, begun: Delivery, start: Start) {
	const { context, state } = node;
	const gate = new Gate(node, begun, `start ${start.attempt}`);
	const isRetry = context.getMode() === 'retry';
	// "Retry On Fail" runs the execution again, whose start is through by its own failure.
	const hasFailed = context.getContext('node').hasFailed === true;
	const permit = async () => {
		const { saved, isActive } = await postToSelf(node).catch((error: unknown) => {
			const { message, advice } = asLeadGenError(error);
			throw new NotAttemptedError(message, advice);
		});
		const { activation } = saved;
		// Another activation is a new wish.
		const isSame = activation === start.activation || (hasFailed && activation === '');
		// Another node may have saved an old copy without it. The leader then says it again.
		if (isActive && !isRetry && activation === undefined)
			throw new NotAttemptedError('n8n does not know that this node was activated', '');
		if (!isActive || !(isRetry || isSame)) throw new Unsent('unwanted');
		const passage = await gate.pass();
		if (passage === 'again' || passage === 'another') throw new Unsent(passage);
	};
	// They end a wait, but no request that was sent: its answer holds what was paid for.
	let closed = state.signal;
	const end = Date.now() + MAX_TRYING_MS;
	for (let pauseMs = FIRST_TRY_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_TRY_PAUSE_MS)) {
		const signal = anySignal(context.getExecutionCancelSignal(), closed);
		const sending = sendNow(node, start, { permit, signal });
		const tried = await sending.catch((error: unknown) => ({ error: error as Error }));
		if (!('error' in tried)) return tried;
		const { error } = tried;
		if (isOutcomeUnknown(error)) throw error;
		await gate.reopen();
		if (error instanceof Unsent) return error.why;
		if (closed.aborted) {
			// A save begins the start of an activation anew, but no other one, and none that is being sent.
			const isBegunAnew = start.attempt === start.activation && !(error instanceof ServiceError);
			if (isBegunAnew || !(await isOpenAgain(node))) return 'unwanted';
			closed = state.signal;
			continue;
		}
		const mayTryAgain = mayStartAgain(error) || error instanceof NotAttemptedError;
		const isUnreached = Date.now() - (state.unreachedSince ?? Infinity) >= MAX_UNREACHED_MS;
		if (!mayTryAgain || isUnreached || Date.now() + pauseMs > end) throw error;
		node.log('warn', `a start is tried again: ${String(error)}`);
		// If the signal is aborted, the next try throws.
		await pause(pauseMs, signal).catch(() => {});
	}
}

/** n8n deactivates the node for a save, too, and activates it again. */
async function isOpenAgain({ context, state }: Executing): Promise<boolean> {
	const isOpen = () => !state.signal.aborted;
	for (let left = MAX_SAVING_MS / SAVING_LOOK_MS; left > 0 && !isOpen(); left--)
		await pause(SAVING_LOOK_MS, context.getExecutionCancelSignal());
	return isOpen();
}

async function sendNow(node: Executing, { attempt, url }: Start, turn: Turn) {
	const body = startBody(node.parameters);
	// The same key must start the scrape and sign the URL, and the user may have changed it meanwhile.
	const { credential, signer } = await node.access(0);
	const given = { ...body, webhookUrl: signer.callbackUrl(url, attempt) };
	const { scrapeId, estimatedCredits } = await startScrape(node, credential, given, turn);
	const credits = numberIn(estimatedCredits);
	const cost = credits === undefined ? '' : ` It will use about ${String(credits)} credits.`;
	const text = `Scrape ${scrapeId} was started.${cost} When it finishes, the workflow runs in a separate execution, so this one has no output.`;
	const scrape: Scrape = { attempt, scrapeId, since: Date.now(), isDone: false };
	return { scrape, text };
}

/**
 * Has n8n save a start, so that its scrape is polled. @returns what the user must know if n8n did not save it yet, or
 * empty text
 */
async function saveStart(node: Executing, message: Message): Promise<string> {
	// A worker does not know what other processes saved, so it must not write the static data: n8n would save an old copy.
	const { isWorker: isAlone = false } = instanceOf(node.context);
	const maxPauseMs = isAlone ? MAX_SAVE_PAUSE_IN_WORKER_MS : MAX_SAVE_PAUSE_MS;
	for (let pauseMs = FIRST_SAVE_PAUSE_MS; ; pauseMs *= 2) {
		try {
			await postToSelf(node, message);
			return '';
		} catch (error) {
			if (pauseMs <= maxPauseMs) await pause(pauseMs, undefined);
			else {
				// While n8n stops, it takes no requests, but saves what an execution writes.
				if (!isAlone) node.state.write(node, message);
				return ` ${errorText(error)}`;
			}
		}
	}
}
