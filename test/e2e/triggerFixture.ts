import type { Item, StoredWorkflow } from '../../lab/playground/api';
import { LEADERSHIP_HOOKS } from '../../lab/playground/n8n';
import { Fixture, LINE, quiet, TRIGGER } from '../../lab/fixture/fixture';
import { useFixture } from './n8n';

/** An n8n for the tests of the trigger, which can follow and lead. Each test that imports this begins afresh. */
export const fixture = useFixture(new Fixture({ EXTERNAL_HOOK_FILES: LEADERSHIP_HOOKS }));
beforeEach(async () => {
	await fixture.reset();
});

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

/** Waits until a workflow has run as often. It must not run again soon after. @returns the items of the runs */
export async function expectRuns(id: string, count: number, quietMs = 2000): Promise<Item[]> {
	await fixture.untilRuns(id, count);
	await quiet(quietMs);
	const items = await fixture.delivered(id);
	expect(items).toHaveLength(count);
	return items;
}
