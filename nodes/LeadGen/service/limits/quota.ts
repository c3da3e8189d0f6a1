import { MARGIN_MS } from './clock';
import type { Call, End, Policy } from './policy';
import { worthwhileMs } from './rateHeaders';
import type { Traffic } from './traffic';

/** Keeps to the number of requests that are left, as the service says, and stays away for as long as it asks for. */
export class Quota implements Policy {
	/** Requests that are left until then, less those that were sent since. */
	private left = Infinity;
	private until = Infinity;
	/** When the service last failed and named a time to come back. */
	private closedAt = -Infinity;

	constructor(private readonly traffic: Traffic) {}

	waitMs(now: number): number {
		// After the reset, a single call goes ahead to learn how many requests are left.
		if (now >= this.until) this.set(1, Infinity);
		if (this.left > 0) return 0;
		// The answer to the call that went ahead named no number.
		if (this.until === Infinity && this.traffic.inFlight === 0) return 0;
		return this.until - now;
	}

	sent(): void {
		this.left--;
	}

	ended(call: Call, { outcome, rateInfo }: End, now: number): void {
		if (outcome === 'notSent') this.left++;
		// Failures of calls that were in flight together count as one.
		if (!rateInfo || this.traffic.isOfPolls(call, outcome) || call.sentAt < this.closedAt) return;
		const { retryAfterMs, remaining, resetMs } = rateInfo;
		if (outcome === 'unknown' && retryAfterMs) {
			this.closedAt = now;
			this.set(0, now + worthwhileMs(retryAfterMs, call.isPoll));
			return;
		}
		// The service may have counted the call when it came in: then this window is over.
		if (remaining === undefined || resetMs === undefined || resetMs <= now - call.sentAt) {
			this.set(Infinity, Infinity);
			return;
		}
		// The answer may not count the calls that are in flight.
		const left = remaining - this.traffic.inFlight;
		this.set(left, now + worthwhileMs(resetMs, call.isPoll || left > 0) + MARGIN_MS);
	}

	private set(left: number, until: number): void {
		this.left = left;
		this.until = until;
	}
}
