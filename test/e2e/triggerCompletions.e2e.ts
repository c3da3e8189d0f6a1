import type { StoredWorkflow } from '../../lab/playground/api';
import type { NotificationSettings } from '../../lab/sandbox/settings';
import { API_KEY, node, quiet, until, use } from '../../lab/fixture/fixture';
import { LONG, post } from './n8n';
import { fixture } from './triggerFixture';

/* What must never happen with a completion, on a real n8n: by counts of lookups and of executions. */

const leads = (...names: string[]) => names.map((name) => ({ name }));

describe('a completion', () => {
	const bodies = 'flat leads form query text empty broken'.split(' ');
	const shapes = [
		...bodies.map((shape) => ({ shape: shape as NotificationSettings['shape'] })),
		{ method: 'PUT' as const },
		{ method: 'PUT' as const, shape: 'empty' as const },
		{ method: 'GET' as const },
	];

	it('comes in once with each shape and method of its notification', async () => {
		const workflows: Array<[string, StoredWorkflow]> = [];
		for (const notification of shapes) {
			fixture.sandbox.set({ notification: { method: 'POST', shape: 'flat', ...notification } });
			const workflow = await fixture.activated();
			workflows.push([JSON.stringify(notification), workflow]);
			await until('the notification', () => {
				if (fixture.startsOf(workflow) === 0) return false;
				return fixture.jobOf(workflow).notifications[0]?.status !== undefined;
			});
		}
		// A poll leaves the notification the precedence.
		for (const [, { id }] of workflows) await fixture.untilRuns(id, 1);
		await quiet(5000);
		for (const [shape, { id }] of workflows) {
			const items = await fixture.delivered(id);
			expect([shape, items.length]).toEqual([shape, 1]);
			const { notification } = items[0]?.json as { notification: { method: string } | null };
			// n8n itself turns broken JSON away.
			const isBroken = shape.includes('broken');
			const method = /PUT|GET/.exec(shape)?.[0] ?? 'POST';
			expect([shape, notification?.method]).toEqual([shape, isBroken ? undefined : method]);
		}
		expect(fixture.starts).toBe(shapes.length);
	});

	it.each([
		['is lost', { notification: { times: 0 } }],
		[
			'comes before the answer to the start',
			{
				job: { durationMs: 300 },
				faults: [{ kind: 'slowBody' as const, delayMs: 3000, match: { path: '/start' } }],
			},
		],
		['comes before the end', { job: { durationMs: 3000 }, notification: { delayMs: -2000 } }],
		['comes late', { notification: { delayMs: 20_000 } }],
		['comes thirty times at once', { notification: { times: 30 } }],
		['has an awkward scrape ID', { job: { durationMs: 1000, scrapeIdStyle: 'awkward' as const } }],
		['says that it failed', { job: { durationMs: 1000, outcome: 'failed' as const } }],
	])('runs the workflow once if its notification %s', async (_what, settings) => {
		fixture.sandbox.set(settings);
		const { id } = await fixture.activated();
		await fixture.untilRuns(id, 1);
		await quiet(6000);
		const [job] = fixture.sandbox.jobs;
		const items = await fixture.delivered(id);
		expect(items.map(({ json }) => [json.scrapeId, json.status])).toEqual([
			[job?.scrapeId, job?.outcome],
		]);
		expect(fixture.starts).toBe(1);
	});

	it('runs the workflow only for the events that were chosen', async () => {
		const onlyFailed = await fixture.activated({ events: ['failed'] });
		await fixture.untilStarts(1);
		const both = await fixture.activated();
		await fixture.untilRuns(both.id, 1);
		// The start, and a completion that ends at the trigger.
		await fixture.untilExecutions(onlyFailed.id, 2);
		await quiet();
		const { scrapeId } = fixture.sandbox.jobs[0] ?? {};
		// A notification that comes when the scrape is done begins no execution.
		const { webhookUrl = '' } = fixture.sandbox.jobs[0] ?? {};
		expect(await post(webhookUrl, JSON.stringify({ scrapeId, leads: leads('Ada') }))).toBe(200);
		await quiet();
		expect(await fixture.executions(onlyFailed.id)).toHaveLength(2);
		expect(await fixture.delivered(onlyFailed.id)).toEqual([]);
		expect(await fixture.told(onlyFailed.id)).toEqual([]);
		fixture.sandbox.set({ job: { durationMs: 1000, outcome: 'failed' } });
		await fixture.reactivate(onlyFailed.id);
		await fixture.untilRuns(onlyFailed.id, 1);
		const [item] = await fixture.delivered(onlyFailed.id);
		expect(item?.json.status).toBe('failed');
	});
});

describe('a status that the service refuses', () => {
	it('is told for each scrape, and each completion comes in when the service returns it', async () => {
		fixture.sandbox.set({
			job: { durationMs: 1000 },
			notification: { times: 0 },
			faults: [{ kind: 'envelope', code: 'FORBIDDEN', match: { path: '/status' } }],
		});
		const { id } = await fixture.activated({ schedule: 'cron', cronExpression: '*/10 * * * * *' });
		await until('two are told', async () => (await fixture.told(id)).length >= 2);
		const ids = fixture.sandbox.jobs.slice(0, 2).map(({ scrapeId }) => scrapeId);
		expect((await fixture.told(id)).slice(0, 2)).toEqual(
			ids.map(
				(each) =>
					expect.stringContaining(`The node does not see the end of scrape ${each}: `) as string,
			),
		);
		fixture.sandbox.set({ faults: [] });
		const isRun = async () => {
			const scrapes = await fixture.scrapesOf(id);
			return ids.every((each) => scrapes.includes(each));
		};
		await until('both run', isRun);
		await fixture.api.deactivateWorkflow(id);
		await quiet();
		const scrapes = await fixture.scrapesOf(id);
		expect(new Set(scrapes).size).toBe(scrapes.length);
	});
});

describe('several notifications of one scrape', () => {
	it('let the one with the leads through, though another came before the end', async () => {
		fixture.sandbox.set({ ...LONG, notification: { times: 0 } });
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		const { scrapeId = '' } = fixture.sandbox.jobs[0] ?? {};
		const send = async (body: object) => await post(fixture.webhookUrl(), JSON.stringify(body));
		for (const progress of [0, 50]) {
			await quiet(1000);
			expect(await send({ scrapeId, status: 'processing', progress })).toBe(200);
		}
		await quiet(1000);
		fixture.sandbox.finish(scrapeId, 'completed');
		const whole = { scrapeId, leads: leads('Ada', 'Grace') };
		expect(await send(whole)).toBe(200);
		await fixture.untilRuns(id, 1);
		await quiet(12_000);
		expect(await send(whole)).toBe(200);
		const items = await fixture.delivered(id);
		expect(items.map(({ json }) => (json.notification as { body: object }).body)).toEqual([whole]);
		// The start, the first notification, and the one that ran.
		expect(await fixture.executions(id)).toHaveLength(3);
		expect(await fixture.told(id)).toEqual([]);
	});
});

describe('a stranger', () => {
	it('brings nothing in with a forged ID, even with the token', async () => {
		const { id } = await fixture.activated();
		await fixture.untilRuns(id, 1);
		await quiet(1500);
		// A scrape of the same account that was started elsewhere, and is finished.
		const foreign = await fixture.startElsewhere();
		await quiet(1500);
		const lookups = fixture.count('getScrapeStatus');
		for (const scrapeId of [foreign, 'scrape_forged', fixture.sandbox.jobs[0]?.scrapeId]) {
			const answer = await post(fixture.webhookUrl(), JSON.stringify({ scrapeId }));
			expect(answer).toBe(200);
		}
		await quiet();
		expect(await fixture.executions(id)).toHaveLength(2);
		expect(fixture.count('getScrapeStatus')).toBe(lookups);
	});
});

describe('a node that only listens', () => {
	it('starts nothing, and runs the workflow once for each scrape that was started with its URL', async () => {
		const workflow = await fixture.listening();
		expect(fixture.starts).toBe(0);
		fixture.sandbox.set({ notification: { times: 3 } });
		const ids = await fixture.startMany(8, fixture.plainUrl(workflow));
		await fixture.untilRuns(workflow.id, 8);
		await quiet();
		expect((await fixture.scrapesOf(workflow.id)).sort()).toEqual([...ids].sort());
		expect(await fixture.executions(workflow.id)).toHaveLength(8);
		// A repeat that comes later.
		await fixture.sandbox.notify(ids[0] ?? '');
		await quiet();
		expect(await fixture.executions(workflow.id)).toHaveLength(8);
	});

	it('fails with advice for an ID that the service does not know, and is not held up by it', async () => {
		// The lookups of the tests before have used up the share of another plan.
		const credential = await fixture.newCredential('No limit either', API_KEY, {
			plan: 'enterprise',
			requestsPerMinute: 6000,
		});
		const trigger = fixture.trigger({ mode: 'listen' }, { credentials: use(credential) });
		const workflow = await fixture.activate(trigger);
		await quiet(1000);
		const url = fixture.plainUrl(workflow);
		const forged = ['forged_0', 'forged_1'];
		for (const scrapeId of forged) expect(await post(url, JSON.stringify({ scrapeId }))).toBe(200);
		expect(await post(url, JSON.stringify({ event: 'ping' }))).toBe(400);
		const ids = await fixture.startMany(3, url);
		const count = async (wanted: string) =>
			(await fixture.executions(workflow.id)).filter(({ status }) => status === wanted).length;
		// Meanwhile the node still asks for the others.
		await until('the runs', async () => (await count('success')) === 3);
		expect(await count('running')).toBe(2);
		await until('both fail', async () => (await count('error')) === 2, 120_000);
		expect((await fixture.scrapesOf(workflow.id)).sort()).toEqual([...ids].sort());
		expect((await fixture.told(workflow.id)).sort()).toEqual(
			forged.map((id) => `The service does not know the scrape ${id}`),
		);
		expect(await fixture.executions(workflow.id)).toHaveLength(5);
	});

	it('asks again while the key is refused for a moment, and reads JSON of any content type', async () => {
		const workflow = await fixture.listening();
		fixture.sandbox.set({
			faults: [{ kind: 'envelope', code: 'UNAUTHORIZED', match: { method: 'GET', times: 3 } }],
		});
		const types = ['application/vnd.api+json', 'application/octet-stream', 'text/plain'];
		const ids = await fixture.startMany(types.length);
		for (const [at, type] of types.entries()) {
			const body = JSON.stringify({ data: { scrapeId: ids[at] } });
			expect(await post(fixture.plainUrl(workflow), body, type)).toBe(200);
		}
		await fixture.untilRuns(workflow.id, types.length);
		await quiet();
		expect((await fixture.scrapesOf(workflow.id)).sort()).toEqual([...ids].sort());
		expect(await fixture.told(workflow.id)).toEqual([]);
	});
});

describe('the output', () => {
	it.each([
		['found by itself', {}],
		['that the person names', { leadsField: 'data.leads' }],
	])('is one item for each lead of a list %s', async (_what, options) => {
		fixture.sandbox.set({ notification: { shape: 'leads' } });
		const { id } = await fixture.activated({ output: 'leads', options });
		await fixture.untilRuns(id, 1);
		const items = await fixture.delivered(id);
		const { scrapeId } = fixture.sandbox.jobs[0] ?? {};
		expect(items).toHaveLength(10);
		for (const { json, pairedItem } of items) {
			expect(json).toMatchObject({
				scrapeId,
				scrapeStatus: 'completed',
				name: expect.any(String) as string,
			});
			expect(pairedItem).toEqual({ item: 0 });
		}
	});

	it('is one item for the scrape where the notification holds no list', async () => {
		const { id } = await fixture.activated({ output: 'leads' });
		await fixture.untilRuns(id, 1);
		const items = await fixture.delivered(id);
		expect(items.map(({ json }) => json)).toEqual([
			expect.objectContaining({ scrapeId: fixture.sandbox.jobs[0]?.scrapeId, leadsFound: 10 }),
		]);
	});
});

describe('static data', () => {
	it('survives a Code node and a schedule that write back old copies of it', async () => {
		const jsCode =
			"const data = $getWorkflowStaticData('global'); const before = JSON.stringify(data); data.count = (data.count ?? 0) + 1; await new Promise((resolve) => setTimeout(resolve, 1500)); return [{ json: { before } }];";
		const trigger = fixture.trigger();
		const content = fixture.content(
			trigger,
			node('Code', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } }),
		);
		const every = node('Every second', 'n8n-nodes-base.scheduleTrigger', {
			typeVersion: 1.2,
			parameters: { rule: { interval: [{ field: 'seconds', secondsInterval: 1 }] } },
		});
		content.nodes.push(every);
		content.connections['Every second'] = { main: [[{ node: 'Code', type: 'main', index: 0 }]] };
		const { id } = await fixture.api.createWorkflow(content);
		await fixture.api.activateWorkflow(id);
		for (let round = 1; round <= 4; round++) {
			await fixture.untilStarts(round);
			await fixture.untilRuns(id, round);
			await fixture.api.deactivateWorkflow(id);
			if (round < 4) await fixture.api.activateWorkflow(id);
		}
		expect(fixture.starts).toBe(4);
		expect(await fixture.delivered(id)).toHaveLength(4);
	});
});
