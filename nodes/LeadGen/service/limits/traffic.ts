import { isAnswered, type Call, type End, type Policy } from './policy';
import type { TimeLog } from './timeLog';

/** Each call in flight has its own socket, so this is the maximum number of sockets for an account. */
export const MAX_SOCKETS = 1000;
/** So many calls may always be in flight, also before it is known that the service answers. */
export const FEW_IN_FLIGHT = 60;
/**
 * The share of the time-out that answers may take. It leaves room for services that slow down faster than calls
 * increase.
 */
const TIMEOUT_SHARE = 1 / 4;
/** In silence, the first pause before a test call. The next ones grow with the time so far. */
const FIRST_TEST_MS = 1000;
/** Of a slow end before, so much counts at the next one. */
export const MEMORY = 0.9;

/**
 * What the policies of an account share: what was sent, and what came back. It also bounds the calls
 * in flight: a service may slow down instead of refusing calls, and the last of too many would be paid for and time
 * out.
 *
 * For example, 60 calls go out. The answer to the 60th takes 2 s, and the time-out is 40 s: if twice as many calls take
 * twice as long, 300 may be in flight. If no answer comes for twice as long as before, only 60 may be, and test calls.
 */
export class Traffic implements Policy {
	inFlight = 0;
	total = 0;
	/** How long the fastest result took, in milliseconds. */
	leastMs = Infinity;
	/** Whether the service has ever answered a call of the account. */
	hasAnswered = false;
	/** How many calls may be in flight, by the last answer. */
	private most = FEW_IN_FLIGHT;
	/** When that came, or when the first call after an idle time went out. */
	private heardAt = 0;
	/** In silence, when a test call may go out. */
	private testAt = 0;
	/** How long the slowest of the last answers took. */
	private slowMs = 0;

	/** @param counted when each call ended that the service may have counted */
	constructor(readonly counted: TimeLog) {}

	/** Calls that ended within the last `ms` milliseconds, or are in flight. */
	recent(now: number, ms: number): number {
		return this.counted.count(now - ms) + this.inFlight;
	}

	waitMs(now: number): number {
		if (this.inFlight < FEW_IN_FLIGHT) return 0;
		if (this.inFlight >= Math.min(this.most, MAX_SOCKETS)) return Infinity;
		const isSilent = now - this.heardAt > 2 * this.slowMs;
		return isSilent ? Math.max(0, this.testAt - now) : 0;
	}

	sent(call: Call): void {
		if (this.inFlight === 0) this.heardAt = call.sentAt;
		this.inFlight++;
		this.total++;
		this.testAt = call.sentAt + Math.max(FIRST_TEST_MS, call.sentAt - this.heardAt);
	}

	ended(call: Call, end: End, now: number): void {
		this.inFlight--;
		const ms = now - call.sentAt;
		if (end.outcome === 'succeeded') this.leastMs = Math.min(this.leastMs, ms);
		if (isAnswered(end)) {
			this.hasAnswered = true;
			this.heardAt = now;
			this.slowMs = Math.max(ms, MEMORY * this.slowMs);
			this.most = (call.inFlight * TIMEOUT_SHARE * call.timeoutMs) / ms;
		} else if (this.inFlight === 0) {
			this.most = FEW_IN_FLIGHT;
		}
	}
}
