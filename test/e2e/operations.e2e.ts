import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Execution, WorkflowNode } from '../../lab/playground/api';
import { Fixture, N8N, node, quiet, until, use } from '../../lab/fixture/fixture';

/** Every operation of the action node, in a workflow on a real n8n. */
const fixture = new Fixture();
beforeAll(async () => {
	await fixture.open();
});
afterAll(async () => {
	await fixture.close();
});
beforeEach(async () => {
	await fixture.reset({ job: { durationMs: 300 } });
});
afterEach(() => {
	expect(fixture.sandbox.requests.map(({ violation }) => violation).filter(Boolean)).toEqual([]);
});

/** Runs an operation for each of the items, in a workflow of its own. */
async function run(
	parameters: Record<string, unknown>,
	items: Array<Record<string, unknown>>,
	more: Partial<WorkflowNode> = {},
): Promise<Execution> {
	return await fixture.api.finishedExecution(await start(parameters, items, more));
}

/** The same without waiting for the end. @returns the ID of the execution */
async function start(
	parameters: Record<string, unknown>,
	items: Array<Record<string, unknown>>,
	more: Partial<WorkflowNode> = {},
): Promise<string> {
	const workflow = await fixture.api.createWorkflow(
		fixture.content(
			node('Manual', 'n8n-nodes-base.manualTrigger', {}),
			node('Items', 'n8n-nodes-base.code', {
				typeVersion: 2,
				parameters: { jsCode: `return ${JSON.stringify(items.map((json) => ({ json })))};` },
			}),
			fixture.leadGen(parameters, more),
		),
	);
	return (await fixture.api.startWorkflow(workflow.id, 'Manual')) ?? '';
}

function outputs(execution: Execution): unknown[][] {
	return (execution.nodes.LeadGen?.outputs ?? []).map((items) => items.map(({ json }) => json));
}

const people = [
	{ first: 'Ann', last: 'High' },
	{ first: 'Bob', last: 'Low' },
	{ first: 'Cy', last: 'Nobody' },
];
const person = { firstName: '={{ $json.first }}', lastName: '={{ $json.last }}' };
const found = (confidenceLevel: string): unknown =>
	expect.objectContaining({ found: true, email: expect.any(String) as string, confidenceLevel });

describe(`n8n ${N8N.version}`, () => {
	it('finds business emails', async () => {
		const execution = await run(
			{ resource: 'email', operation: 'findBusiness', ...person, company: 'acme.com' },
			people,
		);
		expect(outputs(execution)).toEqual([
			[found('high'), found('low'), { found: false, email: null }],
		]);
	});

	it('finds personal emails', async () => {
		const execution = await run(
			{
				resource: 'email',
				operation: 'findPersonal',
				...person,
				options: { location: 'Austin, Texas' },
			},
			people,
		);
		expect(outputs(execution)).toEqual([
			[found('high'), found('low'), { found: false, email: null }],
		]);
	});

	it('verifies addresses, and sends what fails to the error output', async () => {
		const addresses = ['valid.a@acme.com', 'no address', 'catchall.b@acme.com'];
		const execution = await run(
			{ resource: 'email', operation: 'verify', email: '={{ $json.address }}' },
			addresses.map((address) => ({ address })),
			{ onError: 'continueErrorOutput' },
		);
		expect(outputs(execution)).toEqual([
			[
				expect.objectContaining({ email: 'valid.a@acme.com', status: 'valid' }),
				expect.objectContaining({ email: 'catchall.b@acme.com', status: 'catch_all' }),
			],
			[
				expect.objectContaining({
					address: 'no address',
					error: {
						message: expect.stringContaining('one email address') as string,
						field: 'Email',
						advice: expect.any(String) as string,
					},
				}),
			],
		]);
		expect(fixture.count('verifyEmail')).toBe(2);
	});

	it('finds and verifies in one step, and splits what it finds, also beside an error output', async () => {
		const execution = await run(
			{
				resource: 'email',
				operation: 'enrich',
				...person,
				company: '={{ $json.company }}',
				options: { splitOutput: true },
			},
			[
				{ first: 'Ann', last: 'Sure', company: 'acme.com' },
				{ first: 'Di', last: 'Nobody', company: 'acme.com' },
				{ first: 'Bob', last: 'Low', company: 'no domain' },
			],
			{ onError: 'continueErrorOutput' },
		);
		expect(outputs(execution)).toEqual([
			[expect.objectContaining({ found: true, email: 'ann.sure@acme.com', status: 'valid' })],
			[expect.objectContaining({ found: false, email: null })],
			[
				expect.objectContaining({
					first: 'Bob',
					error: expect.objectContaining({ field: 'Company Domain' }) as object,
				}),
			],
		]);
		expect(fixture.count('findBusinessEmail')).toBe(2);
		expect(fixture.count('verifyEmail')).toBe(1);
	});

	it('reads the balance once for all items', async () => {
		const execution = await run({ resource: 'credit', operation: 'get' }, people);
		expect(outputs(execution)).toEqual([
			new Array(3).fill(expect.objectContaining({ credits: 1000, plan: 'pro' })),
		]);
		expect(fixture.sandbox.requests).toHaveLength(1);
	});

	it('starts scrapes, tells how they are, and waits for them', async () => {
		const filters = { jobTitles: ['={{ $json.titles }}'], locations: ['Austin, Texas'] };
		const titles = [{ titles: ['CTO', 'CEO'] }, { titles: 'Head of Sales' }];
		const start = { resource: 'scrape', operation: 'start', filters, limit: 5 };
		const [started] = outputs(await run(start, titles));
		expect(started).toEqual(
			fixture.sandbox.jobs.map(({ scrapeId }) => ({
				scrapeId,
				status: 'pending',
				estimatedCredits: 5,
			})),
		);
		expect(fixture.sandbox.jobs.map((job) => job.filters.jobTitles)).toEqual([
			['CTO', 'CEO'],
			['Head of Sales'],
		]);

		const ids = fixture.sandbox.jobs.map(({ scrapeId }) => ({ scrapeId }));
		const ofScrape = { resource: 'scrape', scrapeId: '={{ $json.scrapeId }}' };
		const status = await run({ ...ofScrape, operation: 'getStatus' }, ids);
		expect(outputs(status)).toEqual([ids.map((id) => expect.objectContaining(id) as unknown)]);
		const waited = await run({ ...ofScrape, operation: 'wait' }, ids);
		expect(outputs(waited)).toEqual([
			ids.map(
				(id) => expect.objectContaining({ ...id, status: 'completed', leadsFound: 5 }) as unknown,
			),
		]);
	});

	it('starts scrapes and waits for them in one step', async () => {
		const execution = await run(
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
		expect(outputs(execution)).toEqual([
			fixture.sandbox.jobs.map(
				({ scrapeId }) =>
					expect.objectContaining({
						scrapeId,
						status: 'completed',
						leadsFound: 3,
						estimatedCredits: 3,
					}) as unknown,
			),
		]);
		expect(fixture.starts).toBe(3);
	});

	it.each([
		{ waits: 'for scrapes', requestsPerMinute: 0, sent: 3 },
		{ waits: 'for the rate limit', requestsPerMinute: 2, sent: 2 },
	])('ends at once when a person presses Stop while it waits $waits', async (given) => {
		const { requestsPerMinute, sent, waits } = given;
		// An account of its own, whose minute holds no call of the tests before.
		const key = waits.replaceAll(' ', '-');
		const accounts = { [key]: { plan: 'enterprise', credits: 1000 } };
		await fixture.reset({ job: { durationMs: 600_000 }, accounts });
		const fields = { plan: 'enterprise', requestsPerMinute };
		const credential = await fixture.newCredential(waits, key, fields);
		const parameters = { resource: 'scrape', operation: 'startAndWait' };
		const id = await start(parameters, people, { credentials: use(credential) });
		await until('the requests', () => fixture.sandbox.requests.length >= sent);
		await fixture.api.stopExecution(id);
		const { status, nodes } = await fixture.api.finishedExecution(id);
		expect([status, nodes.LeadGen?.outputs ?? []]).toEqual(['canceled', []]);
		const before = fixture.sandbox.requests.length;
		await quiet();
		expect(fixture.sandbox.requests).toHaveLength(before);
		expect(await readFile(fixture.logFile, 'utf8')).not.toContain('is not a constructor');
	});

	it('lends the credential to the HTTP Request node, for the service and for nothing else', async () => {
		const headers: unknown[] = [];
		const elsewhere = createServer((request, response) => {
			headers.push(request.headers);
			response.end('{}');
		});
		await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
		const other = `http://127.0.0.1:${String((elsewhere.address() as AddressInfo).port)}/credits`;
		const request = async (url: string): Promise<Execution> => {
			const authentication = 'predefinedCredentialType';
			const workflow = await fixture.api.createWorkflow(
				fixture.content(
					node('Manual', 'n8n-nodes-base.manualTrigger', {}),
					node('Request', 'n8n-nodes-base.httpRequest', {
						typeVersion: 4.2,
						parameters: { url, authentication, nodeCredentialType: 'leadGenApi', options: {} },
						credentials: use(fixture.credential),
					}),
				),
			);
			return await fixture.api.finishedExecution(
				(await fixture.api.startWorkflow(workflow.id, 'Manual')) ?? '',
			);
		};
		const url = `${fixture.sandbox.url}/credits`;
		const answered = await request(url);
		expect(answered.nodes.Request?.outputs).toEqual([
			[
				expect.objectContaining({
					json: { success: true, data: expect.objectContaining({ credits: 1000 }) as object },
				}),
			],
		]);

		const refused = await request(other);
		const { origin } = new URL(url);
		expect(refused.error).toContain(`This credential only sends its API key to ${origin}`);

		fixture.sandbox.set({ faults: [{ kind: 'redirect', status: 302, location: other }] });
		const redirected = await request(url);
		expect(redirected.status).toBe('error');
		expect(headers).toEqual([]);
		elsewhere.close();
	});

	it('tests the credential', async () => {
		const { id, name } = fixture.credential;
		const test = async (apiKey: string) => {
			const baseUrl = `${fixture.sandbox.url}/`;
			const data = fixture.credentialData(apiKey, { baseUrl, plan: 'auto' });
			return await fixture.api.testCredential(id, { name, type: 'leadGenApi', data });
		};
		expect(await test('test-key')).toMatchObject({ status: 'OK' });
		expect(await test('wrong-key')).toMatchObject({ status: 'Error' });
	});
});
