import { MINUTE_MS } from './clock';
import { isAccepted, type Call, type End, type Policy } from './policy';
import { backMs, worthwhileMs } from './rateHeaders';
import { TimeLog } from './timeLog';
import type { Traffic } from './traffic';

/** The share of the limit that polls may use. The rest is for calls that bring results. */
const POLL_SHARE = 1 / 3;
/** How long polls pause if the service limits them separately, and names no time. */
const PAUSE_MS = 10_000;

function pollsPerMinute(perMinute: number): number {
	return Math.max(1, Math.floor(perMinute * POLL_SHARE));
}

/**
 * How long to pause between two polls of the same scrape, so that all scrapes have their turn.
 * @param scrapes how many scrapes are waited for
 */
export function pollPauseMs(perMinute: number, scrapes: number): number {
	return (scrapes * MINUTE_MS) / pollsPerMinute(perMinute);
}

/**
 * Keeps polls to their share of the limit. It also detects that the service limits polls separately: the service refuses
 * polls again although it accepted other calls in between, and no poll. Then only polls wait.
 */
export class Polls implements Policy {
	/** When each poll of the last minute was sent. */
	private readonly polls = new TimeLog();
	private isRefused = false;
	private until = -Infinity;

	/** @param perMinute returns the known limit */
	constructor(
		private readonly traffic: Traffic,
		private readonly perMinute: () => number,
	) {}

	waitMs(now: number, isPoll: boolean): number {
		if (!isPoll) return 0;
		const sharedMs = this.polls.waitMs(pollsPerMinute(this.perMinute()), MINUTE_MS, now);
		return Math.max(sharedMs, this.until - now);
	}

	sent({ isPoll, sentAt }: Call): void {
		if (isPoll) this.polls.add(sentAt);
		this.polls.forgetBefore(sentAt - MINUTE_MS);
	}

	ended({ isPoll, sentAt }: Call, end: End, now: number): void {
		const { traffic } = this;
		if (isAccepted(end)) {
			if (isPoll) this.isRefused = traffic.arePollsSeparate = false;
			else if (this.isRefused) traffic.arePollsSeparate = true;
		}
		if (!isPoll) return;
		if (end.outcome === 'notSent') this.polls.remove(sentAt);
		if (end.outcome !== 'rateLimited') return;
		this.isRefused = true;
		if (!traffic.arePollsSeparate) return;
		this.until = now + worthwhileMs(backMs(end.rateInfo) || PAUSE_MS, isPoll);
	}
}
