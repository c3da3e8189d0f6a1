import { sleep, type IDataObject, type INodeExecutionData } from 'n8n-workflow';
import { LeadGenError } from '../common/errors';
import { wordIn } from '../common/json';
import { pause } from '../common/pause';
import { baseUrlOf } from '../service/http';
import type { Gate } from './gate';
import type { Executing } from './node';
import type { Told } from './nodeMemory';
import { Ended, textOf } from './notices';
import { Notification } from './notification';
import { outputItems } from './output';
import { tell } from './ownUrl';
import { leadsThatRan } from './running';
import { fingerprint } from './signature';
import { events } from './triggerProperties';
import { untilFinished } from './waiting';

/** What an execution that runs the workflow for finished scrapes begins with. */
export interface Completion {
	/** Several, if one notification names several. */
	scrapes: Told[];
	/** As it arrived; `null` if a poll saw that the scrape is finished. */
	notification: IDataObject | null;
}

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
	node: Executing,
	gate: Gate,
	completion: Completion,
): Promise<INodeExecutionData[] | Ended> {
	const { scrapes } = completion;
	const notification = new Notification(completion.notification);
	const runs = scrapes.map(async (told) => {
		const status = await completeOne(node, gate, told, notification);
		return status instanceof Ended ? status : outputItems(node, status, notification);
	});
	const settled = await Promise.allSettled(runs);
	const results = settled.flatMap((each) => ('value' in each ? [each.value] : []));
	const ended = results.filter((result) => result instanceof Ended);
	const failed = settled.find((each) => each.status === 'rejected');
	if (failed) throw scrapes.length > 1 ? withOthers(failed.reason) : failed.reason;
	const items = results.flatMap((result) => (result instanceof Ended ? [] : result));
	return items.length === 0 && ended[0] ? ended[0] : items;
}

/** An execution that fails has no output, so the other scrapes of the notification do not run either. */
function withOthers(error: unknown): LeadGenError {
	const { message, advice } = textOf(error);
	const what = 'The notification names several scrapes, and this execution outputs none of them.';
	return new LeadGenError(message, `${advice} ${what} Retry it to output all of them.`);
}

/** @returns the status of the scrape, if the workflow runs for it */
async function completeOne(
	node: Executing,
	gate: Gate,
	told: Told,
	notification: Notification,
): Promise<IDataObject | Ended> {
	const scrape = await untilFinished(node, told, notification.ids.likely);
	if (scrape instanceof Ended) return scrape;
	const { id, data } = scrape;
	const status = wordIn(data.status) ?? '';
	if (!node.parameters.get(events).some((event) => event === status)) {
		await saveDone(node, told, id);
		return new Ended(
			`Scrape ${id} is ${status}. The node does not run the workflow for this event.`,
		);
	}
	const { credential } = await node.access();
	// Another account may use the same scrape ID.
	const key = `completion ${fingerprint([baseUrlOf(credential), credential.apiKey, id])}`;
	const passage = await gate.pass(key);
	// If another process passed as well, it has saved meanwhile that the workflow ran.
	const mayHaveRun = passage === 'unknown' || passage === 'unsure';
	const hasRun = async () => (await lookForLeads(node, { ...told, leads: '' }, id)) !== undefined;
	const isAnother = passage === 'another' || (mayHaveRun && (await hasRun()));
	const ended = isAnother ? await another(node, told, id, notification) : undefined;
	if (ended) return ended;
	await saveDone(node, told, id);
	return data;
}

/**
 * Has n8n save that the scrape ran, so that it is polled no more. The next nodes run after it is saved: n8n would
 * otherwise save an old copy over what they write into the static data.
 */
async function saveDone(node: Executing, told: Told, id: string): Promise<void> {
	const { leads, attempt = id } = told;
	const saved = tell(node, { done: [attempt, leads, id] }).catch((error: unknown) => {
		node.log('warn', `a completion was not saved: ${String(error)}`);
	});
	await Promise.race([saved, sleep(MAX_SAVE_MS)]);
}

/**
 * Another delivery ran the workflow for the scrape.
 * @returns how this execution ends; undefined if the user wants to run its leads, too
 */
async function another(
	node: Executing,
	told: Told,
	id: string,
	{ received }: Notification,
): Promise<Ended | undefined> {
	const { leads } = told;
	const ran = await lookForLeads(node, told, id);
	// n8n may have stopped before the other delivery could save this, and the poll would find the scrape again.
	if (received === null && ran === undefined) await saveDone(node, told, id);
	if (leads === '' || ran?.includes(leads)) {
		return new Ended(`The workflow ran for scrape ${id} before, in another execution.`);
	}
	if (node.context.getMode() === 'retry') return undefined;
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
async function lookForLeads(
	node: Executing,
	{ attempt, leads }: Told,
	id: string,
): Promise<string[] | undefined> {
	for (let looks = leads === '' ? 1 : MAX_LOOKS; ; looks--) {
		const reply = await tell(node).catch(() => undefined);
		const ran = reply && leadsThatRan(reply.saved, attempt ?? id);
		if (ran !== undefined || looks === 1) return ran;
		await pause(PAUSE_MS, node.context.getExecutionCancelSignal());
	}
}
