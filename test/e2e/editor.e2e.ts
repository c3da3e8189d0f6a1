import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resources } from '../../nodes/LeadGen/action/operations';
import { EXAMPLES } from '../../lab/playground/instance';
import type { WorkflowNode } from '../../lab/playground/api';
import { node, until } from '../../lab/fixture/fixture';
import { Editor, WORDS } from './browser';
import { serve, useN8n } from './n8n';

/* What a person sees and clicks in the editor, in a real browser. */

let editor: Editor;
// Before n8n ends.
afterAll(async () => {
	await editor.close();
});
// The fixture runs without the editor.
const fixture = useN8n({ N8N_DISABLE_UI: 'false' });
beforeAll(async () => {
	editor = await Editor.open(fixture.url);
});
beforeEach(async () => {
	await fixture.reset();
});
afterEach(() => {
	expect(editor.problems.splice(0)).toEqual([]);
});

/** Opens the panel of the last node of a new workflow. */
async function openLast(...nodes: [WorkflowNode, ...WorkflowNode[]]): Promise<void> {
	const workflow = await fixture.create(...nodes);
	await editor.page.goto(`/workflow/${workflow.id}/${String(workflow.nodes.at(-1)?.id)}`);
}

it('the node creator finds the node by what it does, shows its actions, and adds one with the credential chosen', async () => {
	const { page } = editor;
	await page.goto('/workflow/new');
	await page.getByTestId('canvas-plus-button').click();
	const search = page.getByTestId('node-creator-search-bar');
	for (const query of [
		'verify email',
		'find email',
		'verifier',
		'b2b',
		'bounce',
		'deliverability',
	]) {
		await search.fill('no such node');
		await editor.entry('LeadGen').waitFor({ state: 'detached' });
		await search.fill(query);
		await editor.entry('LeadGen').waitFor();
	}
	await editor.entry('LeadGen').click();
	const categories = page.getByTestId('node-creator-category-item');
	await categories.filter({ hasText: 'Actions' }).click();
	await editor.entry('Wait for scrape').waitFor();
	expect(await editor.entry().allInnerTexts()).toEqual([
		...['On scrape completed', 'On scrape failed'],
		...resources.flatMap(({ operations }) => operations.map(({ action }) => action)),
	]);

	await editor.entry('Verify email address').click();
	await editor.untilNodeIsOpen();
	const chosen = page.getByTestId('node-credentials-select').locator('input');
	expect(await chosen.inputValue()).toBe('Sandbox');
	expect(await page.locator('.vue-flow__node').count()).toBe(2);
});

describe('the credential', () => {
	it('is filled in, refused with a wrong key, and accepted with the right one', async () => {
		const { page } = editor;
		await page.goto('/home/credentials');
		await page.getByTestId('add-resource-credential').click();
		await page.getByTestId('new-credential-type-select').locator('input').fill('leadgen');
		await page.getByTestId('new-credential-type-select-option').getByText('LeadGen API').click();
		await page.getByTestId('new-credential-type-button').click();
		const form = page.getByTestId('editCredential-modal');
		await editor.field('plan').waitFor();
		const save = page.getByTestId('credential-save-button');
		expect(await editor.field('apiKey').getAttribute('type')).toBe('password');
		await editor.fill('baseUrl', fixture.sandbox.url);
		await editor.fill('apiKey', 'wrong-key');
		await save.click();
		await form.getByText('More details').click();
		await form.getByText('The service does not accept this API key').waitFor();

		await editor.fill('apiKey', 'test-key');
		await save.click();
		await page.getByTestId('credentials-config-container-test-success').waitFor();
	});

	it('is offered by the HTTP Request node, which calls the service with it', async () => {
		const { page } = editor;
		const url = `${fixture.sandbox.url}/credits`;
		const parameters = { url, authentication: 'predefinedCredentialType' };
		await openLast(node('Other', 'n8n-nodes-base.httpRequest', { typeVersion: 4.2, parameters }));
		await page.getByTestId('credential-select').click();
		await page.keyboard.type('leadgen');
		await page.getByRole('option', { name: 'LeadGen API' }).click();
		await page.getByTestId('node-credentials-select').waitFor();
		await page.getByTestId('node-execute-button').click();
		await page.getByTestId('output-panel').getByText('resetDate').waitFor();
	});

	/** "First verified row" of the README. The template finds the credential of the test before by its name. */
	it('leads to verified emails with a template that is imported by its URL', async () => {
		const { page } = editor;
		const nodeOf = (name: string) =>
			page.locator('.vue-flow__node').filter({ hasText: name }).last();
		const closeNode = async () => {
			await page.getByTestId(WORDS.closeNode).click();
		};
		// In place of GitHub.
		const url = await serve((_request, response) => {
			response.setHeader('content-type', 'text/plain; charset=utf-8');
			response.end(readFileSync(join(EXAMPLES, 'find-and-verify.json')));
		});
		await page.goto('/workflow/new');
		await page.getByTestId('workflow-menu').click();
		const submenu = page.getByRole('menuitem', { name: 'Import', exact: true });
		const fromUrl = page.getByRole('menuitem', { name: /from url/i });
		await submenu.or(fromUrl).first().hover();
		await fromUrl.click();
		const box = page.getByTestId('workflow-url-import-input');
		const input = page.locator('input');
		// n8n 2 marks the input itself.
		await box.and(input).or(box.locator(input)).fill(`${url}/find-and-verify.json`);
		await page.getByTestId('confirm-workflow-import-url-button').click();

		await nodeOf('Find and verify email').dblclick();
		const credential = page.getByTestId('node-credentials-select').locator('input');
		await until('it', async () => (await credential.inputValue()) === 'LeadGen account');
		await closeNode();
		await page.getByTestId('execute-workflow-button').click();
		await nodeOf('Row for the CRM').getByTestId('canvas-node-status-success').waitFor();
		await editor.picture('workflow', await editor.canvas());
		await nodeOf('Find and verify email').dblclick();
		await editor.table();
		await editor.picture('node-panel', await page.getByTestId('ndv').boundingBox());
		await closeNode();
		await nodeOf('Row for the CRM').dblclick();
		expect(await editor.table()).toEqual([
			'name | email | status | kind | confidence | company',
			'Ada Okafor | ada.okafor@acme.example | valid | business | 0.97 | acme.example',
			'Nora Haddad | nora.haddad@umbrella.example | valid | business | 0.8 | umbrella.example',
			'Kenji Tanaka | kenji.tanaka@initech.example | catch_all | business | 0.97 | initech.example',
			'Anna Novak | anna.novak@gmail.com | valid | personal | 0.95 | initech.example',
		]);
		const panel = await page.getByTestId('output-panel').boundingBox();
		await editor.picture('output-table', panel && { ...panel, height: 300 });
	});
});

it('the panel of the next node offers the fields of a result before the first run', async () => {
	const verify = { resource: 'email', operation: 'verify', email: 'ada@acme.example' };
	const next = node('Next', 'n8n-nodes-base.set', { typeVersion: 3.4 });
	await openLast(fixture.leadGen(verify), next);
	const input = editor.page.getByTestId('ndv-input-panel');
	for (const label of ['email', 'status', 'deliverable', 'disposable', 'freeProvider'])
		await input.getByText(label, { exact: true }).waitFor();
});

describe('a click', () => {
	it('on "Execute step" of the trigger starts a small scrape, and shows its completion', async () => {
		const { page } = editor;
		fixture.sandbox.set({ job: { durationMs: 3000 } });
		await openLast(fixture.trigger({ limit: 100 }));
		await editor.untilNodeIsOpen();
		await editor.picture('trigger', await page.getByTestId('ndv').boundingBox());
		await page.getByTestId('trigger-execute-button').click();
		await page.getByTestId('trigger-listening').waitFor();
		const [head, row, ...more] = await editor.table();
		const counts = 'scrapeId | status | progress | leadsFound | creditsUsed';
		expect(head).toBe(`${counts} | createdAt | completedAt | notification`);
		expect(row).toContain(`${String(fixture.sandbox.jobs[0]?.scrapeId)} | completed | 100 | 5 | 5`);
		expect(more).toEqual([]);
	});

	it('activates the workflow, which says what happens and starts one scrape', async () => {
		const { page } = editor;
		const { id } = await fixture.workflow();
		await page.goto(`/workflow/${id}`);
		await page.locator('.vue-flow__node').first().waitFor();
		// n8n 2 calls it publishing.
		for (const button of WORDS.switchOn) await page.getByTestId(button).click();
		const said = page.getByTestId('activation-modal');
		await said.waitFor();
		expect(await said.innerText()).toContain(
			'The workflow now runs whenever a scrape finishes. If "How Often" is Once, the node starts a scrape now.',
		);
		await fixture.untilRuns(id, 1);
		expect(fixture.starts).toBe(1);
	});
});
