import { cpus, loadavg, totalmem } from 'node:os';
import packageJson from '../../package.json';
import { LINE, N8N } from '../fixture/fixture';
import { readSection, writeSection } from '../playground/page';

export const PAGE = 'docs/measurements/benchmark.md';
/** Parts that the page does not have yet go before this one. */
export const LAST = '## What is measured, and what to keep in mind';

interface PartOptions<Row> {
	title: string;
	/** What is measured, in Markdown. */
	about: string;
	head: string[];
	measure: (say: (line: string) => void) => Promise<Row[]>;
	cellsOf: (row: Row) => string[];
}

/**
 * A section of the page, measured on the n8n that `N8N_VERSION` names. It has a table for each line of n8n, with when and
 * where that was measured.
 */
export class Part<Row> {
	constructor(private readonly options: PartOptions<Row>) {}

	/** Measures, and replaces the table of this line of n8n. */
	async renew(): Promise<void> {
		const { title, about, head, measure, cellsOf } = this.options;
		const heading = `## ${title}`;
		// Before the measurement puts load on the machine.
		const setting = describeSetting();
		const rows = (await measure(console.log)).map(cellsOf);
		const table = `${setting}\n\n${markdownTable(head, rows)}\n`;
		const before = (await readSection(PAGE, heading)) ?? '';
		const tables = before.split(/^(?=Measured on )/m).slice(1);
		const others = tables.filter((each) => !each.includes(`, n8n ${LINE}.`));
		const sorted = LINE === '1' ? [table, ...others] : [...others, table];
		await writeSection(PAGE, heading, [heading, about, ...sorted].join('\n\n'), LAST);
	}
}

/** When, on what machine, and which versions. */
function describeSetting(): string {
	const all = cpus();
	const parts = [
		`${String(all.length)} × ${all[0]?.model.trim() ?? 'unknown processor'}`,
		`${count(totalmem() / 2 ** 30)} GB`,
		`${process.platform} ${process.arch}`,
		`n8n ${N8N.version}`,
		`Node.js ${process.versions.node}`,
		`${packageJson.name} ${packageJson.version}`,
	];
	const date = new Date().toISOString().slice(0, 10);
	const load = (loadavg()[0] ?? 0).toFixed(1);
	return `Measured on ${date}: ${parts.join(', ')}; load average of the machine in the minute before: ${load}.`;
}

export function markdownTable(head: string[], rows: string[][]): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const align = head.map((_, index) => (index === 0 ? '---' : '---:'));
	return [head, align, ...rows].map(line).join('\n');
}

export function seconds(ms: number): string {
	return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

export function count(value: number): string {
	return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

export function times(ratio: number): string {
	return `${ratio.toFixed(2)} ×`;
}
