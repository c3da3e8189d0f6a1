import type { StoredWorkflow } from '../../lab/playground/api';
import { Fixture, N8N, node, quiet, until } from '../../lab/fixture/fixture';
import { resources } from '../../nodes/LeadGen/action/operations';

/** In short, what has to work on every n8n: each operation, a start, its completion, a restart. */
const fixture = new Fixture();
beforeAll(async () => {
	await fixture.open();
});
afterAll(async () => {
	await fixture.close();
});
afterEach(() => {
	expect(fixture.sandbox.requests.map(({ violation }) => violation).filter(Boolean)).toEqual([]);
});

const person = {
	firstName: '={{ $json.first }}',
	lastName: '={{ $json.last }}',
	company: 'acme.com',
};
const scrape = { filters: { jobTitles: ['={{ $json.last }}'] }, limit: 5 };
const OPERATIONS = [
	{ resource: 'credit', operation: 'get', gives: { credits: 1000, plan: 'pro' } },
	{ resource: 'email', operation: 'enrich', ...person, gives: { found: true, status: 'valid' } },
	{ resource: 'email', operation: 'findBusiness', ...person, gives: { found: true } },
	{ resource: 'email', operation: 'findPersonal', ...person, gives: { found: true } },
	{
		resource: 'email',
		operation: 'verify',
		email: '=valid.{{ $json.last }}@acme.com',
		gives: { status: 'valid' },
	},
	{ resource: 'scrape', operation: 'start', ...scrape, gives: { status: 'pending' } },
	{ resource: 'scrape', operation: 'startAndWait', ...scrape, gives: { status: 'completed' } },
];

/** They need scrapes that run. */
const FOLLOWING = [
	{ operation: 'getStatus', status: 'pending', progress: 0 },
	{ operation: 'wait', status: 'completed', progress: 100 },
];

describe(`n8n ${N8N.version}`, () => {
	it('is asked for each operation', () => {
		const all = resources.flatMap(({ value: resource, operations }) =>
			operations.map(({ value }) => `${resource}.${value}`),
		);
		const asked = OPERATIONS.map(({ resource, operation }) => `${resource}.${operation}`);
		const following = FOLLOWING.map(({ operation }) => `scrape.${operation}`);
		expect([...asked, ...following].sort()).toEqual(all.sort());
	});

	it.each(OPERATIONS)('does $resource $operation', async ({ gives, ...parameters }) => {
		await fixture.reset({ job: { durationMs: 300 } });
		expect(await run(parameters)).toEqual([
			expect.objectContaining(gives),
			expect.objectContaining(gives),
		]);
	});

	it.each(FOLLOWING)('does scrape $operation', async ({ operation, ...gives }) => {
		await fixture.reset({ job: { durationMs: operation === 'wait' ? 300 : 600_000 } });
		const ids = [await fixture.startElsewhere(), await fixture.startElsewhere()];
		const scrapeId = `={{ ${JSON.stringify(ids)}[$itemIndex] }}`;
		expect(await run({ resource: 'scrape', operation, scrapeId })).toEqual(
			ids.map((id) => expect.objectContaining({ scrapeId: id, ...gives }) as unknown),
		);
	});

	it('starts a scrape once and runs the workflow once, also over a restart', async () => {
		await fixture.reset();
		const workflow = await fixture.workflow();
		await fixture.api.activateWorkflow(workflow.id);
		await until('the start', () => fixture.starts === 1);
		await until('the completion', async () => (await delivered(workflow)).length === 1);

		const late = await fixture.workflow({ filters: { jobTitles: ['CFO'] } });
		fixture.sandbox.set({ job: { durationMs: 600_000 } });
		await fixture.api.activateWorkflow(late.id);
		await until('its start', () => fixture.starts === 2);
		const [first, second] = fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId);
		await fixture.restart();
		fixture.sandbox.finish(second ?? '', 'completed');
		await until('its completion', async () => (await delivered(late)).length === 1);
		await quiet();
		expect(await delivered(workflow)).toEqual([first]);
		expect(await delivered(late)).toEqual([second]);
		expect(fixture.starts).toBe(2);
	});
});

/** Runs an operation for two items. @returns the fields of what it gives */
async function run(parameters: Record<string, unknown>): Promise<unknown[]> {
	const items = [
		{ json: { first: 'Ann', last: 'Sure' } },
		{ json: { first: 'Bob', last: 'Right' } },
	];
	const workflow = await fixture.api.createWorkflow(
		fixture.content(
			node('Manual', 'n8n-nodes-base.manualTrigger'),
			node('Items', 'n8n-nodes-base.code', {
				typeVersion: 2,
				parameters: { jsCode: `return ${JSON.stringify(items)};` },
			}),
			fixture.leadGen(parameters),
		),
	);
	const { nodes } = await fixture.api.runWorkflow(workflow.id, 'Manual');
	return (nodes.LeadGen?.outputs[0] ?? []).map(({ json }) => json);
}

/** The scrapes that a workflow ran for. */
async function delivered({ id }: StoredWorkflow): Promise<unknown[]> {
	return (await fixture.delivered(id)).map(({ json }) => json.scrapeId);
}
