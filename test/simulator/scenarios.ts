import {
	atOnce,
	changing,
	fixed,
	leakyBucket,
	shared,
	sliding,
	tokenBucket,
	type ServiceSettings,
} from './service';
import type { Scenario } from './simulate';

/** What a client may reach in a scenario. */
export interface Aim {
	/** Time in relation to the bound. */
	ratio: number;
	refused: number;
}

const MINUTE_MS = 60_000;
const none = () => [];
const fast = { ms: 100 };
/** On the same machine. */
const wayMs = 1;

/** The cases with an aim of their own. */
export const named: Record<string, Scenario & { aim: Aim }> = {
	A: {
		about: 'no limit, answers take 2 s',
		calls: 1000,
		limits: none,
		latency: { ms: 2000 },
		aim: { ratio: 1.3, refused: 0 },
	},
	A2: {
		about: 'no limit, answers take 8 s',
		calls: 500,
		limits: none,
		latency: { ms: 8000 },
		aim: { ratio: 1.3, refused: 0 },
	},
	B: {
		about: '300 a minute known, enforced as 5 in any second',
		calls: 150,
		perMinute: 300,
		limits: () => [sliding(5, 1000)],
		latency: fast,
		slowRefusals: true,
		wayMs,
		aim: { ratio: 1.1, refused: 60 },
	},
	C: {
		about: '6,000 a minute known, enforced as 100 in any second',
		calls: 1000,
		perMinute: 6000,
		limits: () => [sliding(100, 1000)],
		latency: fast,
		slowRefusals: true,
		wayMs,
		aim: { ratio: 1.1, refused: 200 },
	},
	D: {
		about: '60 a minute known, 60 in any minute',
		calls: 90,
		perMinute: 60,
		limits: () => [sliding(60, MINUTE_MS)],
		latency: fast,
		aim: { ratio: 1.01, refused: 0 },
	},
	E: {
		about: '300 a minute known, a token bucket of 10 that gains 5 a second',
		calls: 150,
		perMinute: 300,
		limits: () => [tokenBucket(10, 5)],
		latency: fast,
		slowRefusals: true,
		wayMs,
		aim: { ratio: 1.1, refused: 60 },
	},
	F: {
		about: 'ten calls under way at most, answers take 200 ms, nothing known',
		calls: 300,
		limits: () => [atOnce(10)],
		latency: { ms: 200 },
		wayMs,
		aim: { ratio: 1.2, refused: 60 },
	},
	G: {
		about: '1,200 in any minute, nothing known',
		calls: 1500,
		limits: () => [sliding(1200, MINUTE_MS)],
		latency: fast,
		slowRefusals: true,
		wayMs,
		aim: { ratio: 1.05, refused: 75 },
	},
};

type Shape = Partial<Scenario> & Pick<ServiceSettings, 'limits'>;

const perSecond: Record<string, () => ServiceSettings['limits']> = {
	'10 in any second': () => () => [sliding(10, 1000)],
	'10 a second from the first call on': () => () => [fixed(10, 1000)],
	'10 a second by the clock': () => () => [fixed(10, 1000, 300)],
	'a token bucket of 10, 10 a second': () => () => [tokenBucket(10, 10)],
	'a leaky bucket of 10, 10 a second': () => () => [leakyBucket(10, 10)],
};

const shapes: Record<string, Shape> = {
	...Object.fromEntries(
		Object.entries(perSecond).map(([name, limits]) => [name, { limits: limits() }]),
	),
	'60 in any minute': { limits: () => [sliding(60, MINUTE_MS)] },
	'60 a minute by the clock': { limits: () => [fixed(60, MINUTE_MS, 17_000)] },
	'20 calls under way': { limits: () => [atOnce(20)] },
	'5 in any second and 100 in any minute': {
		limits: () => [sliding(5, 1000), sliding(100, MINUTE_MS)],
	},
	'20 in any second and 5 under way': { limits: () => [sliding(20, 1000), atOnce(5)] },
	'20 a second, 5 after 10 s': {
		limits: () => [changing(sliding(20, 1000), 10_000, sliding(5, 1000))],
	},
	'5 a second, 20 after 20 s': {
		limits: () => [changing(sliding(5, 1000), 20_000, sliding(20, 1000))],
	},
	'10 a second, half of it used by others': { limits: () => [shared(sliding(10, 1000), 5)] },
};

const latencies: Record<string, ServiceSettings['latency']> = {
	'answers take 20 ms': { ms: 20 },
	'lognormal around 1.5 s': { ms: 1500, sigma: 0.75 },
	'30 s': { ms: 30_000 },
};

/** All kinds of services, with nothing known, and fast, scattered and slow answers. */
const kinds = Object.entries(shapes).flatMap(([shape, settings]) =>
	Object.entries(latencies).map(([name, latency]): Scenario => {
		return { about: `${shape}; ${name}`, calls: 300, latency, ...settings };
	}),
);

const says: Array<[string, ServiceSettings['says']]> = [
	['nothing', undefined],
	['Retry-After', 'retryAfter'],
	['how many are left', 'remaining'],
];

/** Several processes on one account, with and without a hint of the service. */
const crowds = [1, 2, 4].flatMap((processes) =>
	says.map(([what, tells]): Scenario => {
		const many = processes === 1 ? '1 process' : `${String(processes)} processes`;
		return {
			about: `60 in any minute; ${many}, answers say ${what}`,
			calls: 240,
			limits: () => [sliding(60, MINUTE_MS)],
			latency: fast,
			processes,
			...(tells && { says: tells }),
		};
	}),
);

export const others: Record<string, Scenario> = Object.fromEntries(
	[...kinds, ...crowds].map((scenario) => [scenario.about, scenario]),
);
