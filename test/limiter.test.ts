import { getEventListeners } from 'node:events';
import { ServiceError } from '../nodes/LeadGen/common/errors';
import { Halting } from '../nodes/LeadGen/service/halting';
import type { Call, End } from '../nodes/LeadGen/service/limits/policy';
import { Limiter, type Run } from '../nodes/LeadGen/service/limits/limiter';
import { readRateHeaders, type RateInfo } from '../nodes/LeadGen/service/limits/rateHeaders';
import { Plan } from '../nodes/LeadGen/service/plan';
import { VirtualClock } from '../lab/simulator/clock';
import { fixed, sliding, tokenBucket } from '../lab/rateLimits';
import type { ServiceSettings } from '../lab/simulator/service';
import { node, simulate } from '../lab/simulator/simulate';

const MINUTE_MS = 60_000;
const LATENCY = { ms: 200 };

const kinds = {
	fixedWindow: () => [fixed(60, MINUTE_MS, 0)],
	slidingWindow: () => [sliding(60, MINUTE_MS)],
	tokenBucket: () => [tokenBucket(60, 1)],
};

function limiterOf(perMinute: number) {
	const clock = new VirtualClock();
	const limiter = new Limiter(clock);
	limiter.perMinute = perMinute;
	const pass = async (ms: number) => {
		await clock.runUntil(clock.sleep(ms), Infinity);
	};
	return { limiter, clock, pass };
}

const newRun = (cap = Infinity): Run => ({ inFlight: 0, waitedMs: 0, cap, signal: undefined });
const LOOKUP = { path: '/email/find' };
const POLL = { path: '/status', isPoll: true };

describe('a limit that is known', () => {
	it.each([
		[1000, 1000],
		[16.67, 16],
		[0.5, 1],
		[0, Infinity],
		[-1, Infinity],
	])('is a whole number: %d a minute in the credential is %d', (requestsPerMinute, perMinute) => {
		const plan = new Plan();
		plan.configure({ plan: 'enterprise', requestsPerMinute });
		expect(plan.perMinute).toBe(perMinute);
	});

	const cases = Object.entries(kinds).flatMap(([name, limits]) =>
		[1, 59, 60, 61, 120, 121, 300].map((calls) => ({ name, limits, calls })),
	);
	it.each(cases)(
		'is used up and never exceeded: $calls calls, $name',
		async ({ limits, calls }) => {
			const { seconds, refused, taken } = await simulate(
				{ about: '', calls, perMinute: 60, limits, latency: LATENCY },
				node,
			);
			expect(refused).toBe(0);
			expect(taken).toHaveLength(calls);
			// floor((K - 1) / N) minutes, and each minute begins when the answers of the last one are there.
			const minutes = Math.floor((calls - 1) / 60);
			expect(seconds).toBeGreaterThanOrEqual(minutes * 60);
			expect(seconds).toBeLessThan(minutes * 60 * 1.05 + 3);
		},
	);
});

describe('several runs', () => {
	/** Notes in which order the calls get their turn; each is answered at once. */
	function recorder(limiter: Limiter) {
		const order: string[] = [];
		const call = async (run: Run, name: string, path = '/email/find') => {
			const turn = await limiter.turn(run, { path });
			order.push(name);
			limiter.end(run, turn, { outcome: 'succeeded' });
		};
		return { order, call };
	}

	it('take turns, so that a single call does not wait for all of a long run', async () => {
		const { limiter, pass } = limiterOf(60);
		const { order, call } = recorder(limiter);
		const [long, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 200 }, () => call(long, 'long'));
		await pass(1000);
		expect(order).toHaveLength(60);
		expect(limiter.demand).toBe(200);
		calls.push(call(other, 'other'), call(other, 'other'), call(newRun(), 'single'));
		calls.push(call(long, 'credits', '/credits'));
		await pass(61_000);
		expect(order.slice(60, 68)).toEqual([
			'long',
			'other',
			'single',
			'credits',
			'other',
			'long',
			'long',
			'long',
		]);
		await pass(4 * MINUTE_MS);
		await Promise.all(calls);
		expect(order).toHaveLength(204);
		expect(limiter.demand).toBe(0);
	});

	it('get no second turn for calls of another kind', async () => {
		const { limiter, pass } = limiterOf(60);
		const { order, call } = recorder(limiter);
		const [long, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 60 }, () => call(long, 'first'));
		await pass(1000);
		for (let more = 0; more < 20; more++) {
			calls.push(call(long, 'find'), call(other, 'other'), call(other, 'other'));
			calls.push(call(long, 'verify', '/email/verify'));
		}
		await pass(3 * MINUTE_MS);
		await Promise.all(calls);
		expect(order.slice(60)).toEqual(
			Array.from({ length: 20 }, () => ['find', 'other', 'verify', 'other']).flat(),
		);
	});

	it('listen to their signal once, however many calls wait', async () => {
		const { limiter, pass } = limiterOf(1);
		const stop = new AbortController();
		const run: Run = { ...newRun(), signal: stop.signal };
		await limiter.turn(run, LOOKUP);
		const waiting = Array.from({ length: 50 }, () => limiter.turn(run, LOOKUP));
		const outcomes = Promise.allSettled(waiting);
		await pass(1000);
		expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
		stop.abort();
		expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
		expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
		expect(limiter.demand).toBe(1);
	});

	it('go on when one of them is stopped or has all that it may have in flight', async () => {
		const { limiter, pass } = limiterOf(2);
		const stop = new AbortController();
		const stopped: Run = { ...newRun(), signal: stop.signal };
		const [full, free] = [newRun(1), newRun()];
		const first = await limiter.turn(full, LOOKUP);
		const order: string[] = [];
		const wait = async (run: Run, name: string) => {
			await limiter.turn(run, LOOKUP);
			order.push(name);
		};
		const waiting = [wait(full, 'full'), wait(free, 'free')];
		const late = wait(stopped, 'stopped').catch(() => order.push('stop'));
		await pass(1000);
		expect(order).toEqual(['free']);
		stop.abort();
		limiter.end(full, first, { outcome: 'succeeded' });
		await pass(61_000);
		await Promise.all([...waiting, late]);
		expect(order).toEqual(['free', 'stop', 'full']);
		expect(limiter.demand).toBe(2);
	});
});

describe('a run', () => {
	it.each([1, 3])('has no more than %d calls in flight, also while polls wait', async (cap) => {
		const { limiter, pass } = limiterOf(60);
		const run = newRun(cap);
		const inFlight: Call[] = [];
		for (let more = 0; more < 5; more++) {
			for (const what of [LOOKUP, POLL]) {
				void limiter.turn(run, what).then((call) => inFlight.push(call));
			}
		}
		for (let over = 0; over < 10; over++) {
			await pass(1000);
			expect(inFlight).toHaveLength(Math.min(cap, 10 - over));
			const call = inFlight.shift();
			if (call) limiter.end(run, call, { outcome: 'succeeded' });
		}
		expect(limiter.demand).toBe(10);
	});

	it('that waits for its turn ends when it is given up', async () => {
		const { limiter, pass } = limiterOf(1);
		const halting = new Halting('Run it again.');
		const run = { ...newRun(), signal: halting.signal };
		await limiter.turn(run, LOOKUP);
		const waiting = [LOOKUP, POLL].map((what) => limiter.turn(run, what));
		const outcomes = Promise.allSettled(waiting);
		await pass(1000);
		halting.stopAllCalls(
			new ServiceError('Slow down', '', { outcome: 'refused', code: 'RATE_LIMIT_EXCEEDED' }),
		);
		expect(await outcomes).toEqual([
			{ status: 'rejected', reason: halting.reason },
			{ status: 'rejected', reason: halting.reason },
		]);
		expect(halting.reason?.message).toContain('too many requests');
	});
});

describe('a limit that is not known', () => {
	const tells: Array<ServiceSettings['says']> = [undefined, 'retryAfter', 'remaining'];
	const cases = Object.entries(kinds).flatMap(([name, limits]) =>
		tells.flatMap((says) => [1, 2, 3, 4].map((processes) => ({ name, limits, says, processes }))),
	);
	it.each(cases)(
		'is found: $name that says $says, $processes processes',
		async ({ limits, says, processes }) => {
			const { seconds, refused, taken } = await simulate(
				{
					about: '',
					calls: 300,
					processes,
					limits,
					latency: LATENCY,
					says,
				},
				node,
			);
			expect(taken).toHaveLength(300);
			// Four minutes at best; a service that says nothing costs some more.
			expect(seconds).toBeLessThan(60 * 8);
			// Each window ends in the refusal of what was in flight.
			expect(refused).toBeLessThan(50 * 6 * processes);
		},
	);

	it('is not given up on by a run while the service accepts calls of other runs', async () => {
		for (let seed = 1; seed <= 20; seed++) {
			const limits = () => [fixed(2, MINUTE_MS)];
			const { taken } = await simulate(
				{
					about: '',
					calls: 18,
					processes: 2,
					runs: 3,
					limits,
					latency: { ms: 20, sigma: 1 },
					seed,
				},
				node,
			);
			expect(taken).toHaveLength(18);
		}
	});

	it.each<[string, RateInfo]>([
		['names no time', {}],
		['names a time that is over', { retryAfterMs: 0 }],
	])('is given up on after ten minutes of refusals, each of which %s', async (_name, news) => {
		const { limiter, pass } = limiterOf(Infinity);
		// The run that comes after has the same patience, but calls are already far apart.
		for (const least of [15, 7]) {
			const run = newRun(1);
			let tries = 0;
			const trying = (async () => {
				let call;
				do {
					call = await limiter.turn(run, LOOKUP);
					tries++;
				} while (limiter.end(run, call, { outcome: 'rateLimited', rateInfo: news }));
			})();
			await pass(12 * MINUTE_MS);
			await trying;
			expect(tries).toBeGreaterThan(least);
			expect(tries).toBeLessThan(100);
		}
	});

	it.each<[string, End]>([
		['is refused', { outcome: 'rateLimited' }],
		['fails', { outcome: 'unknown' }],
	])(
		'ends a run at once if a lookup %s for a quarter of an hour, but not if a poll does',
		async (_name, end) => {
			const told: End = { ...end, rateInfo: { retryAfterMs: 15 * MINUTE_MS } };
			const goesOn = [];
			for (const what of [LOOKUP, POLL]) {
				const { limiter, clock } = limiterOf(Infinity);
				const run = newRun();
				const first = limiter.end(run, await limiter.turn(run, what), told);
				const began = clock.now();
				const again = limiter.turn(run, what);
				await clock.runUntil(again, Infinity);
				goesOn.push([first, Math.round((clock.now() - began) / MINUTE_MS)]);
				limiter.end(run, await again, { outcome: 'succeeded' });
			}
			// A later run, too, begins with a lookup, and a poll waits for as long as a run does.
			expect(goesOn).toEqual([
				[false, 0],
				[true, 10],
			]);
		},
	);

	it('is given up on for one operation while the service takes another', async () => {
		const { limiter, pass } = limiterOf(Infinity);
		const [lookups, looks] = [newRun(), newRun()];
		let tries = 0;
		const trying = (async () => {
			let call;
			do {
				call = await limiter.turn(lookups, LOOKUP);
				tries++;
			} while (limiter.end(lookups, call, { outcome: 'rateLimited' }));
		})();
		for (let seconds = 0; seconds < 11 * 60; seconds += 5) {
			void limiter
				.turn(looks, POLL)
				.then((call) => limiter.end(looks, call, { outcome: 'succeeded' }));
			await pass(5000);
		}
		await trying;
		expect(tries).toBeGreaterThan(15);
	});

	it('of polls alone holds no other call up once the service shows that', async () => {
		const { limiter, clock } = limiterOf(Infinity);
		const [lookups, polls] = [newRun(), newRun()];
		const state = { isOver: false, polled: 0 };
		const polling = (async () => {
			while (!state.isOver) {
				const call = await limiter.turn(polls, POLL);
				state.polled++;
				limiter.end(polls, call, { outcome: 'rateLimited', rateInfo: { retryAfterMs: 20_000 } });
			}
		})();
		const looking = (async () => {
			for (let count = 0; count < 100; count++) {
				const call = await limiter.turn(lookups, LOOKUP);
				await clock.sleep(200);
				limiter.end(lookups, call, { outcome: 'succeeded' });
			}
			state.isOver = true;
		})();
		await clock.runUntil(looking, Infinity);
		// Two pauses of 20 seconds, in which a single call tries, and the answers of 100 lookups one after the other.
		expect(clock.now()).toBeLessThan(65_000);
		expect(state.polled).toBeLessThan(6);
		await clock.runUntil(polling, Infinity);
	});

	it('is not forgotten by a trickle of calls that does not use it', async () => {
		const { limiter, pass } = limiterOf(Infinity);
		const run = newRun();
		const call = async (outcome: 'succeeded' | 'rateLimited', ms: number) => {
			const turn = limiter.turn(run, LOOKUP);
			await pass(ms);
			limiter.end(run, await turn, { outcome });
		};
		for (let calls = 0; calls < 10; calls++) await call('succeeded', 10);
		await call('rateLimited', 10);
		await call('succeeded', 1000);
		const learned = limiter.knownPerMinute;
		expect(learned).toBeLessThan(10_000);
		for (let minutes = 0; minutes < 120; minutes++) await call('succeeded', MINUTE_MS);
		expect(limiter.knownPerMinute).toBe(learned);
	});
});

describe('looks at the status of scrapes', () => {
	it('take a third of the limit at most, and make no other call wait', async () => {
		const { limiter, pass } = limiterOf(60);
		const [scrapes, lookups] = [newRun(), newRun()];
		let polls = 0;
		const poll = async () => {
			for (;;) {
				const call = await limiter.turn(scrapes, POLL);
				polls++;
				limiter.end(scrapes, call, { outcome: 'succeeded' });
			}
		};
		for (let scrape = 0; scrape < 30; scrape++) void poll();
		await pass(1000);
		expect(polls).toBe(20);
		let answered = 0;
		for (let lookup = 0; lookup < 10; lookup++) {
			void limiter.turn(lookups, LOOKUP).then((call) => {
				answered++;
				limiter.end(lookups, call, { outcome: 'succeeded' });
			});
		}
		await pass(1000);
		expect(answered).toBe(10);
		await pass(MINUTE_MS);
		expect(polls).toBe(40);
	});

	it('wait for nothing where no limit is known', async () => {
		const { limiter, pass } = limiterOf(Infinity);
		const run = newRun();
		let polls = 0;
		for (let scrape = 0; scrape < 15; scrape++) {
			void limiter.turn(run, POLL).then(() => polls++);
		}
		await pass(15);
		expect(polls).toBe(15);
	});
});

describe('calls in flight', () => {
	/** Asks for very many turns. */
	function crowd(limiter: Limiter, run: Run) {
		const calls: Call[] = [];
		for (let turns = 0; turns < 2000; turns++) {
			void limiter.turn(run, LOOKUP).then((call) => calls.push(call));
		}
		return calls;
	}

	it('become more by time, up to a thousand, without a single answer', async () => {
		const { limiter, pass } = limiterOf(Infinity);
		const calls = crowd(limiter, newRun());
		await pass(30);
		expect(calls).toHaveLength(20);
		await pass(1000);
		expect(calls.length).toBeGreaterThan(150);
		await pass(10_000);
		expect(calls).toHaveLength(1000);
	});

	it.each([
		[20, 20],
		[100, 55],
		[400, 220],
		[8000, 1000],
	])('are enough for 550 a second once answers take %d ms: %d', async (ms, enough) => {
		const { limiter, clock } = limiterOf(Infinity);
		const run = newRun();
		const reached = async (count: number) => {
			let most = 0;
			const calls = Array.from({ length: count }, async () => {
				const call = await limiter.turn(run, LOOKUP);
				most = Math.max(most, run.inFlight);
				await clock.sleep(ms);
				limiter.end(run, call, { outcome: 'succeeded' });
			});
			await clock.runUntil(Promise.all(calls), Infinity);
			return most;
		};
		await reached(20);
		expect(await reached(2000)).toBe(enough);
	});

	it('do not become more because a call of another kind failed long ago', async () => {
		const { limiter, clock, pass } = limiterOf(Infinity);
		const run = newRun();
		const failed = await limiter.turn(run, { path: '/credits' });
		limiter.end(run, failed, { outcome: 'unknown' });
		await pass(10 * MINUTE_MS);
		let most = 0;
		const calls = Array.from({ length: 200 }, async () => {
			const call = await limiter.turn(run, LOOKUP);
			most = Math.max(most, run.inFlight);
			await clock.sleep(20);
			limiter.end(run, call, { outcome: 'succeeded' });
		});
		await clock.runUntil(Promise.all(calls), Infinity);
		expect(most).toBe(20);
	});
});

describe('what a service says of its rate', () => {
	const now = Date.parse('2026-01-01T00:00:00Z');
	it.each<[Record<string, string>, RateInfo]>([
		[{}, {}],
		[{ 'retry-after': '7' }, { retryAfterMs: 7000 }],
		[{ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, { retryAfterMs: 9000 }],
		[{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, { retryAfterMs: 0 }],
		[{ 'retry-after': '2026-01-01T00:00:08' }, { retryAfterMs: 8000 }],
		// The clock of the service is a minute ahead, or as ours but for the fraction of a second.
		[
			{
				date: 'Thu, 01 Jan 2026 00:01:00 GMT',
				'retry-after': 'Thu, 01 Jan 2026 00:01:07 GMT',
			},
			{ retryAfterMs: 7000 },
		],
		[
			{ date: 'Wed, 31 Dec 2025 23:59:59 GMT', 'retry-after': 'Thu, 01 Jan 2026 00:00:06 GMT' },
			{ retryAfterMs: 6000 },
		],
		[{ 'retry-after': 'soon' }, {}],
		[{ 'retry-after': '-1' }, {}],
		[
			{ 'ratelimit-remaining': '3', 'ratelimit-reset': '20' },
			{ remaining: 3, resetMs: 20_000 },
		],
		[
			{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 30) },
			{ remaining: 0, resetMs: 30_000 },
		],
		[
			{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now + 30_000) },
			{ remaining: 0, resetMs: 30_000 },
		],
		[{ ratelimit: 'limit=100, remaining=50, reset=5' }, { remaining: 50, resetMs: 5000 }],
		[{ ratelimit: '"default";r=50;t=30' }, { remaining: 50, resetMs: 30_000 }],
		[
			{ 'ratelimit-policy': '"default";q=100;w=60', ratelimit: '"default";t=30;r=0' },
			{ remaining: 0, resetMs: 30_000 },
		],
		// Of several limits, the one that is closest counts.
		...['"day";r=900;t=36000, "second";r=2;t=1', '"second";r=2;t=1,"day";r=900;t=36000'].map(
			(ratelimit): [Record<string, string>, RateInfo] => [
				{ ratelimit },
				{ remaining: 2, resetMs: 1000 },
			],
		),
		[{ 'retry-after': '1.5' }, { retryAfterMs: 1500 }],
		[{ 'retry-after': '99999999' }, { retryAfterMs: 99_999_999_000 }],
		// A point in time, long ago.
		[{ 'retry-after': '1e9' }, { retryAfterMs: 0 }],
		[{ 'retry-after': '2', 'retry-after-ms': '1250' }, { retryAfterMs: 1250 }],
		[
			{
				'x-ratelimit-remaining': '0',
				'x-ratelimit-reset': String(now / 1000 + 30),
				'x-ratelimit-reset-after': '29.5',
			},
			{ remaining: 0, resetMs: 29_500 },
		],
		[
			{ 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '2026-01-01T00:00:30Z' },
			{ remaining: 4, resetMs: 30_000 },
		],
		[
			{ 'x-rate-limit-remaining': '4', 'x-rate-limit-reset': String(now / 1000 + 30) },
			{ remaining: 4, resetMs: 30_000 },
		],
		[{ 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': '-30' }, {}],
	])('%j', (headers, news) => {
		expect(JSON.parse(JSON.stringify(readRateHeaders(headers, now)))).toEqual(news);
	});
});

describe('calls in flight', () => {
	it('are many again when answers become slow, but not for the calls', async () => {
		const { limiter, clock } = limiterOf(Infinity);
		const run = newRun();
		const most = async (count: number, ms: number, end: End = { outcome: 'succeeded' }) => {
			let reached = 0;
			const calls = Array.from({ length: count }, async () => {
				const call = await limiter.turn(run, LOOKUP);
				reached = Math.max(reached, run.inFlight);
				await clock.sleep(ms);
				limiter.end(run, call, end);
			});
			await clock.runUntil(Promise.all(calls), Infinity);
			return reached;
		};
		// Errors come sooner than results.
		await most(100, 1, { outcome: 'refused', rateInfo: {} });
		await most(100, 20);
		await most(100, 3000);
		expect(await most(500, 3000)).toBeGreaterThan(300);
	});
});
