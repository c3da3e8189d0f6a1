import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeResult } from './engine';
import { post, useService } from './service';

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

/** The texts of the hints of a run. */
function hintsOf({ run }: NodeResult): string[] {
	const [task] = run.data.resultData.runData.LeadGen ?? [];
	return (task?.hints ?? []).map(({ message }) => message);
}

describe('The name of a person', () => {
	const people = [
		{ full: 'Prof. Dr. Peter van der Berg, MBA' },
		{ full: 'Okafor, Ada' },
		{ first: 'Dr. Ada', last: 'Okafor, PhD', full: 'Somebody Else' },
		{ last: 'Herr', full: 'Somebody Else' },
		{ first: 'Prof.', last: 'Müller (Berlin) 🚀' },
	];

	test.each([FIND, PERSONAL, ENRICH])(
		'comes from the field that is filled in: %s %s',
		async (...operation) => {
			const [, path = ''] = {
				findBusiness: ['', '/email/find'],
				findPersonal: ['', '/email/personal'],
				enrich: ['', '/email/find'],
			}[operation[1]];
			const company = path === '/email/find' ? { company: 'acme.com' } : {};
			service.expectViolations();
			await service.run(operation, person, people, keepGoing);
			service.expectCalls(
				[
					{ firstName: 'Peter', lastName: 'van der Berg' },
					{ firstName: 'Ada', lastName: 'Okafor' },
					{ firstName: 'Dr. Ada', lastName: 'Okafor, PhD' },
					{ lastName: 'Herr' },
					{ firstName: 'Prof.', lastName: 'Müller (Berlin) 🚀' },
				].map((name) => post(path, { ...name, ...company })),
				path,
			);
		},
	);

	test.each([FIND, PERSONAL, ENRICH])(
		'is cleaned in all fields if that is wanted: %s %s',
		async (...operation) => {
			const path = operation[1] === 'findPersonal' ? '/email/personal' : '/email/find';
			const company = path === '/email/find' ? { company: 'acme.com' } : {};
			service.expectViolations();
			await service.run(operation, { ...person, options: { cleanNames: true } }, people, keepGoing);
			service.expectCalls(
				[
					{ firstName: 'Peter', lastName: 'van der Berg' },
					// The second and the third person are the same.
					{ firstName: 'Ada', lastName: 'Okafor' },
					{ lastName: 'Herr' },
					{ lastName: 'Müller' },
				].map((name) => post(path, { ...name, ...company })),
				path,
			);
		},
	);

	test('is refused if nothing but a title is left', async () => {
		const { items } = await service.run(
			FIND,
			person,
			[{ full: 'Prof. Dr.' }, { full: '' }],
			keepGoing,
		);
		service.expectCalls([]);
		expect(items.map(({ json }) => (json.error as IDataObject).message)).toEqual([
			'First Name and Last Name are both empty',
			'First Name and Last Name are both empty',
		]);
	});
});

describe('Include Cost', () => {
	test('counts the paid calls of each item, of those with the same call in the first', async () => {
		const people = ['Sure', 'Nobody', 'Sure', 'Low'].map((last) => ({ first: 'Ann', last }));
		const options = { includeCost: true, minConfidence: 0.5, parallel: 1 };
		const { items } = await service.run(ENRICH, { ...person, tryPersonal: true, options }, people);
		expect(items.map(({ json }) => json.paidCalls)).toEqual([2, 2, 0, 2]);
		expect(sandbox.requests.filter(({ path }) => path.startsWith('/email/'))).toHaveLength(6);

		const again = await service.run(ENRICH, { ...person, tryPersonal: true, options }, people);
		expect(again.items.map(({ json }) => json.paidCalls)).toEqual([0, 0, 0, 0]);
		const { items: nested } = await service.run(
			VERIFY,
			{
				email: 'valid@acme.com',
				options: { includeCost: true, resultField: 'leadgen', includeInput: true },
			},
			[{ id: 1 }, { id: 2 }],
		);
		expect(nested.map(({ json }) => (json.leadgen as IDataObject).paidCalls).toSorted()).toEqual([
			0, 1,
		]);
		const { items: starts } = await service.run(
			START,
			{ limit: 1, options: { includeCost: true } },
			[{}, {}],
		);
		expect(starts.map(({ json }) => json.paidCalls)).toEqual([1, 1]);
	});
});

describe('The hint', () => {
	test('tells the outcome of each item', async () => {
		sandbox.set({ faults: [{ kind: 'html', status: 502, match: { bodyIncludes: 'Lost' } }] });
		const names = ['Ann', 'Catchall', 'Catchall', 'Unknown'].map((first) => ({
			first,
			last: 'High',
		}));
		const result = await service.run(
			ENRICH,
			{ ...person, accept: ['valid', 'unknown'], options: { spendAtMost: 20, parallel: 1 } },
			[
				...names,
				{ first: 'Invalid', last: 'Low' },
				{ first: 'Tom', last: 'Nobody' },
				{ first: '-', last: '-' },
				{ first: 'Lost', last: 'High' },
			],
			keepGoing,
		);
		const [hint = ''] = hintsOf(result);
		expect(hint.replace(/ · \d+ s\b/, '').replace(/balance \d+/, 'balance N')).toBe(
			'8 items: 2 catch-all and not accepted, 1 valid, 1 unknown, 1 invalid and not accepted, 1 not found, 2 failed · 9 paid calls (5 business lookups, 4 verifications) · 1 call without an answer may have been paid for · 2 remembered · balance N credits when last read',
		);
	});

	test('counts the items for which nothing was sent', async () => {
		const result = await service.run(
			VERIFY,
			{ email: '={{ $json.email }}', options: { spendAtMost: 2 } },
			['valid.a', 'invalid.b', 'valid.c', 'valid.d'].map((name) => ({ email: `${name}@acme.com` })),
			keepGoing,
		);
		expect(hintsOf(result)).toEqual([
			'4 items: 1 valid, 1 invalid, 2 not sent · 2 paid calls (2 verifications) · balance 99998 credits when last read',
		]);
	});

	test('of a dry run says how long it takes, and counts what follows from remembered answers', async () => {
		const people = ['Sure', 'High', 'Nobody', 'Low'].map((last) => ({ first: 'Ann', last }));
		const credential = { plan: 'starter', apiKey: 'slow' };
		sandbox.set({ accounts: { slow: { plan: 'starter', credits: 1000 } } });
		const dry = { ...person, options: { dryRun: true } };
		const before = await service.run(ENRICH, dry, people, { credential });
		expect(hintsOf(before)).toEqual([
			'Dry run: nothing was sent. 4 items, 4 paid calls. Depending on the answers, up to 4 paid calls may follow. With 60 requests per minute, this takes less than a minute.',
		]);
		// The search is paid for, and only for one of them the verification.
		await service.run(FIND, person, people, { credential });
		await service.run(VERIFY, { email: 'ann.sure@acme.com' }, [{}], { credential });
		const after = await service.run(ENRICH, dry, people, { credential });
		expect(after.items.map(({ json }) => [json.call, json.mayFollow])).toEqual([
			['remembered', 0],
			['remembered', 1],
			['remembered', 0],
			['remembered', 1],
		]);
		const many = Array.from({ length: 100 }, (_, index) => ({
			first: `P${String(index)}`,
			last: 'X',
		}));
		const [hint] = hintsOf(await service.run(ENRICH, dry, many, { credential }));
		expect(hint).toContain(
			'With 60 requests per minute, this takes up to 3 minutes and the time of the answers.',
		);
	});
});

test('The hint of ten different runs', async () => {
	const said: Record<string, string[]> = {};
	const run = async (name: string, ...given: Parameters<typeof service.run>) => {
		const [operation, parameters, items, options] = given;
		const result = await service.run(operation, parameters, items, { ...keepGoing, ...options });
		const [task] = result.run.data.resultData.runData.LeadGen ?? [];
		said[name] = (task?.hints ?? []).map(
			({ type = '', message }) => `${type}: ${message.replace(/\b\d+ s\b/g, 'N s')}`,
		);
	};
	const people = (...names: string[]) =>
		names.map((name) => ({ first: name.split(' ')[0], last: name.split(' ')[1] }));
	const emails = (...names: string[]) => names.map((name) => ({ email: `${name}@acme.com` }));
	const verify = { email: '={{ $json.email }}' };
	const list = people('Ann Sure', 'Bob High', 'Catchall High', 'Tom Nobody', 'Ann Sure');

	await run('a dry run', ENRICH, { ...person, options: { dryRun: true } }, list);
	await run('find and verify', ENRICH, person, list);
	await run('the same list again', ENRICH, person, list);
	await run('a list with mistakes', VERIFY, verify, [...emails('valid.a', 'unknown.b'), {}]);
	await run('a budget', VERIFY, { ...verify, options: { spendAtMost: 1 } }, emails('valid.c', 'd'));
	await run('scrapes without filters', START, { limit: 5 }, [{}, {}]);
	await run('a balance', ['credit', 'get'], {}, [{}]);

	sandbox.set({ faults: [{ kind: 'resetAfterWork', match: { bodyIncludes: 'lost' } }] });
	await run('a lost answer', VERIFY, verify, emails('lost', 'valid.e'));
	sandbox.set({ faults: [], job: { outcome: 'failed', durationMs: 0 } });
	const failed = { filters: { jobTitles: ['CTO'] }, limit: 5 };
	const waits = { pollInterval: 1, failedAsResult: true };
	const wait = ['scrape', 'startAndWait'] as const;
	await run('a failed scrape', wait, { ...failed, options: waits }, [{}]);
	const poor = { accounts: { poor: { plan: 'enterprise', credits: 1 } } };
	const window = { kind: 'sliding', enterprisePerMinute: 2, windowMs: 8000 } as const;
	sandbox.set({ ...poor, rateLimit: { ...window, headers: 'retryAfterSeconds' } });
	const options = { credential: { apiKey: 'poor' } };
	const one = { ...verify, options: { parallel: 1 } };
	await run('no credits left', VERIFY, one, emails('valid.f', 'g', 'h', 'valid.f'), options);
	sandbox.set({ accounts: { low: { plan: 'enterprise', credits: 9 } } });
	const slow = { credential: { apiKey: 'low' } };
	await run('a low rate limit', FIND, person, people('Ann High', 'Bob High', 'Cem High'), slow);

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
			'warning: 2 items: 1 valid, 1 not sent · 1 paid call (1 verification) · balance 99991 credits when last read',
		],
		'scrapes without filters': [
			'warning: A scrape had no filters. It collects leads of any kind, up to the limit, and uses credits for them.',
			'info: 2 items: 2 pending · 2 paid calls (2 scrapes)',
		],
		'a balance': ['info: 1 item · no paid calls · balance 99981 credits when last read'],
		'a lost answer': [
			'warning: 2 items: 1 valid, 1 failed · 1 paid call (1 verification) · 1 call without an answer may have been paid for',
		],
		'a failed scrape': ['info: 1 item: 1 with a failed scrape · 1 paid call (1 scrape)'],
		'no credits left': [
			'warning: 4 items: 2 valid, 1 failed, 1 not sent · 1 paid call (1 verification) · 1 remembered',
		],
		'a low rate limit': [
			'info: 3 items: 3 found · 3 paid calls (3 business lookups) · N s, N s of them held up by the rate limit',
		],
	});
});

test('A long run says every five seconds what is done and how long the rest takes, also while it waits', async () => {
	const lines: string[] = [];
	jest.spyOn(Container.get(Logger), 'info').mockImplementation((line) => void lines.push(line));
	sandbox.set({
		rateLimit: {
			kind: 'sliding',
			headers: 'retryAfterSeconds',
			enterprisePerMinute: 2,
			windowMs: 12_000,
		},
	});
	await service.run(
		FIND,
		person,
		['A', 'B', 'C'].map((first) => ({ first, last: 'High' })),
	);
	const said = lines.length;
	expect(lines).toEqual([
		expect.stringMatching(/^LeadGen: 2 of 3 items done, about \d+ s left$/),
		expect.stringMatching(/^LeadGen: 2 of 3 items done, about \d+ s left$/),
	]);
	// Nothing is left behind.
	await new Promise((resolve) => setTimeout(resolve, 5500));
	expect(lines).toHaveLength(said);
	jest.restoreAllMocks();
});

describe('The examples of docs/operations.md', () => {
	const page = join(__dirname, '../docs/operations.md');
	const ada: INodeParameters = { firstName: 'Ada', lastName: 'Okafor', company: 'acme.example' };
	const cases: Array<[string, readonly [string, string], INodeParameters]> = [
		['Find and Verify', ENRICH, ada],
		['Find Business Email', FIND, ada],
		['Find Personal Email', PERSONAL, ada],
		['Verify', VERIFY, { email: 'ada@acme.example' }],
	];

	test.each(cases)('are the real output: %s', async (heading, operation, parameters) => {
		const { items } = await service.run(operation, parameters, [{}]);
		const json = JSON.stringify(items[0]?.json, null, 2);
		const text = readFileSync(page, 'utf8');
		const section = new RegExp(`(\n### ${heading}\n[^]*?\n\`\`\`json\n)([^]*?)(\n\`\`\`\n)`);
		const [, , example = ''] = section.exec(text) ?? [];
		// UPDATE_DOCS=1 writes them.
		if (process.env.UPDATE_DOCS)
			writeFileSync(
				page,
				text.replace(
					section,
					(_, before: string, _old: string, after: string) => before + json + after,
				),
			);
		else expect(JSON.parse(example)).toEqual(items[0]?.json);
		// Also in this order.
		const names = Object.keys(items[0]?.json ?? {});
		if (!process.env.UPDATE_DOCS) expect(Object.keys(JSON.parse(example) as object)).toEqual(names);
		expect(names.slice(0, 2)).toEqual([
			'email',
			operation === FIND || operation === PERSONAL ? 'confidence' : 'status',
		]);
	});
});
