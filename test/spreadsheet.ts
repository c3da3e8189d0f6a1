/** The template for spreadsheets: its Code nodes, and its LeadGen nodes on n8n's engine. Nothing reads or writes a file. */
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
	websites?: Cell[][];
	form?: IDataObject;
	credential?: NodeRun['credential'];
}

/** What comes of a file. */
export interface Upload {
	/** The title and the text of the last page. */
	page: { title: string; message: string };
	results: RowResult[];
	/** The cells of the new file by its sheets. */
	sheets: Record<string, Cell[][]>;
}

export interface Item {
	json: IDataObject;
	binary?: object;
}

interface TemplateNode {
	name: string;
	onError?: 'continueRegularOutput';
	parameters: INodeParameters & Record<'jsCode' | 'resource' | 'operation', string>;
}

type Code = (this: object, input: object, nodes: object) => Promise<Item[]>;

export class SpreadsheetTemplate {
	private readonly nodes: TemplateNode[];

	constructor(private readonly service: ReturnType<typeof useService>) {
		const file = join(__dirname, '../examples/spreadsheet-to-verified-emails.json');
		({ nodes: this.nodes } = JSON.parse(readFileSync(file, 'utf8')) as { nodes: TemplateNode[] });
	}

	/** Runs a Code node, with the items of those before it. */
	async code(
		name: string,
		items: Item[],
		earlier: Record<string, Item[]> = {},
		helpers: object = {},
	): Promise<Item[]> {
		const code = runInThisContext(
			`(async function ($input, $) {${this.node(name).parameters.jsCode}})`,
		) as Code;
		const of = (all: Item[]) => ({ all: () => all, first: () => all[0] });
		const nodes = (node: string) => ({
			...of(earlier[node] ?? []),
			params: this.node(node).parameters,
		});
		return await code.call({ helpers }, of(items), nodes);
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
		return (await this.service.run([resource, operation], others, given, run)).items;
	}

	/** The people in a sheet. @param websites the second sheet of a file that comes back */
	async matchColumns(rows: Cell[][], websites: Cell[][] = []): Promise<Item[]> {
		return await this.code('Match the columns', [], this.file(rows, websites));
	}

	/** Runs the template. @param form other fields of the form */
	async upload(
		rows: Cell[][],
		{ websites = [], form = {}, credential }: UploadOptions = {},
	): Promise<Upload> {
		const done: Record<string, Item[]> = {
			...this.file(rows, websites),
			'Upload a spreadsheet': [{ json: form }],
		};
		const code = async (name: string) => {
			done[name] = await this.code(name, [], done);
			return done[name];
		};
		const leadGen = async (name: string, items: Item[]) => {
			done[name] = await this.leadGen(name, items, credential);
		};
		const people = await code('Match the columns');
		const isOpen = ({ json }: Item) => Boolean(json.email) && !json.status;
		await leadGen('Verify the addresses', people.filter(isOpen));
		await leadGen('Find and verify email', await code('Rows to look up'));
		const results = await code('Result of each row');
		const [page] = await code('What happened');
		const sheets = await code('Sheets of the new file');
		return {
			page: page?.json as unknown as Upload['page'],
			results: results.map(({ json }) => json as unknown as RowResult),
			sheets: Object.fromEntries(
				sheets.map(({ json }) => [json.name as string, json.rows as Cell[][]]),
			),
		};
	}

	private file(rows: Cell[][], websites: Cell[][]): Record<string, Item[]> {
		const read = (sheet: Cell[][]) => sheet.map((row) => ({ json: { row } }));
		return {
			'Read the rows': read(rows),
			'Read the websites': read(websites),
			'Formats of the cells': [{ json: {} }],
		};
	}

	private node(name: string): TemplateNode {
		const found = this.nodes.find((node) => node.name === name);
		if (!found) throw new Error(`There is no node "${name}"`);
		return found;
	}
}
