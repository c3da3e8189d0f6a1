const BEGIN = Date.UTC(2030, 0, 1);
const MOST_STEPS = 30_000;

/** Time that passes only when nothing is left to do before. Milliseconds. */
export class Clock {
	now = BEGIN;
	private readonly timers: Array<{ at: number; run: () => void }> = [];
	private reads = 0;

	/** Since the clock was made. */
	get passed(): number {
		return this.now - BEGIN;
	}

	/** @throws Error if it is read so often that somebody must be going round in circles */
	read(): number {
		if (++this.reads > MOST_STEPS) throw new Error('The trigger keeps the process busy');
		return this.now;
	}

	after(ms: number, run: () => void): void {
		const at = this.now + Math.max(0, ms);
		this.timers.splice(this.timers.findLastIndex((timer) => timer.at <= at) + 1, 0, { at, run });
	}

	/** @throws Error if so much happens that somebody must be going round in circles */
	async pass(ms: number, isEnough = () => false): Promise<void> {
		const end = this.now + ms;
		for (let steps = 0; steps < MOST_STEPS; steps++) {
			await new Promise((resolve) => setImmediate(resolve));
			if (isEnough()) return;
			const [timer] = this.timers;
			this.now = Math.min(end, timer?.at ?? end);
			if (!timer || timer.at > end) return;
			this.timers.shift();
			this.reads = 0;
			timer.run();
		}
		throw new Error('The trigger does not come to rest');
	}
}
