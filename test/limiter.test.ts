/** What the limiter promises of single calls, in virtual time. Whole runs are in simulation.test.ts. */
import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { NotAttemptedError } from '../nodes/LeadGen/common/errors';
import type { Call, CallInfo, End, RateInfo } from '../nodes/LeadGen/service/limits/policy';
import { Limiter, type Run } from '../nodes/LeadGen/service/limits/limiter';
import { backMs, readRateHeaders } from '../nodes/LeadGen/service/limits/announced';
import { TimeLog } from '../nodes/LeadGen/service/limits/timeLog';
import { FEW_IN_FLIGHT, MAX_SOCKETS } from '../nodes/LeadGen/service/limits/traffic';
import { Account } from '../nodes/LeadGen/service/account';
import { sliding } from '../lab/rateLimits';
import { VirtualClock } from '../lab/simulator/clock';

const MINUTE_MS = 60_000;
const LOOKUP = { path: '/email/find' };
const POLL = { path: '/status', isPoll: true };
const SUCCEEDED: End = { outcome: 'succeeded' };
const REFUSED: End = { outcome: 'rateLimited' };
const UNKNOWN: End = { outcome: 'unknown' };

const newRun = (): Run => ({ inFlight: 0, waitedMs: 0 });

function limiterOf(perMinute: number) {
	const clock = new VirtualClock();
	const limiter = new Limiter(clock);
	limiter.perMinute = perMinute;
	const over = async <T>(work: Promise<T>) => await clock.runUntil(work);
	const pass = async (ms: number) => {
		await over(clock.sleep(ms));
	};
	/** Makes a call that takes `ms`. @returns when it was sent, and whether it makes sense to continue */
	const call = async (run: Run, info: CallInfo, end = SUCCEEDED, ms = 0, signal?: AbortSignal) => {
		const turn = await limiter.turn(run, info, signal);
		if (ms > 0) await clock.sleep(ms);
		return { sentAt: turn.sentAt, goesOn: limiter.end(run, turn, end) };
	};
	/** Makes so many calls at once. @returns when each was sent */
	const sentAt = async (count: number, end = SUCCEEDED, ms = 0) => {
		const run = newRun();
		const calls = Array.from({ length: count }, () => call(run, LOOKUP, end, ms));
		return (await over(Promise.all(calls))).map((each) => each.sentAt);
	};
	/** Lets so many calls go out that nobody answers. @returns those that are in flight after `ms` */
	const inFlight = async (count: number, ms = 1000, info: CallInfo = LOOKUP) => {
		const calls: Call[] = [];
		const run = newRun();
		for (let turns = 0; turns < count; turns++) {
			void limiter.turn(run, info).then((turn) => calls.push(turn));
		}
		await pass(ms);
		/** Ends some of them; by default all, which are in flight no more. */
		const end = (how: End, some = calls.splice(0)) => {
			for (const call of some) limiter.end(run, call, how);
		};
		return { run, calls, end };
	};
	/** Ends all calls of a run in the same way. @returns how many it makes until it gives up */
	const triesOf = async (end: End, info: CallInfo = LOOKUP, most = Infinity) => {
		const run = newRun();
		let tries = 1;
		while (tries < most && (await call(run, info, end)).goesOn) tries++;
		return tries;
	};
	/** The names of calls in the order of their ends. */
	const order: string[] = [];
	const note = async (run: Run, name: string, info: CallInfo = LOOKUP, signal?: AbortSignal) => {
		await call(run, info, SUCCEEDED, 0, signal);
		order.push(name);
	};
	return { limiter, clock, over, pass, call, sentAt, inFlight, triesOf, order, note };
}

describe('a limit that is known', () => {
	it.each([
		[1000, 1000],
		[16.67, 16],
		[0.5, 1],
		[0, Infinity],
	])('is a whole number: %d a minute is %d', (requestsPerMinute, perMinute) => {
		const account = new Account();
		account.configure({ plan: 'enterprise', requestsPerMinute });
		expect(account.limiter.perMinute).toBe(perMinute);
	});

	it('is the one of the plan, in any case', () => {
		const account = new Account();
		account.configure({ plan: 'auto' });
		account.learnPlan({ plan: ' Pro ' });
		expect(account.limiter.perMinute).toBe(300);
	});

	it('counts as soon as it changes', async () => {
		const { limiter, sentAt } = limiterOf(60);
		expect(Math.max(...(await sentAt(61)))).toBeGreaterThan(MINUTE_MS);
		limiter.perMinute = 300;
		expect(Math.max(...(await sentAt(239)))).toBeLessThan(1.1 * MINUTE_MS);
	});

	it('fills a second with a burst, and counts a minute and a moment from each answer', async () => {
		const { sentAt } = limiterOf(60);
		const times = await sentAt(61, SUCCEEDED, 500);
		expect(times[59]).toBeGreaterThan(1000);
		expect(times[59]).toBeLessThan(1300);
		expect(times[60]).toBeGreaterThanOrEqual(MINUTE_MS + 500 + 10);
		expect(times[60]).toBeLessThan(MINUTE_MS + 500 + 100);
	});

	it.each<[string, End]>([
		['that the service says no to', { outcome: 'refused' }],
		['without an answer', UNKNOWN],
		[
			'whose answers name another limit',
			{ ...SUCCEEDED, rateInfo: { remaining: 4900, resetMs: 3_600_000 } },
		],
	])('counts calls %s', async (_about, end) => {
		const { sentAt } = limiterOf(2);
		expect(Math.max(...(await sentAt(3, end)))).toBeGreaterThan(MINUTE_MS);
	});

	it('leaves two thirds to other calls than looks at the status of scrapes', async () => {
		const { pass, call } = limiterOf(60);
		const scrapes = newRun();
		let [polls, answered] = [0, 0];
		// A minute counts from the answers.
		for (let poll = 0; poll < 30; poll++)
			void call(scrapes, POLL, SUCCEEDED, 5000).then(() => polls++);
		await pass(7000);
		expect(polls).toBe(20);
		for (let lookup = 0; lookup < 40; lookup++) void call(newRun(), LOOKUP).then(() => answered++);
		await pass(2000);
		expect([answered, polls]).toEqual([40, 20]);
		await pass(55_000);
		expect(polls).toBe(20);
	});

	it.each([
		[60, 1, 3000],
		[60, 30, 90_000],
		[2, 1, 60_000],
	])('of %d a minute lets each of %d scrapes be polled every %d ms', (perMinute, watched, ms) => {
		const account = new Account();
		account.limiter.perMinute = perMinute;
		account.watched = watched;
		expect(account.pollPauseMs).toBe(ms);
	});
});

describe('several runs', () => {
	it('take turns, so that a single call does not wait for all of a long run', async () => {
		const { limiter, pass, order, note } = limiterOf(60);
		const [long, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 200 }, () => note(long, 'long'));
		await pass(1500);
		expect(order).toHaveLength(60);
		expect(limiter.demand).toBe(200);
		calls.push(note(other, 'other'), note(other, 'other'), note(newRun(), 'single'));
		calls.push(note(long, 'credits', { path: '/credits' }));
		await pass(61_000);
		expect(order.slice(60, 68).join(' ')).toBe('long other single credits other long long long');
		await pass(4 * MINUTE_MS);
		await Promise.all(calls);
		expect(order).toHaveLength(204);
		expect(limiter.demand).toBe(0);
	});

	it('go on when one of them is stopped', async () => {
		const { limiter, pass, order, note } = limiterOf(1);
		const [stop, { signal }] = [new AbortController(), new AbortController()];
		const first = note(newRun(), 'first');
		await pass(1);
		const free = note(newRun(), 'free', LOOKUP, signal);
		const stopped = note(newRun(), 'stopped', LOOKUP, stop.signal).catch(() => order.push('stop'));
		await pass(1000);
		stop.abort();
		await pass(61_000);
		await Promise.all([first, free, stopped]);
		expect(order).toEqual(['first', 'stop', 'free']);
		expect(getEventListeners(signal, 'abort')).toEqual([]);
		expect(limiter.demand).toBe(1);
	});

	it('finish items that have begun, before they begin others', async () => {
		const { pass, order, note } = limiterOf(60);
		const [run, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 64 }, () => note(run, 'find'));
		await pass(30_000);
		calls.push(note(other, 'other'));
		const verify = { path: '/email/verify', hasBegun: true };
		calls.push(note(run, 'verify', verify), note(run, 'verify', verify));
		await pass(2 * MINUTE_MS);
		await Promise.all(calls);
		expect(order.slice(60).join(' ')).toBe('verify other verify find find find find');
	});

	it('end when they are given up, also if they wait for their turn', async () => {
		const { limiter, pass, inFlight } = limiterOf(1);
		const { run } = await inFlight(1);
		const over = new AbortController();
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
		// A run that soon comes after has no patience of its own. Later, it has, but calls are already far apart.
		for (const [pauseMs, least, most] of [
			[0, 16, 1000],
			[MINUTE_MS, 1, 1],
			[3 * MINUTE_MS, 8, 1000],
		] as const) {
			await pass(pauseMs);
			let ended = 0;
			const tries = triesOf({ ...REFUSED, rateInfo });
			void tries.then(() => (ended = 1));
			for (let minutes = 0; minutes < 12 && ended === 0; minutes += 0.5) await pass(MINUTE_MS / 2);
			expect(await tries).toBeGreaterThanOrEqual(least);
			expect(await tries).toBeLessThanOrEqual(most);
		}
	});

	it.each<[string, CallInfo, End, number, number]>([
		['a lookup is refused', LOOKUP, REFUSED, 0, 1],
		['a lookup fails', LOOKUP, UNKNOWN, 0, 1],
		// A poll waits for as long as a run does.
		['a poll is refused', POLL, REFUSED, 10, 30],
		['a poll fails', POLL, UNKNOWN, 10, 30],
	])('ends a run if %s for a quarter of an hour', async (_name, info, end, minutes, most) => {
		const { clock, over, triesOf } = limiterOf(Infinity);
		const rateInfo = { retryAfterMs: 15 * MINUTE_MS };
		const tries = triesOf({ ...end, rateInfo }, info, 30);
		await over(tries);
		expect(Math.min(10, Math.round(clock.now() / MINUTE_MS))).toBe(minutes);
		expect(await tries).toBeLessThanOrEqual(most);
	});

	it('is not given up on for a failure long after an outage, though other calls went on', async () => {
		const { over, pass, call, triesOf } = limiterOf(Infinity);
		const goesOn = async (info: CallInfo) => (await over(call(newRun(), info, UNKNOWN))).goesOn;
		expect(await goesOn(LOOKUP)).toBe(true);
		for (let minutes = 0; minutes < 30; minutes++) {
			await pass(MINUTE_MS);
			await over(call(newRun(), POLL));
		}
		expect(await goesOn(LOOKUP)).toBe(true);
		// The scrapes of the next run are paid for.
		await over(triesOf(UNKNOWN, POLL));
		expect(await goesOn(POLL)).toBe(true);
	});

	it('is given up on for one operation while the service takes another', async () => {
		const { pass, call, triesOf } = limiterOf(Infinity);
		const looks = newRun();
		const trying = triesOf(REFUSED);
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
		const send = async (info: CallInfo) => {
			for (;;) {
				const turn = await limiter.turn(run, info);
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
		await over(Promise.all(Array.from({ length: 100 }, () => send(LOOKUP))));
		expect(clock.now() - began).toBeLessThan(13_000);
		// Looks at the status of scrapes are kept to a third of it.
		await over(Promise.all(Array.from({ length: 250 }, () => send(POLL))));
		expect(clock.now() - began).toBeGreaterThan(MINUTE_MS);
	});

	it.each<[string, number[], number[], number, number?]>([
		['sent after it', [0, 1], [2, 3, 4], 1],
		['sent after it, but not in a row', [0, 1], [2, 3, 4, 5], 0, 4],
		['sent before it', [18, 19], [0, 1, 2, 3, 4, 5], 0],
	])('is no reason for a refusal if three accepted calls were %s', async (...row) => {
		const [, refused, then, sent, refusedThen] = row;
		const { limiter, inFlight, pass } = limiterOf(Infinity);
		const { run, calls } = await inFlight(20);
		const end = (index: number, how: End) => limiter.end(run, calls[index] as Call, how);
		for (const index of refused) end(index, REFUSED);
		const left = run.inFlight - then.length;
		void limiter.turn(run, LOOKUP);
		for (const index of then) end(index, index === refusedThen ? REFUSED : SUCCEEDED);
		await pass(1);
		expect(run.inFlight).toBe(left + sent);
	});

	it('is measured to when a call was allowed again, not to when one came', async () => {
		const { limiter, over, pass, sentAt, triesOf } = limiterOf(Infinity);
		await sentAt(1);
		await pass(10);
		// The first one may be odd.
		await over(triesOf({ ...REFUSED, rateInfo: { retryAfterMs: 6000 } }, LOOKUP, 3));
		await pass(40_000);
		await sentAt(1);
		const gapMs = MINUTE_MS / limiter.knownPerMinute;
		expect(gapMs).toBeGreaterThan(5900);
		expect(gapMs).toBeLessThan(7000);
	});

	it('is not forgotten by a trickle of calls that does not use it', async () => {
		const { limiter, clock, sentAt } = limiterOf(Infinity);
		const lookups = async (count: number, ms: number, end = SUCCEEDED) => {
			for (let calls = 0; calls < count; calls++) await sentAt(1, end, ms);
		};
		await lookups(10, 10);
		await lookups(4, 10, REFUSED);
		await lookups(1, 1000);
		const learned = limiter.knownPerMinute;
		expect(learned).toBeLessThan(10_000);
		await lookups(120, MINUTE_MS);
		expect(limiter.knownPerMinute).toBe(learned);
		// The time that a refusal names counts beside it.
		await lookups(9, 10);
		await lookups(1, 10, { ...REFUSED, rateInfo: { retryAfterMs: 20_000 } });
		const since = clock.now();
		await lookups(1, 10);
		expect(clock.now() - since).toBeGreaterThan(20_000);
	});
});

it('Of calls that are too old to count, no more are kept than of others', () => {
	const log = new TimeLog();
	for (let time = 0; time < 1000; time++) {
		log.add(time);
		log.forgetBefore(time - 9);
	}
	expect(log.count(0)).toBeLessThanOrEqual(20);
});

describe('calls in flight', () => {
	it('are few until the first answer, and after that as many as answers in time allow', async () => {
		const { pass, inFlight } = limiterOf(Infinity);
		const { run, calls, end } = await inFlight(1000, 1000, { ...LOOKUP, timeoutMs: 40_000 });
		expect(run.inFlight).toBe(FEW_IN_FLIGHT);
		// If twice as many take twice as long, 300 take a quarter of the time-out.
		end(SUCCEEDED, calls.slice(30));
		await pass(1000);
		expect(run.inFlight).toBeGreaterThan(400);
		expect(run.inFlight).toBeLessThan(700);
	});

	it.each<[string, number, End]>([
		['if the service is silent after an answer', 60_000, SUCCEEDED],
		['if the last one failed', 0, UNKNOWN],
	])('are few again %s', async (_about, silentMs, last) => {
		const { pass, sentAt, inFlight } = limiterOf(Infinity);
		await sentAt(1, SUCCEEDED, 100);
		const first = await inFlight(1, 1);
		if (last === UNKNOWN) first.end(last);
		await pass(silentMs);
		const { run: later } = await inFlight(200, 100);
		expect(later.inFlight).toBe(last === UNKNOWN ? FEW_IN_FLIGHT : FEW_IN_FLIGHT - 1);
	});

	it('begin one at a time, and four once many were answered, not only sent', async () => {
		const { limiter, sentAt, inFlight } = limiterOf(Infinity);
		await sentAt(100, SUCCEEDED, 100);
		expect(limiter.atOnce).toBe(1);
		const { calls, end } = await inFlight(FEW_IN_FLIGHT, 10);
		expect(limiter.atOnce).toBe(1);
		end(SUCCEEDED, calls.splice(0, 1));
		expect(limiter.atOnce).toBe(4);
	});

	it('begin one at a time if the service limits them', async () => {
		const { limiter, over, pass, call, sentAt, triesOf } = limiterOf(Infinity);
		await sentAt(200, SUCCEEDED, 100);
		expect(limiter.atOnce).toBe(4);
		// The service accepts calls again a second after it refused some.
		await over(triesOf(REFUSED, LOOKUP, 8));
		await pass(1000);
		await over(call(newRun(), LOOKUP));
		expect(limiter.atOnce).toBe(1);
	});

	it('are many at once after an idle time', async () => {
		const { pass, sentAt, inFlight } = limiterOf(Infinity);
		await sentAt(50, SUCCEEDED, 1000);
		await pass(10 * MINUTE_MS);
		expect((await inFlight(1500)).calls).toHaveLength(MAX_SOCKETS);
	});
});

describe('a service that fails', () => {
	it('for the first time ends a run within ten seconds, and later after ten minutes', async () => {
		const unreachable: End = { outcome: 'notSent' };
		const { clock, over, pass, sentAt, triesOf } = limiterOf(Infinity);
		for (const idleMs of [0, 10 * MINUTE_MS]) {
			await pass(idleMs);
			const since = clock.now();
			await over(triesOf(unreachable));
			expect(clock.now() - since).toBeGreaterThan(7000);
			expect(clock.now() - since).toBeLessThan(16_000);
		}
		await sentAt(1);
		const began = clock.now();
		const tries = await over(triesOf(unreachable));
		expect(clock.now() - began).toBeGreaterThan(9 * MINUTE_MS);
		expect(tries).toBeLessThan(30);
	});

	it('and answers now and then is not given up', async () => {
		const { over, pass, call } = limiterOf(Infinity);
		const run = newRun();
		for (const end of [UNKNOWN, SUCCEEDED, UNKNOWN]) {
			expect((await over(call(run, LOOKUP, end))).goesOn).toBe(true);
			await pass(6 * MINUTE_MS);
		}
	});

	it('gets single test calls, and all of them once one is answered', async () => {
		const { pass, inFlight, sentAt } = limiterOf(Infinity);
		await sentAt(300);
		(await inFlight(60)).end(UNKNOWN);
		const waiting = await inFlight(50, 100);
		expect(waiting.calls).toHaveLength(0);
		// As services do that come back.
		for (const how of [REFUSED, SUCCEEDED]) {
			await pass(1000);
			expect(waiting.calls).toHaveLength(1);
			waiting.end(how);
		}
		await pass(100);
		expect(waiting.calls).toHaveLength(48);
		waiting.end(SUCCEEDED);
		expect(await sentAt(100)).toHaveLength(100);
	});

	it('and says each time that it is back in a second gets few calls', async () => {
		const { over, pass, sentAt, call } = limiterOf(Infinity);
		await sentAt(600, SUCCEEDED, 100);
		let sent = 0;
		const end = { ...UNKNOWN, rateInfo: { retryAfterMs: 1000 } };
		for (let worker = 0; worker < 60; worker++)
			void (async () => {
				for (let row = 0; row < 100; row++, sent++) await call(newRun(), LOOKUP, end, 100);
			})();
		await over(pass(9 * MINUTE_MS));
		expect(sent).toBeLessThanOrEqual(60 + 20);
	});

	it('now and then, and asks for a pause of half a minute, holds up no other call', async () => {
		const { clock, over, call } = limiterOf(Infinity);
		const rare: End = { ...UNKNOWN, rateInfo: { retryAfterMs: 30_000 } };
		const calls = Array.from({ length: 2000 }, (_, row) =>
			call(newRun(), LOOKUP, row % 50 === 25 ? rare : SUCCEEDED, 100),
		);
		await over(Promise.all(calls));
		expect(clock.now()).toBeLessThan(10_000);
	});

	it('to answer for a moment gets test calls, and then all of them', async () => {
		const { clock, over, sentAt, inFlight, call } = limiterOf(Infinity);
		await sentAt(100, SUCCEEDED, 100);
		await inFlight(FEW_IN_FLIGHT, 5000);
		const since = clock.now();
		const waiting = Array.from({ length: 20 }, () => call(newRun(), LOOKUP, SUCCEEDED, 100));
		await over(Promise.race(waiting));
		expect(clock.now() - since).toBeLessThan(20_000);
		await over(Promise.all(waiting));
		expect(clock.now() - since).toBeLessThan(40_000);
	});

	it('in one of its operations gets few calls for it, while those for another one go on', async () => {
		const { over, pass, call } = limiterOf(300);
		const run = newRun();
		const made = { found: 0, verified: 0 };
		for (let row = 0; row < 1000; row++)
			void (async () => {
				await call(run, LOOKUP, SUCCEEDED, 100);
				made.found++;
				await call(run, { path: '/email/verify', hasBegun: true }, UNKNOWN, 100);
				made.verified++;
			})();
		await over(pass(9 * MINUTE_MS));
		expect(made.found).toBe(1000);
		expect(made.verified).toBeLessThan(60);
	});

	it('for some of many calls lets all go on when another one is answered', async () => {
		const { pass, inFlight } = limiterOf(Infinity);
		const { calls, end } = await inFlight(60);
		end(UNKNOWN, calls.splice(1, 40));
		const waiting = await inFlight(100, 100);
		expect(waiting.calls).toHaveLength(0);
		end(SUCCEEDED);
		await pass(50);
		// Fewer than before, and one more for some answers.
		const { length } = waiting.calls;
		expect(length).toBeGreaterThan(10);
		expect(length).toBeLessThan(45);
		waiting.end(SUCCEEDED);
		await pass(50);
		expect(waiting.calls.length).toBeGreaterThan(length);
	});
});

describe('what a service says of its rate', () => {
	it.each([
		[5, 5],
		[60 * 24, 10],
	])('of calls that are left for %d minutes is kept for %d', async (minutes, most) => {
		const { pass, sentAt, inFlight } = limiterOf(Infinity);
		const { calls, end } = await inFlight(3, 10);
		const rateInfo = { remaining: 5, resetMs: minutes * MINUTE_MS };
		end({ ...SUCCEEDED, rateInfo }, calls.slice(0, 1));
		// The service cannot be reached for a moment, or the run is stopped.
		await sentAt(1, { outcome: 'notSent' });
		for (let more = 0; more < 9; more++) await sentAt(1, { outcome: 'cancelled' });
		const later = await inFlight(10, MINUTE_MS);
		expect(later.calls).toHaveLength(3);
		await pass(most * MINUTE_MS);
		expect(later.calls).toHaveLength(10);
	});

	const now = Date.parse('2026-01-01T00:00:00Z');
	const inHalfAMinute = '2026-01-01T00:00:30Z';
	const epoch = String(now / 1000 + 30);
	const left = (remaining: number, seconds: number) => ({ remaining, resetMs: seconds * 1000 });
	const read = (headers: Record<string, string>): unknown =>
		JSON.parse(JSON.stringify(readRateHeaders({ status: 200, headers, text: '' }, now)));

	it.each<[string, number | undefined, string?]>([
		['7', 7000],
		['1.5', 1500],
		// A point in time, long ago.
		['1e9', 0],
		['Thu, 01 Jan 2026 00:00:09 GMT', 9000],
		['Wed, 31 Dec 2025 00:00:00 GMT', 0],
		// Without a time zone it is UTC.
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

	it('a time without a time zone is UTC, also where the clock has another one', () => {
		const built = join(__dirname, '../dist/nodes/LeadGen/service/limits/announced.js');
		const headers = { 'retry-after': '2026-01-01T00:00:08' };
		const call = `.readRateHeaders(${JSON.stringify({ headers })}, ${String(now)}).retryAfterMs`;
		const script = `require(${JSON.stringify(built)})${call}`;
		const env = { ...process.env, TZ: 'America/New_York' };
		expect(String(execFileSync(process.execPath, ['-p', script], { env }))).toBe('8000\n');
	});

	it('Retry-After counts also beside requests that are left, and before their reset', () => {
		const times = { retryAfterMs: 30_000, resetMs: 1000 };
		expect([0, 5].map((remaining) => backMs({ ...times, remaining }))).toEqual([30_000, 30_000]);
		expect([0, 5].map((remaining) => backMs({ resetMs: 1000, remaining }))).toEqual([1000, 0]);
	});

	it.each<[Record<string, string>, RateInfo]>([
		[{}, {}],
		[{ 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': '-30' }, {}],
		[{ 'ratelimit-remaining': '3', 'ratelimit-reset': '20' }, left(3, 20)],
		[{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': epoch }, left(0, 30)],
		[{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${epoch}000` }, left(0, 30)],
		[{ 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': inHalfAMinute }, left(4, 30)],
		[{ 'ratelimit-remaining': '0', 'ratelimit-reset-after': '29.5' }, left(0, 29.5)],
	])('%j says %j', (headers, news) => {
		expect(read(headers)).toEqual(news);
	});
});
