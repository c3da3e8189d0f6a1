import type { StoredWorkflow, WorkflowNode } from '../../lab/playground/api';
import { node, until, uuid } from '../../lab/fixture/fixture';
import { QueueFixture } from '../../lab/fixture/queueFixture';
import { useFixture } from './n8n';

/** n8n in queue mode, with a main process, a webhook process and two workers. */
export const fixture = useFixture(new QueueFixture());

/** Says which process executes it. */
const by = { id: uuid(), name: 'by', value: '={{ $env.PROCESS_ROLE }}', type: 'string' };
const EXECUTOR = node('Executor', 'n8n-nodes-base.set', {
	typeVersion: 3.4,
	parameters: { assignments: { assignments: [by] } },
	executeOnce: true,
});

export async function activated(
	parameters: Record<string, unknown> = {},
	...others: WorkflowNode[]
): Promise<StoredWorkflow> {
	return await fixture.activate(fixture.trigger(parameters), EXECUTOR, ...others);
}

/** A workflow that has started its scrape. */
export async function started(...others: WorkflowNode[]): Promise<StoredWorkflow> {
	const workflow = await activated({}, ...others);
	await until('the start', () => fixture.startsOf(workflow) === 1);
	return workflow;
}

/** Ends the scrape of a workflow. Resolves when its trigger has learnt it. */
export async function finishAndSee(workflow: StoredWorkflow): Promise<void> {
	const { scrapeId } = fixture.jobOf(workflow);
	const lookups = () =>
		fixture.sandbox.requests.filter(
			({ path, query, answeredAt }) =>
				path === '/status' && query.scrapeId === scrapeId && answeredAt,
		).length;
	const before = lookups();
	fixture.finish(workflow);
	await until('it is known to be finished', () => lookups() > before);
}

export async function untilRuns({ id }: StoredWorkflow, count: number): Promise<void> {
	await fixture.untilRuns(id, count, 'Executor');
}

/** It started one scrape, and a worker ran it once. */
export async function expectRunOnce(workflow: StoredWorkflow): Promise<void> {
	const items = await fixture.delivered(workflow.id, 'Executor');
	const onWorker: unknown = expect.stringMatching(/^worker[12]$/);
	expect(items.map(({ json }) => json.by)).toEqual([onWorker]);
	expect(fixture.startsOf(workflow)).toBe(1);
}
