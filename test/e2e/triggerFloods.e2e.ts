import { API_KEY, node, quiet } from '../../lab/fixture/fixture';
import { expectRuns, fixture } from './triggerFixture';

/* Many notifications and many writers at once. They take minutes, so CI runs them at night. */

describe('a node that only listens', () => {
	it('brings in many that finish at once', async () => {
		const workflow = await fixture.listening();
		fixture.sandbox.set({
			job: { durationMs: 3_600_000 },
			// n8n drops a request whose sender gives up before n8n gets to it, which takes it seconds on a busy machine.
			notification: { shape: 'leads', retryMs: 8000 },
			accounts: { [API_KEY]: { plan: 'pro', credits: 100_000 } },
		});
		const ids = await fixture.startMany(90, fixture.plainUrl(workflow), 40);
		for (const id of ids) fixture.sandbox.finish(id, 'completed');
		await fixture.untilExecutions(workflow.id, 90, 240_000);
		// A repetition that comes a minute later, before n8n has got to the first, begins an execution as well.
		const items = await expectRuns(workflow.id, 90);
		expect(items.map(({ json }) => json.scrapeId).sort()).toEqual(ids.toSorted());
		for (const { json } of items) {
			const { data } = (json.notification as { body: { data: Record<string, unknown> } }).body;
			expect(data.scrapeId).toBe(json.scrapeId);
			expect(data.leads).toHaveLength(40);
		}
		const executions = await fixture.executions(workflow.id);
		expect(fixture.count('getScrapeStatus')).toBeLessThanOrEqual(executions.length);
	}, 600_000);
});

describe('a schedule', () => {
	it('undoes nothing that a Code node saves beside it', async () => {
		const jsCode = `const data = $getWorkflowStaticData('global');
data.runs = (data.runs ?? 0) + 1;
return [{ json: { runs: data.runs } }];`;
		const { id } = await fixture.activate(
			fixture.trigger({ schedule: 'cron', cronExpression: '*/10 * * * * *' }),
			node('Count', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } }),
		);
		await fixture.untilRuns(id, 4);
		await fixture.api.deactivateWorkflow(id);
		await quiet();
		const counts = (await fixture.delivered(id, 'Count')).map(({ json }) => Number(json.runs));
		// Only if n8n saves at the same moment for both, one may be lost.
		expect(Math.max(...counts)).toBeGreaterThanOrEqual(counts.length - 2);
		const scrapes = await fixture.scrapesOf(id);
		expect(new Set(scrapes).size).toBe(scrapes.length);
	}, 300_000);
});
