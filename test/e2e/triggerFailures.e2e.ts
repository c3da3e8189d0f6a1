import { request } from 'node:http';
import { quiet, until } from '../../lab/fixture/fixture';
import { serve } from './n8n';
import { created, expectRuns, fixture, setParameters } from './triggerFixture';

/* What only a running n8n shows of starts that fail: what executions say, and what Retry does. */

describe("a start with n8n's Retry On Fail", () => {
	const retryOnFail = { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 };
	const refusal = { kind: 'envelope', code: 'INVALID_REQUEST', status: 400 } as const;

	it.each([
		['is sent again if it was refused', refusal, 2, 'No scrape was started'],
		[
			'is not sent again if nobody knows',
			{ kind: 'status', status: 502 },
			1,
			'could not confirm whether a scrape was started',
		],
	] as const)('%s, and fails', async (_what, fault, sent, error) => {
		const id = await created([fault], {}, retryOnFail);
		await fixture.api.activateWorkflow(id);
		await fixture.untilExecutions(id, 1);
		expect(await fixture.told(id)).toEqual([expect.stringContaining(error)]);
		await quiet();
		expect(fixture.starts).toBe(sent);
	});

	it('starts one scrape if the second try succeeds', async () => {
		const id = await created([{ ...refusal, times: 1 }], {}, retryOnFail);
		await fixture.api.activateWorkflow(id);
		await expectRuns(id, 1);
		expect(await fixture.told(id)).toEqual([]);
		expect(fixture.starts).toBe(2);
	});
});

it('Retry sends nothing while the workflow is not active, and says so', async () => {
	const id = await created([{ kind: 'envelope', code: 'INSUFFICIENT_CREDITS', status: 402 }]);
	await fixture.api.activateWorkflow(id);
	await fixture.untilExecutions(id, 1);
	expect(await fixture.told(id)).toHaveLength(1);
	const [failed] = await fixture.executions(id);
	fixture.sandbox.set({ faults: [] });
	await fixture.api.deactivateWorkflow(id);
	const { error } = await fixture.api.retryExecution(failed?.id ?? '');
	expect(error).toContain('the workflow is not active');
	expect(fixture.sandbox.jobs).toEqual([]);
});

it('an own URL that breaks ends starts soon, and Retry starts the scrape when it is put right', async () => {
	let isBroken = false;
	// Stands in front of n8n.
	const front = await serve((incoming, answer) => {
		if (isBroken) {
			answer.writeHead(403).end('Forbidden');
			return;
		}
		const { method, headers, url = '' } = incoming;
		const onward = request(fixture.url + url, { method, headers }, (from) => {
			answer.writeHead(from.statusCode ?? 500, from.headers);
			from.pipe(answer);
		});
		incoming.pipe(onward);
	});
	const often = { schedule: 'cron', cronExpression: '*/10 * * * * *' };
	const id = await created([], { ...often, options: { internalUrl: front } });
	await fixture.api.activateWorkflow(id);
	await expectRuns(id, 1);
	isBroken = true;
	await quiet();
	const { starts } = fixture;
	const since = Date.now();
	const failures = async () =>
		(await fixture.told(id)).filter((text) => text.startsWith('No scrape was started'));
	await until('failed starts', async () => (await failures()).length > 0, 200_000);
	expect(Date.now() - since).toBeGreaterThan(110_000);
	// One that is due later does not wait.
	const { length } = await failures();
	await until('one more', async () => (await failures()).length > length, 20_000);
	expect(fixture.starts).toBe(starts);
	const rarely = { schedule: 'cron', cronExpression: '0 0 1 1 *' };
	await setParameters(id, { ...rarely, options: { internalUrl: fixture.url } });
	expect((await failures()).at(-1)).toContain('n8n cannot reach the webhook URL of this node');
	const [newest] = (await fixture.executions(id)).filter(({ status }) => status === 'error');
	await fixture.api.retryExecution(newest?.id ?? '');
	await fixture.untilStarts(starts + 1);
	await quiet();
	expect(fixture.starts).toBe(starts + 1);
});
