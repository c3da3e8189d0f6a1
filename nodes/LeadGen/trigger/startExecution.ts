import { sleep } from 'n8n-workflow';
import { isWorker } from '../common/compatibility';
import { numberIn } from '../common/json';
import { pause } from '../common/pause';
import { NotAttemptedError, ServiceError } from '../common/errors';
import { mayConnectLater } from '../service/networkErrors';
import { isRateRefusal } from '../service/retry';
import type { Gate } from './gate';
import type { Executing } from './node';
import { Ended, notStarted, textOf, unknownOutcome, type NoticeText } from './notices';
import { tell } from './ownUrl';
import { scrapeIdOf, type RunningScrape } from './running';
import { startBody, startScrape } from './scrape';

/** What an execution that starts a scrape begins with. */
export interface Start {
	/** Identifies the start. It is signed into the callback URL, and starts at most one scrape. */
	attempt: string;
	/** The production URL, as the service sees it. */
	url: string;
}

/** How long a start that the service cannot take is tried again. Only what was not sent is sent again. */
const PATIENCE_MS = 15 * 60_000;
const FIRST_PAUSE_MS = 5000;
const MAX_PAUSE_MS = 60_000;
/** The pauses before the tries to save a start: n8n may be busy, or stopping. */
const SAVE_MS = [0, 1000, 1000, 1000, 1000];
/** In queue mode, the process that takes requests may be away for longer. */
const SAVE_LATER_MS = Array.from({ length: 8 }, (_, tries) => 5000 * 2 ** tries);

/**
 * Starts a scrape once, whatever n8n repeats. A retry by the user starts it only if it is certain that the service did
 * not.
 * @throws LeadGenError if no scrape was started, or if nobody knows
 */
export async function start(node: Executing, gate: Gate, wanted: Start): Promise<Ended> {
	const { attempt } = wanted;
	const key = `start ${attempt}`;
	const passage = await gate.pass(key);
	if (passage === 'unknown') throw notStarted(new Error('n8n could not record the start'));
	if (passage === 'again' || passage === 'another') {
		return await repeated(node, attempt, passage === 'again');
	}
	const answer = await send(node, wanted).catch(async (error: unknown) => {
		const isUnknown = error instanceof ServiceError && error.outcome === 'unknown';
		if (!isUnknown) await gate.forget(key);
		await through(node, attempt);
		throw isUnknown ? unknownOutcome(error) : notStarted(error);
	});
	const { scrapeId, estimatedCredits } = answer;
	const started = { attempt, scrapeId, since: Date.now() };
	// A worker of queue mode does not know what other processes saved, so it must not write the static data: n8n would save
	// an old copy. Its execution lasts until the process that takes requests is back.
	const isOnWorker = isWorker(node.context);
	const pauses = isOnWorker ? [...SAVE_MS, ...SAVE_LATER_MS] : SAVE_MS;
	const problem = await save(node, started, pauses);
	if (problem !== '' && !isOnWorker) {
		// While n8n stops, it takes no requests, but saves what an execution writes.
		node.read();
		node.write({ started });
		void save(node, started, SAVE_LATER_MS);
	}
	const credits = numberIn(estimatedCredits);
	const cost = credits === undefined ? '' : ` It will use about ${String(credits)} credits.`;
	return new Ended(
		`Scrape ${scrapeId} was started.${cost} When it finishes, its completion runs the workflow in an execution of its own.${problem}`,
		problem === '' ? 'info' : 'warning',
	);
}

/** A start that ran before. @param isRetry whether this is the same execution, which failed */
async function repeated(node: Executing, attempt: string, isRetry: boolean): Promise<Ended> {
	const { saved } = await tell(node);
	const scrapeId = scrapeIdOf(saved, attempt);
	if (scrapeId !== undefined) {
		return new Ended(
			`This start ran before, and started scrape ${scrapeId}. Nothing was sent. If its completion did not run the workflow yet, it does so when the scrape finishes.`,
		);
	}
	if (isRetry) throw unknownOutcome(new Error('An earlier try of this start did not end'));
	await through(node, attempt);
	return new Ended(
		'n8n asked for the same start twice. The other execution starts the scrape, so this one sent nothing. If the other one failed, unpublish the workflow and publish it again (n8n 1: deactivate and activate it) to start a scrape.',
		'warning',
	);
}

/** A restart need not ask for the start again. */
async function through(node: Executing, attempt: string): Promise<void> {
	await tell(node, { failed: attempt }).catch(() => {});
}

async function send(node: Executing, { attempt, url }: Start) {
	const body = startBody(node.parameters);
	const signal = node.context.getExecutionCancelSignal();
	const end = Date.now() + PATIENCE_MS;
	for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
		// The same key must start the scrape and sign the URL, and the user may have changed it meanwhile.
		const { credential, signer } = await node.access();
		const webhookUrl = signer.callbackUrl(url, attempt);
		const tried = startScrape(node, credential, { ...body, webhookUrl }, signal);
		const answer = await tried.catch((error: unknown) => {
			if (!mayPass(error) || Date.now() + pauseMs > end) throw error;
			node.log('warn', `a start is tried again: ${String(error)}`);
		});
		if (answer) return answer;
		await pause(pauseMs, signal);
	}
}

/** Whether the start was certainly not sent, or refused only for its rate. */
function mayPass(error: unknown): boolean {
	if (error instanceof NotAttemptedError) return true;
	return error instanceof ServiceError && (mayConnectLater(error) || isRateRefusal(error));
}

/**
 * Has n8n save the scrape, so that its completion arrives also without a notification.
 * @returns what the user must know; empty if it is saved
 */
async function save(node: Executing, started: RunningScrape, pauses: number[]): Promise<string> {
	let problem: NoticeText = { message: '', advice: '' };
	for (const ms of pauses) {
		await sleep(ms);
		try {
			// The start has just read the credential, and a crash before this is saved may lose the completion.
			await tell(node, { started }, Infinity);
			return '';
		} catch (error) {
			problem = textOf(error);
		}
	}
	return ` ${problem.message}. ${problem.advice}`;
}
