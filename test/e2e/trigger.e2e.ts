import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { N8nApi, type StoredCredential, type StoredWorkflow } from '../../playground/api';
import { LEADERSHIP_HOOKS, setRole } from '../../playground/n8n';
import type { NotificationSettings } from '../../sandbox/settings';
import { API_KEY, Field, LINE, node, OWNER, quiet, TRIGGER, until, use, uuid } from './field';

/** What must never happen, on a real n8n: by counts of `POST /start` and of executions. */
const field = new Field({ EXTERNAL_HOOK_FILES: LEADERSHIP_HOOKS });
beforeAll(async () => {
	await field.open();
});
afterAll(async () => {
	await field.close();
});
beforeEach(async () => {
	await field.reset();
});

const LONG = { job: { durationMs: 600_000 } };

async function activated(parameters: Record<string, unknown> = {}): Promise<StoredWorkflow> {
	const workflow = await field.workflow(parameters);
	await field.api.activateWorkflow(workflow.id);
	return workflow;
}

async function untilStarts(count: number): Promise<void> {
	await until(`${String(count)} starts`, () => field.starts >= count);
}

async function untilExecutions(workflowId: string, count: number, timeoutMs = 20_000) {
	const enough = async () => (await field.executions(workflowId)).length >= count;
	await until(`${String(count)} executions`, enough, timeoutMs);
}

async function countRuns(workflowIds: string[]): Promise<number> {
	const executions = await Promise.all(workflowIds.map((id) => field.executions(id)));
	return executions.flat().length;
}

/** Saves a workflow that is active; on n8n 2 that takes publishing as well. */
async function save(id: string, change: (workflow: StoredWorkflow) => void = () => {}) {
	const workflow = await field.api.workflow(id);
	change(workflow);
	await field.api.updateWorkflow(id, workflow);
	if (LINE === '2') await field.api.activateWorkflow(id);
}

function triggerOf({ nodes }: StoredWorkflow) {
	const trigger = nodes.find(({ type }) => type === TRIGGER);
	if (!trigger) throw new Error('There is no trigger');
	return trigger;
}

describe('a start', () => {
	it('happens once when the workflow is activated, and its completion runs the workflow once', async () => {
		const { id } = await activated();
		await untilExecutions(id, 1);
		await quiet();
		const [item, ...more] = await field.delivered(id);
		expect(more).toEqual([]);
		const [job] = field.sandbox.jobs;
		expect(item?.json).toMatchObject({
			scrapeId: job?.scrapeId,
			status: 'completed',
			progress: 100,
			leadsFound: 10,
			creditsUsed: 10,
			notification: { method: 'POST', query: {}, body: { scrapeId: job?.scrapeId } },
		});
		expect(JSON.stringify(item?.json)).not.toContain(new URL(field.webhookUrl()).search.slice(7));
		expect(field.starts).toBe(1);
		expect(field.sandbox.requests[1]).toMatchObject({
			operation: 'startScrape',
			violation: undefined,
			body: { filters: { jobTitles: ['CTO'], limit: 10 } },
		});
	});

	it('may be over before its answer has come', async () => {
		await field.reset({
			job: { durationMs: 300 },
			faults: [{ kind: 'slowBody', delayMs: 3000, match: { path: '/start' } }],
		});
		const { id } = await activated();
		await untilExecutions(id, 1);
		await quiet();
		const items = await field.delivered(id);
		expect(items.map(({ json }) => json)).toEqual([
			expect.objectContaining({
				scrapeId: field.sandbox.jobs[0]?.scrapeId,
				notification: expect.objectContaining({ method: 'POST' }) as object,
			}),
		]);
		expect(field.starts).toBe(1);
	});

	it('follows one whose answer got lost between n8n and itself', async () => {
		let lost = 0;
		// It lets the node's own calls through, but for the answer to the one that starts the scrape.
		const proxy = createServer((request, response) => {
			const pass = async () => {
				const body = await text(request);
				const knock = String(request.headers['x-leadgen-knock']);
				const headers = { 'x-leadgen-knock': knock, 'content-type': 'application/json' };
				const answer = await fetch(field.url + (request.url ?? ''), {
					method: 'POST',
					headers,
					body,
				});
				const answered = await answer.text();
				if (!body.includes('"phase":"go"')) response.writeHead(answer.status).end(answered);
				else if (++lost > 0) request.socket.destroy();
			};
			pass().catch(() => request.socket.destroy());
		});
		const port = await new Promise<number>((resolve) => {
			proxy.listen(0, '127.0.0.1', () => {
				const address = proxy.address();
				resolve(typeof address === 'object' && address ? address.port : 0);
			});
		});
		try {
			const internalUrl = `http://127.0.0.1:${String(port)}`;
			const { id } = await activated({ options: { internalUrl } });
			await untilExecutions(id, 1);
			await field.api.deactivateWorkflow(id);
			await field.api.activateWorkflow(id);
			await untilExecutions(id, 2);
			await quiet();
			const items = await field.delivered(id);
			expect(items.map(({ json }) => json.scrapeId)).toEqual(
				field.sandbox.jobs.map(({ scrapeId }) => scrapeId),
			);
			expect(field.starts).toBe(2);
			expect(lost).toBe(2);
		} finally {
			proxy.close();
		}
	});

	it('does not happen again in ten saves and publications', async () => {
		const { id } = await activated();
		await untilExecutions(id, 1);
		for (let count = 1; count <= 10; count++) {
			await save(id, ({ nodes }) => {
				const [trigger, end] = nodes;
				if (end) end.notes = `saved ${String(count)} times`;
				// What makes n8n 2 activate the trigger anew, and is no filter.
				if (trigger && count % 2 === 0) trigger.parameters.options = { testLimit: count };
			});
		}
		await quiet();
		expect(field.starts).toBe(1);
		expect(await field.executions(id)).toHaveLength(1);
	});

	it('survives that the node is renamed while the scrape runs', async () => {
		field.sandbox.set(LONG);
		const { id } = await activated();
		await untilStarts(1);
		await save(id, (workflow) => {
			triggerOf(workflow).name = 'Leads, please';
			workflow.connections = {};
		});
		await quiet(1500);
		field.sandbox.finish(field.sandbox.jobs[0]?.scrapeId ?? '', 'completed');
		await untilExecutions(id, 1);
		await quiet();
		expect(await field.delivered(id, 'Leads, please')).toHaveLength(1);
		expect(field.starts).toBe(1);
	});

	it('happens once more when the filters change, and both completions come in', async () => {
		field.sandbox.set(LONG);
		const { id } = await activated();
		await untilStarts(1);
		await save(id, (workflow) => {
			triggerOf(workflow).parameters.filters = { jobTitles: ['CFO'] };
		});
		await untilStarts(2);
		await save(id);
		await quiet();
		expect(field.starts).toBe(2);
		for (const { scrapeId } of field.sandbox.jobs) field.sandbox.finish(scrapeId, 'completed');
		await untilExecutions(id, 2);
		await quiet();
		expect(await field.delivered(id)).toHaveLength(2);
	});

	it('happens again when the workflow is deactivated and activated, but not beside the same one', async () => {
		field.sandbox.set(LONG);
		const { id } = await activated();
		await untilStarts(1);
		await field.api.deactivateWorkflow(id);
		await field.api.activateWorkflow(id);
		await quiet();
		expect(field.starts).toBe(1);
		field.sandbox.finish(field.sandbox.jobs[0]?.scrapeId ?? '', 'completed');
		await untilExecutions(id, 1);
		await field.api.deactivateWorkflow(id);
		await field.api.activateWorkflow(id);
		await untilStarts(2);
		await quiet();
		expect(field.starts).toBe(2);
		expect(await field.executions(id)).toHaveLength(1);
	});

	it('is delivered after an activation if it finished while the workflow was not active', async () => {
		field.sandbox.set(LONG);
		const { id } = await activated();
		await untilStarts(1);
		await field.api.deactivateWorkflow(id);
		field.sandbox.finish(field.sandbox.jobs[0]?.scrapeId ?? '', 'completed');
		await quiet(500);
		await field.api.activateWorkflow(id);
		await untilExecutions(id, 1);
		await untilStarts(2);
		await quiet();
		expect(field.starts).toBe(2);
		expect(await field.executions(id)).toHaveLength(1);
	});

	it('of two workflows with the same node, and of a copy, is one each', async () => {
		const first = await activated();
		const { connections, settings, ...content } = await field.api.workflow(first.id);
		// As the editor does it: the nodes keep their ids, and get URLs of their own.
		const nodes = content.nodes.map((node) => ({ ...node, webhookId: uuid() }));
		const copy = await field.api.createWorkflow({ nodes, connections, settings, name: 'copy' });
		await field.api.activateWorkflow(copy.id);
		const third = await activated();
		for (const { id } of [first, copy, third]) await untilExecutions(id, 1);
		await quiet();
		for (const { id } of [first, copy, third]) expect(await field.delivered(id)).toHaveLength(1);
		expect(field.starts).toBe(3);
		const ids = await Promise.all([first, copy, third].map(({ id }) => field.delivered(id)));
		expect(new Set(ids.flat().map(({ json }) => json.scrapeId)).size).toBe(3);
	});

	it('does not happen again when n8n follows for a while and leads again, and each completion comes in once', async () => {
		await field.reset(LONG);
		const listening = await activated({ mode: 'listen' });
		const ids: string[] = [];
		const runs = () => countRuns([listening.id, ...ids]);
		const heard: string[] = [];
		for (let turn = 1; turn <= 2; turn++) {
			for (let count = 0; count < 3; count++) ids.push((await activated()).id);
			await untilStarts(ids.length + heard.length);
			const [before = '', between = '', after = ''] = field.sandbox.jobs
				.slice(-3)
				.map(({ scrapeId }) => scrapeId);
			const listened = await field.startElsewhere(field.plainUrl(listening));
			heard.push(listened);
			const lookups = field.count('getScrapeStatus');
			field.sandbox.finish(before, 'completed');
			await until('a look at it', () => field.count('getScrapeStatus') > lookups);
			await setRole(field.url, 'follower');
			await quiet(1000);
			const count = await runs();
			for (const id of [between, listened]) field.sandbox.finish(id, 'completed');
			await quiet();
			expect(await runs()).toBe(count);
			await setRole(field.url, 'leader');
			field.sandbox.finish(after, 'completed');
		}
		const all = ids.length + heard.length;
		await until('all of them run', async () => (await runs()) >= all, 60_000);
		await quiet(5000);
		const delivered: unknown[] = [];
		for (const id of ids) {
			const items = await field.delivered(id);
			expect(items).toHaveLength(1);
			delivered.push(items[0]?.json.scrapeId);
		}
		for (const { json } of await field.delivered(listening.id)) delivered.push(json.scrapeId);
		expect(delivered.sort()).toEqual(field.sandbox.jobs.map(({ scrapeId }) => scrapeId).sort());
		expect(field.starts).toBe(all);
	}, 180_000);

	it('is not sent again when n8n stops leading while it is under way', async () => {
		await field.reset({
			...LONG,
			faults: [{ kind: 'slowBody', delayMs: 2000, match: { path: '/start' } }],
		});
		const ids: string[] = [];
		for (const pauseMs of [0, 500, 3000]) {
			ids.push((await activated()).id);
			await untilStarts(ids.length);
			const follows = setRole(field.url, 'follower');
			await sleep(pauseMs);
			// In one and the same moment, n8n waits for neither.
			await Promise.all([follows, setRole(field.url, 'leader')]);
			await setRole(field.url, 'leader');
		}
		await quiet(5000);
		for (const { scrapeId } of field.sandbox.jobs) field.sandbox.finish(scrapeId, 'completed');
		for (const id of ids) await untilExecutions(id, 1);
		await quiet();
		for (const id of ids) {
			expect(await field.delivered(id)).toHaveLength(1);
			expect(await field.told(id)).toEqual([]);
		}
		expect(field.starts).toBe(ids.length);
	});

	it('with an unknown outcome is not repeated; the person is told, and the completion comes in', async () => {
		field.sandbox.set({
			faults: [{ kind: 'resetAfterWork', match: { operation: 'startScrape', nth: [1] } }],
		});
		const { id } = await activated();
		await untilExecutions(id, 2);
		await quiet();
		expect(field.starts).toBe(1);
		expect(await field.told(id)).toEqual(['It is not known whether a scrape was started']);
		const delivered = await field.delivered(id);
		expect(delivered.map(({ json }) => json.scrapeId)).toEqual([field.sandbox.jobs[0]?.scrapeId]);
		// The way to go on that the person was told.
		await field.api.deactivateWorkflow(id);
		await field.api.activateWorkflow(id);
		await untilExecutions(id, 3);
		expect(field.starts).toBe(2);
	});

	it('that was never sent is sent again until the service can be reached', async () => {
		field.sandbox.set({
			faults: [
				{
					kind: 'envelope',
					code: 'RATE_LIMIT_EXCEEDED',
					status: 429,
					match: { operation: 'startScrape', nth: [1, 2] },
				},
			],
		});
		const { id } = await activated();
		await untilExecutions(id, 1, 60_000);
		await quiet();
		expect(field.sandbox.jobs).toHaveLength(1);
		expect(await field.told(id)).toEqual([]);
	});
});

describe('a refusal', () => {
	async function refused(credential: StoredCredential): Promise<string> {
		const trigger = field.trigger({}, { credentials: use(credential) });
		const { id } = await field.api.createWorkflow(field.content(trigger));
		const said = await activateOrFail(id);
		if (LINE === '2') await field.api.deactivateWorkflow(id);
		return said;
	}

	/** What n8n says that cannot be activated. */
	async function activateOrFail(id: string): Promise<string> {
		try {
			const { triggers } = await field.api.activateWorkflow(id);
			return triggers[0]?.errorMessage ?? '';
		} catch (error) {
			if (LINE === '1') return String(error);
			throw error;
		}
	}

	it('of the key, or for want of credits, is said when the workflow is activated', async () => {
		field.sandbox.set({
			accounts: {
				'test-key': { plan: 'pro', credits: 100 },
				'poor-key': { plan: 'pro', credits: 0 },
			},
		});
		const [wrong, poor] = [
			await field.newCredential('Wrong key', 'wrong-key'),
			await field.newCredential('No credits', 'poor-key'),
		];
		const said = await Promise.all([wrong, poor].map(refused));
		expect(said[0]).toMatch(/Invalid or missing API key.*Check the API key/);
		expect(said[1]).toMatch(/no credits left.*Add credits/);
		expect(field.starts).toBe(0);
		// n8n 2 tries five times; the service is asked once for each, and once for the plan.
		expect(field.count('getCredits')).toBeLessThanOrEqual(4);
	});

	it('is forgotten when the key is put right and the workflow is published again', async () => {
		const wrong = await field.newCredential('Key to put right', 'wrong-key');
		const credentials = use(wrong);
		const trigger = field.trigger({}, { credentials });
		const { id } = await field.api.createWorkflow(field.content(trigger));
		await activateOrFail(id);
		expect(field.starts).toBe(0);

		const data = field.credentialData(API_KEY);
		await field.api.updateCredential(wrong.id, { ...wrong, data });
		// n8n 2 calls this an update of what is published, though nothing of it ever ran.
		await field.api.updateWorkflow(id, { ...(await field.api.workflow(id)), name: 'Put right' });
		await field.api.activateWorkflow(id);
		await untilExecutions(id, 1);
		expect(await field.told(id)).toEqual([]);
		expect(field.starts).toBe(1);
	});

	it('that only the start meets is told by one failed execution', async () => {
		field.sandbox.set({ accounts: { 'test-key': { plan: 'pro', credits: 3 } } });
		const { id } = await activated({ filters: { jobTitles: ['COO'] } });
		await untilExecutions(id, 1);
		await quiet();
		expect(await field.told(id)).toEqual([
			expect.stringMatching(/No scrape was started.*INSUFFICIENT_CREDITS/),
		]);
		expect(field.starts).toBe(1);
		await save(id);
		await quiet();
		expect(field.starts).toBe(1);
	});
});

describe('a completion', () => {
	const shapes: Array<Partial<NotificationSettings>> = [
		...(
			[
				'flat',
				'nested',
				'envelope',
				'leads',
				'snake',
				'form',
				'query',
				'text',
				'empty',
				'broken',
			] as const
		).map((shape) => ({ shape })),
		{ method: 'PUT', shape: 'flat' },
		{ method: 'PUT', shape: 'empty' },
		{ method: 'GET' },
	];

	it('comes in once with each shape and method of its notification', async () => {
		const workflows: Array<[string, StoredWorkflow]> = [];
		for (const notification of shapes) {
			field.sandbox.set({ notification: { method: 'POST', shape: 'flat', ...notification } });
			const workflow = await activated();
			workflows.push([JSON.stringify(notification), workflow]);
			await until('the notification', () => {
				const job = field.sandbox.jobs.find(({ webhookUrl }) =>
					webhookUrl?.startsWith(field.plainUrl(workflow)),
				);
				return job?.notifications[0]?.status !== undefined;
			});
		}
		await sleep(8000);
		for (const [shape, { id }] of workflows) {
			const items = await field.delivered(id);
			expect([shape, items.length]).toEqual([shape, 1]);
			const { notification } = items[0]?.json as { notification: { method: string } | null };
			// n8n itself turns broken JSON away.
			const isBroken = shape.includes('broken');
			const method = /PUT|GET/.exec(shape)?.[0] ?? 'POST';
			expect([shape, notification?.method]).toEqual([shape, isBroken ? undefined : method]);
		}
		expect(field.starts).toBe(shapes.length);
	});

	it.each([
		['is lost', { notification: { times: 0 } }],
		['comes before the status says finished', { job: { durationMs: 1000, statusLagMs: 3000 } }],
		['comes before the end', { job: { durationMs: 3000 }, notification: { earlyMs: 2000 } }],
		['comes late', { notification: { delayMs: 7000 } }],
		['comes ten times', { notification: { times: 10, delayMs: 200 } }],
		['comes thirty times at once', { notification: { times: 30, parallel: true } }],
		['has an awkward scrape ID', { job: { durationMs: 1000, scrapeIdStyle: 'awkward' as const } }],
		[
			'has a number for an ID',
			{ job: { durationMs: 1000, scrapeIdStyle: 'number-like' as const } },
		],
		['says that it failed', { job: { durationMs: 1000, outcome: 'failed' as const } }],
	])('runs the workflow once if its notification %s', async (_what, settings) => {
		field.sandbox.set(settings);
		const { id } = await activated();
		await untilExecutions(id, 1, 30_000);
		await quiet(4000);
		const items = await field.delivered(id);
		expect(items.map(({ json }) => json.scrapeId)).toEqual([field.sandbox.jobs[0]?.scrapeId]);
		expect(items[0]?.json.status).toBe(field.sandbox.jobs[0]?.outcome);
		expect(field.starts).toBe(1);
	});

	it('runs the workflow only for the events that were chosen', async () => {
		const onlyFailed = await activated({ events: ['failed'] });
		const both = await activated();
		await untilExecutions(both.id, 1);
		await quiet();
		expect(await field.executions(onlyFailed.id)).toHaveLength(0);
		field.sandbox.set({ job: { durationMs: 1000, outcome: 'failed' } });
		await field.api.deactivateWorkflow(onlyFailed.id);
		await field.api.activateWorkflow(onlyFailed.id);
		await untilExecutions(onlyFailed.id, 1);
		const [item] = await field.delivered(onlyFailed.id);
		expect(item?.json.status).toBe('failed');
	});
});

describe('a stranger', () => {
	it('is turned away a thousand times, and nothing is looked up or run', async () => {
		field.sandbox.set(LONG);
		const workflow = await activated();
		const { id } = workflow;
		await untilStarts(1);
		await quiet(1000);
		const scrapeId = field.sandbox.jobs[0]?.scrapeId ?? '';
		const lookups = field.count('getScrapeStatus');
		const begin = Date.now();
		const url = field.plainUrl(workflow);
		const methods = ['POST', 'PUT', 'GET', 'PATCH'];
		const answers: number[] = [];
		for (let batch = 0; batch < 50; batch++) {
			const requests = Array.from({ length: 20 }, async (_, index) => {
				const number = batch * 20 + index;
				const method = methods[number % 4] ?? 'POST';
				const query =
					number % 3 === 0 ? '' : `?token=${'0'.repeat(number % 80)}&scrapeId=${scrapeId}`;
				const headers = { 'content-type': 'application/json', 'x-leadgen-knock': 'a'.repeat(64) };
				const body = method === 'GET' ? undefined : JSON.stringify({ scrapeId, clock: 'x' });
				return (await fetch(url + query, { method, headers, body })).status;
			});
			answers.push(...(await Promise.all(requests)));
		}
		expect(answers.filter((status) => status !== 403)).toEqual([]);
		expect(answers).toHaveLength(1000);
		expect(await field.executions(id)).toHaveLength(0);
		// Only the clock looks, every five seconds at most.
		const seconds = (Date.now() - begin) / 1000;
		expect(field.count('getScrapeStatus') - lookups).toBeLessThanOrEqual(1 + seconds / 5);
		expect(field.starts).toBe(1);
	});

	it('brings nothing in with a forged ID, even with the token', async () => {
		const { id } = await activated();
		await untilExecutions(id, 1);
		await quiet(1500);
		// A scrape of the same account that was started elsewhere, and is finished.
		const foreign = await field.startElsewhere();
		await quiet(1500);
		const lookups = field.count('getScrapeStatus');
		for (const scrapeId of [foreign, 'scrape_forged', field.sandbox.jobs[0]?.scrapeId]) {
			const answer = await post(field.webhookUrl(), JSON.stringify({ scrapeId }));
			expect(answer).toBe(200);
		}
		await quiet();
		expect(await field.executions(id)).toHaveLength(1);
		expect(field.count('getScrapeStatus')).toBe(lookups);
	});

	it('gets an answer to a body of any size and type', async () => {
		const { id } = await activated();
		await untilExecutions(id, 1);
		const url = field.webhookUrl();
		const deep = '['.repeat(5000) + ']'.repeat(5000);
		const bodies: Array<[string, string]> = [
			['application/json', '{"scrapeId":'],
			['application/json', deep],
			['application/json', '"text"'],
			['application/json', 'null'],
			[
				'application/json',
				JSON.stringify({ id: Array.from({ length: 50_000 }, (_, id) => ({ id })) }),
			],
			['application/json', JSON.stringify({ big: 'x'.repeat(20_000_000) })],
			['text/plain', 'x1'.repeat(1_000_000)],
			['application/octet-stream', '\u0000\u0001'],
			['application/xml', '<a><scrapeId>x1</scrapeId></a>'],
			[
				'multipart/form-data; boundary=x',
				'--x\r\nContent-Disposition: form-data; name="scrapeId"\r\n\r\nx1\r\n--x--\r\n',
			],
			['multipart/form-data', 'no boundary'],
			['nonsense', ''],
		];
		for (const [type, body] of bodies) {
			const begin = Date.now();
			const status = await post(url, body, type);
			expect([type, status >= 200 && status < 600]).toEqual([type, true]);
			expect(Date.now() - begin).toBeLessThan(5000);
		}
		await quiet(1000);
		expect(await field.executions(id)).toHaveLength(1);
	});

	it.each([
		['starter', 20],
		['pro', 100],
		['enterprise', 20],
	])(
		'cannot use up the rate limit of the plan "%s" where a node only listens',
		async (plan, most) => {
			const credential = await field.newCredential(plan, API_KEY, { plan });
			const trigger = field.trigger({ mode: 'listen' }, { credentials: use(credential) });
			const workflow = await field.api.createWorkflow(field.content(trigger));
			await field.api.activateWorkflow(workflow.id);
			const url = field.plainUrl(workflow);
			await quiet(1000);
			for (let batch = 0; batch < 20; batch++) {
				await Promise.all(
					Array.from({ length: 10 }, (_, index) =>
						post(url, JSON.stringify({ scrapeId: `forged_${String(batch)}_${String(index)}` })),
					),
				);
			}
			const lookups = () => field.count('getScrapeStatus');
			await until(`${String(most)} lookups`, () => lookups() >= most, 90_000);
			await quiet(3000);
			expect(lookups()).toBe(most);
			expect(await field.executions(workflow.id)).toHaveLength(0);
			expect(field.starts).toBe(0);
		},
	);
});

async function post(url: string, body: string, type = 'application/json'): Promise<number> {
	return (await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })).status;
}

describe('a node that only listens', () => {
	it('starts nothing, and runs the workflow once for each scrape that was started with its URL', async () => {
		const workflow = await activated({ mode: 'listen' });
		await quiet(500);
		expect(field.starts).toBe(0);
		field.sandbox.set({ notification: { times: 3, parallel: true } });
		const ids = [];
		for (let count = 0; count < 8; count++)
			ids.push(await field.startElsewhere(field.plainUrl(workflow)));
		await untilExecutions(workflow.id, 8);
		await quiet();
		const items = await field.delivered(workflow.id);
		expect(items.map(({ json }) => json.scrapeId).sort()).toEqual([...ids].sort());
		// A repeat that comes later.
		await field.sandbox.notify(ids[0] ?? '');
		await quiet();
		expect(await field.executions(workflow.id)).toHaveLength(8);
	});

	it('brings in many that finish at once', async () => {
		const workflow = await activated({ mode: 'listen' });
		await quiet(500);
		// Each notification is larger than what is saved of one that may be forged.
		const notification = { shape: 'leads' as const };
		field.sandbox.set({
			job: { durationMs: 3_600_000 },
			notification,
			cost: { startPerLead: 0.1 },
		});
		const ids: string[] = [];
		while (ids.length < 90) ids.push(await field.startElsewhere(field.plainUrl(workflow), 40));
		for (const id of ids) field.sandbox.finish(id, 'completed');
		await untilExecutions(workflow.id, 90, 50_000);
		await quiet();
		const items = await field.delivered(workflow.id);
		expect(items.map(({ json }) => json.scrapeId).sort()).toEqual([...ids].sort());
		for (const { json } of items) {
			const { data } = (json.notification as { body: { data: Record<string, unknown> } }).body;
			expect(data.scrapeId).toBe(json.scrapeId);
			expect(data.leads).toHaveLength(40);
			expect(JSON.stringify(data).length).toBeGreaterThan(2000);
		}
		expect(field.count('getScrapeStatus')).toBe(90);
	});

	it('runs the workflow once for a scrape while notifications of another pour in', async () => {
		// So long a run that what n8n did not write down would be handed over again.
		const pause = { typeVersion: 1.1, parameters: { amount: 5 } };
		const wait = node('Pause', 'n8n-nodes-base.wait', pause);
		const content = field.content(field.trigger({ mode: 'listen' }), wait);
		const workflow = await field.api.createWorkflow(content);
		await field.api.activateWorkflow(workflow.id);
		await quiet(1000);
		field.sandbox.set(LONG);
		const url = field.plainUrl(workflow);
		const [running, finished] = [await field.startElsewhere(url), await field.startElsewhere(url)];
		const begin = Date.now();
		let isOver = false;
		const pour = async () => {
			while (!isOver) await post(url, JSON.stringify({ scrapeId: running }));
		};
		const pouring = Array.from({ length: 20 }, pour);
		field.sandbox.finish(finished, 'completed');
		await untilExecutions(workflow.id, 1, 30_000);
		await quiet(8000);
		isOver = true;
		await Promise.all(pouring);
		await quiet();
		const items = await field.delivered(workflow.id);
		expect(items.map(({ json }) => json.scrapeId)).toEqual([finished]);
		// A third of what the smallest plan allows, however often it is asked for.
		const seconds = (Date.now() - begin) / 1000;
		expect(field.count('getScrapeStatus')).toBeLessThan(4 + seconds / 3);
	});

	it('is not held up by one that the service cannot answer, and brings it in later', async () => {
		const workflow = await activated({ mode: 'listen' });
		await quiet(500);
		const broken = await field.startElsewhere();
		field.sandbox.set({
			faults: [{ kind: 'status', status: 500, match: { path: '/status', times: 4 } }],
		});
		await post(field.plainUrl(workflow), JSON.stringify({ scrapeId: broken }));
		await quiet(500);
		const good = await field.startElsewhere(field.plainUrl(workflow));
		await untilExecutions(workflow.id, 2, 60_000);
		const items = await field.delivered(workflow.id);
		expect(items.map(({ json }) => json.scrapeId)).toEqual([good, broken]);
		expect(field.count('getScrapeStatus')).toBeLessThan(15);
	});

	it('keeps what it heard while the key is refused, and says so once', async () => {
		const workflow = await activated({ mode: 'listen' });
		await quiet(500);
		field.sandbox.set({
			faults: [{ kind: 'envelope', code: 'UNAUTHORIZED', match: { method: 'GET', times: 3 } }],
		});
		const ids = [];
		for (let count = 0; count < 3; count++) {
			ids.push(await field.startElsewhere(field.plainUrl(workflow)));
		}
		await untilExecutions(workflow.id, 4, 60_000);
		await quiet();
		const items = await field.delivered(workflow.id);
		const delivered = items.flatMap(({ json }) => json.scrapeId ?? []);
		expect(delivered.sort()).toEqual(ids.sort());
		expect(await field.told(workflow.id)).toHaveLength(1);
	});

	it('waits for a status that says finished later than the notification', async () => {
		const workflow = await activated({ mode: 'listen' });
		await quiet(500);
		field.sandbox.set({ job: { durationMs: 1000, statusLagMs: 3000 } });
		await field.startElsewhere(field.plainUrl(workflow));
		await untilExecutions(workflow.id, 1);
		await quiet();
		expect(await field.executions(workflow.id)).toHaveLength(1);
	});
});

describe('what cannot work', () => {
	it('is said once, whatever comes in, and is made up for when it is put right', async () => {
		const credential = await field.newCredential('To be deleted', API_KEY);
		const credentials = use(credential);
		const trigger = field.trigger({ mode: 'listen' }, { credentials });
		const workflow = await field.api.createWorkflow(field.content(trigger));
		await field.api.activateWorkflow(workflow.id);
		await quiet(1000);
		await field.api.deleteCredential(credential.id);
		const answers = [];
		for (let count = 0; count < 10; count++) {
			answers.push(await post(field.plainUrl(workflow), JSON.stringify({ scrapeId: 'a1' })));
		}
		expect(answers).toEqual(new Array(10).fill(200));
		const early = await field.startElsewhere(field.plainUrl(workflow));
		await untilExecutions(workflow.id, 1, 80_000);
		await quiet(5000);
		expect(await field.told(workflow.id)).toEqual([
			expect.stringMatching(/can neither start scrapes nor deliver completions: .*[Cc]redential/),
		]);

		const own = use(field.credential);
		await save(workflow.id, (saved) => (triggerOf(saved).credentials = own));
		const late = await field.startElsewhere(field.plainUrl(workflow));
		await untilExecutions(workflow.id, 3, 40_000);
		const delivered = (await field.delivered(workflow.id)).map(({ json }) => json.scrapeId);
		expect(delivered.sort()).toEqual([early, late].sort());
	});

	it('is not run again and again, if n8n refuses it', async () => {
		const member = { ...OWNER, email: `${uuid()}@example.com` };
		await field.api.addMember(member);
		const api = new N8nApi(field.url);
		await api.signIn(member);
		const own = await field.newCredential('Own', API_KEY, {}, api);
		const deleted = await field.newCredential('Deleted', API_KEY, {}, api);
		const trigger = field.trigger({}, { credentials: use(own) });
		const balance = { resource: 'credit', operation: 'get' };
		const next = field.leadGen(balance, { credentials: use(deleted) });
		const { id } = await api.createWorkflow(field.content(trigger, next));
		await api.activateWorkflow(id);
		await untilStarts(1);
		await api.deleteCredential(deleted.id);
		const over = async () => (await api.executions(id)).length > 0;
		await until('the execution', over);
		await quiet(8000);
		const executions = await api.executions(id);
		await api.deactivateWorkflow(id);
		expect(executions.map(({ status }) => status)).toEqual(['error']);
		expect(field.starts).toBe(1);
	});
});

describe('static data', () => {
	it('survives a Code node and a schedule that write back old copies of it', async () => {
		const jsCode =
			"const data = $getWorkflowStaticData('global'); const before = JSON.stringify(data); data.count = (data.count ?? 0) + 1; await new Promise((resolve) => setTimeout(resolve, 1500)); return [{ json: { before } }];";
		const trigger = field.trigger();
		const content = field.content(
			trigger,
			node('Code', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } }),
		);
		const every = node('Every second', 'n8n-nodes-base.scheduleTrigger', {
			typeVersion: 1.2,
			parameters: { rule: { interval: [{ field: 'seconds', secondsInterval: 1 }] } },
		});
		content.nodes.push(every);
		content.connections['Every second'] = { main: [[{ node: 'Code', type: 'main', index: 0 }]] };
		const { id } = await field.api.createWorkflow(content);
		await field.api.activateWorkflow(id);
		for (let round = 1; round <= 4; round++) {
			await untilStarts(round);
			await until('the delivery', async () => (await own(id)).length >= round, 20_000);
			await field.api.deactivateWorkflow(id);
			if (round < 4) await field.api.activateWorkflow(id);
		}
		expect(field.starts).toBe(4);
		expect(await own(id)).toHaveLength(4);
	});

	/** Executions that our trigger began. */
	async function own(id: string) {
		const all = await Promise.all(
			(await field.executions(id)).map((execution) => field.api.finishedExecution(execution.id)),
		);
		return all.filter(({ nodes }) => nodes['LeadGen Trigger'] !== undefined);
	}
});

describe('a schedule', () => {
	it('starts again, leaves out what falls due while a scrape runs, and says so', async () => {
		field.sandbox.set({ job: { durationMs: 5000 } });
		const { id } = await activated({ schedule: 'cron', cronExpression: '*/3 * * * * *' });
		await untilExecutions(id, 2, 30_000);
		await field.api.deactivateWorkflow(id);
		const jobs = field.sandbox.jobs;
		for (let index = 1; index < jobs.length; index++) {
			const { createdAt = 0 } = jobs[index] ?? {};
			expect(createdAt).toBeGreaterThanOrEqual(jobs[index - 1]?.endsAt ?? Infinity);
		}
		const [first] = await field.delivered(id);
		expect(first?.json.skippedStarts).toEqual(
			expect.arrayContaining([expect.stringMatching(/:\d[0369]\.000Z$|:\d\d\.000Z$/)]),
		);
	});
});

describe('a test run', () => {
	it.each([
		['passes on a scrape of the test size', {}, 5],
		['passes it on without a notification', { notification: { times: 0 } }, 5],
		['waits for a status that lags behind', { job: { durationMs: 1000, statusLagMs: 3000 } }, 5],
	])('%s', async (_what, settings, leads) => {
		field.sandbox.set(settings);
		const { id } = await field.workflow();
		expect(await field.api.startWorkflow(id, 'LeadGen Trigger')).toBeUndefined();
		await untilStarts(1);
		await untilExecutions(id, 1);
		await quiet(1500);
		const items = await field.delivered(id);
		expect(items.map(({ json }) => [json.status, json.leadsFound])).toEqual([['completed', leads]]);
		expect(field.starts).toBe(1);
	});

	it('leaves the same workflow running where it is active', async () => {
		field.sandbox.set({ ...LONG, notification: { times: 0 } });
		const { id } = await activated();
		await untilStarts(1);
		await field.api.startWorkflow(id, 'LeadGen Trigger');
		await untilStarts(2);
		const [own, test] = field.sandbox.jobs.map(({ scrapeId }) => scrapeId);
		field.sandbox.finish(test ?? '', 'completed');
		await untilExecutions(id, 1);
		await quiet();
		field.sandbox.finish(own ?? '', 'completed');
		await untilExecutions(id, 2, 30_000);
		await quiet();
		const items = await field.delivered(id);
		expect(items.map(({ json }) => json.scrapeId)).toEqual([test, own]);
		expect(field.starts).toBe(2);
	});

	it('takes a scrape that was named, or starts none', async () => {
		const scrapeId = await field.startElsewhere();
		const named = await field.workflow({ options: { testScrapeId: scrapeId } });
		await field.api.startWorkflow(named.id, 'LeadGen Trigger');
		await untilExecutions(named.id, 1);
		const [item] = await field.delivered(named.id);
		expect(item?.json.scrapeId).toBe(scrapeId);

		const none = await field.workflow({ options: { testLimit: 0 } });
		await field.api.startWorkflow(none.id, 'LeadGen Trigger');
		const started = await field.startElsewhere(
			field.plainUrl(none).replace('/webhook/', '/webhook-test/'),
		);
		await untilExecutions(none.id, 1);
		expect(await field.told(none.id)).toEqual([]);
		const [received] = await field.delivered(none.id);
		expect(received?.json.scrapeId).toBe(started);
		expect(field.starts).toBe(2);
	});
});
