import type { Call } from './policy';

/**
 * Calls in flight that may still fail in a certain way, the oldest first. Such failures come about as fast as the last ones.
 * So a call that takes twice as long has passed, though its answer may be slow.
 */
export class Undecided {
	private readonly calls = new Set<Call>();

	add(call: Call): void {
		this.calls.add(call);
	}

	/** @returns whether it was undecided until now */
	remove(call: Call): boolean {
		return this.calls.delete(call);
	}

	/** How many were sent after a time. */
	countAfter(sentAt: number): number {
		return [...this.calls].filter((call) => call.sentAt > sentAt).length;
	}

	/** Removes and returns those that have passed by now. @param failureMs how long failures take; 0 if that is not known */
	takePassed(now: number, failureMs: number): Call[] {
		const passed: Call[] = [];
		for (const call of this.calls) {
			if (failureMs === 0 || now - call.sentAt < 2 * failureMs) break;
			this.calls.delete(call);
			passed.push(call);
		}
		return passed;
	}
}
