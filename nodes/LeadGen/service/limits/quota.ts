import { GIVE_UP_MS, worthwhileMs } from './pause';
import { MARGIN_MS } from './published';
import type { RateInfo } from './rateHeaders';

/** How many requests are left, according to the last answer, and until when. Each call that is sent reduces `left`. */
export interface Quota {
	left: number;
	until: number;
}

/**
 * Reads an answer, which replaces what an earlier answer said.
 * @param inFlight calls that the answer may not count yet
 * @param tookMs how long the answer took
 */
export function readQuota(
	{ remaining, resetMs }: RateInfo,
	inFlight: number,
	now: number,
	tookMs: number,
): Quota | undefined {
	// The service may have counted the call when it came in: then this window is over.
	if (remaining === undefined || resetMs === undefined || resetMs <= tookMs) return undefined;
	const left = remaining - inFlight;
	const waitMs = left > 0 ? resetMs : worthwhileMs(resetMs);
	return { left, until: now + Math.min(waitMs, GIVE_UP_MS) + MARGIN_MS };
}

/** After the reset, a single call goes ahead to learn how many requests are left. */
export function reset(quota: Quota | undefined, now: number): Quota | undefined {
	return quota && now >= quota.until ? { left: 1, until: Infinity } : quota;
}

/** Records that a call was sent. */
export function countDown(quota: Quota | undefined): Quota | undefined {
	return quota && { ...quota, left: quota.left - 1 };
}

/** @returns how long the next call waits; 0 if the service names no number */
export function quotaWaitMs(quota: Quota | undefined, inFlight: number, now: number): number {
	if (!quota || quota.left > 0) return 0;
	// The answer to the call that went ahead named no number.
	if (quota.until === Infinity && inFlight === 0) return 0;
	return quota.until - now;
}
