import { MARGIN_MS, MINUTE_MS, type Call, type CallInfo, type End, type Policy } from './policy';
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

/** Keeps some calls to a number per minute, in addition to the limit of the account. Refused calls count, too. */
export class Quota implements Policy {
	private readonly over = new TimeLog();
	private readonly inFlight = new Set<Call>();

	/** @param perMinute returns the number for a call; `Infinity` for calls that it is not about */
	constructor(private readonly perMinute: (call: Required<CallInfo>) => number) {}

	waitMs(now: number, next: Required<CallInfo>): number {
		return this.over.waitMs(this.perMinute(next), MINUTE_MS + MARGIN_MS, now, this.inFlight.size);
	}

	sent(call: Call): void {
		if (this.perMinute(call) < Infinity) this.inFlight.add(call);
	}

	ended(call: Call, _end: End, now: number): void {
		if (this.inFlight.delete(call)) this.over.add(now);
		this.over.forgetBefore(now - 2 * MINUTE_MS);
	}
}
