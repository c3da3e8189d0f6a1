/** Calls of one execution at the same time, as an AI agent makes them with a tool. */
import { errorOf } from './expected';
import { START, VERIFY, keepGoing, post } from './given';
import { sleep, until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

const email = { email: '={{ $json.email }}' };
const people = ['ada@acme.com', 'tom@acme.com', 'eve@acme.com'].map((email) => ({ email }));
const verify = (email: string) => post('/email/verify', { email });
const paths = () => sandbox.requests.map(({ path }) => path);

describe('Identical paid calls at the same time', () => {
	const agent = { executionId: 'agent', isTool: true, ...keepGoing };
	const scrape = { filters: { jobTitles: ['={{ $json.title }}'] }, limit: 5 };
	const titles = [{ title: 'CTO' }, { title: 'CFO' }];

	test.each([
		['of one execution', ['agent', 'agent']],
		['over MCP, without an execution', ['', '']],
		['of two executions', ['one', 'two']],
	])('lookups are sent once: %s', async (_, ids) => {
		sandbox.set({ latencyMs: 200 });
		const run = (executionId: string) =>
			service.run(VERIFY, email, people, { ...agent, executionId });
		for (const { items } of await Promise.all(ids.map(run))) {
			expect(items.map(({ json }) => json.email)).toEqual(people.map(({ email }) => email));
		}
		service.expectCalls(people.map(({ email }) => verify(email)));
	});

	test('starts are sent once, and also not again later', async () => {
		sandbox.set({ latencyMs: 200 });
		const run = async () => await service.run(START, scrape, titles, agent);
		const [one, two, three] = await Promise.all([run(), run(), run()]);
		const four = await run();
		service.expectCalls(
			titles.map(({ title }) => post('/start', { filters: { jobTitles: [title], limit: 5 } })),
		);
		const ids = ['CTO', 'CFO'].map(
			(title) => sandbox.jobs.find(({ filters }) => filters.jobTitles?.[0] === title)?.scrapeId,
		);
		for (const { items } of [one, two, three, four]) {
			expect(items.map(({ json }) => json.scrapeId)).toEqual(ids);
		}
	});

	test('a call follows one that was refused', async () => {
		sandbox.set({
			latencyMs: 200,
			faults: [
				{ kind: 'envelope', code: 'INVALID_REQUEST', match: { bodyIncludes: 'tom@', times: 1 } },
			],
		});
		const run = async () => await service.run(VERIFY, email, people, agent);
		const results = await Promise.all([run(), run(), run()]);
		service.expectCalls([...people, { email: 'tom@acme.com' }].map(({ email }) => verify(email)));
		const outcomes = results.map(({ items }) => items.map((item) => errorOf(item)?.code));
		const isRefused = (errors: unknown[]) => errors.some((error) => error !== undefined);
		// Any of them may come first.
		expect(outcomes.filter(isRefused)).toEqual([[undefined, 'INVALID_REQUEST', undefined]]);
		expect(outcomes.filter((errors) => !isRefused(errors))).toEqual([
			[undefined, undefined, undefined],
			[undefined, undefined, undefined],
		]);
	});

	test('a start that may have been done is not sent by the other run', async () => {
		sandbox.set({
			latencyMs: 200,
			faults: [{ kind: 'resetAfterWork', match: { bodyIncludes: 'CFO' } }],
		});
		const run = async () => await service.run(START, scrape, titles, agent);
		const results = await Promise.all([run(), run()]);
		expect(paths()).toEqual(['/start', '/start']);
		expect(sandbox.jobs).toHaveLength(2);
		for (const { items } of results) {
			expect(items.map((item) => errorOf(item)?.outcome)).toEqual([undefined, 'unknown']);
		}
	});

	test('a run that is stopped does not hold up the other for longer than its last answer takes', async () => {
		sandbox.set({ faults: [{ kind: 'hang', match: { bodyIncludes: 'ada@', times: 1 } }] });
		const email = { email: '={{ $json.email }}', options: { requestTimeout: 3 } };
		let doesOtherWait = false;
		const stopped = service.runUntil(() => doesOtherWait, VERIFY, email, people, agent);
		await until(() => sandbox.requests.filter(({ answeredAt }) => answeredAt).length === 2);
		const other = service.run(VERIFY, email, people, agent);
		await sleep(200);
		doesOtherWait = true;
		await stopped;
		const { items } = await other;
		service.expectCalls([...people, { email: 'ada@acme.com' }].map(({ email }) => verify(email)));
		expect(items.map(({ json }) => json.email)).toEqual(people.map(({ email }) => email));
	});

	test('a run that waits for the other can be stopped', async () => {
		sandbox.set({ latencyMs: 3000 });
		const first = service.run(VERIFY, email, people, agent);
		await until(() => paths().length === 3);
		const began = performance.now();
		const hasWaited = () => performance.now() - began > 300;
		const waiting = service.runUntil(hasWaited, VERIFY, email, people, agent);
		const ended: string[] = [];
		const ends = [first.then(() => ended.push('first')), waiting.then(() => ended.push('waiting'))];
		await Promise.all(ends);
		expect(ended).toEqual(['waiting', 'first']);
		service.expectCalls(people.map(({ email }) => verify(email)));
		expect((await first).items.map(errorOf)).toEqual([undefined, undefined, undefined]);
	});

	test('over MCP, a start is sent each time', async () => {
		const overMcp = { ...agent, executionId: '' };
		for (let runs = 0; runs < 2; runs++) await service.run(START, scrape, titles, overMcp);
		expect(paths()).toEqual(['/start', '/start', '/start', '/start']);
	});
});
