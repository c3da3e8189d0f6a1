import { atOnce, banning, changing, countingRefused, sliding, tokenBucket } from '../rateLimits';
import type { Scenario } from './simulate';

/** What a client may reach in a scenario. */
export interface Aim {
	/** Time in relation to the bound. */
	ratio: number;
	refused: number;
}

type Aimed = Scenario & { aim: Aim };

const MINUTE_MS = 60_000;
const none = () => [];
/** On the same machine. */
const wayMs = 1;
const slowNearby = { slowRefusals: true, wayMs };

/** Cases that each run has to master, not only the average one. */
export const named: Record<string, Aimed> = {
	N: {
		about: 'no limit, answers take 2 s',
		calls: 1000,
		limits: none,
		latency: { ms: 2000 },
		// Few calls go out until the first answer shows that the service works, which takes 2 s of 6.
		aim: { ratio: 1.4, refused: 0 },
	},
	B: {
		about: '300 a minute known, enforced as 5 in any second',
		calls: 150,
		perMinute: 300,
		limits: () => [sliding(5, 1000)],
		...slowNearby,
		aim: { ratio: 1.1, refused: 60 },
	},
	C: {
		about: '6,000 a minute known, enforced as 100 in any second',
		calls: 1000,
		perMinute: 6000,
		limits: () => [sliding(100, 1000)],
		...slowNearby,
		aim: { ratio: 1.1, refused: 200 },
	},
	D: {
		about: '60 a minute known, 60 in any minute',
		calls: 90,
		perMinute: 60,
		limits: () => [sliding(60, MINUTE_MS)],
		aim: { ratio: 1.01, refused: 0 },
	},
	E: {
		about: '300 a minute known, a token bucket of 10 that gains 5 a second',
		calls: 150,
		perMinute: 300,
		limits: () => [tokenBucket(10, 5)],
		...slowNearby,
		aim: { ratio: 1.1, refused: 60 },
	},
	F: {
		about: 'ten calls in flight at most, answers take 200 ms, nothing known',
		calls: 300,
		limits: () => [atOnce(10)],
		latency: { ms: 200 },
		wayMs,
		// A number of calls in flight is not learned, but a rate. It varies.
		aim: { ratio: 1.5, refused: 60 },
	},
	G: {
		about: '1,200 in any minute, nothing known',
		calls: 1500,
		limits: () => [sliding(1200, MINUTE_MS)],
		...slowNearby,
		aim: { ratio: 1.05, refused: 75 },
	},
	W: {
		about: 'Starter, 2 workers with 2 executions each',
		calls: 240,
		perMinute: 60,
		processes: 2,
		runs: 2,
		limits: () => [sliding(60, MINUTE_MS)],
		...slowNearby,
		aim: { ratio: 1.03, refused: 40 },
	},
};

/** Where refusals have a price, or the limit that is known is not the whole truth. */
const traps: Aimed[] = [
	{
		about: '60 in any minute, refused calls count',
		calls: 300,
		limits: () => [countingRefused(sliding(60, MINUTE_MS))],
		aim: { ratio: 1.55, refused: 130 },
	},
	{
		about: '60 in any minute, a refusal bans for a minute, anew at each call',
		calls: 300,
		limits: () => [banning(sliding(60, MINUTE_MS), MINUTE_MS)],
		aim: { ratio: 2.5, refused: 60 },
	},
	{
		about: '300 a minute known, 10 in any second and 200 in any minute',
		calls: 600,
		perMinute: 300,
		limits: () => [sliding(10, 1000), sliding(200, MINUTE_MS)],
		// The average of the published limit is kept, also where the first seconds of each minute allow more.
		aim: { ratio: 1.25, refused: 120 },
	},
	{
		about: '20 in any second, 5 after 10 s',
		calls: 300,
		limits: () => [changing(sliding(20, 1000), 10_000, sliding(5, 1000))],
		latency: { ms: 20 },
		aim: { ratio: 1.15, refused: 60 },
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
		aim: { ratio: 1.15, refused },
	};
});

/** Further cases with an aim of their own. */
export const aimed: Record<string, Aimed> = Object.fromEntries(
	[...traps, ...workers].map((scenario) => [scenario.about, scenario]),
);
