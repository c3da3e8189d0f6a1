import { MINUTE_MS } from './published';
import type { TimeLog } from './timeLog';

/** The share of the limit that polls may use. The rest is for calls that bring results. */
const SHARE = 1 / 3;

/** @param sent when each poll of the last minute was sent */
export function pollWaitMs(perMinute: number, sent: TimeLog, now: number): number {
	return sent.waitMs(pollsPerMinute(perMinute), MINUTE_MS, now);
}

/**
 * How long to pause between two polls of the same scrape, so that all scrapes have their turn.
 * @param scrapes how many scrapes are waited for
 */
export function pollPauseMs(perMinute: number, scrapes: number): number {
	return (scrapes * MINUTE_MS) / pollsPerMinute(perMinute);
}

function pollsPerMinute(perMinute: number): number {
	return Math.max(1, Math.floor(perMinute * SHARE));
}
