import type { StoredWorkflow } from '../../lab/playground/api';
import type { SettingsPatch } from '../../lab/sandbox/settings';
import { API_KEY, linkTo, node, quiet, until, use } from '../../lab/fixture/fixture';
import { LONG, post, some } from './n8n';
import { expectRuns, fixture } from './triggerFixture';

/* What must never happen with a completion, on a real n8n: by counts of lookups and of executions. */

const leads = (...names: string[]) => names.map((name) => ({ name }));

describe('a completion', () => {
	const NOTIFICATIONS: Array<NonNullable<SettingsPatch['notification']>> = [
		...(['flat', 'form', 'query', 'text', 'empty', 'broken'] as const).map((shape) => ({ shape })),
		{ method: 'PUT' },
		{ method: 'PUT', shape: 'empty' },
		{ method: 'GET' },
	];

	it('comes in once with each shape and method of its notification', async () => {
		const workflows: StoredWorkflow[] = [];
		for (const notification of NOTIFICATIONS) {
			fixture.sandbox.set({ notification: { method: 'POST', shape: 'flat', ...notification } });
			const workflow = await fixture.activated();
			workflows.push(workflow);
			await until('the notification', () => {
				if (fixture.startsOf(workflow) === 0) return false;
				return fixture.jobOf(workflow).notifications[0]?.status !== undefined;
			});
		}
		// A poll leaves the notification the precedence.
		for (const { id } of workflows) await fixture.untilRuns(id, 1);
		await quiet(5000);
		const runs = await Promise.all(workflows.map(({ id }) => fixture.delivered(id)));
		expect(runs.map((items) => items.map(({ json }) => json.notification))).toEqual(
			NOTIFICATIONS.map(({ method = 'POST', shape }) => [
				// n8n itself turns broken JSON away.
				shape === 'broken' ? null : some({ method }),
			]),
		);
		expect(fixture.starts).toBe(NOTIFICATIONS.length);
	});

	it.each<[what: string, settings: SettingsPatch]>([
		['is lost', { notification: { times: 0 } }],
		[
			'comes before the answer to the start',
			{
				job: { durationMs: 300 },
				faults: [{ kind: 'slowBody', delayMs: 3000, match: { path: '/start' } }],
			},
		],
		['comes before the end', { job: { durationMs: 3000 }, notification: { delayMs: -2000 } }],
		['comes late', { notification: { delayMs: 20_000 } }],
		['comes thirty times at once', { notification: { times: 30 } }],
		['has an awkward scrape ID', { job: { durationMs: 1000, scrapeIdStyle: 'awkward' } }],
		['says that it failed', { job: { durationMs: 1000, outcome: 'failed' } }],
	])('runs the workflow once if its notification %s', async (_what, settings) => {
		fixture.sandbox.set(settings);
		const { id } = await fixture.activated();
		const items = await expectRuns(id, 1, 6000);
		const [job] = fixture.sandbox.jobs;
		expect(items.map(({ json }) => [json.scrapeId, json.status])).toEqual([
			[job?.scrapeId, job?.outcome],
		]);
		expect(fixture.starts).toBe(1);
	});

	it('runs the workflow only for the events that were chosen', async () => {
		const workflow = await fixture.activated({ events: ['failed'] });
		const { id } = workflow;
		// The start, and a completion that ends at the trigger.
		await fixture.untilExecutions(id, 2);
		await quiet();
		const { scrapeId, webhookUrl = '' } = fixture.jobOf(workflow);
		// A notification that comes when the scrape is done begins no execution.
		expect(await post(webhookUrl, JSON.stringify({ scrapeId, leads: leads('Ada') }))).toBe(200);
		await quiet();
		expect(await fixture.executions(id)).toHaveLength(2);
		expect(await fixture.delivered(id)).toEqual([]);
		expect(await fixture.told(id)).toEqual([]);
		fixture.sandbox.set({ job: { durationMs: 1000, outcome: 'failed' } });
		await fixture.reactivate(id);
		const items = await expectRuns(id, 1);
		expect(items.map(({ json }) => json.status)).toEqual(['failed']);
	});

	it('has the leads, though other notifications came before the end', async () => {
		fixture.sandbox.set({ ...LONG, notification: { times: 0 } });
		const workflow = await fixture.activated();
		const { id } = workflow;
		await fixture.untilStarts(1);
		const { scrapeId } = fixture.jobOf(workflow);
		const send = async (body: object) => await post(fixture.webhookUrl(), JSON.stringify(body));
		for (const progress of [0, 50]) {
			await quiet(1000);
			expect(await send({ scrapeId, status: 'processing', progress })).toBe(200);
		}
		await quiet(1000);
		fixture.finish(workflow);
		const whole = { scrapeId, leads: leads('Ada', 'Grace') };
		expect(await send(whole)).toBe(200);
		const [item] = await expectRuns(id, 1, 12_000);
		expect(item?.json.notification).toMatchObject({ body: whole });
		expect(await send(whole)).toBe(200);
		// The start, two that end as "ran before", and the one that ran.
		expect(await fixture.executions(id)).toHaveLength(4);
		expect(await fixture.told(id)).toEqual([]);
	});

	it('of a stranger does not come in, even with the token of a scrape', async () => {
		const workflow = await fixture.activated();
		const { id } = workflow;
		await expectRuns(id, 1);
		// Not a message of the node to itself.
		const message = JSON.stringify({ scrapes: [], sentAt: Date.now() });
		const forged = await fetch(fixture.plainUrl(workflow), {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'x-leadgen-signature': '0'.repeat(64) },
			body: JSON.stringify({ message }),
		});
		expect(forged.status).toBe(403);
		// A scrape of the same account that was started elsewhere, and is finished.
		const foreign = await fixture.startElsewhere();
		await quiet(1500);
		const lookups = fixture.count('getScrapeStatus');
		for (const scrapeId of [foreign, 'scrape_forged', fixture.sandbox.jobs[0]?.scrapeId])
			expect(await post(fixture.webhookUrl(), JSON.stringify({ scrapeId }))).toBe(200);
		await quiet();
		expect(await fixture.executions(id)).toHaveLength(2);
		expect(fixture.count('getScrapeStatus')).toBe(lookups);
	});

	it('is one item for each lead of the list in its notification, or one item for the scrape', async () => {
		fixture.sandbox.set({ notification: { shape: 'leads' } });
		const { id } = await fixture.activated({ output: 'leads' });
		await fixture.untilRuns(id, 10);
		fixture.sandbox.set({ notification: { shape: 'flat' } });
		await fixture.reactivate(id);
		const items = await expectRuns(id, 11);
		const [first, second] = fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId);
		const name: unknown = expect.any(String);
		const lead = some({ scrapeId: first, scrapeStatus: 'completed', name });
		expect(items.map(({ json }) => json)).toEqual([
			...new Array<unknown>(10).fill(lead),
			some({ scrapeId: second, leadsFound: 10 }),
		]);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(new Array(11).fill({ item: 0 }));
	});

	it('comes in once beside a Code node that writes old static data back', async () => {
		const jsCode =
			"const data = $getWorkflowStaticData('global'); data.count = (data.count ?? 0) + 1; await new Promise((resolve) => setTimeout(resolve, 1500)); return [{ json: { ...data } }];";
		const code = node('Code', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } });
		const content = fixture.content(fixture.trigger(), code);
		const every = node('Every second', 'n8n-nodes-base.scheduleTrigger', {
			typeVersion: 1.2,
			parameters: { rule: { interval: [{ field: 'seconds', secondsInterval: 1 }] } },
		});
		content.nodes.push(every);
		content.connections['Every second'] = linkTo('Code');
		const { id } = await fixture.api.createWorkflow(content);
		for (let round = 1; round <= 4; round++) {
			await fixture.api.activateWorkflow(id);
			await fixture.untilStarts(round);
			await fixture.untilRuns(id, round);
			await fixture.api.deactivateWorkflow(id);
		}
		expect(fixture.starts).toBe(4);
		expect(await fixture.delivered(id)).toHaveLength(4);
	});
});

describe('a node that only listens', () => {
	it('starts nothing, and runs the workflow once for each scrape that was started with its URL', async () => {
		const workflow = await fixture.listening();
		fixture.sandbox.set({ notification: { times: 3 } });
		const ids = await fixture.startMany(8, fixture.plainUrl(workflow));
		await expectRuns(workflow.id, 8);
		// A repeat that comes later.
		await fixture.sandbox.notify(ids[0] ?? '');
		await quiet();
		expect((await fixture.scrapesOf(workflow.id)).sort()).toEqual([...ids].sort());
		// Each notification begins an execution, and all but one of a scrape end at the trigger.
		expect((await fixture.executions(workflow.id)).length).toBeGreaterThan(8);
		expect(await fixture.told(workflow.id)).toEqual([]);
		expect(fixture.starts).toBe(8);
	});

	it('reads JSON of any content type, and fails with advice for an ID that the service does not know', async () => {
		// The lookups of the tests before have used up the share of another plan.
		const limit = { plan: 'enterprise', requestsPerMinute: 6000 };
		const credential = await fixture.newCredential('No limit either', API_KEY, limit);
		const trigger = fixture.trigger({ mode: 'listen' }, { credentials: use(credential) });
		const workflow = await fixture.activate(trigger);
		const { id } = workflow;
		await quiet(1000);
		const send = async (body: object, type?: string) =>
			await post(fixture.plainUrl(workflow), JSON.stringify(body), type);
		const forged = ['forged_0', 'forged_1'];
		const missing = 'the service does not find it';
		for (const scrapeId of forged) expect(await send({ scrapeId })).toBe(200);
		expect(await send({ event: 'ping' })).toBe(400);
		const ids = await fixture.startMany(3);
		const types = ['application/vnd.api+json', 'application/octet-stream', 'text/plain'];
		for (const [at, type] of types.entries())
			expect(await send({ data: { scrapeId: ids[at] } }, type)).toBe(200);
		const count = async (wanted: string) =>
			(await fixture.executions(id)).filter(({ status }) => status === wanted).length;
		// Meanwhile the node still asks for the others.
		await until('the runs', async () => (await count('success')) === 3);
		expect(await count('running')).toBe(2);
		await until('both fail', async () => (await count('error')) === 2, 120_000);
		expect((await fixture.scrapesOf(id)).sort()).toEqual([...ids].sort());
		expect((await fixture.told(id)).sort()).toEqual(
			forged.map((each) => `The node does not see the end of scrape ${each}: ${missing}`),
		);
		expect(await fixture.executions(id)).toHaveLength(5);
	});
});
