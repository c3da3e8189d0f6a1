/** Identical paid calls at the same time, as an AI agent makes them with a tool in one execution. */
import { errorOf } from './expected';
import { START, VERIFY, keepGoing, post } from './given';
import { sleep, until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

const names = ['ada@acme.com', 'tom@acme.com', 'eve@acme.com'];
const addresses = names.map((email) => ({ email }));
const email = { email: '={{ $json.email }}' };
const verifications = names.map((email) => post('/email/verify', { email }));
const titles = [{ title: 'CTO' }, { title: 'CFO' }];
const scrape = { filters: { jobTitles: ['={{ $json.title }}'] }, limit: 5 };
const starts = ['CTO', 'CFO'].map((title) => {
	return post('/start', { filters: { jobTitles: [title], limit: 5 } });
});
const agent = { executionId: 'agent', isTool: true, ...keepGoing };

const verify = async (more = agent) => await service.run(VERIFY, email, addresses, more);
const start = async (more = agent) => await service.run(START, scrape, titles, more);

test.each([
	['of one execution', ['agent', 'agent']],
	['over MCP, without an execution', ['', '']],
	['of two executions', ['one', 'two']],
])('Lookups are sent once: %s', async (_, ids) => {
	sandbox.set({ latencyMs: 200 });
	const runs = ids.map(async (executionId) => await verify({ ...agent, executionId }));
	for (const { items } of await Promise.all(runs)) {
		expect(items.map(({ json }) => json.email)).toEqual(names);
	}
	service.expectCalls(verifications);
});

test('Starts are sent once, and also not again later', async () => {
	sandbox.set({ latencyMs: 200 });
	const runs = [...(await Promise.all([start(), start(), start()])), await start()];
	service.expectCalls(starts);
	const ids = titles.map(
		({ title }) => sandbox.jobs.find(({ filters }) => filters.jobTitles?.[0] === title)?.scrapeId,
	);
	for (const { items } of runs) expect(items.map(({ json }) => json.scrapeId)).toEqual(ids);
});

test('Over MCP, a start is sent each time', async () => {
	for (let runs = 0; runs < 2; runs++) await start({ ...agent, executionId: '' });
	service.expectCalls([...starts, ...starts]);
});

test('A call follows one that was refused', async () => {
	const match = { bodyIncludes: 'tom@', times: 1 };
	sandbox.set({ latencyMs: 200, faults: [{ kind: 'envelope', code: 'INVALID_REQUEST', match }] });
	const results = await Promise.all([verify(), verify(), verify()]);
	service.expectCalls([...verifications, ...verifications.slice(1, 2)]);
	const codes = results.map(({ items }) => items.map((item) => errorOf(item)?.code));
	expect(codes).toContainEqual([undefined, 'INVALID_REQUEST', undefined]);
	expect(codes.flat().filter((code) => code !== undefined)).toHaveLength(1);
});

test('A start that may have been done is not sent by the other run', async () => {
	const match = { bodyIncludes: 'CFO' };
	sandbox.set({ latencyMs: 200, faults: [{ kind: 'resetAfterWork', match }] });
	const results = await Promise.all([start(), start()]);
	service.expectCalls(starts);
	expect(sandbox.jobs).toHaveLength(2);
	for (const { items } of results) {
		expect(items.map((item) => errorOf(item)?.outcome)).toEqual([undefined, 'unknown']);
	}
});

test('A run that is stopped does not hold up the other for longer than its last answer takes', async () => {
	sandbox.set({ faults: [{ kind: 'hang', match: { bodyIncludes: 'ada@', times: 1 } }] });
	const parameters = { ...email, options: { requestTimeout: 3 } };
	let doesOtherWait = false;
	const stopped = service.runUntil(() => doesOtherWait, VERIFY, parameters, addresses, agent);
	await until(() => sandbox.requests.filter(({ answeredAt }) => answeredAt).length === 2);
	const other = service.run(VERIFY, parameters, addresses, agent);
	await sleep(200);
	doesOtherWait = true;
	await stopped;
	const { items } = await other;
	service.expectCalls([...verifications, ...verifications.slice(0, 1)]);
	expect(items.map(({ json }) => json.email)).toEqual(names);
});

test('A run that waits for the other can be stopped', async () => {
	sandbox.set({ latencyMs: 3000 });
	const ended: string[] = [];
	const first = verify().finally(() => ended.push('the other'));
	await until(() => sandbox.requests.length === 3);
	const began = performance.now();
	const hasWaited = () => performance.now() - began > 300;
	await service.runUntil(hasWaited, VERIFY, email, addresses, agent);
	ended.push('the one that waits');
	expect((await first).items.map(errorOf)).toEqual([undefined, undefined, undefined]);
	expect(ended).toEqual(['the one that waits', 'the other']);
	service.expectCalls(verifications);
});
