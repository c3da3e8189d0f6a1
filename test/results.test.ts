/** What a run says of itself: the hint beside the output, what each item paid for, what is saved with the execution. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hintTexts, hintsOf, type NodeResult, type NodeRun } from './engine';
import {
	BALANCE,
	ENRICH,
	FIND,
	PERSONAL,
	START,
	START_AND_WAIT,
	VERIFY,
	keepGoing,
	people,
	person,
	verdictWith,
	type Operation,
} from './given';
import { errorOf } from './expected';
import { useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

const emails = (...names: string[]) => names.map((name) => ({ email: `${name}@acme.com` }));
const verify = { email: '={{ $json.email }}' };
const scrape = { filters: { jobTitles: '={{ $json.title ?? [] }}' }, limit: 5 };

/** What each item says that it paid for. */
const costsOf = ({ items }: NodeResult) =>
	items.map(({ json }) => (errorOf({ json }) ?? json).paidCalls);

type Run = [Operation, INodeParameters, IDataObject[], Partial<NodeRun>?];

describe('The hint tells the outcomes and the paid calls of a run, and each item its own', () => {
	beforeEach(() => {
		sandbox.set({
			job: { outcome: 'failed', durationMs: 0 },
			faults: [
				{ kind: 'html', status: 502, match: { bodyIncludes: 'Lost' } },
				{ kind: 'envelope', code: 'INVALID_REQUEST', match: { bodyIncludes: 'Refused' } },
			],
		});
	});

	test.each<[of: string, Run, costs: unknown[], hint: string]>([
		[
			'searches with each outcome',
			[
				ENRICH,
				{ ...person, accept: ['valid', 'unknown'] },
				people(
					...['Ann High', 'Catchall Low', 'Catchall Low', 'Unknowns High', 'Invalid Low'],
					...['Ed Nobody', '- -', 'Lost High'],
				),
				keepGoing,
			],
			[2, 2, 0, 2, 2, 1, 0, 1],
			'warning: 8 items: 2 catch-all (rejected), 1 valid, 1 unknown, 1 invalid (rejected), 1 not found, 1 invalid input, 1 without an answer · 9 paid calls (5 business lookups, 4 verifications) · 1 call without an answer may have been paid for · 2 reused for free',
		],
		[
			'searches also for personal addresses',
			[
				ENRICH,
				{ ...person, tryPersonal: true },
				people('Cy Sure', 'Cy Nobody', 'Invalid Reed', 'Cy Sure'),
			],
			[2, 2, 4, 0],
			'info: 4 items: 2 valid, 1 not found, 1 invalid (rejected) · 8 paid calls (3 business lookups, 3 verifications, 2 personal lookups) · 2 reused for free',
		],
		[
			'searches for a business address alone',
			[
				FIND,
				{ ...person, linkedinUrl: "={{ $json.first === 'Al' ? 'linkedin.com/in/al' : '' }}" },
				people('Al High', 'Ed Nobody', 'Ed Nobody', 'Refused High'),
				keepGoing,
			],
			[1, 1, 0, 0],
			'warning: 4 items: 2 not found, 1 found, 1 refused · 2 paid calls (2 business lookups) · 1 reused for free',
		],
		[
			'requests that were refused, and lacked a field',
			[
				FIND,
				person,
				[
					...people('Refused Sure', 'Di Refused'),
					{ first: 'Di', last: 'Refused', company: 'acme.com', profile: 'linkedin.com/in/di' },
					{ last: 'Refused', profile: 'linkedin.com/in/sure' },
				],
				keepGoing,
			],
			[0, 0, 0, 0],
			'warning: 4 items: 4 refused · no paid calls\nwarning: The service refused 3 requests without all fields. It may need: LinkedIn URL, First Name, Company Domain.',
		],
		[
			'verifications',
			[VERIFY, verify, [...emails('a', 'a', 'catchall', 'Lost', 'Lost', 'Refused'), {}], keepGoing],
			[1, 0, 1, 1, 0, 0, 0],
			'warning: 7 items: 2 valid, 2 without an answer, 1 catch-all, 1 refused, 1 invalid input · 2 paid calls (2 verifications) · 1 call without an answer may have been paid for · 1 reused for free',
		],
		[
			'a maximum of paid calls',
			[
				VERIFY,
				{ ...verify, options: { maxPaidCalls: 2 } },
				emails('c', 'invalid', 'd', 'e'),
				keepGoing,
			],
			[1, 1, 0, 0],
			'warning: 4 items: 2 not sent, 1 valid, 1 invalid · 2 paid calls (2 verifications)',
		],
		[
			'starts of scrapes',
			[START, scrape, [{ title: 'CTO' }, {}, { title: 'Lost' }, { title: 'Refused' }], keepGoing],
			[undefined, undefined, 1, 0],
			'warning: 4 items: 2 pending, 1 without an answer, 1 refused · 2 paid calls (2 scrapes) · 1 call without an answer may have been paid for',
		],
		[
			'a scrape that failed',
			[START_AND_WAIT, scrape, [{ title: 'CTO' }], keepGoing],
			[1],
			'warning: 1 item: 1 failed · 1 paid call (1 scrape)',
		],
		['a balance', [BALANCE, {}, [{}]], [undefined], 'info: 1 item · no paid calls'],
	])('%s', async (_, run, costs, hint) => {
		const result = await service.run(...run);
		expect(hintTexts(result).join('\n')).toBe(hint);
		const places = hintsOf(result).flatMap((hints) => hints.map(({ location }) => location));
		expect(new Set(places)).toEqual(new Set(['outputPane']));
		expect(costsOf(result)).toEqual(costs);
	});
});

const known = people('Ann Sure', 'Catchall Bob', 'Catchall High', 'Tom Nobody', 'Ann Sure');

test('The hint tells what was known, of a run and of a dry run', async () => {
	const outcomes = '5 items: 2 valid, 2 catch-all (rejected), 1 not found';
	const paid = '7 paid calls (4 business lookups, 3 verifications) · 2 reused for free';
	const nothingSent = 'info: Dry run, nothing was sent';
	const options = { dryRun: '={{ "TRUE" }}' };
	const runs: Array<[Run, hint: string]> = [
		[[ENRICH, person, known], `info: ${outcomes} · ${paid}`],
		[[ENRICH, person, known], `info: ${outcomes} · no paid calls · 9 reused for free`],
		[
			[ENRICH, { ...person, options }, known],
			`${nothingSent} · 5 items · 0 paid calls · 5 repeated for free`,
		],
		[
			[FIND, { ...person, options }, people('Ann Sure', 'Eve Sure', 'Eve Sure', 'Eve High')],
			`${nothingSent} · 4 items · 2 paid calls · 2 repeated for free`,
		],
	];
	for (const [run, hint] of runs) expect(hintTexts(await service.run(...run))).toEqual([hint]);
});

const hundred = people(...Array.from({ length: 100 }, (_, index) => `P${String(index)} Sure`));

test.each<[told: string, IDataObject[], INodeParameters]>([
	['4 paid calls · up to 4 more, depending on the answers · 1 repeated for free', known, {}],
	[
		'4 paid calls · up to 1 more, depending on the answers · 1 repeated for free',
		known,
		{ maxPaidCalls: 5 },
	],
	['3 paid calls · 1 repeated for free', known, { maxPaidCalls: 3 }],
	['100 paid calls · up to 100 more, depending on the answers', hundred, {}],
])('The hint of a dry run tells what a run would take: %s', async (told, items, options) => {
	sandbox.set({ accounts: { slow: { plan: 'starter', credits: 1000 } } });
	const credential = { plan: 'starter', apiKey: 'slow' };
	const parameters = { ...person, options: { ...options, dryRun: true } };
	const result = await service.run(ENRICH, parameters, items, { credential });
	const time = items === hundred ? '4 minutes' : '1 minute';
	expect(hintTexts(result)).toEqual([
		`info: Dry run, nothing was sent · ${String(items.length)} items · ${told} · up to ${time} at 60 requests per minute`,
	]);
	expect(costsOf(result)).toEqual(items.map(() => undefined));
});

test('A status of the service is text in the hint, whatever it holds', async () => {
	service.answerWith(verdictWith({ status: '<b>Odd</b>' }));
	const result = await service.run(VERIFY, verify, emails('a', 'b'));
	const told = 'info: 2 items: 2 ‹b›odd‹/b› · 2 paid calls (2 verifications)';
	expect(hintTexts(result)).toEqual([told]);
});

test('A long run says at its end what held it up', async () => {
	sandbox.set({ rateLimit: { perMinute: 2, retryAfter: true } });
	const result = await service.run(FIND, person, people('A High', 'B High', 'C High'));
	const told =
		/^info: 3 items: 3 found · 3 paid calls \(3 business lookups\) · \d+ s · \d+ s waiting for the rate limit$/;
	expect(hintTexts(result)).toEqual([expect.stringMatching(told)]);
});

test.each<[of: string, Run, saved: string | undefined]>([
	[
		'a loop',
		[VERIFY, verify, emails('a', 'b', 'c', 'd', 'a'), { isInLoop: true, ...keepGoing }],
		'3',
	],
	['Retry On Fail', [VERIFY, verify, emails('a', 'b', 'c', 'd', 'a'), { retryOnFail: true }], '4'],
	['a call without an answer', [VERIFY, verify, emails('a', 'Lost'), keepGoing], '2'],
	['no paid call', [BALANCE, {}, [{}]], undefined],
])('The paid calls of an execution are saved with it: %s', async (_, run, saved) => {
	const paused = { bodyIncludes: 'c@', times: 1 };
	sandbox.set({
		faults: [
			{ kind: 'envelope', code: 'PAUSED', match: paused },
			{ kind: 'resetAfterWork', match: { bodyIncludes: 'Lost' } },
		],
	});
	const result = await service.run(...run);
	expect(result.run.data.resultData.metadata?.paid_calls).toBe(saved);
});

describe('The examples of docs/operations.md', () => {
	const page = readFileSync(join(__dirname, '../docs/operations.md'), 'utf8');
	const ada: INodeParameters = { firstName: 'Ada', lastName: 'Okafor', company: 'acme.example' };

	test.each<[string, Operation, INodeParameters, second: string]>([
		['Find and Verify', ENRICH, ada, 'status'],
		['Find Business Email', FIND, ada, 'confidence'],
		['Find Personal Email', PERSONAL, ada, 'confidence'],
		['Verify', VERIFY, { email: 'ada@acme.example' }, 'status'],
	])('are the real output: %s', async (heading, operation, parameters, second) => {
		const { items } = await service.run(operation, parameters, [{}]);
		const before = `\n### ${heading}\n[^]*?\n\`\`\`json\n`;
		const [shown = ''] = new RegExp(`(?<=${before})[^]*?(?=\n\`\`\`\n)`).exec(page) ?? [];
		// As text, so that the order counts, too.
		expect(JSON.stringify(JSON.parse(shown))).toBe(JSON.stringify(items[0]?.json));
		expect(Object.keys(items[0]?.json ?? {}).slice(0, 2)).toEqual(['email', second]);
	});
});
