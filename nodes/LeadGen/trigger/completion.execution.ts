import type { IDataObject } from 'n8n-workflow';
import { LeadGenError } from '../common/errors';
import { wordIn } from '../common/json';
import { pause } from '../common/pause';
import { MINUTE_MS } from '../service/limits/policy';
import { Gate, type Delivery } from './gate';
import type { Executing } from './node';
import { scrapeIdIn } from './notification';
import { endNotSeen, isRefused, MISSING, type Ended } from './notices';
import { postToSelf, tellSelf } from './ownUrl';
import { events } from './properties';
import { findScrape, type FoundScrape } from './scrape';
import { fingerprint } from './signature';
import { scrapeOf } from './state';

/**
 * What an execution for a finished scrape begins with: its attempt if the node started it, its ID if it is known, and
 * the notification; or `null` and the scrape that a poll found.
 */
export type Completion = Record<'attempt' | 'scrapeId', string | undefined> & {
	notification: IDataObject | null;
	found?: FoundScrape;
};

/** Between two looks at the status. */
const LOOK_MS = 5000;
/** How long a notification without leads leaves one with leads the precedence: longer than until that looks again. */
const GIVE_WAY_MS = LOOK_MS + 1000;
/** The same for a poll: longer than an execution may take to see the end and to give way. */
export const POLL_GIVE_WAY_MS = LOOK_MS + GIVE_WAY_MS + 1000;
/** A notification may come before the end. Shorter for an ID that anyone named, and for what is refused. */
const [MAX_WAIT_MS, MAX_DOUBT_MS] = [10 * MINUTE_MS, MINUTE_MS];

const NOT_FINISHED = new LeadGenError('it is not finished ten minutes after its notification', '');
const NOT_KNOWN = new LeadGenError(
	MISSING.message,
	'Anyone who knows the URL can send such a notification, which is in the input of this execution. Look for the scrape in the dashboard of your account.',
);
const RETRY = 'Retry runs the workflow when the scrape is finished.';
const RETRY_IN_TIME =
	'The notification is in the input of this execution. Retry runs the workflow with it, as long as the node has not seen the end itself. The node leaves an hour for that, and then runs the workflow without the notification.';

/**
 * Lets one completion of a scrape through, when the scrape is finished. One that a poll began does not wait.
 * @returns the status of the scrape and the notification @throws LeadGenError if the end cannot be seen
 */
export async function complete(
	node: Executing,
	begun: Delivery,
	completion: Completion,
	hasLeads: boolean,
): Promise<{ json: IDataObject } | Ended> {
	const { attempt, scrapeId, notification } = completion;
	const seen = completion.found ?? (await untilFinished(node, completion));
	if (seen instanceof LeadGenError) {
		if (hasLeads || attempt === undefined || scrapeId === undefined) throw seen;
		// Nothing is lost with this notification, so polls go on at once, and the user need not do anything.
		await tellSelf(node, { scrapes: [{ attempt, scrapeId, since: Date.now(), isDone: false }] });
		return { message: `${seen.message}. The node asks again.`, event: 'not finished', scrapeId };
	}
	const { id, data, account } = seen;
	if (notification && !hasLeads) await pause(GIVE_WAY_MS, node.context.getExecutionCancelSignal());
	// A scrape that the node started is known by its attempt, any other one by its account and ID.
	const name = `completion ${attempt ?? fingerprint([account, id])}`;
	const passage = await new Gate(node, begun, name).pass();
	// Another process that passed as well has saved meanwhile that the workflow ran.
	const saved = passage === 'unsure' ? (await postToSelf(node)).saved : undefined;
	const ranBefore = passage === 'another' || (saved && scrapeOf(saved, attempt)?.isDone);
	// Before n8n saves the static data of the execution that goes on. The node does not poll what others started. If it is
	// not saved now, a poll finds the scrape again, and the gate ends its execution.
	if (attempt !== undefined)
		await tellSelf(node, { scrapes: [{ attempt, scrapeId: id, since: Date.now(), isDone: true }] });
	if (ranBefore) {
		const message = `The workflow ran for scrape ${id} before, in another execution.`;
		return { message, event: 'ran before', scrapeId: id };
	}
	const status = wordIn(data.status) ?? '';
	if (node.parameters.get(events).some((event) => event === status))
		return { json: { ...data, notification } };
	const message = `Scrape ${id} is ${status}. The node does not run the workflow for this event.`;
	return { message, event: 'left out', scrapeId: id };
}

/** Requests the status until the scrape is finished. @returns what the user may have to know if time runs out */
async function untilFinished(
	node: Executing,
	completion: Completion,
): Promise<FoundScrape | LeadGenError> {
	const isOwn = completion.attempt !== undefined;
	const since = Date.now();
	// One odd answer between others is no refusal.
	let doubtSince: number | undefined;
	for (;;) {
		let problem: unknown = isOwn ? MISSING : NOT_KNOWN;
		const scrape = await lookFor(node, completion).catch((error: unknown) => {
			problem = error;
		});
		if (scrape?.isFinished) return scrape;
		if (scrape) problem = NOT_FINISHED;
		const isDoubtful = isRefused(problem) || problem === NOT_KNOWN;
		const id = scrape?.id ?? completion.scrapeId;
		doubtSince = isDoubtful ? (doubtSince ?? Date.now()) : undefined;
		const isRefusedForLong = Date.now() - (doubtSince ?? Infinity) >= MAX_DOUBT_MS;
		if (isRefusedForLong || Date.now() - since >= MAX_WAIT_MS)
			return endNotSeen(id, problem, isOwn ? RETRY_IN_TIME : RETRY);
		await pause(LOOK_MS, node.context.getExecutionCancelSignal());
	}
}

async function lookFor(node: Executing, { attempt, scrapeId, notification }: Completion) {
	const id = scrapeId ?? scrapeOf((await postToSelf(node)).saved, attempt)?.scrapeId;
	// The answer to the start may never come.
	const likely = id ?? scrapeIdIn(notification ?? {});
	return likely === undefined ? undefined : await findScrape(node, likely);
}
