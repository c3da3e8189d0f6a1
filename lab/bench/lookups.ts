import { Fixture, node, use, uuid } from '../fixture/fixture';
import type { WorkflowNode } from '../playground/api';
import type { SettingsPatch } from '../sandbox/settings';
import type { Row } from '../table';
import { runWorkflow } from './workflow';

/** What is done with each row. */
const WORK = {
	verify: { operation: 'verify', path: '/email/verify', fields: ['email'] },
	find: {
		operation: 'findBusiness',
		path: '/email/find',
		fields: ['firstName', 'lastName', 'company'],
	},
};

/** A run of a workflow that does so for so many people. */
interface Task {
	work: keyof typeof WORK;
	items: number;
	plan: 'enterprise' | 'pro';
	service: SettingsPatch;
}

/** The nodes that are compared. Each is made for an API key and its plan. */
const WORKERS = { LeadGen: leadGenNode, 'HTTP Request': httpNode };
type Worker = keyof typeof WORKERS;

/** Runs a task in production, on an account that nothing is known of yet. */
async function measure(fixture: Fixture, worker: Worker, task: Task): Promise<Row> {
	const { sandbox } = fixture;
	const { work, items, plan, service } = task;
	const apiKey = uuid();
	sandbox.reset({ ...service, accounts: { [apiKey]: { plan, credits: 1_000_000 } } });
	// People of the last name "Sure" are always found by the sandbox, so each call costs a credit.
	const json =
		"{ firstName: 'Person' + index, lastName: 'Sure', company: 'acme.example', email: index + '@acme.example' }";
	const workNode = await WORKERS[worker](fixture, apiKey, task);
	const status = await runWorkflow(fixture, { count: items, json }, workNode);
	if (status !== 200) throw new Error(`The workflow ended with HTTP ${String(status)}`);

	const { requests } = sandbox;
	const first = requests[0]?.at ?? 0;
	const last = Math.max(first, ...requests.map(({ answeredAt = 0 }) => answeredAt));
	const refused = requests.filter((each) => each.status === 429).length;
	return {
		Work: work,
		Items: items,
		Node: worker,
		'Time, s': ((last - first) / 1000).toFixed(2),
		Calls: requests.length,
		Refused: refused,
		'Items lost': items - (requests.length - refused),
		Credits: requests.reduce((sum, { cost }) => sum + cost, 0),
	};
}

const fieldsOf = ({ work }: Task) =>
	WORK[work].fields.map((name) => ({ name, value: `={{ $json.${name} }}` }));
const onError = 'continueRegularOutput';

async function leadGenNode(fixture: Fixture, apiKey: string, task: Task): Promise<WorkflowNode> {
	const values = Object.fromEntries(fieldsOf(task).map(({ name, value }) => [name, value]));
	const credentials = use(await fixture.newCredential(apiKey, apiKey, { plan: task.plan }));
	const { operation } = WORK[task.work];
	const parameters = { resource: 'email', operation, ...values };
	return fixture.leadGen(parameters, { credentials, onError });
}

/** The same call as a person would build it: a body of name and value pairs, the key as a header. */
async function httpNode(fixture: Fixture, apiKey: string, task: Task): Promise<WorkflowNode> {
	const { id } = await fixture.api.createCredential({
		name: apiKey,
		type: 'httpHeaderAuth',
		data: { name: 'Authorization', value: `Bearer ${apiKey}` },
	});
	return node('Work', 'n8n-nodes-base.httpRequest', {
		typeVersion: 4.2,
		parameters: {
			method: 'POST',
			url: fixture.sandbox.url + WORK[task.work].path,
			authentication: 'genericCredentialType',
			genericAuthType: 'httpHeaderAuth',
			sendBody: true,
			bodyParameters: { parameters: fieldsOf(task) },
			options: {},
		},
		credentials: { httpHeaderAuth: { id, name: apiKey } },
		onError,
	});
}

/** Compares the nodes in a fresh n8n that saves no execution, so that they are measured and not the database. */
export async function compare(task: Task): Promise<Row[]> {
	const workers = Object.keys(WORKERS) as Worker[];
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
