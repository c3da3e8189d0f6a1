import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture, node, use, uuid } from '../fixture/fixture';
import type { WorkflowNode } from '../playground/api';
import type { SettingsPatch } from '../sandbox/settings';
import type { Row } from '../table';

type Worker = 'LeadGen' | 'HTTP Request';

/** A run of a workflow that looks up a business email for each of so many people. */
interface Task {
	items: number;
	plan: 'enterprise' | 'pro';
	service: SettingsPatch;
}

/** Runs a task in production, on an account that nothing is known of yet. */
async function measure(fixture: Fixture, worker: Worker, task: Task): Promise<Row> {
	const { sandbox } = fixture;
	const { items, plan, service } = task;
	const name = uuid();
	sandbox.reset({ ...service, accounts: { [name]: { plan, credits: 1_000_000 } } });
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', {
		typeVersion: 2,
		webhookId: name,
		parameters: { path: name, responseMode: 'lastNode', responseData: 'noData' },
	});
	// People of the last name "Sure" are always found by the sandbox, so each call costs a credit.
	const person = "{ firstName: 'Person' + index, lastName: 'Sure', company: 'acme.example' }";
	const jsCode = `return Array.from({ length: ${String(items)} }, (_, index) => ({ json: ${person} }));`;
	const rows = node('Rows', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } });
	const work = worker === 'LeadGen' ? leadGenNode : httpNode;
	const { id } = await fixture.activate(webhook, rows, await work(fixture, name, plan));
	await runToEnd(`${fixture.url}/webhook/${name}`);
	await fixture.api.deactivateWorkflow(id);

	const { requests } = sandbox;
	const first = requests[0]?.at ?? 0;
	const last = Math.max(first, ...requests.map(({ answeredAt = 0 }) => answeredAt));
	const refused = requests.filter(({ status }) => status === 429).length;
	return {
		Items: items,
		Node: worker,
		'Time, s': ((last - first) / 1000).toFixed(2),
		Calls: requests.length,
		Refused: refused,
		'Items lost': items - (requests.length - refused),
		Credits: requests.reduce((sum, { cost }) => sum + cost, 0),
	};
}

/** Starts the workflow and waits for its last node. */
async function runToEnd(url: string): Promise<void> {
	for (;;) {
		const { status } = await fetch(url);
		if (status === 200) return;
		// n8n 2 has the URL a moment after it has activated the workflow.
		if (status !== 404) throw new Error(`The workflow ended with HTTP ${String(status)}`);
		await sleep(100);
	}
}

const FIELDS = ['firstName', 'lastName', 'company'].map((name) => {
	return { name, value: `={{ $json.${name} }}` };
});
const onError = 'continueRegularOutput';

async function leadGenNode(fixture: Fixture, apiKey: string, plan: string): Promise<WorkflowNode> {
	const values = Object.fromEntries(FIELDS.map(({ name, value }) => [name, value]));
	const credentials = use(await fixture.newCredential(apiKey, apiKey, { plan }));
	const parameters = { resource: 'email', operation: 'findBusiness', ...values };
	return fixture.leadGen(parameters, { credentials, onError });
}

/** The same call as a person would build it: a body of name and value pairs, the key as a header. */
async function httpNode(fixture: Fixture, apiKey: string): Promise<WorkflowNode> {
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
			bodyParameters: { parameters: FIELDS },
			options: {},
		},
		credentials: { httpHeaderAuth: { id, name: apiKey } },
		onError,
	});
}

/** Compares the nodes in a fresh n8n that saves no execution, so that they are measured and not the database. */
export async function compare(task: Task): Promise<Row[]> {
	const workers: Worker[] = ['LeadGen', 'HTTP Request'];
	const fixture = new Fixture({ EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'none' });
	try {
		await fixture.open();
		// Loads the code of each node.
		for (const each of workers) await measure(fixture, each, { ...task, items: 50, service: {} });
		const rows: Row[] = [];
		for (const each of workers) rows.push(await measure(fixture, each, task));
		return rows;
	} finally {
		await fixture.close();
	}
}
