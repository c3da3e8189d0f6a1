/** Limits are published per minute ("Rate limits" in docs/service.md). */
export const MINUTE_MS = 60_000;

/** Clocks and timers are not exact, so each window is kept longer by this margin. */
export const MARGIN_MS = 5;

/** If no call succeeds for this long, waiting does not help any more. No pause is longer than this. */
export const GIVE_UP_MS = 10 * MINUTE_MS;
