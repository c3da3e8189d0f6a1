import { cut, held, known, level, type Cubic } from './cubic';
import { MARGIN_MS, MINUTE_MS, USUAL_MS } from './published';
import type { TimeLog } from './timeLog';

/** The largest reduction of a rate by a pause, as a factor. */
const LARGEST_CUT = 0.5;
/** If the rate is more than this share of the published limit, that limit is probably right on average. */
const LIKELY = 0.5;
/** A busy process needs up to this much longer for the calls of a window, as a factor. */
const BUSY = 1.2;
/** Shorter times say nothing about a rate. */
const LEAST_MS = 500;

/**
 * What refusals taught: a burst, and a rate in calls per millisecond. The cubic growth is about the rate. Undefined
 * until the first refusal.
 */
export interface Learned extends Cubic {
	/** Calls that the service accepts at once. */
	readonly burst: number;
	/** When the last call was sent. */
	readonly sentAt: number;
	/** When the rate was last corrected. */
	readonly correctedAt: number;
}

/** A window: `limit` calls in any `ms` milliseconds. */
export interface Window {
	limit: number;
	ms: number;
}

/** @param perMinute the published limit, which the rate never exceeds; growth beyond it increases the burst */
export function windowOf(learned: Learned, perMinute: number): Window {
	const published = perMinute / MINUTE_MS;
	const rate = level(learned);
	const limit = Math.floor(learned.burst * Math.max(1, rate / published));
	return { limit, ms: limit / Math.min(rate, published) };
}

/** The window that is known to be good. */
function unitMs({ burst, good }: Learned): number {
	return Math.max(LEAST_MS, burst / good);
}

/** @param counted when the service counted each call that was not refused */
export function learnedWaitMs(window: Window, counted: TimeLog, now: number): number {
	return counted.waitMs(window.limit, window.ms + MARGIN_MS, now);
}

/**
 * Records that a call was sent. The rate grows only by the time in which it held back calls.
 * @returns undefined once the window is no less than the published limit
 */
export function climbOn(
	learned: Learned,
	now: number,
	isHeld: boolean,
	perMinute: number,
): Learned | undefined {
	const { limit, ms } = windowOf(learned, perMinute);
	if (limit >= perMinute && ms >= MINUTE_MS) return undefined;
	const units = isHeld ? (now - learned.sentAt) / unitMs(learned) : 0;
	return { ...held(learned, units), sentAt: now };
}

/** A call was refused. Refusals within one window count as one, because the service still counts the earlier calls. */
export function slowDown(learned: Learned, perMinute: number, now: number): Learned {
	if (now - learned.correctedAt < unitMs(learned)) return learned;
	const slower = cut(learned);
	return { ...slower, good: Math.min(slower.good, perMinute / MINUTE_MS), correctedAt: now };
}

/**
 * The service accepts calls again.
 * @param seen how many calls it accepted until it refused one, and how many per millisecond until now
 */
export function learn(
	learned: Learned | undefined,
	seen: { burst: number; rate: number },
	now: number,
	perMinute: number,
): Learned {
	const published = perMinute / MINUTE_MS;
	const corrected = { sentAt: now, correctedAt: now };
	if (!learned && seen.rate >= LIKELY * published) {
		return { ...known(published), burst: likelyBurst(seen.burst, published), ...corrected };
	}
	const before = learned ? windowOf(learned, perMinute) : { limit: Infinity, ms: Infinity };
	const least = learned ? (LARGEST_CUT * before.limit) / before.ms : 0;
	return {
		...known(Math.min(published, Math.max(seen.rate, least))),
		burst: Math.max(1, Math.min(seen.burst, before.limit)),
		...corrected,
	};
}

/**
 * The published limit over a usual window, if `taken` is just above it; otherwise `taken`.
 * @param taken how many calls the service accepted
 */
function likelyBurst(taken: number, published: number): number {
	const ms = taken / published;
	const usual = USUAL_MS.find((each) => ms > each && ms <= BUSY * each);
	return Math.max(1, usual === undefined ? taken : usual * published);
}
