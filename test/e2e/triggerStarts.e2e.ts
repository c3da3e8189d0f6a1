import { N8nApiError } from '../../lab/playground/api';
import { setRole } from '../../lab/playground/n8n';
import { API_KEY, node, quiet, use, uuid } from '../../lab/fixture/fixture';
import { LONG } from './n8n';
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
		const executions = await fixture.executions(id);
		const [completion, start] = await Promise.all(
			executions.map((each) => fixture.finished(each.id)),
		);
		expect(executions).toHaveLength(2);
		const [job] = fixture.sandbox.jobs;
		expect(Object.values(start?.highlighted ?? {}).join(' ')).toContain(
			`${String(job?.scrapeId)} started`,
		);
		expect([start?.nodes.End, completion?.nodes.End?.outputs[0]?.length]).toEqual([undefined, 1]);
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

	it('does not happen again in ten saves, and runs the workflow also if the node was renamed meanwhile', async () => {
		fixture.sandbox.set(LONG);
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		for (let count = 1; count <= 10; count++) {
			await save(id, (workflow) => {
				const trigger = triggerOf(workflow);
				// n8n 2 activates the trigger anew for some of these.
				if (count % 3 === 0) workflow.name = `saved ${String(count)} times`;
				if (count % 3 === 1) trigger.parameters.options = { testLimit: count };
				if (count % 3 === 2) trigger.parameters.filters = { jobTitles: [`CFO ${String(count)}`] };
			});
		}
		await save(id, (workflow) => {
			triggerOf(workflow).name = 'Leads, please';
			workflow.connections = {};
		});
		await quiet();
		fixture.sandbox.finish(fixture.jobOf(await fixture.api.workflow(id)).scrapeId, 'completed');
		await fixture.untilRuns(id, 1, 'Leads, please');
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

	it('is not sent again when n8n stops leading while it is in flight', async () => {
		const faults = [{ kind: 'slowBody' as const, delayMs: 2000, match: { path: '/start' } }];
		await fixture.reset({ faults });
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await setRole(fixture.url, 'follower');
		await quiet(500);
		await setRole(fixture.url, 'leader');
		await fixture.untilRuns(id, 1);
		await quiet(5000);
		expect(await fixture.delivered(id)).toHaveLength(1);
		expect(await fixture.told(id)).toEqual([]);
		expect(fixture.starts).toBe(1);
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

	it.each<[what: string, key: string, parameters: Record<string, unknown>, says: RegExp]>([
		['a wrong key', 'wrong-key', {}, /Invalid or missing API key \(UNAUTHORIZED\)/],
		['no credits', 'no-credits', {}, /The account has no credits left\. No scrape was started\./],
		[
			'a schedule that n8n does not accept',
			API_KEY,
			{ schedule: 'cron', cronExpression: '0 25 * * *' },
			/n8n does not accept the schedule .*0 25 \* \* \*.*: Field value \(25\) is out of range/,
		],
	])('of %s says why, and is forgotten when that is put right', async (what, key, given, says) => {
		fixture.sandbox.set({
			accounts: {
				[API_KEY]: { plan: 'pro', credits: 1000 },
				'no-credits': { plan: 'pro', credits: 0 },
			},
		});
		const credential = await fixture.newCredential(what, key);
		const trigger = fixture.trigger(given, { credentials: use(credential) });
		const { id } = await fixture.create(trigger);
		expect(await activateOrFail(id)).toMatch(says);
		expect(fixture.starts).toBe(0);

		const data = fixture.credentialData(API_KEY);
		await fixture.api.updateCredential(credential.id, { ...credential, data });
		// n8n 2 calls this an update of what is published, though nothing of it ever ran.
		const workflow = await fixture.api.workflow(id);
		triggerOf(workflow).parameters.schedule = 'once';
		await fixture.api.updateWorkflow(id, workflow);
		await fixture.api.activateWorkflow(id);
		await fixture.untilRuns(id, 1);
		await quiet();
		expect(await fixture.told(id)).toEqual([]);
		expect(fixture.starts).toBe(1);
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
