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

/** Decides what the trigger does next: pure functions of what it knows and the time. */

/** What decisions depend on. Times are milliseconds since 1970. */
export interface View {
	memory: NodeMemory;
	plan: Plan;
	/** Whether this is the timer of the node, which alone starts scrapes. */
	isTimer: boolean;
	/** How many IDs that only notifications name are looked up in a minute. */
	unverifiedPerMinute: number;
}

export type Action =
	| { do: 'sync' }
	/** Run the workflow for a finished scrape or a notice. */
	| { do: 'deliver'; id: string }
	| { do: 'look'; id: string }
	/** Plan a start that is wanted. */
	| { do: 'plan'; attempt: string }
	/** Leave it out, because this scrape still runs, a start took its place, or the node only listens. */
	| { do: 'skip'; attempt: string; id?: string }
	/** Send a start that is planned. */
	| { do: 'send'; attempt: string }
	| { do: 'wait'; ms: number };

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const MAX_LOOKS = 5;
const FIRST_LOOK_MS = 5 * SECOND_MS;
const SLOWEST_LOOK_MS = 5 * MINUTE_MS;
/** However often the service notifies of a scrape, it takes no more lookups than the smallest plan can spare. */
const NOTIFIED_AGAIN_MS = 3 * SECOND_MS;
/** For some time after a notification we look often, because the status may lag behind. */
const SLOWEST_NOTIFIED_LOOK_MS = 30 * SECOND_MS;
/** The notification may hold what nothing else does, so a finished scrape waits for it a moment. */
const GRACE_MS = 2 * SECOND_MS;
/** When an ID that was not found is looked up once more. */
const SECOND_LOOK_MS = 2 * MINUTE_MS;
/** Another process that was notified gets so long to bring the completion in. */
const TAKE_OVER_MS = MINUTE_MS;
/** n8n runs the workflow again for what it did not run in this time; each time waits three times as long. */
const REDELIVER_MS = 20 * SECOND_MS;
/** Senders of notifications that come together wait for one and the same save. */
export const TOGETHER_MS = 300;
/**
 * n8n saves static data as a whole, also at the end of an execution that changed it: what a Code node keeps there
 * would get lost if we saved at that moment.
 */
const SHORT_EXECUTION_MS = 1500;
/**
 * In this time each of two main processes that lead for a moment sees which of the two planned a start, and an
 * old copy that another node of the workflow is just saving has not erased it.
 */
const CLAIM_MS = SECOND_MS;
/** For so long two main processes may lead at once. */
const OVERLAP_MS = 20 * SECOND_MS;
/** After this, what was written is looked for once more: another node may have saved an old copy of everything. */
export const CONFIRM_MS = 3 * SECOND_MS;
/** How often a start is looked after that another process planned. */
const LEFT_CHECK_MS = 5 * SECOND_MS;
/** Other processes may have left something behind. */
const LONGEST_WAIT_MS = 30 * MINUTE_MS;

/** What to do next. */
export function nextAction(view: View, now: number): Action {
	const { memory } = view;
	const { state, isDirty, acknowledgedAt, waiting, checks, inFlight, syncedAt, reply } = memory;
	const times: number[] = [];
	/** Whether it is time; if not, there will be another look when it is. */
	const isTime = (time: number) => {
		if (time > now) times.push(time);
		return time <= now;
	};
	const unverifiedFrom = unverifiedLookFrom(view, now);
	const looks = Object.entries(state.scrapes)
		.filter(
			([id, scrape]) => !inFlight.has(id) && isTime(nextLookAt(id, scrape, view, unverifiedFrom)),
		)
		.sort((a, b) => compare(a, b, checks, now));
	// They go on beside what comes next.
	if (looks[0] && inFlight.size < MAX_LOOKS) return { do: 'look', id: looks[0][0] };
	const action = view.isTimer ? nextStart(view, isTime, now) : undefined;
	// An execution that begins before a start is planned could write back that it is wanted.
	if (action && !/^(send|wait)$/.test(action.do)) return action;
	for (const [id, entry] of [...Object.entries(state.notices), ...openScrapes(state)]) {
		const completeAt = 'source' in entry ? outputCompleteAt(id, entry, view) : 0;
		const from = Math.max(completeAt, deliverAt(entry), queuedUntil(entry, view));
		if (isTime(from)) return { do: 'deliver', id };
	}
	// A start is saved together with what asks for it: else a crash could make nobody send it.
	const isUndecided = action?.do === 'wait';
	// A delivery would have brought the changes along.
	const isDue = isDirty && !isUndecided && isTime(acknowledgedAt + SHORT_EXECUTION_MS);
	const isWaiting = waiting[0] !== undefined && isTime(waiting[0].since + TOGETHER_MS);
	const isOld = reply && isTime(syncedAt + (reply.isConfirmed ? LONGEST_WAIT_MS : CONFIRM_MS));
	if (isDue || isWaiting || isOld) return { do: 'sync' };
	if (action?.do === 'send') return action;
	return { do: 'wait', ms: Math.min(LONGEST_WAIT_MS, ...times.map((time) => time - now)) };
}

/** When all is there that the output of a scrape holds. */
function outputCompleteAt(id: string, { source }: Scrape, { memory }: View): number {
	const check = memory.checks.get(id);
	if (!check?.result) return Infinity;
	return memory.state.notifications[source] ? 0 : check.at + GRACE_MS;
}

/** When something may be handed to n8n, or again if its execution did not begin. */
export function deliverAt({ stage, at, tries = 0 }: Scrape | Notice): number {
	if (stage === 'open') return 0;
	return stage === 'delivering' ? at + REDELIVER_MS * 3 ** (tries - 1) : Infinity;
}

/** Where n8n limits how many executions there are at once, a delivery waits as long as earlier ones begin. */
function queuedUntil({ stage, at }: Scrape | Notice, { memory }: View): number {
	const isQueued = stage === 'delivering' && at > memory.lastBegunDeliveryAt;
	return isQueued ? memory.acknowledgedAt + REDELIVER_MS : 0;
}

/**
 * Scrapes of the node come first, then IDs that were never looked up. Many may be forged: by turns the newest
 * of them and the oldest go first, so that a real one waits neither for all of a flood nor for its end.
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

/** When to look at the status of a scrape: soon after it started or a notification came, then less often. */
function nextLookAt(id: string, scrape: Scrape, view: View, unverifiedFrom: number): number {
	const { stage, since, source } = scrape;
	const check = view.memory.checks.get(id);
	if (check?.result || !(isOpen(scrape) || stage === 'unverified')) return Infinity;
	const { at: notifiedAt = since, process } = view.memory.state.notifications[source] ?? {};
	// When this process was notified.
	const receivedAt = process === PROCESS ? notifiedAt : undefined;
	if (receivedAt === undefined && !(view.isTimer && isOpen(scrape))) {
		const shareFrom = stage === 'unverified' ? unverifiedFrom : 0;
		return Math.max(shareFrom, notifiedAt + TAKE_OVER_MS, check ? check.at + SLOWEST_LOOK_MS : 0);
	}
	if (stage === 'unverified') {
		const isMissing = check?.missingSince !== undefined;
		const pause = isMissing
			? SECOND_LOOK_MS
			: clamp((check?.at ?? 0) - since, 10 * SECOND_MS, SLOWEST_LOOK_MS);
		return Math.max(unverifiedFrom, check ? check.at + pause : 0);
	}
	if (!check) return receivedAt === undefined ? since + FIRST_LOOK_MS : 0;
	return check.at + pauseAfter(check.at, since, receivedAt);
}

/** When the next ID may be looked up that only a notification names. Those that proved real do not count. */
function unverifiedLookFrom(
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
	const regular = clamp((checkedAt - startedAt) / 4, FIRST_LOOK_MS, SLOWEST_LOOK_MS);
	const soon = clamp((checkedAt - receivedAt) / 2, SECOND_MS, SLOWEST_NOTIFIED_LOOK_MS);
	return receivedAt === -Infinity ? regular : Math.min(regular, soon);
}

function clamp(value: number, least: number, most: number): number {
	return Math.min(most, Math.max(least, value));
}

/** What to do about starts. One is under way at a time. @returns "wait" while the look goes on that decides */
function nextStart(view: View, isTime: (time: number) => boolean, now: number): Action | undefined {
	const { state, inFlight } = view.memory;
	const isListening = view.plan.mode === 'listen';
	const planned = startIn(state, 'planned');
	if (planned) {
		const [attempt, { at, process }] = planned;
		if (inFlight.has(attempt)) return undefined;
		const isOwn = process === PROCESS;
		if (isOwn && isListening) return { do: 'skip', attempt };
		// That of another process is given up after a while.
		const isReady = isTime(isOwn ? at + CLAIM_MS : now + LEFT_CHECK_MS);
		return isReady ? { do: 'send', attempt } : undefined;
	}
	const wanted = startIn(state, 'wanted');
	if (wanted) {
		const [attempt, { at }] = wanted;
		if (isListening) return { do: 'skip', attempt };
		return isTime(at) ? nextWanted(view, wanted, now) : undefined;
	}
	// The time zone of the workflow may have changed without an activation.
	return isTime(state.facts.schedule?.due ?? Infinity) ? { do: 'sync' } : undefined;
}

function nextWanted(
	view: View,
	[attempt, { why, tries, at: wantedAt }]: [string, Start],
	now: number,
): Action | undefined {
	const { plan, memory } = view;
	const { state, checks, inFlight } = memory;
	// The main process that led before may have started one with the new filters, or it was planned before they changed.
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
		// A scrape that still runs is not started a second time beside itself.
		if (isGone || !isSame || result) continue;
		if (at < wantedAt) return inFlight.has(id) ? { do: 'wait', ms: 0 } : { do: 'look', id };
		return isAnswered ? { do: 'skip', attempt, id } : undefined;
	}
	// Meanwhile another main process may have planned it. A clock may be set back.
	const looks = [...checks.values()].map(({ at }) => at).filter((at) => at <= now);
	if (memory.syncedAt < Math.max(tries > 0 ? wantedAt : 0, ...looks)) return { do: 'sync' };
	return { do: 'plan', attempt };
}
