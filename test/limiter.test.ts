import { Limiter, type Run } from '../nodes/LeadGen/service/limiter';
import { readRateHeaders, type RateNews } from '../nodes/LeadGen/service/rateHeaders';

/** A service that counts its calls one way or the other, in the virtual time of the test. */
interface Counter {
	/** @returns what it says of the rate; `retryAfterMs` counts from now */
	take: (now: number) => { allowed: boolean; remaining: number; resetMs: number };
}

function fixedWindow(limit: number, ms: number): Counter {
	let window = -1;
	let taken = 0;
	return {
		take(now) {
			if (Math.floor(now / ms) !== window) [window, taken] = [Math.floor(now / ms), 0];
			const allowed = taken < limit;
			if (allowed) taken++;
			return { allowed, remaining: limit - taken, resetMs: (window + 1) * ms - now };
		},
	};
}

function slidingWindow(limit: number, ms: number): Counter {
	let times: number[] = [];
	return {
		take(now) {
			times = times.filter((time) => time > now - ms);
			const allowed = times.length < limit;
			if (allowed) times.push(now);
			return { allowed, remaining: limit - times.length, resetMs: (times[0] ?? now) + ms - now };
		},
	};
}

function tokenBucket(limit: number, ms: number): Counter {
	let tokens = limit;
	let filledAt = 0;
	return {
		take(now) {
			tokens = Math.min(limit, tokens + ((now - filledAt) * limit) / ms);
			filledAt = now;
			const allowed = tokens >= 1;
			if (allowed) tokens--;
			return { allowed, remaining: Math.floor(tokens), resetMs: (1 - (tokens % 1)) * (ms / limit) };
		},
	};
}

const counters = { fixedWindow, slidingWindow, tokenBucket };

const NO_NEWS: RateNews = {};
const LATENCY_MS = 200;

beforeEach(() => {
	jest.useFakeTimers({ now: 1_000_000 });
	// The limiter's jitter, the same in each run of the test.
	let seed = 1;
	jest.spyOn(Math, 'random').mockImplementation(() => {
		seed = (seed * 16_807) % 2_147_483_647;
		return seed / 2_147_483_647;
	});
});

afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

/** Sends `calls` calls through the limiters of some processes, which know nothing of each other. */
async function simulate(
	limiters: Limiter[],
	calls: number,
	counter: Counter,
	tell: (said: ReturnType<Counter['take']>) => RateNews = () => NO_NEWS,
) {
	const began = Date.now();
	let refused = 0;
	const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
	const call = async (limiter: Limiter, run: Run) => {
		for (;;) {
			await limiter.turn(run);
			const sentAt = Date.now();
			await pause(LATENCY_MS / 2);
			const said = counter.take(Date.now());
			await pause(LATENCY_MS / 2);
			if (said.allowed) {
				limiter.answered(run, sentAt, tell(said));
				return;
			}
			refused++;
			expect(limiter.refused(run, tell(said))).toBe(true);
		}
	};
	const all = limiters.flatMap((limiter) => {
		const run = { inFlight: 0, waitedMs: 0, cap: () => 50, signal: undefined };
		return Array.from({ length: calls / limiters.length }, () => call(limiter, run));
	});
	let seconds = 0;
	const over = Promise.all(all).then(() => {
		seconds = (Date.now() - began) / 1000;
	});
	await jest.advanceTimersByTimeAsync(60 * 60_000);
	await over;
	return { seconds, refused };
}

function limiterOf(perMinute: number): Limiter {
	const limiter = new Limiter();
	limiter.perMinute = perMinute;
	return limiter;
}

describe('a limit that is known', () => {
	const cases = Object.entries(counters).flatMap(([name, counter]) =>
		[1, 59, 60, 61, 120, 121, 300].map((calls) => ({ name, counter, calls })),
	);
	it.each(cases)(
		'is used up and never exceeded: $calls calls, $name',
		async ({ counter, calls }) => {
			const { seconds, refused } = await simulate([limiterOf(60)], calls, counter(60, 60_000));
			expect(refused).toBe(0);
			// floor((K - 1) / N) minutes, and each minute begins when the answers of the last one are there.
			const minutes = Math.floor((calls - 1) / 60);
			expect(seconds).toBeGreaterThanOrEqual(minutes * 60);
			expect(seconds).toBeLessThan(minutes * 60 * 1.05 + 3);
		},
	);
});

describe('several runs', () => {
	const newRun = (cap = 50): Run => ({
		inFlight: 0,
		waitedMs: 0,
		cap: () => cap,
		signal: undefined,
	});

	/** Notes in which order the calls get their turn; each is answered at once. */
	function recorder(limiter: Limiter) {
		const order: string[] = [];
		const call = async (run: Run, name: string, first = false) => {
			await limiter.turn(run, first);
			order.push(name);
			limiter.answered(run, Date.now(), {});
		};
		return { order, call };
	}

	it('take turns, so that a single call does not wait for all of a long run', async () => {
		const limiter = limiterOf(60);
		const { order, call } = recorder(limiter);
		const [long, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 200 }, () => call(long, 'long'));
		await jest.advanceTimersByTimeAsync(1000);
		expect(order).toHaveLength(60);
		expect(limiter.demand).toBe(200);
		calls.push(call(other, 'other'), call(other, 'other'), call(newRun(), 'single'));
		calls.push(call(long, 'first', true));
		await jest.advanceTimersByTimeAsync(61_000);
		expect(order.slice(60, 68)).toEqual([
			'first',
			'long',
			'other',
			'single',
			'long',
			'other',
			'long',
			'long',
		]);
		await jest.advanceTimersByTimeAsync(4 * 60_000);
		await Promise.all(calls);
		expect(order).toHaveLength(204);
		expect(limiter.demand).toBe(0);
	});

	it('get no second turn for a call that goes first', async () => {
		const limiter = limiterOf(60);
		const { order, call } = recorder(limiter);
		const [long, other] = [newRun(), newRun()];
		const calls = Array.from({ length: 100 }, () => call(long, 'long'));
		await jest.advanceTimersByTimeAsync(1000);
		calls.push(call(long, 'first', true));
		for (let more = 0; more < 20; more++) calls.push(call(long, 'long'), call(other, 'other'));
		await jest.advanceTimersByTimeAsync(3 * 60_000);
		await Promise.all(calls);
		const turns = order.slice(order.indexOf('first') + 1, order.lastIndexOf('other') + 1);
		expect(turns).toEqual(Array.from({ length: 20 }, () => ['long', 'other']).flat());
	});

	it('go on when one of them is stopped or has all that it may have under way', async () => {
		const limiter = limiterOf(2);
		const stop = new AbortController();
		const stopped: Run = { ...newRun(), signal: stop.signal };
		const [full, free] = [newRun(1), newRun()];
		await limiter.turn(full);
		const order: string[] = [];
		const wait = async (run: Run, name: string) => {
			await limiter.turn(run);
			order.push(name);
		};
		const waiting = [wait(full, 'full'), wait(free, 'free')];
		const late = wait(stopped, 'stopped').catch(() => order.push('stop'));
		await jest.advanceTimersByTimeAsync(1000);
		expect(order).toEqual(['free']);
		stop.abort();
		limiter.answered(full, Date.now(), {});
		await jest.advanceTimersByTimeAsync(61_000);
		await Promise.all([...waiting, late]);
		expect(order).toEqual(['free', 'stop', 'full']);
		expect(limiter.demand).toBe(2);
	});
});

describe('a limit that is not known', () => {
	const retryAfter = ({ allowed, resetMs }: ReturnType<Counter['take']>): RateNews =>
		allowed ? {} : { retryAfterMs: Math.ceil(resetMs / 1000) * 1000 };
	const remaining = ({ remaining, resetMs }: ReturnType<Counter['take']>): RateNews => ({
		remaining,
		resetMs: Math.ceil(resetMs / 1000) * 1000,
	});

	const tells = { nothing: () => NO_NEWS, retryAfter, remaining };
	const cases = Object.entries(counters).flatMap(([name, counter]) =>
		Object.entries(tells).flatMap(([says, tell]) =>
			[1, 3].map((processes) => ({ name, counter, says, tell, processes })),
		),
	);
	it.each(cases)(
		'is found: $name that says $says, $processes processes',
		async ({ counter, tell, processes }) => {
			const limiters = Array.from({ length: processes }, () => new Limiter());
			const { seconds, refused } = await simulate(limiters, 300, counter(60, 60_000), tell);
			// Four minutes at best; a service that says nothing costs some more.
			expect(seconds).toBeLessThan(60 * 8);
			// Each window ends in the refusal of what was under way.
			expect(refused).toBeLessThan(50 * 6 * processes);
		},
	);

	it.each([
		['names no time', NO_NEWS],
		['names a time that is over', { ...NO_NEWS, retryAfterMs: 0 }],
	])('is given up on after ten minutes of refusals, each of which %s', async (_name, news) => {
		const limiter = new Limiter();
		// The run that comes after has the same patience.
		for (let runs = 0; runs < 2; runs++) {
			const run = { inFlight: 0, waitedMs: 0, cap: () => 1, signal: undefined };
			let tries = 0;
			const trying = (async () => {
				do {
					await limiter.turn(run);
					tries++;
				} while (limiter.refused(run, news));
			})();
			await jest.advanceTimersByTimeAsync(11 * 60_000);
			await trying;
			expect(tries).toBeGreaterThan(15);
			expect(tries).toBeLessThan(100);
		}
	});
});

describe('what a service says of its rate', () => {
	const now = Date.parse('2026-01-01T00:00:00Z');
	it.each<[Record<string, string>, RateNews]>([
		[{}, {}],
		[{ 'retry-after': '7' }, { retryAfterMs: 7000 }],
		[{ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, { retryAfterMs: 9000 }],
		[{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, { retryAfterMs: 0 }],
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
	])('%j', (headers, news) => {
		expect(JSON.parse(JSON.stringify(readRateHeaders(headers, now)))).toEqual(news);
	});
});
