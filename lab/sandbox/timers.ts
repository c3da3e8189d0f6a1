/** Longest time that Node can wait for. */
const MAX_MS = 2 ** 31 - 1;

/** Timers that can all be stopped at once, so that a closed sandbox leaves nothing running. */
export class Timers {
	private readonly running = new Set<NodeJS.Timeout>();

	/** Calls `action` after `ms`; the function returned stops that. */
	after(ms: number, action: () => void): () => void {
		const timer = setTimeout(
			() => {
				this.running.delete(timer);
				action();
			},
			Math.min(Math.max(ms, 0), MAX_MS),
		);
		this.running.add(timer);
		return () => {
			clearTimeout(timer);
			this.running.delete(timer);
		};
	}

	/** Resolves after `ms`, at once for 0, and never if the timers are stopped before. */
	async wait(ms: number): Promise<void> {
		if (ms > 0) await new Promise<void>((resolve) => this.after(ms, resolve));
	}

	stop(): void {
		for (const timer of this.running) clearTimeout(timer);
		this.running.clear();
	}
}
