import { NotAttemptedError } from '../nodes/LeadGen/common/errors';
import type { CallInfo, End, RateInfo } from '../nodes/LeadGen/service/limits/policy';
import { Limiter, type Run } from '../nodes/LeadGen/service/limits/limiter';
import { backMs, readRateHeaders } from '../nodes/LeadGen/service/limits/announced';
import { FEW_IN_FLIGHT } from '../nodes/LeadGen/service/limits/traffic';
import { Account } from '../nodes/LeadGen/service/account';
import { sliding } from '../lab/rateLimits';
import { VirtualClock } from '../lab/simulator/clock';

const MINUTE_MS = 60_000;
const LOOKUP = { path: '/email/find' };
const POLL = { path: '/status', isPoll: true };
const SUCCEEDED: End = { outcome: 'succeeded' };
const REFUSED: End = { outcome: 'rateLimited' };

const newRun = (): Run => {
	return { inFlight: 0, waitedMs: 0 };
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
	/** Ends all calls of a run in the same way. @returns how many it makes until it gives up */
	const triesOf = async (run: Run, end: End, info: CallInfo = LOOKUP, most = Infinity) => {
		let tries = 1;
		while (tries < most && (await call(run, info, end))) tries++;
		return tries;
	};
	return { limiter, clock, over, pass, call, triesOf };
}

it.each([
	[1000, 1000],
	[16.67, 16],
	[0.5, 1],
	[0, Infinity],
])('a limit that is known is a whole number: %d a minute is %d', (requestsPerMinute, perMinute) => {
	const account = new Account();
	account.configure({ plan: 'enterprise', requestsPerMinute });
	expect(account.limiter.perMinute).toBe(perMinute);
});

test('the plan of an account counts in any case', () => {
	const account = new Account();
	account.configure({ plan: 'auto' });
	account.learnPlan({ plan: ' Pro ' });
	expect(account.limiter.perMinute).toBe(300);
});

test.each([
	[1, 3000],
	[30, 90_000],
])('at 60 calls a minute, each of %d scrapes is polled every %d ms', (watched, ms) => {
	const account = new Account();
	account.limiter.perMinute = 60;
	account.watched = watched;
	expect(account.pollPauseMs).toBe(ms);
});

describe('several runs', () => {
	it('take turns, so that a single call does not wait for all of a long run', async () => {
		const { limiter, pass, call } = limiterOf(60);
		const order: string[] = [];
		const note = async (run: Run, name: string, path = '/email/find') => {
			await call(run, { path });
			order.push(name);
		};
		const [long, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 200 }, () => note(long, 'long'));
		await pass(1500);
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

	it('go on when one of them is stopped', async () => {
		const { limiter, pass } = limiterOf(1);
		const stop = new AbortController();
		const [first, stopped, free] = [newRun(), newRun(), newRun()];
		const order: string[] = [];
		const wait = async (run: Run, name: string, signal?: AbortSignal) => {
			limiter.end(run, await limiter.turn(run, LOOKUP, signal), SUCCEEDED);
			order.push(name);
		};
		const waiting = [wait(first, 'first')];
		await pass(1);
		waiting.push(wait(free, 'free'));
		const late = wait(stopped, 'stopped', stop.signal).catch(() => order.push('stop'));
		await pass(1000);
		stop.abort();
		await pass(61_000);
		await Promise.all([...waiting, late]);
		expect(order).toEqual(['first', 'stop', 'free']);
		expect(limiter.demand).toBe(1);
	});

	it('finish items that have begun, before they begin others', async () => {
		const { pass, call } = limiterOf(60);
		const order: string[] = [];
		const note = async (run: Run, name: string, info: CallInfo) => {
			await call(run, info);
			order.push(name);
		};
		const [run, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 64 }, () => note(run, 'find', LOOKUP));
		await pass(30_000);
		calls.push(note(other, 'other', LOOKUP));
		const verify = { path: '/email/verify', hasBegun: true };
		calls.push(note(run, 'verify', verify), note(run, 'verify', verify));
		await pass(2 * MINUTE_MS);
		await Promise.all(calls);
		expect(order.slice(60).join(' ')).toBe('verify other verify find find find find');
	});
});

describe('a run', () => {
	it('that waits for its turn ends when it is given up', async () => {
		const { limiter, pass } = limiterOf(1);
		const over = new AbortController();
		const run = newRun();
		await limiter.turn(run, LOOKUP);
		const waiting = [LOOKUP, POLL].map((info) => limiter.turn(run, info, over.signal));
		const outcomes = Promise.allSettled(waiting);
		await pass(1000);
		const reason = new NotAttemptedError('Not sent: the service is busy', 'Try again later.');
		over.abort(reason);
		const rejected = { status: 'rejected', reason };
		expect(await outcomes).toEqual([rejected, rejected]);
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
			const tries = triesOf(newRun(), { ...REFUSED, rateInfo });
			await pass(12 * MINUTE_MS);
			expect(await tries).toBeGreaterThan(least);
			expect(await tries).toBeLessThan(1000);
		}
	});

	it.each<[string, CallInfo, End, number, number]>([
		// A refused call costs nothing, and the time may be in milliseconds by mistake.
		['a lookup is refused', LOOKUP, REFUSED, 1, 24],
		['a lookup fails', LOOKUP, { outcome: 'unknown' }, 0, 1],
		// A poll waits for as long as a run does.
		['a poll is refused', POLL, REFUSED, 10, 30],
		['a poll fails', POLL, { outcome: 'unknown' }, 10, 30],
	])('ends a run if %s for a quarter of an hour', async (_name, info, end, minutes, most) => {
		const { clock, over, triesOf } = limiterOf(Infinity);
		const rateInfo = { retryAfterMs: 15 * MINUTE_MS };
		const tries = triesOf(newRun(), { ...end, rateInfo }, info, 30);
		await over(tries);
		expect(Math.min(10, Math.round(clock.now() / MINUTE_MS))).toBe(minutes);
		expect(await tries).toBeLessThanOrEqual(most);
	});

	it('is tried again within a minute, though the first refusal names five', async () => {
		const { clock, over, triesOf } = limiterOf(Infinity);
		const rateInfo = { retryAfterMs: 5 * MINUTE_MS };
		await over(triesOf(newRun(), { ...REFUSED, rateInfo }, LOOKUP, 3));
		expect(clock.now()).toBeLessThan(MINUTE_MS);
	});

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

it('looks at the status of scrapes take a third of the limit, and make no other call wait', async () => {
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

it('a minute of polls counts from their answers', async () => {
	const { clock, limiter, over, call } = limiterOf(60);
	const run = newRun();
	await over(Promise.all(Array.from({ length: 20 }, () => call(run, POLL, SUCCEEDED, 5000))));
	const answeredAt = clock.now();
	await over(limiter.turn(run, POLL));
	// The first was answered a little earlier than the last.
	expect(clock.now() - answeredAt).toBeGreaterThan(MINUTE_MS - 1000);
});

it('calls in flight are few again when the service does not answer any more', async () => {
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
describe('what a service says of its rate', () => {
	it('of calls that are left is kept for those that are sent', async () => {
		const { clock, limiter } = limiterOf(Infinity);
		const run = newRun();
		const turn = async () => await limiter.turn(run, LOOKUP);
		const calling = (async () => {
			const rateInfo = { remaining: 3, resetMs: 5 * MINUTE_MS };
			limiter.end(run, await turn(), { outcome: 'succeeded', rateInfo });
			// The service cannot be reached for a moment, or the run is stopped.
			for (let more = 0; more < 10; more++)
				limiter.end(run, await turn(), { outcome: 'cancelled' });
			for (let more = 0; more < 3; more++) await turn();
		})();
		await clock.runUntil(calling, MINUTE_MS);
	});

	const now = Date.parse('2026-01-01T00:00:00Z');
	const inHalfAMinute = '2026-01-01T00:00:30Z';
	const epoch = String(now / 1000 + 30);
	const left = (remaining: number, seconds: number) => ({ remaining, resetMs: seconds * 1000 });
	const read = (headers: Record<string, string>, status = 200): unknown =>
		JSON.parse(JSON.stringify(readRateHeaders({ status, headers, text: '' }, now)));

	it.each<[string, number | undefined, string?]>([
		['7', 7000],
		['1.5', 1500],
		// A point in time, long ago.
		['1e9', 0],
		['Thu, 01 Jan 2026 00:00:09 GMT', 9000],
		['Wed, 31 Dec 2025 00:00:00 GMT', 0],
		// Without a time zone it is UTC. It shows where the clock has another one, as with TZ=America/New_York.
		['2026-01-01T00:00:08', 8000],
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

	it.each<[number, Record<string, string>, RateInfo]>([
		[200, {}, {}],
		[200, { 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': '-30' }, {}],
		[202, { 'retry-after': '7', 'x-ratelimit-remaining': '5' }, { remaining: 5 }],
		[200, { 'ratelimit-remaining': '3', 'ratelimit-reset': '20' }, left(3, 20)],
		[200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': epoch }, left(0, 30)],
		[200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${epoch}000` }, left(0, 30)],
		[200, { 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': inHalfAMinute }, left(4, 30)],
		[200, { 'ratelimit-remaining': '0', 'ratelimit-reset-after': '29.5' }, left(0, 29.5)],
	])('HTTP %i with %j says %j', (status, headers, news) => {
		expect(read(headers, status)).toEqual(news);
	});
});
