import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type N8nLine, ROOT } from '../playground/versions';
import { LINE, N8N } from '../test/e2e/field';
import { describeSetting, markdownTable } from './report';

/** What was measured on a line of n8n, and when and where. */
interface Kept<Result> {
	result: Result;
	setting: string;
}

/** Results that take long to measure, one for each line of n8n, in a file of this folder. */
export class KeptResults<Result> {
	private readonly file: string;

	/** @param name of the file, without `.json` */
	constructor(name: string) {
		this.file = join(ROOT, `bench/${name}.json`);
	}

	/** A table of each line's result, below when and where it was measured. */
	tables(head: string[], rowsOf: (result: Result) => string[][]): string {
		return Object.values(this.read())
			.map(
				({ setting, result }) => `${setting}\n\n${markdownTable({ head, rows: rowsOf(result) })}`,
			)
			.join('\n\n');
	}

	/** Measures on the n8n that `N8N_VERSION` names, and keeps the result beside that of the other line. */
	async renew(measure: () => Promise<Result>): Promise<void> {
		const setting = describeSetting(N8N);
		const result = await measure();
		const all = { ...this.read(), [LINE]: { setting, result } };
		writeFileSync(this.file, `${JSON.stringify(all, null, '\t')}\n`);
	}

	private read(): Partial<Record<N8nLine, Kept<Result>>> {
		if (!existsSync(this.file)) return {};
		return JSON.parse(readFileSync(this.file, 'utf8')) as ReturnType<typeof this.read>;
	}
}
