import type { IDataObject } from 'n8n-workflow';
import { startSandbox, type Sandbox } from '../lab/sandbox/server';
import { runLeadGen, type NodeResult, type NodeRun } from './engine';

let sandbox: Sandbox;
let apiKey: string;
let keys = 0;

beforeAll(async () => {
	sandbox = await startSandbox();
});

afterAll(async () => {
	await sandbox.close();
});

beforeEach(() => {
	// The node remembers by account, so each test has one of its own.
	apiKey = `key-${String(++keys)}`;
	account({ plan: 'enterprise', credits: 1000 });
});

afterEach(() => {
	expect(sandbox.requests.map(({ violation }) => violation).filter(Boolean)).toEqual([]);
});

function account(of: { plan: string; credits: number }) {
	sandbox.reset({ accounts: { [apiKey]: of } });
}

const FIND = {
	resource: 'email',
	operation: 'findBusiness',
	firstName: '={{ $json.first }}',
	lastName: '={{ $json.last }}',
	company: 'acme.com',
};

const START = { resource: 'scrape', operation: 'start', limit: '={{ $json.limit }}' };

async function run(
	parameters: IDataObject & { options?: IDataObject },
	items: IDataObject[],
	more: Partial<NodeRun> = {},
): Promise<NodeResult> {
	return await runLeadGen({
		baseUrl: sandbox.url,
		credential: { apiKey, plan: 'enterprise', ...more.credential },
		parameters: parameters as NodeRun['parameters'],
		items,
		...more,
	});
}

/** `count` people whom the sandbox finds, each another one. */
function people(count: number): IDataObject[] {
	return Array.from({ length: count }, (_, i) => ({ first: `Person${String(i)}`, last: 'High' }));
}

function firstNames(): string[] {
	return sandbox.requests.map(({ body }) => (body as { firstName: string }).firstName);
}

function spent(): number {
	return 1000 - sandbox.credits(apiKey);
}

function emails(result: NodeResult): unknown[] {
	return result.items.map(({ json }) => json.email);
}

describe('what is asked twice', () => {
	it('is paid for once, whatever the case and the spaces', async () => {
		const names = [
			['Ann', 'High'],
			['Bob', 'High'],
			['ANN', 'high'],
			[' Ann ', 'High'],
			['Ann Marie', 'High'],
			['ann  marie', 'HIGH'],
			['Cy', 'Nobody'],
			['cy', 'nobody'],
		];
		const result = await run(
			FIND,
			names.map(([first, last]) => ({ first, last })),
		);
		expect(firstNames().sort()).toEqual(['Ann', 'Ann Marie', 'Bob', 'Cy']);
		expect(result.items.map(({ pairedItem }) => pairedItem)).toEqual(
			names.map((_, item) => ({ item })),
		);
		const [ann, bob, ann2, ann3, marie, marie2, cy, cy2] = result.items.map(({ json }) => json);
		expect([ann2, ann3, marie2, cy2]).toEqual([ann, ann, marie, cy]);
		expect(new Set([ann, bob, marie].map((json) => json?.email)).size).toBe(3);
		expect(cy).toEqual({ found: false, email: null });
		expect(spent()).toBe(3);
	});

	it('gives every item a copy of its own', async () => {
		const result = await run(FIND, [...people(1), ...people(1)]);
		const [one, two] = result.items;
		expect(one?.json).toEqual(two?.json);
		expect(one?.json.sources).not.toBe(two?.json.sources);
	});

	it('is known to later executions for a while, to no other account, and not if nothing is remembered', async () => {
		const first = await run(FIND, people(3));
		expect(emails(await run(FIND, people(4)))).toEqual([...emails(first), expect.any(String)]);
		expect(sandbox.requests).toHaveLength(4);

		await run({ ...FIND, options: { rememberMinutes: 0 } }, people(3));
		expect(sandbox.requests).toHaveLength(7);

		const other = `${apiKey}-other`;
		sandbox.set({ accounts: { [other]: { plan: 'pro', credits: 10 } } });
		await run(FIND, people(3), { credential: { apiKey: other } });
		expect(sandbox.requests).toHaveLength(10);
	});

	it('is the same for both finders of business addresses', async () => {
		const linkedinUrl = 'https://www.linkedin.com/in/person';
		await run({ ...FIND, options: { linkedinUrl } }, people(2));
		await run({ ...FIND, operation: 'enrich', linkedinUrl }, people(2));
		expect(sandbox.requests.filter(({ path }) => path === '/email/find')).toHaveLength(2);
	});

	it('is asked anew if it is a status or a balance, but once for all items of a run', async () => {
		const balance = { resource: 'credit', operation: 'get' };
		const [one, two] = [await run(balance, people(5)), await run(balance, people(5))];
		expect(sandbox.requests.map(({ path }) => path)).toEqual(['/credits', '/credits']);
		expect([...one.items, ...two.items].map(({ json }) => json.credits)).toEqual(
			new Array(10).fill(1000),
		);
	});

	it('is a scrape of its own for each item that starts one', async () => {
		const result = await run(START, [{ limit: 5 }, { limit: 5 }, { limit: 7 }]);
		expect(sandbox.jobs.map(({ filters }) => filters.limit).sort()).toEqual([5, 5, 7]);
		expect(new Set(result.items.map(({ json }) => json.scrapeId)).size).toBe(3);
	});
});

describe('what the run did is said beside its output', () => {
	const hints = ({ run: { data } }: NodeResult) =>
		data.resultData.runData.LeadGen?.[0]?.hints ?? [];
	const info = (message: string) => [{ message, type: 'info', location: 'outputPane' }];
	const warning = (message: string) => [{ message, type: 'warning', location: 'outputPane' }];

	it('how many calls were paid for, and how many were not needed', async () => {
		const three = await run(FIND, [...people(3), ...people(1)]);
		expect(hints(three)).toEqual(
			info('4 items: 4 found · 3 paid calls (3 business lookups) · 1 remembered'),
		);
		expect(hints(await run(FIND, people(2)))).toEqual(
			info('2 items: 2 found · no paid calls · 2 remembered'),
		);
		expect(hints(await run({ resource: 'credit', operation: 'get' }, people(2)))).toEqual(
			info('2 items · no paid calls · balance 997 credits when last read'),
		);
	});

	it('a call that failed is no result that was known', async () => {
		sandbox.set({ faults: [{ kind: 'envelope', code: 'MAINTENANCE', status: 500 }] });
		const failed = await run(FIND, [...people(1), ...people(1), ...people(1)], {
			onError: 'continueRegularOutput',
		});
		expect(sandbox.requests).toHaveLength(1);
		expect(failed.items.map(({ json }) => json.error)).toEqual(
			new Array(3).fill(expect.objectContaining({ outcome: 'unknown' })),
		);
		expect(hints(failed)).toEqual(
			warning(
				'3 items: 3 failed · no paid calls · 1 call without an answer may have been paid for',
			),
		);
		sandbox.set({ faults: [{ kind: 'envelope', code: 'NOT_FOUND', status: 404 }] });
		expect(hints(await run(FIND, [...people(1), ...people(1)]))).toEqual(
			info('2 items: 2 not found · 1 paid call (1 business lookup) · 1 remembered'),
		);
	});

	it('which kinds of calls they were', async () => {
		const parameters = {
			resource: 'email',
			operation: 'enrich',
			firstName: '={{ $json.first }}',
			lastName: '={{ $json.last }}',
			company: 'acme.com',
			tryPersonal: true,
		};
		const result = await run(parameters, [
			{ first: 'Ann', last: 'Sure' },
			{ first: 'Bea', last: 'Sure' },
			{ first: 'Cy', last: 'Nobody' },
		]);
		expect(hints(result)).toEqual(
			info(
				'3 items: 2 valid, 1 not found · 6 paid calls (3 business lookups, 2 verifications, 1 personal lookup)',
			),
		);
	});

	it('that scrapes had no filters, once, and in a dry run too', async () => {
		const limits = [{ limit: 1 }, { limit: 2 }];
		const filters = { jobTitles: '={{ $json.limit === 1 ? [] : ["CTO"] }}' };
		const noFilters = warning(
			'A scrape had no filters. It collects leads of any kind, up to the limit, and uses credits for them.',
		);
		expect(hints(await run({ ...START, filters }, limits))).toEqual([
			...noFilters,
			...info('2 items: 2 pending · 2 paid calls (2 scrapes)'),
		]);
		expect(hints(await run({ ...START, filters: {} }, limits))).toEqual([
			...noFilters,
			...info('2 items: 2 pending · 2 paid calls (2 scrapes)'),
		]);
		expect(hints(await run({ ...START, filters: {}, options: { dryRun: true } }, limits))).toEqual([
			...noFilters,
			...info('Dry run: nothing was sent. 2 items, 2 paid calls.'),
		]);
		const set = { ...START, filters: { jobTitles: ['CTO'] } };
		expect(hints(await run(set, limits))).toEqual(
			info('2 items: 2 pending · 2 paid calls (2 scrapes)'),
		);
	});

	it('what a dry run would pay for', async () => {
		await run(FIND, people(1));
		const dry = { ...FIND, options: { dryRun: '={{ "TRUE" }}' } };
		expect(hints(await run(dry, [...people(3), ...people(1)]))).toEqual(
			info('Dry run: nothing was sent. 4 items, 2 paid calls. 2 repeated calls cost nothing.'),
		);
		const enrich = { ...dry, operation: 'enrich', tryPersonal: true };
		expect(hints(await run(enrich, people(2)))).toEqual(
			info(
				'Dry run: nothing was sent. 2 items, 1 paid call. Depending on the answers, up to 6 paid calls may follow. 1 repeated call costs nothing.',
			),
		);
	});

	it('how long the rate limit held it up', async () => {
		sandbox.set({
			rateLimit: {
				kind: 'sliding',
				headers: 'retryAfterSeconds',
				enterprisePerMinute: 2,
				windowMs: 6000,
			},
		});
		const [hint] = hints(await run(FIND, people(3)));
		expect(hint?.message).toMatch(
			/^3 items: 3 found · 3 paid calls \(3 business lookups\) · [5-9] s, [5-8] s of them held up by the rate limit$/,
		);
	});
});

describe('when n8n runs the node again', () => {
	it('buys only what is missing', async () => {
		sandbox.set({
			faults: [{ kind: 'status', match: { bodyIncludes: 'Person2', times: 1 }, status: 500 }],
		});
		const result = await run(FIND, people(5), { retryOnFail: true });
		expect(result.items).toHaveLength(5);
		expect(firstNames().sort()).toEqual(
			['Person0', 'Person1', 'Person2', 'Person2', 'Person3', 'Person4'].sort(),
		);
		expect(spent()).toBe(5);
	});

	it('does not start a scrape twice, and tells again of one that may have been started', async () => {
		sandbox.set({
			faults: [{ kind: 'resetAfterWork', match: { bodyIncludes: '"limit":6' } }],
		});
		const result = await run(START, [{ limit: 5 }, { limit: 6 }, { limit: 7 }], {
			retryOnFail: true,
		});
		expect(sandbox.jobs.map(({ filters }) => filters.limit).sort()).toEqual([5, 6, 7]);
		expect(result.error).toMatchObject({
			message: 'The connection broke before the service answered',
			description: expect.stringContaining('may have done the work') as string,
			context: { itemIndex: 1 },
		});
	});

	it('starts none of several again that may have been started', async () => {
		// All ten are in flight when the first one breaks.
		sandbox.set({
			latencyMs: 500,
			faults: [{ kind: 'resetMidBody', match: { path: '/start' } }],
		});
		const limits = Array.from({ length: 10 }, (_, i) => ({ limit: i + 1 }));
		const result = await run(START, limits, { retryOnFail: true });
		expect(sandbox.jobs).toHaveLength(10);
		expect(result.error?.message).toBe('The connection broke before the service answered');
	});

	it('knows a start by its place, whatever an expression gives this time', async () => {
		sandbox.set({
			faults: [{ kind: 'resetAfterWork', match: { bodyIncludes: '"limit":6', times: 1 } }],
		});
		const webhookUrl = '=https://n8n.example/{{ Math.random() }}';
		const result = await run({ ...START, options: { webhookUrl } }, [{ limit: 5 }, { limit: 6 }], {
			retryOnFail: true,
		});
		expect(sandbox.jobs.map(({ filters }) => filters.limit).sort()).toEqual([5, 6]);
		expect(result.error?.message).toBe('The connection broke before the service answered');
	});

	it('knows its starts and results, also if another execution of the workflow ran meanwhile', async () => {
		const wait = { ...START, operation: 'startAndWait', options: { pollInterval: 1 } };
		const broken = (path: string) => {
			sandbox.set({
				faults: [{ kind: 'envelope', code: 'FORBIDDEN', match: { path, method: 'GET', times: 1 } }],
			});
		};
		broken('/status');
		const items = [{ limit: 5 }, { limit: 6 }];
		const first = await run(wait, items, { executionId: 'a' });
		expect(first.error).toBeDefined();
		sandbox.set({ faults: [] });
		await run(wait, items, { executionId: 'b' });
		await run(wait, items, { executionId: 'a' });
		expect(sandbox.jobs.map(({ filters }) => filters.limit).sort()).toEqual([5, 5, 6, 6]);

		const forgetful = { ...FIND, options: { rememberMinutes: 0 } };
		for (const executionId of ['a', 'b', 'a', 'b'])
			await run(forgetful, people(2), { executionId });
		expect(sandbox.requests.filter(({ path }) => path === '/email/find')).toHaveLength(4);
	});

	it('starts what was refused, and nothing else', async () => {
		sandbox.set({
			faults: [
				{
					kind: 'envelope',
					code: 'INVALID_REQUEST',
					match: { bodyIncludes: '"limit":6', times: 1 },
				},
			],
		});
		const result = await run(START, [{ limit: 5 }, { limit: 6 }], { retryOnFail: true });
		expect(result.items.map(({ json }) => json.status)).toEqual(['pending', 'pending']);
		expect(sandbox.jobs.map(({ filters }) => filters.limit).sort()).toEqual([5, 6]);
		expect(sandbox.requests).toHaveLength(3);
	});
});

describe('an error that stops the node', () => {
	const refuse = (bodyIncludes: string) => {
		sandbox.set({
			faults: [{ kind: 'envelope', code: 'INVALID_REQUEST', match: { bodyIncludes } }],
		});
	};

	it('names the scrapes that were started, since another run would start them again', async () => {
		refuse('"limit":7');
		const { error } = await run(
			{ ...START, options: { parallel: 1 } },
			[5, 6, 7].map((limit) => ({ limit })),
		);
		const ids = sandbox.jobs.map(({ scrapeId }) => `"${scrapeId}"`).join(', ');
		expect(ids).not.toBe('');
		expect(error?.description).toContain(
			`This run started 2 scrapes: ${ids}. Before you run the workflow again, remove the items`,
		);
		expect(error?.description).not.toContain('you do not pay');
	});

	it('says what becomes of the lookups that were bought', async () => {
		refuse('Person2');
		const parallel = 1;
		const remembered = await run({ ...FIND, options: { parallel } }, people(3));
		expect(remembered.error?.description).toContain(
			'This run paid for 2 results. If you run the workflow again within 15 minutes, you do not pay for the same results again.',
		);
		const options = { parallel, rememberMinutes: 0 };
		const forgotten = await run({ ...FIND, options }, people(3));
		expect(forgotten.error?.description).toContain(
			'Before you run the workflow again, remove the items that already have a result. Otherwise you pay for them again.',
		);
	});
});

describe('when the credits run out', () => {
	const OUT_OF_CREDITS = { ...FIND, options: { parallel: 1 } };

	it.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'brings what was bought and marks the rest (%s)',
		async (onError) => {
			account({ plan: 'enterprise', credits: 3 });
			const result = await run(OUT_OF_CREDITS, people(8), { onError });
			expect(sandbox.requests).toHaveLength(4);
			expect(sandbox.credits(apiKey)).toBe(0);
			const failed = onError === 'continueErrorOutput' ? result.errorItems : result.items.slice(3);
			expect(emails(result).slice(0, 3)).toEqual(new Array(3).fill(expect.any(String)));
			expect(failed.map(({ json, pairedItem }) => [json.first, pairedItem])).toEqual(
				[3, 4, 5, 6, 7].map((item) => [`Person${String(item)}`, { item }]),
			);
			expect(failed.map(({ json }) => json.error)).toEqual([
				expect.objectContaining({ code: 'INSUFFICIENT_CREDITS', httpStatus: 402 }),
				...new Array<unknown>(4).fill(expect.objectContaining({ attempted: false })),
			]);
		},
	);

	it('sends nothing more, whatever the service calls it', async () => {
		sandbox.set({ faults: [{ kind: 'envelope', code: 'PAYMENT_REQUIRED', status: 402 }] });
		const { items } = await run(OUT_OF_CREDITS, people(8), { onError: 'continueRegularOutput' });
		expect(sandbox.requests).toHaveLength(1);
		expect(items.map(({ json }) => json.error)).toEqual([
			expect.objectContaining({
				code: 'PAYMENT_REQUIRED',
				advice: expect.stringContaining('Add credits to the account') as string,
			}),
			...new Array<unknown>(7).fill(expect.objectContaining({ attempted: false })),
		]);
	});

	it('says how many were bought, and does not pay for them in the next run', async () => {
		account({ plan: 'enterprise', credits: 3 });
		const failed = await run(OUT_OF_CREDITS, people(8));
		expect(failed.items).toEqual([]);
		expect(failed.error?.description).toContain('This run paid for 3 results');
		sandbox.set({ accounts: { [apiKey]: { plan: 'enterprise', credits: 5 } } });
		const again = await run(OUT_OF_CREDITS, people(8));
		expect(emails(again)).toEqual(new Array(8).fill(expect.any(String)));
		expect(sandbox.requests).toHaveLength(4 + 5);
		expect(sandbox.credits(apiKey)).toBe(0);
	});
});

describe('a rate limit that is not known before', () => {
	const kinds = ['fixed', 'sliding', 'tokenBucket'] as const;
	const headers = [
		'none',
		'retryAfterSeconds',
		'retryAfterDate',
		'ratelimit',
		'xRatelimit',
	] as const;
	it.each(kinds.flatMap((kind) => headers.map((header) => [kind, header] as const)))(
		'costs no item its result: %s window, headers %s',
		async (kind, header) => {
			sandbox.set({
				rateLimit: { kind, headers: header, enterprisePerMinute: 15, windowMs: 1000 },
			});
			const result = await run(FIND, people(40));
			expect(emails(result)).toEqual(new Array(40).fill(expect.any(String)));
			expect(spent()).toBe(40);
			expect(sandbox.requests.filter(({ paid }) => paid)).toHaveLength(40);
		},
	);

	it('is shared by two nodes at the same time', async () => {
		sandbox.set({
			rateLimit: { kind: 'sliding', headers: 'ratelimit', enterprisePerMinute: 15, windowMs: 1000 },
		});
		const [one, two] = await Promise.all([
			run(FIND, people(40).slice(0, 20)),
			run(FIND, people(40).slice(20)),
		]);
		expect([...emails(one), ...emails(two)]).toEqual(new Array(40).fill(expect.any(String)));
		expect(spent()).toBe(40);
	});
});

describe('a rate that is refused for ten minutes', () => {
	/** Lets ten minutes pass as soon as the service has refused a call. */
	function skipTenMinutes() {
		const now = performance.now.bind(performance);
		const hasRefused = () => sandbox.requests.some(({ status }) => status === 429);
		jest
			.spyOn(performance, 'now')
			.mockImplementation(() => now() + (hasRefused() ? 11 * 60_000 * sandbox.requests.length : 0));
	}

	afterEach(() => {
		jest.restoreAllMocks();
	});

	it.each(['continueRegularOutput', 'continueErrorOutput', 'stopWorkflow'] as const)(
		'is an error of the item (%s)',
		async (onError) => {
			skipTenMinutes();
			sandbox.set({
				faults: [
					{ kind: 'envelope', code: 'RATE_LIMIT_EXCEEDED', match: { bodyIncludes: 'Person2' } },
				],
			});
			const options = { parallel: 1 };
			const result = await run({ ...FIND, options }, people(3), { onError });
			const error = {
				code: 'RATE_LIMIT_EXCEEDED',
				httpStatus: 429,
				outcome: 'refused',
				message: expect.stringContaining('RATE_LIMIT_EXCEEDED') as string,
				advice: expect.stringContaining('Try again later') as string,
			};
			const item = { json: { ...people(3)[2], error }, pairedItem: { item: 2 } };
			if (onError === 'continueRegularOutput') expect(result.items[2]).toEqual(item);
			if (onError === 'continueErrorOutput') expect(result.errorItems).toEqual([item]);
			if (onError === 'stopWorkflow') {
				expect(result.error).toMatchObject({ httpCode: '429', context: { itemIndex: 2 } });
			}
			expect(spent()).toBe(2);
			expect(firstNames().filter((name) => name !== 'Person2')).toEqual(['Person0', 'Person1']);
		},
	);
});

it('is asked for nothing more once it has refused the rate for ten minutes', async () => {
	const now = performance.now.bind(performance);
	const refused = () => sandbox.requests.filter(({ status }) => status === 429).length;
	jest.spyOn(performance, 'now').mockImplementation(() => now() + 6 * 60_000 * refused());
	sandbox.set({ faults: [{ kind: 'envelope', code: 'RATE_LIMIT_EXCEEDED' }] });
	const result = await run({ ...FIND, options: { parallel: 1 } }, people(700), {
		onError: 'continueErrorOutput',
	});
	jest.restoreAllMocks();
	expect(refused()).toBe(3);
	const errors = result.errorItems.map(({ json }) => json.error as IDataObject);
	expect(errors.filter(({ code }) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(1);
	expect(errors.filter(({ code }) => code === undefined)).toEqual(
		new Array(699).fill({
			attempted: false,
			message: expect.stringContaining('too many requests') as string,
			advice: expect.any(String) as string,
		}),
	);
});

describe('a service that goes down in the middle of a run', () => {
	/** Once it has answered twenty requests. */
	async function down(): Promise<void> {
		while (sandbox.requests.length < 20) await new Promise(setImmediate);
		await sandbox.goDown();
	}
	const parameters = { ...FIND, options: { parallel: 4 } };

	it('is waited for, and nothing is asked or paid for twice', async () => {
		sandbox.set({ latencyMs: 20 });
		const running = run(parameters, people(60));
		await down();
		await new Promise((resolve) => setTimeout(resolve, 6000));
		await sandbox.comeBack();
		const { items } = await running;
		expect(items.map(({ json }) => json.email)).toEqual(new Array(60).fill(expect.any(String)));
		expect(new Set(firstNames()).size).toBe(60);
		expect(sandbox.requests).toHaveLength(60);
		expect(spent()).toBe(60);
	});

	it('is given up after two minutes, and the rest of the items at once', async () => {
		sandbox.set({ latencyMs: 20 });
		const now = performance.now.bind(performance);
		const running = run(parameters, people(60), { onError: 'continueRegularOutput' });
		await down();
		const since = now();
		// A minute each second.
		jest.spyOn(performance, 'now').mockImplementation(() => now() + 60 * (now() - since));
		const { items } = await running;
		jest.restoreAllMocks();
		await sandbox.comeBack();
		const bought = sandbox.requests.length;
		expect(bought).toBeLessThan(30);
		expect(spent()).toBe(bought);
		const failed = items.filter(({ json }) => json.error !== undefined);
		expect(failed).toHaveLength(60 - bought);
		for (const { json } of failed) {
			expect(json.error).toMatchObject({ outcome: 'notSent', code: 'ECONNREFUSED' });
		}
	});
});

describe('the plan', () => {
	const AUTO = { credential: { plan: 'auto' } };

	it('is not asked for by a small run', async () => {
		await run(FIND, people(20), { credential: { ...AUTO.credential, apiKey } });
		expect(sandbox.requests.map(({ path }) => path)).toEqual(new Array(20).fill('/email/find'));
	});

	it('is asked for once by large ones', async () => {
		account({ plan: 'pro', credits: 1000 });
		const both = { credential: { ...AUTO.credential, apiKey } };
		await run(FIND, people(150), both);
		await run({ ...FIND, company: 'example.com' }, people(100), both);
		expect(sandbox.requests.filter(({ path }) => path === '/credits')).toHaveLength(1);
		expect(sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
		expect(spent()).toBe(250);
	});
});

describe('a connection that breaks', () => {
	it.each([
		['resetBeforeWork', 0],
		['resetAfterWork', 1],
		['resetMidBody', 1],
	] as const)('does not repeat a paid call: %s', async (kind, paid) => {
		sandbox.set({ faults: [{ kind, match: { bodyIncludes: 'Person1' } }] });
		const result = await run(FIND, people(3), { onError: 'continueErrorOutput' });
		expect(firstNames().sort()).toEqual(['Person0', 'Person1', 'Person2']);
		expect(spent()).toBe(2 + paid);
		expect(result.items).toHaveLength(2);
		expect(result.errorItems.map(({ json }) => json.error)).toEqual([
			expect.objectContaining({ outcome: 'unknown' }),
		]);
		// A person who runs it again asks for it again.
		sandbox.set({ faults: [] });
		expect(emails(await run(FIND, people(3)))).toEqual(new Array(3).fill(expect.any(String)));
		expect(sandbox.requests).toHaveLength(4);
	});

	it.each(['resetBeforeWork', 'resetAfterWork', 'status', 'html'] as const)(
		'repeats a free call: %s',
		async (kind) => {
			sandbox.set({ faults: [{ kind, match: { nth: [1, 2] }, status: 503 }] });
			const result = await run({ resource: 'credit', operation: 'get' }, people(2));
			expect(result.items.map(({ json }) => json.credits)).toEqual([1000, 1000]);
			expect(sandbox.requests).toHaveLength(3);
		},
	);

	it('is made again if it was not there at first', async () => {
		const port = Number(new URL(sandbox.url).port);
		await sandbox.close();
		const running = run(FIND, people(3));
		sandbox = await startSandbox({
			port,
			settings: { accounts: { [apiKey]: { plan: 'enterprise', credits: 1000 } } },
		});
		expect(emails(await running)).toEqual(new Array(3).fill(expect.any(String)));
		expect(spent()).toBe(3);
	});
});

it('keeps the order of the items, whatever order the answers come in', async () => {
	sandbox.set({ latencyMs: { min: 0, max: 60 } });
	const result = await run({ ...FIND, options: { includeInput: true } }, people(60));
	expect(result.items.map(({ json }) => json.first)).toEqual(people(60).map(({ first }) => first));
	expect(result.items.map(({ pairedItem }) => pairedItem)).toEqual(
		people(60).map((_, item) => ({ item })),
	);
});

it('sends nothing more once a person presses Stop', async () => {
	sandbox.set({ latencyMs: 50 });
	const before = await new Promise<number>((resolve, reject) => {
		run({ ...FIND, options: { parallel: 2 } }, people(200), {
			onStart: (stop) => {
				const watch = setInterval(() => {
					if (sandbox.requests.length < 6) return;
					clearInterval(watch);
					stop();
				}, 5);
			},
		})
			.then(() => {
				resolve(sandbox.requests.length);
			})
			.catch(reject);
	});
	expect(before).toBeLessThan(20);
	await new Promise((resolve) => setTimeout(resolve, 300));
	expect(sandbox.requests).toHaveLength(before);
});

describe('a budget', () => {
	it.each([
		['keepCredits', 960, 1, 40],
		['keepCredits', 960, 3, 13],
		['spendAtMost', 25, 1, 25],
		['spendAtMost', 25, 2, 12],
	])('stops in time: %s %i at %i credits a call', async (option, credits, cost, calls) => {
		sandbox.set({ cost: { findBusiness: cost } });
		const result = await run({ ...FIND, options: { [option]: credits } }, people(60), {
			onError: 'continueErrorOutput',
		});
		expect(spent()).toBe(calls * cost);
		// Balances are read after 1, 2, 4, 8 … calls, and no more once the budget is used up.
		const balances = sandbox.requests.filter(({ path }) => path === '/credits');
		expect(balances.length).toBeLessThanOrEqual(8);
		expect(result.items).toHaveLength(calls);
		expect(result.errorItems.map(({ json }) => (json.error as IDataObject).attempted)).toEqual(
			new Array(60 - calls).fill(false),
		);
	});

	it('is one for all tries of a run', async () => {
		const result = await run({ ...FIND, options: { spendAtMost: 10 } }, people(30), {
			retryOnFail: true,
		});
		expect(result.error?.message).toBe('Not sent: this run reached Maximum Spend (10 credits)');
	});

	it('of which the balance is less ends a run by its own name', async () => {
		account({ plan: 'enterprise', credits: 80 });
		const options = { spendAtMost: 100 };
		const result = await run({ ...START, limit: 150, options }, people(2));
		expect(sandbox.jobs).toEqual([]);
		expect(result.error?.message).toBe('Not sent: this run reached Maximum Spend (100 credits)');
		expect(result.error?.description).toContain('The balance is 80 credits.');
	});

	it('of one credit is said as one', async () => {
		const result = await run({ ...FIND, options: { spendAtMost: 1 } }, people(3));
		expect(result.error?.message).toBe('Not sent: this run reached Maximum Spend (1 credit)');
		expect(result.error?.description).toContain('This run has used 1 credit.');
	});

	it('says once what becomes of the results that it paid for', async () => {
		const result = await run({ ...FIND, options: { spendAtMost: 10 } }, people(30));
		expect(result.error?.description).toBe(
			'The balance is 990 credits. This run has used 10 credits. To continue, change this limit in the options. If you run the workflow again within 15 minutes, you do not pay for the same results again. This run paid for 10 results.',
		);
	});

	it('does not grow by credits that are added meanwhile', async () => {
		const add = async () => {
			while (spent() < 5) await new Promise(setImmediate);
			sandbox.addCredits(apiKey, 500);
		};
		const adding = add();
		const options = { spendAtMost: 20, parallel: 1 };
		const result = await run({ ...FIND, options }, people(60), { onError: 'continueErrorOutput' });
		await adding;
		expect(result.items.length).toBe(
			sandbox.requests.filter(({ path }) => path !== '/credits').length,
		);
		expect(result.items.length).toBeGreaterThan(10);
		expect(result.items.length).toBeLessThanOrEqual(20);
	});

	it.each(['unknown', 'NOT_FOUND'])(
		'does not take an answer about the balance for one about the call (%s)',
		async (what) => {
			const fault = what === 'unknown' ? { status: 503 } : { code: 'NOT_FOUND' as const };
			const kind = what === 'unknown' ? 'status' : 'envelope';
			sandbox.set({ faults: [{ kind, ...fault, match: { path: '/credits' } }] });
			const options = { spendAtMost: 10 };
			const result = await run({ ...FIND, options }, people(3), { onError: 'continueErrorOutput' });
			expect(result.errorItems.map(({ json }) => json.error)).toEqual(
				new Array(3).fill({
					attempted: false,
					message: 'Not sent: the balance of the account could not be read',
					advice: expect.stringContaining('remove Maximum Spend') as string,
				}),
			);
			expect(spent()).toBe(0);
		},
	);

	it.each(['start', 'completion'] as const)(
		'does not start a scrape that could cost more, charged at its %s',
		async (chargeScrape) => {
			sandbox.set({ chargeScrape });
			const result = await run(
				{ ...START, options: { spendAtMost: 30 } },
				[{ limit: 20 }, { limit: 20 }, { limit: 5 }],
				{ onError: 'continueErrorOutput' },
			);
			expect(sandbox.jobs.map(({ filters }) => filters.limit)).toEqual([20]);
			expect(result.errorItems.map(({ pairedItem }) => pairedItem)).toEqual([
				{ item: 1 },
				{ item: 2 },
			]);
		},
	);
});

it('says in a dry run what would be paid for, and sends nothing', async () => {
	await run(FIND, people(1));
	const result = await run({ ...FIND, options: { dryRun: true } }, [
		...people(3),
		{ first: 'person1', last: 'high' },
		{ first: '', last: '' },
	]);
	expect(result.error?.message).toBe('First Name and Last Name are both empty');
	const planned = await run({ ...FIND, options: { dryRun: true } }, [
		...people(3),
		{ first: 'person1', last: 'high' },
	]);
	expect(sandbox.requests).toHaveLength(1);
	const totals = { items: 4, new: 2, duplicate: 1, remembered: 1, free: 0, mayFollow: 0 };
	const keys = planned.items.map(({ json }) => json.key);
	// Kept in tables for years, so it stays as it is. Case makes no difference.
	expect(keys).toEqual([
		'110b3a7c3617024ec4c97da8a831c500',
		'd8363681f1e7cdcecde5f84385df7a1a',
		'3a2b0cb3ad8eae3a0ce8c8a72ee2e661',
		'd8363681f1e7cdcecde5f84385df7a1a',
	]);
	expect(planned.items).toEqual(
		['remembered', 'new', 'new', 'duplicate'].map((call, item) => ({
			json: {
				dryRun: true,
				call,
				path: '/email/find',
				request: {
					firstName: item === 3 ? 'person1' : `Person${String(item)}`,
					lastName: item === 3 ? 'high' : 'High',
					company: 'acme.com',
				},
				key: keys[item],
				mayFollow: 0,
				totals,
			},
			pairedItem: { item },
		})),
	);
});
