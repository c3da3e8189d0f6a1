import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Execution, WorkflowContent, WorkflowNode } from '../../lab/playground/api';
import { Fixture, LINE, SOON_ACTIVE } from '../../lab/fixture/fixture';

/** Opens an n8n for the tests of a file. After each of them all requests must have been as the service allows. */
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

/**
 * Settings of n8n for Data Tables. By default n8n 1 has one connection to SQLite: transactions at the same time mix
 * there, and what they wrote to a Data Table can be lost.
 */
export const FOR_TABLES: Record<string, string> =
	LINE === '1' ? { DB_SQLITE_POOL_SIZE: '4' } : SOON_ACTIVE;

/** The items on the first output of a node, over all executions. */
export function itemsOf(execution: Execution | Execution[], name: string) {
	return [execution]
		.flat()
		.flatMap(({ nodes }) => nodes[name]?.outputs[0] ?? [])
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

/** The node of a template with a name, or else of a type. */
export function nodeOf({ nodes }: WorkflowContent, called: string): WorkflowNode {
	const found = nodes.find(({ name, type }) => name === called || type.endsWith(`.${called}`));
	if (!found) throw new Error(`There is no node "${called}"`);
	return found;
}

/** Has the trigger of a template start one scrape when its workflow is activated, rather than by its schedule. */
export function startAtOnce(content: WorkflowContent): void {
	nodeOf(content, 'leadGenTrigger').parameters.schedule = 'once';
}
