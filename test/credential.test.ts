import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { Sandbox } from '../lab/sandbox/server';
import type { FaultRule } from '../lab/sandbox/settings';
import {
	loadCredential,
	requestDeclaratively,
	requestHelpers,
	runLeadGen,
	testCredential,
} from './engine';

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
	const data = (apiKey = KEY) => ({ ...fields, baseUrl: `${sandbox.url}/`, apiKey });

	async function authenticated(request: IHttpRequestOptions, apiKey = KEY) {
		const { authenticate } = await loadCredential('leadGenApi');
		if (typeof authenticate !== 'function') throw new Error('It is no function');
		return await authenticate(data(apiKey), request);
	}

	const noRedirects = {
		disableFollowRedirect: true,
		followRedirect: false,
		followAllRedirects: false,
	};

	test.each<Omit<IHttpRequestOptions, 'url'>>([
		{},
		{ method: 'GET', qs: { scrapeId: 'a b' }, headers: {} },
		{
			method: 'POST',
			body: { email: 'a@b.example' },
			headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
			timeout: 5,
			disableFollowRedirect: false,
		},
	])('adds the key, follows no redirects, and leaves the rest: %j', async (options) => {
		const request = { ...options, url: `${sandbox.url}/credits` };
		const expected = {
			...request,
			...noRedirects,
			headers: { ...request.headers, Authorization: `Bearer ${KEY}` },
		};
		expect(await authenticated(structuredClone(request))).toEqual(expected);
	});

	test.each([`${KEY}\n`, `  ${KEY}`, `\t${KEY} \r\n`])('trims the key %j', async (apiKey) => {
		const { headers } = await authenticated({ url: sandbox.url }, apiKey);
		expect(headers).toEqual({ Authorization: `Bearer ${KEY}` });
	});

	const elsewhere = () => `http://localhost:${String((otherHost.address() as AddressInfo).port)}`;

	describe.each(['url', 'uri'])('gives the key in `%s`', (name) => {
		const expectRefusal = async (request: object, target: string) => {
			const { origin } = new URL(sandbox.url);
			await expect(authenticated(request as IHttpRequestOptions)).rejects.toThrow(
				`This credential only sends its API key to ${origin}, but this request goes to ${target}`,
			);
			expect(request).not.toHaveProperty('headers');
		};

		test.each(['', '/', '/api/v1/credits', '/other/path?a=b#c'])(
			'to the origin of the base URL: …%s',
			async (path) => {
				const url = new URL(path, sandbox.url).href;
				for (const request of [
					{ [name]: url },
					{ [name]: url, baseURL: 'http://other.example' },
					{ [name]: path, baseURL: sandbox.url },
				]) {
					const { headers } = await authenticated(request as unknown as IHttpRequestOptions);
					expect(headers).toEqual({ Authorization: `Bearer ${KEY}` });
				}
			},
		);

		test.each([
			['http://other.example/credits', 'http://other.example'],
			['https://127.0.0.1/credits', 'https://127.0.0.1'],
			['//other.example/credits', 'http://other.example'],
			['/\\other.example', 'http://other.example'],
			['HTTP://OTHER.example:81/', 'http://other.example:81'],
			['http://user:pass@other.example/', 'http://other.example'],
			['file:///etc/passwd', 'null'],
		])('not to %s', async (url, target) => {
			await expectRefusal({ [name]: url, baseURL: sandbox.url }, target);
		});

		test('not to another port, another scheme, or a host that begins with its name', async () => {
			const { protocol, hostname, port } = new URL(sandbox.url);
			expect(protocol).toBe('http:');
			for (const origin of [
				elsewhere(),
				`http://${hostname}`,
				`https://${hostname}:${port}`,
				`http://${hostname}.example:${port}`,
			]) {
				await expectRefusal({ [name]: `${origin}/credits` }, origin);
			}
		});

		test('not to a relative address without a base, or to none', async () => {
			await expectRefusal({ [name]: '/credits' }, 'an unknown address');
			await expectRefusal({}, 'an unknown address');
		});

		test('not if another address counts as well', async () => {
			const other = name === 'url' ? 'uri' : 'url';
			await expectRefusal(
				{ [name]: 'http://other.example', [other]: sandbox.url },
				'http://other.example',
			);
		});
	});

	describe('gives the key to nobody on the way', () => {
		const host = () => new URL(sandbox.url).host;

		test.each<[string, object]>([
			['goes through a proxy', { proxy: 'http://127.0.0.1:9' }],
			['goes through a proxy', { proxy: { host: '127.0.0.1', port: 9 } }],
			['does not check the certificate', { rejectUnauthorized: false }],
			['does not check the certificate', { skipSslCertificateValidation: true }],
			['sets rejectUnauthorized', { agentOptions: { rejectUnauthorized: false } }],
			['sets ca', { agentOptions: { ca: 'a certificate' } }],
			['sets servername', { agentOptions: { cert: 'one', servername: 'other.example' } }],
			['sets checkServerIdentity', { agentOptions: { checkServerIdentity: () => undefined } }],
			...['Host', 'host', 'HOST'].map((name): [string, object] => [
				'has the Host header other.example',
				{ headers: { [name]: 'other.example' } },
			]),
			['has the Host header other.example', { headers: { host: ['other.example'] } }],
			['uses the method TRACE', { method: 'TRACE' }],
			['uses the method TRACE', { method: 'trace' }],
			['uses the method CONNECT', { method: 'CONNECT' }],
		])('and refuses a request that %s: %j', async (what, options) => {
			for (const name of ['url', 'uri']) {
				const request = { [name]: `${sandbox.url}/credits`, ...options };
				await expect(
					authenticated(request as unknown as IHttpRequestOptions),
				).rejects.toMatchObject({
					message: `This credential does not add its API key to this request, because the request ${what}`,
					advice: expect.stringMatching(/\S/) as string,
				});
				expect(JSON.stringify(request)).not.toContain(KEY);
			}
		});

		test.each<() => object>([
			() => ({ proxy: '' }),
			() => ({ proxy: undefined }),
			() => ({ rejectUnauthorized: true, skipSslCertificateValidation: false }),
			() => ({ agentOptions: {} }),
			() => ({ agentOptions: { cert: 'a', key: 'b', passphrase: 'c', ca: undefined } }),
			() => ({ headers: { Host: host(), Accept: '*/*' } }),
			() => ({ headers: { host: host().toUpperCase() } }),
			() => ({ method: 'DELETE' }),
		])('but accepts what does no harm: %s', async (options) => {
			const { headers } = await authenticated({ url: sandbox.url, ...options() });
			expect(headers).toMatchObject({ Authorization: `Bearer ${KEY}` });
		});
	});

	describe('refuses a key that no header can hold', () => {
		const odd = ['\u200B', '\uFEFF', '\u00A0', 'é', '密', '😀', '\u0000', '\n', '\t', '\u007F'];

		test.each(odd.map((character) => `sk-${character}secret`))('%j', async (apiKey) => {
			const [character = ''] = apiKey.slice(3);
			const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
			const error = await authenticated({ url: sandbox.url }, apiKey).then(
				() => undefined,
				(thrown: unknown) => thrown as Error & { advice: string },
			);
			expect(error?.message).toBe(
				`API Key in the LeadGen credential contains a character that no key can contain (U+${code})`,
			);
			expect(error?.advice).toMatch(/Copy the key again/);
			expect(`${String(error?.message)} ${String(error?.advice)}`).not.toContain('secret');
		});
	});

	test.each(['', 'nonsense', 'api.example.com/v1', 'localhost:8080', 'ftp://a.example'])(
		'needs a base URL that begins with https://, and not %j',
		async (baseUrl) => {
			const message = 'Base URL in the LeadGen credential must begin with https://';
			const { authenticate } = await loadCredential('leadGenApi');
			if (typeof authenticate !== 'function') throw new Error('It is no function');
			await expect(
				authenticate({ ...fields, baseUrl, apiKey: KEY }, { url: 'http://a.example' }),
			).rejects.toThrow(message);
			// In the form of the credential.
			expect(await testCredential({ ...fields, baseUrl, apiKey: KEY })).toEqual({
				status: 'Error',
				message,
			});
		},
	);

	test.each([
		'http://a.example?',
		'http://a.example#',
		'http://a.example/?key=1',
		'http://a.example/#top',
		'http://user@a.example',
		'http://:pw@a.example',
		'http://user:pw@a.example',
	])('needs a base URL, and not %j', async (baseUrl) => {
		const { authenticate } = await loadCredential('leadGenApi');
		if (typeof authenticate !== 'function') throw new Error('It is no function');
		await expect(
			authenticate({ ...fields, baseUrl, apiKey: KEY }, { url: 'http://a.example' }),
		).rejects.toThrow('Base URL in the LeadGen credential is not a web address');
	});

	describe('in the hands of other nodes', () => {
		const credits: unknown = expect.objectContaining({
			data: expect.objectContaining({ credits: 25 }) as object,
		});
		const ways = {
			'n8n’s HTTP helper': async (url: string, options = {}, apiKey = KEY) =>
				await (await requestHelpers(data(apiKey))).httpRequest({ url, ...options }),
			'n8n’s HTTP helper, with a base URL': async (url: string, options = {}, apiKey = KEY) => {
				const { origin, pathname } = new URL(url);
				const { httpRequest } = await requestHelpers(data(apiKey));
				return await httpRequest({ url: pathname, baseURL: origin, ...options });
			},
			'the HTTP Request node': async (uri: string, options = {}, apiKey = KEY) => {
				const { request } = await requestHelpers(data(apiKey));
				const redirects = { followRedirect: true, followAllRedirects: true };
				return await request({ uri, json: true, ...redirects, ...options });
			},
			'a declarative node': async (url: string, options = {}, apiKey = KEY) =>
				await requestDeclaratively(data(apiKey), {
					baseURL: url.replace(/\/credits$/, ''),
					url: '/credits',
					...options,
				}),
		};

		describe.each(Object.entries(ways))('%s', (_, request) => {
			test('calls the service', async () => {
				expect(await request(`${sandbox.url}/credits`)).toEqual(credits);
				expect(sandbox.requests.map(({ path }) => path)).toEqual(['/api/v1/credits']);
			});

			test('calls the service itself, and no proxy', async () => {
				await expect(request(`${sandbox.url}/credits`, { proxy: elsewhere() })).rejects.toThrow(
					'the request goes through a proxy',
				);
				expect(sandbox.requests).toEqual([]);
			});

			test.each([`${KEY}\u200B`, `${KEY}é`])('sends no other key than %j', async (apiKey) => {
				await expect(request(`${sandbox.url}/credits`, {}, apiKey)).rejects.toThrow(
					'contains a character that no key can contain',
				);
				expect(sandbox.requests).toEqual([]);
			});

			test('calls nothing else, and says why', async () => {
				await expect(request(`${elsewhere()}/credits`)).rejects.toMatchObject({
					message: expect.stringContaining('only sends its API key to') as string,
				});
			});

			test.each([301, 302, 303, 307, 308])('follows no redirect with HTTP %d', async (status) => {
				const location = `${elsewhere()}/credits`;
				sandbox.set({ faults: [{ kind: 'redirect', status, location }] });
				await expect(request(`${sandbox.url}/credits`)).rejects.toMatchObject({
					httpCode: String(status),
				});
				expect(sandbox.requests).toHaveLength(1);
			});
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
			message:
				'The service does not accept this API key or account. Check the key, and check in your dashboard that the account is active.',
		});
	});

	const wrongService = 'The server at this address is not the LeadGen service. Check the base URL.';
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

	test.each([
		'',
		'nonsense',
		'http://does-not-exist.invalid',
		'http://127.0.0.1:1',
		'SANDBOX?',
		'SANDBOX#',
		'SANDBOX/?a=b',
	])('fails with the base URL %j', async (text) => {
		const baseUrl = text.replace('SANDBOX', sandbox.url);
		const result = await tryOut({ baseUrl });
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(/\S/);
		expect(result.message).not.toContain(KEY);
		expect(sandbox.requests).toEqual([]);
	});

	test.each([`${KEY}\u200Bx`, 'clé'])('names what is wrong with %j', async (apiKey) => {
		const { status, message } = await tryOut({ apiKey });
		expect(status).toBe('Error');
		expect(message).toContain('API Key in the LeadGen credential contains a character');
		expect(sandbox.requests).toEqual([]);
	});

	test('fails with a path that the service does not have', async () => {
		expect(await tryOut({ baseUrl: sandbox.url.replace('/api/v1', '') })).toEqual({
			status: 'Error',
			message: 'The service is not at this address. Check the base URL.',
		});
	});
});
