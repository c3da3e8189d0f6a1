import type { Clock } from '../../nodes/LeadGen/service/limits/policy';

interface Timer {
	at: number;
	fire: () => void;
}

/** Virtual time: it stands still while something works, and then jumps to the next timer. */
export class VirtualClock implements Clock {
	/** The next timer last. */
	private readonly timers: Timer[] = [];
	private time = 0;
	private seed: number;

	constructor(seed = 1) {
		this.seed = seed;
	}

	now(): number {
		return this.time;
	}

	/** From 0 to 1, the same numbers for the same seed (mulberry32). */
	random(): number {
		this.seed = (this.seed + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.seed ^ (this.seed >>> 15), 1 | this.seed);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	/** A millisecond at least, as timers of Node.js. */
	sleep(ms: number): Promise<void> {
		return new Promise((fire) => {
			this.add({ at: this.time + Math.max(1, ms), fire });
		});
	}

	nextTask(): Promise<void> {
		return new Promise((fire) => {
			this.add({ at: this.time, fire });
		});
	}

	/** Lets time pass until `work` is over, and gives its result. @throws at `maxMs`, or if nothing is due */
	async runUntil<T>(work: Promise<T>, maxMs = Infinity): Promise<T> {
		const state = { isOver: false };
		const over = work.finally(() => (state.isOver = true));
		over.catch(() => {});
		await settled();
		while (!state.isOver) {
			const next = this.timers.pop();
			if (!next) throw new Error('Stuck: something is awaited, and no timer is set');
			if (next.at > maxMs) throw new Error(`Not over after ${String(maxMs)} ms`);
			this.time = next.at;
			next.fire();
			while (this.timers.at(-1)?.at === this.time) this.timers.pop()?.fire();
			await settled();
		}
		return await over;
	}

	/** Of the same moment, the one that was set first is due first. */
	private add(timer: Timer): void {
		const later = this.timers.findLastIndex(({ at }) => at > timer.at);
		this.timers.splice(later + 1, 0, timer);
	}
}

/** Everything that could go on at this moment has gone on. */
async function settled(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}
