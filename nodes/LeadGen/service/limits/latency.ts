/** The number of answers in an average. */
const SAMPLES = 50;
/** If answers take this many times as long as usual, calls wait in the service or in this process. */
const TOLERANCE = 2;
/** The largest cut at once, as a factor. */
const LEAST_GRADIENT = 0.5;

/** How long answers to the same path take, in milliseconds. */
interface Latency {
	/** The average of the last answers. */
	readonly ms: number;
	/** The number of answers in the average. */
	readonly samples: number;
	/** The lowest value that this average had: how long answers take if nothing waits. */
	readonly usualMs: number;
	/** The fastest answer. */
	readonly leastMs: number;
}

const noLatency: Latency = { ms: 0, samples: 0, usualMs: Infinity, leastMs: Infinity };

/** Adds an answer to the average. */
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
 * The factor by which the number of calls in flight should change: 1 while answers are as fast as usual, less the
 * slower they get. From Netflix's Gradient2, with the lowest average instead of the long-term average.
 */
function gradient({ ms, samples, usualMs }: Latency): number {
	if (samples < SAMPLES || ms <= TOLERANCE * usualMs) return 1;
	return Math.max(LEAST_GRADIENT, (TOLERANCE * usualMs) / ms);
}

/** Begins a new average, because later calls run under other conditions. */
function startAnew(latency: Latency): Latency {
	return { ...latency, ms: 0, samples: 0 };
}

/** The latencies of an account, by path. */
export class Latencies {
	private readonly byPath = new Map<string, Latency>();

	/**
	 * Records that a call was accepted.
	 * @param mayBeSlow whether its latency says something about the calls that are in flight now
	 * @param isAlone whether few calls were in flight, so that they are not the reason for a long latency
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

	/** How long the fastest answer took; `Infinity` without an answer. */
	get leastMs(): number {
		return Math.min(...[...this.byPath.values()].map(({ leastMs }) => leastMs));
	}

	/** How long answers take, if nothing waits. */
	get usualMs(): number {
		const all = [...this.byPath.values()];
		return Math.max(0, ...all.map(({ usualMs, ms }) => Math.min(usualMs, ms)));
	}
}
