import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Execution, StoredWorkflow, WorkflowNode } from '../../lab/playground/api';
import { Fixture, node, until } from '../../lab/fixture/fixture';

/** Opens an n8n for the tests of a file. After each of them all requests must have been within the contract of the service. */
export function useFixture<Kind extends Fixture>(fixture: Kind): Kind {
	beforeAll(async () => {
		await fixture.open();
	});
	afterAll(async () => {
		await fixture.close();
	});
	afterEach(() => {
		expect(fixture.sandbox.requests.flatMap(({ violation = [] }) => violation)).toEqual([]);
	});
	return fixture;
}

export function useN8n(env?: Record<string, string>): Fixture {
	return useFixture(new Fixture(env));
}

/** A manual trigger, and a node that gives items. */
export function manual(items: object[]): [WorkflowNode, WorkflowNode] {
	const jsCode = `return ${JSON.stringify(items.map((json) => ({ json })))};`;
	return [
		node('Manual', 'n8n-nodes-base.manualTrigger'),
		node('Items', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } }),
	];
}

/** Begins to run a node for items, in a workflow of its own. @returns the ID of the execution */
export async function start(
	fixture: Fixture,
	items: object[],
	last: WorkflowNode,
): Promise<string> {
	const { id } = await fixture.create(...manual(items), last);
	return String(await fixture.api.startWorkflow(id, 'Manual'));
}

/** The same until its end. */
export async function run(
	fixture: Fixture,
	items: object[],
	last: WorkflowNode,
): Promise<Execution> {
	return await fixture.api.finishedExecution(await start(fixture, items, last));
}

/** The items of a node, over all executions; by default those of its first output. */
export function itemsOf(execution: Execution | Execution[], name: string, output = 0) {
	return [execution]
		.flat()
		.flatMap(({ nodes }) => nodes[name]?.outputs[output] ?? [])
		.map(({ json }) => json);
}

/** Scrapes that do not finish by themselves while a test runs. */
export const LONG = { job: { durationMs: 600_000 } };

export const some = (fields: object): unknown => expect.objectContaining(fields);
export const someText: unknown = expect.any(String);

/** @returns the HTTP status of the answer */
export async function post(url: string, body: string, type = 'application/json'): Promise<number> {
	return (await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })).status;
}

/** Another server on this machine, as long as the tests of a file run. @returns its address */
export async function serve(handle: RequestListener): Promise<string> {
	const server = createServer(handle).unref();
	await once(server.listen(0, '127.0.0.1'), 'listening');
	return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

/** Gives the credential of the tests another base URL. */
export async function setBaseUrl(fixture: Fixture, apiKey: string, baseUrl: string): Promise<void> {
	const { id, name } = fixture.credential;
	const data = fixture.credentialData(apiKey, { baseUrl });
	await fixture.api.updateCredential(id, { name, type: 'leadGenApi', data });
}

/** How long n8n may take to activate a workflow after a power cut. */
const ACTIVATED_MS = 180_000;

/** Uploads a file with the form of a workflow, as a browser does. @returns the URL of the last page of the form */
export async function sendForm(
	fixture: Fixture,
	{ nodes }: StoredWorkflow,
	file: Blob,
	name: string,
): Promise<string> {
	const trigger = nodes.find(({ type }) => type === 'n8n-nodes-base.formTrigger');
	const url = `${fixture.url}/form/${String(trigger?.webhookId)}`;
	await until('the form', async () => (await fetch(url)).ok, ACTIVATED_MS);
	const form = new FormData();
	form.append('field-0', file, name);
	const answer = await fetch(url, { method: 'POST', body: form });
	if (!answer.ok) throw new Error(`The form answers ${String(answer.status)}`);
	return ((await answer.json()) as { formWaitingUrl: string }).formWaitingUrl;
}
