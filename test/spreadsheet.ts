/**
 * The template for spreadsheets: its Code nodes, and its LeadGen nodes on n8n's engine. Files are here as n8n unzips them,
 * by the paths of their parts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { NodeRun } from './engine';
import type { useService } from './service';

export type Cell = string | number | boolean;

/** What came of a row. */
export interface RowResult {
	/** Where the row is in its sheet. */
	index: number;
	email?: string;
}

interface UploadOptions {
	/** Of the second sheet of a file that comes back. */
	websites?: Cell[][];
	/** Other fields of the form. */
	form?: IDataObject;
	credential?: NodeRun['credential'];
}

/** The parts of an .xlsx file by their paths. */
export type Parts = Record<string, string>;

/** What comes of a file. */
export interface Upload {
	/** The title and the text of the last page. */
	page: { title: string; message: string };
	results: RowResult[];
	/** The file that comes back: a text, or the parts of an .xlsx file. */
	file: string | Parts;
	/** Its cells by its sheets, without empty ones at the ends of rows. */
	sheets: Record<string, Cell[][]>;
}

interface Binary {
	directory?: string;
	fileName: string;
	data: Buffer;
}

export interface Item {
	json: IDataObject;
	binary?: Record<string, Binary>;
}

interface TemplateNode {
	name: string;
	onError?: 'continueRegularOutput';
	parameters: INodeParameters & Record<'jsCode' | 'jsonOutput' | 'resource' | 'operation', string>;
}

type Code = (this: object, input: object, nodes: object) => Promise<Item[]>;

const prepareBinaryData = (data: Buffer, fileName: string): Binary => ({ data, fileName });

/** A workbook as Excel writes it, with a frozen header and a filter. */
export function workbook(sheets: Record<string, Cell[][]>): Parts {
	const names = Object.keys(sheets);
	const each = (write: (name: string, id: string) => string) =>
		names.map((name, at) => write(name, String(at + 1))).join('');
	const texts = [...new Set(Object.values(sheets).flat(2).map(String))];
	const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
	const cell = (value: Cell, row: number, column: number) => {
		const at = `r="${String.fromCharCode(65 + column)}${String(row + 1)}"`;
		if (value === '') return '';
		if (typeof value === 'number') return `<c ${at}><v>${String(value)}</v></c>`;
		return `<c ${at} t="s"><v>${String(texts.indexOf(String(value)))}</v></c>`;
	};
	const sheet = (rows: Cell[][]) => {
		const lines = rows.map((cells, row) => {
			const written = cells.map((value, column) => cell(value, row, column)).join('');
			return `<row r="${String(row + 1)}" spans="1:${String(cells.length)}">${written}</row>`;
		});
		return `<worksheet xmlns="main"><dimension ref="A1:B2"/><sheetViews/><sheetData>${lines.join('')}</sheetData><autoFilter ref="A1:B2"/></worksheet>`;
	};
	return {
		'[Content_Types].xml': `<Types>${each((_, id) => `<Override PartName="/xl/worksheets/sheet${id}.xml" ContentType="sheet"/>`)}</Types>`,
		'xl/workbook.xml': `<workbook><sheets>${each((name, id) => `<sheet name="${escaped(name)}" sheetId="${id}" r:id="rId${id}"/>`)}</sheets></workbook>`,
		'xl/_rels/workbook.xml.rels': `<Relationships>${each((_, id) => `<Relationship Id="rId${id}" Type="worksheet" Target="worksheets/sheet${id}.xml"/>`)}</Relationships>`,
		'xl/sharedStrings.xml': `<sst>${texts.map((text) => `<si><t>${escaped(text)}</t></si>`).join('')}</sst>`,
		...Object.fromEntries(
			Object.values(sheets).map((rows, at) => [
				`xl/worksheets/sheet${String(at + 1)}.xml`,
				sheet(rows),
			]),
		),
	};
}

export class SpreadsheetTemplate {
	private readonly nodes: TemplateNode[];

	constructor(private readonly service: ReturnType<typeof useService>) {
		const file = join(__dirname, '../examples/spreadsheet-to-verified-emails.json');
		({ nodes: this.nodes } = JSON.parse(readFileSync(file, 'utf8')) as { nodes: TemplateNode[] });
	}

	/** Runs a Code node, with the items of those before it. */
	async code(name: string, items: Item[], earlier: Record<string, Item[]> = {}): Promise<Item[]> {
		const code = runInThisContext(
			`(async function ($input, $) {${this.node(name).parameters.jsCode}})`,
		) as Code;
		const of = (all: Item[]) => ({ all: () => all, first: () => all[0] });
		const nodes = (node: string) => ({
			...of(earlier[node] ?? []),
			params: this.node(node).parameters,
		});
		const getBinaryDataBuffer = async (item: number, key: string) =>
			await Promise.resolve(items[item]?.binary?.[key]?.data);
		const helpers = { getBinaryDataBuffer, prepareBinaryData };
		return await code.call({ helpers }, of(items), nodes);
	}

	/** The items of the node Words. */
	get words(): Item[] {
		return [{ json: JSON.parse(this.node('Words').parameters.jsonOutput) as IDataObject }];
	}

	/** Runs a LeadGen node. */
	private async leadGen(
		name: string,
		items: Item[],
		credential?: NodeRun['credential'],
	): Promise<Item[]> {
		const { onError, parameters } = this.node(name);
		const { resource, operation, ...others } = parameters;
		// As "Always Output Data" does.
		const given = items.length > 0 ? items.map(({ json }) => json) : [{}];
		const run = { onError, credential };
		const { items: results } = await this.service.run([resource, operation], others, given, run);
		return results.map(({ json }) => ({ json }));
	}

	/** What is known of a file before anything is looked up. */
	async look(
		file: string | Buffer,
		fileName = 'list.csv',
		form: IDataObject = {},
	): Promise<Item[]> {
		const trigger = { json: form, binary: { File: { fileName, data: Buffer.from(file) } } };
		return await this.code('Look into the file', [trigger], { 'Upload a spreadsheet': [trigger] });
	}

	/** The cells of a file by its sheets. */
	async cells(file: string | Parts): Promise<Record<string, Cell[][]>> {
		const [item] = typeof file === 'string' ? await this.look(file) : await this.readSheets(file);
		const sheets = item?.json.sheets as Array<{ name: string; rows: Cell[][] }>;
		return Object.fromEntries(sheets.map(({ name, rows }) => [name, rows]));
	}

	/** Runs the template. */
	async upload(
		file: string | Parts | Cell[][],
		{ websites, form = {}, credential }: UploadOptions = {},
	): Promise<Upload> {
		const sheets = Array.isArray(file) && { Rows: file, ...(websites && { Websites: websites }) };
		const own = sheets ? workbook(sheets) : (file as string | Parts);
		const done: Record<string, Item[]> = { 'Upload a spreadsheet': [{ json: form }] };
		const code = async (name: string, items: Item[] = []) =>
			(done[name] = await this.code(name, items, done));
		const leadGen = async (name: string, items: Item[]) => {
			done[name] = await this.leadGen(name, items, credential);
		};
		const isCsv = typeof own === 'string';
		done['Look into the file'] = isCsv ? await this.look(own) : [{ json: { kind: 'xlsx' } }];
		if (!isCsv) {
			done['Unzip the file'] = [{ json: {}, binary: binaryOf(own) }];
			done['Read the sheets'] = await this.readSheets(own);
		}
		const people = await code('Match the columns', this.words);
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
			results: results.map(({ json }) => json as unknown as RowResult),
			file: back,
			sheets: await this.cells(back),
		};
	}

	private async readSheets(file: Parts): Promise<Item[]> {
		return await this.code('Read the sheets', [{ json: {}, binary: binaryOf(file) }]);
	}

	private node(name: string): TemplateNode {
		const found = this.nodes.find((node) => node.name === name);
		if (!found) throw new Error(`There is no node "${name}"`);
		return found;
	}
}

/** As the Compression node gives them. */
function binaryOf(file: Parts): Record<string, Binary> {
	return Object.fromEntries(
		Object.entries(file).map(([path, xml], at) => {
			const names = path.split('/');
			const fileName = names.pop() ?? '';
			return [
				`file_${String(at)}`,
				{ directory: names.join('/'), fileName, data: Buffer.from(xml) },
			];
		}),
	);
}
