import type { Policy } from './policy';
import { MARGIN_MS, MINUTE_MS, type Traffic } from './traffic';

/**
 * Keeps the limit that the plan or the credential names. Up to the limit, calls go out at once. After that, each call
 * waits until an earlier one is a minute old. The minute counts from the answer, because the service may have counted
 * the call at any time until then. So the limit is kept whether the service uses fixed windows, sliding windows or a
 * token bucket of that size.
 */
export class Published implements Policy {
	constructor(private readonly traffic: Traffic) {}

	waitMs(now: number): number {
		const { over, perMinute, inFlight } = this.traffic;
		return over.waitMs(perMinute, MINUTE_MS + MARGIN_MS, now, inFlight);
	}

	sent(): void {}

	ended(): void {}
}
