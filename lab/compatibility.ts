import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import packageJson from '../package.json';
import { ROOT, STATE_FOLDER, VERSIONS } from './playground/versions';
import { markdownTable } from './table';

const SUITES = '/(examples|operations|trigger)[^/]*.e2e.ts';

/** The part of jest's report that we read. */
interface JestReport {
	success: boolean;
	testResults: Array<{ name: string; assertionResults: Array<{ status: string }> }>;
}

/** Runs end-to-end suites on one n8n after the other, and prints the table for docs/measurements/compatibility.md. */
const rows = VERSIONS.map((version) => {
	const report = join(STATE_FOLDER, `compatibility-${version}.json`);
	rmSync(report, { force: true });
	const args = ['-c', 'jest.e2e.config.js', '--json', '--outputFile', report, SUITES];
	const env = { ...process.env, N8N_VERSION: version };
	// It fails where a test fails, which the report says.
	spawnSync('jest', args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] });
	const { success, testResults } = JSON.parse(readFileSync(report, 'utf8')) as JestReport;
	if (!success) process.exitCode = 1;
	const suites = testResults.map(({ name, assertionResults: all }) => {
		const passed = all.filter(({ status }) => status === 'passed').length;
		return `${basename(name, '.e2e.ts')} ${String(passed)} of ${String(all.length)}`;
	});
	return {
		n8n: version,
		'Passed tests of each suite': suites.sort().join(', '),
		Package: packageJson.version,
		Day: new Date().toISOString().slice(0, 10),
	};
});
console.log(markdownTable(rows));
