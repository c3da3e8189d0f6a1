import type { StoredWorkflow, WorkflowNode } from '../../lab/playground/api';
import { LINE, node, until, uuid } from '../../lab/fixture/fixture';
import { QueueFixture } from '../../lab/fixture/queueFixture';

/** n8n in queue mode, with a main process, a webhook process and two workers. */
export const fixture = new QueueFixture();
beforeAll(async () => {
	await fixture.open();
}, 300_000);
afterAll(async () => {
	await fixture.close();
});

export const LONG = { job: { durationMs: 600_000 } };
export const PATIENCE_MS = 60_000;

/** Says which process executes it. */
export function executor(): WorkflowNode {
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
	const content = fixture.content(fixture.trigger(parameters), executor(), ...others);
	const workflow = await fixture.api.createWorkflow(content);
	await fixture.api.activateWorkflow(workflow.id);
	return workflow;
}

/** Requests to start a scrape with the URL of a workflow. */
export function startsOf(workflow: StoredWorkflow): number {
	return fixture.sandbox.requests.filter(({ operation, body }) => {
		const { webhookUrl } = (body ?? {}) as { webhookUrl?: string };
		return operation === 'startScrape' && webhookUrl?.startsWith(fixture.plainUrl(workflow));
	}).length;
}

export function jobOf(workflow: StoredWorkflow) {
	const job = fixture.sandbox.jobs.find(({ webhookUrl }) =>
		webhookUrl?.startsWith(fixture.plainUrl(workflow)),
	);
	if (!job) throw new Error('It has no scrape');
	return job;
}

/** Ends the scrape of a workflow. Resolves when its trigger has learnt it. */
export async function finishAndSee(workflow: StoredWorkflow): Promise<void> {
	const { scrapeId } = jobOf(workflow);
	const lookups = () =>
		fixture.sandbox.requests.filter(
			({ operation, query, answeredAt }) =>
				operation === 'getScrapeStatus' && query.scrapeId === scrapeId && answeredAt,
		).length;
	const before = lookups();
	fixture.sandbox.finish(scrapeId, 'completed');
	await until('it is known to be finished', () => lookups() > before, PATIENCE_MS);
}

/** The start of a scrape is an execution, and so is its completion. */
export async function untilExecutions({ id }: StoredWorkflow, count: number): Promise<void> {
	const enough = async () => (await fixture.executions(id)).length >= count;
	await until(`${String(count)} executions`, enough, PATIENCE_MS);
}

export async function untilRuns({ id }: StoredWorkflow, count: number): Promise<void> {
	const enough = async () => (await fixture.delivered(id, 'Executor')).length >= count;
	await until(`${String(count)} runs`, enough, PATIENCE_MS);
}

/** The processes that executed a workflow. */
export async function executorsOf({ id }: StoredWorkflow): Promise<unknown[]> {
	const items = await fixture.delivered(id, 'Executor');
	return items.map(({ json }) => json.by);
}

export function report(...lines: string[]): void {
	process.stdout.write(lines.map((line) => `n8n ${LINE}: ${line}\n`).join(''));
}

export const ON_WORKER: unknown = expect.stringMatching(/^worker[12]$/);
