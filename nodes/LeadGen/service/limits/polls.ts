import { MINUTE_MS, type Call, type CallInfo, type Policy } from './policy';
import { TimeLog } from './timeLog';

/** The share of the limit that polls may use. The rest is for calls that bring results. */
const POLL_SHARE = 1 / 3;

function pollsPerMinute(perMinute: number): number {
	return Math.max(1, Math.floor(perMinute * POLL_SHARE));
}

/** How many milliseconds to pause between two polls of one of so many scrapes, so that all scrapes have their turn. */
export function pollPauseMs(perMinute: number, scrapes: number): number {
	return (scrapes * MINUTE_MS) / pollsPerMinute(perMinute);
}

/** Keeps polls to their share of the limit. */
export class Polls implements Policy {
	/** When each poll of the last minute was sent. */
	private readonly polls = new TimeLog();

	/** @param perMinute returns the known limit */
	constructor(private readonly perMinute: () => number) {}

	waitMs(now: number, { isPoll }: CallInfo): number {
		return isPoll ? this.polls.waitMs(pollsPerMinute(this.perMinute()), MINUTE_MS, now) : 0;
	}

	sent({ isPoll, sentAt }: Call): void {
		if (isPoll) this.polls.add(sentAt);
		this.polls.forgetBefore(sentAt - MINUTE_MS);
	}
}
