import { readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import packageJson from '../package.json';
import { ProcessGroup } from './playground/processes';
import { ROOT, STATE_FOLDER, VERSIONS } from './playground/versions';
import { markdownTable, type Row } from './table';

const SUITES = '/(examples|operations|trigger)[^/]*.e2e.ts';

/** The part of jest's report that we read. */
interface JestReport {
	success: boolean;
	testResults: Array<{ name: string; assertionResults: Array<{ status: string }> }>;
}

async function runSuites(version: string): Promise<JestReport> {
	const report = join(STATE_FOLDER, `compatibility-${version}.json`);
	rmSync(report, { force: true });
	const args = ['jest', '-c', 'jest.e2e.config.js', '--json', '--outputFile', report, SUITES];
	// It fails where a test fails, which the report says.
	await new ProcessGroup('npx', args, {
		cwd: ROOT,
		env: { ...process.env, N8N_VERSION: version },
		stdio: ['ignore', 'ignore', 'inherit'],
	}).ended;
	return JSON.parse(readFileSync(report, 'utf8')) as JestReport;
}

/** Such as `operations 12 of 12`. */
function describeSuite({ name, assertionResults }: JestReport['testResults'][number]): string {
	const passed = assertionResults.filter(({ status }) => status === 'passed').length;
	return `${basename(name, '.e2e.ts')} ${String(passed)} of ${String(assertionResults.length)}`;
}

/** Runs end-to-end suites on one n8n after the other, and prints the table for docs/measurements/compatibility.md. */
async function main(): Promise<void> {
	const rows: Row[] = [];
	for (const version of VERSIONS) {
		const { success, testResults } = await runSuites(version);
		if (!success) process.exitCode = 1;
		rows.push({
			n8n: version,
			'Passed tests of each suite': testResults.map(describeSuite).sort().join(', '),
			Package: packageJson.version,
			Day: new Date().toISOString().slice(0, 10),
		});
	}
	console.log(markdownTable(rows));
}

void main();
