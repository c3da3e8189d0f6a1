import type { Call } from './policy';

/** A refusal may take this many times as long as the slowest refusal so far. */
const MAX_REFUSAL_DELAY = 2;

/**
 * Presumes early that the service accepted a call: refusals come fast, so a call that is in flight for longer was
 * accepted. So slow answers do not hide that the service accepts calls again.
 */
export class Presumption {
	/** Calls in flight that may still be refused, the oldest first. */
	private readonly undecided = new Set<Call>();
	/** How long the slowest refusal took. */
	private refusalMs: number | undefined;

	sent(call: Call): void {
		this.undecided.add(call);
	}

	/** @returns whether it was undecided until now whether the service accepted the call */
	ended(call: Call): boolean {
		return this.undecided.delete(call);
	}

	refused({ sentAt }: Call, now: number): void {
		this.refusalMs = Math.max(this.refusalMs ?? 0, now - sentAt);
	}

	/** The calls that count as accepted from now on. */
	acceptedBy(now: number): Call[] {
		const calls: Call[] = [];
		const decidedMs = MAX_REFUSAL_DELAY * (this.refusalMs ?? Infinity);
		for (const call of this.undecided) {
			if (now - call.sentAt < decidedMs) break;
			this.undecided.delete(call);
			calls.push(call);
		}
		return calls;
	}
}
