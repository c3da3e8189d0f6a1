/** Answers that make an average. */
const SAMPLES = 50;
/** So many times as long as usual says that calls wait, in the service or in this process. */
const TOLERANCE = 2;
/** The most that is taken back at once, as a factor. */
const LEAST_GRADIENT = 0.5;

/** How long answers to the same question take, in milliseconds. */
interface Latency {
	/** The average of the last ones. */
	readonly ms: number;
	/** How many it is made of. */
	readonly samples: number;
	/** The lowest that this average was: how long they take if nothing waits. */
	readonly usualMs: number;
	/** The fastest answer. */
	readonly leastMs: number;
}

const noLatency: Latency = { ms: 0, samples: 0, usualMs: Infinity, leastMs: Infinity };

/** An answer came. */
function measured({ ms, samples, usualMs, leastMs }: Latency, sampleMs: number): Latency {
	const average = ms + (sampleMs - ms) / Math.min(SAMPLES, samples + 1);
	const isEnough = samples + 1 >= SAMPLES;
	return {
		ms: average,
		samples: samples + 1,
		usualMs: isEnough ? Math.min(usualMs, average) : usualMs,
		leastMs: Math.min(leastMs, sampleMs),
	};
}

/**
 * By how much the number of calls under way should change: 1 while answers come as fast as usual, less the slower
 * they get. From Netflix's Gradient2, with the lowest average in the place of the long one.
 */
function gradient({ ms, samples, usualMs }: Latency): number {
	if (samples < SAMPLES || ms <= TOLERANCE * usualMs) return 1;
	return Math.max(LEAST_GRADIENT, (TOLERANCE * usualMs) / ms);
}

/** The calls to come are others: a new average. */
function startAnew(latency: Latency): Latency {
	return { ...latency, ms: 0, samples: 0 };
}

/** The latencies of an account, by what is asked. */
export class Latencies {
	private readonly byPath = new Map<string, Latency>();

	/**
	 * A call was taken.
	 * @param mayBeSlow whether it says something of the calls that are under way now
	 * @param isAlone whether few calls were under way, so that they are not why it took long
	 * @returns the gradient
	 */
	measure(path: string, ms: number, mayBeSlow: boolean, isAlone: boolean): number {
		const latency = measured(this.of(path), ms);
		const slope = mayBeSlow ? gradient(latency) : 1;
		if (slope < 1 && isAlone) {
			// The service itself became slower, so that this is the usual time now.
			this.byPath.set(path, { ...startAnew(latency), usualMs: Infinity });
			return 1;
		}
		this.byPath.set(path, slope < 1 ? startAnew(latency) : latency);
		return slope;
	}

	of(path: string): Latency {
		return this.byPath.get(path) ?? noLatency;
	}

	/** How long the fastest answer took; `Infinity` without any. */
	get leastMs(): number {
		return Math.min(...[...this.byPath.values()].map(({ leastMs }) => leastMs));
	}

	/** How long answers take, if nothing waits. */
	get usualMs(): number {
		const all = [...this.byPath.values()];
		return Math.max(0, ...all.map(({ usualMs, ms }) => Math.min(usualMs, ms)));
	}
}
