import { getEventListeners } from 'node:events';
import type { IDataObject } from 'n8n-workflow';
import { Outage } from '../nodes/LeadGen/service/retry';
import { Memory } from '../nodes/LeadGen/service/memory';
import { paired, post, sleep, until, useService } from './service';

const service = useService();
const { sandbox } = service;

const VERIFY = ['email', 'verify'] as const;
const FIND = ['email', 'findBusiness'] as const;
const ENRICH = ['email', 'enrich'] as const;
const START = ['scrape', 'start'] as const;
const START_AND_WAIT = ['scrape', 'startAndWait'] as const;
const keepGoing = { onError: 'continueRegularOutput' } as const;

const email = { email: '={{ $json.email }}' };
const people = ['ada@acme.com', 'tom@acme.com', 'eve@acme.com'].map((email) => ({ email }));
const verify = (email: string) => post('/email/verify', { email });
const paths = () => sandbox.requests.map(({ path }) => path);

afterEach(() => {
	jest.restoreAllMocks();
});

/** What matters of an error; the other fields are in errors.test.ts. */
function errorOf({ json }: { json: IDataObject }): unknown[] | undefined {
	const error = json.error as IDataObject | undefined;
	return error && [error.outcome, error.code ?? error.field];
}

describe('Identical paid calls of one execution at the same time, as of an AI agent', () => {
	const agent = { executionId: 'agent', isTool: true, ...keepGoing };
	const scrape = { filters: { jobTitles: ['={{ $json.title }}'] }, limit: 5 };
	const titles = [{ title: 'CTO' }, { title: 'CFO' }];

	test('lookups are sent once', async () => {
		sandbox.set({ latencyMs: 200 });
		const [one, two] = await Promise.all([
			service.run(VERIFY, email, people, agent),
			service.run(VERIFY, email, people, agent),
		]);
		service.expectCalls(people.map(({ email }) => verify(email)));
		expect(one.items.map(({ json }) => json.email)).toEqual(people.map(({ email }) => email));
		expect(two.items).toEqual(one.items);
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
		const outcomes = results.map(({ items }) => items.map(errorOf));
		const isRefused = (errors: unknown[]) => errors.some((error) => error !== undefined);
		// Any of them may come first.
		expect(outcomes.filter(isRefused)).toEqual([
			[undefined, ['refused', 'INVALID_REQUEST'], undefined],
		]);
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
			expect(items.map((item) => errorOf(item)?.[0])).toEqual([undefined, 'unknown']);
		}
	});

	test('a run that is stopped does not hold up the other', async () => {
		sandbox.set({ faults: [{ kind: 'hang', match: { bodyIncludes: 'ada@', times: 1 } }] });
		let stop = () => {};
		const stopped = service.run(VERIFY, email, people, {
			...agent,
			onStart: (press) => (stop = press),
		});
		await until(() => sandbox.requests.filter(({ answeredAt }) => answeredAt).length === 2);
		await sleep(200);
		const other = service.run(VERIFY, email, people, agent);
		stop();
		expect((await stopped).run.status).toBe('canceled');
		const { items } = await other;
		service.expectCalls([...people, { email: 'ada@acme.com' }].map(({ email }) => verify(email)));
		expect(items.map(({ json }) => json.email)).toEqual(people.map(({ email }) => email));
	});

	test('a run that waits for the other can be stopped', async () => {
		sandbox.set({ latencyMs: 3000 });
		const first = service.run(VERIFY, email, people, agent);
		await until(() => paths().length === 3);
		let stop = () => {};
		const waiting = service.run(VERIFY, email, people, {
			...agent,
			onStart: (press) => (stop = press),
		});
		const ended: string[] = [];
		const ends = [first.then(() => ended.push('first')), waiting.then(() => ended.push('waiting'))];
		await sleep(300);
		stop();
		await Promise.all(ends);
		expect(ended).toEqual(['waiting', 'first']);
		expect((await waiting).run.status).toBe('canceled');
		service.expectCalls(people.map(({ email }) => verify(email)));
		expect((await first).items.map(errorOf)).toEqual([undefined, undefined, undefined]);
	});

	test('over MCP, without an execution, and in two executions, each is sent', async () => {
		sandbox.set({ latencyMs: 200 });
		const runs = async (ids: string[], items: IDataObject[]) =>
			await Promise.all(
				ids.map((executionId) => service.run(VERIFY, email, items, { ...agent, executionId })),
			);
		await runs(['', ''], people.slice(0, 1));
		await runs(['one', 'two'], people.slice(1));
		service.expectCalls([...people, ...people].map(({ email }) => verify(email)));
	});

	test('are forgotten when they are over', async () => {
		const memory = new Memory();
		let end = () => {};
		const call = memory.during('a', 'run', new Promise<void>((resolve) => (end = resolve)));
		const failing = memory.during('b', 'run', Promise.reject(new Error('no')));
		expect([memory.pendingOf('a', 'run'), memory.pendingOf('b', 'run')]).not.toContain(undefined);
		expect(memory.pendingOf('a', 'other')).toBeUndefined();
		end();
		await call;
		await expect(failing).rejects.toThrow('no');
		expect(memory.pendingOf('a', 'run')).toBeUndefined();
		expect(memory.pendingOf('b', 'run')).toBeUndefined();
	});
});

describe('Text', () => {
	const person = { firstName: '={{ $json.name }}', lastName: 'Okafor', company: 'acme.com' };
	const find = (firstName: string) =>
		post('/email/find', { firstName, lastName: 'Okafor', company: 'acme.com' });

	test('with many spaces is read in no time', async () => {
		const wide = ' '.repeat(50_000);
		const began = performance.now();
		await service.run(FIND, person, [
			{ name: `Ada${wide}\t${wide}Marie` },
			{ name: `Tom${wide}Jo` },
			{ name: `太${'\u3000'.repeat(20_000)}郎` },
			{ name: 'Eve \u0085\u0085 \u00a0Lee' },
		]);
		expect(performance.now() - began).toBeLessThan(3000);
		service.expectCalls([
			find('Ada Marie'),
			find(`Tom${wide}Jo`),
			find(`太${'\u3000'.repeat(20_000)}郎`),
			find('Eve Lee'),
		]);
	});

	test('with many spaces or marks between or around its parts is read in no time', async () => {
		const began = performance.now();
		const wide = ' '.repeat(20_000);
		await service.run(
			FIND,
			{ fullName: '={{ $json.name }}', company: '={{ $json.company }}' },
			[
				{ name: `Okafor${wide},${wide}Ada`, company: `acme.com${'/'.repeat(20_000)}` },
				{ name: `Tom${wide}Okafor`, company: `b.com${'.'.repeat(20_000)}` },
				{ name: 'Eve Okafor', company: `a${'.'.repeat(20_000)}x` },
			],
			keepGoing,
		);
		expect(performance.now() - began).toBeLessThan(3000);
		service.expectCalls([
			post('/email/find', { firstName: 'Ada', lastName: 'Okafor', company: 'acme.com' }),
			post('/email/find', { firstName: 'Tom', lastName: 'Okafor', company: 'b.com' }),
		]);
	});

	test('of Windows-1252 that was read as Latin-1 is refused', async () => {
		const damaged = ['O\u0092Brien', 'Re\u009eka', '\u008aime', '\u0080', 'Ada\u0096Marie'];
		const names = ['Ada', ...damaged, 'A\u0000da\u007f', 'Ada\u0085Marie'];
		const { items } = await service.run(
			FIND,
			person,
			names.map((name) => ({ name })),
			keepGoing,
		);
		service.expectCalls([find('Ada'), find('Ada Marie')]);
		expect(items.map(({ json }) => json.error)).toEqual([
			undefined,
			...damaged.map((name) => ({
				field: 'First Name',
				message: `First Name has damaged characters: "${name}"`,
				advice:
					'The file is in Windows-1252, but was read as Latin-1. Save it as CSV UTF-8, or choose Windows-1252 as the encoding in the node that reads it.',
			})),
			undefined,
			undefined,
		]);
	});
});

describe('A clock that is set back', () => {
	const back = () => {
		const real = Date.now.bind(Date);
		jest.spyOn(Date, 'now').mockImplementation(() => real() - 3_600_000);
	};

	test('does not hold up calls', async () => {
		sandbox.set({ rateLimit: { enabled: false } });
		const credential = { plan: 'pro' };
		const many = Array.from({ length: 10 }, (_, n) => ({ email: `a${String(n)}@acme.com` }));
		await service.run(VERIFY, email, many, { credential });
		back();
		const began = performance.now();
		const { items } = await service.run(VERIFY, email, people, { credential });
		expect(performance.now() - began).toBeLessThan(20_000);
		service.expectCalls([...many, ...people].map(({ email }) => verify(email)));
		expect(items.map(({ json }) => json.email)).toEqual(people.map(({ email }) => email));
	}, 30_000);

	test('does not make an outage longer', () => {
		const outage = new Outage();
		outage.answered();
		outage.notReached();
		back();
		expect(outage.ms).toBeGreaterThanOrEqual(0);
	});
});

test('Full Name finds the last name before a comma, whatever is before and behind it', async () => {
	const names: Array<[string, string, string]> = [
		['de Vries, A.M.', 'A.M.', 'de Vries'],
		['De Vries, AM', 'AM', 'De Vries'],
		['van den Berg, J.P.', 'J.P.', 'van den Berg'],
		['van der Berg, JAN', 'JAN', 'van der Berg'],
		['van der Heide, Jan', 'Jan', 'van der Heide'],
		['García Márquez, J.A.', 'J.A.', 'García Márquez'],
		['Fernández de Córdoba, J.-L.', 'J.-L.', 'Fernández de Córdoba'],
		['Dr. Jansen, J.P.', 'J.P.', 'Jansen'],
		['Prof. Dr. van der Berg, J. P.', 'J. P.', 'van der Berg'],
		['Jansen, J.P.', 'J.P.', 'Jansen'],
		['Jansen, J.P., MBA', 'J.P.', 'Jansen'],
		['Ada Okafor, M.D.', 'Ada', 'Okafor'],
		['Ada Okafor, M.A.', 'Ada', 'Okafor'],
		['Ada Okafor, P.E.', 'Ada', 'Okafor'],
		['Tom Okafor, A.P.R.N.', 'Tom', 'Okafor'],
		['Ben Smith, SHRM-CP', 'Ben', 'Smith'],
		['Dr. Ada Okafor, MBA', 'Ada', 'Okafor'],
	];
	await service.run(
		FIND,
		{ fullName: '={{ $json.name }}', company: 'acme.com', options: { parallel: 1 } },
		names.map(([name]) => ({ name })),
		keepGoing,
	);
	// In a last name, a part behind the comma is no first name.
	await service.run(
		FIND,
		{
			firstName: 'Eve',
			lastName: '={{ $json.name }}',
			company: 'b.com',
			options: { cleanNames: true },
		},
		[{ name: 'Okafor, A.B.' }, { name: 'Nkosi, P.E.' }],
	);
	const different = new Map(names.map(([, ...parts]) => [parts.join(), parts]));
	service.expectCalls([
		...[...different.values()].map(([firstName, lastName]) =>
			post('/email/find', { firstName, lastName, company: 'acme.com' }),
		),
		...['Okafor', 'Nkosi'].map((lastName) =>
			post('/email/find', { firstName: 'Eve', lastName, company: 'b.com' }),
		),
	]);
});

test('Find and Verify finds nobody if the service needs a profile for the personal email', async () => {
	const code = 'INVALID_REQUEST';
	sandbox.set({
		faults: [{ kind: 'envelope', code, match: { path: '/email/personal' } }],
	});
	const person = {
		firstName: '={{ $json.first }}',
		lastName: '={{ $json.last }}',
		company: '={{ $json.company }}',
		linkedinUrl: '={{ $json.profile }}',
		tryPersonal: true,
	};
	const profile = 'https://www.linkedin.com/in/tom';
	const { items } = await service.run(
		ENRICH,
		person,
		[
			{ first: 'Ann', last: 'Sure', company: 'acme.com' },
			{ first: 'Tom', last: 'Nobody', company: 'acme.com' },
			{ first: 'Eve', last: 'Nobody', company: 'acme.com' },
			{ first: 'Sue', last: 'Nobody', company: 'acme.com', profile },
			{ first: 'Bob', last: 'Nobody' },
		],
		keepGoing,
	);
	const find = (firstName: string, lastName: string, others = {}) =>
		post('/email/find', { firstName, lastName, company: 'acme.com', ...others });
	const personal = (firstName: string, others = {}) =>
		post('/email/personal', { firstName, lastName: 'Nobody', ...others });
	service.expectCalls([
		find('Ann', 'Sure'),
		verify('ann.sure@acme.com'),
		find('Tom', 'Nobody'),
		personal('Tom'),
		find('Eve', 'Nobody'),
		personal('Eve'),
		find('Sue', 'Nobody', { linkedinUrl: profile }),
		personal('Sue', { linkedinUrl: profile }),
		personal('Bob'),
	]);
	const nobody = { found: false, email: null, tried: 'business: not found, personal: not found' };
	expect(items.slice(1, 3)).toEqual(paired([nobody, nobody, nobody]).slice(1));
	expect(items[0]?.json).toMatchObject({ email: 'ann.sure@acme.com', tried: 'business: valid' });
	// The profile or the only call is refused for another reason.
	expect(items.map(errorOf).slice(3)).toEqual([
		['refused', code],
		['refused', code],
	]);
});

test('Start and Wait goes on if the service does not know the scrape yet', async () => {
	sandbox.set({
		job: { durationMs: 0 },
		unknownScrape: 'INVALID_REQUEST',
		faults: [{ kind: 'envelope', code: 'INVALID_REQUEST', match: { path: '/status', times: 3 } }],
	});
	const titles = [{ title: 'CTO' }, { title: 'CFO' }];
	const { items } = await service.run(
		START_AND_WAIT,
		{
			filters: { jobTitles: ['={{ $json.title }}'] },
			limit: 5,
			options: { pollInterval: 0 },
		},
		titles,
		keepGoing,
	);
	expect(items.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
	service.expectCalls(
		titles.map(({ title }) => post('/start', { filters: { jobTitles: [title], limit: 5 } })),
		'/start',
	);
	expect(paths()).toHaveLength(2 + 3 + 2);

	// An ID that a person entered may be wrong.
	const { items: waited } = await service.run(
		['scrape', 'wait'],
		{ scrapeId: '={{ $json.id }}', options: { pollInterval: 0 } },
		[{ id: items[0]?.json.scrapeId }, { id: 'scr_mistyped' }],
		keepGoing,
	);
	expect(paths().slice(7)).toEqual(['/status', '/status']);
	expect(waited.map(({ json }) => json.status)).toEqual(['completed', undefined]);
	expect(waited.map(errorOf)).toEqual([undefined, ['refused', 'INVALID_REQUEST']]);
	const advice = (waited[1]?.json.error as IDataObject | undefined)?.advice;
	expect(advice).not.toContain('continues');
});

describe('The Stop button', () => {
	test('is forgotten by each run of a loop that started no scrape', async () => {
		const spy = jest.spyOn(EventTarget.prototype, 'addEventListener');
		const many = Array.from({ length: 15 }, (_, n) => ({ email: `a${String(n)}@acme.com` }));
		const { items } = await service.run(VERIFY, email, many, { isInLoop: true });
		service.expectCalls(many.map(({ email }) => verify(email)));
		expect(items).toHaveLength(1);
		const signals = spy.mock.contexts.filter((target) => target instanceof AbortSignal);
		expect(signals.length).toBeGreaterThan(0);
		const left = signals.map((signal) => getEventListeners(signal, 'abort').length);
		expect(Math.max(...left)).toBeLessThanOrEqual(1);
	});

	test.each([
		[2, { path: '/status', times: 1 }],
		[3, { path: '/start', bodyIncludes: 'CFO', times: 1 }],
	])(
		'saves the scrapes of all tries when n8n runs the node again: %i starts',
		async (starts, match) => {
			sandbox.set({
				job: { durationMs: 600_000 },
				faults: [{ kind: 'envelope', code: 'PAUSED', status: 400, match }],
			});
			let stop = () => {};
			const running = service.run(
				START_AND_WAIT,
				{
					filters: { jobTitles: ['={{ $json.title }}'] },
					limit: 5,
					options: { pollInterval: 1 },
				},
				[{ title: 'CTO' }, { title: 'CFO' }],
				{ retryOnFail: true, onStart: (press) => (stop = press) },
			);
			await until(() => paths().filter((path) => path === '/status').length >= 5);
			stop();
			const { run } = await running;
			expect(run.status).toBe('canceled');
			expect(paths().filter((path) => path === '/start')).toHaveLength(starts);
			const saved = Object.values(run.data.resultData.metadata ?? {})
				.join(' ')
				.split(' ');
			expect(saved.toSorted()).toEqual(sandbox.jobs.map(({ scrapeId }) => scrapeId).toSorted());
		},
	);
});

test('A domain that only looks like the one of a free mail provider is sent', async () => {
	const own = ['gmx.io', 'outlook.io', 'outlook.co', 'gmx.ag'];
	const free = ['gmx.net', 'gmx.de', 'gmx.co.uk', 'outlook.com', 'outlook.fr', 'outlook.com.br'];
	const { items } = await service.run(
		FIND,
		{ firstName: 'Ada', lastName: 'Okafor', company: '={{ $json.company }}' },
		[...own, ...free].map((company) => ({ company })),
		keepGoing,
	);
	service.expectCalls(
		own.map((company) => post('/email/find', { firstName: 'Ada', lastName: 'Okafor', company })),
	);
	expect(items.map(({ json }) => (json.error as IDataObject | undefined)?.message)).toEqual([
		...own.map(() => undefined),
		...free.map(
			(company) =>
				`Company Domain must be the domain of a company, but "${company}" is a free mail provider`,
		),
	]);
});
