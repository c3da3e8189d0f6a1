/** The template for spreadsheets, without the nodes of n8n's own: their part is to read and to write a file. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { useService } from './service';
import { Template, type Item } from './template';

export type Cell = string | number | boolean;

/** What came of a row. */
export interface RowResult {
	/** Where the row is in its sheet. */
	index: number;
	email?: string;
	paidCalls: number;
}

/** What comes of a file. */
export interface Upload {
	/** The title and the text of the last page. */
	page: { title: string; message: string };
	results: RowResult[];
	/** The cells of the new file by its sheets. */
	sheets: Record<string, Cell[][]>;
}

export class SpreadsheetTemplate extends Template {
	constructor(service: ReturnType<typeof useService>) {
		super('spreadsheet-to-verified-emails', service);
	}

	/** The people in a sheet. @param websites the second sheet of a file that comes back */
	async matchColumns(rows: Cell[][], websites: Cell[][] = []): Promise<Item[]> {
		return await this.code('Match the columns', [], this.file(rows, websites));
	}

	/**
	 * Runs the template.
	 * @param form other fields of the form
	 * @param options of both LeadGen nodes
	 */
	async upload(
		rows: Cell[][],
		{
			websites = [],
			form = {},
			options = {},
			run = {},
		}: {
			websites?: Cell[][];
			form?: IDataObject;
			options?: INodeParameters;
			run?: Parameters<Template['leadGen']>[3];
		} = {},
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
			// As "Always Output Data" does.
			const given = items.length > 0 ? items : [{ json: {} }];
			done[name] = await this.leadGen(name, given, options, run);
		};
		const people = await code('Match the columns');
		await leadGen(
			'Verify the addresses',
			people.filter(({ json }) => Boolean(json.email) && !json.status),
		);
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
}
