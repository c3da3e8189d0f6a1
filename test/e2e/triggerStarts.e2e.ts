import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { N8nApi, N8nApiError, type StoredCredential } from '../../lab/playground/api';
import { setRole } from '../../lab/playground/n8n';
import { API_KEY, LINE, node, OWNER, quiet, until, use, uuid } from '../../lab/fixture/fixture';
import { LONG, serve } from './n8n';
import { fixture, save, triggerOf } from './triggerFixture';

/* What must never happen with a start, on a real n8n: by counts of `POST /start` and of executions. */

/** The filters of each start. */
function filtersSent(): object[] {
	return fixture.sandbox.requests.flatMap(({ operation, body }) =>
		operation === 'startScrape' ? (body as { filters: object }).filters : [],
	);
}

/** A trigger with an account of its own, so that what the node learns of its limit holds up no other test. */
async function ofOwnAccount(name: string) {
	const key = uuid();
	fixture.sandbox.set({ accounts: { [key]: { plan: 'pro', credits: 1000 } } });
	return fixture.trigger({}, { credentials: use(await fixture.newCredential(name, key)) });
}

describe('a start', () => {
	it('happens once when the workflow is activated, and its completion runs the workflow once', async () => {
		const { id } = await fixture.activated();
		await fixture.untilRuns(id, 1);
		await quiet();
		const [item, ...more] = await fixture.delivered(id);
		expect(more).toEqual([]);
		// The start, and the completion.
		expect(await fixture.executions(id)).toHaveLength(2);
		const [job] = fixture.sandbox.jobs;
		expect(item?.json).toMatchObject({
			scrapeId: job?.scrapeId,
			status: 'completed',
			progress: 100,
			leadsFound: 10,
			creditsUsed: 10,
			notification: { method: 'POST', query: {}, body: { scrapeId: job?.scrapeId } },
		});
		const [, signature = ''] = /leadgen=\w+\.(\w{64})$/.exec(fixture.webhookUrl()) ?? [];
		expect(signature).not.toBe('');
		expect(JSON.stringify(item?.json)).not.toContain(signature);
		expect(fixture.starts).toBe(1);
		expect(fixture.sandbox.requests[1]).toMatchObject({
			operation: 'startScrape',
			violation: undefined,
			body: { filters: { jobTitles: ['CTO'], limit: 10 } },
		});
	});

	it('carries the ID of its scrape as highlighted data, also with the execution order of n8n 0', async () => {
		const content = fixture.content(fixture.trigger(), node('End', 'n8n-nodes-base.noOp'));
		const { id } = await fixture.api.createWorkflow({ ...content, settings: {} });
		await fixture.api.activateWorkflow(id);
		await fixture.untilRuns(id, 1);
		const executions = await fixture.executions(id);
		const [completion, start] = await Promise.all(
			executions.map((each) => fixture.finished(each.id)),
		);
		expect(executions).toHaveLength(2);
		expect(Object.values(start?.highlighted ?? {}).join(' ')).toContain(
			`${String(fixture.sandbox.jobs[0]?.scrapeId)} started`,
		);
		expect([start?.nodes.End, completion?.nodes.End?.outputs[0]?.length]).toEqual([undefined, 1]);
	});

	it('may be over before its answer has come', async () => {
		await fixture.reset({
			job: { durationMs: 300 },
			faults: [{ kind: 'slowBody', delayMs: 3000, match: { path: '/start' } }],
		});
		const { id } = await fixture.activated();
		await fixture.untilRuns(id, 1);
		await quiet();
		const items = await fixture.delivered(id);
		expect(items.map(({ json }) => json)).toEqual([
			expect.objectContaining({
				scrapeId: fixture.sandbox.jobs[0]?.scrapeId,
				notification: expect.objectContaining({ method: 'POST' }) as object,
			}),
		]);
		expect(fixture.starts).toBe(1);
	});

	it('happens once though answers get lost between n8n and itself', async () => {
		let lost = 0;
		let count = 0;
		// It lets the node's own calls through, and loses the answer to every second one.
		const internalUrl = await serve((request, response) => {
			const pass = async () => {
				const answer = await fetch(fixture.url + (request.url ?? ''), {
					method: 'POST',
					headers: {
						'x-leadgen-signature': String(request.headers['x-leadgen-signature']),
						'content-type': 'application/json',
					},
					body: await text(request),
				});
				const answered = await answer.text();
				if (++count % 2 === 0) response.writeHead(answer.status).end(answered);
				else if (++lost > 0) request.socket.destroy();
			};
			pass().catch(() => request.socket.destroy());
		});
		const { id } = await fixture.activated({ options: { internalUrl } });
		await fixture.untilRuns(id, 1);
		await fixture.reactivate(id);
		await fixture.untilRuns(id, 2);
		await quiet();
		expect(await fixture.scrapesOf(id)).toEqual(
			fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId),
		);
		expect(fixture.starts).toBe(2);
		expect(lost).toBeGreaterThan(2);
	});

	it('does not happen again in ten saves and publications', async () => {
		const { id } = await fixture.activated();
		await fixture.untilRuns(id, 1);
		for (let count = 1; count <= 10; count++) {
			await save(id, ({ nodes }) => {
				const [trigger, end] = nodes;
				if (end) end.notes = `saved ${String(count)} times`;
				// What makes n8n 2 activate the trigger anew.
				if (trigger && count % 3 === 1) trigger.parameters.options = { testLimit: count };
				if (trigger && count % 3 === 2)
					trigger.parameters.filters = { jobTitles: [`CFO ${String(count)}`] };
			});
		}
		await quiet();
		expect(fixture.starts).toBe(1);
		expect(await fixture.executions(id)).toHaveLength(2);
	});

	it('happens once when the node is added to an active workflow, and when it listened before', async () => {
		const listening = fixture.trigger({ mode: 'listen' });
		const { id } = await fixture.activate(listening);
		await quiet(1000);
		const added = fixture.trigger({ filters: { jobTitles: ['CFO'] } }, { name: 'Added' });
		await save(id, ({ nodes }) => nodes.push(added));
		await fixture.untilStarts(1);
		await save(id, (workflow) => {
			triggerOf(workflow).parameters = { filters: { jobTitles: ['CEO'] }, limit: 10 };
		});
		await fixture.untilStarts(2);
		await save(id, ({ nodes }) => {
			for (const node of nodes) node.parameters = { ...node.parameters, limit: 7 };
		});
		await quiet();
		expect(filtersSent()).toEqual([
			{ jobTitles: ['CFO'], limit: 10 },
			{ jobTitles: ['CEO'], limit: 10 },
		]);
	});

	it('does not happen again when the node gets another URL, or is disabled and enabled', async () => {
		const { id } = await fixture.activated();
		await fixture.untilRuns(id, 1);
		await save(id, (workflow) => (triggerOf(workflow).webhookId = uuid()));
		await quiet();
		const other = fixture.trigger({ mode: 'listen' }, { name: 'Other' });
		await save(id, ({ nodes }) => nodes.push(other));
		for (const disabled of [true, false]) {
			await save(id, (workflow) => (triggerOf(workflow).disabled = disabled));
			await quiet(1500);
		}
		await quiet();
		expect(fixture.starts).toBe(1);
	});

	it('survives that the node is renamed while the scrape runs', async () => {
		fixture.sandbox.set(LONG);
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await save(id, (workflow) => {
			triggerOf(workflow).name = 'Leads, please';
			workflow.connections = {};
		});
		await quiet(1500);
		fixture.sandbox.finish(fixture.sandbox.jobs[0]?.scrapeId ?? '', 'completed');
		const runs = async () => (await fixture.delivered(id, 'Leads, please')).length;
		await until('the run', async () => (await runs()) === 1);
		await quiet();
		expect(await runs()).toBe(1);
		expect(fixture.starts).toBe(1);
	});

	it('uses the filters that were published last, and happens again at once when the workflow is deactivated and activated', async () => {
		fixture.sandbox.set(LONG);
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await save(id, (workflow) => {
			triggerOf(workflow).parameters.filters = { jobTitles: ['CFO'] };
			triggerOf(workflow).parameters.limit = 7;
		});
		await quiet();
		expect(fixture.starts).toBe(1);
		await fixture.reactivate(id);
		await fixture.untilStarts(2);
		await fixture.reactivate(id);
		await fixture.untilStarts(3);
		await quiet();
		expect(filtersSent()).toEqual([
			{ jobTitles: ['CTO'], limit: 10 },
			{ jobTitles: ['CFO'], limit: 7 },
			{ jobTitles: ['CFO'], limit: 7 },
		]);
		for (const { scrapeId } of fixture.sandbox.jobs) fixture.sandbox.finish(scrapeId, 'completed');
		await fixture.untilRuns(id, 3);
		await quiet();
		expect(await fixture.delivered(id)).toHaveLength(3);
		expect(await fixture.executions(id)).toHaveLength(6);
	});

	it('is delivered after an activation if it finished while the workflow was not active', async () => {
		fixture.sandbox.set(LONG);
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await quiet(1000);
		await fixture.api.deactivateWorkflow(id);
		fixture.sandbox.finish(fixture.sandbox.jobs[0]?.scrapeId ?? '', 'completed');
		await quiet(500);
		await fixture.api.activateWorkflow(id);
		await fixture.untilStarts(2);
		await fixture.untilRuns(id, 1);
		await quiet();
		expect(fixture.starts).toBe(2);
		expect(await fixture.delivered(id)).toHaveLength(1);
	});

	it('of two workflows with the same and of a copy, is one each', async () => {
		const first = await fixture.activated();
		const { connections, settings, ...content } = await fixture.api.workflow(first.id);
		// As the editor does it: the nodes keep their ids, and get URLs of their own.
		const nodes = content.nodes.map((node) => ({ ...node, webhookId: uuid() }));
		const copy = await fixture.api.createWorkflow({ nodes, connections, settings, name: 'copy' });
		await fixture.api.activateWorkflow(copy.id);
		const third = await fixture.activated();
		for (const { id } of [first, copy, third]) await fixture.untilRuns(id, 1);
		await quiet();
		for (const { id } of [first, copy, third]) expect(await fixture.delivered(id)).toHaveLength(1);
		expect(fixture.starts).toBe(3);
		const ids = await Promise.all([first, copy, third].map(({ id }) => fixture.scrapesOf(id)));
		expect(new Set(ids.flat()).size).toBe(3);
	});

	it('of two nodes with one ID is one each, and each output is its own scrape', async () => {
		if (LINE === '2') return;
		const first = fixture.trigger({ filters: { jobTitles: ['CTO'] } }, { name: 'First' });
		const second = fixture.trigger({ filters: { jobTitles: ['CFO'] } }, { name: 'Second' });
		const content = fixture.content(first, node('End', 'n8n-nodes-base.noOp'));
		content.nodes.push({ ...second, id: first.id });
		const { id } = await fixture.api.createWorkflow(content);
		await fixture.api.activateWorkflow(id);
		await fixture.untilStarts(2);
		await until('both run', async () => {
			const delivered = ['First', 'Second'].map((name) => fixture.delivered(id, name));
			return (await Promise.all(delivered)).flat().length === 2;
		});
		const filters = fixture.sandbox.jobs.map(({ filters }) => filters.jobTitles?.[0]);
		expect(filters.sort()).toEqual(['CFO', 'CTO']);
		const ids = await Promise.all(
			['First', 'Second'].map(
				async (name) => (await fixture.delivered(id, name))[0]?.json.scrapeId,
			),
		);
		expect(new Set(ids).size).toBe(2);
	});

	it('is not sent again when n8n stops leading while it is in flight', async () => {
		await fixture.reset({
			...LONG,
			faults: [{ kind: 'slowBody', delayMs: 2000, match: { path: '/start' } }],
		});
		const ids: string[] = [];
		for (const pauseMs of [0, 500, 3000]) {
			ids.push((await fixture.activated()).id);
			await fixture.untilStarts(ids.length);
			const follows = setRole(fixture.url, 'follower');
			await sleep(pauseMs);
			// In one and the same moment, n8n waits for neither.
			await Promise.all([follows, setRole(fixture.url, 'leader')]);
			await setRole(fixture.url, 'leader');
		}
		await quiet(5000);
		for (const { scrapeId } of fixture.sandbox.jobs) fixture.sandbox.finish(scrapeId, 'completed');
		for (const id of ids) await fixture.untilRuns(id, 1);
		await quiet();
		for (const id of ids) {
			expect(await fixture.delivered(id)).toHaveLength(1);
			expect(await fixture.told(id)).toEqual([]);
		}
		expect(fixture.starts).toBe(ids.length);
	});

	it('with an unknown outcome is not repeated; the person is told, and the completion comes in', async () => {
		fixture.sandbox.set({
			faults: [{ kind: 'resetAfterWork', match: { operation: 'startScrape', nth: [1] } }],
		});
		const { id } = await fixture.activated();
		await fixture.untilRuns(id, 1);
		await quiet();
		expect(fixture.starts).toBe(1);
		expect(await fixture.told(id)).toEqual([
			'The node could not confirm whether a scrape was started',
		]);
		expect(await fixture.scrapesOf(id)).toEqual([fixture.sandbox.jobs[0]?.scrapeId]);
		// A retry pays nothing: the completion has run.
		const [failed] = (await fixture.executions(id)).filter(({ status }) => status === 'error');
		expect((await fixture.api.retryExecution(failed?.id ?? '')).status).toBe('success');
		expect(fixture.starts).toBe(1);
		// The way to go on that the person was told.
		await fixture.reactivate(id);
		await fixture.untilRuns(id, 2);
		expect(fixture.starts).toBe(2);
	});

	it('that Timeout Workflow ends while it waits is not sent, and the next activation starts a scrape', async () => {
		fixture.sandbox.set({
			faults: [
				{
					kind: 'envelope',
					code: 'RATE_LIMIT_EXCEEDED',
					status: 429,
					headers: { 'Retry-After': '6' },
					match: { path: '/start' },
				},
			],
		});
		const trigger = await ofOwnAccount('Timeout Workflow');
		const content = fixture.content(trigger, node('End', 'n8n-nodes-base.noOp'));
		const settings = { ...content.settings, executionTimeout: 3 };
		const { id } = await fixture.api.createWorkflow({ ...content, settings });
		await fixture.api.activateWorkflow(id);
		const statuses = async () => (await fixture.executions(id)).map(({ status }) => status);
		await until('the end of the start', async () => (await statuses())[0] === 'canceled');
		await quiet();
		const before = fixture.starts;
		fixture.sandbox.set({ faults: [] });
		await quiet(8000);
		// Nothing goes on in the background.
		expect([fixture.starts, fixture.sandbox.jobs.length]).toEqual([before, 0]);
		await fixture.api.deactivateWorkflow(id);
		// n8n keeps a setting that is left out.
		const longer = { ...settings, executionTimeout: 60 };
		await fixture.api.updateWorkflow(id, { ...content, settings: longer });
		await fixture.api.activateWorkflow(id);
		await fixture.untilRuns(id, 1);
		expect(fixture.sandbox.jobs).toHaveLength(1);
	});

	it('that was never sent is sent again until the service can be reached', async () => {
		fixture.sandbox.set({
			faults: [
				{
					kind: 'envelope',
					code: 'RATE_LIMIT_EXCEEDED',
					status: 429,
					match: { operation: 'startScrape', nth: [1, 2] },
				},
			],
		});
		const trigger = await ofOwnAccount('Refused for its rate');
		const { id } = await fixture.activate(trigger, node('End', 'n8n-nodes-base.noOp'));
		await fixture.untilRuns(id, 1);
		await quiet();
		expect(fixture.sandbox.jobs).toHaveLength(1);
		expect(await fixture.told(id)).toEqual([]);
	});
});

describe('a refusal', () => {
	async function created(
		credential: StoredCredential,
		parameters: Record<string, unknown> = {},
	): Promise<string> {
		const trigger = fixture.trigger(parameters, { credentials: use(credential) });
		return (await fixture.create(trigger)).id;
	}

	async function refused(id: string): Promise<string> {
		const said = await activateOrFail(id);
		if ((await fixture.api.workflow(id)).active) await fixture.api.deactivateWorkflow(id);
		return said;
	}

	/** What n8n says that cannot be activated. */
	async function activateOrFail(id: string): Promise<string> {
		try {
			const { triggers } = await fixture.api.activateWorkflow(id);
			return triggers[0]?.errorMessage ?? '';
		} catch (error) {
			// Where n8n does not activate in the background, the call itself fails.
			if (error instanceof N8nApiError) return String(error);
			throw error;
		}
	}

	it.each([
		['once', {}, 1],
		['by a schedule', { schedule: 'cron', cronExpression: '*/4 * * * * *' }, 4],
	])(
		'is forgotten when the key is put right, and the node starts %s',
		async (how, parameters, starts) => {
			const wrong = await fixture.newCredential(`Key to put right, ${how}`, 'wrong-key');
			const id = await created(wrong, parameters);
			await activateOrFail(id);
			expect(fixture.starts).toBe(0);

			const data = fixture.credentialData(API_KEY);
			await fixture.api.updateCredential(wrong.id, { ...wrong, data });
			// n8n 2 calls this an update of what is published, though nothing of it ever ran.
			const workflow = await fixture.api.workflow(id);
			await fixture.api.updateWorkflow(id, { ...workflow, name: 'Put right' });
			await fixture.api.activateWorkflow(id);
			await fixture.untilStarts(starts);
			await fixture.untilRuns(id, 1);
			await fixture.api.deactivateWorkflow(id);
			await quiet();
			expect(await fixture.told(id)).toEqual([]);
			if (starts === 1) expect(fixture.starts).toBe(1);
		},
	);

	it('is forgotten when credits were added after the workflow was unpublished', async () => {
		fixture.sandbox.set({ accounts: { 'test-key': { plan: 'pro', credits: 0 } } });
		const { id } = await fixture.workflow();
		expect(await refused(id)).toContain('The account has no credits left');
		fixture.sandbox.addCredits(API_KEY, 500);
		await fixture.api.activateWorkflow(id);
		await fixture.untilRuns(id, 1);
		expect(fixture.starts).toBe(1);
	});

	it.each([
		{ code: 'FORBIDDEN', status: 403 },
		{ code: 'RATE_LIMIT_EXCEEDED', status: 429, headers: { 'Retry-After': '20' } },
	])('of the balance alone does not stop the start: $code', async (refusal) => {
		const match = { path: '/credits' };
		fixture.sandbox.set({ faults: [{ kind: 'envelope', ...refusal, match }] });
		await fixture.activate(await ofOwnAccount(refusal.code));
		await fixture.untilStarts(1);
		expect(fixture.starts).toBe(1);
	});

	it('of a schedule by n8n says what n8n says', async () => {
		const { id } = await fixture.workflow({ schedule: 'cron', cronExpression: '0 25 * * *' });
		expect(await activateOrFail(id)).toMatch(
			/n8n does not accept the schedule .*0 25 \* \* \*.*: Field value \(25\) is out of range/,
		);
		expect(fixture.starts).toBe(0);
	});

	it('that only the start meets is told by one failed execution, and a retry starts the scrape', async () => {
		fixture.sandbox.set({ accounts: { 'test-key': { plan: 'pro', credits: 3 } } });
		const { id } = await fixture.activated({ filters: { jobTitles: ['COO'] } });
		await fixture.untilExecutions(id, 1);
		await quiet();
		expect(await fixture.told(id)).toEqual([
			expect.stringMatching(/No scrape was started.*INSUFFICIENT_CREDITS/),
		]);
		expect(fixture.starts).toBe(1);
		await save(id);
		await quiet();
		expect(fixture.starts).toBe(1);
		const [failed] = await fixture.executions(id);
		fixture.sandbox.set({ accounts: { 'test-key': { plan: 'pro', credits: 1000 } } });
		expect((await fixture.api.retryExecution(failed?.id ?? '')).status).toBe('success');
		await fixture.untilRuns(id, 1);
		// Retried again, as when all failed executions are retried.
		expect((await fixture.api.retryExecution(failed?.id ?? '')).status).toBe('success');
		await quiet();
		expect(fixture.sandbox.jobs).toHaveLength(1);
		expect(await fixture.delivered(id)).toHaveLength(1);
	});
});

describe('what cannot work', () => {
	it('is told by a failed execution, and a retry runs the workflow when the key is put right', async () => {
		const credential = await fixture.newCredential('Changed meanwhile', API_KEY);
		const trigger = fixture.trigger({ mode: 'listen' }, { credentials: use(credential) });
		const workflow = await fixture.activate(trigger);
		const data = fixture.credentialData('wrong-key');
		await fixture.api.updateCredential(credential.id, { ...credential, data });
		// All nodes of the process share a reading of the credential for a minute.
		await quiet(61_000);
		const scrapeId = await fixture.startElsewhere(fixture.plainUrl(workflow));
		const isTold = async () => (await fixture.told(workflow.id)).length === 1;
		await until('its end', isTold, 120_000);
		expect(await fixture.told(workflow.id)).toEqual([expect.stringMatching(/API key/)]);
		const right = fixture.credentialData(API_KEY);
		await fixture.api.updateCredential(credential.id, { ...credential, data: right });
		const [failed] = await fixture.executions(workflow.id);
		expect((await fixture.api.retryExecution(failed?.id ?? '')).status).toBe('success');
		expect(await fixture.scrapesOf(workflow.id)).toEqual([scrapeId]);
	});

	it('is told about a webhook URL whose answer does not end, and no scrape is started', async () => {
		const internalUrl = await serve((_, response) => {
			const timer = setInterval(() => {
				response.write(' ');
			}, 1000);
			response.on('close', () => {
				clearInterval(timer);
			});
		});
		const { id } = await fixture.activated({ options: { internalUrl } });
		await until('the execution', async () => (await fixture.told(id)).length === 1, 90_000);
		await fixture.api.deactivateWorkflow(id);
		expect(await fixture.told(id)).toEqual(['n8n cannot reach the webhook URL of this node']);
		expect(fixture.starts).toBe(0);
	});

	it('is not run again and again, if n8n refuses it', async () => {
		const member = { ...OWNER, email: `${uuid()}@example.com` };
		await fixture.api.addMember(member);
		const api = new N8nApi(fixture.url);
		await api.signIn(member);
		const own = await fixture.newCredential('Own', API_KEY, {}, api);
		const deleted = await fixture.newCredential('Deleted', API_KEY, {}, api);
		const trigger = fixture.trigger({}, { credentials: use(own) });
		const balance = { resource: 'credit', operation: 'get' };
		const next = fixture.leadGen(balance, { credentials: use(deleted) });
		const { id } = await api.createWorkflow(fixture.content(trigger, next));
		// Otherwise the notification begins an execution, and the poll another one.
		fixture.sandbox.set({ notification: { times: 0 } });
		await api.activateWorkflow(id);
		await fixture.untilStarts(1);
		await api.deleteCredential(deleted.id);
		const over = async () => (await api.executions(id)).length > 1;
		await until('the executions', over);
		await quiet(15_000);
		const executions = await api.executions(id);
		await api.deactivateWorkflow(id);
		expect(executions.map(({ status }) => status)).toEqual(['error', 'success']);
		expect(fixture.starts).toBe(1);
	});
});

describe('a schedule', () => {
	it('starts a scrape each time that it is due, also beside a running one, and none after the deactivation', async () => {
		fixture.sandbox.set({ job: { durationMs: 5000 } });
		const { id } = await fixture.activated({ schedule: 'cron', cronExpression: '*/4 * * * * *' });
		await fixture.untilStarts(4);
		await fixture.api.deactivateWorkflow(id);
		const { length } = fixture.sandbox.jobs;
		const [, ...scheduled] = fixture.sandbox.jobs.map(({ createdAt }) => createdAt);
		// The sandbox gets a start moments after it is due.
		for (const at of scheduled) expect(at % 4000).toBeLessThan(2000);
		await quiet(9000);
		expect(fixture.sandbox.jobs).toHaveLength(length);
		await fixture.api.activateWorkflow(id);
		await fixture.untilRuns(id, length);
		await fixture.api.deactivateWorkflow(id);
		// A start that was due just before is still sent, and would count in the next test.
		await quiet();
	});
});
