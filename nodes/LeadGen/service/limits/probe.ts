import { MARGIN_MS, MINUTE_MS } from './clock';
import { USUAL_WINDOWS_MS } from './rate';

const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
/**
 * The pause from the second phase on. Then others may use up the limit, so that there is room only for moments: from when
 * one of their calls leaves the window until the next one comes.
 */
const LATER_PAUSE_MS = 300;
/** A little more than a minute, so that probes come in every part of the window of others. */
const PHASE_MS = 1.1 * MINUTE_MS;
/** Once, three phases pass: for longer bans, and so that no other process renews the ban meanwhile. */
const LONG_PHASE = 5;
/** When a usual window ends, calls are probably accepted. The pause ends later than the window by at most this share. */
const MAX_JITTER = 0.002;

/**
 * When to probe whether the service accepts calls again: with exponential backoff, and when a usual window ends.
 * @param since when it began to refuse calls
 * @param began when it counted the first of the calls that it accepted before; windows count from there
 * @param random from 0 to 1, so that several processes on one account do not probe at the same moment
 */
export function nextProbe(since: number, began: number, now: number, random: number): number {
	const refusedMs = now - since;
	// Each probe may begin a ban anew, so every other phase passes without any.
	const phase = Math.floor(refusedMs / PHASE_MS);
	if (phase % 2 === 1) {
		return now + PHASE_MS * ((phase === LONG_PHASE ? 3 : 1) + 0.02 + random / 20);
	}
	const growingMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, refusedMs));
	const pauseMs = refusedMs < PHASE_MS ? growingMs : LATER_PAUSE_MS;
	const endOf = (ms: number) => began + ms * (1 + MAX_JITTER * random) + MARGIN_MS;
	const ends = USUAL_WINDOWS_MS.map(endOf).filter((at) => at > now);
	return Math.min(now + pauseMs * (0.75 + random / 2), ...ends);
}
