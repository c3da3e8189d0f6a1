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
import { useOtherHost } from './otherHost';
import { containing } from './expected';
import { VERIFY } from './given';
import { SECRET as KEY } from './service';

const AUTHORIZATION = { Authorization: `Bearer ${KEY}` };
const REDIRECTS = [301, 303, 307];

/** The service, below a path as many services are. */
const sandbox = new Sandbox({ basePath: '/api/v1' });

/** Whatever it gets would have got the key. */
const otherHost = useOtherHost();

beforeAll(async () => {
	await sandbox.listen();
});
beforeEach(() => {
	sandbox.reset({ accounts: { [KEY]: { plan: 'pro', credits: 25 } } });
});
afterAll(async () => {
	await sandbox.close();
});

interface Given {
	baseUrl?: string;
	apiKey?: string;
}

/** The fields of the credential; HOST in the base URL is the host of the service. */
function credentialWith({ baseUrl = sandbox.url, apiKey = KEY }: Given) {
	const { host } = new URL(sandbox.url);
	const address = baseUrl.replace('HOST', host);
	return { plan: 'enterprise', requestsPerMinute: 0, baseUrl: address, apiKey };
}

const tryOut = async (given: Given = {}) => await testCredential(credentialWith(given));

const connected = { status: 'OK', message: 'Connection successful!' };

describe('authenticate', () => {
	async function authenticated(request: object, given: Given = {}) {
		const { authenticate } = await loadCredential('leadGenApi');
		if (typeof authenticate !== 'function') throw new Error('It is no function');
		return await authenticate(credentialWith(given), request as IHttpRequestOptions);
	}

	test('adds the key, follows no redirects, and leaves the rest', async () => {
		const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
		const body = { email: 'a@b.example' };
		const request = { method: 'POST', body, timeout: 5, url: `${sandbox.url}/credits` };
		const redirects = { disableFollowRedirect: false };
		expect(await authenticated({ ...request, ...redirects, headers })).toEqual({
			...request,
			disableFollowRedirect: true,
			followRedirect: false,
			followAllRedirects: false,
			headers: { ...headers, ...AUTHORIZATION },
		});
	});

	describe.each(['url', 'uri'])('gives the key in `%s`', (name) => {
		test.each(['', '/api/v1/credits', '/other/path?a=b#c'])(
			'to the origin of the base URL: …%s',
			async (path) => {
				const url = new URL(path, sandbox.url).href;
				for (const request of [
					{ [name]: url },
					{ [name]: url, baseURL: 'http://other.example' },
					{ [name]: path, baseURL: sandbox.url },
				]) {
					expect((await authenticated(request)).headers).toEqual(AUTHORIZATION);
				}
			},
		);

		const baseUrl = 'https://api.example';
		const baseURL = `${baseUrl}/v1`;
		const other = name === 'url' ? 'uri' : 'url';
		test.each<[request: object, target: string]>([
			[{ [name]: 'http://other.example/credits' }, 'http://other.example'],
			[{ [name]: 'http://api.example/credits' }, 'http://api.example'],
			[{ [name]: 'https://api.example:444/' }, 'https://api.example:444'],
			[{ [name]: 'https://api.example.other.example/' }, 'https://api.example.other.example'],
			[{ [name]: 'HTTP://OTHER.example:81/', baseURL }, 'http://other.example:81'],
			[{ [name]: 'file:///etc/passwd', baseURL }, 'null'],
			[{ [name]: '//other.example/credits', baseURL }, 'https://other.example'],
			[{ [name]: '/\\other.example', baseURL }, 'https://other.example'],
			[{ [name]: '/credits' }, 'an unknown address'],
			[{}, 'an unknown address'],
			[{ [name]: 'http://other.example', [other]: baseUrl }, 'http://other.example'],
		])('not in %j', async (request, target) => {
			await expect(authenticated(request, { baseUrl })).rejects.toThrow(
				`This credential only sends its API key to ${baseUrl}, but this request goes to ${target}`,
			);
			expect(request).not.toHaveProperty('headers');
		});
	});

	test.each(['\u200B', 'é', '😀', '\n'])(
		'refuses a key that no header can hold, with %j',
		async (character) => {
			const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
			await expect(
				authenticated({ url: sandbox.url }, { apiKey: `sk-${character}secret` }),
			).rejects.toMatchObject({
				message: `API Key in the LeadGen credential contains a character that no key can contain (U+${code})`,
				advice: expect.stringMatching(/^(?!.*secret).*Copy the key again/s) as string,
			});
		},
	);

	const noScheme = 'must begin with https://';
	const noAddress = 'is not a web address that the node can send requests to';
	test.each([
		['', noScheme],
		['api.example.com/v1', noScheme],
		['ftp://a.example', noScheme],
		['http://HOST/?key=1', noAddress],
		['http://HOST#', noAddress],
		['http://user:pw@HOST', noAddress],
	])('refuses the base URL %j, which %s', async (baseUrl, problem) => {
		const message = `Base URL in the LeadGen credential ${problem}`;
		const request = { url: `${sandbox.url}/credits` };
		await expect(authenticated(request, { baseUrl })).rejects.toMatchObject({ message });
		// In the form of the credential.
		expect(await tryOut({ baseUrl })).toEqual({ status: 'Error', message });
		expect(sandbox.requests).toEqual([]);
	});

	describe('in the hands of other nodes', () => {
		const ways = {
			'n8n’s HTTP helper': async (url: string, options = {}, apiKey = KEY) => {
				const { httpRequest } = await requestHelpers(credentialWith({ apiKey }));
				return await httpRequest({ url, ...options });
			},
			'the HTTP Request node': async (uri: string, options = {}, apiKey = KEY) => {
				const { request } = await requestHelpers(credentialWith({ apiKey }));
				const redirects = { followRedirect: true, followAllRedirects: true };
				return await request({ uri, json: true, ...redirects, ...options });
			},
			'a declarative node': async (url: string, options = {}, apiKey = KEY) => {
				const baseURL = url.replace(/\/credits$/, '');
				const request = { baseURL, url: '/credits', ...options };
				return await requestDeclaratively(credentialWith({ apiKey }), request);
			},
		};

		describe.each(Object.entries(ways))('%s', (_, request) => {
			test('calls the service', async () => {
				expect(await request(`${sandbox.url}/credits`)).toMatchObject({ data: { credits: 25 } });
				expect(sandbox.requests.map(({ path }) => path)).toEqual(['/api/v1/credits']);
			});

			test('calls nothing else, and says why', async () => {
				const url = `${sandbox.url}/credits`;
				const noKey = 'contains a character that no key can contain';
				await expect(request(`${otherHost.url}/credits`)).rejects.toThrow(
					'only sends its API key to',
				);
				await expect(request(url, {}, `${KEY}\u200B`)).rejects.toThrow(noKey);
				expect([sandbox.requests.length, otherHost.requests]).toEqual([0, 0]);
			});

			test.each(REDIRECTS)('follows no redirect with HTTP %d', async (status) => {
				const location = `${otherHost.url}/credits`;
				sandbox.set({ faults: [{ kind: 'status', status, headers: { location } }] });
				const httpCode = String(status);
				await expect(request(`${sandbox.url}/credits`)).rejects.toMatchObject({ httpCode });
				expect([sandbox.requests.length, otherHost.requests]).toEqual([1, 0]);
			});
		});
	});
});

test('The base URL and the key work with what people paste around them, in the form and in the node', async () => {
	const baseUrl = ` ${sandbox.url}//\n`;
	const apiKey = `\t bearer  ${KEY} \n`;
	expect(await tryOut({ baseUrl, apiKey })).toEqual(connected);

	const emails = ['valid.a@x.com', 'valid.b@x.com'];
	const [resource, operation] = VERIFY;
	const { items } = await runLeadGen({
		baseUrl,
		credential: credentialWith({ apiKey }),
		parameters: { resource, operation, email: '={{ $json.email }}' },
		items: emails.map((email) => ({ email })),
	});
	expect(items.map(({ json }) => [json.email, json.status])).toEqual(
		emails.map((email) => [email, 'valid']),
	);
	const sent = sandbox.requests.map(({ path, body, headers }) => {
		const { email } = { ...(body as { email?: string } | undefined) };
		return [path, email, headers.authorization];
	});
	expect(sent.toSorted()).toEqual([
		['/api/v1/credits', undefined, `Bearer ${KEY}`],
		...emails.map((email) => ['/api/v1/email/verify', email, `Bearer ${KEY}`]),
	]);
});

test('Custom API Call, which n8n adds to the resources and operations, says what to use instead', async () => {
	for (const parameters of [
		{ resource: '__CUSTOM_API_CALL__' },
		{ resource: 'email', operation: '__CUSTOM_API_CALL__' },
	]) {
		const { run } = await runLeadGen({ baseUrl: sandbox.url, parameters, items: [{}] });
		expect(run.data.resultData.error).toMatchObject({
			message: 'This node makes no custom API calls',
			description: containing('use the HTTP Request node with Predefined Credential Type'),
		});
	}
	expect(sandbox.requests).toEqual([]);
});

test('n8n keeps what the credential does when it copies it, as for the HTTP Request node', async () => {
	const { authenticate } = { ...(await loadCredential('leadGenApi')) };
	expect(authenticate).toEqual(expect.any(Function));
});

describe('The test of the credential', () => {
	test('passes an account without credits', async () => {
		sandbox.set({ accounts: { [KEY]: { plan: 'starter', credits: 0 } } });
		expect(await tryOut()).toEqual(connected);
	});

	const wrongKey =
		'The service does not accept this API key. Copy it again, and check that your account is active.';
	const wrongAddress = 'The LeadGen service is not at this address. Check the base URL.';
	const redirects = containing('The service redirects to ');
	const unreachable = containing('The service could not be reached. Check the base URL');
	const noKey = containing('API Key in the LeadGen credential contains a character');
	const other = (body: string): FaultRule => ({ kind: 'status', status: 200, body });

	test.each<[what: string, Given & { fault?: FaultRule }, message: unknown, requests?: number]>([
		['an unknown key', { apiKey: 'wrong' }, wrongKey],
		['no key', { apiKey: '' }, 'API Key in the LeadGen credential is empty', 0],
		['a key with an invisible character', { apiKey: `${KEY}\u200Bx` }, noKey, 0],
		['a path that the service does not have', { baseUrl: 'http://HOST' }, wrongAddress],
		[
			'a host that does not exist',
			{ baseUrl: 'http://does-not-exist.invalid' },
			containing('The host of the service was not found. Check the base URL'),
			0,
		],
		['a port where nothing listens', { baseUrl: 'http://127.0.0.1:1' }, unreachable, 0],
		[
			'an address of this computer where nothing listens',
			{ baseUrl: 'http://localhost:1' },
			containing(
				'If n8n runs in Docker, localhost is its container: enter host.docker.internal instead.',
			),
			0,
		],
		[
			'an error with HTTP 200',
			{ fault: { kind: 'envelope', status: 200, message: 'Sorry' } },
			containing('The service says: Sorry (INTERNAL_ERROR). '),
		],
		['a web page with HTTP 200', { fault: { kind: 'html' } }, wrongAddress],
		['a web page with HTTP 404', { fault: { kind: 'html', status: 404 } }, wrongAddress],
		[
			'an error page of a proxy',
			{ fault: { kind: 'html', status: 502 } },
			containing('The service answered HTTP 502 with a web page. '),
		],
		['an empty body', { fault: other('') }, wrongAddress],
		['the JSON of another service', { fault: other('{"status":"ok"}') }, wrongAddress],
		['the data of another service', { fault: other('{"data":{"id":1}}') }, wrongAddress],
		[
			'a cut connection',
			{ fault: { kind: 'resetBeforeWork' } },
			containing('The connection broke before the service answered. '),
		],
		...REDIRECTS.map((status): [string, { fault: FaultRule }, unknown] => [
			`a redirect with HTTP ${String(status)}, which it does not follow`,
			{ fault: { kind: 'status', status } },
			redirects,
		]),
	])('fails with %s', async (_what, { fault, ...given }, message, requests = 1) => {
		const location = `${otherHost.url}/credits`;
		sandbox.set({ faults: fault ? [{ ...fault, headers: { location } }] : [] });
		const result = await tryOut(given);
		expect(result).toEqual({ status: 'Error', message });
		expect(result.message).not.toContain(KEY);
		expect([sandbox.requests.length, otherHost.requests]).toEqual([requests, 0]);
	});
});
