import type { Clock } from '../../nodes/LeadGen/service/limits/clock';

interface Timer {
	at: number;
	/** Tells apart timers of the same moment: the one that was set first is due first. */
	order: number;
	fire: () => void;
}

/** Virtual time: it stands still while something works, and then jumps to the next timer. */
export class VirtualClock implements Clock {
	/** A binary heap, the next timer first. */
	private readonly timers: Timer[] = [];
	private time = 0;
	private set = 0;
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
			this.push({ at: this.time + Math.max(1, ms), order: this.set++, fire });
		});
	}

	/** Lets time pass until `work` is over. @throws if that takes longer than `maxMs`, or nothing is due */
	async runUntil(work: Promise<unknown>, maxMs: number): Promise<void> {
		const state = { isOver: false };
		const over = work.finally(() => (state.isOver = true));
		over.catch(() => {});
		await settled();
		while (!state.isOver) {
			const next = this.pop();
			if (!next) throw new Error('Stuck: something is awaited, and no timer is set');
			if (next.at > maxMs) throw new Error(`Not over after ${String(maxMs)} ms`);
			this.time = next.at;
			next.fire();
			while (this.timers[0]?.at === this.time) this.pop()?.fire();
			await settled();
		}
		await over;
	}

	private push(timer: Timer): void {
		const { timers } = this;
		let at = timers.push(timer) - 1;
		for (let up = (at - 1) >> 1; at > 0 && isBefore(timer, timers[up]); up = (at - 1) >> 1) {
			timers[at] = timers[up] ?? timer;
			at = up;
		}
		timers[at] = timer;
	}

	private pop(): Timer | undefined {
		const { timers } = this;
		const [first] = timers;
		const last = timers.pop();
		if (last === undefined || last === first) return first;
		let at = 0;
		for (;;) {
			const left = 2 * at + 1;
			const least = isBefore(timers[left + 1], timers[left]) ? left + 1 : left;
			const below = timers[least];
			if (below === undefined || !isBefore(below, last)) break;
			timers[at] = below;
			at = least;
		}
		timers[at] = last;
		return first;
	}
}

function isBefore(one: Timer | undefined, other: Timer | undefined): boolean {
	if (!one || !other) return one !== undefined;
	return one.at - other.at < 0 || (one.at === other.at && one.order < other.order);
}

/** Everything that could go on at this moment has gone on. */
async function settled(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}
