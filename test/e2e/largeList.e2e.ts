import { Field, N8N, OWNER } from './field';
import { ENV, LargeList, STORES, type ListRow } from './largeList';

const CSV = [
	'First Name,Last Name,Website',
	'Ann,Sure,https://www.acme.com/team',
	'ANN, sure ,acme.com',
	'Bob,High,"Beta, Inc"',
	'Tom,Nobody,acme.com',
	'Eve,Sure,refused.example',
	'Ida,Sure,lost.example',
	'Kim,Sure,gamma.com',
	'Bob,High,"Beta, Inc"',
].join('\n');

const field = new Field(ENV);
beforeAll(async () => {
	await field.open();
});
afterAll(async () => {
	await field.close();
});

describe.each(STORES)(`n8n ${N8N.version}, a list of any length, in %s`, (store) => {
	const list = new LargeList(field, store);
	// An account of its own, since n8n remembers what the other list bought.
	const apiKey = store.replace(' ', '-');
	const byName = async () => {
		const rows = await list.rows();
		return Object.fromEntries(rows.map((row) => [row.firstName, row])) as Record<string, ListRow>;
	};
	const lookups = () =>
		field.sandbox.requests.filter(({ operation }) => operation?.endsWith('Email')).length;

	beforeAll(async () => {
		await field.reset({
			accounts: { [apiKey]: { plan: 'pro', credits: 1000 } },
			faults: [
				{
					kind: 'envelope',
					status: 400,
					code: 'INVALID_REQUEST',
					message: 'Unknown company',
					match: { bodyIncludes: 'refused.example', times: 1 },
				},
				{
					kind: 'status',
					status: 500,
					afterWork: true,
					match: { bodyIncludes: 'lost.example', times: 1 },
				},
			],
		});
		field.credential = await field.newCredential(store, apiKey);
		await list.open({ batchSize: 2 });
	});
	afterAll(async () => {
		await list.close();
	});
	afterEach(() => {
		expect(field.sandbox.requests.map(({ violation }) => violation).filter(Boolean)).toEqual([]);
	});

	test('takes each person of a file once', async () => {
		await list.upload(CSV, 6);
		const rows = await list.rows();
		expect(rows.map(({ firstName, company, status }) => [firstName, company, status])).toEqual([
			['Ann', 'https://www.acme.com/team', 'new'],
			['Bob', 'Beta, Inc', 'new'],
			['Tom', 'acme.com', 'new'],
			['Eve', 'refused.example', 'new'],
			['Ida', 'lost.example', 'new'],
			['Kim', 'gamma.com', 'new'],
		]);
		expect(lookups()).toBe(0);
	});

	test('gives each row its result or its reason, in batches', async () => {
		const summary = await list.run();
		expect(summary).toEqual({
			rows: 6,
			found: 2,
			verified: 2,
			notFound: 1,
			failed: 2,
			unknown: 1,
			credits: 5,
			problems: {
				'Company Domain must be a domain': 1,
				'The service says: Unknown company (INVALID_REQUEST)': 1,
				[String((await byName()).Ida?.problem)]: 1,
			},
			stopped: '',
			heldRows: 0,
			unknownRows: 1,
		});
		const rows = await byName();
		const results = Object.values(rows).map(({ status, email, verification, problem }) => [
			status,
			email,
			verification,
			problem,
		]);
		const any = expect.any(String) as string;
		expect(results).toEqual([
			['found', 'ann.sure@acme.com', 'valid', null],
			['failed', null, null, 'Company Domain must be a domain, but is "Beta, Inc"'],
			['not found', null, null, 'business: not found'],
			['failed', null, null, any],
			['unknown', null, null, any],
			['found', any, 'valid', null],
		]);
		expect(rows.Ida?.dueAt).toBeNull();
		const inDays = (row: ListRow | undefined) =>
			Math.round((Date.parse(String(row?.dueAt)) - Date.now()) / 86_400_000) + 0;
		expect([rows.Ann, rows.Bob, rows.Tom, rows.Eve].map(inDays)).toEqual([90, 0, 90, 0]);
		expect(lookups()).toBe(7);
	});

	test('tries again what failed and nothing else, also after a restart of n8n', async () => {
		await field.restart();
		await field.api.signIn(OWNER);
		expect(await list.run()).toMatchObject({
			rows: 2,
			found: 1,
			failed: 1,
			unknown: 0,
			credits: 2,
		});
		expect((await byName()).Eve).toMatchObject({ status: 'found', verification: 'valid' });
		expect(lookups()).toBe(9);
	});

	test('pays for nothing when the same list comes again', async () => {
		await list.upload(`${CSV}\nNew,Nobody,acme.com`, 7);
		expect(await list.run()).toMatchObject({
			rows: 2,
			found: 0,
			notFound: 1,
			failed: 1,
			credits: 0,
		});
		expect(await list.run()).toMatchObject({ rows: 1, failed: 1, credits: 0, unknownRows: 1 });
		expect(lookups()).toBe(10);
	});

	test('looks up a row of unknown outcome when a person wants it', async () => {
		const { Ida } = await byName();
		if (!Ida) throw new Error('There is no such row');
		await list.lookUpAgain(Ida);
		expect(await list.run()).toMatchObject({ rows: 2, found: 1, unknownRows: 0, credits: 2 });
	});

	test('stops when the credits run out, and goes on when there are new ones', async () => {
		field.sandbox.set({ accounts: { [apiKey]: { plan: 'pro', credits: 2 } } });
		const people = ['One', 'Two', 'Three', 'Four', 'Five'].map((name) => `${name},Sure,delta.com`);
		await list.upload(['First Name,Last Name,Website', ...people].join('\n'), 12);
		const stopped = await list.run();
		expect(stopped).toMatchObject({ stopped: expect.stringMatching(/credit/i) as string });
		expect(Number(stopped.rows)).toBeLessThan(6);
		field.sandbox.set({ accounts: { [apiKey]: { plan: 'pro', credits: 100 } } });
		expect(await list.run()).toMatchObject({ stopped: '', failed: 1, unknownRows: 0 });
		const rows = await list.rows();
		expect(rows.filter(({ status }) => !['found', 'not found'].includes(status))).toEqual([
			expect.objectContaining({ firstName: 'Bob' }),
		]);
	});

	test('shares the work among runs at the same time', async () => {
		field.sandbox.set({
			accounts: { [apiKey]: { plan: 'pro', credits: 1000 } },
			latencyMs: 100,
		});
		const people = Array.from({ length: 40 }, (_, at) => `Person${String(at)},Sure,epsilon.com`);
		await list.upload(['First Name,Last Name,Website', ...people].join('\n'), 52);
		const runs = [await list.start(), await list.start(), await list.start()];
		const summaries = await Promise.all(runs.map(async (run) => await list.summary(run)));
		const rows = summaries.map((summary) => Number(summary.rows));
		// The rows, and the bad one, which each run may try.
		expect(rows.reduce((sum, count) => sum + count) - 40).toBeLessThanOrEqual(3);
		expect(Math.min(...rows)).toBeGreaterThan(2);
		expect((await list.rows()).filter(({ status }) => status === 'found')).toHaveLength(49);
	});
});
