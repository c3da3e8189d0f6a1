import type { StoredWorkflow } from '../../lab/playground/api';
import { LINE, quiet } from '../../lab/fixture/fixture';
import { LONG } from './n8n';
import { expectRuns, fixture, triggerOf } from './triggerFixture';

/* What "Execute step" of the trigger starts and shows, and that it leaves the active workflow alone. */

/** @param workflow as it is in the editor; by default as it is saved */
async function execute(id: string, workflow?: StoredWorkflow): Promise<void> {
	expect(await fixture.api.startWorkflow(id, 'LeadGen Trigger', workflow)).toBeUndefined();
}

describe('a test run', () => {
	it.each([
		['passes on a scrape of the test size', {}, true],
		['passes it on without a notification', { notification: { times: 0 } }, false],
	])('%s', async (_what, settings, isNotified) => {
		fixture.sandbox.set(settings);
		const { id } = await fixture.workflow();
		await execute(id);
		const items = await expectRuns(id, 1, 1500);
		expect(
			items.map(({ json }) => [json.status, json.leadsFound, json.notification !== null]),
		).toEqual([['completed', 5, isNotified]]);
		expect(fixture.starts).toBe(1);
	});

	it('leaves the same workflow running where it is active', async () => {
		fixture.sandbox.set({ ...LONG, notification: { times: 0 } });
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await execute(id);
		await fixture.untilStarts(2);
		const [own = '', test = ''] = fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId);
		fixture.sandbox.finish(test, 'completed');
		await expectRuns(id, 1);
		fixture.sandbox.finish(own, 'completed');
		await expectRuns(id, 2);
		expect(await fixture.scrapesOf(id)).toEqual([test, own]);
		expect(fixture.starts).toBe(2);
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

	it('takes a scrape that was named, or starts none', async () => {
		const scrapeId = await fixture.startElsewhere();
		const named = await fixture.workflow({ options: { testScrapeId: scrapeId } });
		await execute(named.id);
		await fixture.untilRuns(named.id, 1);
		expect(await fixture.scrapesOf(named.id)).toEqual([scrapeId]);

		const unknown = await fixture.workflow({ options: { testScrapeId: 'scr_unknown' } });
		await expect(execute(unknown.id)).rejects.toThrow(
			/'Test Scrape ID' must be the ID of a scrape that the service can find/,
		);

		const none = await fixture.workflow({ options: { testLimit: 0 } });
		await execute(none.id);
		const url = fixture.plainUrl(none).replace('/webhook/', '/webhook-test/');
		const started = await fixture.startElsewhere(url);
		await fixture.untilRuns(none.id, 1);
		expect(await fixture.scrapesOf(none.id)).toEqual([started]);
		expect(fixture.starts).toBe(2);
	});
});
