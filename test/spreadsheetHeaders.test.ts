/** The template for spreadsheets with the headers of public exports: what it sends for each, and what it refuses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failure, success } from './given';
import { useService } from './service';
import { SpreadsheetTemplate, workbook } from './spreadsheet';

const service = useService({ plan: 'enterprise' });
const template = new SpreadsheetTemplate(service);

const [, ...blocks] = readFileSync(join(__dirname, 'spreadsheetHeaders.txt'), 'utf8')
	.trim()
	.split('\n\n');
const FILES = blocks.map((block) => {
	const [title = '', ...lines] = block.split('\n');
	const isExpected = (line: string) => /^[>!-] ?/.test(line);
	return {
		title,
		rows: lines.filter((line) => !isExpected(line)).map((line) => line.split(';')),
		expected: lines.filter(isExpected),
	};
});

test('There are headers of many exports', () => {
	expect(FILES.length).toBeGreaterThanOrEqual(155);
});

test.each(FILES)('$title', async ({ rows, expected }) => {
	// No address is good, and nobody is found.
	service.answerWith(({ path, body }) =>
		path === '/email/verify'
			? success({ ...(body as object), status: 'invalid', freeProvider: false })
			: failure('NOT_FOUND', 404),
	);
	const sent: string[] = [];
	const said: string[] = [];
	try {
		const { sheets } = await template.upload(workbook({ List: rows }));
		said.push(...(sheets.List ?? []).map((row) => row.join(' ')));
	} catch (error) {
		sent.push(`! ${(error as Error).message}`);
	}
	for (const { body } of service.sandbox.requests) {
		const { email, firstName, lastName, company, linkedinUrl } = body as Record<string, string>;
		const person = [firstName, lastName, company, linkedinUrl].map((part = '') => part);
		sent.push(`> ${email ?? person.join(' | ').replace(/[ |]+$/, '')}`.replace(/ {2}/g, ' '));
	}
	const [first = ''] = expected;
	if (first.startsWith('!')) {
		expect(sent).toEqual([expect.stringContaining(first.slice(2))]);
	} else if (first.startsWith('-')) {
		expect(sent).toEqual([]);
		expect(said.join('\n')).toContain(first.slice(2));
	} else expect(sent.toSorted()).toEqual(expected.toSorted());
});
