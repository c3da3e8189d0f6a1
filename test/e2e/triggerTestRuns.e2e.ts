import type { StoredWorkflow } from '../../lab/playground/api';
import { LINE, quiet } from '../../lab/fixture/fixture';
import { LONG } from './n8n';
import { created, expectRuns, fixture, triggerOf } from './triggerFixture';

/* What "Execute step" of the trigger starts and shows, and that it leaves the active workflow alone. */

/** @param workflow as it is in the editor; by default as it is saved */
async function execute(id: string, workflow?: StoredWorkflow): Promise<void> {
	expect(await fixture.api.startWorkflow(id, 'LeadGen Trigger', workflow)).toBeUndefined();
}

describe('a test run', () => {
	it('leaves the same workflow running where it is active', async () => {
		fixture.sandbox.set(LONG);
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await execute(id);
		await fixture.untilStarts(2);
		const [own = '', test = ''] = fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId);
		fixture.sandbox.finish(test, 'completed');
		const [item] = await expectRuns(id, 1);
		expect(item?.json).toMatchObject({ leadsFound: 5, notification: { method: 'POST' } });
		fixture.sandbox.finish(own, 'completed');
		await expectRuns(id, 2);
		expect(await fixture.scrapesOf(id)).toEqual([test, own]);
		expect(fixture.starts).toBe(2);
	});

	it('sends nothing after n8n stopped listening', async () => {
		const headers = { 'ratelimit-remaining': '0', 'ratelimit-reset': '15' };
		const refusal = { kind: 'envelope', code: 'RATE_LIMIT_EXCEEDED', headers, times: 1 } as const;
		const id = await created([refusal]);
		await expect(execute(id)).rejects.toThrow(/RATE_LIMIT_EXCEEDED/);
		const waits = execute(id).catch(String);
		await quiet();
		await fixture.api.stopListening(id);
		expect(await waits).toContain('n8n stopped listening');
		await quiet();
		expect(fixture.starts).toBe(1);
	});

	it('that cannot begin leaves the schedule of the active workflow running', async () => {
		fixture.sandbox.set(LONG);
		const { id } = await fixture.activated({ schedule: 'cron', cronExpression: '*/4 * * * * *' });
		await fixture.untilStarts(2);
		const workflow = await fixture.api.workflow(id);
		triggerOf(workflow).parameters.filters = { companySize: 'x' };
		// A draft that is not published.
		if (LINE === '2') await fixture.api.updateWorkflow(id, workflow);
		await expect(execute(id, workflow)).rejects.toThrow(/Company Size/);
		await fixture.untilStarts(fixture.starts + 3);
		expect(await fixture.told(id)).toEqual([]);
		await fixture.api.deactivateWorkflow(id);
		await quiet();
	});
});
