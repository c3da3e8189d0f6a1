import { sleep, type IDataObject } from 'n8n-workflow';
import { LeadGenError } from '../common/errors';
import { wordIn } from '../common/json';
import { pause } from '../common/pause';
import { Gate, MAX_PASS_MS, type Delivery } from './gate';
import type { Executing } from './node';
import { leadsIn, scrapeIdIn } from './notification';
import { Ended, isRefused } from './notices';
import { postToSelf } from './ownUrl';
import { NOTHING, scrapeOf } from './saved';
import { findScrape } from './scrape';
import { fingerprint } from './signature';
import { events, leadsField } from './triggerProperties';

/**
 * What an execution for a finished scrape begins with: its attempt if the node started it, its ID if it is known, and the
 * notification, or `null` if a poll saw the end.
 */
export type Completion = Record<'attempt' | 'scrapeId', string | undefined> & {
	notification: IDataObject | null;
};

const PAUSE_MS = 5000;
/** How long an execution without leads leaves one with leads the precedence, if it had to wait for the end. */
const GIVE_WAY_MS = 4000;
/** The same for a poll: longer than an execution may take to see the end and to give way. */
export const POLL_GIVE_WAY_MS = PAUSE_MS + GIVE_WAY_MS + 1000;
/** A notification may come before the end. Shorter, and less often, for an ID that anyone named, and for what is refused. */
const [PATIENCE_MS, SHORT_PATIENCE_MS] = [10 * 60_000, 60_000];
/** A workflow does not wait longer until n8n has saved that it ran. */
const MAX_SAVE_MS = 5000;

/**
 * Lets one completion of a scrape through, when the scrape is finished. @throws LeadGenError if that cannot be seen
 * @returns the status of the scrape and the notification
 */
export async function complete(
	node: Executing,
	begun: Delivery,
	completion: Completion,
): Promise<IDataObject | Ended> {
	const { attempt, notification } = completion;
	const hasLeads = leadsIn(notification ?? {}, node.parameters.option(leadsField)) !== undefined;
	const { id, data, isFinished, account } = await untilFinished(node, completion, hasLeads);
	const status = wordIn(data.status) ?? '';
	if (!isFinished) {
		const text = `Scrape ${id} is not finished ten minutes after its notification`;
		// The node goes on to ask for the status of the scrapes that it started.
		if (attempt !== undefined && !hasLeads) return new Ended(text, 'not finished', id);
		throw new LeadGenError(text, 'When it is finished, retry this execution.');
	}
	// A scrape that the node started is known by its attempt, any other one by its account and ID.
	const name = `completion ${attempt ?? fingerprint([account, id])}`;
	const passage = await new Gate(node, begun, name).pass();
	// Another process that passed as well has saved meanwhile that the workflow ran.
	const { saved } = passage === 'unsure' ? await postToSelf(node) : { saved: NOTHING };
	const isAnother = passage === 'another' || scrapeOf(saved, attempt)?.isDone === true;
	// n8n may have stopped before the other execution could save it, and the poll would find the scrape again. An execution
	// that is still in the gate would take a scrape that is saved as done for one that ran.
	const isPoll = notification === null;
	if (isPoll && isAnother) await pause(MAX_PASS_MS, node.context.getExecutionCancelSignal());
	// Before n8n saves the static data of the execution that goes on. The node does not poll what others started.
	if (attempt !== undefined && (isPoll || !isAnother)) {
		const scrapes = [{ attempt, scrapeId: id, since: Date.now(), isDone: true }];
		// If it is not saved now, a poll finds the scrape again, and the gate ends its execution.
		await Promise.race([postToSelf(node, { scrapes }).catch(() => {}), sleep(MAX_SAVE_MS)]);
	}
	const isWanted = node.parameters.get(events).some((event) => event === status);
	if (isWanted && !isAnother) return { ...data, notification };
	const [text, event] = isAnother
		? [`The workflow ran for scrape ${id} before, in another execution.`, 'ran before']
		: [`Scrape ${id} is ${status}. The node does not run the workflow for this event.`, 'left out'];
	return new Ended(text, event, id);
}

/** Requests the status until the scrape is finished, or time runs out. @throws LeadGenError if the status cannot be had */
async function untilFinished(node: Executing, completion: Completion, hasLeads: boolean) {
	const { attempt, scrapeId = '' } = completion;
	const signal = node.context.getExecutionCancelSignal();
	const since = Date.now();
	for (let hasWaited = false; ; hasWaited = true) {
		node.memory.waits(attempt ?? scrapeId);
		let problem: unknown = notKnown(scrapeId);
		const scrape = await find(node, completion).catch((error: unknown) => {
			problem = error;
		});
		if (scrape?.isFinished && hasWaited && !hasLeads) await pause(GIVE_WAY_MS, signal);
		const isDoubtful = isRefused(problem) || (attempt === undefined && !scrape);
		const isOver = Date.now() - since >= (isDoubtful ? SHORT_PATIENCE_MS : PATIENCE_MS);
		if (isOver && !scrape) throw problem;
		if (scrape && (isOver || scrape.isFinished)) return scrape;
		await pause(isDoubtful ? PAUSE_MS + (Date.now() - since) / 2 : PAUSE_MS, signal);
	}
}

async function find(node: Executing, { attempt, scrapeId, notification }: Completion) {
	const id = scrapeId ?? scrapeOf((await postToSelf(node)).saved, attempt)?.scrapeId;
	// The answer to the start may never come.
	const likely = id ?? scrapeIdIn(notification ?? {});
	return likely === undefined ? undefined : await findScrape(node, likely);
}

function notKnown(id: string): LeadGenError {
	const advice =
		'Anyone who knows the URL can send such a notification, which is in the input of this execution. If the dashboard of your account has the scrape, retry this execution.';
	return new LeadGenError(`The service does not know the scrape ${id}`.trim(), advice);
}
