import { setTimeout as sleep } from 'node:timers/promises';
import { N8nApiError, type WorkflowContent, type WorkflowNode } from '../playground/api';
import type { RequestRecord } from '../sandbox/requestLog';
import type { SettingsPatch } from '../sandbox/settings';
import { node, until, use, uuid, type Fixture } from '../fixture/fixture';
import { watchProcess, type ProcessUse } from './processUse';

/** What works on the rows. */
export const VARIANTS = {
	leadgen: 'LeadGen',
	http: 'HTTP Request, default (no batching)',
	httpBatched: 'HTTP Request, batches of 50 per 1,000 ms',
	httpPaced: 'HTTP Request, batches of 5 per 1,000 ms',
	loop: 'Loop Over Items, 1 by 1, HTTP Request',
	none: 'the rows alone, no node',
};
export type Variant = keyof typeof VARIANTS;

/** The Batching option of the HTTP Request node: 50 is what it offers, 5 is 300 per minute. */
const BATCH_SIZES: Partial<Record<Variant, number>> = { httpBatched: 50, httpPaced: 5 };

export interface Rows {
	items: number;
	/** How many of them are different people; the others are repeats of these. */
	distinct: number;
}

/** A run of a workflow to be measured. */
export interface Task extends Rows {
	variant: Variant;
	plan: 'enterprise' | 'pro' | 'starter';
	/** What the credential says of the plan, where it is not its name. */
	credential?: { plan: string; requestsPerMinute: number };
	/** Credits of the account; more than any run needs by default. */
	credits?: number;
	service: SettingsPatch;
	/** Not for large runs, so that what is measured is the node and not n8n's database. Default true. */
	save?: boolean;
}

/** What a run gave. */
export interface Measured {
	requests: number;
	refused: number;
	/** Calls that were made although the credits had ended. */
	vain: number;
	credits: number;
	/** The most requests that were in flight at once. */
	peak: number;
	/** The nodes' execution time by n8n's record; of a run that is not saved, from the first arrival to the last answer. */
	ms: number;
	/** Items that came out with a result; of a run that is not saved, calls that were answered. */
	results: number;
	/** The longest time that n8n did not answer its own editor. */
	stallMs: number;
	/** What the n8n process took during the run, where the system tells. */
	process?: ProcessUse;
}

const CREDITS = 1_000_000;
const PATIENCE_MS = 10 * 60_000;
/** The nodes whose time counts; the others only make the rows. */
const WORK = 'Work';
const LOOP = 'Loop';

/** Runs a workflow in production, on an account that nothing is known of yet. */
export async function measureRun(fixture: Fixture, task: Task): Promise<Measured> {
	const { api, sandbox } = fixture;
	const { plan, credits = CREDITS, service } = task;
	const name = `run-${uuid()}`;
	sandbox.reset({ ...service, accounts: { [name]: { plan, credits } } });
	const workflow = await api.createWorkflow(await lookupWorkflow(fixture, name, task));
	const { status } = await api.activateWorkflow(workflow.id);
	if (status !== 'published') throw new Error(`The workflow is ${status}`);

	const endUse = await watchProcess(fixture.pid);
	const url = `${fixture.url}/webhook/${name}`;
	await until('its webhook', async () => (await fetch(url, { method: 'POST' })).ok);
	const { id, stallMs } = await finished(fixture, workflow.id);
	const process = await endUse();
	await patiently(() => api.deactivateWorkflow(workflow.id));

	const traffic = trafficOf(sandbox.requests);
	if (id === undefined) {
		const results = traffic.requests - traffic.refused;
		return { ...traffic, results, stallMs, process };
	}
	const { nodes } = await api.finishedExecution(id);
	const ran = [nodes[WORK] ?? [], nodes[LOOP] ?? []].flat();
	const began = Math.min(...ran.map(({ startedAt = NaN }) => startedAt));
	const ended = Math.max(...ran.map(({ endedAt = NaN }) => endedAt));
	const results = (nodes[WORK]?.outputs[0] ?? []).filter(({ json }) => hasResult(json)).length;
	return { ...traffic, ms: ended - began, results, stallMs, process };
}

/**
 * Waits until the only execution of a workflow is over.
 * @returns its ID, undefined if it was not saved; and how long n8n gave no answer in the meantime
 */
async function finished(
	{ api }: Fixture,
	workflowId: string,
): Promise<{ id?: string; stallMs: number }> {
	for (let stallMs = 0; ;) {
		const asked = Date.now();
		const [execution, ...more] = await patiently(() => api.executions(workflowId));
		stallMs = Math.max(stallMs, Date.now() - asked);
		if (more.length > 0) throw new Error('The workflow ran more than once');
		if (!execution) return { stallMs };
		const { id, status } = execution;
		if (status === 'success') return { id, stallMs };
		if (!['new', 'running', 'waiting'].includes(status)) {
			throw new Error(`The execution ended with "${status}"`);
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
	const count = (code: string) => requests.filter(({ outcome }) => outcome === code).length;
	return {
		requests: requests.length,
		refused: count('RATE_LIMIT_EXCEEDED'),
		vain: count('INSUFFICIENT_CREDITS'),
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
): Promise<WorkflowContent> {
	const { items, distinct, variant, save = true } = task;
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', {
		typeVersion: 2.1,
		webhookId: name,
		parameters: { httpMethod: 'POST', path: name, responseMode: 'onReceived' },
	});
	// People of the last name "Sure" are always found by the sandbox, so each distinct call costs a credit.
	const person = `{ firstName: 'Person' + (index % ${String(distinct)}), lastName: 'Sure', company: 'acme.example' }`;
	const jsCode = `return Array.from({ length: ${String(items)} }, (_, index) => ({ json: ${person} }));`;
	const rows = node('Rows', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } });
	const work = await workNode(fixture, name, task);
	const loop = node(LOOP, 'n8n-nodes-base.splitInBatches', {
		typeVersion: 3,
		parameters: { batchSize: 1, options: {} },
	});
	const content = fixture.content(webhook, rows, ...(variant === 'loop' ? [loop, work] : [work]));
	if (variant === 'loop') {
		// The first output is "done"; the second gives the next item.
		content.connections[LOOP] = { main: [[], [{ node: WORK, type: 'main', index: 0 }]] };
		content.connections[WORK] = { main: [[{ node: LOOP, type: 'main', index: 0 }]] };
	}
	const saveDataSuccessExecution = save ? 'all' : 'none';
	return { ...content, settings: { ...content.settings, saveDataSuccessExecution } };
}

async function workNode(fixture: Fixture, apiKey: string, task: Task): Promise<WorkflowNode> {
	const { variant, plan } = task;
	if (variant === 'none') return node(WORK, 'n8n-nodes-base.noOp');
	const onError = 'continueRegularOutput';
	if (variant === 'leadgen') {
		const parameters = {
			resource: 'email',
			operation: 'findBusiness',
			firstName: '={{ $json.firstName }}',
			lastName: '={{ $json.lastName }}',
			company: '={{ $json.company }}',
			options: {},
		};
		const limit = task.credential ?? { plan, requestsPerMinute: 0 };
		const credentials = use(await fixture.newCredential(apiKey, apiKey, limit));
		return fixture.leadGen(parameters, { name: WORK, credentials, onError });
	}
	// The same call as a person would build it: a body of name and value pairs, the key as a header.
	const batchSize = BATCH_SIZES[variant];
	const batching = { batch: { batchSize, batchInterval: 1000 } };
	const fields = ['firstName', 'lastName', 'company'];
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
			bodyParameters: {
				parameters: fields.map((name) => ({ name, value: `={{ $json.${name} }}` })),
			},
			options: batchSize === undefined ? {} : { batching },
		},
		credentials: { httpHeaderAuth: { id, name: apiKey } },
		onError,
	});
}
