import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
	Execution,
	StoredCredential,
	WorkflowContent,
	WorkflowNode,
} from '../../lab/playground/api';
import { Fixture, node, use, uuid } from '../../lab/fixture/fixture';

/** An n8n for the tests of a file. After each of them all requests must have been within the contract of the service. */
export function useN8n(env: Record<string, string> = {}): Fixture {
	const fixture = new Fixture(env);
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

/**
 * An example as it is. Only the credential is filled in, as a person does; and one that is imported twice gets addresses of
 * its own, since n8n's cache may keep those of a deactivated workflow.
 */
export async function example(
	name: string,
	credential: StoredCredential,
): Promise<WorkflowContent> {
	let text = await readFile(join(__dirname, `../../examples/${name}.json`), 'utf8');
	for (const [, id = ''] of text.matchAll(/"webhookId": "(.+?)"/g)) {
		text = text.replaceAll(id, uuid());
	}
	const content = JSON.parse(text) as WorkflowContent;
	for (const each of content.nodes) {
		if (each.credentials?.leadGenApi) each.credentials = use(credential);
	}
	return content;
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
	const content = fixture.content(...manual(items), last);
	const { id } = await fixture.api.createWorkflow(content);
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
