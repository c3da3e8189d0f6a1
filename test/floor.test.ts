import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';

const CONFIG = join(__dirname, '../tsconfig.floor.json');
const folder = mkdtempSync(join(tmpdir(), 'leadgen-floor-'));
afterAll(() => {
	rmSync(folder, { recursive: true });
});

/** What the type check against the oldest supported n8n says of a source, by line. */
function check(lines: string[]): Array<{ line: number; message: string }> {
	const file = join(folder, 'node.ts');
	writeFileSync(file, lines.join('\n'));
	const read = ts.readConfigFile(CONFIG, (name) => ts.sys.readFile(name));
	const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, join(CONFIG, '..'));
	const program = ts.createProgram([file], options);
	return ts.getPreEmitDiagnostics(program).map(({ start = 0, messageText }) => ({
		line: program.getSourceFile(file)?.getLineAndCharacterOfPosition(start).line ?? -1,
		message: ts.flattenDiagnosticMessageText(messageText, '\n'),
	}));
}

it('fails on what the oldest supported n8n lacks, and on nothing else', () => {
	const found = check([
		"import { ExecutionCancelledError, ManualExecutionCancelledError } from 'n8n-workflow';",
		"import type { INodeProperties, ITriggerFunctions } from 'n8n-workflow';",
		"export const property: INodeProperties = { displayName: 'A', name: 'a', type: 'options', default: '',",
		'	allowArbitraryValues: true };',
		'export function trigger(context: ITriggerFunctions): unknown {',
		"	context.emit([[{ json: {} }]], undefined, undefined, 'key');",
		'	context.emit([[{ json: {} }]], undefined, undefined);',
		'	context.getWorkflow();',
		'	context.getWorkflowSettings();',
		"	throw new ExecutionCancelledError('1');",
		'	throw new ManualExecutionCancelledError();',
		'}',
	]);
	expect(found).toEqual([
		{ line: 0, message: expect.stringContaining("no exported member named 'Manual") as string },
		{
			line: 3,
			message: expect.stringContaining("'allowArbitraryValues' does not exist") as string,
		},
		{ line: 5, message: 'Expected 1-3 arguments, but got 4.' },
		{ line: 8, message: expect.stringContaining("'getWorkflowSettings' does not") as string },
	]);
});
