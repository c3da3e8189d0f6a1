import { N8nApiError } from '../../lab/playground/api';
import { setRole } from '../../lab/playground/n8n';
import { API_KEY, LINE, node, quiet, until, use } from '../../lab/fixture/fixture';
import { LONG } from './n8n';
import { created, expectRuns, fixture, save, setParameters, triggerOf } from './triggerFixture';

/* What only a running n8n shows of starts, by counts of `POST /start` and of executions. */

/** The filters of each start. */
function filtersSent(): object[] {
	return fixture.sandbox.requests.flatMap(({ operation, body }) =>
		operation === 'startScrape' ? (body as { filters: object }).filters : [],
	);
}

/** Activates a workflow whose start waits for the rate limit. */
async function waitingStart(): Promise<string> {
	const id = await created([{ kind: 'envelope', code: 'RATE_LIMIT_EXCEEDED' }]);
	await fixture.api.activateWorkflow(id);
	await fixture.untilStarts(1);
	await quiet(1500);
	return id;
}

describe('a start', () => {
	it('happens once when the workflow is activated, and its completion runs the workflow once', async () => {
		const { id } = await fixture.activated();
		const [item] = await expectRuns(id, 1);
		const executions = await fixture.executions(id);
		const [completion, start, ...more] = await Promise.all(
			executions.map((each) => fixture.finished(each.id)),
		);
		expect(more).toEqual([]);
		const { scrapeId = '' } = fixture.sandbox.jobs[0] ?? {};
		expect(Object.values(start?.highlighted ?? {}).join(' ')).toContain(`${scrapeId} started`);
		expect([start?.nodes.End, completion?.nodes.End?.outputs[0]?.length]).toEqual([undefined, 1]);
		const counts = { progress: 100, leadsFound: 10, creditsUsed: 10 };
		const notification = { method: 'POST', query: {}, body: { scrapeId } };
		expect(item?.json).toMatchObject({ scrapeId, status: 'completed', ...counts, notification });
		const [, signature = ''] = /leadgen=\w+\.(\w{64})$/.exec(fixture.webhookUrl()) ?? [];
		expect(signature).not.toBe('');
		expect(JSON.stringify(item?.json)).not.toContain(signature);
		expect(filtersSent()).toEqual([{ jobTitles: ['CTO'], limit: 10 }]);
	});

	it('does not happen again in saves, and happens with the published filters at the next activation, which also brings in what finished meanwhile', async () => {
		fixture.sandbox.set(LONG);
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await save(id, (workflow) => (workflow.name = 'Saved again'));
		// n8n 2 activates the trigger anew for these.
		await setParameters(id, { limit: 7 });
		await save(id, (workflow) => {
			triggerOf(workflow).name = 'Leads, please';
			workflow.connections = {};
		});
		await quiet();
		expect(fixture.starts).toBe(1);
		await fixture.api.deactivateWorkflow(id);
		fixture.finish(await fixture.api.workflow(id));
		await quiet(500);
		await fixture.api.activateWorkflow(id);
		await fixture.untilRuns(id, 1, 'Leads, please');
		await fixture.untilStarts(2);
		await quiet();
		expect(filtersSent().map((filters) => 'limit' in filters && filters.limit)).toEqual([10, 7]);
		expect(await fixture.executions(id)).toHaveLength(3);
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

	it('is not sent again when n8n stops leading while it is in flight', async () => {
		const faults = [{ kind: 'late' as const, delayMs: 2000, match: { path: '/start' } }];
		await fixture.reset({ faults });
		const { id } = await fixture.activated();
		await fixture.untilStarts(1);
		await setRole(fixture.url, 'follower');
		await quiet(500);
		await setRole(fixture.url, 'leader');
		await expectRuns(id, 1, 5000);
		expect(await fixture.told(id)).toEqual([]);
		expect(fixture.starts).toBe(1);
	});

	it('is sent once if the workflow is saved while it is on its way', async () => {
		for (const afterMs of [0, 1000, 2500]) {
			await fixture.reset({ ...LONG, faults: [{ kind: 'late', delayMs: 3000 }] });
			const workflow = await fixture.activated();
			await fixture.untilStarts(1);
			await quiet(afterMs);
			await setParameters(workflow.id, { limit: 7 });
			await quiet(5000);
			fixture.finish(workflow);
			await expectRuns(workflow.id, 1);
			expect(await fixture.told(workflow.id)).toEqual([]);
			expect(fixture.starts).toBe(1);
		}
	});

	it('is sent once if the workflow is saved while it waits', async () => {
		for (const saves of [1, 2, 3]) {
			await fixture.reset();
			const id = await waitingStart();
			for (let limit = 1; limit <= saves; limit++) await setParameters(id, { limit });
			await quiet();
			fixture.sandbox.set({ faults: [] });
			await expectRuns(id, 1);
			expect(await fixture.told(id)).toEqual([]);
			expect(fixture.sandbox.jobs).toHaveLength(1);
		}
	});

	it('that waits ends when the workflow is unpublished; several activations start one scrape', async () => {
		const id = await waitingStart();
		for (let times = 0; times < 2; times++) await fixture.reactivate(id);
		await quiet();
		fixture.sandbox.set({ faults: [] });
		await expectRuns(id, 1, 10_000);
		expect(await fixture.told(id)).toEqual([]);
		expect(fixture.sandbox.jobs).toHaveLength(1);
	});

	it('does not happen in a save after a Code node cleared the static data', async () => {
		const jsCode =
			"const data = $getWorkflowStaticData('global'); for (const name of Object.keys(data)) delete data[name]; return [];";
		const code = node('Code', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } });
		const { id } = await fixture.activate(fixture.trigger(), code);
		await expectRuns(id, 1);
		await setParameters(id, { limit: 7 });
		await expectRuns(id, 1, 5000);
		expect(fixture.starts).toBe(1);
	});

	it('that is stopped while it waits is not sent when n8n starts; Retry sends it, or on n8n 1 the next activation', async () => {
		const id = await waitingStart();
		const [start] = await fixture.executions(id);
		await fixture.api.stopExecution(start?.id ?? '');
		await quiet(3000);
		fixture.sandbox.set({ faults: [] });
		await fixture.restart();
		await quiet(10_000);
		expect(fixture.sandbox.jobs).toEqual([]);
		// n8n 1 keeps nothing of an execution that it stops.
		if (LINE === '1') await fixture.reactivate(id);
		else await fixture.api.retryExecution(start?.id ?? '');
		await expectRuns(id, 1);
		expect(fixture.sandbox.jobs).toHaveLength(1);
	});

	it('that waits is sent after a power cut, by another execution', async () => {
		const id = await waitingStart();
		await fixture.kill();
		fixture.sandbox.set({ ...LONG, faults: [] });
		await fixture.start();
		await until('the scrape', () => fixture.sandbox.jobs.length > 0, 120_000);
		await quiet(10_000);
		fixture.sandbox.finish(fixture.sandbox.jobs[0]?.scrapeId ?? '', 'completed');
		await expectRuns(id, 1);
		const all = await fixture.executions(id);
		const [cut, ...others] = all.filter(({ status }) => status === 'crashed');
		expect(others).toEqual([]);
		await fixture.api.retryExecution(cut?.id ?? '');
		await quiet();
		expect(fixture.sandbox.jobs).toHaveLength(1);
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
		['no key', ' ', {}, /API Key in the credential is empty/],
		[
			'a schedule that n8n does not accept',
			API_KEY,
			{ schedule: 'cron', cronExpression: '0 25 * * *' },
			/n8n does not accept the schedule .*0 25 \* \* \*.*: Field value \(25\) is out of range/,
		],
	])('of %s says why, and is forgotten when that is put right', async (what, key, given, says) => {
		const credential = await fixture.newCredential(what, key);
		const trigger = fixture.trigger(given, { credentials: use(credential) });
		const { id } = await fixture.create(trigger);
		expect(await activateOrFail(id)).toMatch(says);
		expect(fixture.starts).toBe(0);

		const data = fixture.credentialData(API_KEY);
		await fixture.api.updateCredential(credential.id, { ...credential, data });
		// n8n 2 calls this an update of what is published, though nothing of it ever ran.
		await setParameters(id, { schedule: 'once' });
		if (LINE === '1') await fixture.api.activateWorkflow(id);
		await expectRuns(id, 1);
		expect(await fixture.told(id)).toEqual([]);
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
		// Each is of another due time, and none of the activation.
		const urls = fixture.sandbox.jobs.map(({ webhookUrl = '' }) => webhookUrl);
		expect(new Set(urls).size).toBe(length);
		for (const url of urls) expect(url).toMatch(/leadgen=s\d{14}/);
		await quiet(9000);
		expect(fixture.sandbox.jobs).toHaveLength(length);
		await fixture.api.activateWorkflow(id);
		await fixture.untilRuns(id, length);
		await fixture.api.deactivateWorkflow(id);
		// A start that was due just before is still sent, and would count in the next test.
		await quiet();
	});
});
