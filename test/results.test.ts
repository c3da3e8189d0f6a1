/** What a run says of itself: the hint beside the output, and what is saved with the execution. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultRule, SettingsPatch } from '../lab/sandbox/settings';
import { hintTexts, type NodeResult, type NodeRun } from './engine';
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
	type Operation,
} from './given';
import { errorOf } from './expected';
import { useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

const list = people('Ann Sure', 'Catchall Bob', 'Catchall High', 'Tom Nobody', 'Ann Sure');
const emails = (...names: string[]) => names.map((name) => ({ email: `${name}@acme.com` }));
const verify = { email: '={{ $json.email }}' };
const dryRun = { dryRun: true };
const faults = (fault: FaultRule): SettingsPatch => ({ faults: [fault] });
const titles = [{ title: 'CTO' }, {}];
const titled = { filters: { jobTitles: '={{ $json.title ?? [] }}' }, limit: 5 };

/** Of one account, one after the other, so that later ones know the results of earlier ones. */
const RUNS: Array<{
	of: string;
	settings?: SettingsPatch;
	run: [Operation, INodeParameters, IDataObject[], Partial<NodeRun>?];
	/** One line for each. */
	hints: string;
}> = [
	{
		of: 'a dry run',
		run: [ENRICH, { ...person, options: dryRun }, list],
		hints:
			'info: Dry run, nothing was sent · 5 items · 4 paid calls · up to 4 more, depending on the answers · 1 repeated for free',
	},
	{
		of: 'a dry run with a maximum',
		run: [ENRICH, { ...person, options: { ...dryRun, maxPaidCalls: 5 } }, list],
		hints:
			'info: Dry run, nothing was sent · 5 items · 4 paid calls · up to 1 more, depending on the answers · 1 repeated for free',
	},
	{
		of: 'a dry run with a small maximum',
		run: [ENRICH, { ...person, options: { ...dryRun, maxPaidCalls: 3 } }, list],
		hints: 'info: Dry run, nothing was sent · 5 items · 3 paid calls · 1 repeated for free',
	},
	{
		of: 'a dry run of 1,000 identical rows',
		run: [
			ENRICH,
			{ ...person, options: dryRun },
			new Array<IDataObject>(1000).fill({ ...list[0] }),
		],
		hints:
			'info: Dry run, nothing was sent · 1000 items · 1 paid call · up to 1 more, depending on the answers · 999 repeated for free',
	},
	{
		of: 'find and verify',
		run: [ENRICH, person, list],
		hints:
			'info: 5 items: 2 valid, 2 catch-all (rejected), 1 not found · 7 paid calls (4 business lookups, 3 verifications) · 2 reused for free',
	},
	{
		of: 'the same list again',
		run: [ENRICH, person, list],
		hints:
			'info: 5 items: 2 valid, 2 catch-all (rejected), 1 not found · no paid calls · 9 reused for free',
	},
	{
		of: 'a dry run of a list that is known',
		run: [ENRICH, { ...person, options: dryRun }, list],
		hints: 'info: Dry run, nothing was sent · 5 items · 0 paid calls · 5 repeated for free',
	},
	{
		of: 'a dry run of a list that is partly known',
		run: [
			FIND,
			{ ...person, options: { dryRun: '={{ "TRUE" }}' } },
			people('Ann Sure', 'Eve Sure', 'Eve Sure', 'Eve High'),
		],
		hints: 'info: Dry run, nothing was sent · 4 items · 2 paid calls · 2 repeated for free',
	},
	{
		of: 'personal addresses',
		run: [ENRICH, { ...person, tryPersonal: true }, people('Cy Sure', 'Bea Sure', 'Cy Nobody')],
		hints:
			'info: 3 items: 2 valid, 1 not found · 6 paid calls (3 business lookups, 2 verifications, 1 personal lookup)',
	},
	{
		of: 'a list with mistakes',
		run: [VERIFY, verify, [...emails('valid.a', 'unknown.b'), {}], keepGoing],
		hints: 'warning: 3 items: 1 valid, 1 unknown, 1 invalid input · 2 paid calls (2 verifications)',
	},
	{
		of: 'a maximum of paid calls',
		run: [
			VERIFY,
			{ ...verify, options: { maxPaidCalls: 2 } },
			emails('valid.c', 'invalid.d', 'valid.e', 'valid.f'),
			keepGoing,
		],
		hints: 'warning: 4 items: 2 not sent, 1 valid, 1 invalid · 2 paid calls (2 verifications)',
	},
	{
		of: 'scrapes',
		run: [START, titled, titles],
		hints: 'info: 2 items: 2 pending · 2 paid calls (2 scrapes)',
	},
	{
		of: 'a balance',
		run: [BALANCE, {}, [{}]],
		hints: 'info: 1 item · no paid calls',
	},
	{
		of: 'a lost answer',
		settings: faults({ kind: 'resetAfterWork', match: { bodyIncludes: 'lost' } }),
		run: [VERIFY, verify, emails('lost', 'valid.g'), keepGoing],
		hints:
			'warning: 2 items: 1 without an answer, 1 valid · 1 paid call (1 verification) · 1 call without an answer may have been paid for',
	},
	{
		of: 'one call of three items that failed',
		settings: faults({ kind: 'envelope', code: 'MAINTENANCE', status: 500 }),
		run: [FIND, person, people('Al High', 'Al High', 'Al High'), keepGoing],
		hints:
			'warning: 3 items: 3 without an answer · no paid calls · 1 call without an answer may have been paid for',
	},
	{
		of: 'requests that lacked a field',
		settings: faults({ kind: 'envelope', code: 'INVALID_REQUEST', status: 400 }),
		run: [
			FIND,
			person,
			[
				...people('Al Sure', 'Jo Sure'),
				{ ...people('Di Sure')[0], profile: 'https://linkedin.com/in/di' },
				{ last: 'Sure', profile: 'https://linkedin.com/in/sure' },
			],
			keepGoing,
		],
		hints:
			'warning: 4 items: 4 refused · no paid calls\nwarning: The service refused 3 requests without all fields. It may need: LinkedIn URL, First Name, Company Domain.',
	},
	{
		of: 'a refused request that lacked no more than others',
		settings: faults({
			kind: 'envelope',
			code: 'INVALID_REQUEST',
			status: 400,
			match: { bodyIncludes: 'Jo' },
		}),
		run: [FIND, person, people('Al Sure', 'Jo Sure'), keepGoing],
		hints: 'warning: 2 items: 1 found, 1 refused · 1 paid call (1 business lookup)',
	},
	{
		of: 'one person twice, who is not found',
		settings: faults({ kind: 'envelope', code: 'NOT_FOUND' }),
		run: [FIND, person, people('Al High', 'Al High')],
		hints: 'info: 2 items: 2 not found · 1 paid call (1 business lookup) · 1 reused for free',
	},
	{
		of: 'each outcome of a search',
		settings: faults({ kind: 'html', status: 502, match: { bodyIncludes: 'Lost' } }),
		run: [
			ENRICH,
			{ ...person, accept: ['valid', 'unknown'] },
			people(
				...['Ann High', 'Catchall Low', 'Catchall Low', 'Unknowns High', 'Invalid Low'],
				...['Ed Nobody', '- -', 'Lost High'],
			),
			keepGoing,
		],
		hints:
			'warning: 8 items: 2 catch-all (rejected), 1 valid, 1 unknown, 1 invalid (rejected), 1 not found, 1 invalid input, 1 without an answer · 9 paid calls (5 business lookups, 4 verifications) · 1 call without an answer may have been paid for · 2 reused for free',
	},
	{
		of: 'a failed scrape with filters',
		settings: { faults: [], job: { outcome: 'failed', durationMs: 0 } },
		run: [START_AND_WAIT, titled, [{ title: 'CTO' }], keepGoing],
		hints: 'warning: 1 item: 1 failed · 1 paid call (1 scrape)',
	},
	{
		of: 'the last credit',
		settings: { accounts: { poor: { plan: 'enterprise', credits: 1 } }, latencyMs: 200 },
		run: [VERIFY, verify, emails('valid.h'), { credential: { apiKey: 'poor' } }],
		hints: 'info: 1 item: 1 valid · 1 paid call (1 verification)',
	},
	{
		of: 'an account without credits',
		run: [
			VERIFY,
			verify,
			emails('valid.h', 'i', 'j', 'valid.h'),
			{ ...keepGoing, credential: { apiKey: 'poor' } },
		],
		hints: 'warning: 4 items: 2 valid, 2 refused · no paid calls · 2 reused for free',
	},
];

/** The calls that were paid for, or may have been, as the hint says. */
function callsIn(hints: string): number {
	const [, paid = 0] = /(\d+) paid calls? \(/.exec(hints) ?? [];
	const [, unclear = 0] = /(\d+) calls? without an answer may/.exec(hints) ?? [];
	return Number(paid) + Number(unclear);
}

/** What each item says that it cost. */
function costsOf({ items }: NodeResult): unknown[] {
	return items.map(({ json }) => (errorOf({ json }) ?? json).paidCalls);
}

const savedWith = ({ run }: NodeResult) => run.data.resultData.metadata?.paid_calls;

test('The hint tells the outcomes and the paid calls of a run, as its items do', async () => {
	for (const { of, settings = {}, run, hints } of RUNS) {
		sandbox.set(settings);
		const result = await service.run(...run);
		expect({ of, hints: hintTexts(result).join('\n') }).toEqual({ of, hints });
		const calls = callsIn(hints);
		expect({ of, saved: savedWith(result) }).toEqual({
			of,
			saved: calls ? String(calls) : undefined,
		});
		const [[resource]] = run;
		if (resource !== 'email' || hints.includes('Dry run')) continue;
		const costs = costsOf(result) as number[];
		expect({ of, calls: costs.reduce((sum, cost) => sum + cost) }).toEqual({ of, calls });
	}
});

/** How many calls each item pays for. */
const COSTS: Array<[what: string, run: (typeof RUNS)[number]['run'], costs: unknown[]]> = [
	[
		'searches: found and verified, nobody, both kinds, a duplicate',
		[
			ENRICH,
			{ ...person, tryPersonal: true },
			people('Ann Sure', 'Tom Nobody', 'Invalid Reed', 'Ann Sure'),
		],
		[2, 2, 4, 0],
	],
	[
		'verifications: a duplicate, a lost answer twice, a refusal, no address',
		[VERIFY, verify, [...emails('a', 'a', 'lost', 'lost', 'refused'), {}], keepGoing],
		[1, 0, 1, 0, 0, 0],
	],
	['what is known', [VERIFY, verify, emails('a', 'b', 'a')], [0, 1, 0]],
	['scrapes', [START, titled, [...titles, { title: 7 }]], [undefined, undefined, undefined]],
	[
		'scrapes: a lost answer and a refusal',
		[START, titled, [{ title: 'lost' }, { title: 'refused' }], keepGoing],
		[1, 0],
	],
	['a balance', [BALANCE, {}, [{}, {}]], [undefined, undefined]],
	['a plan', [VERIFY, { ...verify, options: dryRun }, emails('a', 'c')], [undefined, undefined]],
];

test('Each item of an email operation, and each failed item, says how many calls it paid for', async () => {
	sandbox.set({
		faults: [
			{ kind: 'resetAfterWork', match: { bodyIncludes: 'lost' } },
			{ kind: 'envelope', code: 'INVALID_REQUEST', match: { bodyIncludes: 'refused' } },
		],
	});
	for (const [what, run, costs] of COSTS) {
		const result = await service.run(...run);
		expect({ what, costs: costsOf(result) }).toEqual({ what, costs });
	}
});

test.each([
	['a loop', { isInLoop: true, ...keepGoing }, 3],
	['Retry On Fail', { retryOnFail: true }, 4],
])('The paid calls of all runs are saved with the execution: %s', async (_, more, saved) => {
	const match = { bodyIncludes: 'c@', times: 1 };
	sandbox.set({ faults: [{ kind: 'envelope', code: 'PAUSED', match }] });
	const result = await service.run(VERIFY, verify, emails('a', 'b', 'c', 'd', 'a'), more);
	expect(savedWith(result)).toBe(String(saved));
});

test.each([
	[4, '4 items · 4 paid calls · up to 4 more, depending on the answers · up to 1 minute'],
	[100, '100 items · 100 paid calls · up to 100 more, depending on the answers · up to 4 minutes'],
])('The hint of a dry run says how long a run takes: %d items', async (count, said) => {
	const credential = { plan: 'starter', apiKey: 'slow' };
	sandbox.set({ accounts: { slow: { plan: 'starter', credits: 1000 } } });
	const items = people(...Array.from({ length: count }, (_, index) => `P${String(index)} X`));
	const result = await service.run(ENRICH, { ...person, options: dryRun }, items, { credential });
	expect(hintTexts(result)).toEqual([
		`info: Dry run, nothing was sent · ${said} at 60 requests per minute`,
	]);
});

test('A long run says at its end what held it up', async () => {
	sandbox.set({ rateLimit: { perMinute: 2, retryAfter: true } });
	const result = await service.run(FIND, person, people('A High', 'B High', 'C High'));
	const said =
		/^info: 3 items: 3 found · 3 paid calls \(3 business lookups\) · \d+ s · \d+ s waiting for the rate limit$/;
	expect(hintTexts(result)).toEqual([expect.stringMatching(said)]);
});

describe('The examples of docs/operations.md', () => {
	const page = readFileSync(join(__dirname, '../docs/operations.md'), 'utf8');
	const ada: INodeParameters = { firstName: 'Ada', lastName: 'Okafor', company: 'acme.example' };
	const cases: Array<[string, Operation, INodeParameters, string]> = [
		['Find and Verify', ENRICH, ada, 'status'],
		['Find Business Email', FIND, ada, 'confidence'],
		['Find Personal Email', PERSONAL, ada, 'confidence'],
		['Verify', VERIFY, { email: 'ada@acme.example' }, 'status'],
	];

	test.each(cases)('are the real output: %s', async (heading, operation, parameters, second) => {
		const { items } = await service.run(operation, parameters, [{}]);
		const before = `\n### ${heading}\n[^]*?\n\`\`\`json\n`;
		const example = new RegExp(`(?<=${before})[^]*?(?=\n\`\`\`\n)`);
		const [shown = ''] = example.exec(page) ?? [];
		// As text, so that the order counts, too.
		expect(JSON.stringify(JSON.parse(shown))).toBe(JSON.stringify(items[0]?.json));
		expect(Object.keys(items[0]?.json ?? {}).slice(0, 2)).toEqual(['email', second]);
	});
});
