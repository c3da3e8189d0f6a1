/** Faults of the rate limiter, each with the service or the account where it showed. */
import { banning, fixed, sliding } from '../lab/rateLimits';
import { node, simulate } from '../lab/simulator/simulate';

const MINUTE_MS = 60_000;
const LATENCY = { ms: 100 };

describe('A worker that begins while another one uses up the limit', () => {
	const kinds = {
		sliding: () => [sliding(60, MINUTE_MS)],
		fixed: () => [fixed(60, MINUTE_MS)],
	};
	const cases = Object.entries(kinds).flatMap(([kind, limits]) =>
		[60, Infinity].map((perMinute) => ({ kind, limits, perMinute })),
	);
	it.each(cases)(
		'gets its share: $kind window, $perMinute a minute known',
		async ({ limits, perMinute }) => {
			for (let seed = 1; seed <= 5; seed++) {
				const laterMs = 25_000 + 3000 * seed;
				const several = { processes: 2, laterMs, calls: 1200, perMinute, seed };
				const { taken } = await simulate({ about: '', limits, latency: LATENCY, ...several }, node);
				expect(taken).toHaveLength(1200);
			}
		},
	);
});

describe('A ban that each call begins anew', () => {
	it.each([
		{ banMs: 2 * MINUTE_MS, processes: 1 },
		{ banMs: 3 * MINUTE_MS, processes: 1 },
		{ banMs: MINUTE_MS, processes: 2 },
	])('of $banMs ms ends for $processes processes', async ({ banMs, processes }) => {
		const limits = () => [banning(sliding(60, MINUTE_MS), banMs)];
		for (let seed = 1; seed <= 5; seed++) {
			const several = { processes, laterMs: 31_000, calls: 100 * processes, seed };
			const { taken } = await simulate({ about: '', limits, latency: LATENCY, ...several }, node);
			expect(taken).toHaveLength(100 * processes);
		}
	});
});
