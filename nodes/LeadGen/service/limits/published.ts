import type { TimeLog } from './timeLog';

/** Limits are published per minute ("Rate limits" in docs/service.md). */
export const MINUTE_MS = 60_000;

/** Services usually count limits over one of these windows. */
export const USUAL_MS = [1000, 10_000, MINUTE_MS];

/** Clocks and timers are not exact, so each window is kept longer by this margin. */
export const MARGIN_MS = 5;

/**
 * The wait for the limit that the plan or the credential names. Up to the limit, calls go out at once. After that, each
 * call waits until an earlier one is a minute old. The minute counts from the answer, because the service may have
 * counted the call at any time until then. So the limit is kept whether the service uses fixed windows, sliding windows
 * or a token bucket of that size.
 * @param over when each call of the last minute ended
 * @returns how long the next call waits; `Infinity` means until another call ends
 */
export function publishedWaitMs(
	perMinute: number,
	over: TimeLog,
	inFlight: number,
	now: number,
): number {
	return over.waitMs(perMinute, MINUTE_MS + MARGIN_MS, now, inFlight);
}
