/** The cells of a row, by the headings of their columns. */
export type Row = Record<string, string | number>;

/** A table in Markdown, for docs/measurements. All rows have the columns of the first one. */
export function markdownTable(rows: Row[]): string {
	const heads = Object.keys(rows[0] ?? {});
	const line = (cells: Array<string | number | undefined>) => `| ${cells.join(' | ')} |`;
	return [
		line(heads),
		line(heads.map(() => '---')),
		...rows.map((row) => line(heads.map((head) => row[head]))),
	].join('\n');
}
