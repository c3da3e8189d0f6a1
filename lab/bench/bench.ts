import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installN8n } from '../playground/install';
import { packPackage } from '../playground/n8n';
import { writePage, writeSection } from '../playground/page';
import { ROOT, STATE_FOLDER, findN8n } from '../playground/versions';
import { measureCases, measureMemory } from './cases';
import { simulateBefore } from './before';
import { chart } from './chart';
import { burst } from './burst';
import { drawCourses } from './courses';
import { hostile } from './hostile';
import { idle } from './idle';
import { BEFORE_FILE, LIMITS_TITLE, limitsReport } from './limits';
import { prompt } from './prompt';
import { type Results, describeSetting, markdownReport, terminalReport } from './report';
import { simulateAll, simulateCourses } from './simulation';
import { BenchSetup } from './setup';

const HELP = `Measures the LeadGen node beside n8n's HTTP Request node, in a real n8n 2.x against the sandbox.

  npm run bench [-- --quick | --render]

  --quick   one round and 10,000 items at most; prints the tables, and leaves docs/ as it is
  --case    with --quick: only the cases whose title begins like this, no memory; may be repeated
  --before  runs the simulator with the limiter of a commit that is as old as release 1.0.0, and keeps
            what it reaches in lab/bench/before.json
  --limits  runs the simulator only, and renews its part of docs/measurements/benchmark.md
  --idle    measures what triggers take that wait (10 minutes)
  --prompt  measures how soon a completion runs the workflow (15 minutes, needs Redis and PostgreSQL)
  --burst   measures how soon 100 notifications at once are answered (4 minutes)
  --hostile measures what ten hostile requests to a trigger take (6 minutes)
            These four renew their part of docs/measurements/benchmark.md; N8N_VERSION=1 takes n8n 1
  --render  measures nothing, and writes docs/ again from the last full run
  --help    this text`;

const FOLDER = 'docs/measurements';
const PAGE = `${FOLDER}/benchmark.md`;
/** Parts of it that can be measured alone. */
const PARTS = { idle, prompt, burst, hostile };
/** Of the last full run. */
const RESULTS_FILE = join(STATE_FOLDER, 'benchmark.json');

async function bench(
	isQuick: boolean,
	only: string[] | undefined,
	signal: AbortSignal,
): Promise<void> {
	const setting = describeSetting();
	await installN8n(findN8n('2'), signal);
	const tarball = process.env.PACKAGE_TARBALL ?? (await packPackage(signal));
	const rounds = isQuick ? 1 : 3;
	const sizes = isQuick ? [10_000] : [10_000, 50_000];

	const setup = await BenchSetup.open(tarball, signal);
	try {
		const say = console.log;
		const cases = await measureCases(setup, rounds, say, isQuick ? only : undefined);
		say('Memory');
		const memory = isQuick && only ? [] : await measureMemory(setup, sizes, say);
		const results = { cases, memory, rounds, setting };
		console.log(terminalReport(results));
		if (isQuick) return;
		for (const part of Object.values(PARTS)) await part.renew();
		await writeFile(RESULTS_FILE, JSON.stringify(results));
		await render();
	} finally {
		await setup.close();
	}
}

/** Writes the page and the chart. */
async function render(): Promise<void> {
	const results = JSON.parse(await readFile(RESULTS_FILE, 'utf8')) as Results;
	const docs = join(ROOT, FOLDER);
	await mkdir(docs, { recursive: true });
	await drawLimits();
	const report = markdownReport(results, [
		limitsReport(await simulateAll()),
		...Object.values(PARTS).map((part) => part.report()),
	]);
	await writePage(PAGE, report);
	await writeFile(join(docs, 'benchmark.svg'), chart(results.cases, results.memory));
	console.log(`\nWritten to ${PAGE} and ${FOLDER}/benchmark.svg`);
}

async function drawLimits(): Promise<void> {
	await writeFile(join(ROOT, FOLDER, 'limits.svg'), drawCourses(await simulateCourses()));
}

/** @returns the exit code */
async function main(): Promise<number> {
	const { values } = parseArgs({
		options: {
			quick: { type: 'boolean', default: false },
			case: { type: 'string', multiple: true },
			before: { type: 'string' },
			limits: { type: 'boolean', default: false },
			idle: { type: 'boolean', default: false },
			prompt: { type: 'boolean', default: false },
			burst: { type: 'boolean', default: false },
			hostile: { type: 'boolean', default: false },
			render: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(HELP);
		return 0;
	}
	if (values.before !== undefined) {
		const before = await simulateBefore(values.before);
		await writeFile(BEFORE_FILE, `${JSON.stringify(before, null, '\t')}\n`);
		return 0;
	}
	if (values.limits) {
		await drawLimits();
		await writeSection(PAGE, LIMITS_TITLE, limitsReport(await simulateAll()), '## Memory');
		return 0;
	}
	for (const [name, part] of Object.entries(PARTS)) {
		if (!values[name as keyof typeof PARTS]) continue;
		await part.renew();
		await writeSection(PAGE, part.heading, part.report(), '## Memory');
		return 0;
	}
	if (values.render) {
		await render();
		return 0;
	}
	const abort = new AbortController();
	for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(name, () => {
			abort.abort();
		});
	}
	try {
		await bench(values.quick, values.case, abort.signal);
		return 0;
	} catch (error) {
		if (abort.signal.aborted) return 130;
		throw error;
	}
}

void main()
	.catch((error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		return 1;
	})
	.then((code) => process.exit(code));
