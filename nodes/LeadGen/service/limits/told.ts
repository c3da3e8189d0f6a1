import { HOPELESS_MS } from './pause';
import { MARGIN_MS } from './published';
import type { RateNews } from './rateHeaders';

/** What an answer said is left, and until when; `left` shrinks with each call that is sent. */
export interface Told {
	left: number;
	until: number;
}

/**
 * An answer came. It counts alone: what an earlier one said is forgotten.
 * @param underWay calls that may not be counted in it yet
 * @param tookMs how long the answer took
 */
export function hear(
	{ remaining, resetMs }: RateNews,
	underWay: number,
	now: number,
	tookMs: number,
): Told | undefined {
	// The service may have counted the call when it came in: then this window is over.
	if (remaining === undefined || resetMs === undefined || resetMs <= tookMs) return undefined;
	const until = now + Math.min(resetMs, HOPELESS_MS) + MARGIN_MS;
	return { left: remaining - underWay, until };
}

/** Time passed: after the reset a single call goes ahead, to hear how many are left now. */
export function reset(told: Told | undefined, now: number): Told | undefined {
	return told && now >= told.until ? { left: 1, until: Infinity } : told;
}

/** A call was sent. */
export function countDown(told: Told | undefined): Told | undefined {
	return told && { ...told, left: told.left - 1 };
}

/** @returns how long the next call waits; 0 if the service tells nothing */
export function toldWaitMs(told: Told | undefined, underWay: number, now: number): number {
	if (!told || told.left > 0) return 0;
	// The one call that went ahead got no answer that tells.
	if (told.until === Infinity && underWay === 0) return 0;
	return told.until - now;
}
