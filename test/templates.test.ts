/** The Code nodes of the templates, with files as people have them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NAMES } from './realLife';
import { useService } from './service';
import { SpreadsheetTemplate } from './spreadsheet';

const service = useService({ plan: 'enterprise' });
const EXAMPLES = join(__dirname, '../examples');

describe('The template for spreadsheets', () => {
	const template = new SpreadsheetTemplate(service);

	/** The cells of a CSV file. */
	const rowsOf = async (csv: string | Buffer) => {
		const [item] = await template.look(csv);
		return (item?.json.sheets as Array<{ rows: string[][] }>)[0]?.rows;
	};

	describe('decodes', () => {
		const bytes = Array.from({ length: 256 }, (_, at) => at);
		const decoder = new TextDecoder('windows-1252');
		const windows1252 = new Map(bytes.map((byte) => [decoder.decode(Uint8Array.of(byte)), byte]));
		const encoded = (text: string, alphabet: Map<string, number>) =>
			Buffer.from(Array.from(text, (sign) => alphabet.get(sign) ?? sign.charCodeAt(0)));

		test('each name that Windows-1252 can hold', async () => {
			const isIn1252 = (name: string) => Array.from(name).every((sign) => windows1252.has(sign));
			const names = [...NAMES, 'Šárka', 'ŽELJKO ŠIMIC', 'MªJosé', 'NºCliente']
				.filter(isIn1252)
				.concat('Anne–Marie', 'Zoë Ÿsaÿe', 'L’Œuvre');
			expect(names.length).toBeGreaterThan(50);
			const csv = ['Name;Website', ...names.map((name) => `${name};acme.com`)].join('\r\n');
			const rows = names.map((name) => [name, 'acme.com']);
			expect(await rowsOf(encoded(csv, windows1252))).toEqual([['Name', 'Website'], ...rows]);
		});

		test.each<[string, string, Record<string, number>]>([
			['Mac', 'Müller', { ü: 0x9f }],
			['Mac', 'José', { é: 0x8e }],
			['Mac', 'Große', { ß: 0xa7 }],
			['Mac', 'François', { ç: 0x8d }],
			['MS-DOS', 'Müller', { ü: 0x81 }],
			['MS-DOS', 'Béatrice', { é: 0x82 }],
			['MS-DOS', 'Muñoz', { ñ: 0xa4 }],
		])('no letters of %s, as in %s', async (_, name, letter) => {
			const csv = `Name;Website\r\n${name};acme.com`;
			const file = encoded(csv, new Map(Object.entries(letter)));
			await expect(template.look(file)).rejects.toThrow(
				'The letters of this CSV file cannot be read. Save it as CSV UTF-8 or .xlsx.',
			);
		});

		test.each([
			[
				'many commas in a title',
				'Leads, Q3, 2026, all\n\nName;Web\nAda;a.com',
				'Leads, Q3, 2026, all||Name+Web|Ada+a.com',
			],
			[
				'commas in numbers',
				'Liste, alle\nName;Umsatz\nAda;1,5\nBob;2,5',
				'Liste, alle|Name+Umsatz|Ada+1,5|Bob+2,5',
			],
			[
				'semicolons in texts',
				'Name,Web,Tags\nAda,a.com,x;y;z\nBob,b.com,',
				'Name+Web+Tags|Ada+a.com+x;y;z|Bob+b.com+',
			],
			['commas in names', 'Name\tWeb\r\nSure, Ada\ta.com\r\n', 'Name+Web|Sure, Ada+a.com'],
			['bars', 'Name|Web\rAda|a.com\r', 'Name+Web|Ada+a.com'],
			['a line of Excel', 'sep=;\r\nName,a;Web\r\nAda,b;', 'Name,a+Web|Ada,b+'],
			['quotes', 'Name,Web\n"Sure, ""Ada""\nB.",a.com\n"",""', 'Name+Web|Sure, "Ada"\nB.+a.com|+'],
		])('a file with %s', async (_, csv, cells) => {
			expect((await rowsOf(csv))?.map((row) => row.join('+')).join('|')).toBe(cells);
		});

		test('no web page or XML file that is named .xls', async () => {
			const xml = '\ufeff\n<?xml version="1.0"?><Workbook/>';
			for (const file of ['<html><table></table></html>', xml]) {
				await expect(template.look(file)).rejects.toThrow(
					'This file contains a web page or XML, whatever its name says. Open it in Excel, and save it as .xlsx.',
				);
			}
		});
	});

	test.each([
		['', 'The file is empty.'],
		[';;\n;', 'The file has no rows.'],
		['Ada', 'The row that looks most like the names of the columns holds “Ada”.'],
		[
			'Name;Website\n"Ada Sure;acme.example\nBob Sure;acme.example',
			'A quotation mark in the file is not closed. Look for a text that begins with one and does not end with one.',
		],
	])('refuses the file “%s”', async (csv, message) => {
		await expect(template.upload(csv)).rejects.toThrow(message);
	});
});

describe.each(readdirSync(EXAMPLES))('%s', (file) => {
	const text = readFileSync(join(EXAMPLES, file), 'utf8');
	const { nodes, connections } = JSON.parse(text) as {
		nodes: Array<{ id: string; name: string; type: string; parameters: { path?: string } }>;
		connections: Record<string, Record<string, Array<Array<{ node: string }>>>>;
	};

	test('holds no URL of its own, so that it can be imported twice', () => {
		expect(text).not.toMatch(/webhookId|\/(webhook|form|mcp)[/-]/);
		expect(nodes.flatMap(({ parameters: { path } }) => path ?? [])).toEqual(
			nodes.filter(({ type }) => type.endsWith('.mcpTrigger')).map(() => ''),
		);
	});

	test('holds no credential but an empty one', () => {
		const ids = [...text.matchAll(/"credentials": \{\s*"\w+": \{\s*"id": (.+?),/g)];
		expect(ids.filter(([, id]) => id !== 'null')).toEqual([]);
	});

	test('connects and names nodes that are there, each with an ID and a name of its own', () => {
		const names = nodes.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
		expect(new Set(nodes.map(({ id }) => id)).size).toBe(names.length);
		const outputs = Object.values(connections).flatMap((kinds) => Object.values(kinds).flat(2));
		const called = [...text.matchAll(/\$\('(.+?)'\)/g)].map(([, name = '']) => name);
		const used = [...Object.keys(connections), ...outputs.map(({ node }) => node), ...called];
		expect(used.filter((name) => !names.includes(name))).toEqual([]);
	});
});
