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
import { USUAL_STALL_MS } from '../lab/simulator/processor';
import { badDays, hardLimits, usualLimits, type Aimed } from '../lab/simulator/scenarios';
import type { ServiceSettings } from '../lab/simulator/service';
import { average, simulate, simulateAll, type Scenario } from '../lab/simulator/simulate';

const MINUTE_MS = 60_000;
const seed = fc.integer({ min: 1, max: 1_000_000 });

/** The bound takes no time for other things, so a busy process may be slower by this share. */
const BUSY_SHARE = 0.1;

const most = (numbers: number[]) => Math.max(...numbers);

/**
 * Makes all calls of a scenario so many times, and expects that this costs no more than its aim.
 * @param of makes one number of those of all runs
 */
async function expectAim(
	{ aim, ...scenario }: Aimed,
	times: number,
	of: (numbers: number[]) => number,
) {
	const results = await simulateAll(scenario, times);
	for (const { taken, lost, unclear, notSent } of results) {
		// Every call has one end.
		expect(taken - lost + unclear + notSent).toBe(scenario.calls);
		if (!scenario.fault) expect(notSent).toBe(0);
	}
	expect(of(results.map(({ ofBound }) => ofBound))).toBeLessThanOrEqual(aim.ofBound ?? Infinity);
	expect(of(results.map(({ refused }) => refused))).toBeLessThanOrEqual(aim.refused ?? Infinity);
	expect(most(results.map(({ unclear }) => unclear))).toBeLessThanOrEqual(aim.unclear ?? Infinity);
	return results;
}

describe('a limit', () => {
	it.each(usualLimits)('is used in full by each run: $about', async (scenario) => {
		await expectAim(scenario, 3, most);
		const aim = { ...scenario.aim, ofBound: (scenario.aim.ofBound ?? 0) + BUSY_SHARE };
		await expectAim({ ...scenario, aim, stallMs: USUAL_STALL_MS }, 6, most);
	});

	it.each(hardLimits)('is used on average: $about', async (scenario) => {
		await expectAim(scenario, 5, average);
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
			const { refused, taken, seconds } = await simulate({ ...service, calls, perMinute: 60 });
			expect([refused, taken]).toEqual([0, calls]);
			// floor((K - 1) / N) minutes, and each minute begins when the answers of the last one are there.
			const minutes = Math.floor((calls - 1) / 60);
			expect(seconds).toBeGreaterThanOrEqual(minutes * 60);
			expect(seconds).toBeLessThan(minutes * 60 * 1.05 + 3);
		}
	});

	const unknown = kinds.flatMap((kind) =>
		([undefined, 'retryAfter', 'remaining'] as const).map((says) => ({ ...kind, says })),
	);
	it.each(unknown)('are found by any number of processes: $about that says $says', async (kind) => {
		for (const processes of [1, 2, 3, 4]) {
			const { seconds, refused, taken } = await simulate({ ...kind, processes, calls: 300 });
			expect(taken).toBe(300);
			// Four minutes at best; a service that says nothing costs some more.
			expect(seconds).toBeLessThan(60 * 8);
			// Each window ends in the refusal of what was in flight.
			expect(refused).toBeLessThan(50 * 6 * processes);
		}
	});
});

it.each(badDays)('a bad day has its price: $about', async (scenario) => {
	const { ofCalm } = scenario.aim;
	// Where chance decides how long a run takes, more runs count.
	const times = ofCalm === undefined ? 2 : 8;
	const results = await expectAim(scenario, times, average);
	if (ofCalm === undefined) return;
	const calm = await simulateAll({ ...scenario, fault: undefined }, times);
	const ratios = results.map(({ seconds }, index) => seconds / (calm[index]?.seconds ?? 0));
	expect(average(ratios)).toBeLessThanOrEqual(ofCalm);
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
		const { taken } = await simulate({ laterMs: 25_000 + 3000 * seed, ...scenario, seed });
		expect(taken).toBe(scenario.calls);
	}
});

const ofAMinute = () => [fixed(300, MINUTE_MS, 17_000)];
const says = 'remaining';
it.each<Aimed>([
	{
		about: 'a service that is closed for four minutes',
		...{ calls: 300, aim: { ofBound: 1.15 } },
		limits: () => [closed(10_000, 250_000), sliding(60, MINUTE_MS)],
	},
	{
		about: 'a process that is stalled for a second now and then',
		...{ calls: 300, stallMs: 1000, aim: { ofBound: 1.15 } },
		limits: () => [sliding(60, MINUTE_MS)],
	},
	{
		about: 'a service that says what is left, after 1.5 s or so',
		...{ calls: 600, says, latency: { ms: 1500, sigma: 0.75 }, aim: { ofBound: 1.2 } },
		limits: ofAMinute,
	},
	{
		// Few calls go out until the first answer.
		about: 'a service that says what is left, after 8 s',
		...{ calls: 600, says, latency: { ms: 8000 }, limits: ofAMinute, aim: { ofBound: 1.4 } },
	},
	{
		about: 'a service that says what is left of 10 s, after 8 s',
		...{ calls: 600, says, latency: { ms: 8000 }, aim: { ofBound: 1.45 } },
		limits: () => [sliding(100, 10_000)],
	},
])('no run gives up, or takes much longer: $about', async (scenario) => {
	await expectAim(scenario, 5, most);
});

it.each([60_000, 300_000])(
	'a service that delays calls gets so few at once that none takes %d ms and times out',
	async (timeoutMs) => {
		const limits = () => [leakyBucket(Infinity, 2)];
		const { taken, lost } = await simulate({ about: '', calls: 1000, limits, timeoutMs });
		expect([taken, lost]).toEqual([1000, 0]);
	},
);

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
			const { taken, lost, unclear, notSent } = await simulate(scenario);
			const each = Math.ceil(calls / processes / runs);
			expect([taken, lost, unclear, notSent]).toEqual([each * processes * runs, 0, 0, 0]);
		}),
		{ numRuns: 60 },
	);
}, 120_000);
