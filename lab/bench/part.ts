import { readSections, writeSection } from '../playground/page';
import { LINE, N8N } from '../fixture/fixture';
import { describeSetting, markdownTable } from './report';

export const PAGE = 'docs/measurements/benchmark.md';
/** Parts that the page does not have yet go before this one. */
export const MEMORY = '## Memory';

interface PartOptions<Row> {
	title: string;
	/** What is measured, in Markdown. */
	about: string;
	head: string[];
	measure: (say: (line: string) => void) => Promise<Row[]>;
	cellsOf: (row: Row) => string[];
}

/**
 * A section of the page that is measured alone, on the n8n that `N8N_VERSION` names. It has a table for each line of n8n, with
 * when and where that was measured.
 */
export class Part<Row> {
	readonly heading: string;

	constructor(private readonly options: PartOptions<Row>) {
		this.heading = `## ${options.title}`;
	}

	/** Measures, and replaces the table of this line of n8n. */
	async renew(): Promise<void> {
		const { about, head, measure, cellsOf } = this.options;
		const setting = describeSetting();
		const rows = (await measure(console.log)).map(cellsOf);
		const table = `${setting}\n\n${markdownTable({ head, rows })}\n`;
		const [before = ''] = await readSections(PAGE, [this.heading]);
		const tables = before.split(/^(?=Measured on )/m).slice(1);
		const others = tables.filter((each) => !each.includes(`, n8n ${LINE}.`));
		const sorted = N8N.line === '1' ? [table, ...others] : [...others, table];
		await writeSection(PAGE, this.heading, [this.heading, about, ...sorted].join('\n\n'), MEMORY);
	}
}
