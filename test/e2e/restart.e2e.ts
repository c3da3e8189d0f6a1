import { setTimeout as sleep } from 'node:timers/promises';
import { node, quiet, SOON_ACTIVE, until, WITHOUT_CODE } from '../../lab/fixture/fixture';
import { useN8n } from './n8n';

/** Restarts and power cuts of a real n8n. */
const fixture = useN8n({ ...SOON_ACTIVE, ...WITHOUT_CODE });

it('delivers a completion that came while n8n was down, and does not catch up a start that was due meanwhile', async () => {
	await fixture.reset({ job: { durationMs: 3000 } });
	const due = new Date(Math.ceil(Date.now() / 1000) * 1000 + 20_000);
	const time = [due.getUTCSeconds(), due.getUTCMinutes(), due.getUTCHours(), due.getUTCDate()];
	const cronExpression = `${time.join(' ')} ${String(due.getUTCMonth() + 1)} *`;
	const workflow = await fixture.activated({ schedule: 'cron', cronExpression });
	await until('the first start', () => fixture.startsOf(workflow) === 1);
	await sleep(2000);
	await fixture.kill();
	await sleep(Math.max(3000, due.getTime() + 1000 - Date.now()));
	expect(fixture.startsOf(workflow)).toBe(1);
	await fixture.start();
	await fixture.untilRuns(workflow.id, 1);
	await quiet();
	await fixture.restart();
	await quiet(3000);
	expect(fixture.startsOf(workflow)).toBe(1);
	expect(await fixture.delivered(workflow.id)).toHaveLength(1);
	expect(await fixture.told(workflow.id)).toEqual([]);
}, 180_000);

it('keeps the leads of a notification that waits for the status through a power cut: in the execution that crashed', async () => {
	await fixture.reset({
		job: { durationMs: 500, statusLagMs: 20_000 },
		notification: { shape: 'leads' },
	});
	const workflow = await fixture.activated({ limit: 1000 });
	await until('the notification', () => fixture.sandbox.jobs[0]?.notifications[0]?.status === 200);
	await quiet(1000);
	await fixture.kill();
	await fixture.start();
	// The poll runs the workflow without them.
	await until('the completion', async () => (await fixture.delivered(workflow.id)).length === 1);
	const [crashed] = (await fixture.executions(workflow.id)).filter(
		({ status }) => status === 'crashed',
	);
	const [item] = (await fixture.api.execution(crashed?.id ?? '')).waiting ?? [];
	const { completion } = item?.json.leadGenTrigger as {
		completion: { notification: { body: { data: { leads: unknown[] } } } };
	};
	const { notification } = completion;
	expect(notification.body.data.leads).toHaveLength(1000);
	expect(JSON.stringify(notification).length).toBeGreaterThan(50_000);
	// Retry does not run the workflow twice.
	expect((await fixture.api.retryExecution(crashed?.id ?? '')).status).toBe('success');
	expect(await fixture.delivered(workflow.id)).toHaveLength(1);
}, 120_000);

it('runs once for a completion, and can run again, when the power is cut in the middle of its run', async () => {
	await fixture.reset({ job: { durationMs: 500 } });
	// The power is cut when the trigger has let the completion through.
	const verify = fixture.leadGen({ resource: 'email', operation: 'verify', email: 'a@acme.com' });
	const pause = node('Pause', 'n8n-nodes-base.wait', {
		typeVersion: 1.1,
		parameters: { amount: 3 },
	});
	const workflow = await fixture.create(fixture.trigger(), verify, pause);
	const runs = () => fixture.count('verifyEmail');
	await fixture.api.activateWorkflow(workflow.id);
	await until('the run', () => runs() === 1);
	await fixture.kill();
	await fixture.start();
	// If the cut came before the execution was acknowledged, it is delivered again after 20 seconds.
	await quiet(25_000);
	const executions = await fixture.executions(workflow.id);
	const [start, crashed, ...others] = executions.reverse();
	expect(start?.status).toBe('success');
	expect(crashed?.status).toBe('crashed');
	// Delivered again, and ended at the trigger.
	expect(others.length).toBeLessThanOrEqual(1);
	expect(others.map(({ status }) => status)).toEqual(others.map(() => 'success'));
	expect(runs()).toBe(1);
	const retried = await fixture.api.retryExecution(crashed?.id ?? '');
	const items = retried.nodes.Pause?.outputs[0]?.length;
	expect([retried.status, items, runs()]).toEqual(['success', 1, 2]);
	await fixture.restart();
	await quiet(3000);
	const count = (await fixture.executions(workflow.id)).length;
	expect([fixture.startsOf(workflow), count]).toEqual([1, executions.length + 1]);
}, 120_000);
