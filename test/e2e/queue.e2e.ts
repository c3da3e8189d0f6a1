import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredWorkflow } from '../../lab/playground/api';
import type { Role } from '../../lab/fixture/queueFixture';
import { quiet, until } from '../../lab/fixture/fixture';
import { LONG, post } from './n8n';
import {
	activated,
	expectRunOnce,
	finishAndSee,
	fixture,
	started,
	untilRuns,
} from './queueFixture';

it('starts a scrape once, and runs the workflow once on a worker, also when the notification is lost', async () => {
	await fixture.reset({ job: { durationMs: 3000 } });
	const notified = await activated();
	await until('its notification', () => fixture.sandbox.jobs[0]?.notifications[0]?.status === 200);
	fixture.sandbox.set({ notification: { times: 0 } });
	const lost = await activated();
	for (const workflow of [notified, lost]) await untilRuns(workflow, 1);
	await quiet();
	const onMain = fixture.plainUrl(lost).replace(fixture.webhookBase, fixture.urlOf('main'));
	expect((await fetch(onMain, { method: 'POST' })).status).toBe(404);
	for (const workflow of [notified, lost]) {
		await expectRunOnce(workflow);
		const [item] = await fixture.delivered(workflow.id);
		const { scrapeId } = fixture.jobOf(workflow);
		expect(item?.json).toMatchObject({ scrapeId, status: 'completed', leadsFound: 10 });
		expect(item?.json.notification === null).toBe(workflow === lost);
	}
});

it('brings a completion in though the database is slow when it comes', async () => {
	await fixture.reset(LONG);
	const workflow = await started();
	// An execution then takes so long to see whether it is the first that a poll begins another one meanwhile.
	const slow = fixture.sql('LOCK TABLE processed_data; SELECT pg_sleep(4)');
	await quiet(500);
	fixture.finish(workflow);
	await slow;
	await untilRuns(workflow, 1);
	await quiet(15_000);
	// The start and the notification: polls leave the scrape to it.
	expect(await fixture.executions(workflow.id)).toHaveLength(2);
	await expectRunOnce(workflow);
});

it('loses no completion and starts nothing twice while each process is killed in turn', async () => {
	await fixture.reset(LONG);
	const workflows: StoredWorkflow[] = [];
	for (const victim of ['main', 'webhook1', 'worker1', 'worker2'] as const) {
		const [missed, delivered] = [await started(), await started()];
		// The worst moment for the process that delivers; a worker has done its part by then.
		await finishAndSee(delivered);
		if (victim.startsWith('worker')) await untilRuns(delivered, 1);
		await fixture.killProcess(victim);
		fixture.finish(missed);
		await sleep(2000);
		await fixture.startProcess(victim);
		workflows.push(delivered, missed);
	}
	for (const workflow of workflows) await untilRuns(workflow, 1);
	await quiet(10_000);
	for (const workflow of workflows) await expectRunOnce(workflow);
});

it('delivers once what two webhook processes are told at once, many times', async () => {
	await fixture.startProcess('webhook2');
	await fixture.reset({ ...LONG, notification: { times: 0 } });
	const listening = await activated({ mode: 'listen' });
	const workflows: StoredWorkflow[] = [];
	while (workflows.length < 8) workflows.push(await started());
	const targets = [
		...workflows.map((workflow) => fixture.jobOf(workflow)),
		...(await fixture.startMany(8)).map((scrapeId) => ({
			scrapeId,
			webhookUrl: fixture.plainUrl(listening),
		})),
	];
	for (const { scrapeId } of targets) fixture.sandbox.finish(scrapeId, 'completed');
	const tell = async (role: Role, { scrapeId, webhookUrl = '' }: (typeof targets)[number]) => {
		const to = webhookUrl.replace(fixture.webhookBase, fixture.urlOf(role));
		const body = JSON.stringify({ scrapeId, status: 'completed' });
		// A busy n8n may not save a notification in time. The service then sends it again, as here.
		await until('the answer', async () => (await post(to, body)) === 200);
	};
	const scrapes = async () =>
		(await Promise.all([listening, ...workflows].map(({ id }) => fixture.scrapesOf(id)))).flat();
	// They go on while the scrapes are delivered, and after that.
	for (let more = 8; more > 0;) {
		await Promise.all(
			targets.flatMap((target) => [tell('webhook1', target), tell('webhook2', target)]),
		);
		if ((await scrapes()).length >= targets.length) more--;
		await sleep(300);
	}
	await quiet(5000);
	expect((await scrapes()).sort()).toEqual(targets.map(({ scrapeId }) => scrapeId).sort());
	expect(fixture.starts).toBe(16);
});
