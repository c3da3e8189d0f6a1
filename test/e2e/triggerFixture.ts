import type { Item, StoredWorkflow, WorkflowNode } from '../../lab/playground/api';
import { LEADERSHIP_HOOKS } from '../../lab/playground/n8n';
import type { FaultRule } from '../../lab/sandbox/settings';
import { Fixture, LINE, node, quiet, TRIGGER, use, uuid } from '../../lab/fixture/fixture';
import { useFixture } from './n8n';

/** An n8n for the tests of the trigger, which can follow and lead. Each test that imports this begins afresh. */
export const fixture = useFixture(new Fixture({ EXTERNAL_HOOK_FILES: LEADERSHIP_HOOKS }));
beforeEach(async () => {
	await fixture.reset();
});

export function triggerOf({ nodes }: StoredWorkflow) {
	const trigger = nodes.find(({ type }) => type === TRIGGER);
	if (!trigger) throw new Error('There is no trigger');
	return trigger;
}

/** Saves a workflow that is active; on n8n 2 that takes publishing as well. */
export async function save(id: string, change: (workflow: StoredWorkflow) => void): Promise<void> {
	const workflow = await fixture.api.workflow(id);
	change(workflow);
	await fixture.api.updateWorkflow(id, workflow);
	if (LINE === '2') await fixture.api.activateWorkflow(id);
}

/** Saves other parameters of the trigger. */
export async function setParameters(id: string, parameters: object): Promise<void> {
	await save(id, (workflow) => Object.assign(triggerOf(workflow).parameters, parameters));
}

/**
 * Creates a workflow of the trigger alone. It has an account of its own, so that what the node learns of it holds up no
 * other test.
 * @param faults how the service answers requests to start a scrape
 */
export async function created(
	faults: Array<Omit<FaultRule, 'match'> & { times?: number }>,
	parameters: Record<string, unknown> = {},
	fields: Partial<WorkflowNode> = {},
): Promise<string> {
	const key = uuid();
	fixture.sandbox.set({
		accounts: { [key]: { plan: 'pro', credits: 1000 } },
		faults: faults.map(({ times, ...fault }) => ({ ...fault, match: { path: '/start', times } })),
	});
	const credentials = use(await fixture.newCredential(key, key));
	const trigger = fixture.trigger(parameters, { credentials, ...fields });
	return (await fixture.create(trigger, node('End', 'n8n-nodes-base.noOp'))).id;
}

/** Waits until a workflow has run as often. It must not run again soon after. @returns the items of the runs */
export async function expectRuns(id: string, count: number, quietMs = 2000): Promise<Item[]> {
	await fixture.untilRuns(id, count);
	await quiet(quietMs);
	const items = await fixture.delivered(id);
	expect(items).toHaveLength(count);
	return items;
}
