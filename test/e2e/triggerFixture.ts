import type { StoredWorkflow } from '../../lab/playground/api';
import { LEADERSHIP_HOOKS } from '../../lab/playground/n8n';
import { Fixture, LINE, TRIGGER, until } from '../../lab/fixture/fixture';

/** An n8n for the tests of the trigger, which can follow and lead. Each test that imports this begins afresh. */
export const fixture = new Fixture({ EXTERNAL_HOOK_FILES: LEADERSHIP_HOOKS });
beforeAll(async () => {
	await fixture.open();
});
afterAll(async () => {
	await fixture.close();
});
beforeEach(async () => {
	await fixture.reset();
});

export const LONG = { job: { durationMs: 600_000 } };

export async function activated(parameters: Record<string, unknown> = {}): Promise<StoredWorkflow> {
	const workflow = await fixture.workflow(parameters);
	await fixture.api.activateWorkflow(workflow.id);
	return workflow;
}

export async function untilStarts(count: number): Promise<void> {
	await until(`${String(count)} starts`, () => fixture.starts >= count);
}

export async function untilExecutions(workflowId: string, count: number, timeoutMs?: number) {
	let seen = 0;
	const enough = async () => (seen = (await fixture.executions(workflowId)).length) >= count;
	await until(() => `${String(count)} executions, not ${String(seen)}`, enough, timeoutMs);
}

export async function untilRuns(workflowId: string, count: number): Promise<void> {
	const enough = async () => (await fixture.delivered(workflowId)).length >= count;
	await until(`${String(count)} runs`, enough);
}

export async function countRuns(workflowIds: string[]): Promise<number> {
	const executions = await Promise.all(workflowIds.map((id) => fixture.executions(id)));
	return executions.flat().length;
}

/** Saves a workflow that is active; on n8n 2 that takes publishing as well. */
export async function save(id: string, change: (workflow: StoredWorkflow) => void = () => {}) {
	const workflow = await fixture.api.workflow(id);
	change(workflow);
	await fixture.api.updateWorkflow(id, workflow);
	if (LINE === '2') await fixture.api.activateWorkflow(id);
}

export function triggerOf({ nodes }: StoredWorkflow) {
	const trigger = nodes.find(({ type }) => type === TRIGGER);
	if (!trigger) throw new Error('There is no trigger');
	return trigger;
}

export async function post(url: string, body: string, type = 'application/json'): Promise<number> {
	return (await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })).status;
}
