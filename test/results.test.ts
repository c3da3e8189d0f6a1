import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hintsOf, type NodeResult } from './engine';
import { post, sleep, useService } from './service';

const service = useService();
const { sandbox } = service;
const ENRICH = ['email', 'enrich'] as const;
const FIND = ['email', 'findBusiness'] as const;
const PERSONAL = ['email', 'findPersonal'] as const;
const VERIFY = ['email', 'verify'] as const;
const START = ['scrape', 'start'] as const;
const keepGoing = { onError: 'continueRegularOutput' } as const;
const person = {
	firstName: '={{ $json.first }}',
	lastName: '={{ $json.last }}',
	fullName: '={{ $json.full }}',
	company: 'acme.com',
};

/** Persons by first and last name. */
function people(...names: string[]) {
	return names.map((name) => {
		const [first = '', last = ''] = name.split(' ');
		return { first, last };
	});
}

const paidCalls = ({ items }: NodeResult) => items.map(({ json }) => json.paidCalls);

/** The hints of a run with their kind, and without times. */
function hintTexts(result: NodeResult): string[] {
	const hints = hintsOf(result).flat();
	return hints.map(({ type = '', message }) => `${type}: ${message.replace(/\b\d+ s\b/g, 'N s')}`);
}

describe('The name of a person', () => {
	const items = [
		{ full: 'Prof. Dr. Peter van der Berg, MBA' },
		{ full: 'Okafor, Ada' },
		{ first: 'Dr. Ada', last: 'Okafor, PhD', full: 'Somebody Else' },
		{ last: 'Herr', full: 'Somebody Else' },
		{ first: 'Prof.', last: 'Müller (Berlin) 🚀' },
	];
	const peter = { firstName: 'Peter', lastName: 'van der Berg' };
	const ada = { firstName: 'Ada', lastName: 'Okafor' };
	const herr = { lastName: 'Herr' };
	const asGiven = [
		...[peter, ada, { firstName: 'Dr. Ada', lastName: 'Okafor, PhD' }],
		...[herr, { firstName: 'Prof.', lastName: 'Müller (Berlin) 🚀' }],
	];
	// The second and the third person are the same.
	const cleaned = [peter, ada, herr, { lastName: 'Müller' }];

	describe.each([
		[FIND, '/email/find', { company: 'acme.com' }],
		[PERSONAL, '/email/personal', {}],
		[ENRICH, '/email/find', { company: 'acme.com' }],
	] as const)('in %j', (operation, path, others) => {
		test.each([
			['comes from the field that is filled in', {}, asGiven],
			['is cleaned in all fields if that is wanted', { cleanNames: true }, cleaned],
		])('%s', async (_, options, names) => {
			service.expectViolations();
			await service.run(operation, { ...person, options }, items, keepGoing);
			const calls = names.map((name) => post(path, { ...name, ...others }));
			service.expectCalls(calls, path);
		});
	});

	test('is refused if nothing but a title is left', async () => {
		const titles = [{ full: 'Prof. Dr.' }, { full: '' }];
		const result = await service.run(FIND, person, titles, keepGoing);
		service.expectCalls([]);
		expect(result.items.map(({ json }) => (json.error as IDataObject).message)).toEqual([
			'First Name and Last Name are both empty',
			'First Name and Last Name are both empty',
		]);
	});
});

describe('Include Cost', () => {
	test('counts the paid calls of each item, of those with the same call in the first', async () => {
		const list = people('Ann Sure', 'Ann Nobody', 'Ann Sure', 'Ann Low');
		const options = { includeCost: true, minConfidence: 0.5, parallel: 1 };
		const parameters = { ...person, tryPersonal: true, options };
		expect(paidCalls(await service.run(ENRICH, parameters, list))).toEqual([2, 2, 0, 2]);
		expect(sandbox.requests.filter(({ path }) => path.startsWith('/email/'))).toHaveLength(6);
		expect(paidCalls(await service.run(ENRICH, parameters, list))).toEqual([0, 0, 0, 0]);
	});

	test('is in the field of the result, and the first of two equal items pays', async () => {
		const options = { includeCost: true, resultField: 'leadgen', includeInput: true };
		const verify = { email: 'valid@acme.com', options };
		const { items } = await service.run(VERIFY, verify, [{ id: 1 }, { id: 2 }]);
		const costs = items.map(({ json }) => (json.leadgen as IDataObject).paidCalls);
		expect(costs.toSorted()).toEqual([0, 1]);
	});

	test('counts each start', async () => {
		const parameters = { limit: 1, options: { includeCost: true } };
		expect(paidCalls(await service.run(START, parameters, [{}, {}]))).toEqual([1, 1]);
	});
});

describe('The hint', () => {
	test('tells the outcome of each item', async () => {
		sandbox.set({ faults: [{ kind: 'html', status: 502, match: { bodyIncludes: 'Lost' } }] });
		const result = await service.run(
			ENRICH,
			{ ...person, accept: ['valid', 'unknown'], options: { spendAtMost: 20, parallel: 1 } },
			people(
				...['Ann High', 'Catchall High', 'Catchall High', 'Unknown High', 'Invalid Low'],
				...['Tom Nobody', '- -', 'Lost High'],
			),
			keepGoing,
		);
		const [hint = ''] = hintTexts(result);
		expect(hint.replace(' · N s', '').replace(/balance \d+/, 'balance N')).toBe(
			'warning: 8 items: 2 catch-all and not accepted, 1 valid, 1 unknown, 1 invalid and not accepted, 1 not found, 2 failed · 9 paid calls (5 business lookups, 4 verifications) · 1 call without an answer may have been paid for · 2 remembered · balance N credits when last read',
		);
	});

	test('of a dry run says how long it takes, and counts what follows from remembered answers', async () => {
		const list = people('Ann Sure', 'Ann High', 'Ann Nobody', 'Ann Low');
		const credential = { plan: 'starter', apiKey: 'slow' };
		sandbox.set({ accounts: { slow: { plan: 'starter', credits: 1000 } } });
		const dryRun = async (items: IDataObject[]) =>
			await service.run(ENRICH, { ...person, options: { dryRun: true } }, items, { credential });
		expect(hintTexts(await dryRun(list))).toEqual([
			'info: Dry run: nothing was sent. 4 items, 4 paid calls. Depending on the answers, up to 4 paid calls may follow. With 60 requests per minute, this takes less than a minute.',
		]);
		// The search is paid for, and only for one of them the verification.
		await service.run(FIND, person, list, { credential });
		await service.run(VERIFY, { email: 'ann.sure@acme.com' }, [{}], { credential });
		const { items } = await dryRun(list);
		expect(items.map(({ json }) => [json.call, json.mayFollow])).toEqual(
			[0, 1, 0, 1].map((mayFollow) => ['remembered', mayFollow]),
		);
		const many = Array.from({ length: 100 }, (_, index) => `P${String(index)} X`);
		expect(hintTexts(await dryRun(people(...many)))[0]).toContain(
			'With 60 requests per minute, this takes up to 3 minutes and the time of the answers.',
		);
	});
});

test('The hint of ten different runs', async () => {
	const said: Record<string, string[]> = {};
	const run = async (name: string, ...given: Parameters<typeof service.run>) => {
		const [operation, parameters, items, options] = given;
		const result = await service.run(operation, parameters, items, { ...keepGoing, ...options });
		said[name] = hintTexts(result);
	};
	const emails = (...names: string[]) => names.map((name) => ({ email: `${name}@acme.com` }));
	const verify = { email: '={{ $json.email }}' };
	const list = people('Ann Sure', 'Bob High', 'Catchall High', 'Tom Nobody', 'Ann Sure');

	await run('a dry run', ENRICH, { ...person, options: { dryRun: true } }, list);
	await run('find and verify', ENRICH, person, list);
	await run('the same list again', ENRICH, person, list);
	await run('a list with mistakes', VERIFY, verify, [...emails('valid.a', 'unknown.b'), {}]);
	const four = emails('valid.c', 'invalid.d', 'valid.e', 'valid.f');
	await run('a budget', VERIFY, { ...verify, options: { spendAtMost: 2 } }, four);
	await run('scrapes without filters', START, { limit: 5 }, [{}, {}]);
	await run('a balance', ['credit', 'get'], {}, [{}]);

	sandbox.set({ faults: [{ kind: 'resetAfterWork', match: { bodyIncludes: 'lost' } }] });
	await run('a lost answer', VERIFY, verify, emails('lost', 'valid.g'));
	sandbox.set({ faults: [], job: { outcome: 'failed', durationMs: 0 } });
	const failed = { filters: { jobTitles: ['CTO'] }, limit: 5, options: { failedAsResult: true } };
	await run('a failed scrape', ['scrape', 'startAndWait'], failed, [{}]);
	sandbox.set({ accounts: { poor: { plan: 'enterprise', credits: 1 } } });
	const one = { ...verify, options: { parallel: 1 } };
	const poor = { credential: { apiKey: 'poor' } };
	await run('no credits left', VERIFY, one, emails('valid.h', 'i', 'j', 'valid.h'), poor);

	expect(said).toEqual({
		'a dry run': [
			'info: Dry run: nothing was sent. 5 items, 4 paid calls. Depending on the answers, up to 5 paid calls may follow. 1 repeated call costs nothing.',
		],
		'find and verify': [
			'info: 5 items: 2 valid, 2 catch-all and not accepted, 1 not found · 7 paid calls (4 business lookups, 3 verifications) · 2 remembered',
		],
		'the same list again': [
			'info: 5 items: 2 valid, 2 catch-all and not accepted, 1 not found · no paid calls · 9 remembered',
		],
		'a list with mistakes': [
			'warning: 3 items: 1 valid, 1 unknown, 1 failed · 2 paid calls (2 verifications)',
		],
		'a budget': [
			'warning: 4 items: 1 valid, 1 invalid, 2 not sent · 2 paid calls (2 verifications) · balance 99990 credits when last read',
		],
		'scrapes without filters': [
			'warning: A scrape had no filters. It collects leads of any kind, up to the limit, and uses credits for them.',
			'info: 2 items: 2 pending · 2 paid calls (2 scrapes)',
		],
		'a balance': ['info: 1 item · no paid calls · balance 99980 credits when last read'],
		'a lost answer': [
			'warning: 2 items: 1 valid, 1 failed · 1 paid call (1 verification) · 1 call without an answer may have been paid for',
		],
		'a failed scrape': ['info: 1 item: 1 with a failed scrape · 1 paid call (1 scrape)'],
		'no credits left': [
			'warning: 4 items: 2 valid, 1 failed, 1 not sent · 1 paid call (1 verification) · 1 remembered',
		],
	});
});

test('A long run says every five seconds what is done and how long the rest takes, and at its end what held it up', async () => {
	const lines: string[] = [];
	jest.spyOn(Container.get(Logger), 'info').mockImplementation((line) => void lines.push(line));
	const limit = { kind: 'sliding', headers: 'retryAfterSeconds', enterprisePerMinute: 2 } as const;
	sandbox.set({ rateLimit: { ...limit, windowMs: 11_000 } });
	const result = await service.run(FIND, person, people('A High', 'B High', 'C High'));

	const said = /^LeadGen: 2 of 3 items done, about \d+ s left$/;
	const both: unknown[] = [expect.stringMatching(said), expect.stringMatching(said)];
	expect(lines).toEqual(both);
	expect(hintTexts(result)).toEqual([
		'info: 3 items: 3 found · 3 paid calls (3 business lookups) · N s, N s of them held up by the rate limit',
	]);
	// The next line would come after 15 seconds.
	await sleep(4500);
	expect(lines).toEqual(both);
	jest.restoreAllMocks();
});

describe('The examples of docs/operations.md', () => {
	const page = join(__dirname, '../docs/operations.md');
	const ada: INodeParameters = { firstName: 'Ada', lastName: 'Okafor', company: 'acme.example' };
	const cases: Array<[string, readonly [string, string], INodeParameters, string]> = [
		['Find and Verify', ENRICH, ada, 'status'],
		['Find Business Email', FIND, ada, 'confidence'],
		['Find Personal Email', PERSONAL, ada, 'confidence'],
		['Verify', VERIFY, { email: 'ada@acme.example' }, 'status'],
	];

	test.each(cases)('are the real output: %s', async (heading, operation, parameters, second) => {
		const { items } = await service.run(operation, parameters, [{}]);
		const text = readFileSync(page, 'utf8');
		const before = `\n### ${heading}\n[^]*?\n\`\`\`json\n`;
		const example = new RegExp(`(?<=${before})[^]*?(?=\n\`\`\`\n)`);
		// UPDATE_DOCS=1 writes them.
		if (process.env.UPDATE_DOCS) {
			const json = JSON.stringify(items[0]?.json, null, 2);
			writeFileSync(
				page,
				text.replace(example, () => json),
			);
		} else {
			const [shown = ''] = example.exec(text) ?? [];
			// As text, so that the order counts, too.
			expect(JSON.stringify(JSON.parse(shown))).toBe(JSON.stringify(items[0]?.json));
		}
		expect(Object.keys(items[0]?.json ?? {}).slice(0, 2)).toEqual(['email', second]);
	});
});
