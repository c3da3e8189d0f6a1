import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { wordIn } from '../json';
import { show } from '../parameters';
import { pause } from '../pause';
import { baseUrlOf } from '../service/http';
import { LeadGenError } from '../service/errors';
import { pass, type Delivery } from './gate';
import { outputItems } from './output';
import { memoryOf, type Access } from './memory';
import { Ended, isRefused } from './notices';
import { tell } from './ownUrl';
import { events } from './properties';
import { leadsOf, scrapeIdOf, type Change } from './running';
import { findScrape, parametersOf, type FoundScrape } from './scrape';
import { fingerprint } from './signature';

/** An execution that runs the workflow for a finished scrape. */
export interface Completion extends Delivery {
	/** The attempt that started the scrape, if the node started it. */
	attempt?: string;
	/** Missing if the answer to the start has not come yet. */
	scrapeId?: string;
	/** IDs that the notification names, if that answer never comes. */
	named?: string[];
	/** `null` if a poll saw that the scrape is finished. */
	notification: IDataObject | null;
	/** What identifies the leads of the notification; empty if it has none. */
	leads: string;
	/** Where the node reaches itself. */
	addresses: string[];
}

/** The status may lag behind the notification, and a notification may come before the end. */
const MAX_WAIT_MS = 10 * 60_000;
const PAUSE_MS = 3000;
/**
 * Of several deliveries for a scrape, the best one runs the workflow: each waits for those that may be better. A step is
 * longer than the pause between two looks at the status.
 */
const STEP_MS = PAUSE_MS + 1000;
/** How long a poll leaves the notification the precedence. */
export const POLL_WAIT_MS = 3 * STEP_MS;
/** A workflow does not wait longer until n8n has saved that it ran. */
const MAX_SAVE_MS = 5000;

/**
 * Waits until the scrape is finished, and lets one delivery of it through.
 * @throws LeadGenError if its status cannot be had in time
 */
export async function complete(
	context: IExecuteFunctions,
	completion: Completion,
): Promise<INodeExecutionData[] | Ended> {
	const { notification, leads } = completion;
	const memory = memoryOf(context);
	const { scrape, isEarly } = await untilFinished(context, completion);
	if (!scrape.isFinished) return notFinished(completion, scrape);
	if (isEarly)
		await pause(leads === '' ? 2 * STEP_MS : STEP_MS, context.getExecutionCancelSignal());
	const access = await memory.accessOf(context);
	const { id, data } = scrape;
	// Another account may use the same scrape ID.
	const { credential } = access;
	const key = `completion ${fingerprint([baseUrlOf(credential), credential.apiKey, id])}`;
	const passage = await pass(context, key, completion);
	if (passage === 'another') {
		const ended = await another(context, completion, access, id);
		if (ended) return ended;
	}
	await saveDone(context, completion, access, id);
	const parameters = parametersOf(context);
	const status = wordIn(data.status) ?? '';
	if (!parameters.get(events).some((event) => event === status)) {
		return new Ended(
			`Scrape ${id} is ${status}. The node does not run the workflow for this event.`,
		);
	}
	return outputItems(context, parameters, { ...data, notification });
}

/** Requests the status until the scrape is finished. @returns whether the notification came before */
async function untilFinished(
	context: IExecuteFunctions,
	completion: Completion,
): Promise<{ scrape: FoundScrape; isEarly: boolean }> {
	const memory = memoryOf(context);
	const { attempt, scrapeId = '', leads } = completion;
	const end = Date.now() + MAX_WAIT_MS;
	for (let isEarly = false; ; isEarly = true) {
		memory.begin(attempt ?? scrapeId, leads);
		const isLast = Date.now() > end;
		const scrape = await find(context, completion).catch((error: unknown) => {
			if (isLast || isRefused(error)) throw error;
		});
		if (scrape?.isFinished || (scrape && isLast)) return { scrape, isEarly };
		if (isLast) throw unknownScrape();
		await pause(PAUSE_MS, context.getExecutionCancelSignal());
	}
}

/** The scrape that an attempt started, otherwise the first one that the service knows. */
async function find(
	context: IExecuteFunctions,
	{ attempt = '', scrapeId, named = [], addresses }: Completion,
): Promise<FoundScrape | undefined> {
	const { credential, signer } = await memoryOf(context).accessOf(context);
	const reply = scrapeId === undefined ? await tell(context, addresses, signer) : undefined;
	const known = scrapeId ?? (reply && scrapeIdOf(reply.saved, attempt));
	for (const id of known === undefined ? named : [known]) {
		const scrape = await findScrape(context, credential, id);
		if (scrape) return scrape;
	}
	return undefined;
}

function unknownScrape(): LeadGenError {
	return new LeadGenError(
		'A notification came for a scrape that the service does not know',
		'The input of this execution contains the notification. Look for the scrape in the dashboard of your account, then retry this execution.',
	);
}

function notFinished({ attempt, leads }: Completion, { id, data }: FoundScrape): Ended {
	const status = show(data.status);
	if (leads === '') {
		const next =
			attempt === undefined
				? 'A later notification runs the workflow.'
				: 'When it is finished, the workflow runs.';
		return new Ended(`Scrape ${id} is not finished. Its status is still ${status}. ${next}`);
	}
	throw new LeadGenError(
		`Scrape ${id} is not finished ten minutes after a notification with its leads`,
		`Its status is still ${status}. To run the workflow with these leads when the scrape is finished, retry this execution.`,
	);
}

/**
 * Has n8n save that the scrape ran, so that it is polled no more. The next nodes run after it is saved: n8n would
 * otherwise save an old copy over what they write into the static data.
 */
async function saveDone(
	context: IExecuteFunctions,
	{ attempt, leads, addresses }: Completion,
	{ signer }: Access,
	id: string,
): Promise<void> {
	const done: Change['done'] = [attempt ?? id, leads, id];
	const saved = tell(context, addresses, signer, { done }).catch((error: unknown) => {
		context.logger.warn(`LeadGen Trigger: a completion was not saved: ${String(error)}`);
	});
	await Promise.race([saved, sleep(MAX_SAVE_MS)]);
}

/**
 * Another delivery ran the workflow for the scrape.
 * @returns how this execution ends; undefined if the user wants to run its leads, too
 */
async function another(
	context: IExecuteFunctions,
	completion: Completion,
	access: Access,
	id: string,
): Promise<Ended | undefined> {
	const { attempt, leads, addresses, notification } = completion;
	const reply = await tell(context, addresses, access.signer).catch(() => undefined);
	const ran = reply && leadsOf(reply.saved, attempt ?? id);
	// n8n may have stopped before the other delivery could save this, and the poll would find the scrape again.
	if (notification === null && ran === undefined) await saveDone(context, completion, access, id);
	if (leads === '' || ran === undefined || ran === leads) {
		return new Ended(`The workflow ran for scrape ${id} before, in another execution.`);
	}
	if (context.getMode() === 'retry') return undefined;
	throw new LeadGenError(
		`More leads of scrape ${id} came after the workflow ran for it`,
		'The service sent several notifications with different leads, and the workflow runs once for each scrape. To run it with these leads, too, retry this execution.',
	);
}
