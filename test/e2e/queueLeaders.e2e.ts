import type { StoredWorkflow } from '../../lab/playground/api';
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

beforeAll(async () => {
	await fixture.startProcess('main2');
	await fixture.setRole('main2', 'follower');
});
afterEach(async () => {
	await fixture.setRole('main2', 'follower');
	await fixture.setRole('main', 'leader');
	await fixture.turnTo('main');
});

it.each(['nobody leads', 'both lead'])(
	'starts nothing twice and delivers once when another main process leads, and back again, while %s for a while',
	async (meanwhile) => {
		await fixture.reset(LONG);
		const workflows: StoredWorkflow[] = [];
		for (const [leaving, coming] of TURNS) {
			const running = await started(SLOW);
			const [early, between, late] = [await started(), await started(), await started()];
			fixture.finish(running);
			await fixture.untilExecutions(running.id, 2);
			await finishAndSee(early);
			if (meanwhile === 'both lead') await fixture.setRole(coming, 'leader');
			else await fixture.setRole(leaving, 'follower');
			fixture.finish(between);
			const isNotified = () => fixture.jobOf(between).notifications[0]?.status === 200;
			await until('its notification', isNotified);
			// The process that receives its notification delivers it, whoever leads.
			await untilRuns(between, 1);
			await fixture.setRole(leaving, 'follower');
			await fixture.setRole(coming, 'leader');
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
	},
	400_000,
);
