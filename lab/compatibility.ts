import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../package.json';
import { writePage } from './playground/page';
import { ProcessGroup } from './playground/processes';
import { ROOT, VERSIONS, findN8n } from './playground/versions';

const HELP = `Runs end-to-end suites on one n8n after the other, and writes docs/measurements/compatibility.md.

  npm run compatibility -- [--n8n 1.100.1,2.0.3] [suite …]

  --n8n   the versions (default: ${VERSIONS.join(', ')}); the rows of the others stay as they are
  --help  this text

The suites are the files in test/e2e whose names begin so (default: examples, operations, trigger).`;

const PAGE = 'docs/measurements/compatibility.md';

/** The part of jest's report that we read. */
interface JestReport {
	testResults: Array<{ name: string; assertionResults: Array<{ status: string }> }>;
}

/** Runs suites on a version. @returns how many tests of each there are, and how many passed */
async function runSuites(
	version: string,
	suites: string[],
): Promise<Array<{ suite: string; tests: number; passed: number }>> {
	const folder = await mkdtemp(join(tmpdir(), 'leadgen-compatibility-'));
	const outputFile = join(folder, 'report.json');
	try {
		const files = suites.map((suite) => `/${suite}[^/]*.e2e.ts`);
		const args = ['jest', '-c', 'jest.e2e.config.js', '--json', '--outputFile', outputFile];
		// It fails where a test fails, which the report says.
		await new ProcessGroup('npx', [...args, ...files], {
			cwd: ROOT,
			env: { ...process.env, N8N_VERSION: version },
			stdio: ['ignore', 'ignore', 'inherit'],
		}).ended;
		const { testResults } = JSON.parse(await readFile(outputFile, 'utf8')) as JestReport;
		return testResults
			.map(({ name, assertionResults }) => ({
				suite: basename(name, '.e2e.ts'),
				tests: assertionResults.length,
				passed: assertionResults.filter(({ status }) => status === 'passed').length,
			}))
			.sort((a, b) => a.suite.localeCompare(b.suite));
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** The rows that the page has, by version. */
async function readRows(): Promise<Map<string, string>> {
	const page = await readFile(join(ROOT, PAGE), 'utf8').catch(() => '');
	const rows = page.matchAll(/^\| (\d+\.\d+\.\d+) .*$/gm);
	return new Map([...rows].map(([row, version = '']) => [version, row]));
}

async function writeRows(rows: Map<string, string>): Promise<void> {
	const sorted = VERSIONS.flatMap((version) => rows.get(version) ?? []);
	const text = `# Compatibility

Which end-to-end tests passed on which n8n, with the packed package and the [sandbox](../../lab/sandbox/README.md) of the service.
\`npm run compatibility\` runs the tests and writes this table. The suites are files in [test/e2e](../../test/e2e). They run on
SQLite, in one process.

| n8n | Passed tests of each suite | Package | Day |
| --- | --- | --- | --- |
${sorted.join('\n')}
`;
	await writePage(PAGE, text);
}

/** @returns the exit code */
async function main(): Promise<number> {
	const { values, positionals } = parseArgs({
		options: {
			n8n: { type: 'string', default: VERSIONS.join(',') },
			help: { type: 'boolean', default: false },
		},
		allowPositionals: true,
	});
	if (values.help) {
		console.log(HELP);
		return 0;
	}
	const suites = positionals.length > 0 ? positionals : ['examples', 'operations', 'trigger'];
	let failed = 0;
	for (const { version } of values.n8n.split(',').map(findN8n)) {
		const results = await runSuites(version, suites);
		const cells = results.map(({ suite, tests, passed }) => {
			failed += tests - passed;
			return `${suite} ${passed < tests ? `**${String(passed)} of ${String(tests)}**` : String(tests)}`;
		});
		const day = new Date().toISOString().slice(0, 10);
		const row = ['', version, cells.join(', '), packageJson.version, day, ''].join(' | ').trim();
		console.log(row);
		await writeRows((await readRows()).set(version, row));
	}
	return failed === 0 ? 0 : 1;
}

main().then(
	(code) => {
		process.exitCode = code;
	},
	(error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		process.exitCode = 1;
	},
);
