/**
 * The template for spreadsheets: its Code nodes, and its LeadGen nodes on n8n's engine. Files are here as n8n unzips
 * them, by the paths of their parts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { NodeRun } from './engine';
import type { useService } from './service';

export type Cell = string | number;
type Sheets = Record<string, Cell[][]>;
/** The parts of an .xlsx file by their paths. */
type Parts = Record<string, string>;

interface UploadOptions {
	/** Other fields of the form. */
	form?: IDataObject;
	credential?: NodeRun['credential'];
}

/** What comes of a file. */
export interface Upload {
	/** The title and the text of the last page. */
	page: { title: string; message: string };
	/** What came of each row, with its place in its sheet. */
	results: Array<{ index: number; email?: string }>;
	/** The file that comes back: a text, or the parts of an .xlsx file. */
	file: string | Parts;
	/** Its cells by its sheets, without empty ones at the ends of rows. */
	sheets: Sheets;
}

interface Item {
	json: IDataObject;
	binary?: Record<string, { directory?: string; fileName: string; data: Buffer }>;
}

interface TemplateNode {
	name: string;
	onError?: 'continueRegularOutput';
	parameters: INodeParameters & Record<'jsCode' | 'jsonOutput' | 'resource' | 'operation', string>;
}

type Code = (this: object, input: object, nodes: object) => Promise<Item[]>;

/** A workbook as Excel writes it, with a frozen header and a filter. What begins with `=` is a formula. */
export function workbook(sheets: Sheets): Parts {
	const names = Object.keys(sheets);
	const each = (write: (name: string, id: string) => string) =>
		names.map((name, at) => write(name, String(at + 1))).join('');
	const texts = [...new Set(Object.values(sheets).flat(2).map(String))];
	const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
	const cell = (value: Cell, place: string) => {
		if (typeof value === 'number') return `<c r="${place}"><v>${String(value)}</v></c>`;
		if (value.startsWith('=')) return `<c r="${place}"><f>${value.slice(1)}</f></c>`;
		return `<c r="${place}" t="s"><v>${String(texts.indexOf(value))}</v></c>`;
	};
	const row = (cells: Cell[], number: string) => {
		const written = cells.map((value, column) =>
			value === '' ? '' : cell(value, String.fromCharCode(65 + column) + number),
		);
		return `<row r="${number}" spans="1:${String(cells.length)}">${written.join('')}</row>`;
	};
	const sheet = (rows: Cell[][] = []) => {
		const lines = rows.map((cells, at) => row(cells, String(at + 1))).join('');
		return `<worksheet xmlns="main"><dimension ref="A1:B2"/><sheetViews/><sheetData>${lines}</sheetData><autoFilter ref="A1:B2"/></worksheet>`;
	};
	return {
		'[Content_Types].xml': `<Types>${each((_, id) => `<Override PartName="/xl/worksheets/sheet${id}.xml" ContentType="sheet"/>`)}</Types>`,
		'xl/workbook.xml': `<workbook><sheets>${each((name, id) => `<sheet name="${escaped(name)}" sheetId="${id}" r:id="rId${id}"/>`)}</sheets></workbook>`,
		'xl/_rels/workbook.xml.rels': `<Relationships>${each((_, id) => `<Relationship Id="rId${id}" Type="worksheet" Target="worksheets/sheet${id}.xml"/>`)}</Relationships>`,
		'xl/sharedStrings.xml': `<sst>${texts.map((text) => `<si><t>${escaped(text)}</t></si>`).join('')}</sst>`,
		...Object.fromEntries(
			names.map((name, at) => [`xl/worksheets/sheet${String(at + 1)}.xml`, sheet(sheets[name])]),
		),
	};
}

/** The item of a file, as the Compression node unzips it. */
function unzipped(file: Parts): Item {
	const parts = Object.entries(file).map(([path, xml], at) => {
		const [, directory = '', fileName = ''] = /^(?:(.*)\/)?(.*)$/.exec(path) ?? [];
		return [`file_${String(at)}`, { directory, fileName, data: Buffer.from(xml) }];
	});
	return { json: {}, binary: Object.fromEntries(parts) as Item['binary'] & object };
}

export class SpreadsheetTemplate {
	private readonly nodes: TemplateNode[];

	constructor(private readonly service: ReturnType<typeof useService>) {
		const file = join(__dirname, '../examples/spreadsheet-to-verified-emails.json');
		({ nodes: this.nodes } = JSON.parse(readFileSync(file, 'utf8')) as { nodes: TemplateNode[] });
	}

	/** What is known of a file before anything is looked up. */
	async look(file: string | Buffer): Promise<Item[]> {
		const binary = { File: { fileName: 'list.csv', data: Buffer.from(file) } };
		const trigger = { json: {}, binary };
		return await this.code('Look into the file', [trigger], { 'Upload a spreadsheet': [trigger] });
	}

	/** Runs the template. @param file a file, or the rows of the only sheet of one */
	async upload(
		file: string | Parts | Cell[][],
		{ form = {}, credential }: UploadOptions = {},
	): Promise<Upload> {
		const own = Array.isArray(file) ? workbook({ Rows: file }) : file;
		const done: Record<string, Item[]> = { 'Upload a spreadsheet': [{ json: form }] };
		const code = async (name: string, items: Item[] = []) =>
			(done[name] = await this.code(name, items, done));
		const leadGen = async (name: string, items: Item[]) => {
			done[name] = await this.leadGen(name, items, credential);
		};
		const isCsv = typeof own === 'string';
		done['Look into the file'] = isCsv ? await this.look(own) : [{ json: { kind: 'xlsx' } }];
		if (!isCsv) {
			done['Unzip the file'] = [unzipped(own)];
			await code('Read the sheets', [unzipped(own)]);
		}
		const words = JSON.parse(this.node('Words').parameters.jsonOutput) as IDataObject;
		const people = await code('Match the columns', [{ json: words }]);
		await leadGen('Check the websites', await code('Websites of the file'));
		const isOpen = ({ json }: Item) => Boolean(json.email) && !json.status;
		await leadGen('Verify the addresses', people.filter(isOpen));
		await leadGen('Find and verify email', await code('Rows to look up'));
		const results = await code('Result of each row');
		const [page] = await code('What happened');
		const [written] = await code('Write the new file', page ? [page] : []);
		const parts = Object.values(written?.binary ?? {}).map(
			({ fileName, data }) => [fileName, data.toString()] as const,
		);
		const back = isCsv ? (parts[0]?.[1] ?? '') : Object.fromEntries(parts);
		return {
			page: page?.json as unknown as Upload['page'],
			results: results.map(({ json }) => json as unknown as Upload['results'][number]),
			file: back,
			sheets: await this.cells(back),
		};
	}

	/** The cells of a file by its sheets. */
	private async cells(file: string | Parts): Promise<Sheets> {
		const [item] =
			typeof file === 'string'
				? await this.look(file)
				: await this.code('Read the sheets', [unzipped(file)]);
		const sheets = item?.json.sheets as Array<{ name: string; rows: Cell[][] }>;
		return Object.fromEntries(sheets.map(({ name, rows }) => [name, rows]));
	}

	/** Runs a Code node, with the items of those before it. */
	private async code(name: string, items: Item[], earlier: Record<string, Item[]> = {}) {
		const code = runInThisContext(
			`(async function ($input, $) {${this.node(name).parameters.jsCode}})`,
		) as Code;
		const of = (all: Item[]) => ({ all: () => all, first: () => all[0] });
		const nodes = (node: string) => ({
			...of(earlier[node] ?? []),
			params: this.node(node).parameters,
		});
		const helpers = {
			getBinaryDataBuffer: async (item: number, key: string) =>
				await Promise.resolve(items[item]?.binary?.[key]?.data),
			prepareBinaryData: (data: Buffer, fileName: string) => ({ data, fileName }),
		};
		return await code.call({ helpers }, of(items), nodes);
	}

	/** Runs a LeadGen node. */
	private async leadGen(name: string, items: Item[], credential?: NodeRun['credential']) {
		const { onError, parameters } = this.node(name);
		const { resource, operation, ...others } = parameters;
		// As "Always Output Data" does.
		const given = items.length > 0 ? items.map(({ json }) => json) : [{}];
		const run = { onError, credential };
		const { items: results } = await this.service.run([resource, operation], others, given, run);
		return results.map(({ json }) => ({ json }));
	}

	private node(name: string): TemplateNode {
		const found = this.nodes.find((node) => node.name === name);
		if (!found) throw new Error(`There is no node "${name}"`);
		return found;
	}
}
