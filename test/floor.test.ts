import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';

const CONFIG = join(__dirname, '../tsconfig.floor.json');
const folder = mkdtempSync(join(tmpdir(), 'leadgen-floor-'));
afterAll(() => {
	rmSync(folder, { recursive: true });
});

it('The type check fails on what the oldest supported n8n lacks, and on nothing else', () => {
	const file = join(folder, 'node.ts');
	const lines = [
		"import { ManualExecutionCancelledError } from 'n8n-workflow';",
		"import type { ITriggerFunctions } from 'n8n-workflow';",
		'export function trigger(context: ITriggerFunctions): unknown {',
		"	context.emit([[{ json: {} }]], undefined, undefined, 'key');",
		'	context.emit([[{ json: {} }]], undefined, undefined);',
		'	context.getWorkflow();',
		'	context.getWorkflowSettings();',
		"	throw new ManualExecutionCancelledError('1');",
		'}',
	];
	writeFileSync(file, lines.join('\n'));
	const read = ts.readConfigFile(CONFIG, (name) => ts.sys.readFile(name));
	const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, join(CONFIG, '..'));
	const problems = ts.getPreEmitDiagnostics(ts.createProgram([file], options));
	expect(problems.map(({ messageText }) => messageText)).toEqual([
		'Expected 1-3 arguments, but got 4.',
		expect.stringContaining("'getWorkflowSettings' does not"),
	]);
});
