import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { Account, FaultRule } from '../lab/sandbox/settings';
import { hintsOf, type NodeResult, type NodeRun } from './engine';
import { get, sleep, until, useService } from './service';

const service = useService();
const { sandbox } = service;

const FIND = ['email', 'findBusiness'] as const;
const ENRICH = ['email', 'enrich'] as const;
const START = ['scrape', 'start'] as const;
const person = {
	firstName: '={{ $json.first }}',
	lastName: '={{ $json.last }}',
	company: 'acme.com',
};
const continueRegular = { onError: 'continueRegularOutput' } as const;
const continueError = { onError: 'continueErrorOutput' } as const;

afterEach(() => {
	jest.restoreAllMocks();
});

/** From now on, time passes so many times as fast for the node and for the sandbox. */
function speedUp(factor: number) {
	const clocks: Array<{ now: () => number }> = [Date, performance];
	for (const clock of clocks) {
		const now = clock.now.bind(clock);
		const from = now();
		jest.spyOn(clock, 'now').mockImplementation(() => from + factor * (now() - from));
	}
	const wait = setTimeout;
	jest
		.spyOn(globalThis, 'setTimeout')
		.mockImplementation((ring, ms = 0) => wait(ring, ms / factor));
}

/** Finds the business address of each of the people. */
async function find(people: IDataObject[], options: INodeParameters = {}, more?: Partial<NodeRun>) {
	return await service.run(FIND, { ...person, options }, people, more);
}

/** Starts a scrape with each of the limits. */
async function start(limits: number[], parameters: INodeParameters, more?: Partial<NodeRun>) {
	const items = limits.map((limit) => ({ limit }));
	return await service.run(START, { limit: '={{ $json.limit }}', ...parameters }, items, more);
}

/** `count` people whom the sandbox finds, each another one. */
function people(count: number): IDataObject[] {
	return persons(...Array(count).keys()).map((first) => ({ first, last: 'High' }));
}

function apiKey(): string {
	return Object.keys(sandbox.settings.accounts)[0] ?? '';
}

function account(of: Partial<Account>) {
	const whole = { plan: 'enterprise', credits: 100_000, ...of };
	sandbox.set({ accounts: { [apiKey()]: whole } });
}

/** The people that were asked for, in order of their names. */
function firstNames(): string[] {
	return sandbox.requests.map(({ body }) => (body as { firstName: string }).firstName).toSorted();
}

/** The limits of the scrapes that were started, in order. */
function startedLimits() {
	return sandbox.jobs.map(({ limit }) => limit).toSorted((a, b) => a - b);
}

function spent(): number {
	return 100_000 - sandbox.credits();
}

function emails({ items }: NodeResult): unknown[] {
	return items.map(({ json }) => json.email);
}

const times = (count: number, value: unknown) => new Array<unknown>(count).fill(value);
const anyEmails = (count: number) => times(count, expect.any(String));
const notAttempted = (count: number) => times(count, expect.objectContaining({ attempted: false }));
const persons = (...numbers: number[]) => numbers.map((number) => `Person${String(number)}`);

/** The errors of the items on both outputs. */
function errors({ items, errorItems }: NodeResult): unknown[] {
	return [...items, ...errorItems].flatMap(({ json }) => json.error ?? []);
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
		const { items } = await find(names.map(([first, last]) => ({ first, last })));
		expect(firstNames()).toEqual(['Ann', 'Ann Marie', 'Bob', 'Cy']);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(names.map((_, item) => ({ item })));
		const [ann, bob, ann2, ann3, marie, marie2, cy, cy2] = items.map(({ json }) => json);
		expect([ann2, ann3, marie2, cy2]).toEqual([ann, ann, marie, cy]);
		expect(new Set([ann, bob, marie].map((json) => json?.email)).size).toBe(3);
		expect(cy).toEqual({ found: false, email: null });
		expect(spent()).toBe(3);
	});

	it('gives every item a copy of its own', async () => {
		const [one, two] = (await find([...people(1), ...people(1)])).items;
		expect(one?.json).toEqual(two?.json);
		expect(one?.json.sources).not.toBe(two?.json.sources);
	});

	it('is known to later executions for a while, to no other account, and not if nothing is remembered', async () => {
		const first = await find(people(3));
		expect(emails(await find(people(4)))).toEqual([...emails(first), ...anyEmails(1)]);
		expect(sandbox.requests).toHaveLength(4);

		await find(people(3), { rememberMinutes: 0 });
		expect(sandbox.requests).toHaveLength(7);

		sandbox.set({ accounts: { other: { plan: 'pro', credits: 10 } } });
		await find(people(3), {}, { credential: { apiKey: 'other' } });
		expect(sandbox.requests).toHaveLength(10);
	});

	it('is the same for both finders of business addresses', async () => {
		const linkedinUrl = 'https://www.linkedin.com/in/person';
		await find(people(2), { linkedinUrl });
		await service.run(ENRICH, { ...person, linkedinUrl }, people(2));
		expect(sandbox.requests.filter(({ path }) => path === '/email/find')).toHaveLength(2);
	});

	it('is asked anew if it is a balance, but once for all items of a run', async () => {
		for (let runs = 0; runs < 2; runs++) {
			const { items } = await service.run(['credit', 'get'], {}, people(5));
			expect(items.map(({ json }) => json.credits)).toEqual(times(5, 100_000));
		}
		service.expectCalls([get('/credits'), get('/credits')]);
	});

	it('is a scrape of its own for each item that starts one', async () => {
		const { items } = await start([5, 5, 7], {});
		expect(startedLimits()).toEqual([5, 5, 7]);
		expect(new Set(items.map(({ json }) => json.scrapeId)).size).toBe(3);
	});
});

describe('what the run did is said beside its output', () => {
	const hints = (result: NodeResult) => hintsOf(result).flat();
	const info = (message: string) => ({ message, type: 'info', location: 'outputPane' });
	const warning = (message: string) => ({ ...info(message), type: 'warning' });

	it('a call that failed is no result that was known', async () => {
		const threeTimes = [...people(1), ...people(1), ...people(1)];
		sandbox.set({ faults: [{ kind: 'envelope', code: 'MAINTENANCE', status: 500 }] });
		const failed = await find(threeTimes, {}, continueRegular);
		expect(sandbox.requests).toHaveLength(1);
		expect(errors(failed)).toEqual(times(3, expect.objectContaining({ outcome: 'unknown' })));
		expect(hints(failed)).toEqual([
			warning(
				'3 items: 3 failed · no paid calls · 1 call without an answer may have been paid for',
			),
		]);
		sandbox.set({ faults: [{ kind: 'envelope', code: 'NOT_FOUND', status: 404 }] });
		expect(hints(await find([...people(1), ...people(1)]))).toEqual([
			info('2 items: 2 not found · 1 paid call (1 business lookup) · 1 remembered'),
		]);
	});

	it('which kinds of calls they were', async () => {
		const result = await service.run(ENRICH, { ...person, tryPersonal: true }, [
			{ first: 'Ann', last: 'Sure' },
			{ first: 'Bea', last: 'Sure' },
			{ first: 'Cy', last: 'Nobody' },
		]);
		expect(hints(result)).toEqual([
			info(
				'3 items: 2 valid, 1 not found · 6 paid calls (3 business lookups, 2 verifications, 1 personal lookup)',
			),
		]);
	});

	const noFilters = warning(
		'A scrape had no filters. It collects leads of any kind, up to the limit, and uses credits for them.',
	);
	const twoScrapes = info('2 items: 2 pending · 2 paid calls (2 scrapes)');
	const dryRun = info('Dry run: nothing was sent. 2 items, 2 paid calls.');
	it.each<[string, INodeParameters, INodeParameters, object[]]>([
		[
			'one of two',
			{ jobTitles: '={{ $json.limit === 1 ? [] : ["CTO"] }}' },
			{},
			[noFilters, twoScrapes],
		],
		['both', {}, {}, [noFilters, twoScrapes]],
		['both in a dry run', {}, { dryRun: true }, [noFilters, dryRun]],
		['none of them', { jobTitles: ['CTO'] }, {}, [twoScrapes]],
	])('once, which scrapes had no filters: %s', async (_which, filters, options, said) => {
		expect(hints(await start([1, 2], { filters, options }))).toEqual(said);
	});

	it('what a dry run would pay for', async () => {
		await find(people(1));
		const options = { dryRun: '={{ "TRUE" }}' };
		expect(hints(await find([...people(3), ...people(1)], options))).toEqual([
			info('Dry run: nothing was sent. 4 items, 2 paid calls. 2 repeated calls cost nothing.'),
		]);
		const enrich = { ...person, options, tryPersonal: true };
		expect(hints(await service.run(ENRICH, enrich, people(2)))).toEqual([
			info(
				'Dry run: nothing was sent. 2 items, 1 paid call. Depending on the answers, up to 6 paid calls may follow. 1 repeated call costs nothing.',
			),
		]);
	});

	it('how long the rate limit held it up', async () => {
		speedUp(4);
		const window = { enterprisePerMinute: 2, windowMs: 6000 };
		sandbox.set({ rateLimit: { ...window, kind: 'sliding', headers: 'retryAfterSeconds' } });
		const [hint] = hints(await find(people(3)));
		expect(hint?.message).toMatch(
			/^3 items: 3 found · 3 paid calls \(3 business lookups\) · [5-9] s, [5-8] s of them held up by the rate limit$/,
		);
	});
});

describe('when n8n runs the node again', () => {
	const retryOnFail = true;
	const ten = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
	const anyNumber: unknown = expect.any(Number);
	const six = { bodyIncludes: '"limit":6' };

	it('buys only what is missing', async () => {
		const match = { bodyIncludes: 'Person2', times: 1 };
		sandbox.set({ faults: [{ kind: 'status', match, status: 500 }] });
		expect(emails(await find(people(5), {}, { retryOnFail }))).toEqual(anyEmails(5));
		expect(firstNames()).toEqual(persons(0, 1, 2, 2, 3, 4));
		expect(spent()).toBe(5);
	});

	it.each<[string, number[], FaultRule, unknown]>([
		['one of three', [5, 6, 7], { kind: 'resetAfterWork', match: six }, 1],
		['all of ten', ten, { kind: 'resetMidBody' }, anyNumber],
	])(
		'starts none of the scrapes again that may have been started, whatever an expression gives this time: %s',
		async (_which, limits, fault, itemIndex) => {
			// All are in flight when the first one breaks.
			sandbox.set({ latencyMs: 200, faults: [fault] });
			const options = { webhookUrl: '=https://n8n.example/{{ Math.random() }}' };
			const { error } = await start(limits, { options }, { retryOnFail });
			expect(startedLimits()).toEqual(limits);
			expect(error).toMatchObject({
				message: 'The connection broke before the service answered',
				description: expect.stringContaining('may have done the work') as string,
				context: { itemIndex },
			});
		},
	);

	it('knows its starts and results, also if another execution of the workflow ran meanwhile', async () => {
		speedUp(10);
		const match = { path: '/status', method: 'GET', times: 1 };
		sandbox.set({ faults: [{ kind: 'envelope', code: 'FORBIDDEN', match }] });
		const waitIn = async (executionId: string) => {
			const parameters = { limit: '={{ $json.limit }}', options: { pollInterval: 1 } };
			const limits = [{ limit: 5 }, { limit: 6 }];
			return await service.run(['scrape', 'startAndWait'], parameters, limits, { executionId });
		};
		expect((await waitIn('a')).error).toBeDefined();
		await waitIn('b');
		await waitIn('a');
		expect(startedLimits()).toEqual([5, 5, 6, 6]);

		for (const executionId of ['a', 'b', 'a', 'b']) {
			await find(people(2), { rememberMinutes: 0 }, { executionId });
		}
		expect(sandbox.requests.filter(({ path }) => path === '/email/find')).toHaveLength(4);
	});

	it('starts what was refused, and nothing else', async () => {
		const match = { ...six, times: 1 };
		sandbox.set({ faults: [{ kind: 'envelope', code: 'INVALID_REQUEST', match }] });
		const { items } = await start([5, 6], {}, { retryOnFail });
		expect(items.map(({ json }) => json.status)).toEqual(['pending', 'pending']);
		expect(startedLimits()).toEqual([5, 6]);
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
		const { error } = await start([5, 6, 7], { options: { parallel: 1 } });
		expect(startedLimits()).toEqual([5, 6]);
		const ids = sandbox.jobs.map(({ scrapeId }) => `"${scrapeId}"`).join(', ');
		expect(error?.description).toContain(
			`This run started 2 scrapes: ${ids}. Before you run the workflow again, remove the items`,
		);
		expect(error?.description).not.toContain('you do not pay');
	});

	it('says what becomes of the lookups that were bought', async () => {
		refuse('Person2');
		const remembered = await find(people(3), { parallel: 1 });
		expect(remembered.error?.description).toContain(
			'This run paid for 2 results. If you run the workflow again within 15 minutes, you do not pay for the same results again.',
		);
		const forgotten = await find(people(3), { parallel: 1, rememberMinutes: 0 });
		expect(forgotten.error?.description).toContain(
			'Before you run the workflow again, remove the items that already have a result. Otherwise you pay for them again.',
		);
	});
});

describe('when the credits run out', () => {
	const parallel = 1;
	it.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'brings what was bought and marks the rest (%s)',
		async (onError) => {
			account({ credits: 3 });
			const result = await find(people(8), { parallel }, { onError });
			expect(sandbox.requests).toHaveLength(4);
			expect(sandbox.credits()).toBe(0);
			expect(emails(result).slice(0, 3)).toEqual(anyEmails(3));
			const failed = onError === 'continueErrorOutput' ? result.errorItems : result.items.slice(3);
			expect(failed.map(({ json, pairedItem }) => [json.first, pairedItem])).toEqual(
				persons(3, 4, 5, 6, 7).map((name, index) => [name, { item: 3 + index }]),
			);
			expect(errors(result)).toEqual([
				expect.objectContaining({ code: 'INSUFFICIENT_CREDITS', httpStatus: 402 }),
				...notAttempted(4),
			]);
		},
	);

	it('sends nothing more, whatever the service calls it', async () => {
		sandbox.set({ faults: [{ kind: 'envelope', code: 'PAYMENT_REQUIRED', status: 402 }] });
		const result = await find(people(8), { parallel }, continueRegular);
		expect(sandbox.requests).toHaveLength(1);
		expect(errors(result)).toEqual([
			expect.objectContaining({
				code: 'PAYMENT_REQUIRED',
				advice: expect.stringContaining('Add credits to the account') as string,
			}),
			...notAttempted(7),
		]);
	});

	it('says how many were bought, and does not pay for them in the next run', async () => {
		account({ credits: 3 });
		const failed = await find(people(8), { parallel });
		expect(failed.items).toEqual([]);
		expect(failed.error?.description).toContain('This run paid for 3 results');
		account({ credits: 5 });
		expect(emails(await find(people(8), { parallel }))).toEqual(anyEmails(8));
		expect(sandbox.requests).toHaveLength(4 + 5);
		expect(sandbox.credits()).toBe(0);
	});
});

describe('a rate limit that is not known before', () => {
	const kinds = ['fixed', 'sliding', 'tokenBucket'] as const;
	const styles = [
		'none',
		'retryAfterSeconds',
		'retryAfterDate',
		'ratelimit',
		'xRatelimit',
	] as const;
	const alone = kinds.flatMap((kind) => styles.map((headers) => [kind, headers, 1] as const));

	it.each([...alone, ['sliding', 'ratelimit', 2] as const])(
		'costs no item its result: %s window, headers %s, nodes at the same time: %i',
		async (kind, headers, nodes) => {
			speedUp(4);
			sandbox.set({ rateLimit: { kind, headers, enterprisePerMinute: 15, windowMs: 1000 } });
			const shares = Array.from({ length: nodes }, (_, node) =>
				people(40).slice((40 / nodes) * node, (40 / nodes) * (node + 1)),
			);
			const results = await Promise.all(shares.map((share) => find(share)));
			expect(results.flatMap(emails)).toEqual(anyEmails(40));
			expect(spent()).toBe(40);
			expect(sandbox.requests.filter(({ paid }) => paid)).toHaveLength(40);
		},
	);
});

describe('a rate that is refused for ten minutes', () => {
	const refused = () => sandbox.requests.filter(({ status }) => status === 429).length;

	beforeEach(() => {
		const now = performance.now.bind(performance);
		// Six minutes pass at each refusal.
		jest.spyOn(performance, 'now').mockImplementation(() => now() + 6 * 60_000 * refused());
	});

	it.each(['continueRegularOutput', 'continueErrorOutput', 'stopWorkflow'] as const)(
		'is an error of the item (%s)',
		async (onError) => {
			const match = { bodyIncludes: 'Person2' };
			sandbox.set({ faults: [{ kind: 'envelope', code: 'RATE_LIMIT_EXCEEDED', match }] });
			const result = await find(people(3), { parallel: 1 }, { onError });
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
			expect(firstNames()).toEqual(persons(0, 1, 2, 2, 2));
		},
	);

	it('ends the run: nothing more is asked for', async () => {
		sandbox.set({ faults: [{ kind: 'envelope', code: 'RATE_LIMIT_EXCEEDED' }] });
		const result = await find(people(700), { parallel: 1 }, continueError);
		expect(refused()).toBe(3);
		const all = errors(result) as IDataObject[];
		expect(all.filter(({ code }) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(1);
		expect(all.filter(({ code }) => code === undefined)).toEqual(
			times(699, {
				attempted: false,
				message: expect.stringContaining('too many requests') as string,
				advice: expect.any(String) as string,
			}),
		);
	});
});

describe('a service that goes down in the middle of a run', () => {
	/** Sixty calls. The service goes down when twenty of them have arrived. */
	async function runIntoOutage(more: Partial<NodeRun>) {
		sandbox.set({ latencyMs: 20 });
		const running = find(people(60), { parallel: 4 }, more);
		await until(() => sandbox.requests.length >= 20);
		await sandbox.goDown();
		return { running };
	}

	it('is waited for, and nothing is asked or paid for twice', async () => {
		const { running } = await runIntoOutage({});
		speedUp(10);
		// Longer than four tries take, even if the first pause began before time passed faster.
		await sleep(20_000);
		await sandbox.comeBack();
		expect(emails(await running)).toEqual(anyEmails(60));
		expect(new Set(firstNames()).size).toBe(60);
		expect(sandbox.requests).toHaveLength(60);
		expect(spent()).toBe(60);
	});

	it('is given up after two minutes, and the rest of the items at once', async () => {
		const { running } = await runIntoOutage(continueRegular);
		speedUp(100);
		const result = await running;
		await sandbox.comeBack();
		const bought = sandbox.requests.length;
		expect(bought).toBeLessThan(30);
		expect(spent()).toBe(bought);
		expect(errors(result)).toEqual(
			times(60 - bought, expect.objectContaining({ outcome: 'notSent', code: 'ECONNREFUSED' })),
		);
	});
});

describe('the plan', () => {
	const auto = { credential: { plan: 'auto' } };

	it('is not asked for by a small run', async () => {
		await find(people(20), {}, auto);
		expect(sandbox.requests.map(({ path }) => path)).toEqual(times(20, '/email/find'));
	});

	it('is asked for once by large ones', async () => {
		account({ plan: 'pro' });
		await find(people(150), {}, auto);
		await service.run(FIND, { ...person, company: 'example.com' }, people(100), auto);
		service.expectCalls([get('/credits')], '/credits');
		expect(sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
		expect(spent()).toBe(250);
	});
});

describe('a connection that breaks', () => {
	it('costs a person who runs it again one more call', async () => {
		sandbox.set({ faults: [{ kind: 'resetAfterWork', match: { bodyIncludes: 'Person1' } }] });
		const result = await find(people(3), {}, continueError);
		expect(errors(result)).toEqual([expect.objectContaining({ outcome: 'unknown' })]);
		sandbox.set({ faults: [] });
		expect(emails(await find(people(3)))).toEqual(anyEmails(3));
		expect(firstNames()).toEqual(persons(0, 1, 1, 2));
		expect(spent()).toBe(4);
	});

	it.each(['resetBeforeWork', 'resetAfterWork', 'status', 'html'] as const)(
		'repeats a free call: %s',
		async (kind) => {
			speedUp(10);
			sandbox.set({ faults: [{ kind, match: { nth: [1, 2] }, status: 503 }] });
			const { items } = await service.run(['credit', 'get'], {}, people(2));
			expect(items.map(({ json }) => json.credits)).toEqual([100_000, 100_000]);
			expect(sandbox.requests).toHaveLength(3);
		},
	);

	it('is made again if it was not there at first', async () => {
		await sandbox.goDown();
		const running = find(people(3));
		await sleep(200);
		await sandbox.comeBack();
		expect(emails(await running)).toEqual(anyEmails(3));
		expect(spent()).toBe(3);
	});
});

it('keeps the order of the items, whatever order the answers come in', async () => {
	sandbox.set({ latencyMs: { min: 0, max: 60 } });
	const { items } = await find(people(60), { includeInput: true });
	expect(items.map(({ json, pairedItem }) => [json.first, pairedItem])).toEqual(
		people(60).map(({ first }, item) => [first, { item }]),
	);
});

it('sends nothing more once a person presses Stop', async () => {
	sandbox.set({ latencyMs: 50 });
	let stop = () => {};
	const onStart = (press: () => void) => (stop = press);
	const running = find(people(200), { parallel: 2 }, { onStart });
	await until(() => sandbox.requests.length >= 6);
	stop();
	await running;
	const before = sandbox.requests.length;
	expect(before).toBeLessThan(20);
	await sleep(300);
	expect(sandbox.requests).toHaveLength(before);
});

describe('a budget', () => {
	const reached = (most: string) => `Not sent: this run reached Maximum Spend (${most})`;

	it.each([
		['keepCredits', 99_960, 1, 40],
		['keepCredits', 99_960, 3, 13],
		['spendAtMost', 25, 1, 25],
		['spendAtMost', 25, 2, 12],
	])('stops in time: %s %i at %i credits a call', async (option, credits, cost, calls) => {
		sandbox.set({ cost: { findBusiness: cost } });
		const result = await find(people(60), { [option]: credits }, continueError);
		expect(spent()).toBe(calls * cost);
		// Balances are read after 1, 2, 4, 8 … calls, and no more once the budget is used up.
		const balances = sandbox.requests.filter(({ path }) => path === '/credits');
		expect(balances.length).toBeLessThanOrEqual(8);
		expect(result.items).toHaveLength(calls);
		expect(errors(result)).toEqual(notAttempted(60 - calls));
	});

	it('is one for all tries of a run', async () => {
		const { error } = await find(people(30), { spendAtMost: 10 }, { retryOnFail: true });
		expect(error?.message).toBe(reached('10 credits'));
		expect(spent()).toBe(10);
	});

	it('of which the balance is less ends a run by its own name', async () => {
		account({ credits: 80 });
		const { error } = await start([150, 150], { options: { spendAtMost: 100 } });
		expect(sandbox.jobs).toEqual([]);
		expect(error?.message).toBe(reached('100 credits'));
		expect(error?.description).toContain('The balance is 80 credits.');
	});

	it('of one credit is said as one', async () => {
		const { error } = await find(people(3), { spendAtMost: 1 });
		expect(error?.message).toBe(reached('1 credit'));
		expect(error?.description).toContain('This run has used 1 credit.');
	});

	it('says once what becomes of the results that it paid for', async () => {
		const { error } = await find(people(30), { spendAtMost: 10 });
		expect(error?.description).toBe(
			'The balance is 99990 credits. This run has used 10 credits. To continue, change this limit in the options. If you run the workflow again within 15 minutes, you do not pay for the same results again. This run paid for 10 results.',
		);
	});

	it('does not grow by credits that are added meanwhile', async () => {
		sandbox.set({ latencyMs: 5 });
		const running = find(people(60), { spendAtMost: 20, parallel: 1 }, continueError);
		await until(() => spent() >= 5);
		sandbox.addCredits(apiKey(), 500);
		const { items } = await running;
		expect(items).toHaveLength(sandbox.requests.filter(({ path }) => path !== '/credits').length);
		expect(items.length).toBeGreaterThan(10);
		expect(items.length).toBeLessThanOrEqual(20);
	});

	it.each<[string, FaultRule]>([
		['unknown', { kind: 'status', status: 503 }],
		['NOT_FOUND', { kind: 'envelope', code: 'NOT_FOUND' }],
	])(
		'does not take an answer about the balance for one about the call (%s)',
		async (_outcome, fault) => {
			speedUp(10);
			sandbox.set({ faults: [{ ...fault, match: { path: '/credits' } }] });
			const result = await find(people(3), { spendAtMost: 10 }, continueError);
			expect(errors(result)).toEqual(
				times(3, {
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
			const options = { spendAtMost: 30 };
			const { errorItems } = await start([20, 20, 5], { options }, continueError);
			expect(startedLimits()).toEqual([20]);
			expect(errorItems.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }, { item: 2 }]);
		},
	);
});

it('says in a dry run what would be paid for, and sends nothing', async () => {
	await find(people(1));
	const list = [...people(3), { first: 'person1', last: 'high' }];
	const withEmpty = await find([...list, { first: '', last: '' }], { dryRun: true });
	expect(withEmpty.error?.message).toBe('First Name and Last Name are both empty');
	const { items } = await find(list, { dryRun: true });
	expect(sandbox.requests).toHaveLength(1);
	// Kept in tables for years, so it stays as it is. Case makes no difference.
	const keys = [
		'110b3a7c3617024ec4c97da8a831c500',
		'd8363681f1e7cdcecde5f84385df7a1a',
		'3a2b0cb3ad8eae3a0ce8c8a72ee2e661',
		'd8363681f1e7cdcecde5f84385df7a1a',
	];
	expect(items).toEqual(
		['remembered', 'new', 'new', 'duplicate'].map((call, item) => ({
			json: {
				dryRun: true,
				call,
				path: '/email/find',
				request: {
					firstName: list[item]?.first,
					lastName: list[item]?.last,
					company: 'acme.com',
				},
				key: keys[item],
				mayFollow: 0,
				totals: { items: 4, new: 2, duplicate: 1, remembered: 1, free: 0, mayFollow: 0 },
			},
			pairedItem: { item },
		})),
	);
});
