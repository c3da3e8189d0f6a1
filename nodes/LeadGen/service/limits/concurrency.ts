import type { Call } from './call';
import { held, known, level, type Cubic } from './cubic';

/** Calls that may be under way in a run that begins. */
export const FEW = 20;
/** Their number doubles in this time, however slow the answers are. */
const DOUBLING_MS = 200;
/** Each call has a socket of its own, so this is the most sockets for an account. */
export const MOST_SOCKETS = 1000;
/** After so long without a call everything may be different. */
const IDLE_MS = 10_000;
/** The unit of the cubic climb, or the latency if that is longer. */
const UNIT_MS = 1000;
/** With fewer under way than this share of what was good, a refusal is not for the calls under way. */
const DOUBT = 0.5;
/** With fewer under way than this share of the most, no more are needed. */
const NEED = 0.5;
/** So many calls a millisecond are enough, so that few more are under way when the service refuses one. */
const ENOUGH = 0.55;
/** How often it is looked whether more calls may be under way. */
const LOOK_MS = 20;

/**
 * How many calls may be under way. At first it doubles again and again (slow start, but by time, so that slow
 * answers do not matter), until the first no: then it is cut to what was good, and climbs from there.
 */
export interface Concurrency extends Cubic {
	/** Whether the service never said no; then the age is the time since the start, in doublings. */
	readonly isOpening: boolean;
	/** Whether refusals taught it. */
	readonly isLimit: boolean;
	/** When the last call was sent. */
	readonly sentAt: number;
	/** When it was cut last. */
	readonly cutAt: number;
	/** The most calls that were under way before one that was taken. */
	readonly proven: number;
	/** What it was before a cut for a refusal that may have been for the rate. */
	readonly before?: Concurrency | undefined;
}

export const opening: Concurrency = {
	good: FEW,
	age: 0,
	isOpening: true,
	isLimit: false,
	sentAt: -Infinity,
	cutAt: -Infinity,
	proven: 0,
};

function mostUnderWay(state: Concurrency): number {
	const most = state.isOpening ? state.good * 2 ** state.age : level(state);
	return Math.max(1, Math.floor(Math.min(MOST_SOCKETS, most)));
}

/** @param latencyMs how long answers take, 0 before the first one */
function enoughUnderWay(latencyMs: number): number {
	return latencyMs > 0 ? Math.max(FEW, Math.floor(ENOUGH * latencyMs)) : Infinity;
}

/** @returns how long the next call waits, or until there may be room for it */
export function concurrencyWaitMs(state: Concurrency, underWay: number, latencyMs: number): number {
	const most = Math.min(mostUnderWay(state), enoughUnderWay(latencyMs));
	if (underWay < most) return 0;
	return most < MOST_SOCKETS ? LOOK_MS : Infinity;
}

/**
 * A call is sent, or may be.
 * @param underWay calls, of which there have to be enough to need more
 * @param latencyMs how long answers take: the service says no to what is tried no earlier
 */
export function grow(
	state: Concurrency,
	underWay: number,
	latencyMs: number,
	now: number,
): Concurrency {
	// Where it took longer, it was this process that had no time.
	const most = mostUnderWay(state);
	const isNeeded = underWay >= NEED * most && most < enoughUnderWay(latencyMs);
	const heldMs = isNeeded ? Math.min(now - state.sentAt, 2 * LOOK_MS) : 0;
	const unitMs = state.isOpening ? DOUBLING_MS : Math.max(UNIT_MS, latencyMs);
	return { ...held(state, heldMs / unitMs), sentAt: now };
}

/** There was nothing to do before the call that is sent now. */
export function rested(state: Concurrency, now: number): Concurrency {
	return state.isOpening && now - state.sentAt > IDLE_MS ? opening : state;
}

/** Calls become vain, such as when the credits end. */
export function startOver(state: Concurrency, now: number): Concurrency {
	return state.isOpening ? { ...opening, sentAt: now } : state;
}

/** A call was taken. */
export function prove(state: Concurrency, { ahead }: Call): Concurrency {
	return ahead > state.proven ? { ...state, proven: ahead } : state;
}

/** Whether a refused call may have been one too many. @param isAlone whether nothing is known of a rate */
export function isTooMany(state: Concurrency, { ahead }: Call, isAlone: boolean): boolean {
	if (!state.isLimit && !state.before) return ahead > state.proven;
	// This process hears late of answers, so that fewer were under way than it seemed.
	return ahead >= (isAlone ? DOUBT * state.good : Math.floor(state.good));
}

/** A call was refused that was one too many: those that were under way before it are good. */
export function cutTo(state: Concurrency, { ahead }: Call, now: number): Concurrency {
	return setTo(state, Math.min(ahead, mostUnderWay(state)), now);
}

/**
 * Whether a call that was taken or refused after a cut shows that the cut was wrong: far fewer were under way.
 * @param surely how many were under way when it was taken, at the least
 */
export function wasRate({ before, good }: Concurrency, { ahead }: Call, surely = 0): boolean {
	return !before || ahead < DOUBT * good || surely >= good;
}

/**
 * A refusal while nothing is known: it may be for the calls under way, until a later one says that it was not.
 * @param isLater whether the call was sent after one that was refused
 */
export function suspect(
	state: Concurrency,
	call: Call,
	isLater: boolean,
	now: number,
): Concurrency {
	if (isLater) return wasRate(state, call) ? takeBack(state) : state;
	if (!isTooMany(state, call, true)) return state;
	return { ...cutTo(state, call, now), before: state.before ?? state };
}

/** The refusal was for the rate. */
export function takeBack({ before, ...state }: Concurrency): Concurrency {
	return before ? { ...before, proven: state.proven } : state;
}

/** The refusal was for the calls under way. */
export function keep(state: Concurrency): Concurrency {
	return { ...state, before: undefined, isLimit: true };
}

/** Answers became slower, if the gradient is below 1. */
export function slowDown(
	state: Concurrency,
	gradient: number,
	{ ahead }: Call,
	now: number,
): Concurrency {
	if (gradient === 1) return state;
	const most = Math.min(mostUnderWay(state), ahead + 1);
	return setTo(state, Math.max(FEW, most * gradient), now);
}

function setTo(state: Concurrency, good: number, now: number): Concurrency {
	return { ...state, ...known(Math.max(1, good)), isOpening: false, cutAt: now };
}
