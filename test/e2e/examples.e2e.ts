import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Execution, StoredWorkflow, WorkflowContent } from '../../lab/playground/api';
import type { SettingsPatch } from '../../lab/sandbox/settings';
import { API_KEY, N8N, until } from '../../lab/fixture/fixture';
import { lastPage, sendForm } from './form';
import { readWithOpenpyxl } from './spreadsheetFile';
import { itemsOf, nodeOf, some, someText, startAtOnce, useN8n } from './n8n';

/** Templates, imported as they are and run on a real n8n. */
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

/** An item that says something. */
function said(words: RegExp): unknown {
	return some({ message: expect.stringMatching(words) as string });
}

/** The items of nodes, by their names. */
type Outputs = Record<string, unknown[]>;

function expectOutputs(executions: Execution[], expected: Outputs): void {
	const states = executions.map(({ status, error }) => error ?? status);
	expect(states).toEqual(executions.map(() => 'success'));
	const names = Object.keys(expected);
	const outputs = names.map((name) => [name, itemsOf(executions, name)]);
	expect(Object.fromEntries(outputs)).toEqual(expected);
}

describe(`n8n ${N8N.version}, the example`, () => {
	beforeEach(async () => {
		await fixture.reset();
	});

	test('find-and-verify says what is wrong with a bad row, and goes on with the others', async () => {
		const people = [
			{ firstName: 'Eva', lastName: 'Sure', company: 'acme.com' },
			{ firstName: 'Bob', lastName: 'High', company: 'Acme Inc' },
			{ firstName: '', lastName: '', company: 'acme.com' },
			{ firstName: 'Cem', lastName: 'Sure', company: 'acme.com' },
		];
		const { id } = await imported('find-and-verify', (content) => {
			nodeOf(content, 'People').parameters.jsonOutput = JSON.stringify({ people });
		});
		const noDomain = 'Company Domain must be a domain, but is "Acme Inc"';
		const noName = 'First Name and Last Name are both empty';
		expectOutputs([await fixture.api.runWorkflow(id)], {
			'Row for the CRM': [some({ name: 'Eva Sure' }), some({ name: 'Cem Sure' })],
			'Row without an email': [
				{ name: 'Bob High', company: 'Acme Inc', reason: noDomain },
				{ name: ' ', company: 'acme.com', reason: noName },
			],
		});
	});

	const found = { 'Say what it found': [said(/found 20 leads for 20 credits/)] };

	test('scrape-suspend-until-finished goes on soon, though n8n turned the notification away, which came before the answer to the start', async () => {
		fixture.sandbox.set({ job: { durationMs: 0 }, latencyMs: 500 });
		const { id } = await imported('scrape-suspend-until-finished', (content) => {
			nodeOf(content, 'Wait for the notification').parameters.resumeUnit = 'seconds';
		});
		expectOutputs([await fixture.api.runWorkflow(id)], found);
		const [job, ...others] = fixture.sandbox.jobs;
		expect(job?.notifications[0]?.status).not.toBe(200);
		expect(others).toEqual([]);
	});

	test('scrape-suspend-until-finished waits again while the scrape runs and after an outage, and tells one that failed', async () => {
		fixture.sandbox.set({ job: { durationMs: 3_600_000 } });
		const { id } = await imported('scrape-suspend-until-finished', (content) => {
			// In an outage, five tries take most of a minute.
			nodeOf(content, 'Look at the status').maxTries = 2;
		});
		const execution = String(await fixture.api.startWorkflow(id));
		const looksThenWaits = async (looks: number) => {
			await until(`look ${String(looks)}, and a wait`, async () => {
				// n8n 2.16 cannot show one that has just begun.
				const [listed] = await fixture.executions(id);
				if (listed?.status !== 'waiting') return false;
				const shown = await fixture.api.execution(execution);
				return shown.status === 'waiting' && itemsOf(shown, 'Look at the status').length === looks;
			});
		};
		await looksThenWaits(0);
		const scrapeId = String(fixture.sandbox.jobs[0]?.scrapeId);
		await fixture.sandbox.notify(scrapeId);
		await looksThenWaits(1);
		fixture.sandbox.set({ faults: [{ kind: 'status', status: 503, match: { path: '/status' } }] });
		await fixture.sandbox.notify(scrapeId);
		await looksThenWaits(2);
		fixture.sandbox.set({ faults: [] });
		fixture.sandbox.finish(scrapeId, 'failed');
		await fixture.sandbox.notify(scrapeId);
		expectOutputs([await fixture.api.finishedExecution(execution)], {
			'Say that it failed': [said(/failed. It had found/)],
			'Say what it found': [],
		});
		expect(fixture.starts).toBe(1);
	});

	test('credit-alert writes when the credits run low, and only then', async () => {
		const { id } = await imported('credit-alert');
		for (const [credits, alerts] of [
			[1000, []],
			[120, [said(/^Only 120 LeadGen credits are left on the plan pro/)]],
		] as const) {
			fixture.sandbox.set({ accounts: { [API_KEY]: { plan: 'pro', credits } } });
			const execution = await fixture.api.runWorkflow(id, 'Every morning');
			expectOutputs([execution], { 'Send the alert': [...alerts] });
		}
	});

	const email: unknown = expect.stringContaining('.example');
	test.each<[what: string, settings: SettingsPatch, outputs: Outputs]>([
		[
			'gives the leads if they are sent',
			{ notification: { shape: 'leads' } },
			{
				'Row for the CRM': new Array(20).fill({ name: someText, email, source: someText }),
				'Completed?': [],
			},
		],
		['says what a scrape found whose leads are not sent', {}, { ...found, 'Row for the CRM': [] }],
		[
			'says that a scrape failed',
			{ job: { outcome: 'failed' } },
			{ 'Say that it failed': [said(/failed. It had found 10 leads/)], 'Say what it found': [] },
		],
	])('trigger-start-scrape starts one scrape, and %s', async (_what, settings, outputs) => {
		fixture.sandbox.set(settings);
		const { id } = await imported('trigger-start-scrape', startAtOnce);
		await fixture.api.activateWorkflow(id);
		// A busy n8n may begin a second execution for the start, which sends nothing.
		await fixture.untilRuns(id, 1, 'When a scrape is finished');
		const all = await fixture.executions(id);
		expectOutputs(
			await Promise.all(all.map((one) => fixture.api.finishedExecution(one.id))),
			outputs,
		);
		expect(fixture.starts).toBe(1);
	});
});

describe(`n8n ${N8N.version}, the example spreadsheet-to-verified-emails`, () => {
	const ADDED = 'Email | Status | Confidence | Reason | Address that was not accepted';
	const NO_WEBSITE = 'no website: fill it in in the sheet Websites, and upload this file again';

	let workflow: StoredWorkflow;
	beforeAll(async () => {
		workflow = await imported('spreadsheet-to-verified-emails');
		await fixture.api.activateWorkflow(workflow.id);
	});
	beforeEach(() => {
		fixture.sandbox.reset({ rateLimit: { perMinute: Infinity } });
	});

	/** Uploads a file with the form, as a browser does. @returns the last page, and the file that it downloads */
	async function upload(content: string | Buffer, name = 'list.csv') {
		const file = new Blob([Uint8Array.from(Buffer.from(content))]);
		const html = await lastPage(await sendForm(fixture, workflow, file, name));
		const [, title] = /<h1>(.*?)<\/h1>/s.exec(html) ?? [];
		const [, message] = /<p[^>]*>(.*?)<\/p>/s.exec(html) ?? [];
		const [, encoded = '""'] = /JSON\.parse\(decodeURIComponent\("(.+?)"\)\)/.exec(html) ?? [];
		const files: unknown = JSON.parse(decodeURIComponent(encoded));
		const [{ fileName = '', data = '' } = {}] = [files].flat() as Array<{
			fileName?: string;
			data?: string | { data: number[] };
		}>;
		// As n8n keeps files in memory, or on the disk.
		const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : Buffer.from(data.data);
		return { title, message, fileName, file: bytes };
	}

	/** Uploads the file that came back: it stays as it is, and nothing of it is paid for again. */
	async function expectSameAgain({ file, fileName }: Awaited<ReturnType<typeof upload>>) {
		const { length } = fixture.sandbox.requests;
		const again = await upload(file, fileName);
		expect(fixture.sandbox.requests.slice(length)).toEqual([]);
		const read = fileName.endsWith('.xlsx') ? readWithOpenpyxl : String;
		expect(await read(again.file)).toEqual(await read(file));
	}

	test('gives a CSV file back under its own name', async () => {
		const uploaded = await upload('Name;Website\r\nJörg Sure;mueller.example', 'Köln 2026.csv');
		expect(uploaded).toMatchObject({
			title: 'Your emails are ready',
			message: expect.stringContaining('1 of 1 row with an email: 1 found.') as string,
			fileName: 'Köln 2026.csv',
		});
		expect(uploaded.file.toString()).toBe(
			'\ufeffName;Website;Email;Status;Confidence;Reason;Address that was not accepted\r\nJörg Sure;mueller.example;jorg.sure@mueller.example;valid;0.97;;\r\n',
		);
		await expectSameAgain(uploaded);
	});

	test('takes the Excel file of a trade fair, and gives its dates back as dates', async () => {
		const fair = readFileSync(join(__dirname, 'tradeFair.xlsx'));
		const uploaded = await upload(fair, 'fair.xlsx');
		expect(uploaded.fileName).toBe('fair.xlsx');
		const before = await readWithOpenpyxl(fair);
		const after = await readWithOpenpyxl(uploaded.file);
		expect(Object.keys(after)).toEqual([...Object.keys(before), 'Websites']);
		const [rows, ...others] = Object.values(after);
		expect(rows).toEqual([
			'',
			' | Fachmesse Muster 2026 – Ausstellerverzeichnis',
			' | Stand:  | 2026-11-03T00:00:00',
			'',
			' | Person |  |  | Unternehmen |  |  | Messe',
			` | Anrede | Vorname | Nachname | Firma/Unternehmen | Internet | E-Mail | Halle / Stand | Angemeldet am | Umsatz (Mio. €) | ${ADDED}`,
			' | Frau | Ada | Sure | Müller & Söhne GmbH | www.mueller.example | info@mueller.example | 3 / A12 | 2026-11-03T09:14:24 | 1.5 | ada.sure@mueller.example | valid | 0.97',
			' | Herr Dr. | Jörg | Sure | Bäcker AG |  | invalid.joerg@baecker.example | 3 / A14 | 2026-11-04T00:00:00 | 2 | jorg.sure@baecker.example | valid | 0.97 | in the file: invalid (the address does not accept mail)',
			' | Herr | Max | Nobody | Müller & Söhne GmbH | www.mueller.example | valid.max@mueller.example | 007 | 2026-11-05T00:00:00 |  | valid.max@mueller.example | valid',
			` | Frau | Eva | Sure | Schmidt KG |  |  | 4 / B1 |  | 3 |  | not looked up |  | ${NO_WEBSITE}`,
			` | Frau | Ida | Sure | schmidt kg |  | invalid.ida@gmail.com | 4 / B1 | 2026-11-06T12:00:00 | 3 |  | invalid |  | in the file: invalid (the address does not accept mail), ${NO_WEBSITE}`,
			' | Halle 5',
			' | Herr | Uwe |  | Weber OHG | weber.example |  | 5 / C1 | 2026-11-07T00:00:00 | 0 |  | not looked up |  | only a first name',
		]);
		expect(others).toEqual([
			...Object.values(before).slice(1),
			['Company | Website', 'Schmidt KG'],
		]);
		await expectSameAgain(uploaded);
	});

	test('says on the page if the file is no spreadsheet', async () => {
		const page = await upload('PK\u0003\u0004');
		expect(page.title).toBe('The file could not be read');
		expect(page.message).toContain('invalid zip data. Nothing was paid for.');
		expect(fixture.sandbox.requests).toEqual([]);
	});
});
