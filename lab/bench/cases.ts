import type { Fixture } from '../fixture/fixture';
import { latencyOf } from '../sandbox/latency';
import { defaultSettings, type SettingsPatch } from '../sandbox/settings';
import { measureRun, type Measured, type Rows, type Task, type Variant } from './run';

/** One way of doing the work of a case, with the rounds that were run. */
export interface Entry {
	variant: Variant;
	/** Of each round, the first first. */
	rounds: Measured[];
	/** What times and counts were multiplied by, since only a part of the rows was run. */
	scale: number;
}

/** What a case must reach; what is left out is not asked for. */
interface CaseAim {
	/** Time in relation to the HTTP Request node, and to the bound. */
	ofHttp?: number;
	ofBound?: number;
	/** Calls that the service refuses for the rate, and those after the credits have ended. */
	refused?: number;
	vain?: number;
}

export interface Case extends Rows {
	title: string;
	aim: CaseAim;
	/** Results that the account has credits for; all by default. */
	bought?: number;
	/** What it is about, for people who read the table. */
	about: string;
	/** The time that no correct program can go below, and why. */
	boundMs: number;
	bound: string;
	entries: Entry[];
}

type Account = Pick<Task, 'plan' | 'credential' | 'credits' | 'service'>;

interface Plan extends Omit<Case, 'entries'>, Account {
	/** With the rounds of each. */
	variants: Partial<Record<Variant, number>>;
}

/** A run for its memory, in an n8n that was started for it. */
export interface MemoryRun extends Measured {
	variant: Variant;
	items: number;
}

const LATENCY_MS = 100;
/** The loop is run with a part of the rows only, and its numbers are multiplied by this. */
const LOOP_SHARE = 10;
const unlimited: Account = { plan: 'enterprise', service: { latencyMs: LATENCY_MS } };

function plans(rounds: number): Plan[] {
	return [
		{
			title: '1,000 lookups, no limit',
			about: `1,000 different people, ${String(LATENCY_MS)} ms until each answer, an account without a limit.`,
			...{ items: 1000, distinct: 1000 },
			aim: { ofHttp: 0.55 },
			boundMs: LATENCY_MS,
			bound: `${String(LATENCY_MS)} ms, if calls took no processor time`,
			variants: { leadgen: rounds, http: rounds, httpBatched: 1, loop: rounds },
			...unlimited,
		},
		{
			title: '600 lookups, 300 per minute',
			about: `600 different people on a Pro account: the service refuses what exceeds 300 requests in any 60 seconds (sliding window), without a hint when to come back. ${String(LATENCY_MS)} ms until each answer.`,
			...{ items: 600, distinct: 600 },
			aim: { ofBound: 1.05, refused: 0 },
			boundMs: 60_000 + LATENCY_MS,
			bound: `⌊599 / 300⌋ × 60 s + ${String(LATENCY_MS)} ms`,
			variants: { leadgen: rounds, http: rounds, httpPaced: 1 },
			plan: 'pro',
			service: { latencyMs: LATENCY_MS, rateLimit: { kind: 'sliding' } },
		},
		{
			title: '1,000 rows, 40 % of them duplicates',
			about: `1,000 rows with 600 different people, ${String(LATENCY_MS)} ms until each answer, an account without a limit.`,
			...{ items: 1000, distinct: 600 },
			aim: {},
			boundMs: LATENCY_MS,
			bound: `${String(LATENCY_MS)} ms, if calls took no processor time, and 600 credits`,
			variants: { leadgen: rounds, http: rounds, loop: 1 },
			...unlimited,
		},
		...limitCases(rounds),
	];
}

/**
 * Runs the cases that are about time, each of them in rounds of all variants, forwards and backwards.
 * @param only how the titles of the cases begin that are run; all by default
 */
export async function measureCases(
	fixture: Fixture,
	rounds: number,
	say: (line: string) => void,
	only: string[] = [''],
): Promise<Case[]> {
	await warmUp(fixture);
	const cases: Case[] = [];
	for (const { variants, ...plan } of plans(rounds)) {
		if (!only.some((begin) => plan.title.startsWith(begin))) continue;
		say(plan.title);
		const entries = (Object.keys(variants) as Variant[]).map((variant): Entry => {
			return { variant, rounds: [], scale: variant === 'loop' ? LOOP_SHARE : 1 };
		});
		for (let round = 0; round < rounds; round++) {
			const due = entries.filter(({ variant }) => round < (variants[variant] ?? 0));
			for (const entry of round % 2 === 0 ? due : due.reverse()) {
				const { variant, scale } = entry;
				const rows = { items: plan.items / scale, distinct: plan.distinct / scale };
				const measured = await measureRun(fixture, { ...plan, variant, ...rows });
				entry.rounds.push(measured);
				const { ms, refused, vain } = measured;
				say(
					`  ${variant}: ${(ms / 1000).toFixed(2)} s, ${String(refused)} refused, ${String(vain)} in vain`,
				);
			}
		}
		cases.push({ ...plan, entries });
	}
	return cases;
}

/** Runs each size with each node and with none, every time in a fresh n8n. */
export async function measureMemory(
	fixture: Fixture,
	sizes: number[],
	say: (line: string) => void,
): Promise<MemoryRun[]> {
	const runs: MemoryRun[] = [];
	for (const items of sizes) {
		for (const variant of ['none', 'leadgen', 'http'] as const) {
			await fixture.restart();
			await warmUp(fixture);
			const task: Task = { ...unlimited, variant, items, distinct: items, save: false };
			const measured = await measureRun(fixture, { ...task, service: { latencyMs: 5 } });
			runs.push({ ...measured, variant, items });
			const megabytes = (measured.process?.peakBytes ?? NaN) / 1e6;
			say(`  ${variant} with ${String(items)} items: ${megabytes.toFixed(0)} MB at most`);
		}
	}
	return runs;
}

/** A first small run of each node, so that all code is loaded. */
async function warmUp(fixture: Fixture): Promise<void> {
	for (const variant of ['leadgen', 'http', 'loop'] as const) {
		await measureRun(fixture, { ...unlimited, variant, items: 50, distinct: 50 });
	}
}

/** The middle round, and the fastest and slowest, with the scale applied. */
export function timesOf({ rounds, scale }: Entry): { ms: number; least: number; most: number } {
	const sorted = rounds.map(({ ms }) => ms * scale).sort((a, b) => a - b);
	const [least = NaN] = sorted;
	return {
		ms: sorted[Math.floor(sorted.length / 2)] ?? NaN,
		least,
		most: sorted.at(-1) ?? NaN,
	};
}

/** The round that did worst by what `count` counts, with the scale applied. */
export function worstOf({ rounds, scale }: Entry, count: (measured: Measured) => number): number {
	return Math.max(...rounds.map(count)) * scale;
}

export function entryOf({ entries }: Case, variant: Variant): Entry {
	const entry = entries.find((candidate) => candidate.variant === variant);
	if (!entry) throw new Error(`${variant} was not run`);
	return entry;
}

/** As in life: half of the answers take less than a second, a few take very long. */
const SCATTERED = { medianMs: 1000, sigma: 1 };
const SCATTERED_CALLS = 1000;

function slowestMs(): number {
	const { seed } = defaultSettings();
	const all = Array.from({ length: SCATTERED_CALLS }, (_, call) =>
		latencyOf(SCATTERED, seed, call + 1),
	);
	return Math.max(...all);
}

/** Services that limit in other ways than the plans say, and that say nothing of it. */
function limitCases(rounds: number): Plan[] {
	const of = (rows: number) => ({
		...{ items: rows, distinct: rows, variants: { leadgen: rounds, http: rounds } },
		...unlimited,
	});
	const limited = (rateLimit: SettingsPatch['rateLimit']) => ({ latencyMs: LATENCY_MS, rateLimit });
	return [
		{
			title: 'A: no limit, answers take 2 s',
			about: 'An Enterprise account, nothing set in the credential.',
			...of(1000),
			aim: { ofHttp: 1, refused: 0 },
			boundMs: 2000,
			bound: '2 s, if calls took no processor time',
			service: { latencyMs: 2000 },
		},
		{
			title: 'A2: no limit, answers take 8 s',
			about: 'An Enterprise account, nothing set in the credential.',
			...of(500),
			aim: { ofHttp: 1, refused: 0 },
			boundMs: 8000,
			bound: '8 s, if calls took no processor time',
			service: { latencyMs: 8000 },
		},
		{
			title: 'B: 300 a minute, enforced as 5 in any second',
			about: 'A Pro account. 100 ms until each answer and each refusal.',
			...of(150),
			aim: { ofBound: 1.1, refused: 60 },
			boundMs: 29_100,
			bound: '⌊149 / 5⌋ × 1 s + 100 ms',
			plan: 'pro',
			service: limited({ kind: 'sliding', perMinute: 5, windowMs: 1000 }),
		},
		{
			title: 'C: 6,000 a minute, enforced as 100 in any second',
			about: 'An Enterprise account, 6,000 set in the credential. 100 ms until each answer.',
			...of(1000),
			aim: { ofBound: 1.15, refused: 200 },
			boundMs: 9100,
			bound: '⌊999 / 100⌋ × 1 s + 100 ms',
			credential: { plan: 'enterprise', requestsPerMinute: 6000 },
			service: limited({ kind: 'sliding', perMinute: 100, windowMs: 1000 }),
		},
		{
			title: 'D: 60 in any minute, found out by the node',
			about: 'A Starter account, and a credential that detects the plan. 100 ms until each answer.',
			...of(90),
			aim: { ofBound: 1.02, refused: 0 },
			boundMs: 60_100,
			bound: '⌊89 / 60⌋ × 60 s + 100 ms',
			plan: 'starter',
			credential: { plan: 'auto', requestsPerMinute: 0 },
			service: limited({ kind: 'sliding' }),
		},
		{
			title: 'E: a token bucket of 10 that gains 5 a second',
			about: 'A Pro account. 100 ms until each answer.',
			...of(150),
			aim: { ofBound: 1.1, refused: 60 },
			boundMs: 28_100,
			bound: '(150 − 10) / 5 s + 100 ms',
			plan: 'pro',
			service: limited({ kind: 'tokenBucket', perMinute: 10, windowMs: 2000 }),
		},
		{
			title: 'F: ten calls in flight at most',
			about:
				'An Enterprise account, nothing set. 200 ms until each answer, none until a refusal. The node does not learn a number of calls in flight; _Parallel Requests_ sets it.',
			...of(300),
			aim: { ofBound: 1.5, refused: 60 },
			boundMs: 6000,
			bound: '300 / 10 × 200 ms',
			service: { latencyMs: 200, rateLimit: { maxInFlight: 10, refusalMs: 0 } },
		},
		{
			title: 'G: 1,200 in any minute',
			about: 'An Enterprise account, nothing set. 100 ms until each answer.',
			...of(1500),
			aim: { ofBound: 1.05, refused: 75 },
			boundMs: 60_100,
			bound: '⌊1,499 / 1,200⌋ × 60 s + 100 ms',
			service: limited({ kind: 'sliding', enterprisePerMinute: 1200 }),
		},
		{
			title: 'M: no limit, lognormal answers around 1 s',
			about: 'An Enterprise account, nothing set in the credential.',
			...of(SCATTERED_CALLS),
			aim: { ofHttp: 1, refused: 0 },
			boundMs: slowestMs(),
			bound: 'the slowest answer, if calls took no processor time',
			service: { latencyMs: SCATTERED },
		},
		{
			title: 'Credits for 50 of 300 rows',
			about: 'An Enterprise account with 50 credits. 100 ms until each answer.',
			...of(300),
			bought: 50,
			aim: { vain: 64 },
			boundMs: 100,
			bound: '100 ms, if calls took no processor time',
			credits: 50,
		},
	];
}
