import type { DataTable, DataTableRow, Execution, StoredWorkflow } from '../../lab/playground/api';
import { N8N, quiet, until } from '../../lab/fixture/fixture';
import { FOR_TABLES, itemsOf, nodeOf, post, startAtOnce, useN8n } from './n8n';

const TABLE = 'leadgen_leads';
const LOST = 'The connection broke before the service answered';

/** The template that keeps the leads of a weekly scrape in a Data Table. */
const fixture = useN8n(FOR_TABLES);
let workflow: StoredWorkflow;
beforeAll(async () => {
	// No notification of its own: each test sends the leads.
	await fixture.reset({ job: { durationMs: 0 }, notification: { times: 0 } });
	const content = await fixture.example('new-leads-to-data-table');
	startAtOnce(content);
	workflow = await fixture.api.createWorkflow(content);
});

async function table(named = TABLE): Promise<DataTableRow[]> {
	const tables = await fixture.api.dataTables();
	return await fixture.api.dataTableRows(tables.find(({ name }) => name === named) as DataTable);
}

/** The rows of the table, without what n8n adds. */
async function rows(): Promise<unknown[][]> {
	const all = await table();
	return all.map(({ email, name, status, problem }) => [email, name, status, problem]);
}

/** Sends the notification of a scrape. @returns the execution that it begins, when it has succeeded */
async function notify({ id }: StoredWorkflow, job: number, leads?: object[]): Promise<Execution> {
	const before = (await fixture.executions(id)).length;
	const { scrapeId } = fixture.sandbox.jobs[job] ?? {};
	const body = JSON.stringify({ scrapeId, status: 'completed', leads });
	expect(await post(fixture.webhookUrl(job), body)).toBe(200);
	await fixture.untilExecutions(id, before + 1);
	const [latest] = await fixture.executions(id);
	const execution = await fixture.api.finishedExecution(String(latest?.id));
	expect(execution.error ?? execution.status).toBe('success');
	return execution;
}

/** Starts the next scrape, and sends its notification. @returns the execution that it begins */
async function scrape(leads?: object[]): Promise<Execution> {
	const { length } = fixture.sandbox.jobs;
	const before = (await fixture.executions(workflow.id)).length;
	await fixture.api.activateWorkflow(workflow.id);
	await until('the start', () => fixture.sandbox.jobs.length > length);
	await fixture.untilExecutions(workflow.id, before + 1);
	const execution = await notify(workflow, length, leads);
	await fixture.api.deactivateWorkflow(workflow.id);
	return execution;
}

function sentToCrm(execution: Execution): unknown[] {
	return itemsOf(execution, 'Send to your CRM').map(({ email }) => email);
}

/** The addresses that were verified since the last time. */
let seen = 0;
function verified(): unknown[] {
	const all = fixture.sandbox.requests.filter(({ path }) => path === '/email/verify');
	const addresses = all.slice(seen).map(({ body }) => (body as { email: string }).email);
	seen = all.length;
	return addresses;
}

/** Without an address, and with a field that the template does not know. */
const CEM = {
	firstName: 'Cem',
	lastName: 'Çelik',
	jobTitle: 'CTO',
	company: { name: 'Acme', size: 50 },
	linkedinUrl: 'https://www.linkedin.com/in/cem',
	phone: '+49 171',
};
const lead = (name: string, email: string) => ({ name, email: `${email}@acme.example` });

test(`n8n ${N8N.version} keeps the leads of each scrape, and verifies only new ones`, async () => {
	const anns = [lead('Ann', 'valid.ann'), lead('Ann A.', ' Valid.Ann')];
	const first = [...anns, lead('Bob', 'invalid.bob'), CEM, CEM];
	expect(sentToCrm(await scrape(first))).toEqual(['valid.ann@acme.example']);
	expect(verified()).toEqual(['valid.ann@acme.example', 'invalid.bob@acme.example']);
	const bob = ['invalid.bob@acme.example', 'Bob', 'invalid', null];
	const cem = [null, 'Cem Çelik', null, null];
	expect(await rows()).toEqual([['valid.ann@acme.example', 'Ann A.', 'valid', null], bob, cem]);
	// The whole lead is there, whatever its fields are called.
	const { lead: whole, scrapeId, ...fields } = (await table())[2] ?? {};
	const known = { key: 'linkedin.com/in/cem', title: 'CTO', company: 'Acme' };
	expect(fields).toMatchObject({ ...known, profile: CEM.linkedinUrl });
	expect(JSON.parse(String(whole))).toEqual({ ...CEM, scrapeId, scrapeStatus: 'completed' });

	// Dee is new. Ann was paid for, also for an n8n that remembers nothing.
	await fixture.restart();
	const dee = lead('Dee', 'valid.dee');
	const second = [lead('Ann', 'valid.ann'), dee, { name: 'Eve', email: 'eve' }];
	expect(sentToCrm(await scrape(second))).toEqual(['valid.dee@acme.example']);
	expect(verified()).toEqual(['valid.dee@acme.example']);
	expect(await rows()).toEqual([
		['valid.ann@acme.example', 'Ann', 'valid', null],
		bob,
		cem,
		['valid.dee@acme.example', 'Dee', 'valid', null],
		['eve', 'Eve', 'not verified', 'Email must be one email address, but is "eve"'],
	]);
});

test('keeps each person as one row, and none of them twice in the next scrape', async () => {
	const hidden = { email: 'email_not_unlocked@domain.com' };
	const leads = [
		{ ...hidden, first_name: 'Ida', last_name: 'Berg', company_name: 'Acme' },
		{ ...hidden, first_name: 'Jan', last_name: 'Berg', company_name: 'Acme' },
		{ full_name: 'Kai Berg', email: { address: 'valid.kai@acme.example', status: 'guessed' } },
		{ name: 'Mia Berg', organization_name: 'Acme', job_title: 'CTO' },
		{ name: 'Nil Berg', linkedin_url: 'https://de.linkedin.com/in/Nil/?utm=1' },
		{ name: 'Ole Berg', email: 'info@acme.example', company: { name: 'Acme' } },
		{ name: 'Pia Berg', email: 'info@acme.example', company: { name: 'Acme' } },
	];
	const before = (await rows()).length;
	await scrape(leads);
	const added = (await table()).slice(before);
	expect(added.map(({ name, company, title }) => [name, company, title])).toEqual([
		...['Ida Berg', 'Jan Berg'].map((name) => [name, 'Acme', null]),
		['Kai Berg', null, null],
		['Mia Berg', 'Acme', 'CTO'],
		['Nil Berg', null, null],
		...['Ole Berg', 'Pia Berg'].map((name) => [name, 'Acme', null]),
	]);
	expect(verified()).toEqual(['valid.kai@acme.example', 'info@acme.example']);
	const moved = { name: 'Nil Berg', linkedin_url: 'http://www.linkedin.com/in/nil' };
	await scrape([...leads, moved]);
	expect(verified()).toEqual([]);
	expect((await table()).length).toBe(before + 7);
});

test('verifies a lead again for which nothing was paid, and no other', async () => {
	const match = (bodyIncludes: string) => ({ path: '/email/verify', bodyIncludes });
	fixture.sandbox.set({
		faults: [
			{ kind: 'resetAfterWork', match: match('lost') },
			{ kind: 'envelope', code: 'INVALID_REQUEST', status: 400, match: match('fay') },
		],
	});
	await scrape([lead('Fay', 'valid.fay'), lead('Lou', 'valid.lost')]);
	const lou = ['valid.lost@acme.example', 'Lou', 'not verified', LOST];
	expect((await rows()).slice(-2)).toEqual([
		['valid.fay@acme.example', 'Fay', null, expect.stringContaining('INVALID_REQUEST')],
		lou,
	]);
	expect(verified().toSorted()).toEqual(['valid.fay@acme.example', 'valid.lost@acme.example']);

	fixture.sandbox.set({ faults: [] });
	await scrape([lead('Gil', 'valid.gil')]);
	expect(verified().toSorted()).toEqual(['valid.fay@acme.example', 'valid.gil@acme.example']);
	expect((await rows()).slice(-3)).toEqual([
		['valid.fay@acme.example', 'Fay', 'valid', null],
		lou,
		['valid.gil@acme.example', 'Gil', 'valid', null],
	]);
});

test('says what came if the notification holds no leads', async () => {
	const execution = await scrape();
	expect(sentToCrm(execution)).toEqual([]);
	expect(itemsOf(execution, 'Say what came instead').map(({ message }) => message)).toEqual([
		expect.stringMatching(/^The scrape \S+ found 20 leads, but its notification holds none\.$/),
	]);
	expect(verified()).toEqual([]);
});

test('scrape-to-data-table keeps each lead of a scrape that was started by hand, as a whole', async () => {
	await fixture.reset({ job: { durationMs: 0 }, notification: { times: 0 } });
	const content = await fixture.example('scrape-to-data-table');
	const { webhookId } = nodeOf(content, 'leadGenTrigger');
	// As a person pastes it.
	const webhookUrl = `${fixture.webhookBase}/webhook/${String(webhookId)}/leadgen`;
	nodeOf(content, 'Start a scrape').parameters.options = { webhookUrl };
	const started = await fixture.api.createWorkflow(content);
	await fixture.api.activateWorkflow(started.id);
	// n8n 2 opens the URL a moment later.
	await quiet(1000);
	await fixture.api.runWorkflow(started.id);
	const ann = { name: 'Ann', email: ' Ann@Acme.example' };
	await notify(started, 0, [CEM, ann]);
	const stored = (await table('leadgen_scraped_leads')).map(
		({ email, name, title, company, profile, lead }) => [
			...[email, name, title, company, profile],
			JSON.parse(String(lead)) as unknown,
		],
	);
	const of = { scrapeId: fixture.sandbox.jobs[0]?.scrapeId, scrapeStatus: 'completed' };
	expect(stored).toEqual([
		[null, 'Cem Çelik', 'CTO', 'Acme', CEM.linkedinUrl, { ...CEM, ...of }],
		['ann@acme.example', 'Ann', null, null, null, { ...ann, ...of }],
	]);
});
