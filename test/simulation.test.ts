/**
 * Whole runs in virtual time, against services of many kinds: how long they take, what is refused, and what is lost.
 */
import fc from 'fast-check';
import {
	atOnce,
	closed,
	fixed,
	leakyBucket,
	sliding,
	tokenBucket,
	type Limit,
} from '../lab/rateLimits';
import { badDays, hardLimits, usualLimits, type Aim } from '../lab/simulator/scenarios';
import type { ServiceSettings } from '../lab/simulator/service';
import { bound, simulate, type Result, type Scenario } from '../lab/simulator/simulate';

const MINUTE_MS = 60_000;
const seed = fc.integer({ min: 1, max: 1_000_000 });

/** The bound takes no time for other things, so a busy process may be slower by this share. */
const BUSY_SHARE = 0.1;

const average = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length;

/** Makes all calls of a scenario so many times. */
async function runs(scenario: Scenario, times: number) {
	const results = [];
	for (let seed = 1; seed <= times; seed++) {
		const result = await simulate({ ...scenario, seed });
		// Every call has one end.
		const { taken, lost, unclear, notSent } = result;
		expect(taken.length - lost + unclear + notSent).toBe(scenario.calls);
		results.push({ ...result, ofBound: result.seconds / bound({ ...scenario, seed }) });
	}
	return results;
}

/** The same, and all calls are made. */
async function completeRuns(scenario: Scenario, times: number) {
	const results = await runs(scenario, times);
	expect(results.filter(({ notSent }) => notSent > 0)).toEqual([]);
	return results;
}

/** The times of such runs in relation to the bound. */
async function ratios(scenario: Scenario, times: number): Promise<number[]> {
	return (await completeRuns(scenario, times)).map(({ ofBound }) => ofBound);
}

/** Expects that runs cost no more than their aim. @param of makes one number of those of all runs */
function expectAim(
	results: Array<Result & { ofBound: number }>,
	aim: Aim,
	of: (numbers: number[]) => number,
) {
	expect(of(results.map(({ ofBound }) => ofBound))).toBeLessThanOrEqual(aim.ofBound ?? Infinity);
	expect(of(results.map(({ refused }) => refused))).toBeLessThanOrEqual(aim.refused ?? Infinity);
	const unclear = results.map((each) => each.unclear);
	expect(Math.max(...unclear)).toBeLessThanOrEqual(aim.unclear ?? Infinity);
}

describe('a limit', () => {
	it.each(usualLimits)('is used in full by each run: $about', async ({ aim, ...scenario }) => {
		const most = (numbers: number[]) => Math.max(...numbers);
		expectAim(await completeRuns(scenario, 3), aim, most);
		const busyAim = { ...aim, ofBound: (aim.ofBound ?? 0) + BUSY_SHARE };
		expectAim(await completeRuns({ ...scenario, isBusy: true }, 6), busyAim, most);
	});

	it.each(hardLimits)('is used on average: $about', async ({ aim, ...scenario }) => {
		expectAim(await completeRuns(scenario, 5), aim, average);
	});

	it.each([50, 100, 200])('of credits costs 64 vain calls, %d ms until each answer', async (ms) => {
		const scenario = { about: '', calls: 300, credits: 50, limits: () => [], latency: { ms } };
		const { noCredits, taken } = await simulate(scenario);
		expect(taken).toHaveLength(50);
		expect(noCredits).toBeLessThanOrEqual(64);
	});
});

describe('sixty calls a minute', () => {
	const kinds = Object.entries({
		'sliding window': () => [sliding(60, MINUTE_MS)],
		'fixed window': () => [fixed(60, MINUTE_MS)],
		'token bucket': () => [tokenBucket(60, 1)],
	}).map(([about, limits]) => ({ about, limits, latency: { ms: 200 } }));

	it.each(kinds)('are used up and never exceeded if they are known: $about', async (service) => {
		for (const calls of [1, 59, 60, 61, 120, 121, 300]) {
			const result = await simulate({ ...service, calls, perMinute: 60 });
			expect([result.refused, result.taken.length]).toEqual([0, calls]);
			// floor((K - 1) / N) minutes, and each minute begins when the answers of the last one are there.
			const minutes = Math.floor((calls - 1) / 60);
			expect(result.seconds).toBeGreaterThanOrEqual(minutes * 60);
			expect(result.seconds).toBeLessThan(minutes * 60 * 1.05 + 3);
		}
	});

	const unknown = kinds.flatMap((kind) =>
		([undefined, 'retryAfter', 'remaining'] as const).map((says) => ({ ...kind, says })),
	);
	it.each(unknown)('are found by any number of processes: $about that says $says', async (kind) => {
		for (const processes of [1, 2, 3, 4]) {
			const { seconds, refused, taken } = await simulate({ ...kind, processes, calls: 300 });
			expect(taken).toHaveLength(300);
			// Four minutes at best; a service that says nothing costs some more.
			expect(seconds).toBeLessThan(60 * 8);
			// Each window ends in the refusal of what was in flight.
			expect(refused).toBeLessThan(50 * 6 * processes);
		}
	});
});

describe('a bad day', () => {
	it.each(badDays)('has its price: $about', async ({ aim, ...scenario }) => {
		// Where chance decides how long a run takes, more runs count.
		const times = aim.ofCalm === undefined ? 2 : 8;
		const results = await runs(scenario, times);
		expectAim(results, aim, average);
		if (aim.ofCalm === undefined) return;
		const calm = await runs({ ...scenario, fault: undefined }, times);
		const ofCalm = results.map(({ seconds }, index) => seconds / (calm[index]?.seconds ?? 0));
		expect(average(ofCalm)).toBeLessThanOrEqual(aim.ofCalm);
	});
});

/** What once ended a run too early. */
const HARD: Scenario[] = [
	...[sliding, fixed].flatMap((kind) =>
		[60, Infinity].map((perMinute) => ({
			about: `${kind.name} window used up by another worker, ${String(perMinute)} known`,
			...{ perMinute, processes: 2, calls: 1200, limits: () => [kind(60, MINUTE_MS)] },
		})),
	),
	{
		about: 'service that accepts calls of other runs, two a minute',
		...{ calls: 18, processes: 2, runs: 3, laterMs: 0, latency: { ms: 20, sigma: 1 } },
		limits: () => [fixed(2, MINUTE_MS)],
	},
];

it.each(HARD)('no run gives up at a $about', async (scenario) => {
	const seeds = scenario.calls > 100 ? 3 : 10;
	for (let seed = 1; seed <= seeds; seed++) {
		const laterMs = 25_000 + 3000 * seed;
		const { taken } = await simulate({ laterMs, ...scenario, seed });
		expect(taken).toHaveLength(scenario.calls);
	}
});

describe('an odd service', () => {
	it.each([
		{
			about: 'closed for four minutes, with 60 in any minute',
			limits: () => [closed(10_000, 250_000), sliding(60, MINUTE_MS)],
			most: 1.15,
		},
		{
			about: 'a process that is stalled for a second now and then',
			limits: () => [sliding(60, MINUTE_MS)],
			...{ isBusy: true, stallMs: 1000, most: 1.15 },
		},
	])('does not make a run much slower, or give up: $about', async ({ most, ...service }) => {
		expect(average(await ratios({ calls: 300, ...service }, 5))).toBeLessThan(most);
	});

	it.each([60_000, 300_000])(
		'that delays calls gets so few at once that none takes %d ms and times out',
		async (timeoutMs) => {
			const limits = () => [leakyBucket(Infinity, 2)];
			const { taken, lost } = await simulate({ about: '', calls: 1000, limits, timeoutMs });
			expect([taken.length, lost]).toEqual([1000, 0]);
		},
	);
});

it.each([
	{ limits: () => [fixed(300, MINUTE_MS, 17_000)], ms: 1500, sigma: 0.75, most: 1.2 },
	// Few calls go out until the first answer, which takes 8 s.
	{ limits: () => [fixed(300, MINUTE_MS, 17_000)], ms: 8000, most: 1.4 },
	{ limits: () => [sliding(100, 10_000)], ms: 8000, most: 1.45 },
])('a service that says how many requests are left is used: $ms ms', async (given) => {
	const { limits, most, ...latency } = given;
	const says = 'remaining';
	const times = await ratios({ about: '', calls: 600, limits, latency, says }, 3);
	expect(Math.max(...times)).toBeLessThan(most);
});

/** A limit, and what to say of it. */
type NamedLimit = [about: string, make: () => Limit];

const count = fc.integer({ min: 2, max: 200 });
const windowMs = fc.constantFrom(500, 1000, 2000, 10_000, 60_000);
const windows = fc.tuple(count, windowMs);
const buckets = fc.tuple(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 50 }));

/** A kind of limit, of any size. */
function kind<Size extends number[]>(
	name: string,
	sizes: fc.Arbitrary<Size>,
	make: (...size: Size) => Limit,
): fc.Arbitrary<NamedLimit> {
	return sizes.map((size) => [`${name} ${size.join()}`, () => make(...size)]);
}

/** A limit of any kind, the slowest of which takes two calls a minute. */
const anyLimit = fc.oneof(
	kind('sliding', windows, sliding),
	kind('fixed', windows, fixed),
	kind('aligned', fc.tuple(count, windowMs, fc.nat(60_000)), fixed),
	kind('tokens', buckets, tokenBucket),
	kind('leaky', buckets, leakyBucket),
	kind('at once', fc.tuple(fc.integer({ min: 1, max: 200 })), atOnce),
);

const anyLatency: fc.Arbitrary<ServiceSettings['latency']> = fc.oneof(
	fc.constantFrom(20, 100, 500, 2000, 8000, 30_000).map((ms) => ({ ms })),
	fc.constantFrom(20, 500, 2000).map((ms) => ({ ms, sigma: 1 })),
);

const anyScenario: fc.Arbitrary<Scenario> = fc
	.tuple(
		fc.array(anyLimit, { maxLength: 2 }),
		fc.record({
			calls: fc.integer({ min: 1, max: 240 }),
			latency: anyLatency,
			says: fc.constantFrom<ServiceSettings['says']>(undefined, 'retryAfter', 'remaining'),
			slowRefusals: fc.boolean(),
			perMinute: fc.constantFrom(Infinity, 60, 300, 6000),
			processes: fc.integer({ min: 1, max: 4 }),
			runs: fc.integer({ min: 1, max: 3 }),
			seed,
		}),
	)
	.map(([limits, others]) => ({
		...others,
		about: limits.map(([about]) => about).join(' and '),
		limits: () => limits.map(([, make]) => make()),
	}));

it('any service takes every call once: nothing is stuck or lost', async () => {
	await fc.assert(
		fc.asyncProperty(anyScenario, async (scenario) => {
			const { processes = 1, runs = 1, calls } = scenario;
			const { ends, taken } = await simulate(scenario);
			const each = Math.ceil(calls / processes / runs);
			expect(ends.flat().map((run) => run.length)).toEqual(new Array(processes * runs).fill(each));
			expect(taken).toHaveLength(each * processes * runs);
		}),
		{ numRuns: 60 },
	);
}, 120_000);
