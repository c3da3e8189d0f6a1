import { FEW_IN_FLIGHT } from './latency';
import type { Policy } from './policy';
import type { Traffic } from './traffic';

/** Each call in flight has its own socket, so this is the maximum number of sockets for an account. */
export const MAX_SOCKETS = 1000;
/** More calls than this bring nothing, because n8n cannot process more answers. */
const MAX_CALLS_PER_MS = 0.5;
/** How often to check whether more calls may be in flight. */
const CHECK_MS = 20;

/**
 * Limits the calls in flight to as many as are needed for 500 calls per second, so that few calls are in vain when the
 * service refuses one, or when the credits run out. The slower the answers, the more calls that is.
 */
export class InFlight implements Policy {
	constructor(private readonly traffic: Traffic) {}

	waitMs(now: number): number {
		const { inFlight, latencies } = this.traffic;
		const needed = Math.floor(MAX_CALLS_PER_MS * latencies.usualMs(now));
		const max = Math.min(MAX_SOCKETS, Math.max(FEW_IN_FLIGHT, needed));
		return inFlight < max ? 0 : CHECK_MS;
	}
}
