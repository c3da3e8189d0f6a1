import type { Call } from './call';
import { held, known, level, type Cubic } from './cubic';

/** Calls that may be in flight at the beginning. */
export const FEW = 20;
/** This number doubles in this time, however slow the answers are. */
const DOUBLING_MS = 200;
/** Each call in flight has its own socket, so this is the maximum number of sockets for an account. */
export const MOST_SOCKETS = 1000;
/** After this time without a call, the conditions may have changed. */
const IDLE_MS = 10_000;
/** The unit of time of the cubic growth, unless the latency is longer. */
const UNIT_MS = 1000;
/** If fewer calls than this share of the good number were in flight, the number did not cause a refusal. */
const DOUBT = 0.5;
/** If fewer calls than this share of the maximum are in flight, no more are needed. */
const NEED = 0.5;
/** This many calls per millisecond are enough, so that few other calls are in flight when the service refuses one. */
const ENOUGH = 0.55;
/** How often to check whether more calls may be in flight. */
const LOOK_MS = 20;

/**
 * How many calls may be in flight. At first the number doubles again and again (slow start, but by time, so that slow
 * answers do not matter) until the first refusal or slowdown. Then it is cut to what was good, and grows from there.
 */
export interface Concurrency extends Cubic {
	/** Whether slow start has not ended yet. If so, `age` is the time since its start, in doublings. */
	readonly isOpening: boolean;
	/** Whether refusals showed that the service limits the calls in flight. */
	readonly isLimit: boolean;
	/** When the last call was sent. */
	readonly sentAt: number;
	/** When the number was last cut. */
	readonly cutAt: number;
	/** The maximum number of calls that were in flight when an accepted call was sent. */
	readonly proven: number;
	/** The state before a cut, if the rate may have caused the refusal. */
	readonly beforeCut?: Concurrency | undefined;
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

function mostInFlight(state: Concurrency): number {
	const most = state.isOpening ? state.good * 2 ** state.age : level(state);
	return Math.max(1, Math.floor(Math.min(MOST_SOCKETS, most)));
}

/** @param latencyMs how long answers take; 0 before the first one */
function enoughInFlight(latencyMs: number): number {
	return latencyMs > 0 ? Math.max(FEW, Math.floor(ENOUGH * latencyMs)) : Infinity;
}

/** @returns how long the next call waits, or when to check again whether there is room for it */
export function concurrencyWaitMs(state: Concurrency, inFlight: number, latencyMs: number): number {
	const most = Math.min(mostInFlight(state), enoughInFlight(latencyMs));
	if (inFlight < most) return 0;
	return most < MOST_SOCKETS ? LOOK_MS : Infinity;
}

/**
 * Grows the number when a call is sent or may be sent.
 * @param inFlight the calls in flight, of which enough are needed before more are allowed
 * @param latencyMs how long answers take: a refusal arrives no earlier than this
 */
export function grow(
	state: Concurrency,
	inFlight: number,
	latencyMs: number,
	now: number,
): Concurrency {
	// If more time passed, this process was busy.
	const most = mostInFlight(state);
	const isNeeded = inFlight >= NEED * most && most < enoughInFlight(latencyMs);
	const heldMs = isNeeded ? Math.min(now - state.sentAt, 2 * LOOK_MS) : 0;
	const unitMs = state.isOpening ? DOUBLING_MS : Math.max(UNIT_MS, latencyMs);
	return { ...held(state, heldMs / unitMs), sentAt: now };
}

/** Begins again with few calls after a long idle time. */
export function rested(state: Concurrency, now: number): Concurrency {
	return state.isOpening && now - state.sentAt > IDLE_MS ? opening : state;
}

/** Begins again with few calls when further calls cannot succeed, such as when the credits have run out. */
export function startOver(state: Concurrency, now: number): Concurrency {
	return state.isOpening ? { ...opening, sentAt: now } : state;
}

/** Records that the service accepted a call. */
export function prove(state: Concurrency, { inFlightAtSend }: Call): Concurrency {
	return inFlightAtSend > state.proven ? { ...state, proven: inFlightAtSend } : state;
}

/** Whether too many calls in flight may have caused a refusal. @param isAlone whether nothing is known about a rate */
export function isTooMany(state: Concurrency, { inFlightAtSend }: Call, isAlone: boolean): boolean {
	if (!state.isLimit && !state.beforeCut) return inFlightAtSend > state.proven;
	// This process learns late of answers, so fewer calls were in flight than it seemed.
	return inFlightAtSend >= (isAlone ? DOUBT * state.good : Math.floor(state.good));
}

/** Too many calls in flight caused a refusal: the number before that call is good. */
export function cutTo(state: Concurrency, { inFlightAtSend }: Call, now: number): Concurrency {
	return setTo(state, Math.min(inFlightAtSend, mostInFlight(state)), now);
}

/**
 * Whether a call that was accepted or refused after a cut shows that the rate was the cause: far fewer calls were in
 * flight, or surely as many as the cut allows.
 * @param surely the least number of calls that were in flight when it was accepted
 */
export function wasRate(
	{ beforeCut, good }: Concurrency,
	{ inFlightAtSend }: Call,
	surely = 0,
): boolean {
	return !beforeCut || inFlightAtSend < DOUBT * good || surely >= good;
}

/**
 * Handles a refusal while nothing is known. The calls in flight may be the cause, until a later refusal disproves it.
 * @param isLater whether the call was sent after a refused one
 */
export function cutTentatively(
	state: Concurrency,
	call: Call,
	isLater: boolean,
	now: number,
): Concurrency {
	if (isLater) return wasRate(state, call) ? undoCut(state) : state;
	if (!isTooMany(state, call, true)) return state;
	return { ...cutTo(state, call, now), beforeCut: state.beforeCut ?? state };
}

/** The rate caused the refusal. */
export function undoCut({ beforeCut, ...state }: Concurrency): Concurrency {
	return beforeCut ? { ...beforeCut, proven: state.proven } : state;
}

/** The number of calls in flight caused the refusal. */
export function confirmCut(state: Concurrency): Concurrency {
	return { ...state, beforeCut: undefined, isLimit: true };
}

/** Cuts the number if the gradient is below 1, because answers became slower. */
export function slowDown(
	state: Concurrency,
	gradient: number,
	{ inFlightAtSend }: Call,
	now: number,
): Concurrency {
	if (gradient === 1) return state;
	const most = Math.min(mostInFlight(state), inFlightAtSend + 1);
	return setTo(state, Math.max(FEW, most * gradient), now);
}

function setTo(state: Concurrency, good: number, now: number): Concurrency {
	return { ...state, ...known(Math.max(1, good)), isOpening: false, cutAt: now };
}
