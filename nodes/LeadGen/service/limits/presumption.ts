import type { Call } from './call';

/** A refusal may come so many times as late as the slowest one so far. */
const PATIENCE = 2;

/**
 * Tells early which calls the service took: refusals come fast, so that a call was taken that is under way for
 * longer. So slow answers do not hide that the service takes calls again.
 */
export class Presumption {
	/** Calls under way that may still be refused, the oldest first. */
	private readonly open = new Set<Call>();
	private refusalMs: number | undefined;

	sent(call: Call): void {
		this.open.add(call);
	}

	/** @returns whether it was not known before what becomes of the call */
	over(call: Call): boolean {
		return this.open.delete(call);
	}

	refused({ sentAt }: Call, now: number): void {
		this.refusalMs = Math.max(this.refusalMs ?? 0, now - sentAt);
	}

	/** The calls that count as taken from now on. */
	taken(now: number): Call[] {
		const calls: Call[] = [];
		for (const call of this.open) {
			if (now - call.sentAt < PATIENCE * (this.refusalMs ?? Infinity)) break;
			this.open.delete(call);
			calls.push(call);
		}
		return calls;
	}
}
