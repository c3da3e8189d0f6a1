import { N8N, OWNER, quiet, until } from '../../lab/fixture/fixture';
import { ENV, LargeList, type ListRow } from './largeList';
import { someText, useN8n } from './n8n';

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
const people = (count: number) =>
	Array.from({ length: count }, (_, at) => `Person${String(at)},Sure,acme${String(at % 7)}.com`);

const fixture = useN8n(ENV);

describe(`n8n ${N8N.version}, a list of any length`, () => {
	const apiKey = 'large-list';
	const list = new LargeList(fixture);
	const byName = async () => {
		const rows = await list.rows();
		return Object.fromEntries(rows.map((row) => [row.firstName, row])) as Record<string, ListRow>;
	};
	const lookups = () =>
		fixture.sandbox.requests.filter(({ operation }) => operation?.endsWith('Email')).length;
	/** Those that were not refused. */
	const paidFor = () =>
		fixture.sandbox.requests.filter(
			({ operation, status = 0 }) => operation?.endsWith('Email') && ![400, 402].includes(status),
		).length;
	const hasCredits = (credits: number) => {
		fixture.sandbox.set({ accounts: { [apiKey]: { plan: 'pro', credits } } });
	};

	beforeAll(async () => {
		const refused = { kind: 'envelope', status: 400, code: 'INVALID_REQUEST' } as const;
		const lost = { kind: 'resetAfterWork' } as const;
		const once = (bodyIncludes: string) => ({ match: { bodyIncludes, times: 1 } });
		await fixture.reset({
			faults: [
				{ ...refused, message: 'Unknown company', ...once('refused.example') },
				{ ...lost, ...once('lost.example') },
			],
		});
		hasCredits(1000);
		fixture.credential = await fixture.newCredential('A list', apiKey, { plan: 'enterprise' });
		await list.import({ batchSize: 2 });
	});
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
		expect(await list.rows()).toEqual([]);
	});

	test('takes each person of a file once', async () => {
		const page = await list.upload(CSV);
		expect(page).toContain('New people in the table: 7');
		expect(page).toContain('Rows in the file: 9.');
		expect(page).toContain('Rows that cannot be looked up as they are: 2.');
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
		const rows = await byName();
		expect(summary).toEqual({
			rows: 7,
			found: 2,
			verified: 2,
			notFound: 2,
			failed: 2,
			unknown: 1,
			// All but the one that was refused.
			paidCalls: 8,
			problems: {
				'Company Domain must be a domain': 1,
				'The service says: Unknown company (INVALID_REQUEST)': 1,
				[String(rows.Ida?.reason)]: 1,
			},
			stopped: '',
			heldRows: 0,
			unknownRows: 1,
		});
		const results = Object.values(rows).map((row) => [
			row.status,
			row.email,
			row.verification,
			row.reason,
			row.addressNotAccepted,
		]);
		expect(results).toEqual([
			['found', 'ann.sure@acme.com', 'valid', null, null],
			['failed', null, null, 'Company Domain must be a domain, but is "Beta, Inc"', null],
			['not found', null, null, 'No address was found', null],
			['failed', null, null, someText, null],
			['unknown', null, null, someText, null],
			['found', someText, 'valid', null, null],
			[
				'not found',
				null,
				'catch_all',
				'Address not accepted (business: catch_all)',
				'catchall.low@acme.com',
			],
		]);
		const inDays = (row?: ListRow) =>
			row?.dueAt && Math.round((Date.parse(row.dueAt) - Date.now()) / 86_400_000) + 0;
		const { Ann, Bob, Tom, Eve, Ida } = rows;
		expect([Ann, Bob, Tom, Eve, Ida].map(inDays)).toEqual([90, 0, 90, 0, null]);
		expect(lookups()).toBe(9);
	});

	test('tries again what failed and nothing else, also after a restart of n8n', async () => {
		await fixture.restart();
		await fixture.api.signIn(OWNER);
		expect(await list.run()).toMatchObject({ rows: 2, found: 1, failed: 1, unknown: 0 });
		expect((await byName()).Eve).toMatchObject({ status: 'found', verification: 'valid' });
		expect(lookups()).toBe(11);
	});

	test('pays for nothing when the same list comes again', async () => {
		const page = await list.upload(`${CSV}\nNew,Nobody,acme.com`);
		expect(page).toContain('New people in the table: 1');
		expect(await list.rows()).toHaveLength(8);
		expect(await list.run()).toMatchObject({ rows: 2, found: 0, notFound: 1, failed: 1 });
		expect(await list.run()).toMatchObject({ rows: 1, failed: 1, unknownRows: 1 });
		expect(lookups()).toBe(12);
	});

	test('stops when the credits run out, and goes on when there are new ones', async () => {
		hasCredits(2);
		// As a European Excel saves it.
		await list.upload(csvOf(...people(5)).replaceAll(',', ';'));
		const stopped = await list.run();
		expect(stopped).toMatchObject({ stopped: expect.stringMatching(/credit/i) as string });
		expect(Number(stopped.rows)).toBeLessThan(6);
		hasCredits(1000);
		expect(await list.run()).toMatchObject({ stopped: '', failed: 1, unknownRows: 1 });
		const rows = await list.rows();
		const others = rows.filter(({ status }) => !['found', 'not found'].includes(status));
		expect(others.map(({ firstName, status }) => [firstName, status])).toEqual([
			['Bob', 'failed'],
			['Ida', 'unknown'],
		]);
	});

	test('stops at the maximum of paid calls for a day, also in the next run, and goes on the next day', async () => {
		const today = (await list.rows()).reduce((sum, { paidCalls }) => sum + (paidCalls ?? 0), 0);
		expect(today).toBe(paidFor());
		const before = lookups();
		await list.import({ batchSize: 2, dailyPaidCalls: today + 3 });
		// Nobody whom another test adds.
		await list.upload(csvOf(...people(705).slice(700)));
		const stopped = /maximum of paid calls|Maximum Paid Calls/;
		expect(await list.run()).toMatchObject({
			stopped: expect.stringMatching(stopped) as string,
		});
		expect(lookups()).toBeLessThanOrEqual(before + 3);
		expect(await list.run()).toMatchObject({ stopped: expect.stringMatching(stopped) as string });
		expect(lookups()).toBeLessThanOrEqual(before + 3);
		await list.import({ batchSize: 2 });
		expect(await list.run()).toMatchObject({ stopped: '' });
	});

	test('shares the work among runs at the same time', async () => {
		fixture.sandbox.set({ latencyMs: 100 });
		// Five of them are there.
		await list.upload(csvOf(...people(45)));
		const summaries = await Promise.all([list.run(), list.run(), list.run()]);
		const rows = summaries.map((summary) => Number(summary.rows));
		// The rows, and the bad one, which each run may try.
		expect(rows.reduce((sum, count) => sum + count) - 40).toBeLessThanOrEqual(3);
		expect(Math.min(...rows)).toBeGreaterThan(2);
		expect((await list.rows()).filter(({ status }) => status === 'found')).toHaveLength(53);
	});

	describe('if n8n is killed', () => {
		const PEOPLE = people(650).slice(50);
		const BATCH = 100;
		const HOLD_MS = 15_000;

		const searches = () => fixture.count('findBusinessEmail');
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
			await fixture.reset({ latencyMs: 200 });
			hasCredits(100_000);
			await list.import({ holdHours: HOLD_MS / 3_600_000 });
		});

		test('during the upload: the same file adds the rest, and nobody twice', async () => {
			const others = (await list.rows()).length;
			await list.send(csvOf(...PEOPLE));
			const added = async () => (await list.rows()).length - others;
			await until('a part in the table', async () => (await added()) > 200);
			await dieAndComeBack();
			const before = await added();
			expect(before).toBeLessThan(PEOPLE.length);

			const page = await list.upload(csvOf(...PEOPLE));
			expect(page).toContain(`New people in the table: ${String(PEOPLE.length - before)}`);
			const names = (await list.rows()).map(({ firstName, company }) => firstName + company);
			expect(names).toHaveLength(others + PEOPLE.length);
			expect(new Set(names).size).toBe(others + PEOPLE.length);
			expect(searches()).toBe(0);
		});

		test('during the lookups: nothing is lost, and at most a batch is paid for again', async () => {
			const before = await done();
			const interrupted = list.run().catch(() => {});
			// In the second batch.
			await until('lookups', () => searches() > BATCH + 10);
			await dieAndComeBack();
			await interrupted;
			expect((await done()) - before).toBeLessThanOrEqual(BATCH);
			fixture.sandbox.set({ latencyMs: 0 });
			await list.run();
			// The rows of a killed batch are free again then.
			await quiet(Math.max(0, killedAt + HOLD_MS + 1000 - Date.now()));
			expect(await list.run()).toMatchObject({ heldRows: 0 });
			expect((await done()) - before).toBe(PEOPLE.length);
			expect(searches()).toBeLessThanOrEqual(PEOPLE.length + BATCH);
		});
	});
});
