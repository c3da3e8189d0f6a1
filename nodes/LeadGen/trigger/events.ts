import { ServiceError } from '../service/errors';
import { isRateRefusal } from '../service/retry';
import {
	NOT_KNOWN,
	notStarted,
	notStartedYet,
	repeatedScrape,
	textOf,
	UNREACHABLE,
	unknownOutcome,
} from './notices';
import { nextRun, type Plan } from './plan';
import { PROCESS, PROCESS_SINCE } from './process';
import { fingerprint } from './signature';
import {
	addNotice,
	isDone,
	isOpen,
	reject,
	startIn,
	type Entry,
	type Start,
	type TriggerState,
} from './state';

/** Changes of the state that an activation, the time, and the outcome of a start cause. */

const MINUTE_MS = 60_000;
/** n8n does not repeat an activation that is older than this. */
const ESTABLISHED_MS = MINUTE_MS;
const FIRST_RETRY_MS = 15_000;
const SLOWEST_RETRY_MS = 10 * MINUTE_MS;
const MAX_SKIPPED = 20;
/** A start without an answer after this time has an unknown outcome. */
export const START_TIMEOUT_MS = 2 * MINUTE_MS;
/** This many tries take an hour. Then a notice reports the problem. */
const TOLD_AFTER_TRIES = 11;

/** An activation of the node by n8n. */
export interface NewActivation {
	id: string;
	/** The activation mode that n8n reports. */
	mode: string;
	/** Whether the service cannot reach n8n. */
	isUnreachable: boolean;
	/** When this process last activated the node; undefined if n8n has deactivated the node here since. */
	activeSince?: number;
}

/** Handles an activation, which may ask for a start (docs/architecture.md, "When an activation starts a scrape"). */
export function applyActivation(
	state: TriggerState,
	{ id, mode, isUnreachable, activeSince }: NewActivation,
	plan: Plan,
	now: number,
): void {
	const { activation: known } = state.facts;
	// n8n 2 repeats an activation that a crash interrupted. Other versions repeat one when another trigger of the
	// workflow loses its connection. n8n reports both like an activation by a user.
	const isEstablished = known?.isEstablished === true && activeSince === undefined;
	const isClosed = known?.isClosed === true && known.at >= (activeSince ?? 0);
	const isAsked = mode === 'activate' && (!known || isClosed || isEstablished);
	// While n8n starts, it also deactivates the node if it cannot activate another trigger of the workflow.
	const wasClosed = known?.isClosed === true && known.at < PROCESS_SINCE;
	const isUnfinished = known === undefined || (mode === 'init' && wasClosed);
	state.facts.activation = { id, at: after(known, now), filters: plan.filters };
	// The next scheduled start is calculated from now.
	if (isAsked) state.facts.schedule = { print: '', at: after(state.facts.schedule, now) };
	const isChanged = known && known.filters !== plan.filters && /^(activate|update)$/.test(mode);
	if (plan.mode === 'listen') {
		if (isAsked && isUnreachable) addNotice(state, `unreachable ${id}`, UNREACHABLE, now);
	} else if (isAsked || isChanged) {
		// This start replaces a start that is not planned yet.
		dropRequests(state, () => true);
		requestStart(state, { id, why: isAsked ? 'activation' : 'filters', at: now, tries: 0 });
	} else if (isUnfinished && !startIn(state, 'wanted')) {
		addNotice(state, `not known ${id}`, NOT_KNOWN, now);
	}
}

/**
 * The time of a new version of a fact: always after the known version, even if that came from a clock that is ahead.
 */
export function after(known: Entry | undefined, now: number): number {
	return Math.max(now, (known?.at ?? 0) + 1);
}

/** Asks for a start. */
function requestStart(
	{ starts }: TriggerState,
	{ id, why, at, due, tries }: Omit<Start, 'stage'>,
): void {
	// If two main processes want the same start, the second one finds the attempt of the first one.
	starts[`${id}-${String(tries)}`] ??= { stage: 'wanted', id, why, at, due, tries };
}

/** Cancels wanted starts. */
function dropRequests({ starts }: TriggerState, isDropped: (start: Start) => boolean): void {
	for (const start of Object.values(starts)) {
		if (start.stage === 'wanted' && isDropped(start)) start.stage = 'failed';
	}
}

/**
 * Applies the changes that time causes: an activation becomes established, the schedule changes with the time zone of
 * the workflow, a scheduled start becomes due, or the process that planned a start is gone.
 * @param syncedAt when the plan was read
 */
export function applyTime(
	state: TriggerState,
	plan: Plan,
	{ id, mode }: Pick<NewActivation, 'id' | 'mode'>,
	syncedAt: number,
	now: number,
): void {
	const { facts, starts } = state;
	const known = facts.activation;
	const isListening = plan.mode === 'listen';
	const isNew = known?.id === id && !known.isEstablished;
	// If the node only listens, no start depends on this.
	if (isNew && !isListening && now - known.at >= ESTABLISHED_MS) {
		facts.activation = { ...known, at: after(known, now), isEstablished: true };
	}
	// Starts that become due while the node only listens are skipped.
	const print = isListening ? '' : fingerprint([plan.schedule, plan.timeZone]);
	if (facts.schedule?.print !== print) {
		facts.schedule = { print, at: after(facts.schedule, now), due: nextRun(plan, now) };
		dropRequests(state, (start) => start.due !== undefined);
	}
	for (const [attempt, start] of Object.entries(starts)) {
		const isLeft = start.stage === 'planned' && start.process !== PROCESS;
		const why = 'n8n stopped before it had saved the answer of the service';
		if (isLeft && now - start.at >= leaseMs(mode)) recordUnknownStart(state, attempt, why, now);
	}
	const { due = Infinity } = facts.schedule;
	if (due > Math.min(now, syncedAt) || startIn(state, 'planned') || startIn(state, 'wanted'))
		return;
	requestStart(state, { id: String(due), why: 'schedule', at: now, due, tries: 0 });
	facts.schedule = { print, at: after(facts.schedule, now), due: nextRun(plan, now) };
}

/**
 * The lease of a start in flight in another process. If that process only lost leadership, it may still wait for the
 * answer.
 */
function leaseMs(mode: string): number {
	return mode === 'leadershipChange' ? START_TIMEOUT_MS + MINUTE_MS / 2 : MINUTE_MS / 4;
}

/** Assigns a wanted start to this process, which is to send it. */
export function planStart(
	{ starts }: TriggerState,
	attempt: string,
	{ filters }: Plan,
	now: number,
): void {
	const start = starts[attempt];
	if (start?.stage !== 'wanted') return;
	starts[attempt] = { ...start, stage: 'planned', at: now, process: PROCESS, filters };
}

/** Records an unknown outcome. The user may have paid for the start, so it is never sent again. */
function recordUnknownStart(state: TriggerState, attempt: string, why: string, now: number): void {
	const start = state.starts[attempt];
	if (!start) return;
	state.starts[attempt] = { ...start, stage: 'unknown' };
	addNotice(state, `start ${attempt}`, unknownOutcome(why, attempt), now);
}

/** Skips a start. @param id the scrape that still runs */
export function skipStart(
	state: TriggerState,
	{ attempt, id = '' }: { attempt: string; id?: string },
	now: number,
): void {
	const start = state.starts[attempt];
	if (start) start.stage = 'failed';
	const scrape = state.scrapes[id];
	if (scrape?.stage !== 'open' || start?.due === undefined) return;
	scrape.skipped = [...(scrape.skipped ?? []), start.due].slice(-MAX_SKIPPED);
	scrape.at = now;
}

/**
 * Records which scrape an attempt started, or a notification is about.
 * @param since when the scrape was started, or first named
 * @param depth the depth of the scrape ID in the notification
 */
export function recordScrape(
	state: TriggerState,
	source: string,
	scrapeId: string,
	now: number,
	since = now,
	depth = 0,
): void {
	const start = state.starts[source];
	if (start && start.stage !== 'started' && isDone(state, scrapeId)) {
		addNotice(state, `start ${source}`, repeatedScrape(scrapeId), now);
	}
	if (start) {
		state.starts[source] = { ...start, stage: 'started', scrapeId };
		// The start was reported as not sent, so a retry may be wanted. Cancel that retry.
		dropRequests(state, ({ id }) => id === start.id);
	}
	for (const [id, other] of Object.entries(state.scrapes)) {
		if (other.stage !== 'unverified' || other.source !== source) continue;
		// A start creates one scrape. Without a start, deeper IDs in the notification belong to the scrape, as leads do.
		if (start || (other.depth ?? 0) > depth) reject(state, id, now);
	}
	if (isDone(state, scrapeId) || isOpen(state.scrapes[scrapeId])) return;
	const filters = start?.filters;
	state.scrapes[scrapeId] = { stage: 'open', at: now, since, source, filters };
}

/** Handles a start that did not return a scrape. */
export function recordFailedStart(
	state: TriggerState,
	attempt: string,
	error: unknown,
	now: number,
): void {
	const start = state.starts[attempt];
	// Its notification may have arrived before this answer and named the scrape.
	if (!start || start.stage === 'started') return;
	const known = error instanceof ServiceError ? error : undefined;
	const text = textOf(error);
	if (known?.outcome === 'notSent' || (known && isRateRefusal(known))) {
		const delay = Math.min(SLOWEST_RETRY_MS, FIRST_RETRY_MS * 2 ** start.tries);
		const tries = start.tries + 1;
		state.starts[attempt] = { ...start, stage: 'failed' };
		// Another start may have been asked for meanwhile.
		if (!startIn(state, 'wanted')) requestStart(state, { ...start, at: now + delay, tries });
		if (tries === TOLD_AFTER_TRIES) addNotice(state, `start ${attempt}`, notStartedYet(text), now);
	} else if (known?.outcome === 'unknown') {
		recordUnknownStart(state, attempt, text.message, now);
	} else {
		state.starts[attempt] = { ...start, stage: 'failed' };
		addNotice(state, `start ${attempt}`, notStarted(text), now);
	}
}
