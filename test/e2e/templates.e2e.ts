import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fixture, N8N, until, uuid } from '../../lab/fixture/fixture';
import { ENV, LargeList, STORES } from '../../lab/fixture/largeList';
import type { StoredWorkflow, WorkflowContent } from '../../lab/playground/api';

/** Mistakes in files and credentials, and what the templates say of them. */
const fixture = new Fixture(ENV);
beforeAll(async () => {
	await fixture.open();
});
afterAll(async () => {
	await fixture.close();
});

async function imported(name: string): Promise<StoredWorkflow> {
	const text = await readFile(join(__dirname, '../../examples', `${name}.json`), 'utf8');
	const content = JSON.parse(text) as WorkflowContent;
	for (const node of content.nodes) {
		if (node.webhookId !== undefined) node.webhookId = uuid();
		const { id, name } = fixture.credential;
		if (node.credentials?.leadGenApi) node.credentials = { leadGenApi: { id, name } };
	}
	return await fixture.api.createWorkflow(content);
}

/** Gives the credential this base URL. */
async function changeCredential(baseUrl: string): Promise<void> {
	const { id, name } = fixture.credential;
	const data = fixture.credentialData('test-key', { baseUrl });
	await fixture.api.updateCredential(id, { name, type: 'leadGenApi', data });
}

const HEADER = 'First Name,Last Name,Website';
const rows = (count: number) =>
	Array.from({ length: count }, (_, at) => `Person${String(at)},Sure,acme.com`);

describe.each(STORES)(`n8n ${N8N.version}, the template for large lists, in %s`, (store) => {
	const list = new LargeList(fixture, store);
	beforeAll(async () => {
		fixture.credential = await fixture.newCredential(`Sandbox for ${store}`, 'test-key');
		await list.open();
	});
	afterAll(async () => {
		await list.close();
	});

	test.each([
		[
			'a row that is too short',
			[HEADER, ...rows(10), 'Ada,Okafor', ...rows(10)],
			'In line 12 of the file there are 2 cells, but 3 in its first line.',
		],
		[
			'a quotation mark',
			[HEADER, ...rows(10), 'Robert "Bob",Okafor,acme.com', ...rows(10)],
			'a quote is found on field',
		],
		[
			'an open quotation mark',
			[HEADER, ...rows(10), '"Robert,Okafor,acme.com', ...rows(10)],
			'Quote Not Closed',
		],
		[
			'other columns',
			['Name,URL', 'Ada Sure,acme.com'],
			'The file needs the columns First Name, Last Name and Website. It has Name, URL.',
		],
	])('says on the page if the file has %s, and adds nobody', async (_, lines, message) => {
		const page = await list.upload(lines.join('\r\n'));
		expect(page).toContain('The list could not be added');
		expect(page).toContain(message);
		expect(page).toContain('Correct this, and upload the file again.');
		expect(await list.count()).toBe(0);
	});

	test('says on the page if the credential is wrong, and adds nobody', async () => {
		await changeCredential('api.example.com');
		const page = await list.upload([HEADER, ...rows(3)].join('\n'));
		await changeCredential(fixture.sandbox.url);
		expect(page).toContain('The list could not be added');
		expect(page).toContain('The rows cannot be checked. Open the LeadGen credential');
		expect(await list.count()).toBe(0);
	});

	test.each([';', '\t'])('takes a file with %j between its cells', async (separator) => {
		const person = `Person${String(separator.charCodeAt(0))},Sure,acme.com`;
		const lines = [HEADER, person, person.toUpperCase()].map((line) =>
			line.replaceAll(',', separator),
		);
		const page = await list.upload(lines.join('\r\n'));
		expect(page).toContain('New people in the table: 1');
		expect(page).toContain('Rows in the file: 2.');
		const added = (await list.rows()).at(-1);
		expect([added?.firstName, added?.lastName, added?.company]).toEqual(person.split(','));
	});
});

test('the template for spreadsheets says on the page if the first sheet is empty', async () => {
	const { id, nodes } = await imported('spreadsheet-to-verified-emails');
	await fixture.api.activateWorkflow(id);
	const trigger = nodes.find(({ type }) => type === 'n8n-nodes-base.formTrigger');
	const url = `${fixture.url}/form/${String(trigger?.webhookId)}`;
	await until('the form', async () => (await fetch(url)).ok);
	const form = new FormData();
	const file = await readFile(join(__dirname, 'noCells.xlsx'));
	form.append('field-0', new Blob([Uint8Array.from(file)]), 'noCells.xlsx');
	const answer = await fetch(url, { method: 'POST', body: form });
	const { formWaitingUrl } = (await answer.json()) as { formWaitingUrl: string };
	await until('the last page', async () => (await fixture.executions(id))[0]?.status === 'waiting');
	const page = await (await fetch(formWaitingUrl)).text();
	expect(page).toContain('The file could not be read');
	expect(page).toContain('It has no columns.');
	expect(fixture.sandbox.requests).toEqual([]);
});

test('scrape-suspend-until-finished stops if the credential is wrong by now', async () => {
	fixture.credential = await fixture.newCredential('Sandbox for a scrape', 'test-key');
	fixture.sandbox.set({ job: { durationMs: 3_600_000 } });
	const { id } = await imported('scrape-suspend-until-finished');
	const execution = String(await fixture.api.startWorkflow(id, 'When clicking ‘Execute workflow’'));
	await until('the wait', async () => (await fixture.executions(id))[0]?.status === 'waiting');
	await changeCredential('api.example.com');
	await fixture.sandbox.notify(String(fixture.sandbox.jobs[0]?.scrapeId));
	const { status, error } = await fixture.api.finishedExecution(execution);
	expect(status).toBe('error');
	expect(error).toContain('Base URL in the LeadGen credential must begin with https://');
	expect(fixture.starts).toBe(1);
});
