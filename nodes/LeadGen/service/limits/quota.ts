import { MARGIN_MS, MINUTE_MS, type Call, type CallInfo, type Policy } from './policy';
import { TimeLog } from './timeLog';

/** The share of the limit that polls may use. The rest is for calls that bring results. */
const POLL_SHARE = 1 / 3;

export function maxPolls(perMinute: number): number {
	return Math.max(1, Math.floor(perMinute * POLL_SHARE));
}

/** How many milliseconds to pause between two polls of one of so many scrapes, so that all scrapes have their turn. */
export function pollPauseMs(perMinute: number, scrapes: number): number {
	return (scrapes * MINUTE_MS) / maxPolls(perMinute);
}

/** Keeps some calls to a number per minute, in addition to the limit of the account. */
export class Quota implements Policy {
	private readonly calls = new TimeLog();

	/** @param perMinute returns the number for a call; `Infinity` for calls that it is not about */
	constructor(private readonly perMinute: (call: Required<CallInfo>) => number) {}

	waitMs(now: number, next: Required<CallInfo>): number {
		return this.calls.waitMs(this.perMinute(next), MINUTE_MS + MARGIN_MS, now);
	}

	sent(call: Call): void {
		if (this.perMinute(call) < Infinity) this.calls.add(call.sentAt);
		this.calls.forgetBefore(call.sentAt - 2 * MINUTE_MS);
	}
}
