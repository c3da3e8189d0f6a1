import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { Sandbox } from '../sandbox/server';
import type { FaultRule } from '../sandbox/settings';
import { loadCredential, runLeadGen, testCredential } from './engine';

const KEY = 'sk-secret-4711';

/** The service, below a path as many services are. */
const sandbox = new Sandbox({ basePath: '/api/v1' });
let otherHost: Server;
let requestsElsewhere = 0;

beforeAll(async () => {
	await sandbox.listen();
	otherHost = createServer((_request, response) => {
		requestsElsewhere += 1;
		response.setHeader('content-type', 'application/json');
		response.end('{"success":true,"data":{"credits":5}}');
	});
	await new Promise<void>((resolve) => otherHost.listen(0, resolve));
});
beforeEach(() => {
	requestsElsewhere = 0;
	sandbox.reset({ accounts: { [KEY]: { plan: 'pro', credits: 25 } } });
});
afterEach(() => {
	expect(requestsElsewhere).toBe(0);
});
afterAll(async () => {
	otherHost.close();
	await sandbox.close();
});

const fields = { plan: 'enterprise', requestsPerMinute: 0 };

describe('authenticate', () => {
	async function authenticated(request: IHttpRequestOptions, apiKey = KEY) {
		const { authenticate } = await loadCredential('leadGenApi');
		if (typeof authenticate !== 'function') throw new Error('It is no function');
		return await authenticate({ ...fields, baseUrl: sandbox.url, apiKey }, request);
	}

	test.each<IHttpRequestOptions>([
		{ url: 'http://a.example/credits' },
		{ url: 'http://a.example/status', method: 'GET', qs: { scrapeId: 'a b' }, headers: {} },
		{
			url: 'http://a.example/email/verify',
			method: 'POST',
			body: { email: 'a@b.example' },
			headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
			timeout: 5,
			disableFollowRedirect: true,
		},
	])('adds one header and leaves the rest: %j', async (request) => {
		const expected = {
			...request,
			headers: { ...request.headers, Authorization: `Bearer ${KEY}` },
		};
		expect(await authenticated(structuredClone(request))).toEqual(expected);
	});

	test.each([`${KEY}\n`, `  ${KEY}`, `\t${KEY} \r\n`])('trims the key %j', async (apiKey) => {
		expect(await authenticated({ url: 'http://a.example/' }, apiKey)).toEqual({
			url: 'http://a.example/',
			headers: { Authorization: `Bearer ${KEY}` },
		});
	});
});

/** Ways to write down the same address. */
const spellings = ['', '/', '//', '///'].flatMap((end, index) => [
	{ start: '', end, n: String(index) },
	{ start: ' ', end: `${end} \n`, n: `${String(index)}-blank` },
]);

describe.each(spellings)('A base URL such as "$start…$end"', ({ start, end, n }) => {
	const baseUrl = () => `${start}${sandbox.url}${end}`;

	test('passes the test of the credential', async () => {
		const result = await testCredential({ ...fields, baseUrl: baseUrl(), apiKey: KEY });
		expect(result).toEqual({ status: 'OK', message: 'Connection successful!' });
		expect(sandbox.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
			'GET /api/v1/credits',
		]);
	});

	test('works in the node', async () => {
		// Addresses of their own, since the account is the same and remembers its results.
		const emails = [`valid.a${n}@x.com`, `valid.b${n}@x.com`];
		const { items } = await runLeadGen({
			baseUrl: baseUrl(),
			credential: { ...fields, apiKey: ` ${KEY}\n` },
			parameters: { resource: 'email', operation: 'verify', email: '={{ $json.email }}' },
			items: emails.map((email) => ({ email })),
		});
		expect(items.map(({ json }) => [json.email, json.status])).toEqual(
			emails.map((email) => [email, 'valid']),
		);
		const sent = sandbox.requests.map(({ method, path, headers, violation }) => ({
			method,
			path,
			authorization: headers.authorization,
			violation,
		}));
		const expected = {
			method: 'POST',
			path: '/api/v1/email/verify',
			authorization: `Bearer ${KEY}`,
			violation: undefined,
		};
		expect(sent).toEqual([expected, expected]);
	});
});

describe('The test of the credential', () => {
	const tryOut = async (data: object = {}) =>
		await testCredential({ ...fields, baseUrl: sandbox.url, apiKey: KEY, ...data });

	test('asks for the credits, once, with the key in its header', async () => {
		expect(await tryOut()).toEqual({ status: 'OK', message: 'Connection successful!' });
		expect(sandbox.requests).toHaveLength(1);
		const [{ method, path, query, body, headers, violation } = {}] = sandbox.requests;
		expect({ method, path, query, body, violation }).toEqual({
			method: 'GET',
			path: '/api/v1/credits',
			query: {},
			body: undefined,
			violation: undefined,
		});
		expect(headers?.authorization).toBe(`Bearer ${KEY}`);
		expect(sandbox.credits(KEY)).toBe(25);
	});

	test.each([`${KEY}\n`, `\t ${KEY} `])('takes the key %j', async (apiKey) => {
		expect(await tryOut({ apiKey })).toEqual({ status: 'OK', message: 'Connection successful!' });
	});

	test.each([0, 1])('passes an account with %d credits', async (credits) => {
		sandbox.set({ accounts: { [KEY]: { plan: 'starter', credits } } });
		expect(await tryOut()).toMatchObject({ status: 'OK' });
	});

	test.each(['wrong', `${KEY}x`, ''])('fails with the key %j', async (apiKey) => {
		expect(await tryOut({ apiKey })).toEqual({
			status: 'Error',
			message:
				'The service does not accept this API key. Copy it again from your account dashboard.',
		});
	});

	test('fails with a wrong key that is answered with HTTP 200', async () => {
		sandbox.set({ errorStatus: { UNAUTHORIZED: 200 } });
		expect(await tryOut({ apiKey: 'wrong' })).toEqual({
			status: 'Error',
			message: 'The service did not accept this API key, or the account cannot be used',
		});
	});

	const wrongService = 'This address does not answer as the service does: check the base URL';
	test.each<[string, FaultRule, unknown]>([
		['an error with HTTP 200', { kind: 'envelope', status: 200 }, expect.stringMatching(/account/)],
		['an error with HTTP 400', { kind: 'envelope', status: 400 }, expect.any(String)],
		['an error with HTTP 500', { kind: 'envelope', status: 500 }, expect.any(String)],
		['a web page with HTTP 200', { kind: 'html' }, wrongService],
		['a web page with HTTP 404', { kind: 'html', status: 404 }, expect.any(String)],
		['broken JSON', { kind: 'brokenJson' }, wrongService],
		['an empty body', { kind: 'emptyBody' }, wrongService],
		['no data', { kind: 'noData' }, wrongService],
		[
			'the JSON of another service',
			{ kind: 'status', status: 200, body: '{"status":"ok"}' },
			wrongService,
		],
		['a JSON list', { kind: 'status', status: 200, body: '[{"credits":1}]' }, wrongService],
		['a cut connection', { kind: 'resetBeforeWork' }, expect.any(String)],
	])('fails with %s', async (_name, fault, message) => {
		sandbox.set({ faults: [fault] });
		const result = await tryOut();
		expect(result).toEqual({ status: 'Error', message });
		expect(result.message).not.toContain(KEY);
	});

	test.each([301, 302, 303, 307, 308])(
		'does not follow a redirect with HTTP %d',
		async (status) => {
			const { port } = otherHost.address() as AddressInfo;
			const location = `http://localhost:${String(port)}/credits`;
			sandbox.set({ faults: [{ kind: 'redirect', status, location }] });
			expect(await tryOut()).toMatchObject({ status: 'Error' });
			expect(sandbox.requests).toHaveLength(1);
		},
	);

	test.each(['', 'nonsense', 'http://does-not-exist.invalid', 'http://127.0.0.1:1'])(
		'fails with the base URL %j',
		async (baseUrl) => {
			const result = await tryOut({ baseUrl });
			expect(result.status).toBe('Error');
			expect(result.message).toMatch(/\S/);
			expect(result.message).not.toContain(KEY);
			expect(sandbox.requests).toEqual([]);
		},
	);

	test('fails with a path that the service does not have', async () => {
		expect(await tryOut({ baseUrl: sandbox.url.replace('/api/v1', '') })).toEqual({
			status: 'Error',
			message: 'There is no such service at this address: check the base URL',
		});
	});
});
