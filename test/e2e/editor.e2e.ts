import { NodeHelpers } from 'n8n-workflow';
import { resources } from '../../nodes/LeadGen/action/operations';
import { buildProperties } from '../../nodes/LeadGen/action/properties';
import { listAsInstalled } from '../../lab/playground/instance';
import type { StoredWorkflow, WorkflowNode } from '../../lab/playground/api';
import { Editor } from './browser';
import {
	Fixture,
	LINE,
	node,
	OWNER,
	quiet,
	until,
	use,
	WITH_EDITOR,
} from '../../lab/fixture/fixture';

/** What a person sees and clicks in the editor, in a real browser. */
class EditorFixture extends Fixture {
	/** As n8n lists a package that was installed from the editor. */
	async listAsInstalled(): Promise<void> {
		await listAsInstalled(this.api, this.folder);
	}
}

const fixture = new EditorFixture(WITH_EDITOR);
let editor: Editor;
beforeAll(async () => {
	await fixture.open();
	editor = await Editor.open(fixture.url, OWNER, LINE);
});
// One each, so that a browser that does not start leaves no n8n behind.
afterAll(async () => {
	await editor.close();
});
afterAll(async () => {
	await fixture.close();
});
beforeEach(async () => {
	await fixture.reset();
});
afterEach(() => {
	expect(editor.problems.splice(0)).toEqual([]);
});

function idOf({ nodes }: StoredWorkflow, name: string): string {
	return String(nodes.find((candidate) => candidate.name === name)?.id);
}

const ACTIONS = resources.flatMap(({ operations }) => operations.map(({ action }) => action));

describe('n8n', () => {
	it('lists the package with its two nodes under Settings → Community nodes', async () => {
		await fixture.listAsInstalled();
		await editor.goto('/settings/community-nodes');
		const cards = editor.page.getByTestId('community-package-card');
		// Others stand there while the list is being loaded.
		const card = cards.filter({ hasText: 'n8n-nodes-leadgen' });
		await card.waitFor();
		expect(await card.innerText()).toMatch(
			/^n8n-nodes-leadgen\s+2 nodes:\s+LeadGen,\s*LeadGen Trigger\s+v\d/,
		);
	});

	it('finds the node by its name and by what it does, with all triggers and actions', async () => {
		const names = ['verify email', 'find email', 'verifier', 'b2b', 'linkedin', 'hunter', 'apollo'];
		for (const query of [...names, 'leadgen']) {
			await editor.search(query);
			await editor.entry('LeadGen').waitFor();
		}
		await editor.entry('LeadGen').click();
		await editor.page
			.getByTestId('node-creator-category-item')
			.filter({ hasText: 'Actions' })
			.click();
		await editor.entry('Wait for scrape').waitFor();
		expect(await editor.entries.allInnerTexts()).toEqual([
			'On scrape completed',
			'On scrape failed',
			...ACTIONS,
		]);
	});

	it('adds an action to an empty canvas, with its operation and the credential chosen', async () => {
		await editor.search('leadgen');
		await editor.entry('LeadGen').click();
		await editor.page
			.getByTestId('node-creator-category-item')
			.filter({ hasText: 'Actions' })
			.click();
		await editor.entry('Verify email address').click();
		await editor.untilNodeIsOpen();
		const { credential } = editor.words;
		expect(await editor.labels()).toEqual([
			credential,
			'Resource',
			'Operation',
			'Email',
			'Options',
		]);
		const chosen = editor.page.getByTestId('node-credentials-select').locator('input');
		expect(await chosen.inputValue()).toBe('Sandbox');
		expect(await editor.page.locator('.vue-flow__node').count()).toBe(2);
	});

	it('adds the trigger to an empty canvas, for the event that was chosen', async () => {
		await editor.search('leadgen');
		await editor.entry('LeadGen').click();
		await editor.entry('On scrape completed').click();
		await editor.untilNodeIsOpen();
		expect(await editor.parameter('events').innerText()).toBe('Scrape Completed');
		expect(await editor.page.locator('.vue-flow__node').count()).toBe(1);
	});

	it('loads the icons in light and dark', async () => {
		const { id } = await fixture.api.createWorkflow(
			fixture.content(fixture.trigger(), fixture.leadGen()),
		);
		for (const [colorScheme, file] of [
			['light', 'leadgen.svg'],
			['dark', 'leadgen.dark.svg'],
		] as const) {
			await editor.page.emulateMedia({ colorScheme });
			await editor.openWorkflow(id);
			await until(`both nodes show ${file}`, async () => {
				const icons = await editor.icons();
				return icons.length === 2 && icons.every((icon) => icon === `${file} 60x60`);
			});
		}
		await editor.page.emulateMedia({ colorScheme: 'light' });
	});
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
		await page.getByTestId('credential-save-button').click();
		await says('Base URL in the LeadGen credential must begin with https://');

		await editor.fill('baseUrl', fixture.sandbox.url);
		const key = editor.parameter('apiKey').locator('input');
		expect(await key.getAttribute('type')).toBe('password');
		await editor.fill('apiKey', 'wrong-key');
		await page.getByTestId('credential-save-button').click();
		await says(editor.words.wrongKey);

		await editor.fill('apiKey', 'test-key');
		await page.getByTestId('credential-save-button').click();
		await page.getByTestId('credentials-config-container-test-success').waitFor();
		const keys = fixture.sandbox.requests.map(({ headers }) => headers.authorization);
		// n8n 2 may test twice.
		expect([...new Set(keys)]).toEqual(['Bearer wrong-key', 'Bearer test-key']);
		expect(new Set(fixture.sandbox.requests.map(({ path }) => path))).toEqual(
			new Set(['/credits']),
		);

		await editor.choose(editor.parameter('plan'), 'Enterprise (Custom Limit)');
		await editor.parameter('requestsPerMinute').waitFor();
		await editor.choose(editor.parameter('plan'), 'Pro (300 Requests per Minute)');
		await editor.parameter('requestsPerMinute').waitFor({ state: 'hidden' });
	});
});

const NO_FILTER =
	'No filter is set. A scrape without filters collects leads of any kind, up to the limit, and uses credits for them.';
const FILTERS = ['Specify Filters', 'Filters', NO_FILTER, 'Limit'];

/** Resource, operation, its notice and fields, and the options; in the order of the table. */
const OPERATIONS = resources.flatMap(({ value: resource, name, operations }) =>
	operations.map(({ value: operation, name: operationName }) => {
		const chosen = { resource, operation, filtersMode: 'fields', filters: {} };
		const shown = buildProperties(resources).filter(
			(property) =>
				!['resource', 'operation'].includes(property.name) &&
				NodeHelpers.displayParameter(chosen, property, null, null),
		);
		const fields = shown.filter((property) => property.name !== 'options');
		const options = shown.find((property) => property.name === 'options')?.options ?? [];
		return [
			name,
			operationName,
			fields.map(({ displayName }) => displayName),
			options.flatMap((option) => ('displayName' in option ? [option.displayName] : [])),
		] as const;
	}),
);

describe('the panel of the LeadGen node', () => {
	beforeAll(async () => {
		const workflow = await fixture.api.createWorkflow(fixture.content(fixture.leadGen()));
		await editor.openNode(workflow.id, idOf(workflow, 'LeadGen'));
	});

	it('lists the resources, and the operations of each', async () => {
		const resources = [...new Set(OPERATIONS.map(([resource]) => resource))];
		expect(await editor.list(editor.parameter('resource'))).toEqual(resources);
		for (const resource of resources) {
			await editor.choose(editor.parameter('resource'), resource);
			const operations = OPERATIONS.filter(([name]) => name === resource).map(([, name]) => name);
			expect(await editor.list(editor.parameter('operation'))).toEqual(operations);
		}
	});

	it.each(OPERATIONS)('shows the fields and options of %s: %s', async (...row) => {
		const [resource, operation, fields, options] = row;
		await editor.choose(editor.parameter('resource'), resource);
		await editor.choose(editor.parameter('operation'), operation);
		expect(await editor.labels()).toEqual([
			editor.words.credential,
			'Resource',
			'Operation',
			...fields,
			'Options',
		]);
		expect(await editor.offers('Add Option')).toEqual(options);
	});

	it('offers the filters one by one, or all of them as JSON', async () => {
		await editor.choose(editor.parameter('resource'), 'Scrape');
		await editor.choose(editor.parameter('operation'), 'Start');
		expect(await editor.offers('Add Filter')).toEqual([
			'Job Titles',
			'Locations',
			'Industries',
			'Company Size',
		]);
		await editor.choose(editor.parameter('filtersMode'), 'Using JSON');
		expect((await editor.labels()).slice(-5, -1)).toEqual([
			'Specify Filters',
			'Filters (JSON)',
			NO_FILTER,
			'Limit',
		]);
	});
});

describe('the panel of the next node', () => {
	async function offers(before: WorkflowNode, fields: string[]): Promise<void> {
		const next = node('Next', 'n8n-nodes-base.set', { typeVersion: 3.4 });
		const workflow = await fixture.api.createWorkflow(fixture.content(before, next));
		await editor.openNode(workflow.id, idOf(workflow, 'Next'));
		const input = editor.page.getByTestId('ndv-input-panel');
		for (const label of fields) await input.getByText(label, { exact: true }).waitFor();
	}

	it('offers the fields of a result before the first run', async () => {
		const verify = fixture.leadGen({
			resource: 'email',
			operation: 'verify',
			email: 'ada@acme.example',
		});
		await offers(verify, ['email', 'status', 'deliverable', 'disposable', 'freeProvider']);
		// n8n 2 loads those of a trigger as well, and does not show them.
		if (LINE === '1') await offers(fixture.trigger(), ['scrapeId', 'status', 'leadsFound']);
	});
});

describe('the panel of the LeadGen Trigger', () => {
	beforeAll(async () => {
		const workflow = await fixture.api.createWorkflow(
			fixture.content(fixture.trigger({ filters: {}, limit: 50 })),
		);
		await editor.openNode(workflow.id, idOf(workflow, 'LeadGen Trigger'));
	});

	const starting = (...times: string[]) => [
		editor.words.credential,
		'Mode',
		expect.stringMatching(/^Each scrape costs credits\./) as string,
		...FILTERS,
		'How Often',
		...times,
		'Events',
		'Output',
		'Options',
	];

	it.each([
		['Custom (Cron)', ['Cron Expression']],
		['Every Day', ['Hour', 'Minute']],
		['Every Hour', ['Minute']],
		['Every Month', ['Day of the Month', 'Hour', 'Minute']],
		['Every Week', ['Day of the Week', 'Hour', 'Minute']],
		['Once', []],
	])('shows the fields of the start %s', async (schedule, times) => {
		await editor.choose(editor.parameter('schedule'), schedule);
		expect(await editor.labels()).toEqual(starting(...times));
	});

	it('asks for no filters where it only receives completions', async () => {
		expect(await editor.list(editor.parameter('mode'))).toEqual([
			'Start a Scrape and Receive Its Completion',
			'Only Receive Completions',
		]);
		await editor.choose(editor.parameter('mode'), 'Only Receive Completions');
		expect(await editor.labels()).toEqual([
			editor.words.credential,
			'Mode',
			expect.stringMatching(/^This mode starts no scrapes and costs no credits\./) as string,
			'Events',
			'Output',
			'Options',
		]);
		expect(await editor.offers('Add Option')).toEqual(['Internal URL', 'Test Scrape ID']);
	});
});

describe('a click', () => {
	it('runs a workflow, and shows the results as a table', async () => {
		const addresses = ['valid.ann', 'invalid.bob', 'catchall.cy', 'unknown.di'];
		const items = addresses.map((name) => ({ json: { address: `${name}@acme.com` } }));
		const workflow = await fixture.api.createWorkflow(
			fixture.content(
				node('When clicking ‘Execute workflow’', 'n8n-nodes-base.manualTrigger', {}),
				node('Leads', 'n8n-nodes-base.code', {
					typeVersion: 2,
					parameters: { jsCode: `return ${JSON.stringify(items)};` },
				}),
				fixture.leadGen({ resource: 'email', operation: 'verify', email: '={{ $json.address }}' }),
			),
		);
		await editor.openWorkflow(workflow.id);
		await editor.page.getByTestId('execute-workflow-button').click();
		await editor.message('Workflow executed successfully');

		await editor.page.locator('.vue-flow__node').filter({ hasText: 'LeadGen' }).dblclick();
		expect(await editor.table()).toEqual([
			['email', 'status', 'deliverable', 'disposable', 'freeProvider'],
			['valid.ann@acme.com', 'valid', 'true', 'false', 'false'],
			['invalid.bob@acme.com', 'invalid', 'false', 'false', 'false'],
			['catchall.cy@acme.com', 'catch_all', 'false', 'false', 'false'],
			['unknown.di@acme.com', 'unknown', 'false', 'false', 'false'],
		]);
		expect(fixture.count('verifyEmail')).toBe(4);
	});

	it('on "Execute step" of the trigger starts a small scrape, and shows its completion', async () => {
		fixture.sandbox.set({ job: { durationMs: 3000 } });
		const workflow = await fixture.workflow({ limit: 100 });
		await editor.openNode(workflow.id, idOf(workflow, 'LeadGen Trigger'));
		await editor.picture('trigger', editor.page.getByTestId('ndv'));
		await editor.page.getByTestId('trigger-execute-button').click();
		await editor.page.getByTestId('trigger-listening').waitFor();
		const [head, row, ...more] = await editor.table();
		expect(head).toEqual([
			'scrapeId',
			'status',
			'progress',
			'leadsFound',
			'creditsUsed',
			'createdAt',
			'completedAt',
			'notification',
		]);
		const id = fixture.sandbox.jobs[0]?.scrapeId;
		expect(row?.slice(0, 5)).toEqual([id, 'completed', '100', '5', '5']);
		expect(more).toEqual([]);
		expect(fixture.starts).toBe(1);
		expect(fixture.sandbox.jobs[0]?.filters).toEqual({ jobTitles: ['CTO'], limit: 5 });
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
		await until('the scrape ran the workflow', async () => {
			return (await fixture.delivered(workflow.id)).length === 1;
		});
		await quiet();
		expect(await fixture.delivered(workflow.id)).toHaveLength(1);
		expect(fixture.starts).toBe(1);
	});

	it.each([
		[
			'a wrong key',
			'wrong-key',
			'The service says: Invalid or missing API key (UNAUTHORIZED). Check the API key in the LeadGen credential.',
		],
		[
			'no credits',
			'poor-key',
			'The account has no credits left. No scrape was started. Add credits to the account or wait for its reset date, then publish or activate the workflow again.',
		],
	])('that cannot activate it for %s says so in plain words', async (_why, key, words) => {
		const account = { plan: 'pro', credits: 100 };
		fixture.sandbox.set({
			accounts: { 'test-key': account, 'poor-key': { ...account, credits: 0 } },
		});
		const credential = await fixture.newCredential(key, key);
		const trigger = fixture.trigger({}, { credentials: use(credential) });
		const workflow = await fixture.api.createWorkflow(fixture.content(trigger));
		await editor.openWorkflow(workflow.id);
		await editor.activate();
		const { refused } = editor.words;
		expect(await editor.message(refused)).toBe(`${refused} ${words}`);
		expect(fixture.starts).toBe(0);
	});
});
