import type { Item, StoredWorkflow } from '../../lab/playground/api';
import { LEADERSHIP_HOOKS } from '../../lab/playground/n8n';
import { Fixture, quiet, TRIGGER } from '../../lab/fixture/fixture';
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

/** Waits until a workflow has run as often. It must not run again soon after. @returns the items of the runs */
export async function expectRuns(id: string, count: number, quietMs = 2000): Promise<Item[]> {
	await fixture.untilRuns(id, count);
	await quiet(quietMs);
	const items = await fixture.delivered(id);
	expect(items).toHaveLength(count);
	return items;
}
