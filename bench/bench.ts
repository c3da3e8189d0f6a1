import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { ROOT, STATE_FOLDER, installN8n, packPackage } from '../playground/n8n';
import { measureCases, measureMemory } from './cases';
import { chart } from './chart';
import { type Results, describeSetting, markdownReport, terminalReport } from './report';
import { Stand } from './stand';

const HELP = `Measures the LeadGen node beside n8n's HTTP Request node, in a real n8n 2.x against the sandbox.

  npm run bench [-- --quick | --render]

  --quick   one round and 10,000 items at most; prints the tables, and leaves docs/ as it is
  --render  measures nothing, and writes docs/ again from the last full run
  --help    this text`;

/** Of the last full run. */
const RESULTS_FILE = join(STATE_FOLDER, 'benchmark.json');

async function bench(isQuick: boolean, signal: AbortSignal): Promise<void> {
	const setting = describeSetting();
	await installN8n('2', signal);
	const tarball = process.env.PACKAGE_TARBALL ?? (await packPackage(signal));
	const rounds = isQuick ? 1 : 3;
	const sizes = isQuick ? [10_000] : [10_000, 50_000];

	const stand = await Stand.open(tarball, signal);
	try {
		const say = console.log;
		const cases = await measureCases(stand, rounds, say);
		say('Memory');
		const memory = await measureMemory(stand, sizes, say);
		const results = { cases, memory, rounds, setting };
		console.log(terminalReport(results));
		if (isQuick) return;
		await writeFile(RESULTS_FILE, JSON.stringify(results));
		await render();
	} finally {
		await stand.close();
	}
}

/** Writes the page and the chart. */
async function render(): Promise<void> {
	const results = JSON.parse(await readFile(RESULTS_FILE, 'utf8')) as Results;
	const docs = join(ROOT, 'docs');
	await mkdir(docs, { recursive: true });
	const page = join(docs, 'benchmark.md');
	const style = await resolveConfig(page);
	await writeFile(page, await format(markdownReport(results), { ...style, filepath: page }));
	await writeFile(join(docs, 'benchmark.svg'), chart(results.cases, results.memory));
	console.log('\nWritten to docs/benchmark.md and docs/benchmark.svg');
}

/** @returns the exit code */
async function main(): Promise<number> {
	const { values } = parseArgs({
		options: {
			quick: { type: 'boolean', default: false },
			render: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(HELP);
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
		await bench(values.quick, abort.signal);
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
