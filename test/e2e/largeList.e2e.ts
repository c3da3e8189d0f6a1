import type { StoredWorkflow } from '../../lab/playground/api';
import { N8N, until } from '../../lab/fixture/fixture';
import { lastPage, sendForm } from './form';
import { FOR_TABLES, nodeOf, useN8n } from './n8n';

/* The template for lists of any length. */

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

const fixture = useN8n(FOR_TABLES);
let workflow: StoredWorkflow;

/** Imports the template with settings, and does what its note asks for before the start. */
async function importWith(settings: Record<string, number>): Promise<void> {
	const content = await fixture.example('large-list');
	const { assignments } = nodeOf(content, 'Settings').parameters.assignments as {
		assignments: Array<{ name: string; value: unknown }>;
	};
	for (const each of assignments) each.value = settings[each.name] ?? each.value;
	workflow = await fixture.api.createWorkflow(content);
	await fixture.api.activateWorkflow(workflow.id);
}

/** Sends a CSV file with the form. @returns the URL of its last page */
async function send(csv: string): Promise<string> {
	// As Excel saves it: with a byte order mark.
	const file = new Blob(['\ufeff', csv], { type: 'text/csv' });
	return await sendForm(fixture, workflow, file, 'people.csv');
}

const upload = async (csv: string) => await lastPage(await send(csv));

/** Runs the workflow by hand. @returns its summary */
async function run(): Promise<Record<string, unknown>> {
	const { status, error, nodes } = await fixture.api.runWorkflow(workflow.id);
	if (status !== 'success') throw new Error(`${status}: ${String(error)}`);
	return nodes.Summary?.outputs[0]?.[0]?.json ?? {};
}

type Text = 'firstName' | 'company' | 'status' | 'email' | 'verification' | 'reason' | 'dueAt';
type Row = Record<Text | 'addressNotAccepted', string> & { paidCalls: number | null };

/** The rows of the table, the oldest first. */
async function rowsOfTable(): Promise<Row[]> {
	const tables = await fixture.api.dataTables();
	const table = tables.find(({ name }) => name === 'leadgen_large_list');
	return table ? ((await fixture.api.dataTableRows(table)) as Row[]) : [];
}

describe(`n8n ${N8N.version}, a list of any length`, () => {
	const apiKey = 'large-list';
	const byName = async () => {
		const rows = await rowsOfTable();
		return Object.fromEntries(rows.map((row) => [row.firstName, row])) as Record<string, Row>;
	};
	const lookups = () =>
		fixture.sandbox.requests.filter(({ operation }) => operation?.endsWith('Email'));
	/** Those that were not refused. */
	const paidFor = () => lookups().filter(({ status = 0 }) => ![400, 402].includes(status)).length;
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
		await importWith({ batchSize: 2 });
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
		const page = await upload(csv.replaceAll('\n', '\r\n'));
		expect(page).toContain('The list could not be added');
		expect(page).toContain(message);
		expect(page).toContain('Correct this, and upload the file again.');
		expect(await rowsOfTable()).toEqual([]);
	});

	test('takes each person of a file once', async () => {
		const page = await upload(CSV);
		expect(page).toContain('New people in the table: 7');
		expect(page).toContain('Rows in the file: 9.');
		expect(page).toContain('Rows that cannot be looked up as they are: 2.');
		const rows = await rowsOfTable();
		expect(rows.map(({ firstName, company, status }) => [firstName, company, status])).toEqual([
			['Ann', 'https://www.acme.com/team', 'new'],
			['Bob', 'Beta, Inc', 'new'],
			['Tom', 'acme.com', 'new'],
			['Eve', 'refused.example', 'new'],
			['Ida', 'lost.example', 'new'],
			['Kim', 'gamma.com', 'new'],
			['Catchall', 'acme.com', 'new'],
		]);
		expect(lookups()).toHaveLength(0);
	});

	test('gives each row its result or its reason, in batches', async () => {
		const summary = await run();
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
		const results = Object.values(rows).map(({ status, email, verification, reason, ...row }) =>
			[status, email, verification, reason, row.addressNotAccepted].join(' | '),
		);
		expect(results).toEqual([
			'found | ann.sure@acme.com | valid |  | ',
			'failed |  |  | Company Domain must be a domain, but is "Beta, Inc" | ',
			'not found |  |  | No address was found | ',
			'failed |  |  | The service says: Unknown company (INVALID_REQUEST) | ',
			expect.stringMatching(/^unknown [| ]+\w/),
			'found | kim.sure@gamma.com | valid |  | ',
			'not found |  | catch_all | Address not accepted (business: catch_all) | catchall.low@acme.com',
		]);
		const inDays = (row?: Row) =>
			row?.dueAt && Math.round((Date.parse(row.dueAt) - Date.now()) / 86_400_000) + 0;
		const { Ann, Bob, Tom, Eve, Ida } = rows;
		expect([Ann, Bob, Tom, Eve, Ida].map(inDays)).toEqual([90, 0, 90, 0, null]);
		expect(lookups()).toHaveLength(9);
	});

	test('tries again what failed and nothing else, also after a restart of n8n', async () => {
		await fixture.restart();
		expect(await run()).toMatchObject({ rows: 2, found: 1, failed: 1, unknown: 0 });
		expect((await byName()).Eve).toMatchObject({ status: 'found', verification: 'valid' });
		expect(lookups()).toHaveLength(11);
	});

	test('pays for nothing when the same list comes again', async () => {
		const page = await upload(`${CSV}\nNew,Nobody,acme.com`);
		expect(page).toContain('New people in the table: 1');
		expect(await rowsOfTable()).toHaveLength(8);
		expect(await run()).toMatchObject({ rows: 2, found: 0, notFound: 1, failed: 1 });
		expect(await run()).toMatchObject({ rows: 1, failed: 1, unknownRows: 1 });
		expect(lookups()).toHaveLength(12);
	});

	test('stops when the credits run out, and goes on when there are new ones', async () => {
		hasCredits(2);
		// As a European Excel saves it.
		await upload(csvOf(...people(5)).replaceAll(',', ';'));
		const stopped = await run();
		expect(stopped.stopped).toMatch(/credit/i);
		expect(Number(stopped.rows)).toBeLessThan(6);
		hasCredits(1000);
		expect(await run()).toMatchObject({ stopped: '', failed: 1, unknownRows: 1 });
		const rows = await rowsOfTable();
		const others = rows.filter(({ status }) => !['found', 'not found'].includes(status));
		expect(others.map(({ firstName, status }) => [firstName, status])).toEqual([
			['Bob', 'failed'],
			['Ida', 'unknown'],
		]);
	});

	test('stops at the maximum of paid calls for a day, also in the next run, and goes on the next day', async () => {
		const today = (await rowsOfTable()).reduce((sum, { paidCalls }) => sum + (paidCalls ?? 0), 0);
		expect(today).toBe(paidFor());
		const before = lookups().length;
		await importWith({ batchSize: 2, dailyPaidCalls: today + 3 });
		// Nobody whom another test adds.
		await upload(csvOf(...people(705).slice(700)));
		for (let runs = 1; runs <= 2; runs++) {
			expect((await run()).stopped).toMatch(/maximum of paid calls|Maximum Paid Calls/);
			expect(lookups().length).toBeLessThanOrEqual(before + 3);
		}
		await importWith({ batchSize: 2 });
		expect(await run()).toMatchObject({ stopped: '' });
	});

	test('shares the work among runs at the same time', async () => {
		fixture.sandbox.set({ latencyMs: 100 });
		// Five of them are there.
		await upload(csvOf(...people(45)));
		const summaries = await Promise.all([run(), run(), run()]);
		const rows = summaries.map((summary) => Number(summary.rows));
		// The rows, and the bad one, which each run may try.
		expect(rows.reduce((sum, count) => sum + count) - 40).toBeLessThanOrEqual(3);
		expect(Math.min(...rows)).toBeGreaterThan(2);
		expect((await rowsOfTable()).filter(({ status }) => status === 'found')).toHaveLength(53);
	});

	describe('if n8n is killed', () => {
		const PEOPLE = people(650).slice(50);
		const BATCH = 100;
		const HOLD_SECONDS = 15;

		const searches = () => fixture.count('findBusinessEmail');
		const done = async () =>
			(await rowsOfTable()).filter(({ status }) => status !== 'new' && status !== 'working').length;
		const dieAndComeBack = async () => {
			await fixture.kill();
			await fixture.start();
		};

		beforeAll(async () => {
			await fixture.reset({ latencyMs: 200 });
			hasCredits(100_000);
			await importWith({ holdHours: HOLD_SECONDS / 3600 });
		});

		test('during the upload: the same file adds the rest, and nobody twice', async () => {
			const others = (await rowsOfTable()).length;
			await send(csvOf(...PEOPLE));
			const added = async () => (await rowsOfTable()).length - others;
			await until('a part in the table', async () => (await added()) > 200);
			await dieAndComeBack();
			const before = await added();
			expect(before).toBeLessThan(PEOPLE.length);

			const page = await upload(csvOf(...PEOPLE));
			expect(page).toContain(`New people in the table: ${String(PEOPLE.length - before)}`);
			const names = (await rowsOfTable()).map(({ firstName, company }) => firstName + company);
			expect(names).toHaveLength(others + PEOPLE.length);
			expect(new Set(names).size).toBe(others + PEOPLE.length);
			expect(searches()).toBe(0);
		});

		test('during the lookups: nothing is lost, and at most a batch is paid for again', async () => {
			const before = await done();
			const interrupted = run().catch(() => {});
			// In the second batch.
			await until('lookups', () => searches() > BATCH + 10);
			await dieAndComeBack();
			await interrupted;
			expect((await done()) - before).toBeLessThanOrEqual(BATCH);
			fixture.sandbox.set({ latencyMs: 0 });
			// At first the killed batch still holds its rows.
			await until('no row is held', async () => (await run()).heldRows === 0);
			expect((await done()) - before).toBe(PEOPLE.length);
			expect(searches()).toBeLessThanOrEqual(PEOPLE.length + BATCH);
		});
	});
});
