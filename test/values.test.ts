import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
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

type Body = Record<string, string | undefined> & { filters?: { jobTitles?: string[] } };

interface Way {
	operation: readonly [string, string];
	parameters: INodeParameters;
	/** What the service got for the field. */
	read: (body: Body) => Array<string | undefined>;
}

const value = '={{ $json.value }}';
const FIND = ['email', 'findBusiness'] as const;
const WAYS = {
	firstName: {
		operation: FIND,
		parameters: { firstName: value, lastName: 'Sure', company: 'acme.com' },
		read: ({ firstName }: Body) => [firstName],
	},
	fullName: {
		operation: FIND,
		parameters: { fullName: value, company: 'acme.com' },
		read: ({ firstName, lastName }: Body) =>
			[firstName, lastName].filter((name) => name !== undefined),
	},
	company: {
		operation: FIND,
		parameters: { firstName: 'Ada', lastName: 'Sure', company: value },
		read: ({ company }: Body) => [company],
	},
	linkedinUrl: {
		operation: FIND,
		parameters: { firstName: 'Ada', lastName: 'Sure', company: 'acme.com', linkedinUrl: value },
		read: ({ linkedinUrl }: Body) => [linkedinUrl].filter((url) => url !== undefined),
	},
	email: {
		operation: ['email', 'verify'],
		parameters: { email: value },
		read: ({ email }: Body) => [email],
	},
	location: {
		operation: ['email', 'findPersonal'],
		parameters: { firstName: 'Ada', lastName: 'Sure', options: { location: value } },
		read: ({ location }: Body) => [location],
	},
	jobTitles: {
		operation: ['scrape', 'start'],
		parameters: { filters: { jobTitles: value }, limit: 1 },
		read: ({ filters }: Body) => filters?.jobTitles ?? [],
	},
} satisfies Record<string, Way>;

const NAMES_OF_WAYS = Object.keys(WAYS) as Array<keyof typeof WAYS>;

/** Runs the values as the items of one run, one after the other. */
async function send({ operation, parameters, read }: Way, values: unknown[]) {
	const { options } = parameters;
	const result = await service.run(
		operation,
		{ ...parameters, options: { ...(options as INodeParameters | undefined), parallel: 1 } },
		values.map((each) => ({ value: each as string })),
		keepGoing,
	);
	const paid = sandbox.requests.filter((request) => request.paid);
	// The sandbox refuses some of what the service may know, such as addresses in other scripts.
	if (sandbox.requests.some(({ violation }) => violation)) service.expectViolations();
	return {
		sent: sandbox.requests.map(({ body }) => read(body as Body)),
		paid: paid.length,
		errors: result.items.map(({ json }) => (json.error as IDataObject | undefined)?.field),
		result,
	};
}

describe('The examples of docs/values.md', () => {
	test.each(NAMES_OF_WAYS)('%s', async (parameter) => {
		const way: Way = WAYS[parameter];
		const examples = examplesOf(parameter);
		expect(examples.length).toBeGreaterThan(3);
		const expected = examples.flatMap(({ sent }) =>
			sent === 'refused' ? [] : [sent === 'left out' ? [] : sent],
		);
		const { sent, errors } = await send(
			way,
			examples.map(({ given }) => given),
		);

		// Equal lookups are sent once.
		const isLookup = way.operation[0] === 'email';
		const distinct = [...new Map(expected.map((each) => [JSON.stringify(each), each])).values()];
		const got = new Set(sent.map((each) => JSON.stringify(each).toLowerCase()));
		if (isLookup) {
			expect(distinct.filter((each) => !got.has(JSON.stringify(each).toLowerCase()))).toEqual([]);
			expect(sent.length).toBeLessThanOrEqual(distinct.length);
		} else {
			expect(sent).toEqual(expected);
		}
		const wrong = examples.filter(
			({ sent: result }, index) => (result === 'refused') !== (errors[index] !== undefined),
		);
		expect(wrong).toEqual([]);
	});
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
		expect(sent.flat().toSorted()).toEqual(distinctOf(values).toSorted());
	});

	/** Lookups that differ only in case are one. */
	function distinctOf(values: string[]): string[] {
		return [...new Map(values.toReversed().map((each) => [each.toLowerCase(), each])).values()];
	}
});

describe('What was paid for', () => {
	test('one address with invisible characters is paid for once', async () => {
		const marks = [
			'',
			'\u200b',
			'\u200c',
			'\u200d',
			'\u2060',
			'\ufeff',
			'\u00ad',
			'\u200e',
			'\u202a',
			'\u2063',
			'\ufe0f',
			'\u3164',
			'\u{e0020}',
		];
		const { sent, paid } = await send(
			WAYS.email,
			marks.map((mark) => `a${mark}da@acme.com`),
		);
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
		const { items } = await service.run(
			['scrape', 'start'],
			{ filters: { jobTitles: value, locations: '[]' }, limit: 1 },
			['[]', ' [ ] ', '[""]', '[null]', '["CTO","CEO"]', '["CTO"'].map((text) => ({ value: text })),
			{ isTool: true, ...keepGoing },
		);
		expect(sandbox.jobs.map(({ filters }) => filters.jobTitles)).toEqual([['CTO', 'CEO']]);
		expect(items.map(({ json }) => (json.error as IDataObject | undefined)?.field)).toEqual([
			...['Filters', 'Filters', 'Filters', 'Filters', undefined, 'Job Titles'],
		]);
	});

	test('an address of 300 characters', async () => {
		const long = `${'a'.repeat(50)}@${'acme.'.repeat(60)}com`;
		const { paid, errors } = await send(WAYS.email, [long, `${'a'.repeat(65)}@acme.com`]);
		expect([paid, ...errors]).toEqual([0, 'Email', 'Email']);
	});
});
