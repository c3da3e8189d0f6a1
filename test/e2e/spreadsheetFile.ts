import { execFileSync } from 'node:child_process';

/** Runs a script with Debian's Python, which has the package python3-openpyxl. @returns what it prints */
function python(script: string, input?: Buffer): Buffer {
	return execFileSync('/usr/bin/python3', ['-W', 'ignore', '-c', script], { input });
}

/** A sheet as a program reads it that is not n8n. */
export interface ReadSheet {
	/** The cells of each row with bars between them, without empty ones at the end. */
	rows: string[];
	freeze: string | null;
	filter: string | null;
	merged: string[];
}

const READ = `
import io, json, sys, openpyxl
book = openpyxl.load_workbook(io.BytesIO(sys.stdin.buffer.read()))
text = lambda cell: '' if cell is None else cell.isoformat() if hasattr(cell, 'isoformat') else str(cell)
line = lambda row: ' | '.join(map(text, row)).rstrip(' |')
print(json.dumps({sheet.title: {
	'rows': [line(row) for row in sheet.iter_rows(values_only=True)],
	'freeze': sheet.freeze_panes, 'filter': sheet.auto_filter.ref, 'merged': [str(each) for each in sheet.merged_cells.ranges],
} for sheet in book}))`;

/** Reads an .xlsx file with openpyxl, which refuses what is not valid. */
export function readWithOpenpyxl(file: Buffer): Record<string, ReadSheet> {
	return JSON.parse(python(READ, file).toString()) as Record<string, ReadSheet>;
}

/** What a Python script saves with `book.save(out)`. @param lines what it does with the workbook `book` */
export function writeWithOpenpyxl(...lines: string[]): Buffer {
	const script = [
		'import io, sys, openpyxl',
		'book, out = openpyxl.Workbook(), io.BytesIO()',
		...lines,
		'book.save(out)',
		'sys.stdout.buffer.write(out.getvalue())',
	];
	return python(script.join('\n'));
}
