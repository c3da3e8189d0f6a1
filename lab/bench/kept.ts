import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type N8nLine, ROOT } from '../playground/versions';
import { LINE, N8N } from '../fixture/fixture';
import { describeSetting, markdownTable } from './report';

interface PartOptions<Row> {
	title: string;
	/** What is measured, in Markdown. */
	about: string;
	head: string[];
	measure: (say: (line: string) => void) => Promise<Row[]>;
	cellsOf: (row: Row) => string[];
}

/**
 * A part of docs/measurements/benchmark.md that is measured alone, on the n8n that `N8N_VERSION` names. A file of this folder keeps
 * the last result of each line, with when and where it was measured.
 */
export class Part<Row> {
	private readonly file: string;
	readonly heading: string;

	/** @param name of the file, without `.json` */
	constructor(
		name: string,
		private readonly options: PartOptions<Row>,
	) {
		this.file = join(ROOT, `lab/bench/${name}.json`);
		this.heading = `## ${options.title}`;
	}

	report(): string {
		const { about, head, cellsOf } = this.options;
		const tables = Object.values(this.read()).map(
			({ setting, result }) =>
				`${setting}\n\n${markdownTable({ head, rows: result.map(cellsOf) })}\n`,
		);
		return [this.heading, about, ...tables].join('\n\n');
	}

	async renew(): Promise<void> {
		const setting = describeSetting(N8N);
		const result = await this.options.measure(console.log);
		const all = { ...this.read(), [LINE]: { setting, result } };
		writeFileSync(this.file, `${JSON.stringify(all, null, '\t')}\n`);
	}

	private read(): Partial<Record<N8nLine, { setting: string; result: Row[] }>> {
		if (!existsSync(this.file)) return {};
		return JSON.parse(readFileSync(this.file, 'utf8')) as ReturnType<typeof this.read>;
	}
}
