import { MARGIN_MS, MINUTE_MS, type Call, type Policy } from './policy';
import type { Traffic } from './traffic';

/** The calls of a minute take this long at least, so that few are in vain if somebody else uses the account. */
const BURST_MS = 1180;

/**
 * Keeps the limit that the plan or the credential names. Up to the limit, calls go out at once. After that, each call
 * waits until an earlier one is a minute old. The minute counts from the answer, because the service may have counted
 * the call at any time until then. So the limit is kept whether the service uses fixed windows, sliding windows or a
 * token bucket of that size. It leaves out waits below a millisecond, because a timer takes longer.
 */
export class Published implements Policy {
	private sentAt = -Infinity;

	constructor(private readonly traffic: Traffic) {}

	waitMs(now: number): number {
		const { over, perMinute, inFlight } = this.traffic;
		const windowMs = over.waitMs(perMinute, MINUTE_MS + MARGIN_MS, now, inFlight);
		return Math.max(windowMs, Math.floor(this.sentAt + BURST_MS / perMinute - now));
	}

	sent({ sentAt }: Call): void {
		this.sentAt = sentAt;
	}
}
