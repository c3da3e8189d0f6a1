import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Execution, StoredWorkflow, WorkflowContent } from '../../playground/api';
import { Field, N8N, quiet, until, uuid } from './field';

const FOLDER = join(__dirname, '../../examples');
const MANUAL = 'When clicking ‘Execute workflow’';

/** Every example workflow, imported as it is and run on a real n8n. */
const field = new Field();
beforeAll(async () => {
	await field.open();
});
afterAll(async () => {
	await field.close();
});
beforeEach(async () => {
	await field.reset();
});
afterEach(() => {
	expect(field.sandbox.requests.map(({ violation }) => violation).filter(Boolean)).toEqual([]);
});

/**
 * Only the credential is filled in, as a person does; and an example that is imported twice gets
 * an address of its own, since n8n's cache may keep that of a deactivated workflow.
 * @param edit what a person changes besides
 */
async function imported(
	name: string,
	edit: (content: WorkflowContent) => void = () => {},
): Promise<StoredWorkflow> {
	let text = await readFile(join(FOLDER, `${name}.json`), 'utf8');
	for (const [, id = ''] of text.matchAll(/"webhookId": "(.+?)"/g)) {
		text = text.replaceAll(id, uuid());
	}
	const content = JSON.parse(text) as WorkflowContent;
	const credential = { id: field.credential.id, name: field.credential.name };
	for (const node of content.nodes) {
		if (node.credentials?.leadGenApi) node.credentials = { leadGenApi: credential };
	}
	edit(content);
	return await field.api.createWorkflow(content);
}

async function activated(name: string): Promise<StoredWorkflow> {
	const workflow = await imported(name);
	await field.api.activateWorkflow(workflow.id);
	return workflow;
}

function parametersOf({ nodes }: WorkflowContent, name: string): Record<string, unknown> {
	const found = nodes.find((node) => node.name === name);
	if (!found) throw new Error(`There is no node "${name}"`);
	return found.parameters;
}

/** Puts other rows into an example that holds its rows itself. */
function withRows(node: string, field: string, rows: unknown[]) {
	return (content: WorkflowContent) => {
		parametersOf(content, node).jsonOutput = JSON.stringify({ [field]: rows });
	};
}

/** The executions of a workflow once there are as many and all are over, the oldest first. */
async function executions({ id }: StoredWorkflow, count: number): Promise<Execution[]> {
	await until(
		`${String(count)} executions`,
		async () => (await field.executions(id)).length >= count,
		30_000,
	);
	const all = await field.executions(id);
	const finished = await Promise.all(
		all.map(async (one) => await field.api.finishedExecution(one.id)),
	);
	return finished.toReversed();
}

/** An execution of scrape-suspend-until-finished has looked at the status so often, and waits. */
async function looksThenWaits(id: string, execution: string, looks: number): Promise<void> {
	await until(`look ${String(looks)}, and a wait`, async () => {
		// n8n 2.16 cannot show one that has just begun.
		const [listed] = await field.executions(id);
		if (listed?.status !== 'waiting') return false;
		const { status, nodes } = await field.api.execution(execution);
		const { outputs = [] } = nodes['Look at the status'] ?? {};
		return status === 'waiting' && (outputs[0] ?? []).length === looks;
	});
}

/** The items of a node, over all executions; by default those of its first output. */
function items(execution: Execution | Execution[], node: string, output = 0) {
	return [execution]
		.flat()
		.flatMap(({ nodes }) => nodes[node]?.outputs[output] ?? [])
		.map(({ json }) => json);
}

/** How each execution ended, in the words of n8n. */
function outcomes(execution: Execution | Execution[]): string[] {
	return [execution].flat().map(({ status, error }) => error ?? status);
}

describe(`n8n ${N8N.version}, the example`, () => {
	test('find-and-verify gives rows for the CRM, and pays for no step in vain', async () => {
		const { id } = await imported('find-and-verify');
		const execution = await field.api.runWorkflow(id, MANUAL);

		expect(outcomes(execution)).toEqual(['success']);
		const rows = items(execution, 'Row for the CRM');
		expect(rows.map(({ name, company, kind, status }) => [name, company, kind, status])).toEqual([
			['Ada Okafor', 'acme.example', 'business', 'valid'],
			['Nora Haddad', 'umbrella.example', 'business', 'valid'],
			['Kenji Tanaka', 'initech.example', 'business', 'catch_all'],
			['Anna Novak', 'initech.example', 'personal', 'valid'],
		]);
		expect(items(execution, 'Row without an email')).toEqual([
			{
				name: 'Tom Nobody',
				company: 'hooli.example',
				reason: 'business: not found, personal: not found',
			},
		]);
		expect(
			['findBusinessEmail', 'findPersonalEmail', 'verifyEmail'].map((name) => field.count(name)),
		).toEqual([5, 2, 5]);
	});

	test('find-and-verify says what is wrong with a bad row, and goes on with the others', async () => {
		const rows = [
			{ firstName: 'Eva', lastName: 'Sure', company: 'acme.com' },
			{ firstName: 'Bob', lastName: 'High', company: 'Acme Inc' },
			{ firstName: '', lastName: '', company: 'acme.com' },
			{ firstName: 'Cem', lastName: 'Sure', company: 'acme.com' },
		];
		const { id } = await imported('find-and-verify', withRows('People', 'people', rows));
		const execution = await field.api.runWorkflow(id, MANUAL);

		expect(outcomes(execution)).toEqual(['success']);
		expect(items(execution, 'Row for the CRM').map(({ name }) => name)).toEqual([
			'Eva Sure',
			'Cem Sure',
		]);
		expect(items(execution, 'Row without an email')).toEqual([
			{
				name: 'Bob High',
				company: 'Acme Inc',
				reason: 'Company Domain must be a domain, but is "Acme Inc"',
			},
			{ name: ' ', company: 'acme.com', reason: 'First Name and Last Name are both empty' },
		]);
		expect(field.count('findBusinessEmail')).toBe(2);
	});

	test('verify-and-route gives each address its way, and pays for one that is there twice once', async () => {
		const { id } = await imported('verify-and-route');
		const execution = await field.api.runWorkflow(id, MANUAL);

		const route = (node: string) => items(execution, node).map(({ email }) => email);
		expect(route('Send the campaign')).toEqual([
			'valid.ada@acme.example',
			'valid.nora@umbrella.example',
			'valid.ada@acme.example',
		]);
		expect(route('Look at it by hand')).toEqual(['catchall.kenji@initech.example']);
		expect(route('Remove from the list')).toEqual(['invalid.priya@initech.example']);
		expect(field.count('verifyEmail')).toBe(4);
	});

	test('verify-and-route gives a bad row to the risky ones, and goes on with the others', async () => {
		const rows = [{ email: 'valid.eva@acme.example' }, { email: 'Acme Inc' }, { email: '' }];
		const { id } = await imported('verify-and-route', withRows('Addresses', 'addresses', rows));
		const execution = await field.api.runWorkflow(id, MANUAL);

		expect(outcomes(execution)).toEqual(['success']);
		expect(items(execution, 'Send the campaign').map(({ email }) => email)).toEqual([
			'valid.eva@acme.example',
		]);
		expect(items(execution, 'Look at it by hand')).toEqual([
			{
				email: 'Acme Inc',
				error: expect.objectContaining({
					message: 'Email must be one email address, but is "Acme Inc"',
				}) as unknown,
			},
			{ email: '', error: expect.objectContaining({ message: 'Email is empty' }) as unknown },
		]);
		expect(field.count('verifyEmail')).toBe(1);
	});

	test('spreadsheet-to-verified-emails takes a file and gives it back with emails', async () => {
		const workflow = await activated('spreadsheet-to-verified-emails');
		// As Excel saves it: with a byte order mark.
		const csv = [
			'\ufeffFirst Name,Last Name,Website,Phone',
			'Ann,Sure,https://www.acme.com/team,1',
			'Bob,High,"Beta, Inc",2',
			'Tom,Nobody,acme.com,3',
		].join('\n');
		const form = new FormData();
		form.append('field-0', new Blob([csv], { type: 'text/csv' }), 'people.csv');
		const trigger = workflow.nodes.find(({ type }) => type === 'n8n-nodes-base.formTrigger');
		const url = `${field.url}/form/${String(trigger?.webhookId)}`;
		await until('the form', async () => (await fetch(url)).ok);
		const answer = await fetch(url, { method: 'POST', body: form });
		expect(answer.status).toBe(200);
		const { formWaitingUrl } = (await answer.json()) as { formWaitingUrl: string };

		await until('the rows', async () => {
			const [latest] = await field.executions(workflow.id);
			if (!latest) return false;
			const { nodes } = await field.api.execution(latest.id);
			return nodes['Make the file'] !== undefined;
		});
		const [latest] = await field.executions(workflow.id);
		const execution = await field.api.execution(String(latest?.id));
		expect(items(execution, 'Rows of the new file')).toEqual([
			{
				'First Name': 'Ann',
				'Last Name': 'Sure',
				Website: 'https://www.acme.com/team',
				Phone: '1',
				Email: 'ann.sure@acme.com',
				Status: 'valid',
				Confidence: '0.97',
				Problem: '',
			},
			{
				'First Name': 'Bob',
				'Last Name': 'High',
				Website: 'Beta, Inc',
				Phone: '2',
				Email: '',
				Status: '',
				Confidence: '',
				Problem: 'Company Domain must be a domain, but is "Beta, Inc"',
			},
			{
				'First Name': 'Tom',
				'Last Name': 'Nobody',
				Website: 'acme.com',
				Phone: '3',
				Email: '',
				Status: '',
				Confidence: '',
				Problem: '',
			},
		]);
		const page = await (await fetch(formWaitingUrl)).text();
		expect(page).toContain('verified-emails.csv');
	});

	test('scrape-and-wait gives the finished scrape', async () => {
		const { id } = await imported('scrape-and-wait');
		const execution = await field.api.runWorkflow(id, MANUAL);
		expect(items(execution, 'Start scrape and wait')).toEqual([
			expect.objectContaining({ status: 'completed', leadsFound: 25, creditsUsed: 25 }),
		]);
		expect(field.starts).toBe(1);
	});

	test('scrape-suspend-until-finished goes on when the service calls', async () => {
		field.sandbox.set({ job: { durationMs: 3000 } });
		const { id } = await imported('scrape-suspend-until-finished');
		const execution = await field.api.runWorkflow(id, MANUAL);
		expect(items(execution, 'Say what it found')).toEqual([
			{ message: expect.stringMatching(/found 20 leads for 20 credits/) as string },
		]);
		expect(field.sandbox.jobs[0]?.notifications.map(({ status }) => status)).toEqual([200]);
		expect(field.starts).toBe(1);
	});

	test('scrape-suspend-until-finished goes on soon, though n8n turned the notification away', async () => {
		// The scrape is finished before the answer to its start has come.
		field.sandbox.set({ job: { durationMs: 0 }, latencyMs: 500 });
		const { id } = await imported('scrape-suspend-until-finished', (content) => {
			parametersOf(content, 'Wait for the notification').resumeUnit = 'seconds';
		});
		const execution = await field.api.runWorkflow(id, MANUAL);
		const [notification] = field.sandbox.jobs[0]?.notifications ?? [];
		expect(notification?.status).toBeGreaterThanOrEqual(400);
		expect(items(execution, 'Say what it found')).toEqual([
			{ message: expect.stringMatching(/found 20 leads for 20 credits/) as string },
		]);
		expect(field.starts).toBe(1);
	});

	test('scrape-suspend-until-finished waits again as long as the scrape runs, and tells one that failed', async () => {
		field.sandbox.set({ job: { durationMs: 3_600_000 } });
		const { id } = await imported('scrape-suspend-until-finished');
		const execution = String(await field.api.startWorkflow(id, MANUAL));
		await looksThenWaits(id, execution, 0);
		const scrapeId = String(field.sandbox.jobs[0]?.scrapeId);
		await field.sandbox.notify(scrapeId);
		await looksThenWaits(id, execution, 1);
		field.sandbox.finish(scrapeId, 'failed');
		const finished = await field.api.finishedExecution(execution);
		const looks = items(finished, 'Look at the status').map(({ status }) => status);
		expect(looks).toEqual([expect.stringMatching(/pending|processing/), 'failed']);
		expect(items(finished, 'Say that it failed')).toEqual([
			{ message: expect.stringMatching(/failed. It had found/) as string },
		]);
		expect(items(finished, 'Say what it found')).toEqual([]);
		expect(field.starts).toBe(1);
	});

	test('scrape-suspend-until-finished waits again after an outage, and stops if the service refuses to answer', async () => {
		field.sandbox.set({ job: { durationMs: 3_600_000 } });
		const { id } = await imported('scrape-suspend-until-finished');
		const execution = String(await field.api.startWorkflow(id, MANUAL));
		await looksThenWaits(id, execution, 0);
		const scrapeId = String(field.sandbox.jobs[0]?.scrapeId);
		const match = { path: '/status' };
		field.sandbox.set({ faults: [{ kind: 'status', status: 503, match }] });
		await field.sandbox.notify(scrapeId);
		await looksThenWaits(id, execution, 1);
		field.sandbox.set({ faults: [{ kind: 'envelope', code: 'UNAUTHORIZED', match }] });
		await field.sandbox.notify(scrapeId);
		const finished = await field.api.finishedExecution(execution);
		expect(finished.status).toBe('error');
		expect(finished.error).toMatch(/UNAUTHORIZED/);
		expect(field.starts).toBe(1);
	});

	test('credit-alert writes when the credits run low, and only then', async () => {
		const { id } = await imported('credit-alert');
		const quietDay = await field.api.runWorkflow(id, 'Every morning');
		expect(items(quietDay, 'Send the alert')).toEqual([]);
		field.sandbox.set({ accounts: { 'test-key': { plan: 'pro', credits: 120 } } });
		const lowDay = await field.api.runWorkflow(id, 'Every morning');
		expect(items(lowDay, 'Send the alert')).toEqual([
			{
				message: expect.stringMatching(
					/^Only 120 LeadGen credits are left on the plan pro/,
				) as string,
			},
		]);
	});

	test('trigger-start-scrape starts one scrape, and gives the leads if they are sent', async () => {
		field.sandbox.set({ notification: { shape: 'leads' } });
		// The start, and the completion.
		const all = await executions(await activated('trigger-start-scrape'), 2);
		expect(outcomes(all)).toEqual(['success', 'success']);
		const source = field.sandbox.jobs[0]?.scrapeId;
		expect(items(all, 'Row for the CRM')).toEqual(
			Array.from({ length: 20 }, (_, index) => ({
				name: `Lead ${String(index + 1)}`,
				email: expect.stringContaining('@example.com') as string,
				source,
			})),
		);
		expect(items(all, 'Completed?')).toEqual([]);
		expect(field.starts).toBe(1);
	});

	test('trigger-start-scrape says what a scrape found whose leads are not sent', async () => {
		// The start, and the completion.
		const all = await executions(await activated('trigger-start-scrape'), 2);
		expect(outcomes(all)).toEqual(['success', 'success']);
		expect(items(all, 'Say what it found').map(({ message }) => message)).toEqual([
			expect.stringMatching(/found 20 leads for 20 credits/),
		]);
		expect(items(all, 'Row for the CRM')).toEqual([]);
	});

	test('trigger-start-scrape says that a scrape failed', async () => {
		field.sandbox.set({ job: { outcome: 'failed' } });
		// The start, and the completion.
		const all = await executions(await activated('trigger-start-scrape'), 2);
		expect(outcomes(all)).toEqual(['success', 'success']);
		expect(items(all, 'Say that it failed').map(({ message }) => message)).toEqual([
			expect.stringMatching(/failed. It had found 10 leads/),
		]);
		expect(items(all, 'Say what it found')).toEqual([]);
	});

	test('trigger-listen receives the completion of a scrape that the LeadGen node started', async () => {
		const workflow = await activated('trigger-listen');
		await quiet(500);
		await field.api.runWorkflow(workflow.id, MANUAL);
		const all = await executions(workflow, 2);
		expect(items(all, 'Say what it found').map(({ message }) => message)).toEqual([
			expect.stringMatching(/found 15 leads for 15 credits/),
		]);
		expect(field.starts).toBe(1);
	});

	test('is one of those above, or has a test of its own', async () => {
		const tested = [
			'ai-agent-tools',
			'credit-alert',
			'find-and-verify',
			'large-list',
			'large-list-postgres',
			'scrape-and-wait',
			'scrape-suspend-until-finished',
			'spreadsheet-to-verified-emails',
			'trigger-listen',
			'trigger-start-scrape',
			'verify-and-route',
		];
		const files = (await readdir(FOLDER)).map((file) => file.replace('.json', ''));
		expect(files.filter((file) => !tested.includes(file))).toEqual([]);
	});
});
