import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { N8N } from '../fixture/fixture';
import { ROOT } from '../playground/versions';
import { entryOf, timesOf, worstOf, type Case, type Entry, type MemoryRun } from './cases';
import { VARIANTS } from './run';

interface Grid {
	head: string[];
	rows: string[][];
}

interface Aim {
	text: string;
	result: string;
	isMet: boolean;
}

/** What the benchmark gave. */
export interface Results {
	cases: Case[];
	memory: MemoryRun[];
	rounds: number;
	/** When, on what machine, and which versions. */
	setting: string;
}

/** Tells when and on what the benchmark runs; to be asked before it puts load on the machine. */
export function describeSetting(): string {
	const all = cpus();
	const manifest = readFileSync(join(ROOT, 'package.json'), 'utf8');
	const { name, version } = JSON.parse(manifest) as { name: string; version: string };
	const parts = [
		`${String(all.length)} × ${all[0]?.model.trim() ?? 'unknown processor'}`,
		`${count(totalmem() / 2 ** 30)} GB`,
		`${process.platform} ${process.arch}`,
		`n8n ${N8N.version} on SQLite`,
		`Node.js ${process.versions.node}`,
		`${name} ${version}`,
	];
	const date = new Date().toISOString().slice(0, 10);
	const load = (loadavg()[0] ?? 0).toFixed(1);
	return `Measured on ${date}: ${parts.join(', ')}; load average of the machine in the minute before: ${load}.`;
}

function seconds(ms: number): string {
	return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

function count(value: number): string {
	return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

function times(ratio: number): string {
	return `${ratio.toFixed(2)} ×`;
}

function lostBy({ items, bought = items }: Case, entry: Entry): number {
	return worstOf(entry, ({ results }) => bought / entry.scale - results);
}

/** Processor time of n8n for the whole execution, the least of all rounds: so it tells most of the node. */
function cpuPerItem({ rounds, scale }: Entry, items: number): string {
	const least = Math.min(...rounds.map(({ process }) => process?.cpuMs ?? Infinity));
	return isFinite(least) ? `${((least * scale) / items).toFixed(1)} ms` : '–';
}

function caseGrid(measured: Case): Grid {
	const http = timesOf(entryOf(measured, 'http')).ms;
	const row = (entry: Entry): string[] => {
		const { ms, least, most } = timesOf(entry);
		const range = entry.rounds.length > 1 ? `${seconds(least)} – ${seconds(most)}` : '1 round';
		const scaled = entry.scale > 1 ? ` (${count(measured.items / entry.scale)} items × 10)` : '';
		return [
			VARIANTS[entry.variant] + scaled,
			seconds(ms),
			range,
			times(ms / http),
			times(ms / measured.boundMs),
			count(worstOf(entry, ({ requests }) => requests)),
			count(worstOf(entry, ({ refused, vain }) => refused + vain)),
			count(worstOf(entry, ({ credits }) => credits)),
			count(lostBy(measured, entry)),
			count(worstOf(entry, ({ peak }) => peak) / entry.scale),
			cpuPerItem(entry, measured.items),
		];
	};
	const bound = ['arithmetic bound', seconds(measured.boundMs), '', '', times(1)];
	return {
		head: [
			...['', 'Time', 'Fastest – slowest', '÷ HTTP Request', '÷ bound'],
			...['Calls', 'Refused', 'Credits', 'Items lost', 'At once', 'CPU per item'],
		],
		rows: [...measured.entries.map(row), [...bound, ...boundCounts(measured), '', '']],
	};
}

/** Calls, refused ones, credits and lost items of a program that knows all. */
function boundCounts({ distinct, bought }: Case): string[] {
	return [count(bought ?? distinct), '0', count(bought ?? distinct), '0'];
}

/** What a node takes beyond the rows themselves. */
function memoryAboveRows(runs: MemoryRun[], run: MemoryRun): number {
	const rows = runs.find(({ variant, items }) => variant === 'none' && items === run.items);
	return (run.process?.peakBytes ?? NaN) - (rows?.process?.peakBytes ?? NaN);
}

function memoryGrid(runs: MemoryRun[]): Grid {
	const megabytes = (bytes = NaN) => (isNaN(bytes) ? '–' : `${count(bytes / 1e6)} MB`);
	const row = (run: MemoryRun): string[] => {
		const hasCalls = run.requests > 0;
		return [
			count(run.items),
			VARIANTS[run.variant],
			megabytes(run.process?.peakBytes),
			hasCalls ? megabytes(memoryAboveRows(runs, run)) : '',
			hasCalls ? seconds(run.ms) : '',
			hasCalls ? count(run.requests / (run.ms / 1000)) : '',
			hasCalls ? `${((run.process?.cpuMs ?? NaN) / run.items).toFixed(1)} ms` : '',
			hasCalls ? count(run.items - run.results) : '',
			hasCalls ? seconds(run.stallMs) : '',
		];
	};
	return {
		head: [
			...['Items', '', 'Peak memory of n8n', 'Above the rows alone', 'Time'],
			...['Calls per s', 'CPU per item', 'Items lost', 'Editor stuck'],
		],
		rows: runs.map(row),
	};
}

/** The aims of the package, and whether this run meets them. */
function aimsOf({ cases }: Results): Aim[] {
	const lost = cases.reduce((sum, one) => sum + lostBy(one, entryOf(one, 'leadgen')), 0);
	const credits = cases.map((one) => {
		const { rounds } = entryOf(one, 'leadgen');
		const wanted = one.bought ?? one.distinct;
		return rounds.every((round) => round.credits === wanted) ? count(wanted) : 'differs';
	});
	return [
		{ text: 'no item lost', result: `${count(lost)} lost`, isMet: lost === 0 },
		{
			text: 'credits spent = different calls, in every round',
			result: credits.join(', '),
			isMet: !credits.includes('differs'),
		},
		...cases.flatMap(aimsOfCase),
	];
}

function aimsOfCase(one: Case): Aim[] {
	const entry = entryOf(one, 'leadgen');
	const { ms } = timesOf(entry);
	const atMost = (what: string, most: number | undefined, value: number, show = count): Aim[] =>
		most === undefined
			? []
			: [
					{
						text: `${one.title}: at most ${show(most)} ${what}`,
						result: show(value),
						isMet: value <= most,
					},
				];
	const worst = (of: 'refused' | 'vain') => worstOf(entry, (round) => round[of]);
	return [
		...atMost('HTTP Request', one.aim.ofHttp, ms / timesOf(entryOf(one, 'http')).ms, times),
		...atMost('the bound', one.aim.ofBound, ms / one.boundMs, times),
		...atMost('refused calls', one.aim.refused, worst('refused')),
		...atMost('wasted calls', one.aim.vain, worst('vain')),
		...loopAim(one, ms),
	];
}

function loopAim({ title, entries }: Case, ms: number): Aim[] {
	const loop = entries.find(({ variant, rounds }) => variant === 'loop' && rounds.length > 1);
	if (!loop) return [];
	const ofLoop = timesOf(loop).ms / ms;
	return [
		{
			text: `${title}: at least 20 × as fast as a loop one by one`,
			result: times(ofLoop),
			isMet: ofLoop >= 20,
		},
	];
}

export function markdownTable({ head, rows }: Grid): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const align = head.map((_, index) => (index === 0 ? '---' : '---:'));
	return [head, align, ...rows].map(line).join('\n');
}

/** The results as docs/measurements/benchmark.md. @param others its sections that are measured alone */
export function markdownReport(results: Results, others: string[] = []): string {
	const { cases, memory, rounds, setting } = results;
	const aims = aimsOf(results).map(
		({ text, result, isMet }) => `| ${text} | ${result} | ${isMet ? 'met' : '**missed**'} |`,
	);
	return `# Benchmark

The LeadGen node beside n8n's own HTTP Request node and a loop that takes one item at a time, on a
real n8n, against the [sandbox](../../lab/sandbox/README.md) of the service on the same machine.

| Aim | Result | |
| --- | ---: | --- |
${aims.join('\n')}

Repeat it (memory and CPU are read from \`/proc\`, so on Linux only):

\`\`\`sh
npm run bench             # one to two hours, writes this page
npm run bench -- --quick  # about 15 minutes, one round, prints the tables only
\`\`\`

${setting} Times are the median of ${String(rounds)} rounds. Each round runs the
methods one after the other, every second round in reverse order. Counts are from the worst round.

${cases.map(caseSection).join('\n\n')}

${others.join('\n')}
## Memory

Different people, 5 ms until each answer, no limit, and n8n does not save the execution. n8n is
restarted for each line and warmed up with 50 items. The peak is the resident memory of the n8n
process, as the kernel counts it; the rows alone are the same workflow with a No Operation node. One
run per line.

${markdownTable(memoryGrid(memory))}

${REMARKS}
`;
}

function caseSection(one: Case): string {
	return `## ${one.title}

${one.about} Bound: ${one.bound}.

${markdownTable(caseGrid(one))}`;
}

/** What a reader must know to judge the numbers. */
const REMARKS = `## What is measured, and what to keep in mind

- Time is the execution time of the node by n8n's own record; for the loop, from the first start of
  the Loop node to the last end. Runs that n8n does not save (memory) are timed at the service, from
  the first arrival to the last answer, and their lost items are those without an answer there.
- The workflows are published and started by a webhook; a Code node makes the rows. Every run has an
  account of its own, so that no result is remembered from an earlier run. Every person is found.
- The HTTP Request node sends a body of name and value pairs, with a Header Auth credential, and is
  set to continue on errors; without that, a single 429 would lose the whole run. Its Batching option
  is off unless it is added, and then all calls go out as fast as n8n can make them; when added, it
  offers 50 items per 1,000 ms. Somebody who knows the limit of 300 per minute
  would set batches of 5 per 1,000 ms.
- The loop is run with 100 items, and its times and counts are multiplied by 10.
- CPU per item is the processor time of the n8n process from the webhook to the end of the execution,
  divided by the items; the least of the rounds. It includes all that n8n does in that time, also its
  answers to the benchmark, which asks ten times a second whether the execution is over. So it says
  little about runs that mostly wait.
- Editor stuck is the longest time that n8n's own API did not answer during the run.
- On loopback a connection costs nothing, and there is no TLS. Without a limit, every method
  except the loop is limited by n8n's processor time per call, so these ratios depend on the machine. With
  a limit they hardly do.
- The sandbox shares the processor with n8n, in the process of the benchmark. So does anything else that the
  machine does: look at the load above, and at the fastest and slowest rounds.
- The peak memory includes garbage that Node.js has not collected yet, and in the LeadGen node
  the results that it remembers for later runs (at most 50 MB per account).
- With a published limit, a minute counts from the answer to a call, because the service may have counted it at
  any time until then. So the time of the first calls is added to the minute.
- Without a limit, the LeadGen node increases the number of parallel calls over time, up to 1,000 calls and about
  500 a second.`;
