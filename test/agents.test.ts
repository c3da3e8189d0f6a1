/** Identical paid calls at the same time, as an AI agent makes them with a tool in one execution. */
import { errorOf } from './expected';
import { START_ROWS, VERIFY_ROWS, keepGoing, rowsOf } from './given';
import { sleep, until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

const [three, two] = [rowsOf(3), rowsOf(2)];
const addresses = three.map(({ name }) => `${name}@acme.com`);
const verifications = three.map(VERIFY_ROWS.callFor);
const starts = two.map(START_ROWS.callFor);
const { operation, parameters } = VERIFY_ROWS;
const agent = { executionId: 'agent', isTool: true, ...keepGoing };

const verify = async (more = agent, options = {}) =>
	await service.runRows(VERIFY_ROWS, three, options, more);
const start = async (more = agent) => await service.runRows(START_ROWS, two, {}, more);

test.each([
	['of one execution', ['agent', 'agent']],
	['over MCP, without an execution', ['', '']],
	['of two executions', ['one', 'two']],
])('Lookups are sent once: %s', async (_, ids) => {
	sandbox.set({ latencyMs: 200 });
	const runs = ids.map(async (executionId) => await verify({ ...agent, executionId }));
	for (const { items } of await Promise.all(runs)) {
		expect(items.map(({ json }) => json.email)).toEqual(addresses);
	}
	service.expectCalls(verifications);
});

test('Starts are sent once, and also not again later', async () => {
	sandbox.set({ latencyMs: 200 });
	const runs = [...(await Promise.all([start(), start(), start()])), await start()];
	service.expectCalls(starts);
	const ids = two.map(
		({ name }) => sandbox.jobs.find(({ filters }) => filters.jobTitles?.[0] === name)?.scrapeId,
	);
	for (const { items } of runs) expect(items.map(({ json }) => json.scrapeId)).toEqual(ids);
});

test('Over MCP, a start is sent each time', async () => {
	for (let runs = 0; runs < 2; runs++) await start({ ...agent, executionId: '' });
	service.expectCalls([...starts, ...starts]);
});

test('A call follows one that was refused', async () => {
	const match = { bodyIncludes: 'p1@', times: 1 };
	sandbox.set({ latencyMs: 200, faults: [{ kind: 'envelope', code: 'INVALID_REQUEST', match }] });
	const results = await Promise.all([verify(), verify(), verify()]);
	service.expectCalls([...verifications, ...verifications.slice(1, 2)]);
	const codes = results.map(({ items }) => items.map((item) => errorOf(item)?.code));
	expect(codes).toContainEqual([undefined, 'INVALID_REQUEST', undefined]);
	expect(codes.flat().filter((code) => code !== undefined)).toHaveLength(1);
});

test('A start that may have been done is not sent by the other run', async () => {
	const match = { bodyIncludes: 'p1' };
	sandbox.set({ latencyMs: 200, faults: [{ kind: 'resetAfterWork', match }] });
	const results = await Promise.all([start(), start()]);
	service.expectCalls(starts);
	expect(sandbox.jobs).toHaveLength(2);
	for (const { items } of results) {
		expect(items.map((item) => errorOf(item)?.outcome)).toEqual([undefined, 'unknown']);
	}
});

test('A run that is stopped does not hold up the other for longer than its last answer takes', async () => {
	sandbox.set({ faults: [{ kind: 'hang', match: { bodyIncludes: 'p0@', times: 1 } }] });
	const options = { requestTimeout: 3 };
	let doesOtherWait = false;
	const isWaiting = () => doesOtherWait;
	const stopped = service.runUntil(isWaiting, operation, { ...parameters, options }, three, agent);
	await until(() => sandbox.requests.filter(({ answeredAt }) => answeredAt).length === 2);
	const other = verify(agent, options);
	await sleep(200);
	doesOtherWait = true;
	await stopped;
	const { items } = await other;
	service.expectCalls([...verifications, ...verifications.slice(0, 1)]);
	expect(items.map(({ json }) => json.email)).toEqual(addresses);
});

test('A run that waits for the other can be stopped', async () => {
	sandbox.set({ latencyMs: 3000 });
	const ended: string[] = [];
	const first = verify().finally(() => ended.push('the other'));
	await until(() => sandbox.requests.length === 3);
	const began = performance.now();
	const hasWaited = () => performance.now() - began > 300;
	await service.runUntil(hasWaited, operation, parameters, three, agent);
	ended.push('the one that waits');
	expect((await first).items.map(errorOf)).toEqual([undefined, undefined, undefined]);
	expect(ended).toEqual(['the one that waits', 'the other']);
	service.expectCalls(verifications);
});
