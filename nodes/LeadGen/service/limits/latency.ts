import type { Call } from './call';

/** The number of answers in an average. */
const SAMPLES = 20;
/** With fewer calls in flight, the calls themselves do not make answers slow. */
export const FEW_IN_FLIGHT = 20;

/** How long answers to the same path take, in milliseconds. */
interface Latency {
	/** The number of answers that were measured. */
	samples: number;
	/** The average of the last ones, while few calls were in flight. */
	usualMs: number;
	/** The fastest one. */
	leastMs: number;
	/** Since when the first answer is awaited. */
	since: number;
}

/** The latencies of an account, by path. */
export class Latencies {
	private readonly byPath = new Map<string, Latency>();

	sent({ path, sentAt }: Call): void {
		if (!this.byPath.has(path)) this.byPath.set(path, unknownSince(sentAt));
	}

	/** @param isResult whether the call brought a result; an error may come sooner */
	ended({ path, sentAt, inFlightAtSend }: Call, isResult: boolean, now: number): void {
		const latency = this.byPath.get(path) ?? unknownSince(sentAt);
		if (!isResult) {
			if (latency.samples === 0) this.byPath.delete(path);
			return;
		}
		this.byPath.set(path, latency);
		const ms = now - sentAt;
		latency.leastMs = Math.min(latency.leastMs, ms);
		if (inFlightAtSend >= FEW_IN_FLIGHT && latency.samples >= SAMPLES) return;
		latency.samples++;
		latency.usualMs += (ms - latency.usualMs) / Math.min(SAMPLES, latency.samples);
	}

	/** How long the fastest answer took; `Infinity` without an answer. */
	leastMs(path?: string): number {
		const all = path === undefined ? [...this.byPath.values()] : [this.byPath.get(path)];
		return Math.min(...all.map((latency) => latency?.leastMs ?? Infinity));
	}

	/** How long the slowest of the answers usually takes, as far as known. */
	usualMs(now: number): number {
		const all = [...this.byPath.values()];
		return Math.max(
			0,
			...all.map(({ samples, usualMs, since }) => (samples > 0 ? usualMs : now - since)),
		);
	}
}

function unknownSince(since: number): Latency {
	return { samples: 0, usualMs: 0, leastMs: Infinity, since };
}
