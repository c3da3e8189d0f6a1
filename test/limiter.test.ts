import { ServiceError } from '../nodes/LeadGen/common/errors';
import { StopReason } from '../nodes/LeadGen/service/run';
import type { Call, CallInfo, End, RateInfo } from '../nodes/LeadGen/service/limits/policy';
import { Limiter, type Run } from '../nodes/LeadGen/service/limits/limiter';
import { backMs, readRateHeaders } from '../nodes/LeadGen/service/limits/told';
import { FEW_IN_FLIGHT } from '../nodes/LeadGen/service/limits/traffic';
import { Plan } from '../nodes/LeadGen/service/account';
import { sliding } from '../lab/rateLimits';
import { VirtualClock } from '../lab/simulator/clock';

const MINUTE_MS = 60_000;
const LOOKUP = { path: '/email/find' };
const POLL = { path: '/status', isPoll: true };
const SUCCEEDED: End = { outcome: 'succeeded' };
const REFUSED: End = { outcome: 'rateLimited' };

const newRun = (cap = Infinity): Run => {
	return { inFlight: 0, waitedMs: 0, cap };
};

function limiterOf(perMinute: number) {
	const clock = new VirtualClock();
	const limiter = new Limiter(clock);
	limiter.perMinute = perMinute;
	const over = async (work: Promise<unknown>) => {
		await clock.runUntil(work, Infinity);
	};
	const pass = async (ms: number) => {
		await over(clock.sleep(ms));
	};
	/** Makes a call that takes `ms`. @returns whether it makes sense to continue */
	const call = async (run: Run, info: CallInfo, end = SUCCEEDED, ms = 0) => {
		const turn = await limiter.turn(run, info);
		if (ms > 0) await clock.sleep(ms);
		return limiter.end(run, turn, end);
	};
	/** Refuses all lookups of a run. @returns how many it makes until it gives up */
	const triesOf = async (run: Run, end: End) => {
		let tries = 1;
		while (await call(run, LOOKUP, end)) tries++;
		return tries;
	};
	/** How many of `count` lookups that take `ms` a run has in flight at once, at most. */
	const mostInFlight = async (run: Run, count: number, ms: number, end = SUCCEEDED) => {
		let most = 0;
		const lookup = async () => {
			const turn = await limiter.turn(run, LOOKUP);
			most = Math.max(most, run.inFlight);
			await clock.sleep(ms);
			limiter.end(run, turn, end);
		};
		await over(Promise.all(Array.from({ length: count }, lookup)));
		return most;
	};
	return { limiter, clock, over, pass, call, triesOf, mostInFlight };
}

describe('a limit that is known', () => {
	it.each([
		[1000, 1000],
		[16.67, 16],
		[0.5, 1],
		[0, Infinity],
		[-1, Infinity],
	])('is a whole number: %d a minute in the credential is %d', (requestsPerMinute, perMinute) => {
		const { limiter } = limiterOf(0);
		new Plan(limiter).configure({ plan: 'enterprise', requestsPerMinute });
		expect(limiter.perMinute).toBe(perMinute);
	});
});

describe('several runs', () => {
	/** Notes in which order the calls get their turn; each is answered at once. */
	function recorder({ call }: ReturnType<typeof limiterOf>) {
		const order: string[] = [];
		const note = async (run: Run, name: string, path = '/email/find') => {
			await call(run, { path });
			order.push(name);
		};
		return { order, note };
	}

	it('take turns, so that a single call does not wait for all of a long run', async () => {
		const limited = limiterOf(60);
		const { limiter, pass } = limited;
		const { order, note } = recorder(limited);
		const [long, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 200 }, () => note(long, 'long'));
		await pass(1000);
		expect(order).toHaveLength(60);
		expect(limiter.demand).toBe(200);
		calls.push(note(other, 'other'), note(other, 'other'), note(newRun(), 'single'));
		calls.push(note(long, 'credits', '/credits'));
		await pass(61_000);
		expect(order.slice(60, 68).join(' ')).toBe('long other single credits other long long long');
		await pass(4 * MINUTE_MS);
		await Promise.all(calls);
		expect(order).toHaveLength(204);
		expect(limiter.demand).toBe(0);
	});

	it('get no second turn for calls of another kind', async () => {
		const limited = limiterOf(60);
		const { order, note } = recorder(limited);
		const [long, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 60 }, () => note(long, 'first'));
		await limited.pass(1000);
		for (let more = 0; more < 20; more++) {
			calls.push(note(long, 'find'), note(other, 'other'), note(other, 'other'));
			calls.push(note(long, 'verify', '/email/verify'));
		}
		await limited.pass(3 * MINUTE_MS);
		await Promise.all(calls);
		expect(order.slice(60)).toEqual(
			Array.from({ length: 20 }, () => ['find', 'other', 'verify', 'other']).flat(),
		);
	});

	it('go on when one of them is stopped or has all that it may have in flight', async () => {
		const { limiter, pass } = limiterOf(2);
		const stop = new AbortController();
		const [full, free, stopped] = [newRun(1), newRun(), newRun()];
		const first = await limiter.turn(full, LOOKUP);
		const order: string[] = [];
		const wait = async (run: Run, name: string, signal?: AbortSignal) => {
			await limiter.turn(run, LOOKUP, signal);
			order.push(name);
		};
		const waiting = [wait(full, 'full'), wait(free, 'free')];
		const late = wait(stopped, 'stopped', stop.signal).catch(() => order.push('stop'));
		await pass(1000);
		expect(order).toEqual(['free']);
		stop.abort();
		limiter.end(full, first, SUCCEEDED);
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
			for (const info of [LOOKUP, POLL]) {
				void limiter.turn(run, info).then((call) => inFlight.push(call));
			}
		}
		for (let over = 0; over < 10; over++) {
			await pass(1000);
			expect(inFlight).toHaveLength(Math.min(cap, 10 - over));
			const call = inFlight.shift();
			if (call) limiter.end(run, call, SUCCEEDED);
		}
		expect(limiter.demand).toBe(10);
	});

	it('that waits for its turn ends when it is given up', async () => {
		const { limiter, pass } = limiterOf(1);
		const stopReason = new StopReason();
		const run = newRun();
		await limiter.turn(run, LOOKUP);
		const waiting = [LOOKUP, POLL].map((info) => limiter.turn(run, info, stopReason.signal));
		const outcomes = Promise.allSettled(waiting);
		await pass(1000);
		const error = new ServiceError('Slow down', '', { outcome: 'refused', httpStatus: 429 });
		stopReason.stopAllCalls(error, 0);
		const rejected = { status: 'rejected', reason: stopReason.reason };
		expect(await outcomes).toEqual([rejected, rejected]);
		expect(stopReason.reason?.message).toContain('too many requests');
	});
});

describe('a limit that is not known', () => {
	it.each<[string, RateInfo]>([
		['names no time', {}],
		['names a time that is over', { retryAfterMs: 0 }],
	])('is given up on after ten minutes of refusals, each of which %s', async (_name, rateInfo) => {
		const { pass, triesOf } = limiterOf(Infinity);
		// The run that comes after has the same patience, but calls are already far apart.
		for (const least of [15, 7]) {
			const trying = triesOf(newRun(1), { ...REFUSED, rateInfo });
			await pass(12 * MINUTE_MS);
			const tries = await trying;
			expect(tries).toBeGreaterThan(least);
			expect(tries).toBeLessThan(1000);
		}
	});

	it.each<[string, End, number]>([
		// A refused call costs nothing, and the time may be in milliseconds by mistake.
		['is refused', REFUSED, 1],
		['fails', { outcome: 'unknown' }, 0],
	])(
		'ends a run soon if a lookup %s for a quarter of an hour, but not if a poll does',
		async (_name, end, minutes) => {
			const rateInfo = { retryAfterMs: 15 * MINUTE_MS };
			const goneOn = [];
			for (const info of [LOOKUP, POLL]) {
				const { clock, over, call } = limiterOf(Infinity);
				const run = newRun();
				const began = clock.now();
				const since = () => Math.round((clock.now() - began) / MINUTE_MS);
				const ending = (async () => {
					let calls = 1;
					while ((await call(run, info, { ...end, rateInfo })) && calls < 30) calls++;
					return calls;
				})();
				await over(ending);
				goneOn.push([await ending, since()]);
			}
			const [lookups = [], polls = []] = goneOn;
			expect(lookups).toEqual([expect.any(Number), minutes]);
			expect(lookups[0]).toBeLessThan(minutes === 0 ? 2 : 25);
			// A poll waits for as long as a run does.
			expect(polls[1]).toBeGreaterThanOrEqual(10);
		},
	);

	it('is given up on for one operation while the service takes another', async () => {
		const { pass, call, triesOf } = limiterOf(Infinity);
		const looks = newRun();
		const trying = triesOf(newRun(), REFUSED);
		for (let seconds = 0; seconds < 11 * 60; seconds += 5) {
			void call(looks, POLL);
			await pass(5000);
		}
		expect(await trying).toBeGreaterThan(15);
	});

	it('is measured from the first call after an idle time', async () => {
		const { limiter, clock, over, pass, call } = limiterOf(Infinity);
		const service = sliding(10, 1000);
		const run = newRun();
		const lookup = async () => {
			for (;;) {
				const turn = await limiter.turn(run, LOOKUP);
				const isTaken = service.waitMs(clock.now()) === 0;
				if (isTaken) service.take(clock.now());
				await clock.sleep(20);
				limiter.end(run, turn, isTaken ? SUCCEEDED : REFUSED);
				if (isTaken) return;
			}
		};
		await over(call(run, LOOKUP));
		await pass(30_000);
		const began = clock.now();
		await over(Promise.all(Array.from({ length: 100 }, lookup)));
		expect(clock.now() - began).toBeLessThan(13_000);
	});

	it('is measured to when a call was allowed again, not to when one came', async () => {
		const { limiter, over, pass, call } = limiterOf(Infinity);
		const run = newRun();
		await over(call(run, LOOKUP));
		await pass(10);
		await over(call(run, LOOKUP, { ...REFUSED, rateInfo: { retryAfterMs: 6000 } }));
		await pass(40_000);
		await over(call(run, LOOKUP));
		const gapMs = MINUTE_MS / limiter.knownPerMinute;
		expect(gapMs).toBeGreaterThan(5900);
		expect(gapMs).toBeLessThan(7000);
	});

	it('is not forgotten by a trickle of calls that does not use it', async () => {
		const { limiter, over, call } = limiterOf(Infinity);
		const run = newRun();
		const lookup = async (ms: number, end = SUCCEEDED) => {
			await over(call(run, LOOKUP, end, ms));
		};
		for (let calls = 0; calls < 10; calls++) await lookup(10);
		await lookup(10, REFUSED);
		await lookup(1000);
		const learned = limiter.knownPerMinute;
		expect(learned).toBeLessThan(10_000);
		for (let minutes = 0; minutes < 120; minutes++) await lookup(MINUTE_MS);
		expect(limiter.knownPerMinute).toBe(learned);
	});
});

describe('looks at the status of scrapes', () => {
	it('take a third of the limit at most, and make no other call wait', async () => {
		const { pass, call } = limiterOf(60);
		const [scrapes, lookups] = [newRun(), newRun()];
		let polls = 0;
		const poll = async () => {
			for (;;) {
				await call(scrapes, POLL);
				polls++;
			}
		};
		for (let scrape = 0; scrape < 30; scrape++) void poll();
		await pass(1000);
		expect(polls).toBe(20);
		let answered = 0;
		for (let lookup = 0; lookup < 10; lookup++) {
			void call(lookups, LOOKUP).then(() => answered++);
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
	it('are few again when the service does not answer any more', async () => {
		const { limiter, over, pass, call } = limiterOf(Infinity);
		const run = newRun();
		const info = { ...LOOKUP, timeoutMs: 60_000 };
		await over(call(run, info, SUCCEEDED, 100));
		const first = await limiter.turn(run, info);
		await over(call(run, info, SUCCEEDED, 100));
		await pass(60_000);
		for (let turns = 0; turns < 100; turns++) void limiter.turn(run, info);
		await pass(1000);
		expect(run.inFlight).toBe(FEW_IN_FLIGHT);
		limiter.end(run, first, { outcome: 'unknown' });
	});
});

describe('what a service says of its rate', () => {
	it('of calls that are left is kept for those that are sent', async () => {
		const { clock, limiter } = limiterOf(Infinity);
		const run = newRun();
		const turn = async () => await limiter.turn(run, LOOKUP);
		const calling = (async () => {
			const rateInfo = { remaining: 3, resetMs: 5 * MINUTE_MS };
			limiter.end(run, await turn(), { outcome: 'succeeded', rateInfo });
			// The service cannot be reached for a moment, or the run is stopped.
			for (let more = 0; more < 10; more++) limiter.end(run, await turn(), { outcome: 'notSent' });
			for (let more = 0; more < 3; more++) await turn();
		})();
		await clock.runUntil(calling, MINUTE_MS);
	});

	const now = Date.parse('2026-01-01T00:00:00Z');
	/** Half a minute later. */
	const epoch = String(now / 1000 + 30);
	const read = (headers: Record<string, string>): unknown =>
		JSON.parse(JSON.stringify(readRateHeaders({ status: 200, headers }, now)));

	it.each<[string, number | undefined, string?]>([
		['7', 7000],
		['1.5', 1500],
		['99999999', 99_999_999_000],
		// A point in time, long ago.
		['1e9', 0],
		['Thu, 01 Jan 2026 00:00:09 GMT', 9000],
		['Wed, 31 Dec 2025 00:00:00 GMT', 0],
		// Without a time zone it is UTC. It shows where the clock has another one, as with TZ=America/New_York.
		['2026-01-01T00:00:08', 8000],
		['2026-01-01 00:00:08', 8000],
		['Thu, 01 Jan 2026 00:00:08', 8000],
		['Thu Jan  1 00:00:08 2026', 8000],
		// The clock of the service is a minute ahead, or as ours but for the fraction of a second.
		['Thu, 01 Jan 2026 00:01:07 GMT', 7000, 'Thu, 01 Jan 2026 00:01:00 GMT'],
		['Thu, 01 Jan 2026 00:00:06 GMT', 6000, 'Wed, 31 Dec 2025 23:59:59 GMT'],
		['soon', undefined],
		['-1', undefined],
	])('Retry-After: %s is %s ms', (retryAfter, retryAfterMs, date = '') => {
		expect(read({ 'retry-after': retryAfter, date })).toEqual({ retryAfterMs });
	});

	it('Retry-After counts also beside requests that are left, and before their reset', () => {
		const times = { retryAfterMs: 30_000, resetMs: 1000 };
		expect([0, 5].map((remaining) => backMs({ ...times, remaining }))).toEqual([30_000, 30_000]);
		expect([0, 5].map((remaining) => backMs({ resetMs: 1000, remaining }))).toEqual([1000, 0]);
	});

	it('Retry-After says nothing of the rate with HTTP 202', () => {
		const headers = { 'retry-after': '7', 'x-ratelimit-remaining': '5' };
		expect(readRateHeaders({ status: 202, headers }, now)).toEqual({ remaining: 5 });
	});

	it.each<[Record<string, string>, RateInfo]>([
		[{}, {}],
		[{ 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': '-30' }, {}],
	])('%j', (headers, news) => {
		expect(read(headers)).toEqual(news);
	});

	it.each<[number, number, Record<string, string>]>([
		[3, 20_000, { 'ratelimit-remaining': '3', 'ratelimit-reset': '20' }],
		[0, 30_000, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': epoch }],
		[0, 30_000, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now + 30_000) }],
		[4, 30_000, { 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '2026-01-01T00:00:30Z' }],
		[
			0,
			29_500,
			{
				'x-ratelimit-remaining': '0',
				'x-ratelimit-reset': epoch,
				'x-ratelimit-reset-after': '29.5',
			},
		],
	])('%i requests are left for %i ms: %j', (remaining, resetMs, headers) => {
		expect(read(headers)).toEqual({ remaining, resetMs });
	});
});
