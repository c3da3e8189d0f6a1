import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { count } from '../common/count';
import { wordIn } from '../common/json';
import { pause } from '../common/pause';
import { baseUrlOf } from '../service/http';
import { LeadGenError } from '../common/errors';
import { contentsOf } from './contents';
import { pass, type Delivery } from './gate';
import { leadsIn, type LeadsFinder } from './leads';
import { outputItems } from './output';
import { memoryOf, type Told } from './nodeMemory';
import { Ended } from './notices';
import { idsIn } from './notification';
import { tell } from './ownUrl';
import { events } from './triggerProperties';
import { leadsOf } from './running';
import { parametersOf } from './scrape';
import { fingerprint } from './signature';
import { untilFinished, type Expected } from './waiting';

/** An execution that runs the workflow for finished scrapes. */
export interface Completion {
	/** Several, if one notification names several. */
	scrapes: Told[];
	/** `null` if a poll saw that the scrape is finished. */
	notification: IDataObject | null;
	/** Where the node reaches itself. */
	addresses: string[];
}

/** One scrape of a completion. */
type Candidate = Expected & Delivery & Pick<Completion, 'notification'>;

/** A workflow does not wait longer until n8n has saved that it ran. */
const MAX_SAVE_MS = 5000;
/** How often to look with which leads it ran, and the pause in between. */
const MAX_LOOKS = 3;
const PAUSE_MS = 3000;

/**
 * Lets one completion of each scrape through, when the scrape is finished.
 * @throws LeadGenError if its status cannot be had in time
 */
export async function complete(
	context: IExecuteFunctions,
	{ scrapes, notification, addresses }: Completion,
	{ delivery, process }: Delivery,
): Promise<INodeExecutionData[] | Ended> {
	const { query = {}, body } = notification ?? {};
	const contents = contentsOf(body);
	const { likely: named } = idsIn(query as object, contents);
	const find = leadsIn(contents);
	const shared = { delivery, process, notification, addresses, named };
	const runs = scrapes.map(
		async (scrape) => await completeOne(context, { ...shared, ...scrape }, find),
	);
	const settled = await Promise.allSettled(runs);
	const results = settled.flatMap((each) => ('value' in each ? [each.value] : []));
	const ended = results.filter((result) => result instanceof Ended);
	const failed = settled.find((each) => each.status === 'rejected');
	if (failed) throw withOthers(failed.reason, scrapes.length - 1 - ended.length);
	const items = results.flatMap((result) => (result instanceof Ended ? [] : result));
	return items.length === 0 && ended[0] ? ended[0] : items;
}

/** An execution that fails has no output, so the other scrapes of the notification do not run either. */
function withOthers(error: unknown, others: number): unknown {
	if (!(error instanceof LeadGenError) || others === 0) return error;
	const what = `The notification names ${count(others, 'other scrape')}, which did not run either.`;
	return new LeadGenError(
		error.message,
		`${error.advice} ${what} Retry this execution to run all of them.`,
	);
}

async function completeOne(
	context: IExecuteFunctions,
	completion: Candidate,
	findLeads: LeadsFinder,
): Promise<INodeExecutionData[] | Ended> {
	const scrape = await untilFinished(context, completion);
	if (scrape instanceof Ended) return scrape;
	const { id, data } = scrape;
	// Another account may use the same scrape ID.
	const { credential } = await memoryOf(context).accessOf(context);
	const key = `completion ${fingerprint([baseUrlOf(credential), credential.apiKey, id])}`;
	const isAnother = (await pass(context, key, completion)) === 'another';
	const ended = isAnother ? await another(context, completion, id) : undefined;
	if (ended) return ended;
	await saveDone(context, completion, id);
	const parameters = parametersOf(context);
	const status = wordIn(data.status) ?? '';
	if (!parameters.get(events).some((event) => event === status)) {
		return new Ended(
			`Scrape ${id} is ${status}. The node does not run the workflow for this event.`,
		);
	}
	return outputItems(
		context,
		parameters,
		{ ...data, notification: completion.notification },
		findLeads,
	);
}

/**
 * Has n8n save that the scrape ran, so that it is polled no more. The next nodes run after it is saved: n8n would
 * otherwise save an old copy over what they write into the static data.
 */
async function saveDone(context: IExecuteFunctions, scrape: Candidate, id: string): Promise<void> {
	const { leads, addresses, attempt = id } = scrape;
	const done: [string, string, string] = [attempt, leads, id];
	const saved = tell(context, addresses, { done }).catch((error: unknown) => {
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
	id: string,
): Promise<Ended | undefined> {
	const { leads, notification } = completion;
	const ran = await leadsThatRan(context, completion, id);
	// n8n may have stopped before the other delivery could save this, and the poll would find the scrape again.
	if (notification === null && ran === undefined) await saveDone(context, completion, id);
	if (leads === '' || ran === leads) {
		return new Ended(`The workflow ran for scrape ${id} before, in another execution.`);
	}
	if (context.getMode() === 'retry') return undefined;
	if (ran === undefined) {
		throw new LeadGenError(
			`Leads of scrape ${id} came after the workflow ran for it, and the node could not read which leads it had then`,
			'They may be the same leads again. To run the workflow with the leads of this execution, too, retry it.',
		);
	}
	throw new LeadGenError(
		`More leads of scrape ${id} came after the workflow ran for it`,
		'The service sent several notifications with different leads, and the workflow runs once for each scrape. To run it with these leads, too, retry this execution.',
	);
}

/** The leads with which the workflow ran. The other execution may be about to save them. */
async function leadsThatRan(
	context: IExecuteFunctions,
	{ attempt, leads, addresses }: Candidate,
	id: string,
): Promise<string | undefined> {
	for (let looks = leads === '' ? 1 : MAX_LOOKS; ; looks--) {
		const reply = await tell(context, addresses).catch(() => undefined);
		const ran = reply && leadsOf(reply.saved, attempt ?? id);
		if (ran !== undefined || looks === 1) return ran;
		await pause(PAUSE_MS, context.getExecutionCancelSignal());
	}
}
