import { MARGIN_MS, MAX_UNANSWERED_MS, mayCount, MINUTE_MS } from './policy';
import type { Call, CallInfo, End, Policy } from './policy';
import { TimeLog } from './timeLog';

/** The share of the limit that polls may use. The rest is for calls that bring results. */
const POLL_SHARE = 1 / 3;
/** The calls of a minute take this long at least, so that few are in vain if somebody else uses the account. */
const BURST_MS = 1180;

export function maxPolls(perMinute: number): number {
	return Math.max(1, Math.floor(perMinute * POLL_SHARE));
}

/** How many milliseconds to pause between two polls of one of so many scrapes, so that all scrapes have their turn. */
export function pollPauseMs(perMinute: number, scrapes: number): number {
	return (scrapes * MINUTE_MS) / maxPolls(perMinute);
}

/**
 * Keeps calls to a number per minute. Up to it, they go out within a second or so. After that, each call waits until an
 * earlier one is a minute old. The minute counts from the answer, because the service may have counted the call at any
 * time until then. So the limit is kept whether the service uses fixed windows, sliding windows or a token bucket of
 * that size.
 */
export class Quota implements Policy {
	/** When each call ended that the service may have counted. */
	readonly counted = new TimeLog();
	private inFlight = 0;
	private sentAt = -Infinity;

	/**
	 * @param isFor which calls it is about
	 * @param perMinute returns how many of them may go out; `Infinity` sets no limit
	 */
	constructor(
		readonly isFor: (call: Pick<Required<CallInfo>, 'path' | 'isPoll'>) => boolean,
		readonly perMinute: () => number,
	) {}

	waitMs(now: number, next: Required<CallInfo>): number {
		if (!this.isFor(next)) return 0;
		const perMinute = this.perMinute();
		const waitMs = this.counted.waitMs(perMinute, MINUTE_MS + MARGIN_MS, now, this.inFlight);
		// A timer takes longer than a wait below a millisecond.
		return Math.max(waitMs, Math.floor(this.sentAt + BURST_MS / perMinute - now));
	}

	sent(call: Call): void {
		if (!this.isFor(call)) return;
		this.inFlight++;
		this.sentAt = call.sentAt;
	}

	ended(call: Call, end: End, now: number): void {
		if (!this.isFor(call)) return;
		this.inFlight--;
		if (mayCount(end)) this.counted.add(now);
		this.counted.forgetBefore(now - MAX_UNANSWERED_MS);
	}
}
