import type { Case, Entry, Plan } from './case';
import { limitCases } from './limitCases';
import type { Measured, BenchSetup, Task } from './setup';
import type { Variant } from './workflows';

const LATENCY_MS = 100;
/** The loop is run with a part of the rows only, and its numbers are multiplied by this. */
const LOOP_SHARE = 10;

/** A run for its memory, in an n8n that was started for it. */
export interface MemoryRun extends Measured {
	variant: Variant;
	items: number;
}

const unlimited: Plan['task'] = { plan: 'enterprise', service: { latencyMs: LATENCY_MS } };

function plans(rounds: number): Plan[] {
	return [
		{
			title: '1,000 lookups, no limit',
			about: `1,000 different people, ${String(LATENCY_MS)} ms until each answer, an account without a limit.`,
			...{ items: 1000, distinct: 1000 },
			aim: { ofHttp: 0.8 },
			boundMs: LATENCY_MS,
			bound: `${String(LATENCY_MS)} ms, if calls took no processor time`,
			variants: [
				['leadgen', rounds],
				['http', rounds],
				['httpBatched', 1],
				['loop', rounds],
			],
			task: unlimited,
		},
		{
			title: '600 lookups, 300 per minute',
			about: `600 different people on a Pro account: the service refuses what exceeds 300 requests in any 60 seconds (sliding window), without a hint when to come back. ${String(LATENCY_MS)} ms until each answer.`,
			...{ items: 600, distinct: 600 },
			aim: { ofBound: 1.05, refused: 0 },
			boundMs: 60_000 + LATENCY_MS,
			bound: `⌊599 / 300⌋ × 60 s + ${String(LATENCY_MS)} ms`,
			variants: [
				['leadgen', rounds],
				['http', rounds],
				['httpPaced', 1],
			],
			task: {
				plan: 'pro',
				service: { latencyMs: LATENCY_MS, rateLimit: { kind: 'sliding' } },
			},
		},
		{
			title: '1,000 rows, 40 % of them duplicates',
			about: `1,000 rows with 600 different people, ${String(LATENCY_MS)} ms until each answer, an account without a limit.`,
			...{ items: 1000, distinct: 600 },
			aim: {},
			boundMs: LATENCY_MS,
			bound: `${String(LATENCY_MS)} ms, if calls took no processor time, and 600 credits`,
			variants: [
				['leadgen', rounds],
				['http', rounds],
				['loop', 1],
			],
			task: unlimited,
		},
		...limitCases(rounds),
	];
}

/**
 * Runs the cases that are about time, each of them in rounds of all variants, forwards and backwards.
 * @param only how the titles of the cases begin that are run; all by default
 */
export async function measureCases(
	setup: BenchSetup,
	rounds: number,
	say: (line: string) => void,
	only: string[] = [''],
): Promise<Case[]> {
	await setup.startN8n();
	await warmUp(setup);
	const cases: Case[] = [];
	for (const { variants, task, ...plan } of plans(rounds)) {
		if (!only.some((begin) => plan.title.startsWith(begin))) continue;
		say(plan.title);
		const entries = variants.map(([variant]): Entry => {
			return { variant, rounds: [], scale: variant === 'loop' ? LOOP_SHARE : 1 };
		});
		for (let round = 0; round < rounds; round++) {
			const due = entries.filter((_, index) => round < (variants[index]?.[1] ?? 0));
			for (const entry of round % 2 === 0 ? due : due.reverse()) {
				const { variant, scale } = entry;
				const rows = { items: plan.items / scale, distinct: plan.distinct / scale };
				const measured = await setup.measure({ variant, ...rows, ...task });
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
	setup: BenchSetup,
	sizes: number[],
	say: (line: string) => void,
): Promise<MemoryRun[]> {
	const runs: MemoryRun[] = [];
	for (const items of sizes) {
		for (const variant of ['none', 'leadgen', 'http'] as const) {
			await setup.startN8n();
			await warmUp(setup);
			const task: Task = { ...unlimited, variant, items, distinct: items, save: false };
			const measured = await setup.measure({ ...task, service: { latencyMs: 5 } });
			runs.push({ ...measured, variant, items });
			const megabytes = (measured.process?.peakBytes ?? NaN) / 1e6;
			say(`  ${variant} with ${String(items)} items: ${megabytes.toFixed(0)} MB at most`);
		}
	}
	return runs;
}

/** A first small run of each node, so that all code is loaded. */
async function warmUp(setup: BenchSetup): Promise<void> {
	for (const variant of ['leadgen', 'http', 'loop'] as const) {
		await setup.measure({ ...unlimited, variant, items: 50, distinct: 50 });
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
