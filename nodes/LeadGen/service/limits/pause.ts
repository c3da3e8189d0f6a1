import { MARGIN_MS, MINUTE_MS, USUAL_MS } from './published';
import type { RateNews } from './rateHeaders';

/** Pauses after refusals that name no time: the first one, and the longest. */
const FIRST_MS = 100;
const LONGEST_MS = 10_000;
/** Each is this share of the time since the calls began that led to it, as far as that was lately. */
const SHARE = 0.5;
const LATELY_MS = 3000;
/** Calls are likely to be taken when a usual window is over: later than that by this share at most. */
const JITTER = 0.002;

/** Without a single success for this long, more patience does not help, and no longer pause is kept. */
export const HOPELESS_MS = 10 * MINUTE_MS;

/** The service refuses: nothing goes out before `until`, and then single calls that try. */
export interface Pause {
	/** When it began. */
	since: number;
	until: number;
}

/** What is known of when calls may be taken again. */
export interface Outlook {
	/** When the first of the calls was sent that the service took before; windows count from there. */
	began: number;
	/** How long the window may be if the published limit is kept on the average. */
	expectedMs: number;
	/** The window that was learned before. */
	knownMs: number | undefined;
	/** From 0 to 1, so that several processes on one account do not go on at the same moment. */
	random: number;
}

/** A call was refused. Refusals of calls that were under way together are one. */
export function pauseOn(
	pause: Pause | undefined,
	news: RateNews,
	outlook: Outlook,
	now: number,
): Pause {
	const { since, until } = pause ?? { since: now, until: 0 };
	const named = namedMs(news);
	if (named !== undefined) {
		const back = now + Math.min(named, HOPELESS_MS) + 100 * outlook.random;
		return { since, until: Math.max(until, back) };
	}
	return until > now ? { since, until } : tryOnce({ since, until }, outlook, now);
}

/** A single call goes out to try; the next one waits as if it was refused. */
export function tryOnce({ since }: Pause, outlook: Outlook, now: number): Pause {
	const { began, expectedMs, knownMs = LATELY_MS, random } = outlook;
	const sinceMs = now - Math.max(began, since - knownMs);
	// A window slides, so that there may be room again at once.
	const share = now === since ? 0 : SHARE;
	const pauseMs = Math.min(LONGEST_MS, Math.max(FIRST_MS, share * sinceMs));
	const ends = [...USUAL_MS, expectedMs]
		.map((ms) => began + ms * (1 + JITTER * random) + MARGIN_MS)
		.filter((at) => at > now);
	return { since, until: Math.min(now + pauseMs * (0.75 + random / 2), ...ends) };
}

/** Whether the answer names a time to come back. */
export function isNamed(news: RateNews): boolean {
	return namedMs(news) !== undefined;
}

/** A time that is over already says nothing, and neither does the reset of a limit that is not used up. */
function namedMs({ retryAfterMs, remaining, resetMs }: RateNews): number | undefined {
	return (retryAfterMs ?? (remaining ? undefined : resetMs)) || undefined;
}
