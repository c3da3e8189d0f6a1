/** What the other tests take for granted: the sandbox is strict, and its settings do what they say. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { RateLimiter } from '../lab/sandbox/rateLimit';
import { Sandbox } from '../lab/sandbox/server';
import { defaultSettings, type FaultRule, type SettingsPatch } from '../lab/sandbox/settings';
import { until } from './service';

const sandbox = new Sandbox({});

beforeAll(() => sandbox.listen());
beforeEach(() => {
	sandbox.reset();
});
afterAll(() => sandbox.close());

const ANN = { firstName: 'Ann', lastName: 'Sure', company: 'acme.com' };

async function call(method: string, path: string, body?: unknown, headers: object = {}) {
	const type = body === undefined ? {} : { 'content-type': 'application/json' };
	const response = await fetch(`${sandbox.url}${path}`, {
		method,
		headers: { authorization: 'Bearer test-key', ...type, ...headers },
		body: body === undefined ? undefined : JSON.stringify(body),
		signal: AbortSignal.timeout(1000),
	});
	const json = (await response.json()) as { data?: Record<string, unknown>; error?: unknown };
	return { status: response.status, headers: response.headers, json };
}

const find = () => call('POST', '/email/find', ANN);
const lastRequest = () => sandbox.requests.at(-1);

test.each<[string, string, unknown?, object?]>([
	['unknown filter', '/start', { filters: { titles: ['CEO'] } }],
	['limit as text', '/start', { filters: { limit: '5' } }],
	['no JSON', '/email/verify', 'hello'],
	['another content type', '/email/find', ANN, { 'content-type': 'text/plain' }],
	['query parameter', '/email/verify?x=1', { email: 'a@b.co' }],
	['empty scrapeId', '/status?scrapeId='],
])('A request with %s is refused, and is a violation', async (_what, path, ...[body, headers]) => {
	const answer = await call(body === undefined ? 'GET' : 'POST', path, body, headers);
	expect(answer).toMatchObject({ status: 400, json: { error: { code: 'INVALID_REQUEST' } } });
	expect(lastRequest()).toMatchObject({
		paid: false,
		outcome: 'INVALID_REQUEST',
		violation: expect.any(String) as string,
	});
});

test('Another method is not found, and is a violation', async () => {
	expect((await call('DELETE', '/credits')).status).toBe(404);
	expect(lastRequest()?.violation).toContain('DELETE /credits');
});

describe('A finder', () => {
	const LINK = 'https://www.linkedin.com/in/ann-sure';
	const NOBODY_KNOWS = { company: 'acme.com' };

	test.each<[string, string, object, string]>([
		[
			'a last name and a company',
			'/email/find',
			{ lastName: 'Sure', company: 'acme.com' },
			'sure@acme.com',
		],
		[
			'a first name and a company',
			'/email/find',
			{ firstName: 'Sure', company: 'acme.com' },
			'sure@acme.com',
		],
		[
			'a profile in place of the company',
			'/email/find',
			{ lastName: 'Sure', linkedinUrl: LINK },
			'sure@',
		],
		['a last name alone', '/email/personal', { lastName: 'Sure' }, 'sure@'],
	])('takes %s, unless it is strict', async (_what, path, body, email) => {
		const { status, json } = await call('POST', path, body);
		expect([status, json.data?.email]).toEqual([200, expect.stringContaining(email)]);
		expect(lastRequest()).toMatchObject({ paid: true, violation: undefined });
		expect(await call('POST', path, body)).toMatchObject({ json: { data: json.data } });

		sandbox.set({ finders: 'strict' });
		expect(await call('POST', path, body)).toMatchObject({ status: 400 });
		expect(lastRequest()).toMatchObject({ paid: false, violation: undefined });
	});

	test.each<[string, object, string]>([
		['/email/find', { firstName: 'Ann', linkedinUrl: LINK }, 'lastName, company'],
		['/email/find', { lastName: 'Sure', company: 'acme.com' }, 'firstName'],
		['/email/personal', { firstName: 'Ann', lastName: 'Sure' }, 'linkedinUrl'],
	])('that is strict names what is missing: %s %j', async (path, body, fields) => {
		sandbox.set({ finders: 'strict' });
		const error = { code: 'INVALID_REQUEST', message: `Missing required fields: ${fields}` };
		expect((await call('POST', path, body)).json.error).toEqual(error);
		expect((await find()).status).toBe(200);
	});

	test.each([
		['/email/find', { firstName: 'Ann', lastName: 'Sure' }],
		['/email/find', NOBODY_KNOWS],
		['/email/personal', { linkedinUrl: LINK }],
	])('refuses what can find nobody, as a violation: %s %j', async (path, body) => {
		expect(await call('POST', path, body)).toMatchObject({ status: 400 });
		expect(lastRequest()?.violation).toMatch(/must have required property/);
	});
});

describe('Notifications', () => {
	const received: Array<Record<'method' | 'url' | 'type' | 'body', unknown>> = [];
	/** The statuses with which the receiver answers, before it answers 200. */
	let answers: number[];
	let webhookUrl: string;
	const receiver = createServer((request, response) => {
		const { method, url, headers } = request;
		void text(request).then((body) => {
			received.push({ method, url, type: headers['content-type'], body });
			response.writeHead(answers.shift() ?? 200).end();
		});
	});

	beforeAll(async () => {
		await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
		webhookUrl = `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/hook?a=1`;
	});
	beforeEach(() => {
		received.length = 0;
		answers = [];
	});
	afterAll(() => {
		receiver.close();
		receiver.closeAllConnections();
	});

	const start = async () => {
		const { json } = await call('POST', '/start', { filters: { limit: 10 }, webhookUrl });
		return String(json.data?.scrapeId);
	};

	test.each([
		['flat', 'PUT', 'application/json', /^\{"scrapeId":"scrape_\w+","status":"completed"/],
		['leads', 'POST', 'application/json', /"leads":\[\{/],
		['form', 'POST', 'application/x-www-form-urlencoded', /^scrapeId=scrape_\w+&status=completed&/],
		['broken', 'POST', 'application/json', /^\{"scrapeId".*[^}]$/],
		['query', 'GET', undefined, /^$/],
	] as const)('have the shape %s with %s', async (shape, method, type, body) => {
		sandbox.set({ notification: { shape, method } });
		const scrapeId = await start();
		sandbox.finish(scrapeId, 'completed');
		await until(() => received.length === 1);
		expect(received[0]).toMatchObject({ method, type });
		expect(received[0]?.body).toMatch(body);
		const isInQuery = String(received[0]?.url).includes(`/hook?a=1&scrapeId=${scrapeId}`);
		expect(isInQuery).toBe(shape === 'query');
	});

	test.each<[string, SettingsPatch['notification'], 'completed' | 'failed', number[]]>([
		['never', { times: 0 }, 'failed', []],
		['three times', { times: 3, delayMs: 5 }, 'failed', [200, 200, 200]],
		['until they are taken', { retries: 5, backoffMs: 5 }, 'completed', [500, 404, 200]],
	])('come %s', async (_when, notification, outcome, statuses) => {
		sandbox.set({ notification });
		answers = statuses.slice();
		const scrapeId = await start();
		sandbox.finish(scrapeId, outcome);
		const sent = () => sandbox.jobs[0]?.notifications.map(({ status }) => status);
		await until(() => received.length >= statuses.length && !sent()?.includes(undefined));
		expect(await sandbox.notify(scrapeId)).toMatchObject({ status: 200, method: 'POST' });
		expect(sent()).toEqual([...statuses, 200]);
		for (const { body } of received) expect(body).toContain(`"status":"${outcome}"`);
	});

	test('may come before the scrape says that it has ended', async () => {
		sandbox.set({ job: { durationMs: 60_000 }, notification: { delayMs: -59_990 } });
		const scrapeId = await start();
		await until(() => received.length === 1);
		expect(received[0]?.body).toContain('"status":"completed"');
		const { json } = await call('GET', `/status?scrapeId=${scrapeId}`);
		expect(json.data?.status).toBe('pending');
	});
});

describe('A rate limit', () => {
	test('of an Enterprise account is a setting', async () => {
		sandbox.set({
			accounts: { 'test-key': { plan: 'enterprise', credits: 0 } },
			rateLimit: { windowMs: 3_600_000, enterprisePerMinute: 2 },
		});
		const statuses: number[] = [];
		for (let sent = 0; sent < 3; sent++) statuses.push((await call('GET', '/credits')).status);
		expect(statuses).toEqual([200, 200, 429]);
	});

	test.each([
		['fixed', [1, 1, 0, 1, 1, 0]],
		['sliding', [1, 1, 0, 1, 0, 1]],
	] as const)('has %s windows', (kind, allowed) => {
		const settings = { ...defaultSettings().rateLimit, kind, windowMs: 100 };
		const limiter = new RateLimiter();
		const times = [1000, 1040, 1090, 1130, 1133, 1155];
		const verdicts = times.map((now) => limiter.check(settings, 'key', 2, now).allowed);
		expect(verdicts.map(Number)).toEqual(allowed);
	});

	test.each([
		['retryAfterSeconds', { 'Retry-After': '60' }],
		['ratelimit', { 'RateLimit-Limit': '1', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '60' }],
	] as const)('says in its headers how long to wait: %s', (headers, expected) => {
		const settings = { ...defaultSettings().rateLimit, kind: 'sliding' as const, headers };
		const limiter = new RateLimiter();
		limiter.check(settings, 'key', 1, 10_000);
		expect(limiter.check(settings, 'key', 1, 10_000).headers).toEqual(expected);
	});
});

test.each<[FaultRule, isCharged: boolean]>([
	[{ kind: 'html', status: 502, afterWork: true }, true],
	[{ kind: 'resetBeforeWork' }, false],
	[{ kind: 'resetAfterWork' }, true],
	[{ kind: 'hang' }, false],
	[{ kind: 'hangAfterWork' }, true],
])('With the fault %j the request is charged: %s', async (fault, isCharged) => {
	sandbox.set({ faults: [{ ...fault, match: { times: 1 } }] });
	await find().catch(() => {});
	expect(lastRequest()).toMatchObject({ paid: isCharged, outcome: `fault:${fault.kind}` });
	expect(sandbox.credits()).toBe(isCharged ? 999 : 1000);
	expect((await find()).status).toBe(200);
});
