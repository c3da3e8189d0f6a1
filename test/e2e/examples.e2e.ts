import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
	Execution,
	ExecutionSummary,
	StoredWorkflow,
	WorkflowContent,
	WorkflowNode,
} from '../../lab/playground/api';
import type { SettingsPatch } from '../../lab/sandbox/settings';
import { N8N, quiet, until } from '../../lab/fixture/fixture';
import { sendForm } from './form';
import { itemsOf, useN8n } from './n8n';

const MANUAL = 'When clicking ‘Execute workflow’';

/** Every example workflow, imported as it is and run on a real n8n. */
const fixture = useN8n();

/** @param edit what a person changes besides the credential */
async function imported(
	name: string,
	edit: (content: WorkflowContent) => void = () => {},
): Promise<StoredWorkflow> {
	const content = await fixture.example(name);
	edit(content);
	return await fixture.api.createWorkflow(content);
}

async function activated(name: string): Promise<StoredWorkflow> {
	const workflow = await imported(name);
	await fixture.api.activateWorkflow(workflow.id);
	return workflow;
}

/** Imports an example, and executes it by hand. */
async function executed(
	name: string,
	edit?: (content: WorkflowContent) => void,
): Promise<Execution> {
	const { id } = await imported(name, edit);
	const execution = await fixture.api.runWorkflow(id, MANUAL);
	expect(execution.error ?? execution.status).toBe('success');
	return execution;
}

function nodeOf({ nodes }: WorkflowContent, name: string): WorkflowNode {
	const found = nodes.find((node) => node.name === name);
	if (!found) throw new Error(`There is no node "${name}"`);
	return found;
}

/** Puts other rows into an example that holds its rows itself. */
function withRows(node: string, field: string, rows: unknown[]) {
	return (content: WorkflowContent) => {
		nodeOf(content, node).parameters.jsonOutput = JSON.stringify({ [field]: rows });
	};
}

/** The executions of a workflow once there are as many and all have succeeded, the oldest first. */
async function executions({ id }: StoredWorkflow, count: number): Promise<Execution[]> {
	let all: ExecutionSummary[] = [];
	// n8n may leave out one that ends while it lists them.
	const isEnough = async () => (all = await fixture.executions(id)).length >= count;
	await until(`${String(count)} executions`, isEnough, 30_000);
	const finished = await Promise.all(
		all.map(async (one) => await fixture.api.finishedExecution(one.id)),
	);
	const outcomes = finished.map(({ status, error }) => error ?? status);
	expect(outcomes).toEqual(new Array(count).fill('success'));
	return finished.toReversed();
}

/** An execution of scrape-suspend-until-finished has looked at the status so often, and waits. */
async function looksThenWaits(id: string, execution: string, looks: number): Promise<void> {
	await until(`look ${String(looks)}, and a wait`, async () => {
		// n8n 2.16 cannot show one that has just begun.
		const [listed] = await fixture.executions(id);
		if (listed?.status !== 'waiting') return false;
		const { status, nodes } = await fixture.api.execution(execution);
		const { outputs = [] } = nodes['Look at the status'] ?? {};
		return status === 'waiting' && (outputs[0] ?? []).length === looks;
	});
}

/** Uploads a file with the form of an example, as a browser does. */
async function upload(from: StoredWorkflow, content: string | Buffer, name = 'list.csv') {
	const { id } = from;
	const before = fixture.sandbox.requests.length;
	const file = new Blob([Uint8Array.from(Buffer.from(content))]);
	const formWaitingUrl = await sendForm(fixture, from, file, name);
	let latest: ExecutionSummary | undefined;
	await until('the last page', async () => {
		[latest] = await fixture.executions(id);
		return latest?.status === 'waiting';
	});
	const page = pageOf(await (await fetch(formWaitingUrl)).text());
	await fetch(formWaitingUrl, { method: 'POST' });
	const execution = await fixture.api.finishedExecution(String(latest?.id));
	const requests = fixture.sandbox.requests.slice(before);
	return {
		page,
		execution,
		sheets: itemsOf(execution, 'Sheets of the new file').map(({ rows }) => rows as unknown[][]),
		/** In the order of the alphabet. */
		sent: requests
			.map(({ path, body }) => [path, body])
			.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
		paid: requests.reduce((sum, { cost }) => sum + cost, 0),
	};
}

/** What the last page of a form shows, and the file that the browser downloads from it. */
function pageOf(html: string) {
	const [, title] = /<h1>(.*?)<\/h1>/s.exec(html) ?? [];
	const [, message] = /<p[^>]*>(.*?)<\/p>/s.exec(html) ?? [];
	const [, encoded = '""'] = /JSON\.parse\(decodeURIComponent\("(.+?)"\)\)/.exec(html) ?? [];
	const files: unknown = JSON.parse(decodeURIComponent(encoded));
	const [file] = [files].flat() as Array<{ data?: string | { data: number[] } }>;
	// As n8n keeps files in memory, or on the disk.
	const { data } = file ?? {};
	const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data?.data;
	return { title, message, file: bytes && Buffer.from(bytes) };
}

/** The rows of a sheet as lines of text. */
function table(rows: unknown[][] = []): string[] {
	return rows.map((row) => row.join(' | '));
}

/** Lines without the empty cells at their ends. */
function trimmed(lines: string[]): string[] {
	return lines.map((line) => line.replace(/[ |]+$/, ''));
}

function find(firstName: string, lastName: string, company: string, linkedinUrl?: string) {
	return ['/email/find', { firstName, lastName, company, ...(linkedinUrl && { linkedinUrl }) }];
}

function verify(email: string) {
	return ['/email/verify', { email }];
}

/** An item that says something, and nothing else. */
function said(words: RegExp): object {
	return { message: expect.stringMatching(words) as string };
}

function messages(execution: Execution[], node: string): unknown[] {
	return itemsOf(execution, node).map(({ message }) => message);
}

describe(`n8n ${N8N.version}, the example`, () => {
	beforeEach(async () => {
		await fixture.reset();
	});

	test('find-and-verify says what is wrong with a bad row, and goes on with the others', async () => {
		const rows = [
			{ firstName: 'Eva', lastName: 'Sure', company: 'acme.com' },
			{ firstName: 'Bob', lastName: 'High', company: 'Acme Inc' },
			{ firstName: '', lastName: '', company: 'acme.com' },
			{ firstName: 'Cem', lastName: 'Sure', company: 'acme.com' },
		];
		const execution = await executed('find-and-verify', withRows('People', 'people', rows));
		expect(itemsOf(execution, 'Row for the CRM').map(({ name }) => name)).toEqual([
			'Eva Sure',
			'Cem Sure',
		]);
		expect(itemsOf(execution, 'Row without an email')).toEqual([
			{
				name: 'Bob High',
				company: 'Acme Inc',
				reason: 'Company Domain must be a domain, but is "Acme Inc"',
			},
			{ name: ' ', company: 'acme.com', reason: 'First Name and Last Name are both empty' },
		]);
		expect(fixture.count('findBusinessEmail')).toBe(2);
	});

	test('verify-and-route gives each address its way, and pays for one that is there twice once', async () => {
		const emails = [
			...['valid.ada@acme.com', 'catchall.bob@acme.com', 'Acme Inc', 'invalid.cem@acme.com'],
			...['valid.ada@acme.com', ''],
		];
		const rows = emails.map((email) => ({ email }));
		const execution = await executed('verify-and-route', withRows('Addresses', 'addresses', rows));
		const route = (node: string) =>
			itemsOf(execution, node).map(({ email, error }) => [
				email,
				(error as { message?: string } | undefined)?.message,
			]);
		expect(route('Send the campaign')).toEqual([
			['valid.ada@acme.com', undefined],
			['valid.ada@acme.com', undefined],
		]);
		expect(route('Remove from the list')).toEqual([['invalid.cem@acme.com', undefined]]);
		expect(route('Look at it by hand')).toEqual([
			['catchall.bob@acme.com', undefined],
			['Acme Inc', 'Email must be one email address, but is "Acme Inc"'],
			['', 'Email is empty'],
		]);
		expect(fixture.count('verifyEmail')).toBe(3);
	});

	test('scrape-and-wait gives the finished scrape', async () => {
		const execution = await executed('scrape-and-wait');
		expect(itemsOf(execution, 'Start scrape and wait')).toEqual([
			expect.objectContaining({ status: 'completed', leadsFound: 25, creditsUsed: 25 }),
		]);
		expect(fixture.starts).toBe(1);
	});

	test('scrape-suspend-until-finished goes on when the service calls', async () => {
		fixture.sandbox.set({ job: { durationMs: 3000 } });
		const execution = await executed('scrape-suspend-until-finished');
		expect(itemsOf(execution, 'Say what it found')).toEqual([
			said(/found 20 leads for 20 credits/),
		]);
		expect(fixture.sandbox.jobs[0]?.notifications.map(({ status }) => status)).toEqual([200]);
		expect(fixture.starts).toBe(1);
	});

	test('scrape-suspend-until-finished goes on soon, though n8n turned the notification away', async () => {
		// The scrape is finished before the answer to its start has come.
		fixture.sandbox.set({ job: { durationMs: 0 }, latencyMs: 500 });
		const execution = await executed('scrape-suspend-until-finished', (content) => {
			nodeOf(content, 'Wait for the notification').parameters.resumeUnit = 'seconds';
		});
		const [notification] = fixture.sandbox.jobs[0]?.notifications ?? [];
		expect(notification?.status).toBeGreaterThanOrEqual(400);
		expect(itemsOf(execution, 'Say what it found')).toEqual([
			said(/found 20 leads for 20 credits/),
		]);
		expect(fixture.starts).toBe(1);
	});

	/** Runs scrape-suspend-until-finished until it waits for the end of a long scrape. */
	const suspended = async () => {
		fixture.sandbox.set({ job: { durationMs: 3_600_000 } });
		const { id } = await imported('scrape-suspend-until-finished', (content) => {
			// In an outage, five tries take most of a minute.
			nodeOf(content, 'Look at the status').maxTries = 2;
		});
		const execution = String(await fixture.api.startWorkflow(id, MANUAL));
		await looksThenWaits(id, execution, 0);
		const scrapeId = String(fixture.sandbox.jobs[0]?.scrapeId);
		return { id, execution, scrapeId };
	};

	test('scrape-suspend-until-finished waits again while the scrape runs and after an outage, and tells one that failed', async () => {
		const { id, execution, scrapeId } = await suspended();
		await fixture.sandbox.notify(scrapeId);
		await looksThenWaits(id, execution, 1);
		const match = { path: '/status' };
		fixture.sandbox.set({ faults: [{ kind: 'status', status: 503, match }] });
		await fixture.sandbox.notify(scrapeId);
		await looksThenWaits(id, execution, 2);
		fixture.sandbox.set({ faults: [] });
		fixture.sandbox.finish(scrapeId, 'failed');
		await fixture.sandbox.notify(scrapeId);
		const finished = await fixture.api.finishedExecution(execution);
		const looks = itemsOf(finished, 'Look at the status').map(({ status }) => status);
		expect([looks[0], looks.at(-1)]).toEqual([
			expect.stringMatching(/pending|processing/),
			'failed',
		]);
		expect(itemsOf(finished, 'Say that it failed')).toEqual([said(/failed. It had found/)]);
		expect(itemsOf(finished, 'Say what it found')).toEqual([]);
		expect(fixture.starts).toBe(1);
	});

	test('scrape-suspend-until-finished stops if the service refuses to answer', async () => {
		const { execution, scrapeId } = await suspended();
		const match = { path: '/status' };
		fixture.sandbox.set({ faults: [{ kind: 'envelope', code: 'UNAUTHORIZED', match }] });
		await fixture.sandbox.notify(scrapeId);
		const { status, error } = await fixture.api.finishedExecution(execution);
		expect([status, error]).toEqual(['error', expect.stringMatching(/UNAUTHORIZED/)]);
	});

	test('credit-alert writes when the credits run low, and only then', async () => {
		const { id } = await imported('credit-alert');
		const quietDay = await fixture.api.runWorkflow(id, 'Every morning');
		expect(itemsOf(quietDay, 'Send the alert')).toEqual([]);
		fixture.sandbox.set({ accounts: { 'test-key': { plan: 'pro', credits: 120 } } });
		const lowDay = await fixture.api.runWorkflow(id, 'Every morning');
		expect(itemsOf(lowDay, 'Send the alert')).toEqual([
			said(/^Only 120 LeadGen credits are left on the plan pro/),
		]);
	});

	/** Runs trigger-start-scrape until its scrape is over: the start, and the completion. */
	const scraped = async (settings: SettingsPatch): Promise<Execution[]> => {
		fixture.sandbox.set(settings);
		const both = await executions(await activated('trigger-start-scrape'), 2);
		expect(fixture.starts).toBe(1);
		return both;
	};

	test('trigger-start-scrape starts one scrape, and gives the leads if they are sent', async () => {
		const both = await scraped({ notification: { shape: 'leads' } });
		const source = fixture.sandbox.jobs[0]?.scrapeId;
		const email: unknown = expect.stringContaining('@example.com');
		expect(itemsOf(both, 'Row for the CRM')).toEqual(
			Array.from({ length: 20 }, (_, index) => ({
				name: `Lead ${String(index + 1)}`,
				email,
				source,
			})),
		);
		expect(itemsOf(both, 'Completed?')).toEqual([]);
	});

	test.each<[what: string, settings: SettingsPatch, node: string, words: RegExp, not: string]>([
		[
			'what a scrape found whose leads are not sent',
			{},
			'Say what it found',
			/found 20 leads for 20 credits/,
			'Row for the CRM',
		],
		[
			'that a scrape failed',
			{ job: { outcome: 'failed' } },
			'Say that it failed',
			/failed. It had found 10 leads/,
			'Say what it found',
		],
	])('trigger-start-scrape says %s', async (_what, settings, node, words, not) => {
		const both = await scraped(settings);
		expect(messages(both, node)).toEqual([expect.stringMatching(words)]);
		expect(itemsOf(both, not)).toEqual([]);
	});

	test('trigger-listen receives the completion of a scrape that the LeadGen node started', async () => {
		const content = await fixture.example('trigger-listen');
		const { webhookId } = nodeOf(content, 'When a scrape is finished');
		const webhookUrl = `${fixture.webhookBase}/webhook/${String(webhookId)}/leadgen`;
		nodeOf(content, 'Start a scrape').parameters.options = { webhookUrl };
		const workflow = await fixture.api.createWorkflow(content);
		await fixture.api.activateWorkflow(workflow.id);
		await quiet(500);
		await fixture.api.runWorkflow(workflow.id, MANUAL);
		expect(messages(await executions(workflow, 2), 'Say what it found')).toEqual([
			expect.stringMatching(/found 15 leads for 15 credits/),
		]);
		expect(fixture.starts).toBe(1);
	});

	test('trigger-listen says that a scrape failed, and starts none without the URL', async () => {
		const unedited = await imported('trigger-listen');
		const { status, error } = await fixture.api.runWorkflow(unedited.id, MANUAL);
		expect([status, error]).toEqual(['error', expect.stringMatching(/^Webhook URL must be a URL/)]);
		expect(fixture.starts).toBe(0);

		const workflow = await activated('trigger-listen');
		await quiet(500);
		fixture.sandbox.set({ job: { outcome: 'failed' } });
		await fixture.startElsewhere(fixture.plainUrl(workflow), 8);
		expect(messages(await executions(workflow, 1), 'Say that it failed')).toEqual([
			expect.stringMatching(/failed. It had found 4 leads/),
		]);
	});
});

describe(`n8n ${N8N.version}, the example spreadsheet-to-verified-emails`, () => {
	const ADDED = 'Email | Status | Confidence | Reason | Address that was not accepted';
	const NO_WEBSITE = 'no website: fill it in in the sheet Websites, and upload this file again';

	let workflow: StoredWorkflow;
	beforeAll(async () => {
		workflow = await activated('spreadsheet-to-verified-emails');
	});
	beforeEach(() => {
		fixture.sandbox.reset({ rateLimit: { enabled: false } });
	});

	test('takes the CSV file of a European Excel, and gives back all that it holds', async () => {
		const csv = [
			'Vorname;Name;Firma;Webseite;Email;Notiz;',
			'Jörg;Sure;"Müller, Söhne GmbH";https://www.mueller.example/team;info@mueller.example;"Messe ""Köln"", 5 €"',
			';;;;;;',
			'Prof. Dr. Šárka;O’Sure, MBA;Škoda;skoda.example;;=1+1;mehr',
			'jörg;SURE;Müller;mueller.example;;007',
			';Peter van der Berg;Acme;acme.example;;"zwei, drei; vier"',
			'Catchall;Medium;Acme;acme.example',
			'Tom;Nobody;Acme;acme.example',
			'Ada;Sure;Acme, Inc.;;;nur Firma',
			' ;;; ;;',
			';;;;;Summe: 6',
		].join('\r\n');
		const bytes = { '€': '\x80', '’': '\x92', Š: '\x8a' };
		const windows1252 = Object.entries(bytes).reduce((text, each) => text.replaceAll(...each), csv);
		const { sheets, sent, paid, page } = await upload(workflow, Buffer.from(windows1252, 'latin1'));

		const [rows, websites] = sheets;
		expect(table(rows)).toEqual([
			'Vorname | Name | Firma | Webseite | Email | Notiz |  | Email 2 | Status | Confidence | Reason | Address that was not accepted',
			'Jörg | Sure | Müller, Söhne GmbH | https://www.mueller.example/team | info@mueller.example | Messe "Köln", 5 € |  | jorg.sure@mueller.example | valid | 0.98 |  | ',
			' |  |  |  |  |  | ',
			'Prof. Dr. Šárka | O’Sure, MBA | Škoda | skoda.example |  | =1+1 | mehr | sarka.osure@skoda.example | valid | 0.94 |  | ',
			'jörg | SURE | Müller | mueller.example |  | 007 |  | jorg.sure@mueller.example | valid | 0.98 |  | ',
			' | Peter van der Berg | Acme | acme.example |  | zwei, drei; vier |  |  | not found |  | business: invalid (the address does not accept mail) | peter.vanderberg@acme.example',
			'Catchall | Medium | Acme | acme.example |  |  |  |  | not found |  | business: catch_all (the domain accepts all mail, so nobody can check the address) | catchall.medium@acme.example',
			'Tom | Nobody | Acme | acme.example |  |  |  |  | not found |  | business: not found | ',
			`Ada | Sure | Acme, Inc. |  |  | nur Firma |  |  | not looked up |  | ${NO_WEBSITE} | `,
			'  |  |  |   |  |  | ',
			' |  |  |  |  | Summe: 6 | ',
		]);
		expect(table(websites)).toEqual(['Company | Website', 'Acme, Inc. | ']);
		expect(sent).toEqual([
			find('Catchall', 'Medium', 'acme.example'),
			find('Jörg', 'Sure', 'mueller.example'),
			find('Peter', 'van der Berg', 'acme.example'),
			find('Tom', 'Nobody', 'acme.example'),
			find('Šárka', 'O’Sure', 'skoda.example'),
			verify('catchall.medium@acme.example'),
			verify('jorg.sure@mueller.example'),
			verify('peter.vanderberg@acme.example'),
			verify('sarka.osure@skoda.example'),
		]);
		expect(paid).toBe(8);
		expect(page).toMatchObject({ title: 'Your emails are ready' });
		expect(page.message).toContain(
			'3 of 7 rows with an email: 3 found.\n\nWithout an email:\n2 × the address that was found is not good enough\n',
		);
		expect(page.message).toContain('\n\nPaid calls: 9.\n\nThe website of a company is missing.');
	});

	test('takes CSV files in other encodings and with other separators', async () => {
		const lines = [
			['Name', 'Website', 'Note'],
			['Zoë Sure 🚀', 'zoe.example', '"a;b,c\td|e"'],
			['Jörg Sure', 'zoe.example', 'x'],
		];
		const [semicolons = '', commas = '', tabs = '', bars = ''] = [';', ',', '\t', '|'].map(
			(separator) => lines.map((line) => line.join(separator)).join('\r\n'),
		);
		const files = [semicolons, commas, tabs, bars, `\ufeff${commas}`, `sep=;\n${semicolons}`];
		const results = [];
		for (const file of [...files, Buffer.from(`\ufeff${tabs}`, 'utf16le')]) {
			results.push(await upload(workflow, file));
		}

		const expected = [
			'Name | Website | Note | Email | Status | Confidence | Reason | Address that was not accepted',
			'Zoë Sure 🚀 | zoe.example | a;b,c\td|e | zsure@zoe.example | valid | 0.9 |  | ',
			'Jörg Sure | zoe.example | x | jsure@zoe.example | valid | 0.99 |  | ',
		];
		expect(results.map(({ sheets }) => table(sheets[0]))).toEqual(results.map(() => expected));
		expect(results.map(({ paid }) => paid)).toEqual([4, 0, 0, 0, 0, 0, 0]);
	});

	test('takes an Excel file, and the one that it gives back', async () => {
		const people = readFileSync(join(__dirname, 'people.xlsx'));
		const { sheets, sent, paid, page } = await upload(workflow, people, 'people.xlsx');
		const profile = 'https://www.linkedin.com/in/ada-okafor';
		const expected = [
			'Full Name | Company | Domain | LinkedIn URL | Status | Since | Revenue | Active | Email | Status 2 | Confidence | Reason | Address that was not accepted',
			`Okafor-Sure, Ada | Acme | acme.example | ${profile} | lead | 45352 | 1200.5 | true | ada.okaforsure@acme.example | valid | 0.42 |  | `,
			' |  |  |  |  |  |  | ',
			'Prof. Dr. Zoë Sure, MBA | Bücher AG | bücher.example |  | =HYPERLINK("https://phish.example") |  |  |  | zoe.sure@xn--bcher-kva.example | valid | 0.94 |  | ',
			'Zoë Sure | Bücher AG | https://www.bücher.example/ |  | twice |  | 7 | false | zoe.sure@xn--bcher-kva.example | valid | 0.94 |  | ',
			' |  |  |  | nobody |  |  | ',
		];
		expect(sheets.map(table)).toEqual([expected]);
		expect(sent).toEqual([
			find('Ada', 'Okafor-Sure', 'acme.example', profile),
			find('Zoë', 'Sure', 'xn--bcher-kva.example'),
			verify('ada.okaforsure@acme.example'),
			verify('zoe.sure@xn--bcher-kva.example'),
		]);
		expect(paid).toBe(4);

		const again = await upload(workflow, page.file ?? '', 'verified-emails.xlsx');
		expect(again.sent).toEqual([]);
		// Every cell is in the file. A text that begins like a formula would be gone if it were one.
		const read = itemsOf(again.execution, 'Read the rows').map(({ row }) => row as unknown[]);
		expect(trimmed(table(read))).toEqual(trimmed(expected));
		expect(again.sheets.map((rows) => trimmed(table(rows)))).toEqual([trimmed(expected)]);
	});

	test('takes the Excel file of a trade fair, and gives its dates back as dates', async () => {
		const fair = readFileSync(join(__dirname, 'tradeFair.xlsx'));
		const { sheets, sent, page, execution } = await upload(workflow, fair, 'fair.xlsx');
		expect(sheets.map(table)).toEqual([
			[
				'Fachmesse Muster 2026 – Ausstellerverzeichnis |  |  |  |  |  |  |  | ',
				'Stand:  | 46329 |  |  |  |  |  |  | ',
				' |  |  |  |  |  |  |  | ',
				'Person |  |  | Unternehmen |  |  | Messe |  | ',
				`Anrede | Vorname | Nachname | Firma/Unternehmen | Internet | E-Mail | Halle / Stand | Angemeldet am | Umsatz (Mio. €) | ${ADDED}`,
				'Frau | Ada | Sure | Müller & Söhne GmbH | www.mueller.example | info@mueller.example | 3 / A12 | 46329.385 | 1.5 | asure@mueller.example | valid | 0.96 |  | ',
				'Herr Dr. | Jörg | Sure | Bäcker AG |  | invalid.joerg@baecker.example | 3 / A14 | 46330 | 2 | jorg.sure@baecker.example | valid | 0.9 | in the file: invalid (the address does not accept mail) | ',
				'Herr | Max | Nobody | Müller & Söhne GmbH | www.mueller.example | valid.max@mueller.example | 007 | 46331 |  | valid.max@mueller.example | valid |  |  | ',
				`Frau | Eva | Sure | Schmidt KG |  |  | 4 / B1 |  | 3 |  | not looked up |  | ${NO_WEBSITE} | `,
				`Frau | Ida | Sure | schmidt kg |  | invalid.ida@gmail.com | 4 / B1 | 46332.5 | 3 |  | invalid |  | in the file: invalid (the address does not accept mail), ${NO_WEBSITE} | `,
				'Halle 5 |  |  |  |  |  |  |  | ',
				'Herr | Uwe |  | Weber OHG | weber.example |  | 5 / C1 | 46333 | 0 |  | not looked up |  | only a first name | ',
			],
			['Company | Website', 'Schmidt KG | '],
		]);
		expect(sent).toEqual([
			find('Ada', 'Sure', 'mueller.example'),
			find('Jörg', 'Sure', 'baecker.example'),
			...['asure@mueller.example', 'invalid.ida@gmail.com', 'invalid.joerg@baecker.example'].map(
				verify,
			),
			...['jorg.sure@baecker.example', 'valid.max@mueller.example'].map(verify),
		]);
		expect(itemsOf(execution, 'Result of each row').map(({ paidCalls }) => paidCalls)).toEqual([
			2, 3, 1, 0, 1, 0,
		]);
		expect(page.title).toBe('Your emails are ready');

		// The formats are those of the file, and the cells are where they were.
		const before = itemsOf(execution, 'Formats of the cells');
		const back = await upload(workflow, page.file ?? '', 'fair.xlsx');
		expect(before).toEqual([expect.objectContaining({ left: 'B', top: 2 })]);
		expect(itemsOf(back.execution, 'Formats of the cells')).toEqual(before);
		expect(back.sheets.map((rows) => trimmed(table(rows)))).toEqual(
			sheets.map((rows) => trimmed(table(rows))),
		);
		expect(back.sent).toEqual([]);
	});

	test.each([
		[
			'has an open quotation mark',
			'Name;Website\n"Ada Sure;acme.example\nBob Sure;acme.example',
			'A quotation mark in the file is not closed. Look for a text that begins with one and does not end with one.',
		],
		['is no spreadsheet', 'PK\u0003\u0004', 'is not in xlsx format.'],
		[
			'has no cells',
			readFileSync(join(__dirname, 'noCells.xlsx')),
			'It has no columns. Rename a column, or add its words in the node Match the columns.',
			'noCells.xlsx',
		],
	])('says on the page if the file %s', async (_, file, message, name = 'list.csv') => {
		const { page, sent } = await upload(workflow, file, name);
		expect(page.title).toBe('The file could not be read');
		expect(page.message).toContain(`${message} Nothing was paid for.`);
		expect(sent).toEqual([]);
	});
});
