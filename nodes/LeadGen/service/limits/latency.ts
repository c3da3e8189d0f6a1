import type { Call } from './policy';

/** The number of answers in an average. */
const SAMPLES = 20;
/** With fewer calls in flight, the calls themselves do not make answers slow. */
export const FEW_IN_FLIGHT = 20;

/** How long answers to the same path take. */
interface Latency {
	/** The number of answers that were measured. */
	samples: number;
	/** The average of the last ones in milliseconds, while few calls were in flight. */
	usualMs: number;
	/** Calls that are not answered yet, and since when there are some. */
	inFlight: number;
	since: number;
}

/** The latencies of an account. */
export class Latencies {
	/** How long the fastest answer took, in milliseconds. */
	leastMs = Infinity;
	private readonly byPath = new Map<string, Latency>();

	sent({ path, sentAt }: Call): void {
		const latency = this.byPath.get(path) ?? { samples: 0, usualMs: 0, inFlight: 0, since: sentAt };
		if (latency.inFlight === 0) latency.since = sentAt;
		latency.inFlight++;
		this.byPath.set(path, latency);
	}

	/** @param isResult whether the call brought a result; an error may come sooner */
	ended({ path, sentAt, inFlightAtSend }: Call, isResult: boolean, now: number): void {
		const latency = this.byPath.get(path);
		if (!latency) return;
		latency.inFlight--;
		if (!isResult) return;
		const ms = now - sentAt;
		this.leastMs = Math.min(this.leastMs, ms);
		if (inFlightAtSend >= FEW_IN_FLIGHT && latency.samples >= SAMPLES) return;
		latency.samples++;
		latency.usualMs += (ms - latency.usualMs) / Math.min(SAMPLES, latency.samples);
	}

	/** How long the slowest of the answers usually takes. Before the first answer: how long it is awaited. */
	usualMs(now: number): number {
		const all = [...this.byPath.values()].map(({ samples, usualMs, inFlight, since }) => {
			if (samples > 0) return usualMs;
			return inFlight > 0 ? now - since : 0;
		});
		return Math.max(0, ...all);
	}
}
