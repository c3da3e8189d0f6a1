import { HOPELESS_MS } from './pause';
import { MARGIN_MS } from './published';
import type { RateNews } from './rateHeaders';

/** How many requests are left, according to the last answer, and until when. Each call that is sent reduces `left`. */
export interface Told {
	left: number;
	until: number;
}

/**
 * Reads an answer, which replaces what an earlier answer said.
 * @param underWay calls that the answer may not count yet
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

/** After the reset, a single call goes ahead to learn how many requests are left. */
export function reset(told: Told | undefined, now: number): Told | undefined {
	return told && now >= told.until ? { left: 1, until: Infinity } : told;
}

/** Records that a call was sent. */
export function countDown(told: Told | undefined): Told | undefined {
	return told && { ...told, left: told.left - 1 };
}

/** @returns how long the next call waits; 0 if the service names no number */
export function toldWaitMs(told: Told | undefined, underWay: number, now: number): number {
	if (!told || told.left > 0) return 0;
	// The answer to the call that went ahead named no number.
	if (told.until === Infinity && underWay === 0) return 0;
	return told.until - now;
}
