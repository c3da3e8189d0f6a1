import { GIVE_UP_MS, MARGIN_MS } from './clock';
import type { Call, End, Policy } from './policy';
import { worthwhileMs } from './rateHeaders';
import { TimeLog } from './timeLog';
import type { Traffic } from './traffic';

/** Keeps to the number of requests that are left, as the service says, and stays away for as long as it asks for. */
export class Quota implements Policy {
	/** Requests that are left until then, less those that were sent since. */
	private left = Infinity;
	private until = Infinity;
	/** Requests that may go out after that, before the service says again how many are left. */
	private next = Infinity;
	/** Answers to calls that were sent earlier say nothing new. */
	private since = -Infinity;
	/** When each call was sent that may have reached the service. */
	private readonly sentAt = new TimeLog();

	constructor(private readonly traffic: Traffic) {}

	waitMs(now: number): number {
		if (now >= this.until) this.set(this.next, Infinity);
		if (this.left > 0) return 0;
		// The answer to the call that went ahead named no number.
		if (this.until === Infinity && this.traffic.inFlight === 0) return 0;
		return this.until - now;
	}

	sent({ sentAt }: Call): void {
		this.left--;
		this.sentAt.add(sentAt);
		this.sentAt.forgetBefore(sentAt - GIVE_UP_MS);
	}

	ended(call: Call, { outcome, rateInfo }: End, now: number): void {
		if (outcome === 'notSent') {
			this.left++;
			this.sentAt.remove(call.sentAt);
		}
		if (!rateInfo || this.traffic.isOfPolls(call, outcome) || call.sentAt < this.since) return;
		this.since = call.sentAt;
		const { retryAfterMs, remaining, resetMs } = rateInfo;
		if (outcome === 'unknown' && retryAfterMs) {
			// Failures of calls that were in flight together count as one. A single call goes ahead then.
			this.since = now;
			this.set(0, now + worthwhileMs(retryAfterMs, call.isPoll), 1);
			return;
		}
		// The service may have counted the call when it came in: then this window is over.
		if (remaining === undefined || resetMs === undefined || resetMs <= now - call.sentAt) {
			this.set(Infinity, Infinity);
			return;
		}
		// The answer may not count the calls that were sent later.
		const left = remaining - (this.sentAt.count(call.sentAt) - 1);
		this.set(left, now + worthwhileMs(resetMs, call.isPoll || left > 0) + MARGIN_MS);
	}

	private set(left: number, until: number, next = Infinity): void {
		this.left = left;
		this.until = until;
		this.next = next;
	}
}
