import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { CACHED_EDITOR, Editor } from './browser';
import { LINE, OWNER, until } from '../../lab/fixture/fixture';
import { useN8n } from './n8n';

const EXAMPLE = join(__dirname, '../../examples/find-and-verify.json');

/** In place of GitHub. */
const host = createServer((_request, response) => {
	void readFile(EXAMPLE).then((text) => {
		response.setHeader('content-type', 'text/plain; charset=utf-8');
		response.end(text);
	});
});
let editor: Editor;
// Before n8n ends.
afterAll(async () => {
	host.close();
	await editor.close();
});

/** "First verified row" of the README, by clicks only, in an n8n with nothing in it. */
const fixture = useN8n(CACHED_EDITOR);
beforeAll(async () => {
	await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
	editor = await Editor.open(fixture.url, OWNER, LINE);
	await fixture.api.deleteCredential(fixture.credential.id);
});

it('leads from an empty n8n to verified emails', async () => {
	const { page } = editor;
	const began = Date.now();
	const node = (name: string) => page.locator('.vue-flow__node').filter({ hasText: name }).last();
	const closeNode = async () => {
		const button = LINE === '2' ? 'ndv-close-button' : 'back-to-canvas';
		await page.getByTestId(button).click();
	};

	// 1. Add your account.
	await editor.goto('/home/credentials');
	await page.getByTestId('add-resource-credential').click();
	await page.getByTestId('new-credential-type-select').locator('input').fill('leadgen');
	await page.getByTestId('new-credential-type-select-option').getByText('LeadGen API').click();
	await page.getByTestId('new-credential-type-button').click();
	await editor.fill('baseUrl', fixture.sandbox.url);
	await editor.fill('apiKey', 'test-key');
	await page.getByTestId('credential-save-button').click();
	await page.getByTestId('credentials-config-container-test-success').waitFor();

	// 2. Import the template.
	await editor.goto('/workflow/new');
	await page.getByTestId('workflow-menu').click();
	if (LINE === '2') await page.getByRole('menuitem', { name: 'Import' }).hover();
	await page.getByRole('menuitem', { name: /from url/i }).click();
	const { port } = host.address() as AddressInfo;
	const box = page.getByTestId('workflow-url-import-input');
	const input = page.locator('input');
	// n8n 2 marks the input itself.
	await box
		.and(input)
		.or(box.locator(input))
		.fill(`http://127.0.0.1:${String(port)}/find-and-verify.json`);
	await page.getByTestId('confirm-workflow-import-url-button').click();

	// The template finds the credential by its name.
	await node('Find and verify email').dblclick();
	const credential = page.getByTestId('node-credentials-select').locator('input');
	await until('the credential', async () => (await credential.inputValue()) === 'LeadGen account');
	await closeNode();

	// 4. Execute the workflow.
	await page.getByTestId('execute-workflow-button').click();
	await node('Row for the CRM').getByTestId('canvas-node-status-success').waitFor();
	await editor.picture('workflow', { x: 140, y: 205, width: 1204, height: 535 });
	await node('Find and verify email').dblclick();
	await editor.table();
	await editor.picture('node-panel', page.getByTestId('ndv'));
	await closeNode();
	await node('Row for the CRM').dblclick();
	expect(await editor.table()).toEqual([
		['name', 'email', 'status', 'kind', 'confidence', 'company'],
		['Ada Okafor', 'ada.okafor@acme.example', 'valid', 'business', '0.97', 'acme.example'],
		['Nora Haddad', 'nhaddad@umbrella.example', 'valid', 'business', '0.81', 'umbrella.example'],
		['Kenji Tanaka', 'ktanaka@initech.example', 'catch_all', 'business', '0.72', 'initech.example'],
		['Anna Novak', 'anna.novak@icloud.com', 'valid', 'personal', '0.95', 'initech.example'],
	]);
	const panel = await page.getByTestId('output-panel').boundingBox();
	if (panel) await editor.picture('output-table', { ...panel, height: 300 });
	const seconds = Math.round((Date.now() - began) / 1000);
	process.stdout.write(`n8n ${LINE}: from the first click to the table in ${String(seconds)} s\n`);
});
