import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
	API_KEY,
	linkTo,
	node,
	quiet,
	SOON_ACTIVE,
	until,
	uuid,
	WITHOUT_CODE,
} from '../../lab/fixture/fixture';
import { LONG, useN8n } from './n8n';

/** Loses its connection once. When n8n has activated the workflow anew, it begins an execution. */
const FRAGILE = `let calls = 0;
exports.Fragile = class {
	description = {
		displayName: 'Fragile', name: 'fragile', group: ['trigger'], version: 1, description: 'Loses its connection',
		defaults: { name: 'Fragile' }, inputs: [], outputs: ['main'], properties: [],
	};
	async trigger() {
		if (++calls === 1) setTimeout(() => this.emitError(new Error('The connection was lost')), 4000);
		else this.emit([[{ json: { calls } }]]);
		return {};
	}
};`;

const folder = mkdtempSync(join(tmpdir(), 'leadgen-fragile-'));
writeFileSync(join(folder, 'Fragile.node.js'), FRAGILE);
const env = {
	...SOON_ACTIVE,
	...WITHOUT_CODE,
	N8N_CUSTOM_EXTENSIONS: folder,
	// No limit.
	N8N_CONCURRENCY_PRODUCTION_LIMIT: '-1',
};
const fixture = useN8n(env);
afterAll(() => {
	rmSync(folder, { recursive: true });
});

describe('through power cuts', () => {
	it('delivers a completion that came while n8n was down, and does not catch up a start that was due meanwhile', async () => {
		await fixture.reset({ job: { durationMs: 3000 } });
		const due = new Date(Math.ceil(Date.now() / 1000) * 1000 + 20_000);
		const time = [due.getUTCSeconds(), due.getUTCMinutes(), due.getUTCHours(), due.getUTCDate()];
		const cronExpression = `${time.join(' ')} ${String(due.getUTCMonth() + 1)} *`;
		const scheduled = await fixture.activated({ schedule: 'cron', cronExpression });
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await quiet(2000);
		await fixture.kill();
		await quiet(Math.max(3000, due.getTime() + 1000 - Date.now()));
		await fixture.start();
		await fixture.untilRuns(id, 1);
		await quiet();
		await fixture.restart();
		await quiet(3000);
		expect(fixture.starts).toBe(1);
		expect(await fixture.delivered(id)).toHaveLength(1);
		expect(await fixture.told(id)).toEqual([]);
		expect(await fixture.executions(scheduled.id)).toEqual([]);
	});

	it('keeps the leads of a notification that waits for the status, in the execution that crashed', async () => {
		await fixture.reset({
			job: { durationMs: 20_500 },
			notification: { shape: 'leads', times: 0 },
		});
		const { id } = await fixture.activated({ limit: 1000 });
		await fixture.untilStarts(1);
		await quiet(500);
		const { status } = await fixture.sandbox.notify(String(fixture.sandbox.jobs[0]?.scrapeId));
		expect(status).toBe(200);
		await quiet(1000);
		await fixture.kill();
		await fixture.start();
		// The poll runs the workflow without them.
		await fixture.untilRuns(id, 1);
		const [crashed] = (await fixture.executions(id)).filter(({ status }) => status === 'crashed');
		const [item] = (await fixture.api.execution(crashed?.id ?? '')).waiting;
		const { completion } = item?.json.leadGenTrigger as {
			completion: { notification: { body: { data: { leads: unknown[] } } } };
		};
		expect(completion.notification.body.data.leads).toHaveLength(1000);
		// Retry does not run the workflow twice.
		expect((await fixture.api.retryExecution(crashed?.id ?? '')).status).toBe('success');
		expect(await fixture.delivered(id)).toHaveLength(1);
	});
});

describe('beside a trigger that loses its connection', () => {
	it('starts nothing more, and brings in its completion, though it used up the credits', async () => {
		await fixture.reset(LONG);
		const content = fixture.content(fixture.trigger(), node('End', 'n8n-nodes-base.noOp'));
		content.nodes.push(node('Fragile', 'CUSTOM.fragile'));
		content.connections.Fragile = linkTo('End');
		const workflow = await fixture.api.createWorkflow(content);
		const { id } = workflow;
		await fixture.api.activateWorkflow(id);
		await fixture.untilStarts(1);
		fixture.sandbox.set({ accounts: { [API_KEY]: { plan: 'pro', credits: 0 } } });
		await fixture.untilRuns(id, 1, 'Fragile');
		fixture.finish(workflow);
		await fixture.untilRuns(id, 1);
		await quiet();
		expect(await fixture.scrapesOf(id)).toEqual([fixture.jobOf(workflow).scrapeId]);
		expect(await fixture.told(id)).toEqual([]);
		expect(fixture.starts).toBe(1);
	});
});

describe('where one production execution may run at once', () => {
	it('runs eight scrapes that finish together, and leaves room for other workflows', async () => {
		env.N8N_CONCURRENCY_PRODUCTION_LIMIT = '1';
		await fixture.restart();
		await fixture.reset({ ...LONG, notification: { times: 0 } });
		const { id } = await fixture.activated({ schedule: 'cron', cronExpression: '*/2 * * * * *' });
		await until('eight scrapes', () => fixture.sandbox.jobs.length >= 8);
		await fixture.api.deactivateWorkflow(id);
		await quiet(5000);
		// Nothing is due any more.
		const workflow = await fixture.api.workflow(id);
		Object.assign(workflow.nodes[0]?.parameters ?? {}, { cronExpression: '0 0 1 1 *' });
		await fixture.api.updateWorkflow(id, workflow);
		await fixture.api.activateWorkflow(id);
		const webhook = node('Webhook', 'n8n-nodes-base.webhook', {
			...{ typeVersion: 2, webhookId: uuid(), parameters: { path: 'other', options: {} } },
		});
		const other = await fixture.activate(webhook, node('End', 'n8n-nodes-base.noOp'));
		await quiet(3000);
		const { jobs } = fixture.sandbox;
		// One that was due at the deactivation has sent nothing.
		const { length: starts } = await fixture.executions(id);
		for (const { scrapeId } of jobs) fixture.sandbox.finish(scrapeId, 'completed');
		await quiet(13_000);
		const since = Date.now();
		await fetch(`${fixture.url}/webhook/other`);
		await fixture.untilRuns(other.id, 1, 'Webhook');
		expect(Date.now() - since).toBeLessThan(20_000);
		await fixture.untilRuns(id, jobs.length);
		await quiet(20_000);
		expect(await fixture.executions(id)).toHaveLength(starts + jobs.length);
		expect(await fixture.delivered(id)).toHaveLength(jobs.length);
	});
});
