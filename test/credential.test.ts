import type { IHttpRequestOptions } from 'n8n-workflow';
import { Sandbox } from '../lab/sandbox/server';
import type { FaultRule } from '../lab/sandbox/settings';
import { loadCredential, requestHelpers, runLeadGen, testCredential } from './engine';
import { containing } from './expected';
import { VERIFY } from './given';
import { useOtherHost } from './otherHost';
import { SECRET } from './service';

/** Only the word "Bearer" before it is no part of it. */
const KEY = `bearer_${SECRET}`;

/** The service, below a path as many services are. */
const sandbox = new Sandbox({ basePath: '/api/v1' });
const elsewhere = useOtherHost();

beforeAll(async () => {
	await sandbox.listen();
});
beforeEach(() => {
	sandbox.reset({ accounts: { [KEY]: { plan: 'pro', credits: 25 } } });
	elsewhere.requests = 0;
});
afterEach(() => {
	expect(elsewhere.requests).toBe(0);
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
	const address = baseUrl.replace('HOST', new URL(sandbox.url).host);
	return { plan: 'enterprise', requestsPerMinute: 0, baseUrl: address, apiKey };
}

/** What the form of the credential says. */
const tested = async (given: Given = {}) => await testCredential(credentialWith(given));

const connected = { status: 'OK', message: 'Connection successful!' };

async function authenticated(request: object, given: Given = {}) {
	const { authenticate } = await loadCredential('leadGenApi');
	if (typeof authenticate !== 'function') throw new Error('It is no function');
	return await authenticate(credentialWith(given), request as IHttpRequestOptions);
}

describe('authenticate', () => {
	test('adds the key in place of another, follows no redirects, and leaves the rest', async () => {
		const headers = { Accept: 'application/json', Authorization: 'Basic 4711' };
		const body = { email: 'a@b.example' };
		const request = { method: 'POST', body, timeout: 5, url: `${sandbox.url}/credits` };
		expect(await authenticated({ ...request, disableFollowRedirect: false, headers })).toEqual({
			...request,
			...{ disableFollowRedirect: true, followRedirect: false, followAllRedirects: false },
			headers: { ...headers, Authorization: `Bearer ${KEY}` },
		});
	});

	const baseUrl = 'https://api.example/v1';
	const inBase = { baseURL: baseUrl };
	/** A request for the address in each of the two forms. */
	const requestsFor = (address: string | undefined, more: object) => [
		{ url: address, ...more },
		{ uri: address, ...more },
	];

	test.each([
		['https://api.example', {}],
		['https://api.example/v1/credits', {}],
		['https://api.example/other/path?a=b#c', { baseURL: 'http://other.example' }],
		['/v1/credits', { baseURL: 'https://api.example' }],
		['', { baseURL: 'https://api.example' }],
	])('gives the key to the origin of the base URL: "%s" with %j', async (address, more) => {
		for (const request of requestsFor(address, more)) {
			const { headers } = await authenticated(request, { baseUrl });
			expect(headers).toEqual({ Authorization: `Bearer ${KEY}` });
		}
	});

	test.each([
		['http://other.example/credits', {}, 'http://other.example'],
		['http://api.example/credits', {}, 'http://api.example'],
		['https://api.example:444/', {}, 'https://api.example:444'],
		['https://api.example.other.example/', {}, 'https://api.example.other.example'],
		['HTTP://OTHER.example:81/', inBase, 'http://other.example:81'],
		['file:///etc/passwd', inBase, 'null'],
		['//other.example/credits', inBase, 'https://other.example'],
		['/\\other.example', inBase, 'https://other.example'],
		['/credits', {}, 'an unknown address'],
		[undefined, {}, 'an unknown address'],
		[baseUrl, { uri: 'http://other.example' }, 'http://other.example'],
		[baseUrl, { url: 'http://other.example' }, 'http://other.example'],
	])('gives the key to nobody else: "%s" with %j', async (address, more, target) => {
		for (const request of requestsFor(address, more)) {
			await expect(authenticated(request, { baseUrl })).rejects.toThrow(
				`This credential only sends its API key to https://api.example, but this request goes to ${target}`,
			);
			expect(request).not.toHaveProperty('headers');
		}
	});

	test.each([
		['\u200B', 'U+200B'],
		['é', 'U+00E9'],
		['😀', 'U+1F600'],
		['\n', 'U+000A'],
	])('refuses a key that no header can hold, with %j', async (character, code) => {
		const apiKey = `sk-${character}secret`;
		await expect(authenticated({ url: sandbox.url }, { apiKey })).rejects.toMatchObject({
			message: `API Key in the LeadGen credential contains a character that no key can contain (${code})`,
			advice: expect.stringMatching(/^(?!.*secret).*Copy the key again/s) as string,
		});
	});

	const noScheme = 'must begin with https://';
	const noAddress = 'is not a web address that the node can send requests to';
	test.each([
		['', noScheme],
		['api.example.com/v1', noScheme],
		['ftp://a.example', noScheme],
		['http://HOST/?key=1', noAddress],
		['http://HOST#', noAddress],
		['http://user:pw@HOST', noAddress],
		['http://:pw@HOST', noAddress],
	])('refuses the base URL %j, as the form does: it %s', async (baseUrl, problem) => {
		const message = `Base URL in the LeadGen credential ${problem}`;
		const request = { url: `${sandbox.url}/credits` };
		await expect(authenticated(request, { baseUrl })).rejects.toMatchObject({ message });
		expect(await tested({ baseUrl })).toEqual({ status: 'Error', message });
		expect(sandbox.requests).toEqual([]);
	});

	test('is kept when n8n copies the credential type, as for the HTTP Request node', async () => {
		const { authenticate } = { ...(await loadCredential('leadGenApi')) };
		expect(authenticate).toEqual(expect.any(Function));
	});
});

describe.each([['httpRequest', 'url'] as const, ['request', 'uri'] as const])(
	'n8n’s helper %s with the credential',
	(name, field) => {
		const request = async (address: string, apiKey = KEY) => {
			const helpers = await requestHelpers(credentialWith({ apiKey }));
			const following = { followRedirect: true, followAllRedirects: true };
			return await helpers[name]({ [field]: address, json: true, ...following });
		};

		test('calls the service', async () => {
			expect(await request(`${sandbox.url}/credits`)).toMatchObject({ data: { credits: 25 } });
			expect(sandbox.requests.map(({ path }) => path)).toEqual(['/api/v1/credits']);
		});

		test('calls nothing else, and says why', async () => {
			const [own, other] = [`${sandbox.url}/credits`, `${elsewhere.url}/credits`];
			await expect(request(other)).rejects.toThrow('only sends its API key to');
			await expect(request(own, `${KEY}\u200B`)).rejects.toThrow('that no key can contain');
			expect(sandbox.requests).toEqual([]);
		});

		test.each([301, 303, 307])('follows no redirect with HTTP %d', async (status) => {
			const location = `${elsewhere.url}/credits`;
			sandbox.set({ faults: [{ kind: 'status', status, headers: { location } }] });
			const httpCode = String(status);
			await expect(request(`${sandbox.url}/credits`)).rejects.toMatchObject({ httpCode });
			expect(sandbox.requests).toHaveLength(1);
		});
	},
);

test('The base URL and the key work with what people paste around them, in the form and in the node', async () => {
	const baseUrl = ` ${sandbox.url}//\n`;
	const apiKey = `\t${KEY} \n`;
	expect(await tested({ baseUrl, apiKey: `\t bearer  ${KEY} \n` })).toEqual(connected);

	const [resource, operation] = VERIFY;
	const { items } = await runLeadGen({
		...{ baseUrl, credential: credentialWith({ apiKey }) },
		parameters: { resource, operation, email: '={{ $json.email }}' },
		items: [{ email: 'a@x.com' }, { email: 'b@x.com' }],
	});
	expect(items.map(({ json }) => json.email)).toEqual(['a@x.com', 'b@x.com']);
	const sent = sandbox.requests.map(({ path, headers }) => [path, headers.authorization]);
	expect(sent).toEqual([
		['/api/v1/credits', `Bearer ${KEY}`],
		['/api/v1/email/verify', `Bearer ${KEY}`],
		['/api/v1/email/verify', `Bearer ${KEY}`],
	]);
});

test.each([
	{ resource: '__CUSTOM_API_CALL__' },
	{ resource: 'email', operation: '__CUSTOM_API_CALL__' },
])(
	'Custom API Call, which n8n adds to the lists, says what to use instead: %j',
	async (parameters) => {
		const { error } = await runLeadGen({ baseUrl: sandbox.url, parameters, items: [{}] });
		expect(error).toMatchObject({
			message: 'This node makes no custom API calls',
			description: containing('use the HTTP Request node with Predefined Credential Type'),
		});
		expect(sandbox.requests).toEqual([]);
	},
);

describe('The form of the credential', () => {
	test('accepts an account without credits', async () => {
		sandbox.set({ accounts: { [KEY]: { plan: 'starter', credits: 0 } } });
		expect(await tested()).toEqual(connected);
	});

	const wrongKey =
		'The service does not accept this API key. Copy it again, and check that your account is active.';
	const oddKey = 'API Key in the LeadGen credential contains a character';
	const wrongAddress = 'The LeadGen service is not at this address. Check the base URL.';
	const noHost = 'The host of the service was not found. Check the base URL';
	const unreached = 'The service could not be reached. Check the base URL';
	const inDocker =
		'If n8n runs in Docker, localhost is its container: enter host.docker.internal instead.';
	test.each<[what: string, Given, message: string, requests: number]>([
		['an unknown key', { apiKey: 'wrong' }, wrongKey, 1],
		['no key', { apiKey: '' }, 'API Key in the LeadGen credential is empty', 0],
		['a key with an invisible character', { apiKey: `${KEY}\u200Bx` }, oddKey, 0],
		['a wrong path', { baseUrl: 'http://HOST' }, wrongAddress, 1],
		['a wrong host', { baseUrl: 'http://does-not-exist.invalid' }, noHost, 0],
		['a wrong port', { baseUrl: 'http://127.0.0.1:1' }, unreached, 0],
		['a wrong port of localhost', { baseUrl: 'http://localhost:1' }, inDocker, 0],
		['a wrong port of this computer', { baseUrl: 'http://127.0.0.1:1' }, inDocker, 0],
	])('refuses %s', async (_, given, message, requests) => {
		expect(await tested(given)).toEqual({ status: 'Error', message: containing(message) });
		expect(sandbox.requests).toHaveLength(requests);
	});

	const status = 200;
	test.each<[fault: FaultRule, message: string]>([
		[{ kind: 'envelope', status, message: `No ${KEY}` }, 'The service says: No **hidden** (INTERN'],
		[{ kind: 'html', status }, wrongAddress],
		[{ kind: 'html', status: 404 }, wrongAddress],
		[{ kind: 'html', status: 502 }, 'The service answered HTTP 502 with a web page. '],
		[{ kind: 'status', status: 200, body: '' }, wrongAddress],
		[{ kind: 'status', status, body: '{"status":"ok"}' }, wrongAddress],
		[{ kind: 'status', status, body: '{"success":true,"data":{}}' }, wrongAddress],
		[{ kind: 'resetBeforeWork' }, 'The connection broke before the service answered. '],
		[{ kind: 'status', status: 301 }, 'The service redirects to '],
		[{ kind: 'status', status: 303 }, 'The service redirects to '],
		[{ kind: 'status', status: 307 }, 'The service redirects to '],
	])('refuses a service that answers %j', async (fault, message) => {
		sandbox.set({ faults: [{ ...fault, headers: { location: `${elsewhere.url}/?${KEY}` } }] });
		const result = await tested();
		expect(result).toEqual({ status: 'Error', message: containing(message) });
		expect(result.message).not.toContain(KEY);
		expect(sandbox.requests).toHaveLength(1);
	});
});
