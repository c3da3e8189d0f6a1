import { Fixture } from '../fixture/fixture';
import { count, Part, seconds, times } from './part';
import { measureRun, VARIANTS, type Measured, type Task, type Variant } from './run';

const ROUNDS = 3;
const LATENCY_MS = 100;
const MEMORY_ITEMS = [10_000, 50_000];

interface Case extends Omit<Task, 'variant'> {
	title: string;
	about: string;
	/** The time that no correct program can go below, and why. */
	boundMs: number;
	bound: string;
}

/** What a node gave in each round. */
interface Entry {
	variant: Variant;
	rounds: Measured[];
}

/** An n8n for measurements, in which the code of each node has been loaded. */
async function opened<T>(measure: (fixture: Fixture) => Promise<T>): Promise<T> {
	const fixture = new Fixture({ N8N_LOG_LEVEL: 'warn' });
	try {
		await fixture.open();
		for (const variant of ['leadgen', 'http'] as const) {
			await measureRun(fixture, { variant, items: 50, plan: 'enterprise', service: {} });
		}
		return await measure(fixture);
	} finally {
		await fixture.close();
	}
}

function casePart({ title, about, boundMs, bound, ...task }: Case): Part<Entry> {
	const { items } = task;
	return new Part({
		title,
		about: `${about} Bound: ${bound}. Times are the median of ${String(ROUNDS)} rounds; counts are from the worst round.`,
		head: [
			...['', 'Time', 'Fastest – slowest', '÷ bound', 'Calls', 'Refused', 'Credits'],
			...['Items lost', 'At once', 'CPU per item'],
		],
		measure: async (say) =>
			await opened(async (fixture) => {
				const entries: Entry[] = (['leadgen', 'http'] as const).map((variant) => {
					return { variant, rounds: [] };
				});
				for (let round = 0; round < ROUNDS; round++) {
					for (const { variant, rounds } of entries) {
						const measured = await measureRun(fixture, { ...task, variant });
						rounds.push(measured);
						const { ms, refused } = measured;
						say(`${title}, ${variant}: ${seconds(ms)}, ${String(refused)} refused`);
					}
					entries.reverse();
				}
				return entries;
			}),
		cellsOf: ({ variant, rounds }) => {
			const sorted = rounds.map(({ ms }) => ms).sort((a, b) => a - b);
			const [least = NaN, middle = NaN, most = NaN] = sorted;
			const worst = (of: (measured: Measured) => number) => count(Math.max(...rounds.map(of)));
			const cpuMs = Math.min(...rounds.map(({ process }) => process?.cpuMs ?? NaN));
			return [
				VARIANTS[variant],
				seconds(middle),
				`${seconds(least)} – ${seconds(most)}`,
				times(middle / boundMs),
				worst(({ requests }) => requests),
				worst(({ refused }) => refused),
				worst(({ credits }) => credits),
				worst(({ results }) => items - results),
				worst(({ peak }) => peak),
				`${(cpuMs / items).toFixed(1)} ms`,
			];
		},
	});
}

export const noLimit = casePart({
	title: '1,000 lookups, no limit',
	about: `1,000 different people, ${String(LATENCY_MS)} ms until each answer, an account without a limit.`,
	items: 1000,
	boundMs: LATENCY_MS,
	bound: `${String(LATENCY_MS)} ms, if calls took no processor time`,
	plan: 'enterprise',
	service: { latencyMs: LATENCY_MS },
});

export const limitSet = casePart({
	title: '1,000 lookups, 6,000 per minute',
	about: `1,000 different people, ${String(LATENCY_MS)} ms until each answer. An Enterprise account, 6,000 set in the credential. The service refuses what exceeds 100 requests in any second.`,
	items: 1000,
	boundMs: 9100,
	bound: '⌊999 / 100⌋ × 1 s + 100 ms',
	plan: 'enterprise',
	requestsPerMinute: 6000,
	service: {
		latencyMs: LATENCY_MS,
		rateLimit: { kind: 'sliding', perMinute: 100, windowMs: 1000 },
	},
});

export const pro = casePart({
	title: '600 lookups, 300 per minute',
	about: `600 different people on a Pro account: the service refuses what exceeds 300 requests in any 60 seconds (sliding window), without a hint when to come back. ${String(LATENCY_MS)} ms until each answer.`,
	items: 600,
	boundMs: 60_000 + LATENCY_MS,
	bound: `⌊599 / 300⌋ × 60 s + ${String(LATENCY_MS)} ms`,
	plan: 'pro',
	service: { latencyMs: LATENCY_MS, rateLimit: { kind: 'sliding' } },
});

/** A run for its memory, and what the same rows took without a node. */
interface MemoryRun {
	variant: Variant;
	items: number;
	measured: Measured;
	rowsBytes: number;
}

export const memory = new Part<MemoryRun>({
	title: 'Memory',
	about: `Different people, 5 ms until each answer, no limit, and n8n does not save the execution. n8n is restarted for each line. The peak is the
resident memory of the n8n process, as the kernel counts it; the rows alone are the same workflow with a No Operation node. One run per line.`,
	head: ['Items', 'Node', 'Peak memory of n8n', 'Above the rows alone', 'Time', 'Items lost'],
	measure: async (say) => {
		const runs: MemoryRun[] = [];
		for (const items of MEMORY_ITEMS) {
			let rowsBytes = NaN;
			for (const variant of ['none', 'leadgen', 'http'] as const) {
				const task: Task = { variant, items, plan: 'enterprise', service: { latencyMs: 5 } };
				const measured = await opened((fixture) => measureRun(fixture, task, false));
				const { peakBytes = NaN } = measured.process ?? {};
				if (variant === 'none') rowsBytes = peakBytes;
				runs.push({ variant, items, measured, rowsBytes });
				say(`${variant} with ${String(items)} items: ${megabytes(peakBytes)} at most`);
			}
		}
		return runs;
	},
	cellsOf: ({ variant, items, measured: { process, ms, results }, rowsBytes }) => {
		const { peakBytes = NaN } = process ?? {};
		const ofNode = [megabytes(peakBytes - rowsBytes), seconds(ms), count(items - results)];
		return [
			...[count(items), VARIANTS[variant], megabytes(peakBytes)],
			...(variant === 'none' ? ['', '', ''] : ofNode),
		];
	},
});

function megabytes(bytes: number): string {
	return `${count(bytes / 1e6)} MB`;
}
