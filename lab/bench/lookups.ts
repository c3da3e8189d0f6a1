import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture, node, use, uuid } from '../fixture/fixture';
import type { WorkflowNode } from '../playground/api';
import type { SettingsPatch } from '../sandbox/settings';
import type { Row } from '../table';

/** What works on the rows. */
const VARIANTS = {
	leadgen: 'LeadGen',
	http: 'HTTP Request',
	none: 'the rows alone, no node',
};

/** A run of a workflow that looks up a business email for each of so many people. */
interface Task {
	variant: keyof typeof VARIANTS;
	items: number;
	plan: 'enterprise' | 'pro';
	service: SettingsPatch;
}

/** Linux counts the processor time of a process in hundredths of a second. */
const TICK_MS = 10;

/** The processor time of all threads of a process, and its highest resident memory, as Linux counts them. */
function processUse(pid = 0) {
	const read = (file: string) => readFileSync(`/proc/${String(pid)}/${file}`, 'utf8');
	// After the name in parentheses: state is field 3, user and system time are 14 and 15.
	const fields = (read('stat').split(') ').at(-1) ?? '').split(' ');
	return {
		cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
		peakMegabytes: Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(read('status'))?.[1]) / 1000),
	};
}

/** Runs a task in production, on an account that nothing is known of yet. */
async function measure(fixture: Fixture, task: Task): Promise<Row> {
	const { sandbox } = fixture;
	const { variant, items, plan, service } = task;
	const name = uuid();
	sandbox.reset({ ...service, accounts: { [name]: { plan, credits: 1_000_000 } } });
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', {
		typeVersion: 2,
		webhookId: name,
		parameters: {
			httpMethod: 'POST',
			path: name,
			responseMode: 'lastNode',
			responseData: 'noData',
		},
	});
	// People of the last name "Sure" are always found by the sandbox, so each call costs a credit.
	const person = "{ firstName: 'Person' + index, lastName: 'Sure', company: 'acme.example' }";
	const jsCode = `return Array.from({ length: ${String(items)} }, (_, index) => ({ json: ${person} }));`;
	const rows = node('Rows', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } });
	const { id } = await fixture.activate(webhook, rows, await workNode(fixture, name, task));

	const before = processUse(fixture.pid);
	await runToEnd(`${fixture.url}/webhook/${name}`);
	const { cpuMs, peakMegabytes } = processUse(fixture.pid);
	await fixture.api.deactivateWorkflow(id);

	const { requests } = sandbox;
	const first = requests[0]?.at ?? 0;
	const last = Math.max(first, ...requests.map(({ answeredAt = 0 }) => answeredAt));
	const refused = requests.filter(({ status }) => status === 429).length;
	return {
		Items: items,
		Node: VARIANTS[variant],
		'Time, s': ((last - first) / 1000).toFixed(2),
		Calls: requests.length,
		Refused: refused,
		'Items lost': variant === 'none' ? 0 : items - (requests.length - refused),
		Credits: requests.reduce((sum, { cost }) => sum + cost, 0),
		'CPU per item, ms': ((cpuMs - before.cpuMs) / items).toFixed(1),
		'Peak memory, MB': peakMegabytes,
	};
}

/** Starts the workflow and waits for its last node, longer than `fetch` does. */
async function runToEnd(url: string): Promise<void> {
	for (;;) {
		const status = await new Promise<number>((resolve, reject) => {
			request(url, { method: 'POST' }, (response) => {
				response.resume();
				resolve(response.statusCode ?? 0);
			})
				.once('error', reject)
				.end();
		});
		if (status === 200) return;
		// n8n 2 has the URL a moment after it has activated the workflow.
		if (status !== 404) throw new Error(`The workflow ended with HTTP ${String(status)}`);
		await sleep(100);
	}
}

async function workNode(
	fixture: Fixture,
	apiKey: string,
	{ variant, plan }: Task,
): Promise<WorkflowNode> {
	if (variant === 'none') return node('Work', 'n8n-nodes-base.noOp');
	const fields = ['firstName', 'lastName', 'company'].map((name) => {
		return { name, value: `={{ $json.${name} }}` };
	});
	const onError = 'continueRegularOutput';
	if (variant === 'leadgen') {
		const values = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
		const credentials = use(await fixture.newCredential(apiKey, apiKey, { plan }));
		const parameters = { resource: 'email', operation: 'findBusiness', ...values };
		return fixture.leadGen(parameters, { credentials, onError });
	}
	// The same call as a person would build it: a body of name and value pairs, the key as a header.
	const { id } = await fixture.api.createCredential({
		name: apiKey,
		type: 'httpHeaderAuth',
		data: { name: 'Authorization', value: `Bearer ${apiKey}` },
	});
	return node('Work', 'n8n-nodes-base.httpRequest', {
		typeVersion: 4.2,
		parameters: {
			method: 'POST',
			url: `${fixture.sandbox.url}/email/find`,
			authentication: 'genericCredentialType',
			genericAuthType: 'httpHeaderAuth',
			sendBody: true,
			bodyParameters: { parameters: fields },
			options: {},
		},
		credentials: { httpHeaderAuth: { id, name: apiKey } },
		onError,
	});
}

/** Runs tasks in a fresh n8n that saves no execution, so that the node is measured and not the database. */
async function measureAll(...tasks: Task[]): Promise<Row[]> {
	const fixture = new Fixture({ EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'none' });
	try {
		await fixture.open();
		// Loads the code of each node.
		for (const task of tasks) await measure(fixture, { ...task, items: 50, service: {} });
		const rows: Row[] = [];
		for (const task of tasks) rows.push(await measure(fixture, task));
		return rows;
	} finally {
		await fixture.close();
	}
}

export async function noLimit(): Promise<Row[]> {
	const task = { items: 1000, plan: 'enterprise', service: { latencyMs: 100 } } as const;
	return await measureAll({ variant: 'leadgen', ...task }, { variant: 'http', ...task });
}

export async function pro(): Promise<Row[]> {
	const service: SettingsPatch = { latencyMs: 100, rateLimit: { kind: 'sliding' } };
	const task = { items: 600, plan: 'pro', service } as const;
	return await measureAll({ variant: 'leadgen', ...task }, { variant: 'http', ...task });
}

/** Each line in an n8n of its own, as the peak is that of the process. */
export async function memory(): Promise<Row[]> {
	const rows: Row[] = [];
	for (const items of [10_000, 50_000]) {
		for (const variant of ['none', 'leadgen', 'http'] as const) {
			const service = { latencyMs: 5 };
			rows.push(...(await measureAll({ variant, items, plan: 'enterprise', service })));
		}
	}
	return rows;
}
