/** The template for spreadsheets, with files as people have them: what it sends for each, and what it pays. */
import { post, type Call } from './given';
import { useService } from './service';
import { SpreadsheetTemplate, workbook, type Cell, type Upload } from './spreadsheet';

const service = useService({ plan: 'enterprise' });
const template = new SpreadsheetTemplate(service);

/** The rows of a sheet. @param lines its cells, with semicolons between them */
const sheet = (...lines: string[]): Cell[][] => lines.map((line) => line.split(';'));
const find = (firstName: string, lastName: string, company: string): Call =>
	post('/email/find', { firstName, lastName, company });
/** A row as the line of a CSV file, without empty cells at its end. */
const lineOf = (cells: Cell[]) => cells.join(';').replace(/;+$/, '');
const verify = (email: string): Call => post('/email/verify', { email });

const PROFILE = 'https://www.linkedin.com/in/ada';

describe('takes as the header', () => {
	const row = 'Ada;Nobody;Acme;acme.com';
	const header = 'Vorname;Nachname;Firma;Webseite';
	const notes = ['Messe Köln 2026;;;', ';;;', 'Stand: 1.2.2026;Firma: alle;;'];

	test.each([
		['a row below notes', [...notes, header, row]],
		['a row that is repeated', [header, ';;;', header, row]],
		['the last of 20 rows', [...new Array<string>(19).fill('Notiz;;;'), header, row]],
	])('%s', async (_, lines) => {
		const { sheets } = await template.upload(sheet(...lines));
		service.expectCalls([find('Ada', 'Nobody', 'acme.com')]);
		// Nothing above the header or between the rows is lost.
		const back = sheets.Rows?.map((cells) => lineOf(cells.slice(0, 4)));
		expect(back).toEqual(sheet(...lines).map(lineOf));
	});
});

/** What each row of an upload has in the new columns. */
function table({ sheets, results }: Upload): string[] {
	const rows = Object.values(sheets)[0] ?? [];
	const { length } = rows.find((row) => row.includes('Reason')) ?? [];
	return results.map(({ index }) =>
		Array.from({ length }, (_, at) => rows[index]?.[at] ?? '')
			.slice(-5)
			.join(' | '),
	);
}

const NO_MAIL = 'the address does not accept mail';
const ACCEPTS_ALL = 'the domain accepts all mail, so nobody can check the address';

test('verifies the addresses of a list from Apollo first, and searches only for those that are bad', async () => {
	const header =
		'First Name;Last Name;Title;Company Name;Company Name for Emails;Email;Email Status;Primary Email Source;Email Confidence;Contact Owner;Work Direct Phone;# Employees;Industry;Person Linkedin Url;Website;Company Linkedin Url;City;Company Address;Company Phone;Secondary Email';
	const line = (name: string, email: string, website: string, profile = '') =>
		`${name.replace(' ', ';')};CTO;Acme, Inc.;Acme;${email};Verified;Apollo;0.9;bob@boss.com;0171;50;IT;${profile};${website};https://www.linkedin.com/company/acme;Köln;Street 1;0221;old@acme.com`;
	const upload = await template.upload([
		header.split(';'),
		...[
			line('Ann Good', 'valid.ann@acme.com', 'https://www.acme.com'),
			line('Cem Sure', 'invalid.cem@acme.com', 'https://www.acme.com'),
			line('Dee Sure', 'invalid.dee@beta.com', ''),
			line('Eve Sure', 'catchall.eve@gamma.com', ''),
			line('Fay Sure', 'catchall.fay@old.com', 'acme.com'),
			line('Gil Sure', 'invalid.gil@gmail.com', ''),
			line('Ida Sure', 'info@delta.com', ''),
			line('Jan Sure', 'unavailable', 'acme.com'),
			line('Kim Nobody', 'invalid.kim@gmail.com', '', PROFILE),
			line('Ann Good', 'valid.ann@acme.com', 'https://www.acme.com'),
		].map((text) => text.split(';')),
	]);
	expect(table(upload)).toEqual([
		'valid.ann@acme.com | valid |  |  | ',
		`cem.sure@acme.com | valid | 0.97 | in the file: invalid (${NO_MAIL}) | `,
		`dee.sure@beta.com | valid | 0.97 | in the file: invalid (${NO_MAIL}) | `,
		` | catch_all |  | in the file: catch_all (${ACCEPTS_ALL}) | `,
		`fay.sure@acme.com | valid | 0.97 | in the file: catch_all (${ACCEPTS_ALL}) | `,
		` | invalid |  | in the file: invalid (${NO_MAIL}), no website: fill it in in the sheet Websites, and upload this file again | `,
		'ida.sure@delta.com | valid | 0.97 |  | ',
		'jan.sure@acme.com | valid | 0.97 |  | ',
		` | not found |  | in the file: invalid (${NO_MAIL}), business: not found | `,
		'valid.ann@acme.com | valid |  |  | ',
	]);
	service.expectCalls([
		...['valid.ann', 'invalid.cem'].map((name) => verify(`${name}@acme.com`)),
		...['invalid.gil', 'invalid.kim'].map((name) => verify(`${name}@gmail.com`)),
		...['invalid.dee@beta.com', 'catchall.eve@gamma.com', 'catchall.fay@old.com'].map(verify),
		...['Cem', 'Fay', 'Jan'].map((name) => find(name, 'Sure', 'acme.com')),
		find('Dee', 'Sure', 'beta.com'),
		find('Ida', 'Sure', 'delta.com'),
		post('/email/find', { firstName: 'Kim', lastName: 'Nobody', linkedinUrl: PROFILE }),
		...['cem.sure', 'fay.sure', 'jan.sure'].map((name) => verify(`${name}@acme.com`)),
		verify('dee.sure@beta.com'),
		verify('ida.sure@delta.com'),
	]);
	expect(upload.page).toEqual({
		title: 'Your emails are ready',
		message: [
			'7 of 10 rows with an email: 2 in your file, 5 found. This took 18 paid calls.',
			[
				'Without an email:',
				'1 × the address cannot be verified',
				'1 × no website',
				'1 × nobody was found',
			].join('\n'),
			'The website of a company is missing. Fill it in once, in the sheet Websites of the file that you get now, and upload the file again.',
			'The download starts by itself. The column Reason says more about each row.',
		].join('\n\n'),
	});
	expect(upload.sheets.Websites).toEqual([['Company', 'Website'], ['Acme, Inc.']]);
});

const FILE = sheet(
	'Vorname;Nachname;Firma;Webseite;E-Mail',
	'Ann;Sure;Acme;acme.com;',
	'Ben;Sure;Beta AG;;',
	'Cem;Sure;beta ag;;',
	'Dee;Nobody;Acme;acme.com;',
	'Eve;Sure;Acme;;valid.eve@acme.com',
	'Fay;;Acme;acme.com;',
);

test('pays for nothing again when a file comes back with the websites of its companies', async () => {
	const first = await template.upload(FILE);
	expect(table(first)).toEqual([
		'ann.sure@acme.com | valid | 0.97 |  | ',
		' | not looked up |  | no website: fill it in in the sheet Websites, and upload this file again | ',
		' | not looked up |  | no website: fill it in in the sheet Websites, and upload this file again | ',
		' | not found |  | business: not found | ',
		'valid.eve@acme.com | valid |  |  | ',
		' | not looked up |  | only a first name | ',
	]);
	expect(first.sheets.Websites).toEqual([['Company', 'Website'], ['Beta AG']]);

	// Another account remembers nothing.
	const credential = { apiKey: 'another' };
	service.sandbox.reset({ accounts: { another: { plan: 'enterprise', credits: 100 } } });
	const websites = sheet('Company;Website', 'Beta AG;https://www.beta.com/');
	const filledIn = workbook({ Rows: first.sheets.Rows ?? [], Websites: websites });
	const second = await template.upload(filledIn, { credential });
	service.expectCalls(
		['Ben', 'Cem'].map((name) => find(name, 'Sure', 'beta.com')),
		'/email/find',
	);
	expect(table(second)).toEqual([
		'ann.sure@acme.com | valid | 0.97 |  | ',
		'ben.sure@beta.com | valid | 0.97 |  | ',
		'cem.sure@beta.com | valid | 0.97 |  | ',
		' | not found |  | business: not found | ',
		'valid.eve@acme.com | valid |  |  | ',
		' | not looked up |  | only a first name | ',
	]);
	expect(second.sheets.Rows?.[0]).toEqual(first.sheets.Rows?.[0]);
	// It stays for the next time.
	expect(second.sheets.Websites).toEqual(websites);
	expect(second.page.message).toContain('4 of 6 rows with an email: 2 found, 2 from before.');
	expect(second.page.message).toContain(
		'Without an email:\n1 × done before\n1 × only a first name',
	);
});

test('sends no call again that may have been paid for, and verifies what was bought', async () => {
	const lost = (bodyIncludes: string, path: string) =>
		({ kind: 'resetAfterWork', match: { path, bodyIncludes } }) as const;
	service.sandbox.set({
		faults: [
			lost('lost.com', '/email/find'),
			lost('eve', '/email/verify'),
			{
				kind: 'envelope',
				code: 'INSUFFICIENT_CREDITS',
				status: 402,
				match: { path: '/email/verify', bodyIncludes: 'ann' },
			},
		],
	});
	const first = await template.upload([
		['Name', 'Website', 'Email'],
		['Ann Sure', 'ann.com', ''],
		['Ben Sure', 'lost.com', ''],
		['Eve Sure', 'acme.com', 'valid.eve@acme.com'],
	]);
	expect(table(first).map((row) => row.split(' | ')[1])).toEqual([
		'not verified',
		'unclear',
		'unclear',
	]);
	const before = service.sandbox.requests.length;
	service.sandbox.set({ faults: [] });
	const second = await template.upload(first.sheets.Rows ?? []);
	expect(service.sandbox.requests.slice(before).map(({ path, body }) => [path, body])).toEqual([
		['/email/verify', { email: 'ann.sure@ann.com' }],
	]);
	expect(second.results.map(({ email = '' }) => email)).toEqual(['ann.sure@ann.com', '', '']);
});

test('takes no address that several people share for that of a person', async () => {
	const shared =
		'info contact office hello mail post admin support sales team hr jobs press media legal billing accounting finance orders booking reservations reception enquiries customer.service no-reply webmaster marketing careers help info.berlin sales-emea info2 kontakt vertrieb verwaltung buchhaltung bewerbung empfang zentrale kundenservice einkauf sekretariat presse datenschutz comercial ventas administracion facturacion pedidos compras recepcion atencion.cliente accueil commercial direction compta secretariat achats segreteria amministrazione commerciale ordini ufficio vendite comercial vendas contato geral financeiro administratie verkoop inkoop biuro sprzedaz salg postmottak firma acme'.split(
			' ',
		);
	await template.upload(
		shared.map((local) => ['Ada Nobody', `${local}@acme.com`]).toSpliced(0, 0, ['Name', 'Email']),
	);
	service.expectCalls([find('Ada', 'Nobody', 'acme.com')]);
	const own = [
		'valid.post@acme.com',
		'valid.hr@acme.com',
		'valid@acme.de',
		'marketa.novak@acme.com',
		'postma@acme.com',
	];
	await template.upload([['Name', 'Email'], ...own.map((email) => ['Jan Sales', email])]);
	service.expectCalls(own.map(verify), '/email/verify');
});

test('sends nothing in a dry run that the form asks for, and leaves the rows for the real run', async () => {
	const { page, sheets } = await template.upload(FILE, { form: { 'Dry run': 'Send nothing' } });
	service.expectCalls([]);
	expect(page.title).toBe('Dry run: nothing was paid for');
	expect(page.message).toContain(
		'3 of 6 rows can be looked up. This takes 3 paid calls, and up to 4 more, depending on the answers.\n\nThe others:\n2 × no website\n1 × only a first name\n\nThe website of a company is missing.',
	);
	expect(sheets.Rows?.map((cells) => lineOf(cells.slice(0, 5)))).toEqual(FILE.map(lineOf));
	const real = await template.upload(sheets.Rows ?? []);
	expect(real.page.message).toMatch(/^2 of 6 rows with an email/);
});

test('takes the sheet with the people, and keeps all else of the workbook', async () => {
	const book = workbook({
		'Read me': [['Export of 1.2.2026'], ['=1+1']],
		'Leads & more': sheet('Name;Website;Since', 'Una Sure;a.com;2026-02-01', 'Ben Sure;;=2*3'),
		Empty: [],
	});
	const { file, sheets } = await template.upload(book);
	expect(sheets['Leads & more']).toEqual([
		[
			...['Name', 'Website', 'Since'],
			...['Email', 'Status', 'Confidence', 'Reason', 'Address that was not accepted'],
		],
		['Una Sure', 'a.com', '2026-02-01', 'una.sure@a.com', 'valid', 0.97],
		['Ben Sure', '', '', '', 'not looked up', '', 'no website: add it to the file'],
	]);
	const path = 'xl/worksheets/sheet2.xml';
	const { [path]: xml = '', ...others } = file as Record<string, string>;
	const withoutCells = (text = '') => text.replace(/<dimension.*?>|<sheetData>.*<.sheetData>/g, '');
	expect({ ...others, [path]: withoutCells(xml) }).toEqual({
		...book,
		[path]: withoutCells(book[path]),
	});
	expect(xml).toContain('<c r="C3"><f>2*3</f></c>');
});

test('gives back all that a CSV file of a European Excel holds', async () => {
	const csv = [
		'Vorname;Name;Firma;Webseite;Email;Notiz;',
		'Jörg;Sure;"Müller, Söhne GmbH";https://www.mueller.example/team;info@mueller.example;"Messe ""Köln"", 5 €"',
		';;;;;;',
		'Prof. Dr. Šárka;O’Sure, MBA;Škoda;skoda.example;;=1+1;mehr',
		'jörg;SURE;Müller;mueller.example;;007',
		';Invalid van der Berg;Acme;acme.example;;"zwei, drei; vier"',
		'Ada;Sure;"Beta, Inc.";none;;nur Firma',
		' ;;; ;;',
		';;;;;Summe: 6',
	].join('\r\n');
	const { file, page } = await template.upload(csv);
	expect((file as string).split('\r\n')).toEqual([
		'\ufeffVorname;Name;Firma;Webseite;Email;Notiz;;Email 2;Status;Confidence;Reason;Address that was not accepted',
		'Jörg;Sure;Müller, Söhne GmbH;https://www.mueller.example/team;info@mueller.example;"Messe ""Köln"", 5 €";;jorg.sure@mueller.example;valid;0.97;;',
		';;;;;;',
		'Prof. Dr. Šárka;O’Sure, MBA;Škoda;skoda.example;;=1+1;mehr;sarka.osure@skoda.example;valid;0.97;;',
		'jörg;SURE;Müller;mueller.example;;007;;jorg.sure@mueller.example;valid;0.97;;',
		`;Invalid van der Berg;Acme;acme.example;;"zwei, drei; vier";;;not found;;business: invalid (${NO_MAIL});invalid.vanderberg@acme.example`,
		'Ada;Sure;Beta, Inc.;none;;nur Firma;;;not looked up;;no website: enter it in one row of the company, in a column Website, and upload this file again;',
		' ;;; ;;',
		';;;;;Summe: 6',
		'',
	]);
	expect(page.message).toContain('3 of 5 rows with an email: 3 found. This took 6 paid calls.');
});

test('says what the maximum of the form left, and goes on with the file that came back', async () => {
	const form = { 'At most this many paid calls': 3 };
	const rows = [
		'Name;Website;Email',
		'Ann Sure;a.com;valid.ann@a.com',
		'Ben Sure;b.com',
		'Cem Sure;c.com',
	];
	const first = await template.upload(sheet(...rows), { form });
	expect(service.sandbox.requests).toHaveLength(3);
	expect(first.page.title).toBe('The maximum of paid calls was reached');
	expect(first.page.message).toContain('2 of 3 rows with an email: 1 in your file, 1 found.');
	expect(first.page.message).toContain('To go on, upload the file that you get now.');
	const second = await template.upload(first.sheets.Rows ?? []);
	expect(service.sandbox.requests).toHaveLength(5);
	expect(second.page.message).toContain('3 of 3 rows with an email');
});

describe('says on the last page', () => {
	const refused =
		'0 of 6 rows with an email. This took 0 paid calls.\n\nWithout an email:\n3 × The service says: Invalid or missing API key (UNAUTHORIZED)\n';
	const correct = 'Correct the key in the LeadGen credential, and upload your file again.';
	const goOn = 'upload the file that you get now. It goes on where it ended.';
	const ada = sheet('Name;Website', 'Ada Nobody;acme.com');

	test.each<[string, Cell[][], apiKey: string, string[]]>([
		['The service refused the API key', FILE, 'wrong', [refused, correct]],
		['The credits ran out', FILE, 'poor', ['1 of 6 rows with an email: 1 in your file.', goOn]],
		['No email was found', ada, 'poor', ['Without an email:\n1 × nobody was found']],
	])('%s', async (title, rows, apiKey, words) => {
		service.sandbox.set({ accounts: { poor: { plan: 'enterprise', credits: 1 } } });
		const { page } = await template.upload(rows, { credential: { apiKey } });
		expect(page.title).toBe(title);
		for (const each of words) expect(page.message).toContain(each);
	});
});
