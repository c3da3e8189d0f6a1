import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resources } from '../../nodes/LeadGen/action/operations';
import { EXAMPLES } from '../../lab/playground/instance';
import type { WorkflowNode } from '../../lab/playground/api';
import { LINE, node, OWNER, quiet, until, use } from '../../lab/fixture/fixture';
import { CACHED_EDITOR, Editor } from './browser';
import { serve, useN8n } from './n8n';

/* What a person sees and clicks in the editor, in a real browser. */

let editor: Editor;
// Before n8n ends.
afterAll(async () => {
	await editor.close();
});
const fixture = useN8n(CACHED_EDITOR);
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
	await editor.openNode(workflow.id, String(workflow.nodes.at(-1)?.id));
}

const ACTIONS = resources.flatMap(({ operations }) => operations.map(({ action }) => action));

it('shows the icons in light and dark', async () => {
	const { id } = await fixture.create(fixture.trigger(), fixture.leadGen());
	await editor.openWorkflow(id);
	for (const [colorScheme, file] of [
		['dark', 'leadgen.dark.svg'],
		['light', 'leadgen.svg'],
	] as const) {
		await editor.page.emulateMedia({ colorScheme });
		await until(`both nodes show ${file}`, async () => {
			const icons = await editor.icons();
			return icons.length === 2 && icons.every((icon) => icon === `${file} 60x60`);
		});
	}
});

/** Each page takes seconds to load, so the tests go on where the one before has ended. */
describe('the node creator on an empty canvas', () => {
	beforeAll(async () => {
		await editor.openCreator();
	});

	it('finds the node by what it does', async () => {
		const names = ['verify email', 'find email', 'verifier', 'b2b', 'linkedin', 'hunter', 'apollo'];
		for (const query of names) {
			await editor.search('no such node');
			await editor.entry('LeadGen').waitFor({ state: 'detached' });
			await editor.search(query);
			await editor.entry('LeadGen').waitFor();
		}
	});

	it('finds the node by its name, with all triggers and actions', async () => {
		await editor.search('leadgen');
		await editor.entry('LeadGen').click();
		const categories = editor.page.getByTestId('node-creator-category-item');
		await categories.filter({ hasText: 'Actions' }).click();
		await editor.entry('Wait for scrape').waitFor();
		expect(await editor.entries.allInnerTexts()).toEqual([
			'On scrape completed',
			'On scrape failed',
			...ACTIONS,
		]);
	});

	it('adds an action, with its operation and the credential chosen', async () => {
		await editor.entry('Verify email address').click();
		await editor.untilNodeIsOpen();
		const fields = ['Resource', 'Operation', 'Email', 'Options'];
		expect(await editor.labels()).toEqual([editor.words.credential, ...fields]);
		const chosen = editor.page.getByTestId('node-credentials-select').locator('input');
		expect(await chosen.inputValue()).toBe('Sandbox');
		expect(await editor.page.locator('.vue-flow__node').count()).toBe(2);
	});
});

describe('the credential', () => {
	it('is filled in, refused with a wrong key, and accepted with the right one', async () => {
		const { page } = editor;
		const save = async () => {
			await page.getByTestId('credential-save-button').click();
		};
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
			'Base URL',
			'API Key',
			'Plan',
			'Allowed HTTP Request Domains',
		]);

		const says = async (words: string) => {
			const details = form.getByText('More details');
			await until(words, async () => {
				if (await details.isVisible()) await details.click();
				return (await form.innerText()).includes(words);
			});
		};
		await editor.fill('baseUrl', fixture.sandbox.url.replace('http://', ''));
		await editor.fill('apiKey', 'test-key');
		await save();
		await says('Base URL in the LeadGen credential must begin with https://');

		await editor.fill('baseUrl', fixture.sandbox.url);
		const key = editor.parameter('apiKey').locator('input');
		expect(await key.getAttribute('type')).toBe('password');
		await editor.fill('apiKey', 'wrong-key');
		await save();
		await says(editor.words.wrongKey);

		await editor.fill('apiKey', 'test-key');
		await save();
		await page.getByTestId('credentials-config-container-test-success').waitFor();
		const sent = fixture.sandbox.requests.map(
			({ path, headers }) => `${path} ${String(headers.authorization)}`,
		);
		// n8n 2 may test twice.
		expect([...new Set(sent)]).toEqual(['/credits Bearer wrong-key', '/credits Bearer test-key']);

		await editor.choose(editor.parameter('plan'), 'Enterprise (Custom Limit)');
		await editor.parameter('requestsPerMinute').waitFor();
		await editor.choose(editor.parameter('plan'), 'Pro (300 Requests per Minute)');
		await editor.parameter('requestsPerMinute').waitFor({ state: 'hidden' });
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
		await editor.picture('workflow', { x: 140, y: 205, width: 1204, height: 535 });
		await open('Find and verify email');
		await editor.table();
		await editor.picture('node-panel', page.getByTestId('ndv'));
		await closeNode();
		await open('Row for the CRM');
		expect(await editor.table()).toEqual([
			['name', 'email', 'status', 'kind', 'confidence', 'company'],
			['Ada Okafor', 'ada.okafor@acme.example', 'valid', 'business', '0.97', 'acme.example'],
			['Nora Haddad', 'nhaddad@umbrella.example', 'valid', 'business', '0.81', 'umbrella.example'],
			[
				'Kenji Tanaka',
				'ktanaka@initech.example',
				'catch_all',
				'business',
				'0.72',
				'initech.example',
			],
			['Anna Novak', 'anna.novak@icloud.com', 'valid', 'personal', '0.95', 'initech.example'],
		]);
		const operations = ['findBusinessEmail', 'findPersonalEmail', 'verifyEmail'] as const;
		expect(operations.map((name) => fixture.count(name))).toEqual([5, 2, 5]);
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
		const workflow = await fixture.workflow();
		await editor.openWorkflow(workflow.id);
		await editor.activate();
		const said = editor.page.getByTestId('activation-modal');
		await said.waitFor();
		expect(await said.innerText()).toContain(
			'The workflow now runs whenever a scrape finishes. If the node starts scrapes itself, it starts the first one now.',
		);
		const runs = async () => (await fixture.delivered(workflow.id)).length;
		await until('the run', async () => (await runs()) === 1);
		await quiet();
		expect(await runs()).toBe(1);
		expect(fixture.starts).toBe(1);
	});

	it('that cannot activate it says why in plain words', async () => {
		const credentials = use(await fixture.newCredential('Wrong key', 'wrong-key'));
		const workflow = await fixture.create(fixture.trigger({}, { credentials }));
		await editor.openWorkflow(workflow.id);
		await editor.activate();
		const { refused } = editor.words;
		expect(await editor.message(refused)).toBe(
			`${refused} The service says: Invalid or missing API key (UNAUTHORIZED). Check the API key in the LeadGen credential.`,
		);
		expect(fixture.starts).toBe(0);
	});
});
