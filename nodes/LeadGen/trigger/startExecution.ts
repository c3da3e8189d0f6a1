import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { numberIn } from '../common/json';
import { pause } from '../common/pause';
import { NotAttemptedError, ServiceError } from '../common/errors';
import { mayConnectLater } from '../service/networkErrors';
import { isRateRefusal } from '../service/retry';
import { forget, pass, type Delivery } from './gate';
import { memoryOf } from './nodeMemory';
import { Ended, notStarted, textOf, unknownOutcome } from './notices';
import { tell } from './ownUrl';
import { leadsOf, scrapeOf, type RunningScrape } from './running';
import { parametersOf, startBody, startScrape } from './scrape';

/** An execution that starts a scrape. */
export interface Start extends Delivery {
	/** Identifies the start. It is signed into the callback URL, and starts at most one scrape. */
	attempt: string;
	/** The production URL of the node, as the outside sees it. */
	url: string;
	/** Where the node reaches itself. */
	addresses: string[];
}

/** How long a start that the service cannot take is tried again. Only what was not sent is sent again. */
const PATIENCE_MS = 15 * 60_000;
const FIRST_PAUSE_MS = 5000;
const MAX_PAUSE_MS = 60_000;
/** n8n may be busy, or stopping. */
const SAVE_TRIES = 5;
const SAVE_PAUSE_MS = 1000;

/**
 * Starts a scrape once, whatever n8n repeats. A retry by the user starts it only if it is certain that the service did
 * not.
 * @throws LeadGenError if no scrape was started, or if nobody knows
 */
export async function start(context: IExecuteFunctions, wanted: Start): Promise<Ended> {
	const key = `start ${wanted.attempt}`;
	const passage = await pass(context, key, wanted);
	if (passage === 'unknown') throw notStarted(new Error('n8n could not record the start'));
	if (passage !== 'first') return await repeated(context, wanted, passage === 'again');
	const answer = await send(context, wanted).catch(async (error: unknown) => {
		const isUnknown = error instanceof ServiceError && error.outcome === 'unknown';
		if (!isUnknown) await forget(context, key, wanted);
		await through(context, wanted);
		throw isUnknown ? unknownOutcome(error) : notStarted(error);
	});
	const { scrapeId, estimatedCredits } = answer;
	const problem = await save(context, wanted, {
		attempt: wanted.attempt,
		scrapeId,
		since: Date.now(),
	});
	const credits = numberIn(estimatedCredits);
	const cost = credits === undefined ? '' : ` It will use about ${String(credits)} credits.`;
	return new Ended(
		`Scrape ${scrapeId} was started.${cost} When it finishes, its completion runs the workflow in an execution of its own.${problem}`,
		problem === '' ? 'info' : 'warning',
	);
}

/** A start that ran before. @param isRetry whether this is the same execution, which failed */
async function repeated(
	context: IExecuteFunctions,
	wanted: Start,
	isRetry: boolean,
): Promise<Ended> {
	const { attempt, addresses } = wanted;
	const { saved } = await tell(context, addresses);
	const scrape = scrapeOf(saved, attempt);
	if (scrape) {
		return new Ended(
			`This start ran before, and started scrape ${scrape.scrapeId}. Nothing was sent. When the scrape finishes, its completion runs the workflow.`,
		);
	}
	if (leadsOf(saved, attempt) !== undefined) {
		return new Ended('This start ran before, and its scrape is finished. Nothing was sent.');
	}
	if (isRetry) throw unknownOutcome(new Error('An earlier try of this start did not end'));
	await through(context, wanted);
	return new Ended(
		'n8n asked for the same start twice. The other execution starts the scrape, so this one sent nothing. If the other one failed, unpublish the workflow and publish it again (n8n 1: deactivate and activate it) to start a scrape.',
		'warning',
	);
}

/** A restart need not ask for the start again. */
async function through(context: IExecuteFunctions, { attempt, addresses }: Start): Promise<void> {
	await tell(context, addresses, { failed: attempt }).catch(() => {});
}

async function send(context: IExecuteFunctions, { attempt, url }: Start) {
	const body = startBody(parametersOf(context));
	const signal = context.getExecutionCancelSignal();
	const end = Date.now() + PATIENCE_MS;
	for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
		// The same key must start the scrape and sign the URL, and the user may have changed it meanwhile.
		const { credential, signer } = await memoryOf(context).accessOf(context);
		const webhookUrl = signer.callbackUrl(url, attempt);
		const tried = startScrape(context, credential, { ...body, webhookUrl }, signal);
		const answer = await tried.catch((error: unknown) => {
			if (!mayPass(error) || Date.now() + pauseMs > end) throw error;
			context.logger.warn(`LeadGen Trigger: a start is tried again: ${String(error)}`);
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
async function save(
	context: IExecuteFunctions,
	{ addresses }: Start,
	started: RunningScrape,
): Promise<string> {
	for (let tries = 1; ; tries++) {
		try {
			// The start has just read the credential, and a crash before this is saved may lose the completion.
			await tell(context, addresses, { started }, Infinity);
			return '';
		} catch (error) {
			if (tries === SAVE_TRIES) {
				keep(context, started);
				void saveLater(context, addresses, started);
				const { message, advice } = textOf(error);
				return ` ${message}. ${advice}`;
			}
			await pause(SAVE_PAUSE_MS, undefined);
		}
	}
}

/** In queue mode, the process that takes requests may be away, and another execution may overwrite what this one writes. */
async function saveLater(
	context: IExecuteFunctions,
	addresses: string[],
	started: RunningScrape,
): Promise<void> {
	let isSaved = false;
	for (let pauseMs = 5000; !isSaved && pauseMs < PATIENCE_MS; pauseMs *= 2) {
		await sleep(pauseMs);
		isSaved = await tell(context, addresses, { started }, Infinity).then(
			() => true,
			() => false,
		);
	}
}

/**
 * While n8n stops, it takes no requests, but saves what an execution writes. Otherwise an execution must not write: n8n
 * saves the whole static data as it was when the execution began.
 */
function keep(context: IExecuteFunctions, started: RunningScrape): void {
	const memory = memoryOf(context);
	const staticData = context.getWorkflowStaticData('global');
	memory.read(staticData);
	memory.write(staticData, { started });
	memory.leader?.follow();
}
