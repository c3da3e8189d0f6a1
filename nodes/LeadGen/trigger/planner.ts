import type { NodeMemory } from './memory';
import type { Plan } from './plan';
import { PROCESS } from './process';
import {
	isOpen,
	openScrapes,
	startIn,
	type Check,
	type Notice,
	type Scrape,
	type Start,
} from './state';
import { LONGEST_SCRAPE_MS, UNKNOWN_SCRAPE_MS } from './status';

/** Decides what the trigger does next: pure functions of its knowledge and the time. */

/** What decisions depend on. Times are milliseconds since 1970. */
export interface View {
	memory: NodeMemory;
	plan: Plan;
	/** Whether the timer of the node asks. Only the timer starts scrapes. */
	isTimer: boolean;
	/** How many unverified IDs may be looked up per minute. */
	unverifiedPerMinute: number;
}

export type Action =
	| { do: 'sync' }
	/** Run the workflow for a finished scrape or a notice. */
	| { do: 'deliver'; id: string }
	| { do: 'check'; id: string }
	/** Plan a wanted start. */
	| { do: 'plan'; attempt: string }
	/** Skip it, because this scrape still runs, another start replaced it, or the node only listens. */
	| { do: 'skip'; attempt: string; id?: string }
	/** Send a planned start. */
	| { do: 'send'; attempt: string }
	| { do: 'wait'; ms: number };

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const MAX_CHECKS = 5;
const FIRST_CHECK_MS = 5 * SECOND_MS;
const SLOWEST_CHECK_MS = 5 * MINUTE_MS;
/** The pause between status requests while notifications of a scrape arrive. The smallest plan can spare this many. */
const NOTIFIED_AGAIN_MS = 3 * SECOND_MS;
/** After a notification, status requests stay frequent for some time, because the status may lag behind. */
const SLOWEST_NOTIFIED_CHECK_MS = 30 * SECOND_MS;
/** A finished scrape waits this long for its notification, which may contain data that nothing else does. */
const GRACE_MS = 2 * SECOND_MS;
/** When to look up an ID again that the service did not find. */
const SECOND_CHECK_MS = 2 * MINUTE_MS;
/** After this time, this process handles a notification that another process received. */
const TAKE_OVER_MS = MINUTE_MS;
/** If no execution began after this time, the delivery is repeated. Each retry waits three times as long. */
const REDELIVER_MS = 20 * SECOND_MS;
/** Notifications that arrive within this time are saved together. */
export const SAVE_DEBOUNCE_MS = 300;
/**
 * n8n saves static data as a whole, also at the end of an execution that changed it. If the trigger saved at that
 * moment, it would lose the changes of a Code node.
 */
const SHORT_EXECUTION_MS = 1500;
/**
 * The pause between planning and sending a start. It shows which process planned the start if two main processes lead
 * for a moment, and that no old copy from another node of the workflow has erased it.
 */
const CLAIM_DELAY_MS = SECOND_MS;
/** How long two main processes may lead at once. */
const OVERLAP_MS = 20 * SECOND_MS;
/** When to check again that the written state is saved: another node may have saved an old copy of everything. */
export const CONFIRM_MS = 3 * SECOND_MS;
/** How often to check a start that another process planned. */
const LEFT_CHECK_MS = 5 * SECOND_MS;
/** How often to check for work that other processes left unfinished. */
const LONGEST_WAIT_MS = 30 * MINUTE_MS;

export function nextAction(view: View, now: number): Action {
	const { memory } = view;
	const { state, isDirty, acknowledgedAt, waiting, checks, inFlight, syncedAt, reply } = memory;
	const times: number[] = [];
	/** Whether it is time. If not, the planner is asked again at that time. */
	const isTime = (time: number) => {
		if (time > now) times.push(time);
		return time <= now;
	};
	const unverifiedFrom = unverifiedCheckFrom(view, now);
	const toCheck = Object.entries(state.scrapes)
		.filter(
			([id, scrape]) => !inFlight.has(id) && isTime(nextCheckAt(id, scrape, view, unverifiedFrom)),
		)
		.sort((a, b) => compare(a, b, checks, now));
	// Status requests run in the background while the next action is done.
	if (toCheck[0] && inFlight.size < MAX_CHECKS) return { do: 'check', id: toCheck[0][0] };
	const action = view.isTimer ? nextStart(view, isTime, now) : undefined;
	// An execution that begins before the start is planned could write back an old copy in which it is still wanted.
	if (action && !/^(send|wait)$/.test(action.do)) return action;
	for (const [id, entry] of [...Object.entries(state.notices), ...openScrapes(state)]) {
		const completeAt = 'source' in entry ? outputCompleteAt(id, entry, view) : 0;
		const from = Math.max(completeAt, deliverAt(entry), queuedUntil(entry, view));
		if (isTime(from)) return { do: 'deliver', id };
	}
	// A start is saved together with the change that asks for it. Otherwise a crash could lose the start.
	const isUndecided = action?.do === 'wait';
	// A delivery would have saved the changes, too.
	const isDue = isDirty && !isUndecided && isTime(acknowledgedAt + SHORT_EXECUTION_MS);
	const isWaiting = waiting[0] !== undefined && isTime(waiting[0].since + SAVE_DEBOUNCE_MS);
	const isOld = reply && isTime(syncedAt + (reply.isConfirmed ? LONGEST_WAIT_MS : CONFIRM_MS));
	if (isDue || isWaiting || isOld) return { do: 'sync' };
	if (action?.do === 'send') return action;
	return { do: 'wait', ms: Math.min(LONGEST_WAIT_MS, ...times.map((time) => time - now)) };
}

/** When the data for the output of a scrape is complete. */
function outputCompleteAt(id: string, { source }: Scrape, { memory }: View): number {
	const check = memory.checks.get(id);
	if (!check?.result) return Infinity;
	return memory.state.notifications[source] ? 0 : check.at + GRACE_MS;
}

/** When to deliver a scrape or a notice, or to deliver it again if its execution did not begin. */
export function deliverAt({ stage, at, tries = 0 }: Scrape | Notice): number {
	if (stage === 'open') return 0;
	return stage === 'delivering' ? at + REDELIVER_MS * 3 ** (tries - 1) : Infinity;
}

/** If n8n limits concurrent executions, a delivery waits while the executions of earlier deliveries still begin. */
function queuedUntil({ stage, at }: Scrape | Notice, { memory }: View): number {
	const isQueued = stage === 'delivering' && at > memory.lastBegunDeliveryAt;
	return isQueued ? memory.acknowledgedAt + REDELIVER_MS : 0;
}

/**
 * Scrapes of the node come first, then IDs that were never looked up. Many of these may be forged. So the newest and
 * the oldest ID take turns, and a real ID waits neither for all IDs of a flood nor until the flood ends.
 */
function compare(
	[idA, a]: [string, Scrape],
	[idB, b]: [string, Scrape],
	checks: ReadonlyMap<string, Check>,
	now: number,
): number {
	const looked = (checks.get(idA)?.at ?? 0) - (checks.get(idB)?.at ?? 0);
	const direction = Math.floor(now / MINUTE_MS) % 2 === 0 ? -1 : 1;
	return Number(isOpen(b)) - Number(isOpen(a)) || looked || direction * (a.since - b.since);
}

/** When to request the status of a scrape: soon after its start or a notification, then less often. */
function nextCheckAt(id: string, scrape: Scrape, view: View, unverifiedFrom: number): number {
	const { stage, since, source } = scrape;
	const check = view.memory.checks.get(id);
	if (check?.result || !(isOpen(scrape) || stage === 'unverified')) return Infinity;
	const { at: notifiedAt = since, process } = view.memory.state.notifications[source] ?? {};
	// When this process received the notification.
	const receivedAt = process === PROCESS ? notifiedAt : undefined;
	if (receivedAt === undefined && !(view.isTimer && isOpen(scrape))) {
		const shareFrom = stage === 'unverified' ? unverifiedFrom : 0;
		return Math.max(shareFrom, notifiedAt + TAKE_OVER_MS, check ? check.at + SLOWEST_CHECK_MS : 0);
	}
	if (stage === 'unverified') {
		const isMissing = check?.missingSince !== undefined;
		const pause = isMissing
			? SECOND_CHECK_MS
			: clamp((check?.at ?? 0) - since, 10 * SECOND_MS, SLOWEST_CHECK_MS);
		return Math.max(unverifiedFrom, check ? check.at + pause : 0);
	}
	if (!check) return receivedAt === undefined ? since + FIRST_CHECK_MS : 0;
	return check.at + pauseAfter(check.at, since, receivedAt);
}

/** When the next unverified ID may be looked up. IDs that the service confirmed do not count. */
function unverifiedCheckFrom(
	{ memory: { state, checks, inFlight }, unverifiedPerMinute }: View,
	now: number,
): number {
	const looked = Object.entries(state.scrapes)
		.filter(([, { stage }]) => stage === 'unverified' || stage === 'rejected')
		.map(([id]) => (inFlight.has(id) ? now : (checks.get(id)?.at ?? 0)))
		.sort((a, b) => b - a);
	return (looked[unverifiedPerMinute - 1] ?? 0) + MINUTE_MS;
}

function pauseAfter(checkedAt: number, startedAt: number, receivedAt = -Infinity): number {
	if (receivedAt >= checkedAt) return NOTIFIED_AGAIN_MS;
	const regular = clamp((checkedAt - startedAt) / 4, FIRST_CHECK_MS, SLOWEST_CHECK_MS);
	const soon = clamp((checkedAt - receivedAt) / 2, SECOND_MS, SLOWEST_NOTIFIED_CHECK_MS);
	return receivedAt === -Infinity ? regular : Math.min(regular, soon);
}

function clamp(value: number, least: number, most: number): number {
	return Math.min(most, Math.max(least, value));
}

/** The next action for starts, one at a time. @returns "wait" while the status request that decides is in flight */
function nextStart(view: View, isTime: (time: number) => boolean, now: number): Action | undefined {
	const { state, inFlight } = view.memory;
	const isListening = view.plan.mode === 'listen';
	const planned = startIn(state, 'planned');
	if (planned) {
		const [attempt, { at, process }] = planned;
		if (inFlight.has(attempt)) return undefined;
		const isOwn = process === PROCESS;
		if (isOwn && isListening) return { do: 'skip', attempt };
		// A start that another process planned is given up after a while.
		const isReady = isTime(isOwn ? at + CLAIM_DELAY_MS : now + LEFT_CHECK_MS);
		return isReady ? { do: 'send', attempt } : undefined;
	}
	const wanted = startIn(state, 'wanted');
	if (wanted) {
		const [attempt, { at }] = wanted;
		if (isListening) return { do: 'skip', attempt };
		return isTime(at) ? nextWanted(view, wanted, now) : undefined;
	}
	// Read the plan again: the time zone of the workflow may have changed without an activation.
	return isTime(state.facts.schedule?.due ?? Infinity) ? { do: 'sync' } : undefined;
}

function nextWanted(
	view: View,
	[attempt, { why, tries, at: wantedAt }]: [string, Start],
	now: number,
): Action | undefined {
	const { plan, memory } = view;
	const { state, checks, inFlight } = memory;
	// The former leader may have started a scrape with the new filters, or a start planned before the change used them.
	const isTaken = Object.values(state.starts).some(
		({ stage, filters, at }) =>
			stage !== 'failed' && filters === plan.filters && at > wantedAt - OVERLAP_MS,
	);
	if (why === 'filters' && isTaken) return { do: 'skip', attempt };
	for (const [id, scrape] of openScrapes(state)) {
		const { at, missingSince = now, isAnswered, result } = checks.get(id) ?? { at: 0 };
		const isGone =
			now - missingSince >= UNKNOWN_SCRAPE_MS || now - scrape.since >= LONGEST_SCRAPE_MS;
		const isSame = why === 'schedule' || (why === 'activation' && scrape.filters === plan.filters);
		// While the same scrape runs, it is not started again.
		if (isGone || !isSame || result) continue;
		if (at < wantedAt) return inFlight.has(id) ? { do: 'wait', ms: 0 } : { do: 'check', id };
		return isAnswered ? { do: 'skip', attempt, id } : undefined;
	}
	// Another main process may have planned it meanwhile. The clock may have been set back, so ignore future times.
	const checkTimes = [...checks.values()].map(({ at }) => at).filter((at) => at <= now);
	if (memory.syncedAt < Math.max(tries > 0 ? wantedAt : 0, ...checkTimes)) return { do: 'sync' };
	return { do: 'plan', attempt };
}
