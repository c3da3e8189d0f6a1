import { isAnswered, MAX_UNANSWERED_MS, type Call, type End, type Policy } from './policy';
import { TimeLog } from './timeLog';

/** Each call in flight has its own socket, so this is the maximum number of sockets for an account. */
export const MAX_SOCKETS = 1000;
/** So many calls may be in flight before it is known that the service answers, and how fast. */
export const FEW_IN_FLIGHT = 60;
/** So many times the calls may be in flight that were answered within this share of half of the time-out. */
const ANSWERED_FACTOR = 4;

/**
 * What the policies of an account share: the published limit, what was sent, and what came back. It also bounds the calls
 * in flight: a service may delay calls instead of refusing them, and the last of too many would be paid for and time out.
 */
export class Traffic implements Policy {
	/** The published limit; `Infinity` if there is none. */
	perMinute = Infinity;
	inFlight = 0;
	total = 0;
	/** How long the fastest result took, in milliseconds. */
	leastMs = Infinity;
	/** Whether the service has ever answered a call of the account. */
	hasAnswered = false;
	private readonly answeredAt = new TimeLog();
	private timeoutMs = MAX_UNANSWERED_MS;
	/**
	 * Until then, any number may be in flight: too few answers may have come to show how fast the service is, for twice as long
	 * as the first of them took. Before the first answer, and after a failure, nothing shows that the service works.
	 */
	private unmeasuredUntil = -Infinity;

	/** @param counted when each call ended that the service may have counted */
	constructor(readonly counted: TimeLog) {}

	/** Calls that ended within the last `ms` milliseconds, or are in flight. */
	recent(now: number, ms: number): number {
		return this.counted.count(now - ms) + this.inFlight;
	}

	waitMs(now: number): number {
		if (this.inFlight >= MAX_SOCKETS) return Infinity;
		if (this.inFlight < FEW_IN_FLIGHT || now < this.unmeasuredUntil) return 0;
		const answered = this.answeredAt.count(now - this.timeoutMs / 2 / ANSWERED_FACTOR);
		return this.inFlight < ANSWERED_FACTOR * answered ? 0 : Infinity;
	}

	sent({ timeoutMs }: Call): void {
		this.inFlight++;
		this.total++;
		this.timeoutMs = timeoutMs;
	}

	ended({ sentAt }: Call, end: End, now: number): void {
		this.inFlight--;
		if (end.outcome === 'succeeded') this.leastMs = Math.min(this.leastMs, now - sentAt);
		if (isAnswered(end)) {
			if (Math.abs(this.unmeasuredUntil) === Infinity) this.unmeasuredUntil = now + (now - sentAt);
			this.hasAnswered = true;
			this.answeredAt.add(now);
		}
		if (this.inFlight === 0) this.unmeasuredUntil = isAnswered(end) ? Infinity : -Infinity;
		this.answeredAt.forgetBefore(now - MAX_UNANSWERED_MS);
	}
}
