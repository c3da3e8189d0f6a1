import type { Call } from './call';

/** A refusal may take this many times as long as the slowest refusal so far. */
const PATIENCE = 2;

/**
 * Presumes early that the service accepted a call: refusals come fast, so a call that is in flight for longer was
 * accepted. So slow answers do not hide that the service accepts calls again.
 */
export class Presumption {
	/** Calls in flight that may still be refused, the oldest first. */
	private readonly open = new Set<Call>();
	private refusalMs: number | undefined;

	sent(call: Call): void {
		this.open.add(call);
	}

	/** @returns whether the outcome of the call was unknown until now */
	over(call: Call): boolean {
		return this.open.delete(call);
	}

	refused({ sentAt }: Call, now: number): void {
		this.refusalMs = Math.max(this.refusalMs ?? 0, now - sentAt);
	}

	/** The calls that count as accepted from now on. */
	presumedAccepted(now: number): Call[] {
		const calls: Call[] = [];
		for (const call of this.open) {
			if (now - call.sentAt < PATIENCE * (this.refusalMs ?? Infinity)) break;
			this.open.delete(call);
			calls.push(call);
		}
		return calls;
	}
}
