import type { StoredWorkflow } from '../../lab/playground/api';
import { N8N, quiet, until } from '../../lab/fixture/fixture';
import { resources } from '../../nodes/LeadGen/action/operations';
import { itemsOf, run, useN8n } from './n8n';

/** In short, what has to work on every n8n: each operation, a start, its completion, a restart. */
const fixture = useN8n();

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
	{ operation: 'getStatus', durationMs: 600_000, status: 'pending', progress: 0 },
	{ operation: 'wait', durationMs: 300, status: 'completed', progress: 100 },
];

/** What an operation gives for two items. */
async function resultsOf(parameters: Record<string, unknown>): Promise<unknown[]> {
	const people = [
		{ first: 'Ann', last: 'Sure' },
		{ first: 'Bob', last: 'Right' },
	];
	return itemsOf(await run(fixture, people, fixture.leadGen(parameters)), 'LeadGen');
}

/** The scrapes that a workflow ran for. */
async function delivered({ id }: StoredWorkflow): Promise<unknown[]> {
	return (await fixture.delivered(id)).map(({ json }) => json.scrapeId);
}

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
		const result = expect.objectContaining(gives) as object;
		expect(await resultsOf(parameters)).toEqual([result, result]);
	});

	it.each(FOLLOWING)('does scrape $operation', async ({ operation, durationMs, ...gives }) => {
		await fixture.reset({ job: { durationMs } });
		const ids = [await fixture.startElsewhere(), await fixture.startElsewhere()];
		const scrapeId = `={{ ${JSON.stringify(ids)}[$itemIndex] }}`;
		expect(await resultsOf({ resource: 'scrape', operation, scrapeId })).toEqual(
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
