import { readFile } from 'node:fs/promises';
import type { WorkflowNode } from '../../lab/playground/api';
import { N8N, quiet, until } from '../../lab/fixture/fixture';
import { resources } from '../../nodes/LeadGen/action/operations';
import { LONG, run, some, someText, start, useN8n } from './n8n';

/** Every operation of the action node, in a workflow on a real n8n. */
const fixture = useN8n();
beforeEach(async () => {
	await fixture.reset({ job: { durationMs: 300 } });
});

/** The operations that the tests run. */
const asked = new Set<unknown>();

/** The items of each output of an operation. */
async function outputsOf(
	parameters: Record<string, unknown>,
	items: object[],
	fields: Partial<WorkflowNode> = {},
): Promise<unknown[][]> {
	asked.add(`${String(parameters.resource)}.${String(parameters.operation)}`);
	const execution = await run(fixture, items, fixture.leadGen(parameters, fields));
	const { outputs = [] } = execution.nodes.LeadGen ?? {};
	return outputs.map((output) => output.map(({ json }) => json));
}

const people = [
	{ first: 'Ann', last: 'High' },
	{ first: 'Bob', last: 'Low' },
	{ first: 'Cy', last: 'Nobody' },
];
const person = { firstName: '={{ $json.first }}', lastName: '={{ $json.last }}' };
const intoErrors = { onError: 'continueErrorOutput' };

describe(`n8n ${N8N.version}`, () => {
	it.each([
		{ emails: 'business', operation: 'findBusiness', company: 'acme.com' },
		{ emails: 'personal', operation: 'findPersonal', options: { location: 'Austin, Texas' } },
	])('finds $emails emails', async ({ operation, company, options }) => {
		const parameters = { resource: 'email', operation, ...person, company, options };
		const found = (confidenceLevel: string) =>
			some({ found: true, email: someText, confidenceLevel });
		expect(await outputsOf(parameters, people)).toEqual([
			[found('high'), found('low'), { found: false, email: null }],
		]);
	});

	it('verifies addresses, and sends what fails to the error output', async () => {
		const addresses = ['valid.a@acme.com', 'no address', 'catchall.b@acme.com'];
		const outputs = await outputsOf(
			{ resource: 'email', operation: 'verify', email: '={{ $json.address }}' },
			addresses.map((address) => ({ address })),
			intoErrors,
		);
		const message: unknown = expect.stringContaining('one email address');
		expect(outputs).toEqual([
			[
				some({ email: 'valid.a@acme.com', status: 'valid' }),
				some({ email: 'catchall.b@acme.com', status: 'catch_all' }),
			],
			[
				some({
					address: 'no address',
					error: { message, field: 'Email', outcome: 'notSent', advice: someText },
				}),
			],
		]);
		expect(fixture.count('verifyEmail')).toBe(2);
	});

	it('finds and verifies in one step, and splits what it finds, also beside an error output', async () => {
		const company = '={{ $json.company }}';
		const options = { splitOutput: true };
		const outputs = await outputsOf(
			{ resource: 'email', operation: 'enrich', ...person, company, options },
			[
				{ first: 'Ann', last: 'Sure', company: 'acme.com' },
				{ first: 'Di', last: 'Nobody', company: 'acme.com' },
				{ first: 'Bob', last: 'Low', company: 'no domain' },
			],
			intoErrors,
		);
		expect(outputs).toEqual([
			[some({ found: true, email: 'ann.sure@acme.com', status: 'valid' })],
			[some({ found: false, email: null })],
			[some({ first: 'Bob', error: some({ field: 'Company Domain' }) })],
		]);
		expect(fixture.count('findBusinessEmail')).toBe(2);
		expect(fixture.count('verifyEmail')).toBe(1);
	});

	it('reads the balance once for all items', async () => {
		const outputs = await outputsOf({ resource: 'credit', operation: 'get' }, people);
		expect(outputs).toEqual([new Array(3).fill(some({ credits: 1000, plan: 'pro' }))]);
		expect(fixture.sandbox.requests).toHaveLength(1);
	});

	it('starts scrapes, tells how they are, and waits for them', async () => {
		const filters = { jobTitles: ['={{ $json.titles }}'], locations: ['Austin, Texas'] };
		const titles = [{ titles: ['CTO', 'CEO'] }, { titles: 'Head of Sales' }];
		const starting = { resource: 'scrape', operation: 'start', filters, limit: 5 };
		const started = await outputsOf(starting, titles);
		const ids = fixture.sandbox.jobs.map(({ scrapeId }) => ({ scrapeId }));
		expect(started).toEqual([ids.map((id) => ({ ...id, status: 'pending', estimatedCredits: 5 }))]);
		expect(fixture.sandbox.jobs.map((job) => job.filters.jobTitles)).toEqual([
			['CTO', 'CEO'],
			['Head of Sales'],
		]);

		const ofScrape = { resource: 'scrape', scrapeId: '={{ $json.scrapeId }}' };
		expect(await outputsOf({ ...ofScrape, operation: 'getStatus' }, ids)).toEqual([ids.map(some)]);
		expect(await outputsOf({ ...ofScrape, operation: 'wait' }, ids)).toEqual([
			ids.map((id) => some({ ...id, status: 'completed', leadsFound: 5 })),
		]);
	});

	it('starts scrapes and waits for them in one step', async () => {
		const outputs = await outputsOf(
			{
				resource: 'scrape',
				operation: 'startAndWait',
				filtersMode: 'json',
				filtersJson: '={{ { jobTitles: [$json.first], companySize: "11-50" } }}',
				limit: 3,
				options: { pollInterval: 1 },
			},
			people,
		);
		const completed = { status: 'completed', leadsFound: 3, estimatedCredits: 3 };
		expect(outputs).toEqual([
			fixture.sandbox.jobs.map(({ scrapeId }) => some({ scrapeId, ...completed })),
		]);
		expect(fixture.starts).toBe(3);
	});

	it('does each operation above', () => {
		const all = resources.flatMap(({ value: resource, operations }) =>
			operations.map(({ value }) => `${resource}.${value}`),
		);
		expect([...asked].sort()).toEqual(all.sort());
	});

	it('ends at once when a person presses Stop while it waits for scrapes', async () => {
		await fixture.reset(LONG);
		const parameters = { resource: 'scrape', operation: 'startAndWait' };
		const id = await start(fixture, people, fixture.leadGen(parameters));
		await until('the starts', () => fixture.starts === people.length);
		await fixture.api.stopExecution(id);
		const { status, nodes } = await fixture.api.finishedExecution(id);
		expect([status, nodes.LeadGen?.outputs ?? []]).toEqual(['canceled', []]);
		const before = fixture.sandbox.requests.length;
		await quiet();
		expect(fixture.sandbox.requests).toHaveLength(before);
		expect(await readFile(fixture.logFile, 'utf8')).not.toContain('is not a constructor');
	});
});
