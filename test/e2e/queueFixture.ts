import type { StoredWorkflow, WorkflowNode } from '../../lab/playground/api';
import { node, until, uuid } from '../../lab/fixture/fixture';
import { QueueFixture } from '../../lab/fixture/queueFixture';
import { useFixture } from './n8n';

/** n8n in queue mode, with a main process, a webhook process and two workers. */
export const fixture = useFixture(new QueueFixture());

/** Says which process executes it. */
function executor(): WorkflowNode {
	const assignments = [
		{ id: uuid(), name: 'by', value: '={{ $env.PROCESS_ROLE }}', type: 'string' },
	];
	return node('Executor', 'n8n-nodes-base.set', {
		typeVersion: 3.4,
		parameters: { assignments: { assignments } },
		executeOnce: true,
	});
}

export async function activated(
	parameters: Record<string, unknown> = {},
	...others: WorkflowNode[]
): Promise<StoredWorkflow> {
	return await fixture.activate(fixture.trigger(parameters), executor(), ...others);
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
			({ operation, query, answeredAt }) =>
				operation === 'getScrapeStatus' && query.scrapeId === scrapeId && answeredAt,
		).length;
	const before = lookups();
	fixture.finish(workflow);
	await until('it is known to be finished', () => lookups() > before);
}

export async function untilRuns({ id }: StoredWorkflow, count: number): Promise<void> {
	await fixture.untilRuns(id, count, 'Executor');
}

/** The processes that executed a workflow. */
async function executorsOf({ id }: StoredWorkflow): Promise<unknown[]> {
	const items = await fixture.delivered(id, 'Executor');
	return items.map(({ json }) => json.by);
}

const ON_WORKER: unknown = expect.stringMatching(/^worker[12]$/);

/** It started one scrape, and a worker ran it once. */
export async function expectRunOnce(workflow: StoredWorkflow): Promise<void> {
	expect(await executorsOf(workflow)).toEqual([ON_WORKER]);
	expect(fixture.startsOf(workflow)).toBe(1);
}
