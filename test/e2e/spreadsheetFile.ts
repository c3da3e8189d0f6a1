import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const READ = `
import io, json, sys, openpyxl
book = openpyxl.load_workbook(io.BytesIO(sys.stdin.buffer.read()))
text = lambda cell: '' if cell is None else cell.isoformat() if hasattr(cell, 'isoformat') else str(cell)
line = lambda row: ' | '.join(map(text, row)).rstrip(' |')
print(json.dumps({sheet.title: [line(row) for row in sheet.iter_rows(values_only=True)] for sheet in book}))`;

/**
 * Reads an .xlsx file with openpyxl (Debian's package python3-openpyxl), which refuses what is not valid.
 * @returns the rows by their sheets, with bars between the cells, without empty ones at the end
 */
export async function readWithOpenpyxl(file: Buffer): Promise<Record<string, string[]>> {
	const running = promisify(execFile)('/usr/bin/python3', ['-W', 'ignore', '-c', READ]);
	running.child.stdin?.end(file);
	return JSON.parse((await running).stdout) as Record<string, string[]>;
}
