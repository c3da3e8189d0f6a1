import { USUAL_WINDOWS_MS } from './rate';
import { namedMs, worthwhileMs, type RateInfo } from './rateHeaders';
import { MARGIN_MS, MINUTE_MS } from './times';

/** The first and the longest pause after refusals that name no time. */
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
/** Each pause is this share of the time since the calls before it began. Only the recent part of that time counts. */
const PAUSE_SHARE = 0.5;
const RECENT_MS = 3000;
/** When a usual window ends, calls are probably accepted. The pause ends later than the window by at most this share. */
const MAX_JITTER = 0.002;

/** The service refuses calls: nothing goes out before `until`. After that, single calls probe. */
export interface Pause {
	/** When the refusals began. */
	since: number;
	until: number;
}

/**
 * A call was refused. Refusals of calls that were in flight together count as one.
 * @param began when the service counted the first of the calls that it accepted before; windows count from there
 * @param random from 0 to 1, so that several processes on one account do not continue at the same moment
 */
export function pauseOn(
	pause: Pause | undefined,
	rateInfo: RateInfo | undefined,
	began: number,
	random: number,
	now: number,
): Pause {
	const { since, until } = pause ?? tryOnce({ since: now, until: 0 }, began, random, now);
	const named = namedMs(rateInfo);
	if (named === undefined) return { since, until };
	return { since, until: Math.max(until, now + worthwhileMs(named) + 100 * random) };
}

/** A single call goes out as a probe. The next call waits as if the probe was refused. */
export function tryOnce({ since }: Pause, began: number, random: number, now: number): Pause {
	const sinceMs = now - Math.max(began, since - RECENT_MS);
	// A window slides, so there may be room again at once.
	const share = now === since ? 0 : PAUSE_SHARE;
	const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, share * sinceMs));
	// Each call may begin a ban of a minute anew, so every other minute passes without any.
	const minutes = Math.floor((now - since) / MINUTE_MS);
	if (minutes % 2 === 1) return { since, until: now + MINUTE_MS * (1.05 + random / 4) };
	const endOf = (ms: number) => began + ms * (1 + MAX_JITTER * random) + MARGIN_MS;
	const ends = USUAL_WINDOWS_MS.map(endOf).filter((at) => at > now);
	return { since, until: Math.min(now + pauseMs * (0.75 + random / 2), ...ends) };
}
