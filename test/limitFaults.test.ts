/** Faults of the rate limiter, each with the service or the account where it showed. */
import { banning, fixed, sliding } from '../lab/rateLimits';
import { VirtualClock } from '../lab/simulator/clock';
import { bound, node, simulate } from '../lab/simulator/simulate';
import { Limiter, type Run } from '../nodes/LeadGen/service/limits/limiter';
import { readRateHeaders } from '../nodes/LeadGen/service/limits/rateHeaders';

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

describe('A service that says how many requests are left', () => {
	it('keeps them for calls that are sent', async () => {
		const clock = new VirtualClock();
		const limiter = new Limiter(clock);
		const run: Run = { inFlight: 0, waitedMs: 0, cap: Infinity, signal: undefined };
		const turn = async () => await limiter.turn(run, { path: '/email/find' });
		const calling = (async () => {
			const rateInfo = { remaining: 3, resetMs: 5 * MINUTE_MS };
			limiter.end(run, await turn(), { outcome: 'succeeded', rateInfo });
			// The service cannot be reached for a moment, or the run is stopped.
			for (let more = 0; more < 10; more++) limiter.end(run, await turn(), { outcome: 'notSent' });
			for (let more = 0; more < 3; more++) await turn();
		})();
		await clock.runUntil(calling, MINUTE_MS);
	});

	it.each([
		{ limits: () => [fixed(300, MINUTE_MS, 17_000)], ms: 1500, sigma: 0.75, before: 2.4 },
		{ limits: () => [fixed(300, MINUTE_MS, 17_000)], ms: 8000, before: 1.6 },
		{ limits: () => [sliding(100, 10_000)], ms: 8000, before: 1.9 },
		{ limits: () => [sliding(10, 1000)], ms: 8000, before: 2 },
	])('is used in full: answers take $ms ms', async ({ limits, before, ...latency }) => {
		for (let seed = 1; seed <= 3; seed++) {
			const says = 'remaining' as const;
			const scenario = { about: '', calls: 600, limits, latency, says, seed };
			const { seconds } = await simulate(scenario, node);
			expect(seconds / bound(scenario)).toBeLessThan(0.75 * before);
		}
	});
});

// It shows only where the clock of the machine has another time zone, as with TZ=America/New_York.
it.each(['2026-01-01 00:00:08', 'Thu, 01 Jan 2026 00:00:08', 'Thu Jan  1 00:00:08 2026'])(
	'A time without a time zone is UTC: %s',
	(time) => {
		const now = Date.parse('2026-01-01T00:00:00Z');
		expect(readRateHeaders({ 'retry-after': time }, now).retryAfterMs).toBe(8000);
	},
);
