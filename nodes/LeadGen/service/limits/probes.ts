import { MARGIN_MS, MINUTE_MS } from './policy';

/** Services usually count limits over one of these windows. */
const USUAL_WINDOWS_MS = [1000, 10_000, MINUTE_MS];
/**
 * The pauses between probes: the first, the share of the time so far of the next ones, and from the second phase on.
 */
const [FIRST_PROBE_MS, PROBE_SHARE, LATER_PROBE_MS] = [100, 2 / 3, 1000];
/** A little more than a minute, so that probes come in every part of the window of others. */
const PHASE_MS = 1.1 * MINUTE_MS;

/**
 * When to send the next single call while a service refuses calls: at growing intervals, and when a usual window ends.
 * From the second phase on, others may use up the limit, so that there is room only for moments. Each probe may begin a
 * ban anew, so every other phase passes without.
 *
 * For example, after 300 ms the next probe goes out in 200 ms, but at the end of the first second in any case.
 * @param since when the service began to refuse calls
 * @param began when its window may have begun
 * @param leastMs the least time between calls
 * @param random from 0 to 1
 */
export function nextProbe(
	now: number,
	{ since, began, leastMs, random }: Record<'since' | 'began' | 'leastMs' | 'random', number>,
): number {
	const phase = Math.floor((now - since) / PHASE_MS);
	if (phase % 2 === 1) return now + PHASE_MS * (1.02 + random / 20);
	const growingMs = Math.max(FIRST_PROBE_MS, leastMs, PROBE_SHARE * (now - since));
	const pauseMs = (phase > 0 ? LATER_PROBE_MS : growingMs) * (0.75 + random / 2);
	const ends = USUAL_WINDOWS_MS.flatMap((ms) => [ms, 1.15 * ms])
		.map((ms) => began + ms * (1 + 0.002 * random) + MARGIN_MS)
		.filter((at) => at > now);
	return Math.min(now + pauseMs, ...ends);
}
