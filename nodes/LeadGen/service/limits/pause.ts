import { MARGIN_MS, MINUTE_MS, USUAL_MS } from './published';
import type { RateInfo } from './rateHeaders';

/** The first and the longest pause after refusals that name no time. */
const FIRST_MS = 100;
export const LONGEST_PAUSE_MS = 10_000;
/** Each pause is this share of the time since the calls before it began. Only the recent part of that time counts. */
const SHARE = 0.5;
const LATELY_MS = 3000;
/**
 * When a usual window ends, calls are probably accepted. The pause ends later than the window by at most this share.
 */
const JITTER = 0.002;

/** If no call succeeds for this long, waiting does not help any more. No pause is longer than this. */
export const GIVE_UP_MS = 10 * MINUTE_MS;

/** The service refuses calls: nothing goes out before `until`. After that, single calls probe. */
export interface Pause {
	/** When the refusals began. */
	since: number;
	until: number;
}

/** What is known about when the service may accept calls again. */
export interface Outlook {
	/** When the first of the calls was sent that the service accepted before. Windows count from there. */
	began: number;
	/** How long the window may be if the published limit holds on average. */
	expectedMs: number;
	/** The window that was learned before, if any. */
	knownMs: number | undefined;
	/** From 0 to 1, so that several processes on one account do not continue at the same moment. */
	random: number;
}

/** A call was refused. Refusals of calls that were in flight together count as one. */
export function pauseOn(
	pause: Pause | undefined,
	rateInfo: RateInfo,
	outlook: Outlook,
	now: number,
): Pause {
	const { since, until } = pause ?? { since: now, until: 0 };
	const named = namedMs(rateInfo);
	if (named !== undefined) {
		const back = now + worthwhileMs(named) + 100 * outlook.random;
		return { since, until: Math.max(until, back) };
	}
	return until > now ? { since, until } : tryOnce({ since, until }, outlook, now);
}

/** A single call goes out as a probe. The next call waits as if the probe was refused. */
export function tryOnce({ since }: Pause, outlook: Outlook, now: number): Pause {
	const { began, expectedMs, knownMs = LATELY_MS, random } = outlook;
	const sinceMs = now - Math.max(began, since - knownMs);
	// A window slides, so there may be room again at once.
	const share = now === since ? 0 : SHARE;
	const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_MS, share * sinceMs));
	const ends = [...USUAL_MS, expectedMs]
		.map((ms) => began + ms * (1 + JITTER * random) + MARGIN_MS)
		.filter((at) => at > now);
	return { since, until: Math.min(now + pauseMs * (0.75 + random / 2), ...ends) };
}

/** Whether the answer names a time to come back. */
export function isNamed(rateInfo: RateInfo): boolean {
	return namedMs(rateInfo) !== undefined;
}

/** A time in the past says nothing. The reset of a limit that is not used up says nothing either. */
export function namedMs({ retryAfterMs, remaining, resetMs }: RateInfo): number | undefined {
	return (retryAfterMs ?? (remaining ? undefined : resetMs)) || undefined;
}

/** In how much time the service accepts a call again that it turned away, if it says so. */
export function backMs({ retryAfterMs, remaining, resetMs }: RateInfo): number {
	return retryAfterMs ?? (remaining === 0 ? resetMs : undefined) ?? 0;
}

/** How long to wait if the service names a time. If that is too long, a single call tries, and may end its run. */
export function worthwhileMs(ms: number): number {
	return ms > GIVE_UP_MS ? 0 : ms;
}

/** The same, but with times of at most `GIVE_UP_MS`. */
export function shortened({ retryAfterMs, remaining, resetMs }: RateInfo): RateInfo {
	const short = (ms: number | undefined) => ms && Math.min(ms, GIVE_UP_MS);
	return { retryAfterMs: short(retryAfterMs), remaining, resetMs: short(resetMs) };
}
