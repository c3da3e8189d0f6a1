import type { TimeLog } from './timeLog';

/** Limits are written per minute ("Rate limits" in docs/service.md). */
export const MINUTE_MS = 60_000;

/** Limits are usually counted over one of these times. */
export const USUAL_MS = [1000, 10_000, MINUTE_MS];

/** Clocks and timers are not exact, so a window is kept a little longer than it is. */
export const MARGIN_MS = 5;

/**
 * The limit that the plan or the credential names. Up to it, calls go out at once; then each waits until one
 * of them is a minute old. The minute counts from the answer, since the service may have counted the call at
 * any time until then: so the limit is kept whether the service has fixed or sliding windows or a token
 * bucket of that size.
 * @param over when each call of the last minute was over
 * @returns how long the next call waits; `Infinity` means until another one is over
 */
export function publishedWaitMs(
	perMinute: number,
	over: TimeLog,
	underWay: number,
	now: number,
): number {
	return over.waitMs(perMinute, MINUTE_MS + MARGIN_MS, now, underWay);
}
