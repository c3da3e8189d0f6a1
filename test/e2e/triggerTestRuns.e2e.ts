import type { WorkflowNode } from '../../lab/playground/api';
import { API_KEY, LINE, quiet, use } from '../../lab/fixture/fixture';
import { LONG, post } from './n8n';
import { fixture, triggerOf } from './triggerFixture';

/* What "Execute step" of the trigger starts and shows, and that it leaves the active workflow alone. */

describe('a test run', () => {
	it.each([
		['passes on a scrape of the test size', {}, true],
		['passes it on without a notification', { notification: { times: 0 } }, false],
	])('%s', async (_what, settings, isNotified) => {
		fixture.sandbox.set(settings);
		const { id } = await fixture.workflow();
		expect(await fixture.api.startWorkflow(id, 'LeadGen Trigger')).toBeUndefined();
		await fixture.untilStarts(1);
		await fixture.untilExecutions(id, 1);
		await quiet(1500);
		const items = await fixture.delivered(id);
		expect(
			items.map(({ json }) => [json.status, json.leadsFound, json.notification !== null]),
		).toEqual([['completed', 5, isNotified]]);
		expect(fixture.starts).toBe(1);
	});

	it('leaves the same workflow running where it is active', async () => {
		fixture.sandbox.set({ ...LONG, notification: { times: 0 } });
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await fixture.api.startWorkflow(id, 'LeadGen Trigger');
		await fixture.untilStarts(2);
		const [own, test] = fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId);
		fixture.sandbox.finish(test ?? '', 'completed');
		await fixture.untilRuns(id, 1);
		await quiet();
		fixture.sandbox.finish(own ?? '', 'completed');
		await fixture.untilRuns(id, 2);
		await quiet();
		expect(await fixture.scrapesOf(id)).toEqual([test, own]);
		expect(fixture.starts).toBe(2);
	});

	it('takes a scrape that was named, or starts none', async () => {
		const scrapeId = await fixture.startElsewhere();
		const named = await fixture.workflow({ options: { testScrapeId: scrapeId } });
		await fixture.api.startWorkflow(named.id, 'LeadGen Trigger');
		await fixture.untilExecutions(named.id, 1);
		const [item] = await fixture.delivered(named.id);
		expect(item?.json.scrapeId).toBe(scrapeId);

		const unknown = await fixture.workflow({ options: { testScrapeId: 'scr_unknown' } });
		await expect(fixture.api.startWorkflow(unknown.id, 'LeadGen Trigger')).rejects.toThrow(
			/'Test Scrape ID' must be the ID of a scrape that the service can find/,
		);

		const none = await fixture.workflow({ options: { testLimit: 0 } });
		await fixture.api.startWorkflow(none.id, 'LeadGen Trigger');
		const started = await fixture.startElsewhere(
			fixture.plainUrl(none).replace('/webhook/', '/webhook-test/'),
		);
		await fixture.untilExecutions(none.id, 1);
		expect(await fixture.told(none.id)).toEqual([]);
		const [received] = await fixture.delivered(none.id);
		expect(received?.json.scrapeId).toBe(started);
		expect(fixture.starts).toBe(2);
	});
});

/** "Execute step" with a change in the editor that is not published. */
async function execute(id: string, change: (trigger: WorkflowNode) => void): Promise<void> {
	const workflow = await fixture.api.workflow(id);
	change(triggerOf(workflow));
	if (LINE === '2') await fixture.api.updateWorkflow(id, workflow);
	await fixture.api.startWorkflow(id, 'LeadGen Trigger', workflow);
}

describe('a test run that cannot begin', () => {
	it('leaves the schedule of the active workflow running', async () => {
		fixture.sandbox.set(LONG);
		const { id } = await fixture.activated({ schedule: 'cron', cronExpression: '*/4 * * * * *' });
		await fixture.untilStarts(2);
		const failing = execute(id, ({ parameters }) => (parameters.filters = { companySize: 'x' }));
		await expect(failing).rejects.toThrow(/Company Size/);
		await fixture.untilStarts(fixture.starts + 3);
		expect(await fixture.told(id)).toEqual([]);
		await fixture.api.deactivateWorkflow(id);
		await quiet();
	});
});

describe('the next test run', () => {
	it('waits for the same scrape for free, and with another credential starts its own', async () => {
		const account = { plan: 'pro' as const, credits: 1000 };
		const accounts = { [API_KEY]: account, 'other-key': account };
		fixture.sandbox.set({ ...LONG, accounts, notification: { times: 0 } });
		const other = await fixture.newCredential('Other account', 'other-key');
		const { id } = await fixture.workflow();
		for (let run = 1; run <= 2; run++) {
			await fixture.api.startWorkflow(id, 'LeadGen Trigger');
			await fixture.untilStarts(1);
			await fixture.api.stopListening(id);
			await quiet();
		}
		expect(fixture.starts).toBe(1);
		await execute(id, (trigger) => (trigger.credentials = use(other)));
		await fixture.untilStarts(2);
		const [first, second] = fixture.sandbox.jobs;
		expect([first?.account, second?.account]).toEqual([API_KEY, 'other-key']);
		// The late notification of the first is none of the second.
		const late = JSON.stringify({ scrapeId: first?.scrapeId, status: 'completed' });
		expect(await post(first?.webhookUrl ?? '', late)).toBe(200);
		fixture.sandbox.finish(second?.scrapeId ?? '', 'completed');
		await fixture.untilExecutions(id, 1);
		await quiet(1000);
		const items = await fixture.delivered(id);
		expect(items.map(({ json }) => [json.scrapeId, json.notification])).toEqual([
			[second?.scrapeId, null],
		]);
	});
});
