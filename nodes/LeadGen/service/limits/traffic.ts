import { GIVE_UP_MS, isAccepted, type Call, type End, type Policy } from './policy';
import { TimeLog } from './timeLog';

/** Each call in flight has its own socket, so this is the maximum number of sockets for an account. */
export const MAX_SOCKETS = 1000;
/** So many calls may be in flight before it is known how fast the service answers. */
export const FEW_IN_FLIGHT = 20;
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
	/** When each call ended that the service may have counted. */
	readonly over = new TimeLog();
	/** When each answer came that was not a refusal for the rate. */
	private readonly answers = new TimeLog();
	private timeoutMs = GIVE_UP_MS;
	/** Until then, too few answers may have come to show how fast the service is: for twice as long as the first one took. */
	private unknownUntil = Infinity;

	/** Calls that ended within the last `ms` milliseconds, or are in flight. */
	recent(now: number, ms: number): number {
		return this.over.count(now - ms) + this.inFlight;
	}

	waitMs(now: number): number {
		if (this.inFlight >= MAX_SOCKETS) return Infinity;
		if (now < this.unknownUntil || this.inFlight < FEW_IN_FLIGHT) return 0;
		const answered = this.answers.count(now - this.timeoutMs / 2 / ANSWERED_FACTOR);
		return this.inFlight < ANSWERED_FACTOR * answered ? 0 : Infinity;
	}

	sent({ timeoutMs }: Call): void {
		this.inFlight++;
		this.total++;
		this.timeoutMs = timeoutMs;
	}

	ended({ sentAt }: Call, end: End, now: number): void {
		this.inFlight--;
		if (!['notSent', 'cancelled', 'rateLimited'].includes(end.outcome)) this.over.add(now);
		if (end.outcome === 'succeeded') this.leastMs = Math.min(this.leastMs, now - sentAt);
		if (isAccepted(end)) {
			this.answers.add(now);
			if (this.unknownUntil === Infinity) this.unknownUntil = now + (now - sentAt);
			if (this.inFlight === 0) this.unknownUntil = Infinity;
		}
		for (const log of [this.over, this.answers]) log.forgetBefore(now - GIVE_UP_MS);
	}
}
