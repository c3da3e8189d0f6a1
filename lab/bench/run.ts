import { setTimeout as sleep } from 'node:timers/promises';
import { N8nApiError, type WorkflowContent, type WorkflowNode } from '../playground/api';
import type { RequestRecord } from '../sandbox/requestLog';
import type { SettingsPatch } from '../sandbox/settings';
import { node, until, use, uuid, type Fixture } from '../fixture/fixture';
import { watchProcess, type ProcessUse } from './processUse';

/** What works on the rows. */
export const VARIANTS = {
	leadgen: 'LeadGen',
	http: 'HTTP Request',
	none: 'the rows alone, no node',
};
export type Variant = keyof typeof VARIANTS;

/** A run of a workflow to be measured, on rows with different people. */
export interface Task {
	variant: Variant;
	items: number;
	plan: 'enterprise' | 'pro';
	/** What the credential says; 0 by default. */
	requestsPerMinute?: number;
	service: SettingsPatch;
}

/** What a run gave. */
export interface Measured {
	requests: number;
	refused: number;
	credits: number;
	/** The most requests that were in flight at once. */
	peak: number;
	/** The node's execution time by n8n's record; of a run that is not saved, from the first arrival to the last answer. */
	ms: number;
	/** Items that came out with a result; of a run that is not saved, calls that were answered. */
	results: number;
	/** What the n8n process took during the run, where the system tells. */
	process?: ProcessUse;
}

const CREDITS = 1_000_000;
const PATIENCE_MS = 10 * 60_000;
/** The node whose time counts; the others only make the rows. */
const WORK = 'Work';

/**
 * Runs a workflow in production, on an account that nothing is known of yet.
 * @param save not for large runs, so that what is measured is the node and not n8n's database
 */
export async function measureRun(fixture: Fixture, task: Task, save = true): Promise<Measured> {
	const { api, sandbox } = fixture;
	const name = `run-${uuid()}`;
	sandbox.reset({ ...task.service, accounts: { [name]: { plan: task.plan, credits: CREDITS } } });
	const workflow = await api.createWorkflow(await lookupWorkflow(fixture, name, task, save));
	const { status } = await api.activateWorkflow(workflow.id);
	if (status !== 'published') throw new Error(`The workflow is ${status}`);

	const endUse = await watchProcess(fixture.pid);
	const url = `${fixture.url}/webhook/${name}`;
	await until('its webhook', async () => (await fetch(url, { method: 'POST' })).ok);
	const id = await finished(fixture, workflow.id);
	const process = await endUse();
	await patiently(() => api.deactivateWorkflow(workflow.id));

	const traffic = trafficOf(sandbox.requests);
	if (id === undefined) {
		return { ...traffic, results: traffic.requests - traffic.refused, process };
	}
	const {
		startedAt = NaN,
		endedAt = NaN,
		outputs,
	} = (await api.finishedExecution(id)).nodes[WORK] ?? {};
	const results = (outputs?.[0] ?? []).filter(({ json }) => hasResult(json)).length;
	return { ...traffic, ms: endedAt - startedAt, results, process };
}

/**
 * Waits until the only execution of a workflow is over.
 * @returns its ID; undefined if it was not saved
 */
async function finished({ api }: Fixture, workflowId: string): Promise<string | undefined> {
	for (;;) {
		const [execution, ...more] = await patiently(() => api.executions(workflowId));
		if (more.length > 0) throw new Error('The workflow ran more than once');
		if (!execution || execution.status === 'success') return execution?.id;
		if (!['new', 'running', 'waiting'].includes(execution.status)) {
			throw new Error(`The execution ended with "${execution.status}"`);
		}
		await sleep(100);
	}
}

/** An n8n that is too busy for its own database answers 503 to all requests for a while. */
async function patiently<T>(request: () => Promise<T>): Promise<T> {
	for (const deadline = Date.now() + PATIENCE_MS; ;) {
		try {
			return await request();
		} catch (error) {
			const isBusy = error instanceof N8nApiError && error.status === 503;
			if (!isBusy || Date.now() > deadline) throw error;
			await sleep(500);
		}
	}
}

/** What the service saw of a run. */
function trafficOf(requests: RequestRecord[]) {
	const wrong = requests.find(({ violation }) => violation !== undefined);
	if (wrong) throw new Error(`A request departs from the interface: ${String(wrong.violation)}`);
	const first = requests[0]?.at ?? 0;
	const last = requests.reduce((ms, { answeredAt = 0 }) => Math.max(ms, answeredAt), first);
	return {
		requests: requests.length,
		refused: requests.filter(({ outcome }) => outcome === 'RATE_LIMIT_EXCEEDED').length,
		credits: requests.reduce((sum, { cost }) => sum + cost, 0),
		ms: last - first,
		peak: peakOf(requests),
	};
}

function peakOf(requests: RequestRecord[]): number {
	const changes = requests.flatMap(({ at, answeredAt = Infinity }) => [
		{ at, by: 1 },
		{ at: answeredAt, by: -1 },
	]);
	changes.sort((a, b) => a.at - b.at || a.by - b.by);
	let [now, peak] = [0, 0];
	for (const { by } of changes) {
		now += by;
		peak = Math.max(peak, now);
	}
	return peak;
}

/** The LeadGen node gives the data of the answer, the HTTP Request node the whole answer. */
function hasResult(json: Record<string, unknown>): boolean {
	const { data = json } = json as { data?: { email?: unknown } };
	return typeof data.email === 'string';
}

/**
 * A workflow that makes the rows and looks up a business email for each.
 * @param name of its path and its credentials, and the API key
 */
async function lookupWorkflow(
	fixture: Fixture,
	name: string,
	task: Task,
	save: boolean,
): Promise<WorkflowContent> {
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', {
		typeVersion: 2.1,
		webhookId: name,
		parameters: { httpMethod: 'POST', path: name, responseMode: 'onReceived' },
	});
	// People of the last name "Sure" are always found by the sandbox, so each call costs a credit.
	const person = "{ firstName: 'Person' + index, lastName: 'Sure', company: 'acme.example' }";
	const jsCode = `return Array.from({ length: ${String(task.items)} }, (_, index) => ({ json: ${person} }));`;
	const rows = node('Rows', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } });
	const content = fixture.content(webhook, rows, await workNode(fixture, name, task));
	const saveDataSuccessExecution = save ? 'all' : 'none';
	return { ...content, settings: { ...content.settings, saveDataSuccessExecution } };
}

async function workNode(fixture: Fixture, apiKey: string, task: Task): Promise<WorkflowNode> {
	const { variant, plan, requestsPerMinute = 0 } = task;
	if (variant === 'none') return node(WORK, 'n8n-nodes-base.noOp');
	const onError = 'continueRegularOutput';
	const fields = ['firstName', 'lastName', 'company'].map((name) => {
		return { name, value: `={{ $json.${name} }}` };
	});
	if (variant === 'leadgen') {
		const values = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
		const parameters = { resource: 'email', operation: 'findBusiness', ...values };
		const limit = { plan, requestsPerMinute };
		const credentials = use(await fixture.newCredential(apiKey, apiKey, limit));
		return fixture.leadGen(parameters, { name: WORK, credentials, onError });
	}
	// The same call as a person would build it: a body of name and value pairs, the key as a header.
	const { id } = await fixture.api.createCredential({
		name: apiKey,
		type: 'httpHeaderAuth',
		data: { name: 'Authorization', value: `Bearer ${apiKey}` },
	});
	return node(WORK, 'n8n-nodes-base.httpRequest', {
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
