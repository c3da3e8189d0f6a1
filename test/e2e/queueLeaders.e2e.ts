import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredWorkflow } from '../../lab/playground/api';
import type { Role } from '../../lab/playground/queue';
import { node, quiet, until } from '../../lab/fixture/fixture';
import { LONG } from './n8n';
import { expectRunOnce, finishAndSee, fixture, started, untilRuns } from './queueFixture';

/** Its execution lasts for two seconds. */
const SLOW = node('Wait', 'n8n-nodes-base.wait', {
	typeVersion: 1.1,
	parameters: { amount: 2, unit: 'seconds' },
});

/** Which main process leads instead of which. */
const TURNS = [
	['main', 'main2'],
	['main2', 'main'],
] as const;

interface Change {
	when: string;
	/** `between` is when a scrape finishes, the one of the workflow that it gives. */
	change: (leaving: Role, coming: Role, between: () => Promise<StoredWorkflow>) => Promise<void>;
}

const CHANGES: Change[] = [
	{
		when: 'nobody leads for a while',
		change: async (leaving, coming, between) => {
			await fixture.queue.setRole(leaving, 'follower');
			// The process that receives its notification delivers it.
			await untilRuns(await between(), 1);
			await fixture.queue.setRole(coming, 'leader');
		},
	},
	{
		when: 'both lead for a while',
		change: async (leaving, coming, between) => {
			await fixture.queue.setRole(coming, 'leader');
			await between();
			await sleep(3000);
			await fixture.queue.setRole(leaving, 'follower');
		},
	},
];

async function leaderChanges({ change }: Change): Promise<void> {
	await fixture.reset(LONG);
	const workflows: StoredWorkflow[] = [];
	for (const [leaving, coming] of TURNS) {
		const running = await started(SLOW);
		const [early, between, late] = [await started(), await started(), await started()];
		fixture.finish(running);
		await fixture.untilExecutions(running.id, 2);
		await finishAndSee(early);
		await change(leaving, coming, async () => {
			fixture.finish(between);
			const isNotified = () => fixture.jobOf(between).notifications[0]?.status === 200;
			await until('its notification', isNotified);
			return between;
		});
		fixture.finish(late);
		await fixture.turnTo(coming);
		workflows.push(running, early, between, late);
	}
	for (const workflow of workflows) await untilRuns(workflow, 1);
	await quiet(10_000);
	for (const workflow of workflows) {
		await expectRunOnce(workflow);
		expect(await fixture.told(workflow.id)).toEqual([]);
	}
}

describe('starts nothing twice and delivers once when another main process leads, and back again:', () => {
	beforeAll(async () => {
		await fixture.queue.start('main2', true);
	});
	afterEach(async () => {
		await fixture.queue.setRole('main2', 'follower');
		await fixture.queue.setRole('main', 'leader');
		await fixture.turnTo('main');
	});

	it.each(CHANGES)('$when', leaderChanges, 400_000);
});
