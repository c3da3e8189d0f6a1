import { chance } from './people';

/** How long answers take: always as long, or lognormal around a median. */
export type Latency = number | { medianMs: number; sigma: number };

/** How long the answer to a request takes, in milliseconds. @param index the requests that came before */
export function latencyOf(latency: Latency, seed: number, index: number): number {
	if (typeof latency === 'number') return latency;
	const share = chance(seed, 'latency', index);
	// A normal number from two even ones (Box-Muller).
	const turn = 2 * Math.PI * chance(seed, 'latency, second', index);
	const normal = Math.sqrt(-2 * Math.log(1 - share)) * Math.cos(turn);
	return latency.medianMs * Math.exp(latency.sigma * normal);
}
