import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resources } from '../../nodes/LeadGen/action/operations';
import { EXAMPLES } from '../../lab/playground/instance';
import type { WorkflowNode } from '../../lab/playground/api';
import { LINE, node, OWNER, quiet, until } from '../../lab/fixture/fixture';
import { WITH_EDITOR, Editor } from './browser';
import { serve, useN8n } from './n8n';

/* What a person sees and clicks in the editor, in a real browser. */

let editor: Editor;
// Before n8n ends.
afterAll(async () => {
	await editor.close();
});
const fixture = useN8n(WITH_EDITOR);
beforeAll(async () => {
	editor = await Editor.open(fixture.url, OWNER, LINE);
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
	await editor.goto(`/workflow/${workflow.id}/${String(workflow.nodes.at(-1)?.id)}`);
	await editor.untilNodeIsOpen();
}

it('the node creator finds the node by what it does, shows its actions, and adds one with the credential chosen', async () => {
	const { page } = editor;
	await editor.goto('/workflow/new');
	await page.getByTestId('canvas-plus-button').click();
	const search = page.getByTestId('node-creator-search-bar');
	for (const query of [
		'verify email',
		'find email',
		'verifier',
		'b2b',
		'bounce',
		'deliverability',
		'leadgen',
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
	const fields = ['Resource', 'Operation', 'Email', 'Options'];
	expect(await editor.labels()).toEqual([editor.words.credential, ...fields]);
	const chosen = page.getByTestId('node-credentials-select').locator('input');
	expect(await chosen.inputValue()).toBe('Sandbox');
	expect(await page.locator('.vue-flow__node').count()).toBe(2);
});

describe('the credential', () => {
	it('is filled in, refused with a wrong key, and accepted with the right one', async () => {
		const { page } = editor;
		await editor.goto('/home/credentials');
		await page.getByTestId('add-resource-credential').click();
		await page.getByTestId('new-credential-type-select').locator('input').fill('leadgen');
		await page.getByTestId('new-credential-type-select-option').getByText('LeadGen API').click();
		await page.getByTestId('new-credential-type-button').click();
		const form = page.getByTestId('editCredential-modal');
		await editor.parameter('plan').waitFor();
		const labels = await form.locator('label.n8n-input-label:visible').allInnerTexts();
		// The last one is n8n's own.
		expect(labels.map((label) => label.split(/[*\n]/)[0]?.trim())).toEqual([
			...['Base URL', 'API Key', 'Plan', 'Allowed HTTP Request Domains'],
		]);

		const saveAndRead = async (words: string) => {
			await page.getByTestId('credential-save-button').click();
			const details = form.getByText('More details');
			await until(words, async () => {
				if (await details.isVisible()) await details.click();
				return (await form.innerText()).includes(words);
			});
		};
		await editor.fill('baseUrl', fixture.sandbox.url.replace('http://', ''));
		await editor.fill('apiKey', 'test-key');
		await saveAndRead('Base URL in the LeadGen credential must begin with https://');

		await editor.fill('baseUrl', 'http://localhost:1');
		await saveAndRead('If n8n runs in Docker, localhost is its container');

		await editor.fill('baseUrl', fixture.sandbox.url);
		const key = editor.parameter('apiKey').locator('input');
		expect(await key.getAttribute('type')).toBe('password');
		await editor.fill('apiKey', 'wrong-key');
		await saveAndRead('The service does not accept this API key');

		await editor.fill('apiKey', 'test-key');
		await page.getByTestId('credential-save-button').click();
		await page.getByTestId('credentials-config-container-test-success').waitFor();
		const sent = fixture.sandbox.requests.map(
			({ path, headers }) => `${path} ${String(headers.authorization)}`,
		);
		// n8n 2 may test twice.
		expect([...new Set(sent)]).toEqual(['/credits Bearer wrong-key', '/credits Bearer test-key']);
	});

	it('is offered by the HTTP Request node, which calls the service with it', async () => {
		const { page } = editor;
		const http = node('Other call', 'n8n-nodes-base.httpRequest', {
			typeVersion: 4.2,
			parameters: {
				url: `${fixture.sandbox.url}/credits`,
				authentication: 'predefinedCredentialType',
			},
		});
		const workflow = await fixture.create(http);
		await editor.goto(`/workflow/${workflow.id}/${String(workflow.nodes.at(-1)?.id)}`);
		await page.getByTestId('credential-select').click();
		await page.keyboard.type('leadgen');
		await page.getByRole('option', { name: 'LeadGen API' }).click();
		await page.getByTestId('node-credentials-select').waitFor();
		await page.getByTestId('node-execute-button').click();
		await page.getByTestId('output-panel').getByText('resetDate').waitFor();
		const [{ path, headers } = {}] = fixture.sandbox.requests;
		expect([path, headers?.authorization]).toEqual(['/credits', 'Bearer test-key']);
	});

	it('brings Custom API Call into the node, where n8n says what to use instead', async () => {
		const custom = fixture.leadGen({ resource: '__CUSTOM_API_CALL__' });
		const workflow = await fixture.create(custom);
		await editor.goto(`/workflow/${workflow.id}/${String(workflow.nodes.at(-1)?.id)}`);
		const said = 'Use the HTTP Request node to make a custom API call.';
		await editor.page.getByText(said).waitFor();
		const { error } = await fixture.api.runWorkflow(workflow.id, workflow.nodes[0]?.name ?? '');
		expect(error).toBe('This node makes no custom API calls');
	});

	/** "First verified row" of the README. The template finds the credential of the test before by its name. */
	it('leads to verified emails with a template that is imported by its URL', async () => {
		const { page } = editor;
		const nodeOf = (name: string) =>
			page.locator('.vue-flow__node').filter({ hasText: name }).last();
		const open = async (name: string) => {
			await nodeOf(name).dblclick();
		};
		const closeNode = async () => {
			await page.getByTestId(editor.words.closeNode).click();
		};
		// In place of GitHub.
		const url = await serve((_request, response) => {
			response.setHeader('content-type', 'text/plain; charset=utf-8');
			response.end(readFileSync(join(EXAMPLES, 'find-and-verify.json')));
		});
		await editor.importFrom(`${url}/find-and-verify.json`);

		await open('Find and verify email');
		const credential = page.getByTestId('node-credentials-select').locator('input');
		await until('it', async () => (await credential.inputValue()) === 'LeadGen account');
		await closeNode();
		await page.getByTestId('execute-workflow-button').click();
		await nodeOf('Row for the CRM').getByTestId('canvas-node-status-success').waitFor();
		await editor.picture('workflow');
		await open('Find and verify email');
		await editor.table();
		await editor.picture('node-panel', page.getByTestId('ndv'));
		await closeNode();
		await open('Row for the CRM');
		const table = (await editor.table()).map((row) => row.join(' | '));
		expect(table).toEqual([
			'name | email | status | kind | confidence | company',
			'Ada Okafor | ada.okafor@acme.example | valid | business | 0.97 | acme.example',
			'Nora Haddad | nora.haddad@umbrella.example | valid | business | 0.8 | umbrella.example',
			'Kenji Tanaka | kenji.tanaka@initech.example | catch_all | business | 0.97 | initech.example',
			'Anna Novak | anna.novak@gmail.com | valid | personal | 0.95 | initech.example',
		]);
		const operations = ['findBusinessEmail', 'findPersonalEmail', 'verifyEmail'] as const;
		expect(operations.map((name) => fixture.count(name))).toEqual([5, 2, 4]);
		const panel = await page.getByTestId('output-panel').boundingBox();
		if (panel) await editor.picture('output-table', { ...panel, height: 300 });
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
		fixture.sandbox.set({ job: { durationMs: 3000 } });
		await openLast(fixture.trigger({ limit: 100 }));
		await editor.picture('trigger', editor.page.getByTestId('ndv'));
		await editor.page.getByTestId('trigger-execute-button').click();
		await editor.page.getByTestId('trigger-listening').waitFor();
		const [head, row, ...more] = await editor.table();
		const counts = ['scrapeId', 'status', 'progress', 'leadsFound', 'creditsUsed'];
		expect(head).toEqual([...counts, 'createdAt', 'completedAt', 'notification']);
		const [job] = fixture.sandbox.jobs;
		expect(row?.slice(0, 5)).toEqual([job?.scrapeId, 'completed', '100', '5', '5']);
		expect(more).toEqual([]);
		expect(fixture.starts).toBe(1);
		expect(job?.filters).toEqual({ jobTitles: ['CTO'], limit: 5 });
	});

	it('activates the workflow, which says what happens and starts one scrape', async () => {
		const { id } = await fixture.workflow();
		await editor.openWorkflow(id);
		await editor.activate();
		const said = editor.page.getByTestId('activation-modal');
		await said.waitFor();
		expect(await said.innerText()).toContain(
			'The workflow now runs whenever a scrape finishes. If "How Often" is Once, the node starts a scrape now.',
		);
		await fixture.untilRuns(id, 1);
		await quiet();
		expect(await fixture.delivered(id)).toHaveLength(1);
		expect(fixture.starts).toBe(1);
	});
});
