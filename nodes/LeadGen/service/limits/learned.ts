import { cut, held, known, level, type Cubic } from './cubic';
import { MARGIN_MS, MINUTE_MS, USUAL_MS } from './published';
import type { TimeLog } from './timeLog';

/** The most that a pause takes from a rate, as a factor. */
const LARGEST_CUT = 0.5;
/** With more than this share of the published limit, that is likely to be right on the average. */
const LIKELY = 0.5;
/** A busy process needs so much longer for the calls of a window, as a factor. */
const BUSY = 1.2;
/** What happens in less time says nothing of a rate. */
const LEAST_MS = 500;

/**
 * What refusals taught: so many calls at once, and so many in a millisecond, which is what the cubic climb is
 * about. There is none until the first refusal.
 */
export interface Learned extends Cubic {
	/** Calls that the service takes at once. */
	readonly burst: number;
	/** When the last call was sent. */
	readonly sentAt: number;
	/** When the rate was corrected last. */
	readonly correctedAt: number;
}

/** A window: so many calls in any so many milliseconds. */
export interface Window {
	limit: number;
	ms: number;
}

/** @param perMinute the published limit, which the rate never exceeds; what is more goes into the burst */
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
 * A call was sent: the rate grows by the time that it holds back calls alone.
 * @returns nothing, once it is no less than the published limit
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

/** A call was refused. Those of one window are one refusal: what was sent before is still counted. */
export function slowDown(learned: Learned, perMinute: number, now: number): Learned {
	if (now - learned.correctedAt < unitMs(learned)) return learned;
	const slower = cut(learned);
	return { ...slower, good: Math.min(slower.good, perMinute / MINUTE_MS), correctedAt: now };
}

/**
 * The service takes calls again.
 * @param seen how many calls it took until it refused one, and how many in a millisecond until now
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

/** The published limit counted over less than a minute. @param taken how many calls the service took */
function likelyBurst(taken: number, published: number): number {
	const ms = taken / published;
	const usual = USUAL_MS.find((each) => ms > each && ms <= BUSY * each);
	return Math.max(1, usual === undefined ? taken : usual * published);
}
