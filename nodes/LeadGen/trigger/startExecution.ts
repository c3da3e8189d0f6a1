import { sleep } from 'n8n-workflow';
import { isWorker } from '../common/compatibility';
import { NotAttemptedError, ServiceError, type LeadGenError } from '../common/errors';
import { numberIn } from '../common/json';
import { pause } from '../common/pause';
import { mayStartAgain } from '../service/retry';
import { Gate, type Delivery } from './gate';
import type { Executing } from './node';
import { Ended, inWords, noticeOf, notStarted, START_AGAIN, unknownOutcome } from './notices';
import { postToSelf } from './ownUrl';
import { scrapeOf, type Message, type Saved, type Scrape } from './saved';
import { startBody, startScrape } from './scrape';

/** What an execution that starts a scrape begins with: the attempt, which starts one scrape at most, and the production URL. */
export type Start = { attempt: string; url: string };

/** How long a start that the service cannot take is tried again, and the pauses. Only what was not sent is sent again. */
const PATIENCE_MS = 15 * 60_000;
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [5000, 60_000];
/** The pauses before the tries to save a start: n8n may be busy, or the process that takes requests away for a while. */
const SAVE_MS = [0, 1000, 1000, 1000, 1000];
const SAVE_LATER_MS = Array.from({ length: 8 }, (_, tries) => 5000 * 2 ** tries);

/**
 * Starts a scrape once, whatever n8n repeats. *Retry* starts it only if it is certain that the service did not.
 * @throws LeadGenError if no scrape was started, or if nobody knows
 */
export async function start(node: Executing, begun: Delivery, wanted: Start): Promise<Ended> {
	const { attempt } = wanted;
	const gate = new Gate(node, begun, `start ${attempt}`);
	const passage = await gate.pass().catch((error: unknown) => {
		throw notStarted(error);
	});
	const isFirst = passage === 'first' || passage === 'unsure';
	const sent = isFirst ? await send(node, wanted).catch(failed) : {};
	if (sent.mayRetry) await gate.forget();
	const scrapes = sent.scrape ? [sent.scrape] : [];
	const { saved, problem } = await save(node, { through: attempt, scrapes });
	if (sent.error) throw sent.error;
	const { scrapeId } = sent.scrape ?? scrapeOf(saved, attempt) ?? {};
	if (passage === 'again' && scrapeId === undefined)
		throw unknownOutcome(new Error('An earlier try of this start did not end'));
	const before = scrapeId
		? `This start ran before, and started scrape ${scrapeId}. Nothing was sent. When the scrape finishes, the workflow runs.`
		: `n8n asked for the same start twice. The other execution starts the scrape, so this one sent nothing. If the other one failed: ${START_AGAIN}`;
	const type = scrapeId && problem === '' ? 'info' : 'warning';
	const event = isFirst ? 'started' : 'nothing sent';
	return new Ended((sent.text ?? before) + problem, event, scrapeId, type);
}

/** What became of a start: its scrape and a text for the user, or the error, and whether a retry may send it. */
type Sent = { scrape?: Scrape; text?: string; error?: LeadGenError; mayRetry?: boolean };

function failed(error: unknown): Sent {
	const isUnknown = error instanceof ServiceError && error.outcome === 'unknown';
	return { error: isUnknown ? unknownOutcome(error) : notStarted(error), mayRetry: !isUnknown };
}

/** @throws any error; the outcome of the start is unknown only if a ServiceError says so */
async function send(node: Executing, { attempt, url }: Start): Promise<Sent> {
	const end = Date.now() + PATIENCE_MS;
	for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
		const body = startBody(node.parameters);
		// The same key must start the scrape and sign the URL, and the user may have changed it meanwhile.
		const { credential, signer } = await node.access(0);
		const webhookUrl = signer.callbackUrl(url, attempt);
		// Stop ends a wait, but no request that was sent: its answer holds what was paid for.
		const signal = node.context.getExecutionCancelSignal();
		const tried = startScrape(node, credential, { ...body, webhookUrl }, signal);
		const answer = await tried.catch((error: unknown) => {
			const mayRetry = mayStartAgain(error) || error instanceof NotAttemptedError;
			if (!mayRetry || Date.now() + pauseMs > end) throw error;
			node.log('warn', `a start is tried again: ${String(error)}`);
		});
		if (answer) {
			const { scrapeId, estimatedCredits } = answer;
			const credits = numberIn(estimatedCredits);
			const cost = credits === undefined ? '' : ` It will use about ${String(credits)} credits.`;
			const text = `Scrape ${scrapeId} was started.${cost} When it finishes, the workflow runs in a separate execution.`;
			return { scrape: { attempt, scrapeId, since: Date.now(), isDone: false }, text };
		}
		await pause(pauseMs, signal);
	}
}

/** What is saved, and what the user must know if n8n did not save the start yet. */
type Saving = { saved: Saved; problem: string };

/** Has n8n save what became of the start. The scrape is polled from then on. */
async function save(node: Executing, message: Message, pauses = SAVE_MS): Promise<Saving> {
	let problem = '';
	for (const ms of pauses) {
		await sleep(ms);
		try {
			return { ...(await postToSelf(node, message)), problem: '' };
		} catch (error) {
			problem = ` ${inWords(noticeOf(error))}`;
		}
	}
	if (pauses === SAVE_LATER_MS) return { saved: node.memory.saved, problem };
	const later = save(node, message, SAVE_LATER_MS);
	// A worker does not know what other processes saved, so it must not write the static data: n8n would save an old copy.
	// Its execution lasts until the process that takes requests is back.
	if (isWorker(node.context)) return await later;
	// While n8n stops, it takes no requests, but saves what an execution writes.
	node.read();
	node.write(message);
	return { saved: node.memory.saved, problem };
}
