import type { StoredWorkflow } from '../../playground/api';
import { LEADERSHIP_HOOKS } from '../../playground/n8n';
import { Field, LINE, TRIGGER, until } from './field';

/** An n8n for the tests of the trigger, which can follow and lead. Each test that imports this begins afresh. */
export const field = new Field({ EXTERNAL_HOOK_FILES: LEADERSHIP_HOOKS });
beforeAll(async () => {
	await field.open();
});
afterAll(async () => {
	await field.close();
});
beforeEach(async () => {
	await field.reset();
});

export const LONG = { job: { durationMs: 600_000 } };

export async function activated(parameters: Record<string, unknown> = {}): Promise<StoredWorkflow> {
	const workflow = await field.workflow(parameters);
	await field.api.activateWorkflow(workflow.id);
	return workflow;
}

export async function untilStarts(count: number): Promise<void> {
	await until(`${String(count)} starts`, () => field.starts >= count);
}

export async function untilExecutions(workflowId: string, count: number, timeoutMs?: number) {
	let seen = 0;
	const enough = async () => (seen = (await field.executions(workflowId)).length) >= count;
	await until(() => `${String(count)} executions, not ${String(seen)}`, enough, timeoutMs);
}

export async function untilRuns(workflowId: string, count: number): Promise<void> {
	const enough = async () => (await field.delivered(workflowId)).length >= count;
	await until(`${String(count)} runs`, enough);
}

export async function countRuns(workflowIds: string[]): Promise<number> {
	const executions = await Promise.all(workflowIds.map((id) => field.executions(id)));
	return executions.flat().length;
}

/** Saves a workflow that is active; on n8n 2 that takes publishing as well. */
export async function save(id: string, change: (workflow: StoredWorkflow) => void = () => {}) {
	const workflow = await field.api.workflow(id);
	change(workflow);
	await field.api.updateWorkflow(id, workflow);
	if (LINE === '2') await field.api.activateWorkflow(id);
}

export function triggerOf({ nodes }: StoredWorkflow) {
	const trigger = nodes.find(({ type }) => type === TRIGGER);
	if (!trigger) throw new Error('There is no trigger');
	return trigger;
}

export async function post(url: string, body: string, type = 'application/json'): Promise<number> {
	return (await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })).status;
}
