/** The Code nodes of the templates, with files as people have them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NAMES } from './fieldValues';
import { useService } from './service';
import { SpreadsheetTemplate } from './spreadsheet';

const service = useService({ plan: 'enterprise' });
const EXAMPLES = join(__dirname, '../examples');

describe('The template for spreadsheets', () => {
	const template = new SpreadsheetTemplate(service);
	const encoded = (text: string, letters: Map<string, number>) =>
		Buffer.from(Array.from(text, (letter) => letters.get(letter) ?? letter.charCodeAt(0)));

	/** The cells of a CSV file. */
	async function rowsOf(csv: string | Buffer) {
		const [item] = await template.look(csv);
		return (item?.json.sheets as Array<{ rows: string[][] }>)[0]?.rows;
	}

	test('reads each name that Windows-1252 can hold', async () => {
		const bytes = Array.from({ length: 256 }, (_, at) => at);
		const decoder = new TextDecoder('windows-1252');
		const letters = new Map(bytes.map((byte) => [decoder.decode(Uint8Array.of(byte)), byte]));
		const others = ['Šárka', 'ŽELJKO ŠIMIC', 'MªJosé', 'NºCliente', 'Anne–Marie', 'Zoë Ÿsaÿe'];
		const names = [...NAMES, ...others, 'L’Œuvre'].filter((name) =>
			Array.from(name).every((letter) => letters.has(letter)),
		);
		expect(names.length).toBeGreaterThan(50);
		const csv = ['Name;Website', ...names.map((name) => `${name};acme.com`)].join('\r\n');
		const rows = names.map((name) => [name, 'acme.com']);
		expect(await rowsOf(encoded(csv, letters))).toEqual([['Name', 'Website'], ...rows]);
	});

	test.each([
		['commas in a title', 'Q3, 26, all\n\nName;Web\nAda;a.com', 'Q3, 26, all||Name+Web|Ada+a.com'],
		['commas in numbers', 'List, all\nName;Sum\nAda;1,5', 'List, all|Name+Sum|Ada+1,5'],
		['semicolons', 'Name,Tags\nAda,x;y;z\nBob,', 'Name+Tags|Ada+x;y;z|Bob+'],
		['commas in names', 'Name\tWeb\r\nSure, Ada\ta.com\r\n', 'Name+Web|Sure, Ada+a.com'],
		['bars', 'Name|Web\rAda|a.com\r', 'Name+Web|Ada+a.com'],
		['a line of Excel', 'sep=;\r\nName,a;Web\r\nAda,b;', 'Name,a+Web|Ada,b+'],
		['quotes', 'Name,Web\n"Sure, ""Ada""\nB.",a.com\n"",""', 'Name+Web|Sure, "Ada"\nB.+a.com|+'],
	])('reads a file with %s', async (_, csv, cells) => {
		expect((await rowsOf(csv))?.map((row) => row.join('+')).join('|')).toBe(cells);
	});

	// Letters of Mac, and then of MS-DOS.
	test.each([
		['Müller', 'ü', 0x9f],
		['José', 'é', 0x8e],
		['Große', 'ß', 0xa7],
		['François', 'ç', 0x8d],
		['Müller', 'ü', 0x81],
		['Béatrice', 'é', 0x82],
		['Muñoz', 'ñ', 0xa4],
	])('refuses letters in another encoding: %s with %s as %d', async (name, letter, byte) => {
		const file = encoded(`Name;Website\r\n${name};acme.com`, new Map([[letter, byte]]));
		await expect(template.look(file)).rejects.toThrow(
			'The letters of this CSV file cannot be read. Save it as CSV UTF-8 or .xlsx.',
		);
	});

	const noTable =
		'This file contains a web page or XML, whatever its name says. Open it in Excel, and save it as .xlsx.';
	test.each([
		['', 'The file is empty.'],
		[';;\n;', 'The file has no rows.'],
		['Ada', 'The row that looks most like the names of the columns holds “Ada”.'],
		[
			'Name;Website\n"Ada Sure;acme.example\nBob Sure;acme.example',
			'A quotation mark in the file is not closed. Look for a text that begins with one and does not end with one.',
		],
		['<html><table></table></html>', noTable],
		['\ufeff\n<?xml version="1.0"?><Workbook/>', noTable],
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
