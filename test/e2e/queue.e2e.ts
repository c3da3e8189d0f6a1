import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredWorkflow } from '../../lab/playground/api';
import type { Role } from '../../lab/playground/queue';
import { LINE, quiet, until } from '../../lab/fixture/fixture';
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
	const onMain = fixture.plainUrl(lost).replace(fixture.webhookBase, fixture.queue.url('main'));
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
	const slow = fixture.queue.sql('LOCK TABLE processed_data; SELECT pg_sleep(4)');
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
		await fixture.queue.kill(victim);
		fixture.finish(missed);
		await sleep(2000);
		await fixture.queue.start(victim);
		workflows.push(delivered, missed);
	}
	for (const workflow of workflows) await untilRuns(workflow, 1);
	await quiet(10_000);
	for (const workflow of workflows) await expectRunOnce(workflow);
}, 400_000);

it('has a completion run again, or told as failed, if the worker is killed that executes it', async () => {
	// It does not get past the second node before the worker is killed.
	const match = { path: '/email/verify', times: 1 };
	await fixture.reset({ faults: [{ kind: 'hang', match }] });
	const email = '={{ $json.by }}@acme.com';
	const slow = fixture.leadGen({ resource: 'email', operation: 'verify', email });
	const workflow = await activated({}, slow);
	const verified = () => fixture.sandbox.requests.filter(({ path }) => path === '/email/verify');
	await until('a worker executes it', () => verified().length === 1);
	const victim = JSON.stringify(verified()[0]?.body).includes('worker1') ? 'worker1' : 'worker2';
	await fixture.queue.kill(victim);
	const isOver = async () =>
		(await fixture.executions(workflow.id)).every(({ status }) => /success|error/.test(status));
	await until('its execution is over', isOver, 120_000);
	// It comes last: had it been back at once, it would have marked the execution as crashed, for good.
	await fixture.queue.start(victim);
	await quiet(5000);
	expect(await fixture.executions(workflow.id)).toHaveLength(2);
	// n8n 1 gives the execution to a worker once more, n8n 2 does not.
	if (LINE === '1') await expectRunOnce(workflow);
	const told = 'This execution failed to be processed too many times';
	expect(await fixture.told(workflow.id)).toEqual(
		LINE === '1' ? [] : [expect.stringContaining(told)],
	);
	expect(verified()).toHaveLength(LINE === '1' ? 2 : 1);
	expect(fixture.startsOf(workflow)).toBe(1);
}, 200_000);

it('delivers once what two webhook processes are told at once, many times', async () => {
	await fixture.queue.start('webhook2');
	await fixture.reset({ ...LONG, notification: { times: 0 } });
	const listening = await activated({ mode: 'listen' });
	const workflows: StoredWorkflow[] = [];
	while (workflows.length < 8) workflows.push(await started());
	const heard = await fixture.startMany(8);
	const targets = [
		...workflows.map((workflow) => fixture.jobOf(workflow)),
		...heard.map((scrapeId) => ({ scrapeId, webhookUrl: fixture.plainUrl(listening) })),
	];
	for (const { scrapeId } of targets) fixture.sandbox.finish(scrapeId, 'completed');
	const tell = async (role: Role, { scrapeId, webhookUrl = '' }: (typeof targets)[number]) => {
		const to = webhookUrl.replace(fixture.webhookBase, fixture.queue.url(role));
		const body = JSON.stringify({ scrapeId, status: 'completed' });
		// A busy n8n may not save a notification in time. The service then sends it again, as here.
		await until('the answer', async () => {
			const status = await post(to, body);
			expect([200, 503]).toContain(status);
			return status === 200;
		});
	};
	const all = [listening, ...workflows];
	const scrapes = async () =>
		(await Promise.all(all.map(({ id }) => fixture.scrapesOf(id)))).flat();
	const begin = Date.now();
	// They go on while the scrapes are delivered, and after that.
	for (let more = 8; more > 0 && Date.now() - begin < 120_000;) {
		const sendings = targets.flatMap((target) =>
			(['webhook1', 'webhook2'] as const).map((role) => tell(role, target)),
		);
		await Promise.all(sendings);
		if ((await scrapes()).length >= targets.length) more--;
		await sleep(300);
	}
	await quiet(5000);
	const ids = await scrapes();
	const counts = targets.map(({ scrapeId }) => ids.filter((id) => id === scrapeId).length);
	expect(fixture.starts).toBe(16);
	expect(counts).toEqual(counts.map(() => 1));
}, 200_000);
