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
import { contentsOf } from './contents';
import { pass, type Delivery } from './gate';
import { leadsIn, type LeadsFinder } from './leads';
import { outputItems } from './output';
import { memoryOf, type Access } from './memory';
import { Ended, isRefused } from './notices';
import { idsIn } from './notification';
import { tell } from './ownUrl';
import { events } from './properties';
import { leadsOf, scrapeIdOf, type Change } from './running';
import { findScrape, parametersOf, type FoundScrape } from './scrape';
import { fingerprint } from './signature';

/** An execution that runs the workflow for finished scrapes. */
export interface Completion {
	/** Several, if one notification names several. */
	scrapes: CompletedScrape[];
	/** `null` if a poll saw that the scrape is finished. */
	notification: IDataObject | null;
	/** Identifies the notification; empty for a poll. */
	key: string;
	/** Where the node reaches itself. */
	addresses: string[];
}

export interface CompletedScrape extends Delivery {
	/** The attempt that started the scrape, if the node started it. */
	attempt?: string;
	/** Missing if the answer to the start has not come yet. */
	scrapeId?: string | undefined;
}

/** One scrape of a completion, with what its notification says of it. */
interface Candidate extends CompletedScrape, Omit<Completion, 'scrapes'> {
	/** IDs that the notification names, if the answer to the start never comes. */
	named: string[];
	/** Identifies the leads of the notification; empty if it has none. */
	leads: string;
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
 * Lets one completion of each scrape through, when the scrape is finished.
 * @throws LeadGenError if its status cannot be had in time
 */
export async function complete(
	context: IExecuteFunctions,
	{ scrapes, ...completion }: Completion,
): Promise<INodeExecutionData[] | Ended> {
	const { query = {}, body } = completion.notification ?? {};
	const contents = contentsOf(body);
	const { likely: named } = idsIn(query as object, contents);
	const find = leadsIn(contents);
	const runs = scrapes.map(async (scrape) => {
		const found = find(scrape.scrapeId);
		const leads = found ? fingerprint(found) : '';
		return await completeOne(context, { ...completion, ...scrape, named, leads }, find);
	});
	const results = await Promise.all(runs);
	const items = results.flatMap((result) => (result instanceof Ended ? [] : result));
	const ended = results.find((result) => result instanceof Ended);
	return items.length === 0 && ended ? ended : items;
}

async function completeOne(
	context: IExecuteFunctions,
	completion: Candidate,
	findLeads: LeadsFinder,
): Promise<INodeExecutionData[] | Ended> {
	const { notification, leads } = completion;
	const memory = memoryOf(context);
	const found = await untilFinished(context, completion);
	if (!found) return new Ended('Another execution waits until this scrape is finished.');
	const { scrape, isEarly } = found;
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
	return outputItems(context, parameters, { ...data, notification }, findLeads);
}

/**
 * Requests the status until the scrape is finished.
 * @returns undefined if another execution waits for it; and whether the notification came before its end
 */
async function untilFinished(
	context: IExecuteFunctions,
	completion: Candidate,
): Promise<{ scrape: FoundScrape; isEarly: boolean } | undefined> {
	const memory = memoryOf(context);
	const { attempt, scrapeId = '', key, leads } = completion;
	const name = attempt ?? scrapeId;
	// Services may notify of progress. One execution is enough to wait for the end.
	if (leads === '' && memory.waiting.has(name)) return undefined;
	memory.waiting.add(name);
	const end = Date.now() + MAX_WAIT_MS;
	try {
		for (let isEarly = false; ; isEarly = true) {
			memory.begin(name, key);
			const isLast = Date.now() > end;
			const scrape = await find(context, completion).catch((error: unknown) => {
				if (isLast || isRefused(error)) throw error;
			});
			if (scrape?.isFinished || (scrape && isLast)) return { scrape, isEarly };
			if (isLast) throw unknownScrape();
			await pause(PAUSE_MS, context.getExecutionCancelSignal());
		}
	} finally {
		memory.waiting.delete(name);
	}
}

/** The scrape that an attempt started, otherwise the first one that the service knows. */
async function find(
	context: IExecuteFunctions,
	{ attempt = '', scrapeId, named, addresses }: Candidate,
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

function notFinished({ attempt, leads }: Candidate, { id, data }: FoundScrape): Ended {
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
	{ attempt, leads, key, addresses }: Candidate,
	{ signer }: Access,
	id: string,
): Promise<void> {
	const done: Change['done'] = [attempt ?? id, leads, id, key];
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
	completion: Candidate,
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
