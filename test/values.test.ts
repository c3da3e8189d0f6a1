import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { NodeResult } from './engine';
import { ADDRESSES, DOMAINS, NAMES, PROFILES } from './realLife';
import { useService } from './service';

const service = useService();
const { sandbox } = service;
const keepGoing = { onError: 'continueRegularOutput' } as const;

/** What a field gets, and what the service gets for it: several values, or none if it is refused. */
interface Example {
	given: string;
	sent: string[] | 'refused' | 'left out';
}

/** The examples of docs/values.md, by the name of their parameter. */
function examplesOf(parameter: string): Example[] {
	const page = readFileSync(join(__dirname, '../docs/values.md'), 'utf8');
	const tables = page.split(`<!-- ${parameter} -->`).slice(1);
	const rows = tables.flatMap((table) =>
		(/\n\n(\|[^]*?)\n\n/.exec(table)?.[1] ?? '').split('\n').slice(2),
	);
	return rows.map((row) => {
		const [, first = '', result = ''] = row.split(/(?<!\\)\|/);
		const [given = ''] = codeIn(first);
		const word = result.trim();
		if (word === 'refused' || word === 'left out') return { given, sent: word };
		return { given, sent: word === 'passes' ? [given] : codeIn(result) };
	});
}

/** The texts in code spans, with their escapes resolved. */
function codeIn(cell: string): string[] {
	return [...cell.matchAll(/`([^`]*)`/g)].map(([, code = '']) =>
		code
			.replace(/\\u([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
			.replaceAll('\\n', '\n')
			.replaceAll('\\t', '\t'),
	);
}

interface Way {
	operation: readonly [string, string];
	parameters: INodeParameters;
	/** The fields of the request, or of its filters, in which the service gets the value. */
	fields: string[];
}

const value = '={{ $json.value }}';
const person = { firstName: 'Ada', lastName: 'Sure', company: 'acme.com' };
const FIND = ['email', 'findBusiness'] as const;
const WAYS = {
	firstName: {
		operation: FIND,
		parameters: { ...person, firstName: value },
		fields: ['firstName'],
	},
	fullName: {
		operation: FIND,
		parameters: { fullName: value, company: 'acme.com' },
		fields: ['firstName', 'lastName'],
	},
	company: { operation: FIND, parameters: { ...person, company: value }, fields: ['company'] },
	linkedinUrl: {
		operation: FIND,
		parameters: { ...person, linkedinUrl: value },
		fields: ['linkedinUrl'],
	},
	email: { operation: ['email', 'verify'], parameters: { email: value }, fields: ['email'] },
	location: {
		operation: ['email', 'findPersonal'],
		parameters: { firstName: 'Ada', lastName: 'Sure', options: { location: value } },
		fields: ['location'],
	},
	jobTitles: {
		operation: ['scrape', 'start'],
		parameters: { filters: { jobTitles: value }, limit: 1 },
		fields: ['jobTitles'],
	},
} satisfies Record<string, Way>;

const NAMES_OF_WAYS = Object.keys(WAYS) as Array<keyof typeof WAYS>;

/** Runs the values as the items of one run, one after the other. */
async function send({ operation, parameters, fields }: Way, values: unknown[]) {
	const options = { ...(parameters.options as INodeParameters | undefined), parallel: 1 };
	const items = values.map((each) => ({ value: each as string }));
	const result = await service.run(operation, { ...parameters, options }, items, keepGoing);
	// The sandbox refuses some of what the service may know, such as addresses in other scripts.
	if (sandbox.requests.some(({ violation }) => violation)) service.expectViolations();
	const sent = sandbox.requests.map(({ body }) => {
		const { filters, ...others } = body as Record<string, string> & { filters?: object };
		const all = { ...others, ...filters } as Record<string, string | string[] | undefined>;
		return fields.flatMap((field) => all[field] ?? []);
	});
	const paid = sandbox.requests.filter((request) => request.paid).length;
	return { sent, paid, errors: errorFields(result), result };
}

/** For each item, the field that its error names. */
function errorFields({ items }: NodeResult) {
	return items.map(({ json }) => (json.error as IDataObject | undefined)?.field);
}

/** In an order of their own, those that differ only in case as one: lookups of them are one. */
function distinct(values: string[][]): string[] {
	return [...new Set(values.map((each) => JSON.stringify(each).toLowerCase()))].toSorted();
}

test.each(NAMES_OF_WAYS)('The examples of docs/values.md are true: %s', async (parameter) => {
	const way: Way = WAYS[parameter];
	const examples = examplesOf(parameter);
	expect(examples.length).toBeGreaterThan(3);
	const { sent, errors } = await send(
		way,
		examples.map(({ given }) => given),
	);

	const expected = examples.flatMap(({ sent: values }) =>
		values === 'refused' ? [] : [values === 'left out' ? [] : values],
	);
	if (parameter === 'jobTitles') expect(sent).toEqual(expected);
	expect(distinct(sent)).toEqual(distinct(expected));
	if (way.operation[0] === 'email') expect(sent).toHaveLength(distinct(expected).length);
	const wrong = examples.filter(
		({ sent: values }, index) => (values === 'refused') !== (errors[index] !== undefined),
	);
	expect(wrong).toEqual([]);
});

describe('Values of real files pass unchanged', () => {
	const lists: Array<[keyof typeof WAYS, string[]]> = [
		['firstName', NAMES],
		['email', ADDRESSES],
		['company', DOMAINS],
		['linkedinUrl', PROFILES],
	];

	test('there are 200 of them', () => {
		expect(new Set(lists.flatMap(([, values]) => values)).size).toBeGreaterThanOrEqual(200);
	});

	test.each(lists)('%s', async (parameter, values) => {
		const { sent, errors } = await send(WAYS[parameter], values);
		expect(values.filter((_, index) => errors[index] !== undefined)).toEqual([]);
		// Lookups that differ only in case are one.
		const first = new Map(values.toReversed().map((each) => [each.toLowerCase(), each]));
		expect(sent.flat().toSorted()).toEqual([...first.values()].toSorted());
	});
});

describe('What was paid for', () => {
	test('one address with invisible characters is paid for once', async () => {
		const marks = '\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u202a\u2063\ufe0f\u3164\u{e0020}';
		const addresses = ['', ...Array.from(marks)].map((mark) => `a${mark}da@acme.com`);
		const { sent, paid } = await send(WAYS.email, addresses);
		expect(sent).toEqual([['ada@acme.com']]);
		expect(paid).toBe(1);
	});

	test('a name of nothing but them is none', async () => {
		const names = ['\u200b', '\u200b\u3164', '\u2800', '\u00a0\u202f', '\u00ad\ufeff', '\u{e0001}'];
		const alone = { ...WAYS.firstName, parameters: { firstName: value, company: 'acme.com' } };
		const { result, paid } = await send(alone, names);
		expect(paid).toBe(0);
		expect(result.items.map(({ json }) => (json.error as IDataObject).message)).toEqual(
			names.map(() => 'First Name and Last Name are both empty'),
		);
	});

	test.each(NAMES_OF_WAYS)('nothing, for the slips of an expression: %s', async (parameter) => {
		const slips = ['undefined', 'null', 'NaN', '[object Object]', '{{ $json.x }}', 'J\ufffdrg'];
		const { paid, errors } = await send(WAYS[parameter], [...slips, { a: 1 }, true]);
		expect(sandbox.requests).toEqual([]);
		expect(paid).toBe(0);
		expect(errors).not.toContain(undefined);
	});

	test('a row with a placeholder for its profile is looked up without it, and a warning says so', async () => {
		const none = ['N/A', '-', 'n.a.', 'k.A.', 'none', '#N/A', 'NULL', '—'];
		const { sent, paid, errors, result } = await send(WAYS.linkedinUrl, none);
		expect(sent).toEqual([[]]);
		expect(paid).toBe(1);
		expect(errors).toEqual(none.map(() => undefined));
		const [task] = result.run.data.resultData.runData.LeadGen ?? [];
		expect(task?.hints?.map(({ message, type }) => [type, message])).toEqual([
			['warning', 'A LinkedIn URL that only says that there is none, such as "N/A", was left out.'],
			['info', '8 items: 8 found · 1 paid call (1 business lookup) · 7 remembered'],
		]);

		const alone = { ...WAYS.linkedinUrl, parameters: { firstName: 'Ada', linkedinUrl: value } };
		const refused = await send(alone, none);
		expect(refused.errors).toEqual(none.map(() => 'Company Domain'));
	});

	test('no agent starts a scrape of anybody with an empty list as text', async () => {
		const texts = ['[]', ' [ ] ', '[""]', '[null]', '["CTO","CEO"]', '["CTO"'];
		const result = await service.run(
			['scrape', 'start'],
			{ filters: { jobTitles: value, locations: '[]' }, limit: 1 },
			texts.map((text) => ({ value: text })),
			{ isTool: true, ...keepGoing },
		);
		expect(sandbox.jobs.map(({ filters }) => filters.jobTitles)).toEqual([['CTO', 'CEO']]);
		const none = ['Filters', 'Filters', 'Filters', 'Filters'];
		expect(errorFields(result)).toEqual([...none, undefined, 'Job Titles']);
	});

	test('an address of 300 characters', async () => {
		const long = `${'a'.repeat(50)}@${'acme.'.repeat(60)}com`;
		const { paid, errors } = await send(WAYS.email, [long, `${'a'.repeat(65)}@acme.com`]);
		expect([paid, ...errors]).toEqual([0, 'Email', 'Email']);
	});
});
