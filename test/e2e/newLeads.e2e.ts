import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataTable, StoredWorkflow, WorkflowContent } from '../../lab/playground/api';
import { API_KEY, Fixture, LINE, N8N, until, use, uuid } from '../../lab/fixture/fixture';
import { ENV } from '../../lab/fixture/largeList';

const EXAMPLE = join(__dirname, '../../examples/new-leads-to-data-table.json');
const TABLE = 'leadgen_leads';

/** The template that keeps the leads of a weekly scrape in a Data Table. */
const fixture = new Fixture(ENV);
let workflow: StoredWorkflow;
beforeAll(async () => {
	await fixture.open();
	// No notification of its own: each test sends the leads.
	await fixture.reset({ job: { durationMs: 0 }, notification: { times: 0 } });
	const content = JSON.parse(await readFile(EXAMPLE, 'utf8')) as WorkflowContent;
	for (const node of content.nodes) {
		if (node.webhookId !== undefined) node.webhookId = uuid();
		if (node.credentials) node.credentials = use(fixture.credential);
	}
	if (LINE === '1') await createTable(content);
	workflow = await fixture.api.createWorkflow(content);
});
afterAll(async () => {
	await fixture.close();
});
afterEach(() => {
	expect(fixture.sandbox.requests.map(({ violation }) => violation).filter(Boolean)).toEqual([]);
});

/** On n8n 1, a person creates the table and chooses it in the nodes. */
async function createTable({ nodes }: WorkflowContent): Promise<void> {
	const { columns } = nodes.find(({ name }) => name === 'Create the table')?.parameters as {
		columns: { column: Array<{ name: string; type: 'string' }> };
	};
	const types = Object.fromEntries(columns.column.map(({ name, type }) => [name, type]));
	const { id } = await fixture.api.createDataTable(TABLE, types);
	for (const { parameters } of nodes) {
		if (parameters.dataTableId !== undefined) {
			parameters.dataTableId = { __rl: true, mode: 'list', value: id };
		}
	}
}

/** The rows of the table, without what n8n adds. */
async function rows(): Promise<unknown[]> {
	const tables = await fixture.api.dataTables();
	const table = tables.find(({ name }) => name === TABLE) as DataTable;
	const all = await fixture.api.dataTableRows(table);
	return all.map(({ email, name, status, problem }) => [email, name, status, problem]);
}

/**
 * Starts the next scrape, and sends its notification.
 * @returns the items of a node in the execution of its completion
 */
async function scrape(leads: object[] | undefined, node: string): Promise<unknown[]> {
	const before = fixture.starts;
	const known = (await fixture.executions(workflow.id)).map(({ id }) => id);
	await fixture.api.activateWorkflow(workflow.id);
	await until('the start', () => fixture.sandbox.jobs.length > before);
	const { scrapeId } = fixture.sandbox.jobs[before] ?? {};
	const answer = await fetch(fixture.webhookUrl(before), {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ scrapeId, status: 'completed', leads }),
	});
	expect(answer.status).toBe(200);
	const recent = async () =>
		(await fixture.executions(workflow.id)).filter(({ id }) => !known.includes(id));
	await until('the start and the completion', async () => (await recent()).length === 2);
	const finished = await Promise.all(
		(await recent()).map(async ({ id }) => await fixture.api.finishedExecution(id)),
	);
	expect(finished.map(({ status }) => status)).toEqual(['success', 'success']);
	await fixture.api.deactivateWorkflow(workflow.id);
	return finished
		.flatMap(({ nodes }) => nodes[node]?.outputs[0] ?? [])
		.map(({ json }) => json.email ?? json.message);
}

/** The addresses that were verified since the last time. */
let seen = 0;
function verified(): unknown[] {
	const all = fixture.sandbox.requests.filter(({ path }) => path === '/email/verify');
	return all.splice(seen).map(({ body }) => {
		seen++;
		return (body as { email: string }).email;
	});
}

test(`n8n ${N8N.version} keeps the leads of each scrape, and verifies only new ones`, async () => {
	const crm = await scrape(
		[
			{ name: 'Ann', email: 'valid.ann@acme.example' },
			{ name: 'Bob', email: 'invalid.bob@acme.example' },
			{ name: 'Ann A.', email: ' Valid.Ann@acme.example' },
			{ name: 'Cem' },
		],
		'Send to your CRM',
	);
	expect(crm).toEqual(['valid.ann@acme.example']);
	expect(verified()).toEqual(['valid.ann@acme.example', 'invalid.bob@acme.example']);
	const first = [
		['valid.ann@acme.example', 'Ann A.', 'valid', null],
		['invalid.bob@acme.example', 'Bob', 'invalid', null],
	];
	expect(await rows()).toEqual(first);

	// Dee is new. Ann was paid for, also for an n8n that remembers nothing.
	await fixture.restart();
	const second = await scrape(
		[
			{ name: 'Ann', email: 'valid.ann@acme.example' },
			{ name: 'Dee', email: 'valid.dee@acme.example' },
			{ name: 'Eve', email: 'eve' },
		],
		'Send to your CRM',
	);
	expect(second).toEqual(['valid.dee@acme.example']);
	expect(verified()).toEqual(['valid.dee@acme.example']);
	const eve = ['eve', 'Eve', 'not verified', 'Email must be one email address, but is "eve"'];
	expect(await rows()).toEqual([
		['valid.ann@acme.example', 'Ann', 'valid', null],
		first[1],
		['valid.dee@acme.example', 'Dee', 'valid', null],
		eve,
	]);
});

test('takes a lead again for which nothing was paid, and no other', async () => {
	const match = { path: '/email/verify' };
	fixture.sandbox.set({
		accounts: { [API_KEY]: { plan: 'pro', credits: 1000 } },
		faults: [
			{ kind: 'resetAfterWork', match: { ...match, bodyIncludes: 'lost' } },
			{
				kind: 'envelope',
				code: 'INVALID_REQUEST',
				status: 400,
				match: { ...match, bodyIncludes: 'fay' },
			},
		],
	});
	await scrape(
		['valid.fay', 'valid.lost'].map((name) => ({ name, email: `${name}@acme.example` })),
		'Write the result',
	);
	expect((await rows()).slice(-2)).toEqual([
		['valid.fay@acme.example', 'valid.fay', null, expect.stringContaining('INVALID_REQUEST')],
		[
			'valid.lost@acme.example',
			'valid.lost',
			'not verified',
			'The connection broke before the service answered',
		],
	]);
	expect(verified().toSorted()).toEqual(['valid.fay@acme.example', 'valid.lost@acme.example']);

	fixture.sandbox.set({ faults: [] });
	await scrape([{ name: 'Gil', email: 'valid.gil@acme.example' }], 'Send to your CRM');
	expect(verified().toSorted()).toEqual(['valid.fay@acme.example', 'valid.gil@acme.example']);
	expect((await rows()).slice(-3).map((row) => (row as unknown[]).slice(2))).toEqual([
		['valid', null],
		['not verified', 'The connection broke before the service answered'],
		['valid', null],
	]);
});

test('says what came if the notification holds no leads', async () => {
	const said = await scrape(undefined, 'Send to your CRM');
	expect(said).toEqual([]);
	expect(await scrape(undefined, 'Say what came instead')).toEqual([
		expect.stringMatching(/^The scrape \S+ found 20 leads, but its notification holds none\.$/),
	]);
	expect(verified()).toEqual([]);
});
