import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

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

/** Reads an .xlsx file with openpyxl, which refuses what is not valid: Debian's package python3-openpyxl. */
export async function readWithOpenpyxl(file: Buffer): Promise<Record<string, ReadSheet>> {
	const running = promisify(execFile)('/usr/bin/python3', ['-W', 'ignore', '-c', READ]);
	running.child.stdin?.end(file);
	return JSON.parse((await running).stdout) as Record<string, ReadSheet>;
}
