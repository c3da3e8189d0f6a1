/** How a service may answer that the sandbox does not imitate. */
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type { ICredentialDataDecryptedObject, IDataObject, INodeParameters } from 'n8n-workflow';
import { runLeadGen, type NodeResult, type NodeRun } from './engine';
import { get, paired, post, sleep, until, type Call } from './service';

jest.setTimeout(30_000);

/** A request as it came, and when. */
interface Received extends Call {
	at: number;
	query: Record<string, unknown>;
}

type Reply = (body: unknown, status?: number, headers?: OutgoingHttpHeaders) => void;

let answer: (request: Received, reply: Reply, outgoing: ServerResponse) => void;
let received: Received[] = [];
let keysSent: unknown[] = [];
let baseUrl: string;

const server = createServer((incoming, outgoing) => {
	let text = '';
	incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
	incoming.on('end', () => {
		const { pathname, searchParams } = new URL(incoming.url ?? '', baseUrl);
		const request = {
			at: Date.now(),
			method: incoming.method ?? '',
			path: pathname,
			query: Object.fromEntries(searchParams),
			body: text === '' ? undefined : (JSON.parse(text) as unknown),
		};
		received.push(request);
		keysSent.push(incoming.headers.authorization);
		const reply: Reply = (body, status = 200, headers = {}) => {
			outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
			outgoing.end(JSON.stringify(body));
		};
		answer(request, reply, outgoing);
	});
});

/** The runs of a test; none of them goes on after it. */
let runs: Array<Promise<NodeResult>> = [];
let stops: Array<() => void> = [];
// An account of its own for each test, since the node remembers by account.
let accounts = 0;
const apiKey = () => `sk-other/4711+${String(accounts)}"&<x>`;

beforeAll(async () => {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
beforeEach(() => {
	received = [];
	keysSent = [];
	accounts += 1;
});
afterEach(async () => {
	for (const stop of stops) stop();
	await Promise.allSettled(runs);
	runs = [];
	stops = [];
	expect(keysSent).toEqual(received.map(() => `Bearer ${apiKey()}`));
});
afterAll(() => {
	server.close();
	server.closeAllConnections();
});

const VERIFY = ['email', 'verify'] as const;
const FIND_BUSINESS = ['email', 'findBusiness'] as const;
const FIND_PERSONAL = ['email', 'findPersonal'] as const;
const WAIT = ['scrape', 'wait'] as const;

const keepGoing = { onError: 'continueRegularOutput' } as const;
const someText: unknown = expect.stringMatching(/\S/);

async function run(
	[resource, operation]: readonly [string, string],
	parameters: INodeParameters,
	items: IDataObject[],
	options: Partial<NodeRun> = keepGoing,
): Promise<NodeResult> {
	const running = runLeadGen({
		baseUrl,
		parameters: { resource, operation, ...parameters },
		items,
		...options,
		credential: {
			apiKey: apiKey(),
			plan: 'enterprise',
			requestsPerMinute: 0,
			...options.credential,
		},
		onStart: (stop) => stops.push(stop),
	});
	runs.push(running);
	return await running;
}

/** `count` addresses, and how each is verified. */
function addresses(count: number) {
	return Array.from({ length: count }, (_, index) => ({ address: `p${String(index)}@acme.com` }));
}

const ADDRESS = { email: '={{ $json.address }}' };

const verifyCall = ({ address }: { address: string }) => post('/email/verify', { email: address });

const verdictOn = (email: unknown) => ({
	email,
	status: 'valid',
	deliverable: true,
	disposable: false,
	freeProvider: false,
});

/** The result of verifying the address in a request. */
const verdict = (request: Received) => success(verdictOn(fieldsOf(request).email));

const success = (data: unknown) => ({ success: true, data });

const failure = (code: string, message = 'That went wrong') => ({
	success: false,
	error: { code, message },
});

const fieldsOf = ({ body }: Received) => body as IDataObject;

/** Requests in any order, as those of several items are in flight together. */
function expectCalls(calls: Call[], requests = received): void {
	const keyOf = (call: Call) => inspect(call, { sorted: true, depth: Infinity });
	const sorted = (of: Call[]) =>
		of
			.map(({ method, path, query, body }) => ({ method, path, query, body }))
			.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
	expect(sorted(requests)).toEqual(sorted(calls));
}

describe('Headers about an hour, from a service with a limit per minute,', () => {
	const OF_THE_HOUR = {
		'x-ratelimit-limit': '5000',
		'x-ratelimit-remaining': '4900',
		'x-ratelimit-reset': '3600',
	};

	test.each<ICredentialDataDecryptedObject>([
		{ plan: 'starter' },
		{ plan: 'enterprise', requestsPerMinute: 60 },
	])('do not lift the limit of %j', async (credential) => {
		const rows = addresses(150);
		answer = (request, reply) => {
			reply(verdict(request), 200, OF_THE_HOUR);
		};
		const running = run(VERIFY, ADDRESS, rows, { ...keepGoing, credential });

		await until(() => received.length >= 60);
		// More would go out at once if they were allowed to.
		await sleep(2000);
		stops[0]?.();
		const { run: execution } = await running;

		expectCalls(rows.slice(0, 60).map(verifyCall));
		expect(execution.status).toBe('canceled');
	});

	test('do not make refused calls wait for the end of the hour', async () => {
		const rows = addresses(40);
		const taken: Received[] = [];
		answer = (request, reply) => {
			const lately = taken.filter(({ at }) => request.at - at < 1000);
			if (lately.length >= 15) {
				reply(failure('RATE_LIMIT_EXCEEDED'), 429, OF_THE_HOUR);
				return;
			}
			taken.push(request);
			reply(verdict(request), 200, OF_THE_HOUR);
		};
		const { items } = await run(VERIFY, ADDRESS, rows);

		expect(items).toEqual(paired(rows.map(({ address }) => verdictOn(address))));
		expectCalls(rows.map(verifyCall), taken);
		expect(received.length).toBeGreaterThan(taken.length);
	});
});

describe('Retry-After of a service that fails', () => {
	test('is kept before a free call is repeated', async () => {
		const scrapes = ['s1', 's2', 's3'].map((id) => ({ id }));
		const status = (id: unknown) => ({ scrapeId: id, status: 'processing', progress: 10 });
		answer = ({ query }, reply) => {
			if (received.length === 1) reply('busy', 503, { 'retry-after': '2' });
			else reply(success(status(query.scrapeId)));
		};
		const { items } = await run(['scrape', 'getStatus'], { scrapeId: '={{ $json.id }}' }, scrapes);

		expect(items).toEqual(paired(scrapes.map(({ id }) => status(id))));
		const failed = received[0]?.query.scrapeId;
		expectCalls(
			[...scrapes.map(({ id }) => id), failed].map((scrapeId) => get('/status', { scrapeId })),
		);
		const [first, again] = received.filter(({ query }) => query.scrapeId === failed);
		expect(Number(again?.at) - Number(first?.at)).toBeGreaterThanOrEqual(1900);
	});

	test('holds back the rows that were not sent, and no row is sent twice', async () => {
		const rows = addresses(300);
		answer = (request, reply) => {
			if (received.length <= 5) reply('busy', 503, { 'retry-after': '2' });
			// Later, so that the node hears of the failures first.
			else setTimeout(reply, 50, verdict(request));
		};
		const { items } = await run(VERIFY, ADDRESS, rows);

		const failed = new Set(received.slice(0, 5).map((request) => fieldsOf(request).email));
		const error = {
			message: 'The service answered HTTP 503 with something other than the expected JSON',
			advice: expect.stringContaining('did not send the request again') as string,
			outcome: 'unknown',
			httpStatus: 503,
		};
		expect(failed.size).toBe(5);
		expect(items).toEqual(
			paired(
				rows.map((row) => (failed.has(row.address) ? { ...row, error } : verdictOn(row.address))),
			),
		);
		expectCalls(rows.map(verifyCall));
		const since = Number(received[4]?.at);
		// Those that were in flight already.
		expect(received.filter(({ at }) => at - since < 1900).length).toBeLessThanOrEqual(60);
	});
});

describe('A service that takes no calls for now', () => {
	const busy = { body: 'busy' as unknown, status: 503 };
	const tooFast = { body: failure('RATE_LIMIT_EXCEEDED') as unknown, status: 429 };
	const notAttempted = (message: string, advice: string): unknown => ({
		message: `Not sent: the service ${message}`,
		advice: expect.stringContaining(advice) as string,
		attempted: false,
	});

	/** Those that were sent hold `sent` or were not attempted after all, and the others were not attempted. */
	function expectEnd({ items }: NodeResult, rows: Array<{ address: string }>, rest: unknown) {
		const emails = received.map((request) => fieldsOf(request).email);
		expect(new Set(emails).size).toBe(emails.length);
		expect(items).toHaveLength(rows.length);
		for (const [index, { json }] of items.entries()) {
			const { address = '' } = rows[index] ?? {};
			expect(json).toMatchObject({ address });
			if (!emails.includes(address)) expect(json.error).toEqual(rest);
		}
		return items.map(({ json }) => json.error as IDataObject).filter(({ outcome }) => outcome);
	}

	const retryAfter = { 'retry-after': '36000' };
	const noneLeft = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '36000' };

	test.each([
		{ ...busy, headers: retryAfter, says: 'is not available', outcome: 'unknown' },
		...[retryAfter, noneLeft].map((headers) => ({
			...tooFast,
			headers,
			says: 'refuses all requests (too many requests)',
			outcome: 'refused',
		})),
	])(
		'but in hours ends the run at once: it $says, with $headers',
		async ({ body, status, headers, says, outcome }) => {
			const rows = addresses(300);
			answer = (_request, reply) => {
				reply(body, status, headers);
			};
			const began = Date.now();
			const result = await run(VERIFY, ADDRESS, rows);

			expect(Date.now() - began).toBeLessThan(5000);
			expect(received.length).toBeLessThanOrEqual(60);
			const failed = expectEnd(result, rows, notAttempted(says, 'again in 10 hours'));
			expect(failed.length).toBeGreaterThan(0);
			expect(new Set(failed.map((error) => error.outcome))).toEqual(new Set([outcome]));
		},
	);

	test.each([
		{ ...busy, headers: retryAfter },
		{ ...tooFast, headers: retryAfter },
		{ ...tooFast, headers: noneLeft },
	])('gets one call of a later run: HTTP $status, $headers', async ({ body, status, headers }) => {
		answer = (_request, reply) => {
			reply(body, status, headers);
		};
		await run(VERIFY, ADDRESS, addresses(30));
		received = [];
		keysSent = [];
		const began = Date.now();
		const rows = addresses(60).slice(30);
		const { items } = await run(VERIFY, ADDRESS, rows);

		expect(Date.now() - began).toBeLessThan(5000);
		expect(received).toHaveLength(1);
		const errors = items.map(({ json }) => json.error as IDataObject);
		expect(items).toMatchObject(paired(rows));
		expect(errors.filter(({ httpStatus }) => httpStatus === status)).toHaveLength(1);
		expect(errors.filter(({ attempted }) => attempted === false)).toHaveLength(rows.length - 1);
	});

	test.each([
		{ about: 'and it refuses the next one', limit: 30 },
		{ about: 'though it takes more', limit: Infinity },
	])('says so beside the last result, $about', async ({ limit }) => {
		const rows = addresses(50);
		let taken = 0;
		answer = (request, reply) => {
			if (taken >= limit) reply(tooFast.body, tooFast.status, noneLeft);
			else if (++taken < 30)
				reply(verdict(request), 200, { ...noneLeft, 'x-ratelimit-remaining': String(30 - taken) });
			else reply(verdict(request), 200, noneLeft);
		};
		const began = Date.now();
		const { items } = await run(VERIFY, ADDRESS, rows);

		expect(Date.now() - began).toBeLessThan(10_000);
		const isResult = items.map(({ json }) => json.error === undefined);
		expect(isResult.filter(Boolean)).toHaveLength(Math.min(limit, rows.length));
		expect(new Set(received.map((request) => fieldsOf(request).email)).size).toBe(received.length);
	});

	test('is given up after ten minutes, and tried with one call at a time until then', async () => {
		const rows = addresses(300);
		answer = (_request, reply) => {
			reply(busy.body, busy.status, { 'retry-after': '60' });
		};
		const now = performance.now.bind(performance);
		const since = now();
		// Three minutes each second.
		jest.spyOn(performance, 'now').mockImplementation(() => now() + 180 * (now() - since));
		const result = await run(VERIFY, ADDRESS, rows);
		jest.restoreAllMocks();

		expect(now() - since).toBeLessThan(10_000);
		expect(received.length).toBeLessThanOrEqual(60);
		const rest = notAttempted('is not available', 'lasted for ten minutes');
		const failed = expectEnd(result, rows, rest);
		expect(failed).toHaveLength(received.length);
		expect(new Set(failed.map((error) => error.outcome))).toEqual(new Set(['unknown']));
	});

	test('is told as it was said where a free call would have been repeated', async () => {
		answer = (_request, reply) => {
			reply(busy.body, busy.status, retryAfter);
		};
		const { items } = await run(['scrape', 'getStatus'], { scrapeId: 's1' }, [{}]);

		const error = {
			message: 'The service answered HTTP 503 with something other than the expected JSON',
			advice: 'This request costs no credits. Run it again.',
			outcome: 'unknown',
			httpStatus: 503,
		};
		expect(items).toEqual(paired([{ error }]));
		expectCalls([get('/status', { scrapeId: 's1' })]);
	});

	test('gets a single call when it said it would be back', async () => {
		const rows = addresses(200);
		const failed: Received[] = [];
		answer = (request, reply) => {
			if (request.at - Number(received[0]?.at) < 2500) {
				failed.push(request);
				reply(busy.body, busy.status, { 'retry-after': '1' });
			} else reply(verdict(request));
		};
		const { items } = await run(VERIFY, ADDRESS, rows);

		const isFailed = (address: string) =>
			failed.some((request) => fieldsOf(request).email === address);
		const error: unknown = expect.objectContaining({ outcome: 'unknown', httpStatus: 503 });
		expect(items).toEqual(
			paired(
				rows.map((row) => (isFailed(row.address) ? { ...row, error } : verdictOn(row.address))),
			),
		);
		expectCalls(rows.map(verifyCall));
		const first = Number(received[0]?.at);
		expect(failed.filter(({ at }) => at - first > 900)).toHaveLength(2);
	});

	test.each([busy, tooFast])('leaves Stop at once: HTTP $status', async ({ body, status }) => {
		answer = (_request, reply) => {
			reply(body, status, { 'retry-after': '300' });
		};
		const running = run(VERIFY, ADDRESS, addresses(100));
		await until(() => received.length > 0);
		await sleep(500);
		const pressed = Date.now();
		stops[0]?.();
		const { run: execution } = await running;

		expect(Date.now() - pressed).toBeLessThan(500);
		expect(execution.status).toBe('canceled');
		expect(received.length).toBeLessThanOrEqual(60);
	});
});

describe('An answer that comes byte by byte', () => {
	/** Begins to answer at once, and goes on for longer than any test waits. */
	const trickle = (outgoing: ServerResponse) => {
		outgoing.writeHead(200, { 'content-type': 'application/json' });
		const timer = setInterval(() => outgoing.write(' '), 50);
		outgoing.on('close', () => {
			clearInterval(timer);
			closed++;
		});
	};
	let closed: number;
	const late = {
		message: 'The service did not answer in time',
		advice: expect.stringContaining('may have done the work') as string,
		outcome: 'unknown',
		code: 'ECONNABORTED',
	};

	beforeEach(() => {
		closed = 0;
	});

	test('counts as none when the Request Timeout is over', async () => {
		const rows = addresses(3);
		answer = (request, reply, outgoing) => {
			if (fieldsOf(request).email === rows[1]?.address) trickle(outgoing);
			else reply(verdict(request));
		};
		const options = { requestTimeout: 0.5 };
		const { items } = await run(VERIFY, { ...ADDRESS, options }, rows);

		expect(Date.now() - Number(received[0]?.at)).toBeLessThan(3000);
		expect(items).toEqual(
			paired(
				rows.map((row, index) => (index === 1 ? { ...row, error: late } : verdictOn(row.address))),
			),
		);
		expectCalls(rows.map(verifyCall));
		await until(() => closed === 1);
	});

	test('is given up at once when the user presses Stop', async () => {
		answer = (_request, _reply, outgoing) => {
			trickle(outgoing);
		};
		const rows = addresses(3);
		const running = run(VERIFY, ADDRESS, rows);
		await until(() => received.length === rows.length);
		const pressed = Date.now();
		stops[0]?.();
		const { run: execution } = await running;
		await until(() => closed === rows.length);

		expect(Date.now() - pressed).toBeLessThan(1000);
		expect(execution.status).toBe('canceled');
		expectCalls(rows.map(verifyCall));
	});

	test('is no reason to start a scrape twice', async () => {
		const rows = ['CTO', 'CFO', 'CEO'].map((title) => ({ title }));
		answer = ({ body }, reply, outgoing) => {
			if (JSON.stringify(body).includes('CFO')) trickle(outgoing);
			else reply(success({ scrapeId: 'scr_other', status: 'pending', estimatedCredits: 5 }));
		};
		const { items, error } = await run(
			['scrape', 'start'],
			{
				limit: 5,
				filters: { jobTitles: ['={{ $json.title }}'] },
				options: { requestTimeout: 0.5 },
			},
			rows,
			{ retryOnFail: true },
		);

		expect(items).toEqual([]);
		expect(error).toMatchObject({
			message: late.message,
			description: late.advice,
			context: { itemIndex: 1 },
		});
		expectCalls(
			rows.map(({ title }) => post('/start', { filters: { limit: 5, jobTitles: [title] } })),
		);
	});

	test('makes the node ask again for what is free', async () => {
		const scrapes = ['s1', 's2', 's3'].map((id) => ({ id }));
		const isLate = new Set<unknown>(['s2']);
		answer = ({ query }, reply, outgoing) => {
			if (isLate.delete(query.scrapeId)) trickle(outgoing);
			else reply(success({ scrapeId: query.scrapeId, status: 'pending' }));
		};
		const { items } = await run(
			['scrape', 'getStatus'],
			{ scrapeId: '={{ $json.id }}', options: { requestTimeout: 0.5 } },
			scrapes,
		);

		expect(items).toEqual(paired(scrapes.map(({ id }) => ({ scrapeId: id, status: 'pending' }))));
		expectCalls(['s1', 's2', 's2', 's3'].map((scrapeId) => get('/status', { scrapeId })));
	});
});

describe('An option that limits what is spent, from an expression that gives nothing,', () => {
	test.each([
		{
			option: 'spendAtMost',
			message: 'Maximum Spend (Credits) must be a number of at least 0, but is empty',
			field: 'Maximum Spend (Credits)',
		},
		{
			option: 'keepCredits',
			message: 'Minimum Balance (Credits) must be a number of at least 0, but is empty',
			field: 'Minimum Balance (Credits)',
		},
		{
			option: 'dryRun',
			message: 'Dry Run must be on or off, but is empty',
			field: 'Dry Run',
		},
	])('is no permission to spend: $option', async ({ option, message, field }) => {
		const rows = addresses(3);
		answer = (request, reply) => {
			reply(request.path === '/credits' ? success({ credits: 100 }) : verdict(request));
		};
		const options = { [option]: '={{ $json.budgett }}' };
		const { items } = await run(VERIFY, { ...ADDRESS, options }, rows);

		expectCalls([]);
		expect(items).toEqual(
			paired(rows.map((row) => ({ ...row, error: { message, advice: someText, field } }))),
		);
	});
});

describe('Error If Not Found that is neither on nor off', () => {
	const people = [
		{ first: 'Ann', strict: 'maybe' },
		{ first: 'Bob', strict: 'yes' },
		{ first: 'Cid', strict: 'perhaps' },
	];

	test.each([
		{ operation: FIND_BUSINESS, path: '/email/find', place: { company: 'acme.com' } },
		{ operation: FIND_PERSONAL, path: '/email/personal', place: {} },
		{
			operation: ['email', 'enrich'] as const,
			path: '/email/find',
			place: { company: 'acme.com' },
		},
	])('is an error before anything is paid for: $operation', async ({ operation, path, place }) => {
		answer = (_request, reply) => {
			reply(success({ email: null }));
		};
		const { items } = await run(
			operation,
			{
				...place,
				firstName: '={{ $json.first }}',
				options: { errorIfNotFound: '={{ $json.strict }}' },
			},
			people,
		);

		expectCalls([post(path, { firstName: 'Bob', ...place })]);
		const wrong = (value: string) => ({
			message: `Error if Not Found must be on or off, but is "${value}"`,
			advice: someText,
			field: 'Error if Not Found',
		});
		expect(items).toEqual(
			paired([
				{ ...people[0], error: wrong('maybe') },
				{
					...people[1],
					error: expect.objectContaining({ code: 'NOT_FOUND', message: someText }) as unknown,
				},
				{ ...people[2], error: wrong('perhaps') },
			]),
		);
	});
});

describe('A message of the service that names a network error', () => {
	const rows = ['upstream ETIMEDOUT', 'ECONNREFUSED', 'getaddrinfo ENOTFOUND db.internal'].map(
		(said, index) => ({ said, address: `p${String(index)}@acme.com` }),
	);
	const shown = (said: string) => `The service says: ${said} (INTERNAL)`;

	test('is shown as it is in the item', async () => {
		answer = (request, reply) => {
			const row = rows.find(({ address }) => address === fieldsOf(request).email);
			reply(failure('INTERNAL', row?.said), 500);
		};
		const { items } = await run(VERIFY, ADDRESS, rows);

		const facts = { advice: someText, outcome: 'unknown', code: 'INTERNAL', httpStatus: 500 };
		expect(items).toEqual(
			paired(rows.map((row) => ({ ...row, error: { message: shown(row.said), ...facts } }))),
		);
		expectCalls(rows.map(verifyCall));
	});

	test.each(rows)('is shown as it is where the node fails: $said', async (row) => {
		const others = ['a', 'b'].map((name) => ({ address: `${name}@acme.com` }));
		answer = (request, reply) => {
			const { email } = fieldsOf(request);
			if (email === row.address) reply(failure('INTERNAL', row.said), 500);
			else reply(verdict(request));
		};
		const options = { parallel: 1 };
		const { items, error } = await run(VERIFY, { ...ADDRESS, options }, [...others, row], {});

		expect(items).toEqual([]);
		expect(error).toMatchObject({
			message: shown(row.said),
			description: expect.stringContaining('may have done the work') as string,
			context: { itemIndex: 2 },
			httpCode: '500',
		});
		expectCalls([...others, row].map(verifyCall));
	});
});

describe('An error that the envelope holds in an unusual way', () => {
	const people = ['Ann', 'Trouble', 'Bob'].map((name) => ({ name }));
	const isTrouble = (request: Received) => JSON.stringify(request.body).includes('Trouble');
	const found = { email: 'somebody@acme.com', confidence: 0.75 };
	const finders = [
		{
			operation: FIND_BUSINESS,
			path: '/email/find',
			parameters: { firstName: '={{ $json.name }}', company: 'acme.com' },
			body: (name: string) => ({ firstName: name, company: 'acme.com' }),
			data: found,
			result: { found: true, confidenceLevel: 'high', ...found },
		},
		{
			operation: FIND_PERSONAL,
			path: '/email/personal',
			parameters: { firstName: '={{ $json.name }}' },
			body: (name: string) => ({ firstName: name }),
			data: found,
			result: { found: true, confidenceLevel: 'high', ...found },
		},
	];
	const verifier = {
		operation: VERIFY,
		path: '/email/verify',
		parameters: { email: '={{ $json.name }}@acme.com' },
		body: (name: string) => ({ email: `${name}@acme.com` }),
		data: verdictOn('somebody@acme.com'),
		result: verdictOn('somebody@acme.com'),
	};

	test.each([...finders, verifier])(
		'is an error beside data that is null: $operation',
		async ({ operation, path, parameters, body, data, result }) => {
			const error = { code: 'INTERNAL', message: 'That went wrong' };
			answer = (request, reply) => {
				reply(isTrouble(request) ? { ...success(null), error } : success(data));
			};
			const { items } = await run(operation, parameters, people);

			expect(items).toEqual(
				paired([
					result,
					{
						name: 'Trouble',
						error: {
							message: 'The service says: That went wrong (INTERNAL)',
							advice: expect.stringContaining('may have done the work') as string,
							outcome: 'unknown',
							code: 'INTERNAL',
							httpStatus: 200,
						},
					},
					result,
				]),
			);
			expectCalls(people.map(({ name }) => post(path, body(name))));
		},
	);

	test.each(finders)(
		'is an error though it has a message only: $operation',
		async ({ operation, path, parameters, body, data, result }) => {
			const error = { code: '', message: 'That went wrong' };
			answer = (request, reply) => {
				reply(isTrouble(request) ? { ...success(null), error } : success(data));
			};
			const { items } = await run(operation, parameters, people);

			const unknown = expect.objectContaining({ outcome: 'unknown' }) as IDataObject;
			expect(items).toEqual(paired([result, { name: 'Trouble', error: unknown }, result]));
			expectCalls(people.map(({ name }) => post(path, body(name))));
		},
	);

	test.each(finders)(
		'is none if it is empty, and nobody was found: $operation',
		async ({ operation, path, parameters, body, data, result }) => {
			const error = { code: '', message: '' };
			answer = (request, reply) => {
				reply(isTrouble(request) ? { ...success(null), error } : success(data));
			};
			const { items } = await run(operation, parameters, people);

			expect(items).toEqual(paired([result, { found: false, email: null }, result]));
			expectCalls(people.map(({ name }) => post(path, body(name))));
		},
	);
});

describe('An error code that every object of JavaScript has as a field', () => {
	const rows = ['constructor', 'toString', '__proto__'].map((code) => ({
		code,
		address: `${code}@acme.com`,
	}));
	const answerAll = (status: number) => {
		answer = (request, reply) => {
			const row = rows.find(({ address }) => address === fieldsOf(request).email);
			reply(failure(String(row?.code)), status);
		};
	};
	const failed = (facts: object) =>
		paired(
			rows.map(({ code, address }) => ({
				code,
				address,
				error: { message: `The service says: That went wrong (${code})`, code, ...facts },
			})),
		);

	test('leaves open what became of a paid call', async () => {
		answerAll(200);
		const { items } = await run(VERIFY, ADDRESS, rows);

		expect(items).toEqual(
			failed({
				advice: expect.stringContaining('may have done the work') as string,
				outcome: 'unknown',
				httpStatus: 200,
			}),
		);
		expectCalls(rows.map(verifyCall));
	});

	test('has no advice of its own where the call is refused', async () => {
		answerAll(400);
		const { items } = await run(VERIFY, ADDRESS, rows);

		expect(items).toEqual(
			failed({
				advice: 'Look up this code in the documentation of the service.',
				outcome: 'refused',
				httpStatus: 400,
			}),
		);
		expectCalls(rows.map(verifyCall));
	});
});

test('A service that limits how often it names the plan holds no other call up', async () => {
	answer = (request, reply) => {
		if (request.path !== '/credits') {
			reply(success({ email: (request.body as IDataObject).email, status: 'valid' }));
			return;
		}
		const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Twice a day' };
		reply({ success: false, error }, 429, { 'retry-after': '3600' });
	};
	const people = addresses(58);
	const { items } = await run(VERIFY, ADDRESS, people, {
		...keepGoing,
		credential: { plan: 'auto' },
	});
	const emails = people.map(({ address }) => address);
	expect(items.map(({ json }) => json.email)).toEqual(emails);
	expect(received.filter(({ path }) => path === '/credits')).toHaveLength(1);
});

test('A balance that is a text is read', async () => {
	answer = (_, reply) => {
		reply(success({ credits: ' 1 ', plan: 'x' }));
	};
	const parameters = { ...ADDRESS, options: { keepCredits: 1 } };
	const { items } = await run(VERIFY, parameters, addresses(3));
	const message = 'Not sent: this run reached Minimum Balance (1 credit)';
	const error: unknown = expect.objectContaining({ message });
	expect(items.map(({ json }) => json.error)).toEqual([error, error, error]);
	expect(received.map(({ path }) => path)).toEqual(['/credits']);
});

test('Too few credits are no matter of the rate, also with HTTP 429', async () => {
	const rows = addresses(3);
	answer = (_request, reply) => {
		reply(failure('INSUFFICIENT_CREDITS'), 429);
	};
	const { items } = await run(VERIFY, { ...ADDRESS, options: { parallel: 1 } }, rows);

	const refused = {
		message: 'The service says: That went wrong (INSUFFICIENT_CREDITS)',
		advice: expect.stringContaining('Add credits to the account') as string,
		outcome: 'refused',
		code: 'INSUFFICIENT_CREDITS',
		httpStatus: 429,
	};
	const notAttempted = {
		message: 'Not sent: the account has too few credits',
		advice: someText,
		attempted: false,
	};
	expect(items).toEqual(
		paired(rows.map((row, index) => ({ ...row, error: index === 0 ? refused : notAttempted }))),
	);
	expectCalls(rows.slice(0, 1).map(verifyCall));
});

test('An error code that is a number is shown, and advice on the key is not all there is', async () => {
	const rows = addresses(3);
	const answers: Array<[status: number, code: unknown, advice: string]> = [
		[422, 1007, 'Look up this code in the documentation of the service.'],
		[
			403,
			'QUOTA_EXCEEDED',
			'Check the API key in the LeadGen credential. Look up this code in the documentation of the service.',
		],
		[
			401,
			17,
			'Check the API key in the LeadGen credential. Look up this code in the documentation of the service.',
		],
	];
	answer = (request, reply) => {
		const index = rows.findIndex(({ address }) => address === fieldsOf(request).email);
		const [status, code] = answers[index] ?? [];
		reply({ success: false, error: { code, message: 'Bad' } }, status);
	};
	const { items } = await run(VERIFY, ADDRESS, rows);

	const errors = answers.map(([httpStatus, code, advice]) => ({
		message: `The service says: Bad (${String(code)})`,
		advice,
		outcome: 'refused',
		code: String(code),
		httpStatus,
	}));
	expect(items).toEqual(paired(rows.map((row, index) => ({ ...row, error: errors[index] }))));
	expectCalls(rows.map(verifyCall));
});

describe('Credits that run out in the middle of a run', () => {
	const paymentNeeded = [402, 'Pay first'] as const;
	const texts = [
		'Not enough credits',
		'You do not have enough credits for this request.',
		"You don't have enough credits",
		'You have run out of credits',
		'No credits left',
		'You have no credits.',
		'No more credits available',
		'Your monthly credits are exhausted. Upgrade your plan.',
		'Insufficient credit balance',
		'Credit limit reached',
	];
	const codes = ['NO_CREDITS', 'OUT_OF_CREDITS', 'CREDITS_EXHAUSTED', 'insufficient-credit'];
	const ways: Array<readonly [status: number, body: unknown]> = [
		paymentNeeded,
		[402, failure('PAYMENT')],
		...texts.map((error) => [200, { success: false, error }] as const),
		...codes.map((code) => [403, failure(code)] as const),
		[200, failure('NO_CREDITS')],
		[403, failure('FORBIDDEN', 'You have run out of credits')],
		[400, { success: false, message: 'Insufficient credits' }],
	];

	test.each(ways)('end it: HTTP %d %j', async (status, body) => {
		const rows = addresses(5);
		answer = (request, reply) => {
			if (received.length <= 2) reply(verdict(request));
			else reply(body, status);
		};
		const { items } = await run(VERIFY, { ...ADDRESS, options: { parallel: 1 } }, rows);

		const refused: unknown = expect.objectContaining({
			outcome: 'refused',
			httpStatus: status,
			advice: expect.stringContaining('Add credits to the account') as string,
		});
		const rest: unknown = {
			message: 'Not sent: the account has too few credits',
			advice: someText,
			attempted: false,
		};
		const errors = [undefined, undefined, refused, rest, rest];
		expect(items).toEqual(
			paired(
				rows.map((row, index) =>
					errors[index] ? { ...row, error: errors[index] } : verdictOn(row.address),
				),
			),
		);
		expectCalls(rows.slice(0, 3).map(verifyCall));
	});

	test.each([
		[400, failure('INVALID_EMAIL', 'No credits were charged')],
		[422, failure('INVALID_EMAIL', 'Not a valid address. This cost no credits.')],
		[404, { success: false, error: 'Used 3 out of 10 credits' }],
		[404, failure('EMAIL_NOT_FOUND', 'No email was found. This lookup used no credits')],
		[404, { success: false, error: 'Nobody found, charged no credits.' }],
		[404, { success: false, error: 'Nobody found. No more credits were charged' }],
		[404, { success: false, error: 'Nobody found. Your credits were not used up.' }],
		[422, failure('TOO_LITTLE', 'Not enough data to find an email, no credits used up')],
		[502, { success: false, error: 'Provider: not enough credits' }],
	])('are not what an error means that only mentions them: HTTP %d %j', async (status, body) => {
		const rows = addresses(4);
		answer = (request, reply) => {
			if (received.length === 2) reply(body, status);
			else reply(verdict(request));
		};
		const { items } = await run(VERIFY, { ...ADDRESS, options: { parallel: 1 } }, rows);

		const error: unknown = expect.objectContaining({ httpStatus: status });
		expect(items).toEqual(
			paired(rows.map((row, index) => (index === 1 ? { ...row, error } : verdictOn(row.address)))),
		);
		expectCalls(rows.map(verifyCall));
	});
});

test('A confidenceLevel that the service itself sends is passed on untouched', async () => {
	const people = [{ name: 'Ann', level: 'A+' }, { name: 'Bob', level: null }, { name: 'Cid' }];
	const answers = [
		{ email: 'ann@acme.com', confidence: 0.95, confidenceLevel: 'A+' },
		{ email: 'bob@acme.com', confidence: 0.95, confidenceLevel: null },
		{ email: 'cid@acme.com', confidence: 0.95 },
	];
	answer = (request, reply) => {
		const index = people.findIndex(({ name }) => name === fieldsOf(request).firstName);
		reply(success(answers[index]));
	};
	const { items } = await run(
		FIND_BUSINESS,
		{ firstName: '={{ $json.name }}', company: 'acme.com' },
		people,
	);

	expect(items).toEqual(
		paired([
			{ found: true, ...answers[0] },
			{ found: true, ...answers[1] },
			{ found: true, ...answers[2], confidenceLevel: 'very_high' },
		]),
	);
	expectCalls(
		people.map(({ name }) => post('/email/find', { firstName: name, company: 'acme.com' })),
	);
});

describe('A wait for scrapes', () => {
	const scrapes = ['s1', 's2', 's3'].map((id) => ({ id }));
	const SCRAPE = { scrapeId: '={{ $json.id }}' };

	test('ends at its Timeout, also if no status was ever answered', async () => {
		const late: Array<() => void> = [];
		answer = ({ query }, reply) => {
			late.push(() => {
				reply(success({ scrapeId: query.scrapeId, status: 'completed' }));
			});
		};
		const { items } = await run(WAIT, { ...SCRAPE, options: { timeout: 0.02 } }, scrapes);
		const tookMs = Date.now() - Number(received[0]?.at);
		// Nothing is left to repeat then.
		for (const answerNow of late) answerNow();

		// The request alone would wait for five minutes.
		expect(tookMs).toBeLessThan(10_000);
		expect(items).toEqual(
			paired(
				scrapes.map(({ id }) => ({
					id,
					error: {
						message: `Scrape ${id} did not finish within 0.02 minutes`,
						advice: expect.stringContaining('wait longer') as string,
						scrapeId: id,
					},
				})),
			),
		);
		expectCalls(scrapes.map(({ id }) => get('/status', { scrapeId: id })));
	});

	test('names the scrape that failed, whatever message the service has for it', async () => {
		const statusOf = (id: unknown) =>
			id === 's2'
				? { scrapeId: id, status: 'failed', message: 'No leads', progress: 40 }
				: { scrapeId: id, status: 'completed', message: 'Done', progress: 100 };
		answer = ({ query }, reply) => {
			reply(success(statusOf(query.scrapeId)));
		};
		const { items } = await run(WAIT, SCRAPE, scrapes);

		expect(items).toEqual(
			paired([
				statusOf('s1'),
				{
					id: 's2',
					error: {
						...statusOf('s2'),
						message: 'Scrape s2 failed: No leads',
						advice: someText,
					},
				},
				statusOf('s3'),
			]),
		);
		expectCalls(scrapes.map(({ id }) => get('/status', { scrapeId: id })));
	});
});

test('A start that is answered with a redirect to its result is not sent again by Retry On Fail', async () => {
	const rows = ['CTO', 'CFO', 'CEO'].map((title) => ({ title }));
	const startCall = (title: string) =>
		post('/start', { filters: { limit: 5, jobTitles: [title] } });
	const location = `${baseUrl}/status?scrapeId=scr_CFO`;
	answer = (request, reply) => {
		const text = JSON.stringify(request.body);
		if (text.includes('CFO')) reply({}, 303, { location });
		else reply(success({ scrapeId: 'scr_other', status: 'pending', estimatedCredits: 5 }));
	};
	const { items, error } = await run(
		['scrape', 'start'],
		{ limit: 5, filters: { jobTitles: ['={{ $json.title }}'] } },
		rows,
		{ retryOnFail: true },
	);

	expect(items).toEqual([]);
	expect(error).toMatchObject({
		message: `The service redirects to ${location}`,
		description: expect.stringContaining('may have done the work') as string,
		context: { itemIndex: 1 },
		httpCode: '303',
	});
	expectCalls(rows.map(({ title }) => startCall(title)));
});

test.each([201, 202, 206])('HTTP %d with a result is a result of any operation', async (status) => {
	const rows = ['Ann', 'Bob', 'Cid'].map((name) => ({ name }));
	const data = { email: 'p@acme.com', credits: 5, scrapeId: 's1', status: 'completed' };
	answer = (_request, reply) => {
		reply(success(data), status);
	};
	const found = { found: true, ...data };
	const operations: Array<[readonly [string, string], INodeParameters, IDataObject]> = [
		[FIND_BUSINESS, { firstName: '={{ $json.name }}', company: 'acme.com' }, found],
		[FIND_PERSONAL, { firstName: '={{ $json.name }}' }, found],
		[VERIFY, { email: '={{ $json.name }}@acme.com' }, data],
		[['scrape', 'getStatus'], { scrapeId: '={{ $json.name }}' }, data],
		[WAIT, { scrapeId: '={{ $json.name }}' }, data],
		[['credit', 'get'], {}, data],
	];
	for (const [operation, parameters, result] of operations) {
		const { items } = await run(operation, parameters, rows);
		expect(items).toEqual(paired(rows.map(() => result)));
	}
	// The balance is read once for all items.
	expect(received).toHaveLength(5 * rows.length + 1);
});

test.each([
	[303, 'unknown'],
	[307, 'refused'],
	[308, 'refused'],
])('A start that is answered with HTTP %d is %s, wherever that leads', async (status, outcome) => {
	const targets = ['/status?scrapeId=s1', '/v2/start', 'https://api.example.com/start', undefined];
	const rows = targets.map((location, index) => ({ location, limit: index + 1 }));
	answer = ({ body }, reply) => {
		const { limit } = (body as { filters: { limit: number } }).filters;
		const location = targets[limit - 1];
		reply({}, status, location === undefined ? {} : { location });
	};
	const { items } = await run(['scrape', 'start'], { limit: '={{ $json.limit }}' }, rows);

	const error = { outcome, httpStatus: status };
	expect(items).toMatchObject(paired(rows.map(({ limit }) => ({ limit, error }))));
	expectCalls(rows.map(({ limit }) => post('/start', { filters: { limit } })));
});

describe('A start that is accepted in an unusual way', () => {
	/** Starts a scrape with each of the answers. */
	async function startWith(operation: string, answers: unknown[], statuses: number[] = []) {
		const rows = answers.map((_, index) => ({ limit: index + 1 }));
		answer = ({ path, query, body }, reply) => {
			if (path === '/status') {
				reply(success({ scrapeId: query.scrapeId, status: 'completed' }));
				return;
			}
			const { limit } = (body as { filters: { limit: number } }).filters;
			reply(answers[limit - 1], statuses[limit - 1]);
		};
		const { items } = await run(['scrape', operation], { limit: '={{ $json.limit }}' }, rows);
		expectCalls(
			rows.map(({ limit }) => post('/start', { filters: { limit } })),
			received.filter(({ path }) => path === '/start'),
		);
		return { items, rows };
	}

	test.each(['start', 'startAndWait'])('is a start with any 2xx status: %s', async (operation) => {
		const statuses = [200, 201, 202, 203, 206];
		const started = statuses.map((status) => ({ scrapeId: `s${String(status)}`, credits: 5 }));
		const { items } = await startWith(operation, started.map(success), statuses);

		const waited = operation === 'startAndWait';
		expect(items).toEqual(
			paired(started.map((data) => ({ ...data, ...(waited && { status: 'completed' }) }))),
		);
	});

	test('returns what the service sent, also without the ID', async () => {
		const sent = [{}, { id: 'x' }, { jobId: 'x', status: 'pending' }, { scrapeId: 17 }];
		const { items } = await startWith('start', sent.map(success));
		expect(items).toEqual(paired(sent));
	});

	test('is an error with what the service sent if nobody can wait for it', async () => {
		const sent = [{}, { id: 'x' }, { jobId: 'x', status: 'pending' }];
		const { items, rows } = await startWith('startAndWait', sent.map(success));
		const error = {
			message: 'The service started a scrape but did not return its ID',
			advice: expect.stringContaining('you pay for it again') as string,
		};
		expect(items).toEqual(
			paired(rows.map((row, index) => ({ ...row, error: { ...sent[index], ...error } }))),
		);
		expect(received.filter(({ path }) => path === '/status')).toEqual([]);
	});

	test.each(['start', 'startAndWait'])(
		'without data is an error that holds the answer: %s',
		async (operation) => {
			const sent = [
				{},
				{ scrapeId: 'x', status: 'pending' },
				{ data: 'abc' },
				{ data: [{ scrapeId: 'x' }] },
			];
			const { items, rows } = await startWith(operation, [
				...sent,
				...sent.map((fields) => ({ success: true, ...fields })),
			]);
			const error = {
				message: 'The service returned no result',
				advice: expect.stringContaining('may have done the work') as string,
				outcome: 'unknown',
			};
			expect(items).toEqual(
				paired(
					rows.map((row, index) => {
						const fields = sent[index % sent.length] ?? {};
						const isEmpty = Object.keys(fields).length === 0;
						return { ...row, error: { ...error, ...(!isEmpty && { answer: fields }) } };
					}),
				),
			);
		},
	);
});

test('A start that is refused stops the run before the next one goes out', async () => {
	answer = ({ body }, reply) => {
		reply(failure('INVALID_REQUEST', JSON.stringify(body)), 400);
	};
	const titles = ['CTO', 'CFO', 'COO', 'CEO'].map((title) => ({ title }));
	const parameters = {
		filters: { jobTitles: ['={{ $json.title }}'] },
		options: { parallel: 1 },
	};
	const { error } = await run(['scrape', 'start'], parameters, titles, {});

	expect(error?.message).toContain('INVALID_REQUEST');
	expectCalls([post('/start', { filters: { jobTitles: ['CTO'], limit: 50 } })]);
});

describe('A service that answers in other words', () => {
	const PERSON = { firstName: '={{ $json.name }}', lastName: 'Reed', company: 'acme.com' };
	const errorIn = (outcome: string, message: string, fields: IDataObject = {}) => ({
		error: { advice: someText, outcome, message, httpStatus: 200, ...fields },
	});
	const noCode = (outcome: string, text: string) => errorIn(outcome, `The service says: ${text}`);

	test('finds nobody only where it says so, and says why else', async () => {
		const answers: Array<[body: unknown, result: IDataObject]> = [
			[failure('not_found'), { found: false, email: null }],
			[
				{ success: false, error: 'Not found' },
				{ found: false, email: null },
			],
			[
				{ success: false, error: { code: 404, message: 'Not found' } },
				{ found: false, email: null },
			],
			[success(null), { found: false, email: null }],
			[
				{ success: 'true', data: { email: 'p@acme.com' }, error: {} },
				{ found: true, email: 'p@acme.com' },
			],
			[
				{ success: 'false', data: null, error: 'Internal error' },
				noCode('unknown', 'Internal error'),
			],
			[{ ...success(null), error: 'Search is down' }, noCode('unknown', 'Search is down')],
			[{ data: null, message: 'Try later' }, noCode('unknown', 'Try later')],
		];
		const rows = answers.map((_, index) => ({ name: `p${String(index)}` }));
		answer = (request, reply) => {
			const index = rows.findIndex(({ name }) => name === fieldsOf(request).firstName);
			reply(answers[index]?.[0]);
		};
		const { items } = await run(FIND_BUSINESS, PERSON, rows);

		expect(items).toEqual(
			paired(
				answers.map(([, result], index) =>
					'error' in result ? { ...rows[index], ...result } : result,
				),
			),
		);
		expectCalls(
			rows.map(({ name }) =>
				post('/email/find', { firstName: name, lastName: 'Reed', company: 'acme.com' }),
			),
		);
	});

	test.each([
		[200, failure('rate_limit_exceeded')],
		[403, { success: false, error: 'Rate limit exceeded' }],
	])(
		'is asked again after it refused a call for its rate with HTTP %d and %j',
		async (status, refusal) => {
			const rows = addresses(4);
			answer = (request, reply) => {
				if (received.length === 2) reply(refusal, status);
				else reply(verdict(request));
			};
			const { items } = await run(VERIFY, ADDRESS, rows);

			expect(items).toEqual(paired(rows.map(({ address }) => verdictOn(address))));
			const refused = received[1];
			expectCalls([
				...rows.map(verifyCall),
				...(refused ? [post(refused.path, refused.body)] : []),
			]);
		},
	);

	test('or a gateway in front of it, gets advice that fits', async () => {
		const rows = addresses(4);
		const answers = [
			[401, { message: 'Unauthorized' }, 'API key'],
			[403, { error: 'Forbidden' }, 'API key'],
			[401, '<html>', 'API key'],
			[400, failure('invalid_request'), 'fields of this item'],
		] as const;
		answer = (request, reply) => {
			const index = rows.findIndex(({ address }) => address === fieldsOf(request).email);
			const [status, body] = answers[index] ?? [];
			reply(body, status);
		};
		const { items } = await run(VERIFY, ADDRESS, rows);

		expect(items).toEqual(
			paired(
				rows.map((row, index) => ({
					...row,
					error: expect.objectContaining({
						advice: expect.stringContaining(answers[index]?.[2] ?? '-') as string,
						outcome: 'refused',
						httpStatus: answers[index]?.[0],
					}) as object,
				})),
			),
		);
		expectCalls(rows.map(verifyCall));
	});

	test('ends a scrape with words in another case, or with an error', async () => {
		const scrapes = ['s1', 's2', 's3'].map((id) => ({ id }));
		const message = 'Source is down';
		const answers: Record<string, unknown> = {
			s1: success({ scrapeId: 's1', status: 'Completed' }),
			s2: { ...failure('SCRAPE_FAILED', message), data: { scrapeId: 's2', status: 'FAILED' } },
			s3: success({ scrapeId: 's3', status: 'failed', error: { message } }),
		};
		answer = ({ query }, reply) => {
			reply(answers[String(query.scrapeId)]);
		};
		const { items } = await run(WAIT, { scrapeId: '={{ $json.id }}' }, scrapes);

		const failed = (scrapeId: string) =>
			expect.objectContaining({
				scrapeId,
				message: `Scrape ${scrapeId} failed: ${message}`,
			}) as object;
		expect(items).toEqual(
			paired([
				{ scrapeId: 's1', status: 'Completed' },
				{ id: 's2', error: failed('s2') },
				{ id: 's3', error: failed('s3') },
			]),
		);
		expectCalls(scrapes.map(({ id }) => get('/status', { scrapeId: id })));
	});

	test('gives the three outputs of a verification its verdicts in any case', async () => {
		const rows = addresses(3);
		const words = ['Valid', 'INVALID', 'Catch_All'];
		const verdictIn = (email: unknown) => ({
			...verdictOn(email),
			status: words[rows.findIndex(({ address }) => address === email)],
		});
		answer = (request, reply) => {
			reply(success(verdictIn(fieldsOf(request).email)));
		};
		const options = { splitOutput: true };
		const { outputs } = await run(VERIFY, { ...ADDRESS, options }, rows);

		expect(outputs.map((items) => items.map(({ json }) => json.status))).toEqual([
			['Valid'],
			['Catch_All'],
			['INVALID'],
		]);
	});

	test('that gives the estimate of a scrape as text is kept within the budget', async () => {
		const rows = ['CTO', 'CFO', 'CEO'].map((title) => ({ title }));
		answer = ({ path }, reply) => {
			const started = { scrapeId: `s${String(received.length)}`, estimatedCredits: '60' };
			reply(success(path === '/credits' ? { credits: 1000 } : started));
		};
		const parameters = { limit: 10, filters: { jobTitles: ['={{ $json.title }}'] } };
		const options = { spendAtMost: 100 };
		await run(['scrape', 'start'], { ...parameters, options }, rows);

		expect(received.filter(({ path }) => path === '/start')).toHaveLength(1);
	});

	test('that shows late what a call cost is kept within the budget', async () => {
		const rows = addresses(30);
		let credits = 1000;
		answer = (request, reply) => {
			if (request.path === '/credits') reply(success({ credits }));
			else {
				reply(verdict(request));
				setTimeout(() => (credits -= 10), 1500);
			}
		};
		const { items } = await run(VERIFY, { ...ADDRESS, options: { spendAtMost: 50 } }, rows);

		const paid = received.filter(({ path }) => path === '/email/verify');
		expectCalls(rows.slice(0, 5).map(verifyCall), paid);
		expect(items.map(({ json }) => json.error !== undefined)).toEqual(
			rows.map((_, index) => index >= 5),
		);
	});

	test('in both calls of a search keeps its words apart, and numbers as text count', async () => {
		const rows = [
			{ name: 'low', confidence: '0.3' },
			{ name: 'sure', confidence: '0.95' },
			{ name: 'good', confidence: '0.7' },
		];
		const address = (name: string) => `${name}@acme.com`;
		answer = (request, reply) => {
			const { firstName, email } = fieldsOf(request);
			const confidence = rows.find(({ name }) => name === firstName)?.confidence;
			if (request.path === '/email/verify') {
				reply(success({ ...verdictOn(email), status: 'Valid', confidence: 0.2, score: 12 }));
			} else reply(success({ email: address(firstName as string), confidence, score: 88 }));
		};
		const options = { minConfidence: 0.5, trustConfidence: 0.9 };
		const { items } = await run(['email', 'enrich'], { ...PERSON, options }, rows);

		const found = (name: string, confidence: string, confidenceLevel: string) => ({
			emailType: 'business',
			found: true,
			...{ email: address(name), confidence, confidenceLevel, score: 88 },
		});
		expect(items).toMatchObject(
			paired([
				{ found: false, tried: 'business: confidence too low' },
				{ ...found('sure', '0.95', 'very_high'), status: null },
				{
					...found('good', '0.7', 'high'),
					...{ status: 'Valid', deliverable: true },
					verification: { confidence: 0.2, score: 12 },
				},
			]),
		);
		expect(received.map(({ path }) => path).toSorted()).toEqual([
			...rows.map(() => '/email/find'),
			'/email/verify',
		]);
	});
});

test.each([200, 502])(
	'A start that fails with HTTP %d and a text about a rate is sent once',
	async (status) => {
		const rows = ['CTO', 'CFO', 'CEO'].map((title) => ({ title }));
		answer = ({ body }, reply) => {
			const isBad = JSON.stringify(body).includes('CFO');
			if (isBad) reply({ success: false, error: 'Rate limit exceeded' }, status);
			else reply(success({ scrapeId: 'scr_other', status: 'pending', estimatedCredits: 5 }));
		};
		const { items, error } = await run(
			['scrape', 'start'],
			{ limit: 5, filters: { jobTitles: ['={{ $json.title }}'] } },
			rows,
			{ retryOnFail: true },
		);

		expect(items).toEqual([]);
		expect(error).toMatchObject({
			description: expect.stringContaining('may have done the work') as string,
			context: { itemIndex: 1 },
			httpCode: String(status),
		});
		expectCalls(
			rows.map(({ title }) => post('/start', { filters: { limit: 5, jobTitles: [title] } })),
		);
	},
);

test.each([301, 302])(
	'A paid call that is answered with HTTP %d was not done only if that leads to the same path',
	async (status) => {
		const targets = [
			['/status?scrapeId=s1', 'unknown'],
			['https://api.example.com/start', 'refused'],
			['/start/', 'refused'],
		] as const;
		const rows = targets.map(([location, outcome], limit) => ({
			location,
			outcome,
			limit: limit + 1,
		}));
		answer = ({ body }, reply) => {
			const { filters } = body as { filters: { limit: number } };
			reply({}, status, { location: targets[filters.limit - 1]?.[0] });
		};
		const { items } = await run(['scrape', 'start'], { limit: '={{ $json.limit }}' }, rows);

		expect(items).toMatchObject(
			paired(rows.map((row) => ({ ...row, error: { outcome: row.outcome, httpStatus: status } }))),
		);
		expectCalls(rows.map(({ limit }) => post('/start', { filters: { limit } })));
	},
);

describe('A service that repeats the key', () => {
	const hidden = '**hidden**';
	/** The key as texts, addresses, pages and JSON hold it. */
	const spellings: Array<[string, () => string]> = [
		['as it is', apiKey],
		['after "Bearer"', () => `Bearer ${apiKey()}`],
		['in an address', () => encodeURIComponent(apiKey())],
		['in a web page', () => apiKey().replace(/[&<>"/]/g, (c) => `&#${String(c.charCodeAt(0))};`)],
		['in a web page, by name', () => apiKey().replace('&', '&amp;').replace('<', '&lt;')],
		['in JSON within JSON', () => JSON.stringify(apiKey())],
		['in JSON as PHP writes it', () => apiKey().replace('/', '\\/')],
		[
			'in JSON with escapes',
			() => apiKey().replace(/./g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
		],
	];
	/** @param key as a JSON string, and as it is */
	type Echo = (key: { json: string; plain: string }, email: string) => [number, string, object?];
	const channels: Array<[string, Echo]> = [
		['message', ({ json }) => [400, `{"success":false,"error":{"code":"A","message":${json}}}`]],
		['text of an error', ({ json }) => [400, `{"success":false,"error":${json}}`]],
		['code', ({ json }) => [400, `{"success":false,"error":{"code":${json},"message":"b"}}`]],
		['Location of a refusal', ({ plain }) => [307, '', { location: `/a?${plain}` }]],
		['Location of a result', ({ plain }) => [303, '', { location: `/a?${plain}` }]],
		['answer', ({ json }) => [200, `{"success":true,"data":[${json}],"debug":{${json}:1}}`]],
		['web page', ({ plain }) => [200, `<html>${plain}</html>`]],
		[
			'data',
			({ json }, email) => [200, `{"success":true,"data":{"email":"${email}","k":${json}}}`],
		],
		[
			'name of a field',
			({ json }) => [200, `{"success":true,"data":{"list":[{${json}:"valid"}]}}`],
		],
	];

	describe.each(spellings)('%s', (_, spell) => {
		test.each(channels)('never gets it into the execution: %s', async (_name, reply) => {
			const rows = addresses(3);
			answer = (request, _reply, outgoing) => {
				const plain = spell();
				const isEscaped = /^\\|\\\//.test(plain);
				const json = isEscaped ? `"${plain.replaceAll('"', '\\"')}"` : JSON.stringify(plain);
				const { email } = fieldsOf(request) as { email: string };
				const [status, body, headers = {}] = reply({ json, plain }, email);
				outgoing.writeHead(status, { ...headers });
				outgoing.end(body);
			};
			for (const onError of ['continueRegularOutput', 'stopWorkflow'] as const) {
				const { record, items } = await run(VERIFY, ADDRESS, rows, { onError });
				expect(record).toContain(hidden);
				const texts = record.replaceAll('\\', '').replaceAll('%2B', '+');
				expect(texts).not.toContain(`4711+${String(accounts)}`);
				expect(texts).not.toContain('u0034');
				if (onError !== 'stopWorkflow') expect(items).toHaveLength(3);
			}
			expect(received.length).toBeGreaterThanOrEqual(3);
		});
	});

	test('leaves the rest of the answer as it is', async () => {
		const rows = addresses(3);
		const data = (request: Received, key: string) => ({
			...verdictOn(fieldsOf(request).email),
			note: `your key ${key}, "quoted" 4711`,
			[`x ${key}`]: [key, 4711],
		});
		answer = (request, reply) => {
			reply(success(data(request, apiKey())));
		};
		const { items } = await run(VERIFY, ADDRESS, rows);
		expect(items.map(({ json }) => json)).toEqual(
			rows.map(({ address }) => ({
				...verdictOn(address),
				note: `your key ${hidden}, "quoted" 4711`,
				[`x ${hidden}`]: [hidden, 4711],
			})),
		);
	});
});

describe('An answer that is nested too deeply', () => {
	const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
	const bodies = [
		`{"success":true,"data":{"scrapeId":"s1","list":${deep}}}`,
		`{"success":true,"data":{"scrapeId":"s1","text":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}}`,
		`{"success":true,"scrapeId":"s1","list":${deep}}`,
		`{"success":true,"data":${JSON.stringify(`{"scrapeId":"s1","list":${deep}}`)}}`,
		`{"scrapeId":"s1","list":${deep}}`,
	];

	test.each(bodies.map((text) => [text.slice(0, 50), text]))(
		'is no reason to start a scrape twice: %s …',
		async (_, text) => {
			const rows = ['CTO', 'CFO', 'CEO'].map((title) => ({ title }));
			answer = ({ body }, reply, outgoing) => {
				if (JSON.stringify(body).includes('CFO')) outgoing.end(text);
				else reply(success({ scrapeId: 'scr_other', status: 'pending' }));
			};
			const parameters = { limit: 5, filters: { jobTitles: ['={{ $json.title }}'] } };
			const { error } = await run(['scrape', 'start'], parameters, rows, { retryOnFail: true });

			expect(error).toMatchObject({
				description: expect.stringContaining('may have done the work') as string,
				context: { itemIndex: 1, details: { outcome: 'unknown' } },
			});
			expectCalls(
				rows.map(({ title }) => post('/start', { filters: { limit: 5, jobTitles: [title] } })),
			);
		},
	);

	test.each(bodies.map((text) => [text.slice(0, 50), text]))(
		'is an error of its item, which holds the beginning: %s …',
		async (_, text) => {
			const rows = addresses(3);
			answer = (request, reply, outgoing) => {
				if (fieldsOf(request).email === rows[1]?.address) outgoing.end(text);
				else reply(verdict(request));
			};
			const { items, run: execution } = await run(VERIFY, ADDRESS, rows);

			expect(execution.status).toBe('success');
			const error = { advice: expect.stringContaining('may have done the work') as string };
			expect(items).toMatchObject(
				paired(
					rows.map((row, index) =>
						index === 1
							? { ...row, error: { ...error, outcome: 'unknown' } }
							: verdictOn(row.address),
					),
				),
			);
			expect(JSON.stringify(items[1]?.json.error)).toContain('s1');
			expect(JSON.stringify(items).length).toBeLessThan(50_000);
			expectCalls(rows.map(verifyCall));
		},
	);
});

describe('An answer with which the node itself fails', () => {
	const rows = ['CTO', 'CFO', 'CEO'].map((title) => ({ title }));
	const parameters = { limit: 5, filters: { jobTitles: ['={{ $json.title }}'] } };

	afterEach(() => {
		jest.restoreAllMocks();
	});

	test('may be paid for, so that a start is not sent again by Retry On Fail', async () => {
		const { stringify } = JSON;
		jest.spyOn(JSON, 'stringify').mockImplementation((value: unknown, ...more: unknown[]) => {
			const isOurs = (value as IDataObject | null | undefined)?.fails === true;
			if (isOurs) throw new RangeError('Maximum call stack size exceeded');
			return stringify(value, ...(more as []));
		});
		answer = ({ body }, reply, outgoing) => {
			const isBad = stringify(body).includes('CFO');
			if (isBad) outgoing.end('{"success":true,"data":{"scrapeId":"s1","fails":true}}');
			else reply(success({ scrapeId: 'scr_other' }));
		};
		const { error } = await run(['scrape', 'start'], parameters, rows, { retryOnFail: true });

		expect(error).toMatchObject({
			message: 'The node could not handle this request or its answer',
			description: expect.stringMatching(
				/may have done the work.*RangeError: Maximum call stack size exceeded/,
			) as string,
			context: { itemIndex: 1, details: { outcome: 'unknown' } },
		});
		expectCalls(
			rows.map(({ title }) => post('/start', { filters: { limit: 5, jobTitles: [title] } })),
		);
	});
});

describe('Texts of the service', () => {
	const long = 'It failed. '.repeat(500_000);

	test.each<[string, number, unknown, OutgoingHttpHeaders]>([
		['message', 400, failure('ODD', long), {}],
		['error', 400, { success: false, error: long }, {}],
		['code', 400, failure(long), {}],
		['Location', 307, {}, { location: `/a?${'b'.repeat(12_000)}` }],
	])('are cut: %s', async (_, status, body, headers) => {
		const rows = addresses(3);
		answer = (_request, reply) => {
			reply(body, status, headers);
		};
		const { items } = await run(VERIFY, ADDRESS, rows);
		for (const { json } of items) {
			const { message, code = '' } = json.error as Record<string, string>;
			expect(message?.length).toBeGreaterThan(500);
			expect(message?.length).toBeLessThan(600);
			expect(code.length).toBeLessThanOrEqual(501);
		}
		const { record } = await run(VERIFY, ADDRESS, rows, {});
		expect(record.length).toBeLessThan(20_000);
	});

	test('are cut in a scrape that failed', async () => {
		answer = ({ query }, reply) => {
			reply(success({ scrapeId: query.scrapeId, status: 'failed', message: long }));
		};
		const { error } = await run(WAIT, { scrapeId: 's1' }, [{}], {});
		expect(error?.message).toMatch(/^Scrape s1 failed: It failed\. /);
		expect(error?.message.length).toBeLessThan(600);
	});

	test('stay on one line, without control characters and markup', async () => {
		const odd = 'a\r\n2026-01-01 | error | forged \u001B[31mred\u2028b <a href="//x.example">c</a>';
		const rows = addresses(3);
		answer = (_request, reply) => {
			reply(failure(odd, odd), 400);
		};
		const { items } = await run(VERIFY, ADDRESS, rows);
		const clean = 'a 2026-01-01 | error | forged [31mred b ‹a href="//x.example"›c‹/a›';
		expect(items.map(({ json }) => json.error)).toMatchObject(
			rows.map(() => ({ message: `The service says: ${clean} (${clean})`, code: clean })),
		);
	});
});

describe('A paid answer that is almost JSON', () => {
	const data = (email: unknown) => `"data":{"email":"${String(email)}","status":"valid"`;
	const readable: Array<[string, (email: unknown) => string, IDataObject?]> = [
		['NaN', (to) => `{"success":true,${data(to)},"score":NaN}}`, { score: null }],
		[
			'Infinity',
			(to) => `{"success":true,${data(to)},"a":[-Infinity,Infinity]}}`,
			{ a: [null, null] },
		],
		['undefined', (to) => `{"success":true,${data(to)},"score":undefined}}`, { score: null }],
		['a bare fraction', (to) => `{"success":true,${data(to)},"score":.95}}`, { score: 0.95 }],
		['commas at the end', (to) => `{"success":true,${data(to)},"a":[1,2,],},\n}`, { a: [1, 2] }],
		['a byte order mark', (to) => `\uFEFF{"success":true,${data(to)}}}`],
		['zero bytes around it', (to) => `\u0000{"success":true,${data(to)}}}\n\u0000`],
		['a prefix against scripts', (to) => `)]}',\n{"success":true,${data(to)}}}`],
		[
			'line breaks within text',
			(to) => `{"success":true,${data(to)},"note":"a\nb\t\\"c\\" NaN, ]"}}`,
			{ note: 'a\nb\t"c" NaN, ]' },
		],
		['a list around it', (to) => `[{"success":true,${data(to)}}}]`],
		['text around it', (to) => JSON.stringify(`{"success":true,${data(to)}}}`)],
		[
			'data that is text',
			(to) => JSON.stringify({ success: true, data: `{${data(to).slice(8)}}` }),
		],
	];

	test.each(readable)('is read: %s', async (_, text, more = {}) => {
		const rows = addresses(3);
		answer = (request, _reply, outgoing) => {
			outgoing.end(text(fieldsOf(request).email));
		};
		const { items } = await run(VERIFY, ADDRESS, rows);
		expect(items).toEqual(
			paired(rows.map(({ address }) => ({ email: address, status: 'valid', ...more }))),
		);
		expectCalls(rows.map(verifyCall));
	});

	const others: Array<[string, string]> = [
		['cut off', '{"success":true,"data":{"scrapeId":"s1","stat'],
		['in other quotes', "{'success': True, 'data': {'scrapeId': 's1'}}"],
		['two objects', '{"success":true,"data":{"scrapeId":"s1"}}{"success":false}'],
		['a warning before it', '<b>Warning</b> {"success":true,"data":{"scrapeId":"s1"}}'],
		['XML', '<data><scrapeId>s1</scrapeId></data>'],
		['text', 's1'],
		['a list', '["s1"]'],
		['leading zeros', '{"success":true,"data":{"scrapeId":0071,"x":"s1"}}'],
	];

	test.each(others)('is kept in the error otherwise: %s', async (_, text) => {
		const rows = ['CTO', 'CFO', 'CEO'].map((title) => ({ title }));
		answer = (_request, _reply, outgoing) => {
			outgoing.end(text);
		};
		const parameters = { limit: 5, filters: { jobTitles: ['={{ $json.title }}'] } };
		const { items } = await run(['scrape', 'start'], parameters, rows);
		const error = {
			message: expect.stringMatching(/^The service answered HTTP 200 with /) as string,
			advice: expect.stringContaining('may have done the work') as string,
			outcome: 'unknown',
			httpStatus: 200,
			answer: text,
		};
		expect(items).toEqual(paired(rows.map((row) => ({ ...row, error }))));
		expectCalls(
			rows.map(({ title }) => post('/start', { filters: { limit: 5, jobTitles: [title] } })),
		);
	});

	test('is kept up to a few kilobytes', async () => {
		answer = (_request, _reply, outgoing) => {
			outgoing.end(`scrape s1 ${'😀'.repeat(1_000_000)}`);
		};
		const { items } = await run(VERIFY, ADDRESS, addresses(3));
		for (const { json } of items) {
			const { answer: kept } = json.error as { answer: string };
			expect(kept).toMatch(/^scrape s1 (😀){2000,2100}…$/u);
		}
	});
});

describe('An error that the service does not explain', () => {
	test.each<[string, number, unknown, string, IDataObject]>([
		[
			'nothing',
			400,
			{ success: false },
			'The service reports an error, without a message or a code',
			{},
		],
		[
			'a code',
			400,
			{ success: false, error: { code: 'E7' } },
			'The service reports the error E7, without a message',
			{ code: 'E7' },
		],
		[
			'a message',
			400,
			{ success: false, message: 'Went wrong' },
			'The service says: Went wrong',
			{},
		],
		[
			'empty texts',
			400,
			failure('', ''),
			'The service reports an error, without a message or a code',
			{},
		],
		[
			'something else',
			400,
			{ success: false, errors: ['too long'] },
			'The service reports an error, without a message or a code',
			{ answer: { errors: ['too long'] } },
		],
	])('is told in words: %s', async (_, status, body, message, details) => {
		const rows = addresses(3);
		answer = (_request, reply) => {
			reply(body, status);
		};
		const { items } = await run(VERIFY, ADDRESS, rows);
		const error = { message, advice: someText, outcome: 'refused', httpStatus: status, ...details };
		expect(items).toEqual(paired(rows.map((row) => ({ ...row, error }))));
		expect(JSON.stringify(items)).not.toMatch(/no code|no message|this code(?<!E7.*)/);
	});
});

describe('A lookup that the service has not finished', () => {
	const people = ['Ann', 'Bob', 'Cid'].map((name) => ({ name }));
	const person = { firstName: '={{ $json.name }}', company: 'acme.com' };
	const pending: Array<[number, IDataObject]> = [
		[200, { status: 'processing', jobId: 'j1' }],
		[200, { status: 'PENDING' }],
		[200, { state: 'in_progress', email: null }],
		[200, { status: 'In Progress', email: '' }],
		[200, { status: 'accepted', job_id: 'j1', found: null }],
		[202, { status: 'accepted' }],
		[200, { jobId: 'j1' }],
		[200, { task_id: 17 }],
		[202, { id: 'x' }],
		[202, { email: null }],
		[201, { status: 'queued', email: null, found: false }],
	];
	const finders = [
		[FIND_BUSINESS, '/email/find', { company: 'acme.com' }],
		[FIND_PERSONAL, '/email/personal', {}],
		[['email', 'enrich'] as const, '/email/find', { company: 'acme.com' }],
	] as const;

	describe.each(finders)('%j', (operation, path, place) => {
		test.each(pending)('is not known: HTTP %d, %j', async (status, data) => {
			answer = (_request, reply) => {
				reply(success(data), status);
			};
			const { items } = await run(operation, { ...person, ...place }, people);
			const error: unknown = expect.objectContaining({
				message: 'The service has not finished this lookup',
				advice: expect.stringContaining('charged for it') as string,
				outcome: 'unknown',
				httpStatus: status,
				answer: data,
			});
			expect(items).toEqual(paired(people.map((row) => ({ ...row, error }))));
			expectCalls(people.map(({ name }) => post(path, { firstName: name, ...place })));
		});

		test.each<[number, IDataObject]>([
			[200, {}],
			[200, { email: null }],
			[200, { email: '', jobId: 'j1' }],
			[200, { status: 'completed', jobId: 'j1' }],
			[200, { status: 'not_found', task_id: 'j1' }],
			[200, { found: false, jobId: 'j1' }],
			[200, { requestId: 'r1' }],
		])('finds nobody otherwise: HTTP %d, %j', async (status, data) => {
			answer = (_request, reply) => {
				reply(success(data), status);
			};
			const { items } = await run(operation, { ...person, ...place }, people);
			expect(items.map(({ json }) => json.found)).toEqual([false, false, false]);
		});
	});

	test.each([200, 202])('is a result as soon as it holds the address: HTTP %d', async (status) => {
		const data = { email: 'p@acme.com', status: 'processing', jobId: 'j1' };
		answer = (_request, reply) => {
			reply(success(data), status);
		};
		const { items } = await run(FIND_BUSINESS, person, people);
		expect(items).toEqual(paired(people.map(() => ({ found: true, ...data }))));
	});

	test.each(['valid', 'accepted', 'unknown'])('is a verdict: %s', async (status) => {
		const rows = addresses(3);
		const result = (email: unknown) => ({ ...verdictOn(email), status, jobId: 'j1' });
		answer = (request, reply) => {
			reply(success(result(fieldsOf(request).email)));
		};
		const { items } = await run(VERIFY, ADDRESS, rows);
		expect(items).toEqual(paired(rows.map(({ address }) => result(address))));
	});

	test('is not known for a verification either', async () => {
		const rows = addresses(3);
		answer = (request, reply) => {
			reply(success({ ...verdictOn(fieldsOf(request).email), status: 'processing' }));
		};
		const { items } = await run(VERIFY, ADDRESS, rows);
		const error = { message: 'The service has not finished this lookup', outcome: 'unknown' };
		expect(items).toMatchObject(paired(rows.map((row) => ({ ...row, error }))));
	});
});

describe('Names that every object of JavaScript has as a field', () => {
	const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map((id) => ({ id }));

	test.each(['getStatus', 'wait'])('are scrape IDs like others: %s', async (operation) => {
		answer = ({ query }, reply) => {
			reply(success({ scrapeId: query.scrapeId, status: 'completed' }));
		};
		const { items } = await run(['scrape', operation], { scrapeId: '={{ $json.id }}' }, ids);
		expect(items).toEqual(paired(ids.map(({ id }) => ({ scrapeId: id, status: 'completed' }))));
		expectCalls(ids.map(({ id }) => get('/status', { scrapeId: id })));
	});

	test('are started scrapes like others, and are waited for', async () => {
		answer = ({ path, query, body }, reply) => {
			const { limit = 1 } = ((body as IDataObject | undefined)?.filters ?? {}) as {
				limit?: number;
			};
			const scrapeId = path === '/start' ? ids[limit - 1]?.id : query.scrapeId;
			reply(success({ scrapeId, status: path === '/start' ? 'pending' : 'completed' }));
		};
		const rows = ids.map((_, index) => ({ limit: index + 1 }));
		const { items } = await run(['scrape', 'startAndWait'], { limit: '={{ $json.limit }}' }, rows);
		expect(items).toEqual(paired(ids.map(({ id }) => ({ scrapeId: id, status: 'completed' }))));
	});

	test('are fields of a result like others, and change no other object', async () => {
		const rows = addresses(3);
		answer = (request, _reply, outgoing) => {
			const { email } = fieldsOf(request) as { email: string };
			outgoing.end(
				`{"success":true,"data":{"email":"${email}","constructor":1,"__proto__":{"odd":true}}}`,
			);
		};
		const { items, run: execution } = await run(VERIFY, ADDRESS, rows);
		expect(execution.status).toBe('success');
		expect(items.map(({ json }) => [json.email, json.constructor])).toEqual(
			rows.map(({ address }) => [address, 1]),
		);
		expect(({} as IDataObject).odd).toBeUndefined();
	});
});
