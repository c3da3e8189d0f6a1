import { N8N, OWNER, quiet, until } from '../../lab/fixture/fixture';
import { ENV, LargeList, STORES, type ListRow } from './largeList';
import { setBaseUrl, useN8n } from './n8n';

const csvOf = (...people: string[]) => ['First Name,Last Name,Website', ...people].join('\n');
const CSV = csvOf(
	'Ann,Sure,https://www.acme.com/team',
	'ANN, sure ,acme.com',
	'Bob,High,"Beta, Inc"',
	'Tom,Nobody,acme.com',
	'Eve,Sure,refused.example',
	'Ida,Sure,lost.example',
	'Kim,Sure,gamma.com',
	'Bob,High,"Beta, Inc"',
	'Catchall,Low,acme.com',
);

const fixture = useN8n(ENV);

describe.each(STORES)(`n8n ${N8N.version}, a list of any length, in %s`, (store) => {
	const list = new LargeList(fixture, store);
	// An account of its own, since n8n remembers what the other list bought.
	const apiKey = store.replace(' ', '-');
	const byName = async () => {
		const rows = await list.rows();
		return Object.fromEntries(rows.map((row) => [row.firstName, row])) as Record<string, ListRow>;
	};
	const lookups = () =>
		fixture.sandbox.requests.filter(({ operation }) => operation?.endsWith('Email')).length;

	beforeAll(async () => {
		await fixture.reset({
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
		fixture.credential = await fixture.newCredential(store, apiKey);
		await list.open({ batchSize: 2 });
	});
	afterAll(async () => {
		await list.close();
	});

	const people = (count: number) =>
		Array.from({ length: count }, (_, at) => `Person${String(at)},Sure,acme.com`);

	test.each([
		[
			'a row that is too short',
			csvOf(...people(10), 'Ada,Okafor', ...people(10)),
			'In line 12 of the file there are 2 cells, but 3 in its first line.',
		],
		[
			'other columns',
			'Name,URL\nAda Sure,acme.com',
			'The file needs the columns First Name, Last Name and Website. It has Name, URL.',
		],
	])('says on the page if the file has %s, and adds nobody', async (_, csv, message) => {
		const page = await list.upload(csv.replaceAll('\n', '\r\n'));
		expect(page).toContain('The list could not be added');
		expect(page).toContain(message);
		expect(page).toContain('Correct this, and upload the file again.');
		expect(await list.count()).toBe(0);
	});

	test('says on the page if the credential is wrong, and adds nobody', async () => {
		await setBaseUrl(fixture, apiKey, 'api.example.com');
		const page = await list.upload(csvOf(...people(3)));
		await setBaseUrl(fixture, apiKey, fixture.sandbox.url);
		expect(page).toContain('The list could not be added');
		expect(page).toContain('The rows cannot be checked. Open the LeadGen credential');
		expect(await list.count()).toBe(0);
	});

	test('takes each person of a file once', async () => {
		const page = await list.upload(CSV);
		const said = [
			'New people in the table: 7',
			'Rows in the file: 9.',
			'Rows that cannot be looked up as they are: 2.',
			'click “Execute workflow”',
		];
		expect(said.filter((words) => !page.includes(words))).toEqual([]);
		const rows = await list.rows();
		expect(rows.map(({ firstName, company, status }) => [firstName, company, status])).toEqual([
			['Ann', 'https://www.acme.com/team', 'new'],
			['Bob', 'Beta, Inc', 'new'],
			['Tom', 'acme.com', 'new'],
			['Eve', 'refused.example', 'new'],
			['Ida', 'lost.example', 'new'],
			['Kim', 'gamma.com', 'new'],
			['Catchall', 'acme.com', 'new'],
		]);
		expect(lookups()).toBe(0);
	});

	test('gives each row its result or its reason, in batches', async () => {
		const summary = await list.run();
		expect(summary).toEqual({
			rows: 7,
			found: 2,
			verified: 2,
			notFound: 2,
			failed: 2,
			unknown: 1,
			paidCalls: 7,
			problems: {
				'Company Domain must be a domain': 1,
				'The service says: Unknown company (INVALID_REQUEST)': 1,
				[String((await byName()).Ida?.reason)]: 1,
			},
			stopped: '',
			heldRows: 0,
			unknownRows: 1,
		});
		const rows = await byName();
		const results = Object.values(rows).map((row) => [
			row.status,
			row.email,
			row.verification,
			row.reason,
			row.addressNotAccepted,
		]);
		const any = expect.any(String) as string;
		expect(results).toEqual([
			['found', 'ann.sure@acme.com', 'valid', null, null],
			['failed', null, null, 'Company Domain must be a domain, but is "Beta, Inc"', null],
			['not found', null, null, 'No address was found', null],
			['failed', null, null, any, null],
			['unknown', null, null, any, null],
			['found', any, 'valid', null, null],
			['not found', null, null, 'Address not accepted (business: catch_all)', 'clow@acme.com'],
		]);
		expect(rows.Ida?.dueAt).toBeNull();
		const inDays = (row: ListRow | undefined) =>
			Math.round((Date.parse(String(row?.dueAt)) - Date.now()) / 86_400_000) + 0;
		expect([rows.Ann, rows.Bob, rows.Tom, rows.Eve].map(inDays)).toEqual([90, 0, 90, 0]);
		expect(lookups()).toBe(9);
	});

	test('tries again what failed and nothing else, also after a restart of n8n', async () => {
		await fixture.restart();
		await fixture.api.signIn(OWNER);
		const counts = { rows: 2, found: 1, failed: 1, unknown: 0, paidCalls: 2 };
		expect(await list.run()).toMatchObject(counts);
		expect((await byName()).Eve).toMatchObject({ status: 'found', verification: 'valid' });
		expect(lookups()).toBe(11);
	});

	test('pays for nothing when the same list comes again', async () => {
		const page = await list.upload(`${CSV}\nNew,Nobody,acme.com`);
		expect(page).toContain('New people in the table: 1');
		expect(await list.rows()).toHaveLength(8);
		const counts = { rows: 2, found: 0, notFound: 1, failed: 1, paidCalls: 1 };
		expect(await list.run()).toMatchObject(counts);
		expect(await list.run()).toMatchObject({ rows: 1, failed: 1, paidCalls: 0, unknownRows: 1 });
		expect(lookups()).toBe(12);
	});

	test('looks up a row of unknown outcome when a person wants it', async () => {
		const { Ida } = await byName();
		if (!Ida) throw new Error('There is no such row');
		await list.lookUpAgain(Ida);
		expect(await list.run()).toMatchObject({ rows: 2, found: 1, unknownRows: 0, paidCalls: 2 });
	});

	test('stops when the credits run out, and goes on when there are new ones', async () => {
		fixture.sandbox.set({ accounts: { [apiKey]: { plan: 'pro', credits: 2 } } });
		const names = ['One', 'Two', 'Three', 'Four', 'Five'];
		await list.upload(csvOf(...names.map((name) => `${name},Sure,delta.com`)));
		const stopped = await list.run();
		expect(stopped).toMatchObject({ stopped: expect.stringMatching(/credit/i) as string });
		expect(Number(stopped.rows)).toBeLessThan(6);
		fixture.sandbox.set({ accounts: { [apiKey]: { plan: 'pro', credits: 100 } } });
		expect(await list.run()).toMatchObject({ stopped: '', failed: 1, unknownRows: 0 });
		const rows = await list.rows();
		expect(rows.filter(({ status }) => !['found', 'not found'].includes(status))).toEqual([
			expect.objectContaining({ firstName: 'Bob' }),
		]);
	});

	test('takes a file with semicolons between its cells', async () => {
		const csv = csvOf('Sam,Sure,acme.com', 'SAM,SURE,acme.com').replaceAll(',', ';');
		const page = await list.upload(csv.replaceAll('\n', '\r\n'));
		expect(page).toContain('New people in the table: 1');
		expect(page).toContain('Rows in the file: 2.');
		const { firstName, lastName, company } = (await list.rows()).at(-1) ?? {};
		expect([firstName, lastName, company]).toEqual(['Sam', 'Sure', 'acme.com']);
	});

	test('shares the work among runs at the same time', async () => {
		const account = { plan: 'pro', credits: 1000 };
		fixture.sandbox.set({ accounts: { [apiKey]: account }, latencyMs: 100 });
		// And the one of the test before.
		await list.upload(csvOf(...people(39)));
		const runs = [await list.start(), await list.start(), await list.start()];
		const summaries = await Promise.all(runs.map(async (run) => await list.summary(run)));
		const rows = summaries.map((summary) => Number(summary.rows));
		// The rows, and the bad one, which each run may try.
		expect(rows.reduce((sum, count) => sum + count) - 40).toBeLessThanOrEqual(3);
		expect(Math.min(...rows)).toBeGreaterThan(2);
		expect((await list.rows()).filter(({ status }) => status === 'found')).toHaveLength(49);
	});
});

describe.each(STORES)(
	`n8n ${N8N.version}, a list of any length, in %s, if n8n is killed`,
	(store) => {
		const PEOPLE = 600;
		const PART = 250;
		const BATCH = 100;
		const HOLD_MS = 15_000;
		const person = (_: unknown, at: number) => `Person${String(at)},Sure,acme${String(at % 7)}.com`;
		const CSV_OF_PEOPLE = csvOf(...Array.from({ length: PEOPLE }, person));

		const list = new LargeList(fixture, store);
		const apiKey = `${store.replace(' ', '-')}-killed`;
		const searches = () =>
			fixture.sandbox.requests.filter(({ operation }) => operation === 'findBusinessEmail');
		const done = async () =>
			(await list.rows()).filter(({ status }) => status !== 'new' && status !== 'working').length;
		let killedAt = 0;
		const dieAndComeBack = async () => {
			await fixture.kill();
			killedAt = Date.now();
			await fixture.start();
			await fixture.api.signIn(OWNER);
		};

		beforeAll(async () => {
			await fixture.reset({
				accounts: { [apiKey]: { plan: 'pro', credits: 100_000 } },
				latencyMs: 200,
			});
			fixture.credential = await fixture.newCredential(apiKey, apiKey, { plan: 'enterprise' });
			await list.open({ holdHours: HOLD_MS / 3_600_000 });
		});
		afterAll(async () => {
			await list.close();
		});

		test('during the upload: the same file adds the rest, and nobody twice', async () => {
			// The Data Table holds the list of the tests before.
			const others = await list.count().catch(() => 0);
			await list.send(CSV_OF_PEOPLE);
			const added = async () => (await list.count().catch(() => 0)) - others;
			await until('a part in the table', async () => (await added()) >= PART);
			await dieAndComeBack();
			const before = await added();
			expect(before).toBeLessThan(PEOPLE);

			const page = await list.upload(CSV_OF_PEOPLE);
			expect(page).toContain(`New people in the table: ${String(PEOPLE - before)}`);
			const people = (await list.rows()).map(({ firstName, company }) => firstName + company);
			expect(people).toHaveLength(others + PEOPLE);
			expect(new Set(people).size).toBe(others + PEOPLE);
			expect(searches()).toEqual([]);
		});

		test('during the lookups: nothing is lost, and at most a batch is paid for again', async () => {
			const before = await done();
			await list.start();
			// In the second batch.
			await until('lookups', () => searches().length > BATCH + 10);
			await dieAndComeBack();
			expect((await done()) - before).toBeLessThanOrEqual(BATCH);
			fixture.sandbox.set({ latencyMs: 0 });
			await list.run();
			// The rows of a killed batch are free again then.
			await quiet(Math.max(0, killedAt + HOLD_MS + 1000 - Date.now()));
			expect(await list.run()).toMatchObject({ heldRows: 0 });
			expect((await done()) - before).toBe(PEOPLE);
			expect(searches().length).toBeLessThanOrEqual(PEOPLE + BATCH);
		});
	},
);
