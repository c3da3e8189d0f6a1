import type { Call } from './call';
import { GIVE_UP_MS, LONGEST_PAUSE_MS, namedMs } from './pause';
import { MINUTE_MS } from './published';
import type { RateInfo } from './rateHeaders';
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

/**
 * Detects that the service limits polls separately: it refuses polls again although it accepted other calls in between,
 * and no poll. Then only polls wait.
 */
export class SeparateLimit {
	private isRefused = false;
	private isSeparate = false;
	private until = -Infinity;

	/** Records that a call was accepted. */
	accepted({ isPoll }: Call): void {
		if (isPoll) this.isRefused = this.isSeparate = false;
		else if (this.isRefused) this.isSeparate = true;
	}

	/** Records that a call was refused. @returns whether only polls have to wait */
	refused({ isPoll }: Call, rateInfo: RateInfo, now: number): boolean {
		if (!isPoll) return false;
		this.isRefused = true;
		if (!this.isSeparate) return false;
		const pauseMs = Math.min(namedMs(rateInfo) ?? LONGEST_PAUSE_MS, GIVE_UP_MS);
		this.until = Math.max(this.until, now + pauseMs);
		return true;
	}

	waitMs(now: number): number {
		return this.until - now;
	}
}
