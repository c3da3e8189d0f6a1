/** What the other tests take for granted: the sandbox is strict, and its settings do what they say. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { RateLimiter } from '../lab/sandbox/rateLimit';
import { Sandbox } from '../lab/sandbox/server';
import {
	defaultSettings,
	type FaultRule,
	type RateLimitSettings,
	type SettingsPatch,
} from '../lab/sandbox/settings';
import { sleep, until } from './service';

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
		body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
		signal: AbortSignal.timeout(1000),
	});
	const json = (await response.json()) as { data?: Record<string, unknown>; error?: unknown };
	return { status: response.status, headers: response.headers, json };
}

const post = (path: string, body: unknown) => call('POST', path, body);
const get = (path: string, headers = {}) => call('GET', path, undefined, headers);
const credits = () => get('/credits');
const find = () => post('/email/find', ANN);

async function start(options: { webhookUrl?: string; limit?: number } = {}) {
	const { limit = 10, webhookUrl } = options;
	const { json } = await post('/start', { filters: { limit }, webhookUrl });
	return String(json.data?.scrapeId);
}
const statusOf = async (scrapeId: string) =>
	(await get(`/status?scrapeId=${encodeURIComponent(scrapeId)}`)).json.data ?? {};

/** The statuses of so many answers, one after the other. */
async function statusesOf(count: number): Promise<number[]> {
	const statuses: number[] = [];
	for (let sent = 0; sent < count; sent++) statuses.push((await credits()).status);
	return statuses;
}

const lastRequest = () => sandbox.requests.at(-1);

test.each<[string, string, unknown?, object?]>([
	['unknown field', '/start', { filters: {}, name: 'x' }],
	['unknown filter', '/start', { filters: { titles: ['CEO'] } }],
	['no filters', '/start', {}],
	['limit as text', '/start', { filters: { limit: '5' } }],
	['limit below 1', '/start', { filters: { limit: 0 } }],
	['limit with a fraction', '/start', { filters: { limit: 1.5 } }],
	['a list that is text', '/start', { filters: { jobTitles: 'CEO' } }],
	['an empty list', '/start', { filters: { jobTitles: [] } }],
	['an empty list entry', '/start', { filters: { jobTitles: [''] } }],
	['company size in words', '/start', { filters: { companySize: 'small' } }],
	['webhookUrl without a scheme', '/start', { filters: {}, webhookUrl: 'example.com' }],
	['no company', '/email/find', { firstName: 'Ann', lastName: 'Lee' }],
	['empty name', '/email/find', { ...ANN, firstName: '' }],
	['null', '/email/find', { ...ANN, linkedinUrl: null }],
	['location of the other finder', '/email/find', { ...ANN, location: 'Austin, TX' }],
	['company of the other finder', '/email/personal', ANN],
	['no email', '/email/verify', {}],
	['several emails', '/email/verify', { email: ['a@b.co'] }],
	['no JSON', '/email/verify', 'hello'],
	['another content type', '/email/find', ANN, { 'content-type': 'text/plain' }],
	['query parameter', '/email/verify?x=1', { email: 'a@b.co' }],
	['query parameter of a GET', '/credits?x=1'],
	['no scrapeId', '/status'],
	['empty scrapeId', '/status?scrapeId='],
	['scrapeId and another parameter', '/status?scrapeId=1&a=2'],
])('A request with %s is refused, and is a violation', async (_what, path, ...[body, headers]) => {
	const answer = await call(body === undefined ? 'GET' : 'POST', path, body, headers);
	expect(answer).toMatchObject({ status: 400, json: { error: { code: 'INVALID_REQUEST' } } });
	expect(lastRequest()).toMatchObject({
		paid: false,
		outcome: 'INVALID_REQUEST',
		violation: expect.any(String) as string,
	});
});

test('Another path or method is not found, and is a violation', async () => {
	for (const path of ['/nowhere', '//credits']) expect((await get(path)).status).toBe(404);
	expect((await call('DELETE', '/credits')).status).toBe(404);
	expect(lastRequest()?.violation).toContain('DELETE /credits');
});

describe('Notifications', () => {
	const received: Array<Record<'method' | 'url' | 'type' | 'signature' | 'body', unknown>> = [];
	/** The statuses with which the receiver answers, before it answers 200. */
	let answers: number[];
	let webhookUrl: string;
	const receiver = createServer((request, response) => {
		const { method, url, headers } = request;
		const { 'content-type': type, 'x-signature': signature } = headers;
		void text(request).then((body) => {
			received.push({ method, url, type, signature, body });
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

	const finished = async (outcome: 'completed' | 'failed' = 'completed') => {
		const scrapeId = await start({ webhookUrl });
		sandbox.finish(scrapeId, outcome);
		return scrapeId;
	};

	test.each([
		['flat', 'application/json', /^\{"scrapeId":"scrape_\w+","status":"completed"/],
		['nested', 'application/json', /^\{"event":"scrape\.completed","data":\{"scrapeId"/],
		['envelope', 'application/json', /^\{"success":true,"data":\{"scrapeId"/],
		['leads', 'application/json', /"leads":\[\{/],
		['snake', 'application/json', /^\{"scrape_id":.*"completed_at"/],
		['form', 'application/x-www-form-urlencoded', /^scrapeId=scrape_\w+&status=completed&/],
		['text', 'text/plain', /^Scrape scrape_\w+ completed$/],
		['broken', 'application/json', /^\{"scrapeId".*[^}]$/],
		['query', undefined, /^$/],
		['empty', undefined, /^$/],
	] as const)('have the shape %s', async (shape, type, body) => {
		const headers = { 'x-signature': 'abc' };
		sandbox.set({ notification: { shape, method: 'PUT', headers } });
		const scrapeId = await finished();
		await until(() => received.length === 1);
		expect(received[0]).toMatchObject({ method: 'PUT', type, signature: 'abc' });
		expect(received[0]?.body).toMatch(body);
		expect(String(received[0]?.url).includes(`&scrapeId=${scrapeId}`)).toBe(shape === 'query');
	});

	test('by GET put the fields into the query', async () => {
		sandbox.set({ notification: { method: 'GET' } });
		const scrapeId = await finished();
		await until(() => received.length === 1);
		expect(received[0]).toMatchObject({ method: 'GET', body: '' });
		expect(received[0]?.url).toContain(`/hook?a=1&scrapeId=${scrapeId}&status=completed`);
	});

	test.each<[string, SettingsPatch['notification'], 'completed' | 'failed', number[]]>([
		['once', {}, 'completed', [200]],
		['of failed scrapes, too', {}, 'failed', [200]],
		['never', { times: 0 }, 'completed', []],
		['three times', { times: 3, delayMs: 5 }, 'completed', [200, 200, 200]],
		['three times at once', { times: 3, parallel: true }, 'completed', [200, 200, 200]],
		['until they are taken', { retries: 5, backoffMs: 5 }, 'completed', [500, 404, 200]],
	])('come %s', async (_when, notification, outcome, statuses) => {
		sandbox.set({ notification });
		answers = statuses.slice();
		const scrapeId = await finished(outcome);
		await until(() => received.length >= statuses.length);
		await sleep(50);
		const sent = () => sandbox.jobs[0]?.notifications.map(({ status }) => status);
		expect(sent()).toEqual(statuses);
		expect(await sandbox.notify(scrapeId)).toMatchObject({ status: 200, method: 'POST' });
		expect(sent()).toEqual([...statuses, 200]);
		for (const { body } of received) expect(body).toContain(`"status":"${outcome}"`);
	});

	test('may come before the scrape says that it has ended', async () => {
		sandbox.set({ job: { durationMs: 60_000 }, notification: { earlyMs: 59_990 } });
		const scrapeId = await start({ webhookUrl });
		await until(() => received.length === 1);
		expect(received[0]?.body).toContain('"status":"completed"');
		expect((await statusOf(scrapeId)).status).toBe('pending');
	});
});

describe('A rate limit', () => {
	/** A window that no test outlasts. */
	const windowMs = 3_600_000;

	test.each([
		['starter', 60],
		['pro', 300],
		['enterprise', 20],
	])('of a %s account is %d requests', async (plan, limit) => {
		sandbox.set({
			accounts: { 'test-key': { plan, credits: 0 }, other: { plan, credits: 0 } },
			rateLimit: { windowMs, enterprisePerMinute: 20 },
		});
		expect((await statusesOf(limit + 1)).indexOf(429)).toBe(limit);
		expect((await get('/credits', { authorization: 'Bearer other' })).status).toBe(200);
		sandbox.set({ rateLimit: { enabled: false } });
		expect((await statusesOf(limit + 1)).indexOf(429)).toBe(-1);
	});

	test.each([
		['fixed', [1, 1, 0, 1, 1, 0]],
		['sliding', [1, 1, 0, 1, 0, 1]],
		['tokenBucket', [1, 1, 1, 1, 0, 1]],
	] as const)('has %s windows', (kind, allowed) => {
		const settings = { ...defaultSettings().rateLimit, kind, windowMs: 100 };
		const limiter = new RateLimiter();
		const times = [1000, 1040, 1090, 1130, 1133, 1155];
		const verdicts = times.map((now) => limiter.check(settings, 'key', 2, now).allowed);
		expect(verdicts.map(Number)).toEqual(allowed);
	});

	test('says in headers how long to wait', async () => {
		const limited = { windowMs, perMinute: 1, kind: 'sliding' } as const;
		const headersOf = async (headers: RateLimitSettings['headers']) => {
			sandbox.set({ rateLimit: { ...limited, headers } });
			return [(await credits()).headers, (await credits()).headers] as const;
		};
		const [, none] = await headersOf('none');
		expect([...none.keys()].filter((name) => /retry|limit/.test(name))).toEqual([]);
		const [free, seconds] = await headersOf('retryAfterSeconds');
		expect(free.get('retry-after')).toBeNull();
		expect(Number(seconds.get('retry-after'))).toBeGreaterThan(3590);
		const [, date] = await headersOf('retryAfterDate');
		expect(Date.parse(date.get('retry-after') ?? '')).toBeGreaterThan(Date.now() + 3_590_000);
		const [first, refused] = await headersOf('ratelimit');
		expect(first.get('ratelimit-limit')).toBe('1');
		expect(first.get('ratelimit-remaining')).toBe('0');
		expect(Number(refused.get('ratelimit-reset'))).toBeLessThanOrEqual(3600);
		const [, epoch] = await headersOf('xRatelimit');
		expect(Number(epoch.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1000);
	});
});

test.each<[FaultRule, isCharged: boolean]>([
	[{ kind: 'html', status: 502 }, false],
	[{ kind: 'html', status: 502, afterWork: true }, true],
	[{ kind: 'resetBeforeWork' }, false],
	[{ kind: 'resetAfterWork' }, true],
	[{ kind: 'resetMidBody' }, true],
	[{ kind: 'hang' }, false],
	[{ kind: 'hangAfterWork' }, true],
	[{ kind: 'slowBody' }, true],
])('With the fault %j the request is charged: %s', async (fault, isCharged) => {
	sandbox.set({ faults: [{ ...fault, match: { times: 1 } }] });
	await find().catch(() => {});
	expect(lastRequest()).toMatchObject({ paid: isCharged, outcome: `fault:${fault.kind}` });
	expect(sandbox.credits()).toBe(isCharged ? 999 : 1000);
	expect((await find()).status).toBe(200);
});
