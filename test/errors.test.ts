import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { FaultRule } from '../lab/sandbox/settings';
import { startDamagedTls } from './damagedTls';
import type { NodeResult, NodeRun } from './engine';
import { SECRET, paired, post, useService } from './service';

const service = useService();
const { sandbox } = service;

const VERIFY = ['email', 'verify'] as const;
const someText: unknown = expect.stringMatching(/\S/);

/** All that was written to the console and the terminal during a test. */
let printed = '';

/** Another host: whatever it gets would have got the key. */
let otherHost: Server;
let requestsElsewhere = 0;
const elsewhere = () =>
	`http://localhost:${String((otherHost.address() as AddressInfo).port)}/caught`;

beforeAll(async () => {
	otherHost = createServer((_request, response) => {
		requestsElsewhere += 1;
		response.end('{"success":true,"data":{}}');
	});
	await new Promise<void>((resolve) => otherHost.listen(0, resolve));
});
beforeEach(() => {
	printed = '';
	requestsElsewhere = 0;
	const methods = ['log', 'info', 'warn', 'error', 'debug'] as const;
	for (const method of methods) {
		jest.spyOn(console, method).mockImplementation((...parts: unknown[]) => {
			printed += inspect(parts, { depth: Infinity });
		});
	}
	for (const stream of [process.stdout, process.stderr]) {
		jest.spyOn(stream, 'write').mockImplementation((text) => {
			printed += String(text);
			return true;
		});
	}
});
afterEach(() => {
	jest.restoreAllMocks();
	expect(printed).not.toContain(SECRET);
	expect(requestsElsewhere).toBe(0);
});
afterAll(() => {
	otherHost.close();
});

/** Runs an operation and makes sure that the key is nowhere in what n8n keeps of the run. */
async function run(
	operation: readonly [string, string],
	parameters: INodeParameters,
	items: IDataObject[],
	options: Partial<NodeRun>,
): Promise<NodeResult> {
	const result = await service.run(operation, parameters, items, options);
	expect(result.record).not.toContain(SECRET);
	expect(inspect(result.run, { depth: Infinity })).not.toContain(SECRET);
	return result;
}

/** What becomes of an item whose request fails. */
interface Failure {
	error: string;
	details: { outcome: string; code?: unknown; httpStatus?: number; answer?: unknown };
}

interface Case extends Failure {
	name: string;
	fault: FaultRule;
	/** Seconds. */
	requestTimeout?: number;
}

const says = (code: string | undefined, httpStatus: number, outcome: string): Failure => ({
	error: `The service says: That went wrong${code === undefined ? '' : ` (${code})`}`,
	details: { outcome, httpStatus, ...(code !== undefined && { code }) },
});
const envelope = (code: string, status: number, outcome = 'refused'): Case => ({
	name: `${code} with HTTP ${String(status)}`,
	fault: { kind: 'envelope', code, status, message: 'That went wrong' },
	...says(code, status, outcome),
});
const answered = (
	what: string,
	httpStatus: number,
	outcome: string,
	answer?: unknown,
): Failure => ({
	error: `The service answered HTTP ${String(httpStatus)} with ${what}`,
	details: { outcome, httpStatus, ...(answer !== undefined && { answer }) },
});
const body = (text: string, status = 200): FaultRule => ({ kind: 'status', status, body: text });
const noResult: Failure = {
	error: 'The service returned no result',
	details: { outcome: 'unknown' },
};
const noConnection: Failure = {
	error: 'The connection broke before the service answered',
	details: { outcome: 'unknown', code: 'ECONNRESET' },
};
const tooLate: Failure = {
	error: 'The service did not answer in time',
	details: { outcome: 'unknown', code: 'ECONNABORTED' },
};

const cases: Case[] = [
	envelope('INVALID_REQUEST', 400),
	envelope('INVALID_REQUEST', 200),
	envelope('UNAUTHORIZED', 401),
	envelope('UNAUTHORIZED', 200),
	envelope('NOT_FOUND', 404),
	envelope('NOT_FOUND', 200),
	envelope('MAINTENANCE', 400),
	// A service that breaks down may have done the work before, and a code that is not known may say so.
	envelope('MAINTENANCE', 200, 'unknown'),
	envelope('MAINTENANCE', 408, 'unknown'),
	envelope('MAINTENANCE', 500, 'unknown'),
	{
		name: 'an error without code and message',
		fault: body('{"success":false}'),
		error: 'The service reports an error, without a message or a code',
		details: { outcome: 'unknown', httpStatus: 200 },
	},
	{
		name: 'an error that is a text',
		fault: body('{"success":false,"error":"That went wrong"}', 403),
		...says(undefined, 403, 'refused'),
	},
	{
		name: 'an error with its message beside it',
		fault: body('{"success":false,"message":"That went wrong"}', 403),
		...says(undefined, 403, 'refused'),
	},
	{
		name: 'an error in a success without data',
		fault: body('{"success":true,"error":{"code":"ODD","message":"That went wrong"}}'),
		...says('ODD', 200, 'unknown'),
	},
	{
		name: 'an error that is not marked as one',
		fault: body('{"error":{"code":"ODD","message":"That went wrong"}}'),
		...says('ODD', 200, 'unknown'),
	},
	...[200, 500, 502].map((status) => ({
		name: `a web page with HTTP ${String(status)}`,
		fault: { kind: 'html' as const, status },
		...answered(
			'a web page',
			status,
			'unknown',
			status === 200 ? expect.stringContaining('<html>') : undefined,
		),
	})),
	{
		name: 'a web page with HTTP 404',
		fault: { kind: 'html', status: 404 },
		...answered('a web page', 404, 'refused'),
	},
	{
		name: 'a web page with HTTP 408',
		fault: { kind: 'html', status: 408 },
		...answered('a web page', 408, 'unknown'),
	},
	{
		name: 'broken JSON',
		fault: { kind: 'brokenJson' },
		...answered('something other than the expected JSON', 200, 'unknown', someText),
	},
	{
		name: 'broken JSON with HTTP 500',
		fault: { kind: 'brokenJson', status: 500 },
		...answered('something other than the expected JSON', 500, 'unknown'),
	},
	...['OK', '[]', 'null', '"done"', 'true', '17'].map((text) => ({
		name: `the text ${text}`,
		fault: body(text),
		...answered('something other than the expected JSON', 200, 'unknown', text),
	})),
	{
		name: 'an empty body',
		fault: { kind: 'emptyBody' },
		...answered('an empty body', 200, 'unknown'),
	},
	{
		name: 'an empty body with HTTP 204',
		fault: body('empty', 204),
		...answered('an empty body', 204, 'unknown'),
	},
	{
		name: 'an empty body with HTTP 500',
		fault: body('empty', 500),
		...answered('an empty body', 500, 'unknown'),
	},
	{ name: 'no data', fault: { kind: 'noData' }, ...noResult },
	{ name: 'data that is null', fault: body('{"success":true,"data":null}'), ...noResult },
	...[[], 'done', 1].map((data) => ({
		name: `data that is ${JSON.stringify(data)}`,
		fault: body(JSON.stringify({ success: true, data })),
		error: noResult.error,
		details: { ...noResult.details, answer: { data } },
	})),
	{ name: 'a reset before the work', fault: { kind: 'resetBeforeWork' }, ...noConnection },
	{ name: 'a reset after the work', fault: { kind: 'resetAfterWork' }, ...noConnection },
	{
		name: 'a reset amid the body',
		fault: { kind: 'resetMidBody' },
		error: noConnection.error,
		details: { outcome: 'unknown', code: someText },
	},
	{ name: 'no answer, ever', fault: { kind: 'hang' }, requestTimeout: 0.5, ...tooLate },
	{
		name: 'no answer after the work',
		fault: { kind: 'hangAfterWork' },
		requestTimeout: 0.5,
		...tooLate,
	},
	{
		name: 'half an answer and then a long pause',
		fault: { kind: 'slowBody', delayMs: 5000 },
		requestTimeout: 0.5,
		...tooLate,
	},
];

describe.each(cases)('$name', ({ fault, error, details, requestTimeout }) => {
	const inputs = ['valid.a@acme.com', 'trouble@acme.com', 'valid.b@acme.com'].map(
		(address, index) => ({ address, id: index + 1, status: 'new' }),
	);
	const parameters = {
		email: '={{ $json.address }}',
		options: requestTimeout === undefined ? {} : { requestTimeout },
	};
	const failed = { ...inputs[1], error: { message: error, advice: someText, ...details } };
	const verdict = (email: string) => ({
		email,
		status: 'valid',
		deliverable: true,
		disposable: false,
		freeProvider: false,
	});

	beforeEach(() => {
		sandbox.set({ faults: [{ ...fault, match: { bodyIncludes: 'trouble' } }] });
	});

	function expectOneRequestEach() {
		service.expectCalls(inputs.map(({ address }) => post('/email/verify', { email: address })));
	}

	test('on the regular output, the others come through', async () => {
		const { items, errorItems } = await run(VERIFY, parameters, inputs, {
			onError: 'continueRegularOutput',
		});

		expect(items).toEqual(
			paired([verdict('valid.a@acme.com'), failed, verdict('valid.b@acme.com')]),
		);
		expect(errorItems).toEqual([]);
		expectOneRequestEach();
	});

	test('on the error output, the others come through', async () => {
		const { items, errorItems } = await run(VERIFY, parameters, inputs, {
			onError: 'continueErrorOutput',
		});

		expect(items).toEqual([
			{ json: verdict('valid.a@acme.com'), pairedItem: { item: 0 } },
			{ json: verdict('valid.b@acme.com'), pairedItem: { item: 2 } },
		]);
		expect(errorItems).toEqual([{ json: failed, pairedItem: { item: 1 } }]);
		expectOneRequestEach();
	});

	test('otherwise the node fails', async () => {
		const { items, error: nodeError, run: execution } = await run(VERIFY, parameters, inputs, {});

		expect(execution.status).toBe('error');
		expect(items).toEqual([]);
		expect(nodeError).toMatchObject({
			message: error,
			description: someText,
			context: { itemIndex: 1 },
			...(details.httpStatus !== undefined && { httpCode: String(details.httpStatus) }),
		});
		const sent = sandbox.requests.filter(
			(request) => JSON.stringify(request.body) === '{"email":"trouble@acme.com"}',
		);
		expect(sent).toHaveLength(1);
	});
});

describe('Redirects are not followed', () => {
	const inputs = [301, 302, 303, 307, 308].map((status) => ({
		address: `s${String(status)}@x.com`,
	}));
	const parameters = { email: '={{ $json.address }}' };

	beforeEach(() => {
		sandbox.set({
			faults: [301, 302, 303, 307, 308].map((status) => ({
				kind: 'redirect',
				status,
				location: elsewhere(),
				match: { bodyIncludes: `s${String(status)}@` },
			})),
		});
	});
	const failures = () =>
		inputs.map((input, index) => ({
			...input,
			error: {
				message: `The service redirects to ${elsewhere()}`,
				advice: someText,
				// Many services answer a POST that is done, and may have been paid for, with a redirect to its result.
				outcome: index <= 2 ? 'unknown' : 'refused',
				httpStatus: [301, 302, 303, 307, 308][index],
			},
		}));

	test('on the regular output', async () => {
		const { items } = await run(VERIFY, parameters, inputs, { onError: 'continueRegularOutput' });
		expect(items).toEqual(paired(failures()));
		expect(sandbox.requests).toHaveLength(inputs.length);
	});

	test('on the error output', async () => {
		const { items, errorItems } = await run(VERIFY, parameters, inputs, {
			onError: 'continueErrorOutput',
		});
		expect(items).toEqual([]);
		expect(errorItems).toEqual(paired(failures()));
		expect(sandbox.requests).toHaveLength(inputs.length);
	});

	test.each(inputs)('as a failure of the node: $address', async (input) => {
		const [failure] = failures().filter(({ address }) => address === input.address);
		const { error } = await run(VERIFY, parameters, [input, { address: 'valid@x.com' }], {});
		expect(error).toMatchObject({
			message: failure?.error.message,
			description: someText,
			context: { itemIndex: 0 },
			httpCode: String(failure?.error.httpStatus),
		});
	});

	test('of requests that cost nothing', async () => {
		sandbox.set({ faults: [{ kind: 'redirect', location: elsewhere() }] });
		const { items } = await run(['credit', 'get'], {}, [{ a: 1 }, { a: 2 }], {
			onError: 'continueRegularOutput',
		});
		const redirected = { message: `The service redirects to ${elsewhere()}` };
		expect(items.map(({ json }) => json.error)).toMatchObject([redirected, redirected]);
	});
});

describe('What may have been paid for is never sent again', () => {
	const people = ['Ann', 'Trouble', 'Bob'].map((name) => ({ name }));
	const person = { firstName: '={{ $json.name }}', lastName: 'Sure' };
	const operations = [
		{
			operation: ['email', 'findBusiness'] as const,
			parameters: { ...person, company: 'acme.com' },
		},
		{ operation: ['email', 'findPersonal'] as const, parameters: person },
		{ operation: VERIFY, parameters: { email: '={{ $json.name }}@acme.com' } },
		{
			operation: ['scrape', 'start'] as const,
			parameters: { limit: 1, filters: { jobTitles: ['={{ $json.name }}'] } },
		},
		{
			operation: ['scrape', 'startAndWait'] as const,
			parameters: { limit: 1, filters: { jobTitles: ['={{ $json.name }}'] } },
		},
	];
	const faults: FaultRule[] = [
		{ kind: 'resetBeforeWork' },
		{ kind: 'resetAfterWork' },
		{ kind: 'resetMidBody' },
		{ kind: 'hang' },
		{ kind: 'hangAfterWork' },
		{ kind: 'html', status: 502, afterWork: true },
		{ kind: 'emptyBody', afterWork: true },
		{ kind: 'brokenJson', afterWork: true },
		{ kind: 'noData', afterWork: true },
	];

	describe.each(operations)('$operation', ({ operation, parameters }) => {
		test.each(faults)('$kind', async (fault) => {
			sandbox.set({
				job: { durationMs: 0 },
				faults: [{ ...fault, match: { bodyIncludes: 'Trouble' } }],
			});
			const { items } = await run(
				operation,
				{ ...parameters, options: { requestTimeout: fault.kind.startsWith('hang') ? 0.5 : 60 } },
				people,
				{ onError: 'continueRegularOutput' },
			);

			expect(items).toHaveLength(3);
			expect(items[1]).toEqual({
				json: {
					name: 'Trouble',
					error: expect.objectContaining({
						message: someText,
						advice: someText,
						outcome: 'unknown',
					}) as unknown,
				},
				pairedItem: { item: 1 },
			});
			expect(items.map(({ json }) => 'error' in json)).toEqual([false, true, false]);
			const paid = sandbox.requests.filter(({ method }) => method === 'POST');
			expect(paid).toHaveLength(3);
		});
	});
});

describe('A credential that cannot work', () => {
	const inputs = ['valid.a@acme.com', 'valid.b@acme.com', 'valid.c@acme.com'].map((address) => ({
		address,
	}));
	const parameters = { email: '={{ $json.address }}' };

	/** A port that nobody listens on. */
	async function closedPort(): Promise<number> {
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const { port } = server.address() as AddressInfo;
		await new Promise((resolve) => server.close(resolve));
		return port;
	}

	interface Broken {
		name: string;
		baseUrl?: () => string | Promise<string>;
		apiKey?: string;
		error: string;
		details: object;
	}
	const noAddress = {
		error:
			'Base URL in the LeadGen credential is not a web address that the node can send requests to',
		details: { field: 'Base URL' },
	};
	const noScheme = {
		error: 'Base URL in the LeadGen credential must begin with https://',
		details: { field: 'Base URL' },
	};
	const broken: Broken[] = [
		{
			name: 'a port that refuses connections',
			baseUrl: async () => `http://127.0.0.1:${String(await closedPort())}`,
			error: 'The service could not be reached',
			details: { outcome: 'notSent', code: 'ECONNREFUSED' },
		},
		{
			name: 'a host that does not exist',
			baseUrl: () => 'http://does-not-exist.invalid',
			error: 'The host of the service was not found',
			details: {
				outcome: 'notSent',
				code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/) as unknown,
			},
		},
		{
			name: 'HTTPS where there is none',
			baseUrl: () => sandbox.url.replace('http:', 'https:'),
			error: 'The service could not be reached',
			details: { outcome: 'notSent', code: someText },
		},
		{
			name: 'a path that the service does not have',
			baseUrl: () => `${sandbox.url}/v2`,
			error: 'The service says: No such path (NOT_FOUND)',
			details: { outcome: 'refused', code: 'NOT_FOUND', httpStatus: 404 },
		},
		{
			name: 'a key that the service does not know',
			apiKey: `${SECRET}-old`,
			error: 'The service says: Invalid or missing API key (UNAUTHORIZED)',
			details: { outcome: 'refused', code: 'UNAUTHORIZED', httpStatus: 401 },
		},
		...['', 'nonsense', 'api.example.com', 'localhost:8080', 'ftp://127.0.0.1'].map((text) => ({
			name: `the base URL "${text}"`,
			baseUrl: () => text,
			...noScheme,
		})),
		...['http://', 'http://a.b/?key=1'].map((text) => ({
			name: `the base URL "${text}"`,
			baseUrl: () => text,
			...noAddress,
		})),
		...['?', '#'].map((end) => ({
			name: `a base URL that ends with "${end}"`,
			baseUrl: () => sandbox.url + end,
			...noAddress,
		})),
		{
			name: 'a base URL with a password',
			baseUrl: () => sandbox.url.replace('//', '//:pw@'),
			...noAddress,
		},
		...['200B', '00E9'].map((code) => ({
			name: `a key with the character U+${code}`,
			apiKey: `${SECRET}${String.fromCodePoint(parseInt(code, 16))}-1`,
			error: `API Key in the LeadGen credential contains a character that no key can contain (U+${code})`,
			details: { field: 'API Key' },
		})),
	];

	describe.each(broken)('$name', ({ name, baseUrl, apiKey, error, details }) => {
		async function runBroken(options: Partial<NodeRun>) {
			const url = baseUrl ? await baseUrl() : sandbox.url;
			if (name.startsWith('a path')) service.expectViolations();
			const result = await run(VERIFY, parameters, inputs, {
				...options,
				baseUrl: url,
				credential: apiKey === undefined ? {} : { apiKey },
			});
			if ('field' in details) expect(sandbox.requests).toEqual([]);
			return result;
		}
		const failures = paired(
			inputs.map((input) => ({
				...input,
				error: { message: error, advice: someText, ...details },
			})),
		);

		test('on the regular output', async () => {
			const { items } = await runBroken({ onError: 'continueRegularOutput' });
			expect(items).toEqual(failures);
		});

		test('on the error output', async () => {
			const { items, errorItems } = await runBroken({ onError: 'continueErrorOutput' });
			expect(items).toEqual([]);
			expect(errorItems).toEqual(failures);
		});

		test('as a failure of the node', async () => {
			const { items, error: nodeError } = await runBroken({});
			expect(items).toEqual([]);
			expect(nodeError).toMatchObject({
				message: error,
				description: someText,
				// Whichever failed first.
				context: { itemIndex: expect.any(Number) as unknown },
				...('httpStatus' in details && { httpCode: String(details.httpStatus) }),
			});
		});
	});
});

test('an answer that is damaged on the way may have been paid for', async () => {
	const damaged = await startDamagedTls('{"success":true,"data":{"status":"valid"}}');
	try {
		const { items } = await run(
			VERIFY,
			{ email: '={{ $json.email }}' },
			[{ email: 'a@b.example' }],
			{
				onError: 'continueRegularOutput',
				baseUrl: damaged.url,
			},
		);
		expect(items.map(({ json }) => json.error)).toEqual([
			expect.objectContaining({
				message: 'The connection broke before the service answered',
				outcome: 'unknown',
			}),
		]);
		expect(damaged.served()).toBe(1);
	} finally {
		damaged.close();
	}
});

test('an empty error beside the data of a success is none', async () => {
	const data = { email: 'ada@acme.com', status: 'valid', deliverable: true };
	const error = { code: '', message: '' };
	sandbox.set({ faults: [body(JSON.stringify({ success: true, data, error }))] });
	const emails = ['ada@acme.com', 'tom@acme.com'];
	const result = await run(
		VERIFY,
		{ email: '={{ $json.email }}' },
		emails.map((email) => ({ email })),
		{},
	);
	expect(result.items).toEqual(paired([data, data]));
	expect(sandbox.requests).toHaveLength(2);
});
