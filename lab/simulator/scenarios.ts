import { atOnce, banning, changing, countingRefused, sliding, tokenBucket } from '../rateLimits';
import { USUAL_STALL_MS } from './processor';
import type { Fault } from './service';
import type { Scenario } from './simulate';

/** What a run may cost at most. */
export interface Aim {
	/** Time in relation to the bound. */
	ofBound?: number;
	/** Time in relation to a service that does not fail. */
	ofCalm?: number;
	/** Calls that the service refuses. */
	refused?: number;
	/** Calls whose outcome is not known. */
	unclear?: number;
}

export type Aimed = Scenario & { aim: Aim };

const MINUTE_MS = 60_000;
/** A service on the same machine, which refuses as slowly as it answers. */
const slowNearby = { slowRefusals: true, wayMs: 1 };

/** Limits that each run has to master, not only the average one, also in a busy process. */
export const usualLimits: Aimed[] = [
	{
		about: 'no limit, answers take 2 s',
		...{ calls: 1000, latency: { ms: 2000 } },
		// Few calls go out until the first answer shows that the service works, which takes 2 s of 6.
		aim: { ofBound: 1.4, refused: 0 },
	},
	{
		about: '300 a minute known, enforced as 5 in any second',
		...{ calls: 150, perMinute: 300, limits: () => [sliding(5, 1000)], ...slowNearby },
		aim: { ofBound: 1.1, refused: 60 },
	},
	{
		about: '6,000 a minute known, enforced as 100 in any second',
		...{ calls: 1000, perMinute: 6000, limits: () => [sliding(100, 1000)], ...slowNearby },
		aim: { ofBound: 1.1, refused: 200 },
	},
	{
		about: '60 a minute known, 60 in any minute',
		...{ calls: 90, perMinute: 60, limits: () => [sliding(60, MINUTE_MS)] },
		aim: { ofBound: 1.01, refused: 0 },
	},
	{
		about: '300 a minute known, a token bucket of 10 that gains 5 a second',
		...{ calls: 150, perMinute: 300, limits: () => [tokenBucket(10, 5)], ...slowNearby },
		aim: { ofBound: 1.1, refused: 60 },
	},
	{
		about: '1,200 in any minute, nothing known',
		...{ calls: 1500, limits: () => [sliding(1200, MINUTE_MS)], ...slowNearby },
		aim: { ofBound: 1.05, refused: 75 },
	},
	{
		about: '50 in any 10 s, nothing known',
		...{ calls: 150, limits: () => [sliding(50, 10_000)], ...slowNearby },
		aim: { ofBound: 1.1, refused: 60 },
	},
	{
		about: 'Starter, 2 workers with 2 executions each',
		...{ calls: 240, perMinute: 60, processes: 2, runs: 2 },
		...{ limits: () => [sliding(60, MINUTE_MS)], ...slowNearby },
		aim: { ofBound: 1.03, refused: 40 },
	},
];

/** Processes that keep the published limit of an account each. */
const workers = [
	{ plan: 'Starter', perMinute: 60, calls: 240, processes: 2, refused: 27 },
	{ plan: 'Starter', perMinute: 60, calls: 240, processes: 2, refused: 27, laterMs: 5000 },
	{ plan: 'Starter', perMinute: 60, calls: 480, processes: 3, refused: 75 },
	{ plan: 'Pro', perMinute: 300, calls: 1200, processes: 2, refused: 60 },
	{ plan: 'Pro', perMinute: 300, calls: 1200, processes: 4, refused: 120 },
].map(({ plan, refused, ...work }): Aimed => {
	return {
		...work,
		about: `${plan}, ${String(work.processes)} workers${work.laterMs ? ' that begin 5 s apart' : ''}`,
		limits: () => [sliding(work.perMinute, MINUTE_MS)],
		aim: { ofBound: 1.15, refused },
	};
});

/** Where n8n takes so long for a call, and other things now and then. */
const slowMachines = [8, 12].flatMap((cpuMs) =>
	[0, USUAL_STALL_MS].flatMap((stallMs) =>
		[
			{
				...{ about: '100 in any second under 6,000 a minute', calls: 1000 },
				...{ perMinute: 6000, limits: () => [sliding(100, 1000)] },
			},
			{ about: '50 in any 10 s', calls: 150, limits: () => [sliding(50, 10_000)] },
			{ about: '1,200 in any minute', calls: 1500, limits: () => [sliding(1200, MINUTE_MS)] },
		].map(({ about, ...more }): Aimed => {
			return {
				about: `${about}, ${String(cpuMs)} ms of the processor for a call${stallMs > 0 ? ', busy' : ''}`,
				...{ ...more, cpuMs, stallMs, slowRefusals: true },
				aim: { ofBound: 1.15, refused: 60 },
			};
		}),
	),
);

/** Where refusals have a price, the limit that is known is not the whole truth, or chance decides: averages count. */
export const hardLimits: Aimed[] = [
	{
		about: 'ten calls in flight at most, answers take 200 ms, nothing known',
		...{ calls: 300, limits: () => [atOnce(10)], latency: { ms: 200 }, wayMs: 1 },
		// A number of calls in flight is not learned, but a rate. It varies.
		aim: { ofBound: 1.5, refused: 60 },
	},
	{
		about: '60 in any minute, refused calls count',
		...{ calls: 300, limits: () => [countingRefused(sliding(60, MINUTE_MS))] },
		aim: { ofBound: 1.55, refused: 130 },
	},
	{
		about: '60 in any minute, a refusal bans for a minute, anew at each call',
		...{ calls: 300, limits: () => [banning(sliding(60, MINUTE_MS), MINUTE_MS)] },
		aim: { ofBound: 2.5, refused: 60 },
	},
	{
		about: '300 a minute known, 10 in any second and 200 in any minute',
		...{ calls: 600, perMinute: 300 },
		limits: () => [sliding(10, 1000), sliding(200, MINUTE_MS)],
		// The average of the published limit is kept, also where the first seconds of each minute allow more.
		aim: { ofBound: 1.25, refused: 120 },
	},
	{
		about: '20 in any second, nothing known',
		...{ calls: 600, limits: () => [sliding(20, 1000)] },
		// A call more is tried each five seconds.
		aim: { ofBound: 1.1, refused: 35 },
	},
	{
		about: '20 in any second, 5 after 200 of 300 calls',
		...{ calls: 300, latency: { ms: 20 } },
		limits: () => [changing(sliding(20, 1000), 200, sliding(5, 1000))],
		aim: { ofBound: 1.15, refused: 60 },
	},
	...[false, true].map((slowRefusals) => ({
		about: `5 in any second, 20 after 100 of 400 calls${slowRefusals ? ', refused as slowly as answered' : ''}`,
		...{ calls: 400, limits: () => [changing(sliding(5, 1000), 100, sliding(20, 1000))] },
		...{ slowRefusals, aim: { ofBound: 1.3 } },
	})),
	...workers,
	...slowMachines,
];

const always =
	(fault: Fault): (() => Fault) =>
	() =>
		fault;
const singly = (share: number) => always(({ chance }) => (chance < share ? 'failed' : undefined));
const breaksAbove = (most: number) =>
	always(({ inFlight }) => (inFlight >= most ? 'broken' : undefined));
const eachRefused = (nth: number) =>
	always(({ index }) => (index % nth === nth - 1 ? 'refused' : undefined));

/** Fails for so long from the moment on when so many calls have been taken. */
function outage(after: number, ms: number, kind: ReturnType<Fault> = 'failed'): () => Fault {
	return () => {
		let end: number | undefined;
		return ({ taken, now }) => {
			if (taken >= after) end ??= now + ms;
			return end !== undefined && now < end ? kind : undefined;
		};
	};
}

function day(about: string, calls: number, fault: Scenario['fault'], aim: Aim): Aimed {
	return { about, calls, fault, aim };
}
function slow(given: Aimed): Aimed {
	return { ...given, about: `${given.about}, as slow as answers`, slowFaults: true };
}
function answeredIn(ms: number, given: Aimed): Aimed {
	const about = `${given.about}, answers take ${String(ms / 1000)} s`;
	return { ...given, about, latency: { ms } };
}

// Of calls in flight for 100 ms, 25 fail before anybody knows.
const pro = {
	...day('Pro, 25 s of 502 after 60 of 200 rows', 200, outage(60, 25_000), { unclear: 25 }),
	perMinute: 300,
};
const broken = day('502 from the first call on', 1000, outage(0, Infinity), { unclear: 100 });
const unreachable = outage(300, 30_000, 'unreachable');
const brief = { unclear: 60, ofCalm: 1.5 };
const breaking = (most: number) => `connections break beyond ${String(most)} at once`;

/** Services that fail, and what runs may lose by it. */
export const badDays: Aimed[] = [
	...[
		day('502 for good after 600 of 2,500 calls', 2500, outage(600, Infinity), { unclear: 150 }),
		day('503 for 20 s after 400 of 1,500 calls', 1500, outage(400, 20_000), { unclear: 150 }),
	].flatMap((given) => [given, slow(given), answeredIn(2000, given)]),
	day('502 for 0.1 s after 500 of 2,000 calls', 2000, outage(500, 100), brief),
	day('unreachable for 30 s after 300 of 1,000 calls', 1000, unreachable, { unclear: 0 }),
	broken,
	{ ...slow(broken), about: `${broken.about}, as slow as answers of 2 s`, latency: { ms: 2000 } },
	day('502 for 10 s from the first call on', 1000, outage(0, 10_000), { unclear: 100 }),
	day('unreachable from the first call on', 100, outage(0, Infinity, 'unreachable'), {
		unclear: 0,
	}),
	...[20, 150, 250].map((most) => {
		const [about, aim] = [breaking(most), { unclear: most < 100 ? 60 : 180 }];
		return answeredIn(2500, day(about, 1200, breaksAbove(most), aim));
	}),
	day(breaking(20), 1200, breaksAbove(20), { unclear: 180 }),
	{
		about: 'throughput falls beyond 50 at once, breaks after 30 s',
		...{ calls: 1200, latency: { ms: 1000 }, timeoutMs: 30_000 },
		slowdown: (inFlight: number) => Math.max(1, (inFlight / 50) ** 1.5),
		aim: { unclear: 0 },
	},
	pro,
	{ ...slow(pro), aim: { unclear: 40 } },
	...[0.01, 0.02, 0.05].flatMap((share) =>
		[100, 2000].map((ms) => ({
			about: `${String(share * 100)} % fail at random, answers take ${String(ms)} ms`,
			...{ calls: 2000, fault: singly(share), latency: { ms } },
			aim: { ofCalm: share < 0.05 ? 1.2 : 1.5 },
		})),
	),
	slow(day('5 % fail at random', 2000, singly(0.05), { ofCalm: 1.5 })),
	...([undefined, 'retryAfter'] as const).flatMap((says) => {
		const named = says ? ', Retry-After: 1' : '';
		return [
			day(`each 25th call is refused${named}`, 800, eachRefused(25), { ofCalm: 2 }),
			day(`each 10th call is refused${named}`, 1000, eachRefused(10), { ofCalm: 1.5 }),
		].flatMap((given) => [
			{ ...given, says },
			{ ...slow(given), says },
		]);
	}),
];
