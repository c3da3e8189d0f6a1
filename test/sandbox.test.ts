import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { latencyOf } from '../lab/sandbox/latency';
import { RateLimiter } from '../lab/sandbox/rateLimit';
import { Sandbox, startSandbox } from '../lab/sandbox/server';
import { defaultSettings } from '../lab/sandbox/settings';
import type { FaultRule, RateLimitSettings } from '../lab/sandbox/settings';

const sandbox = new Sandbox({});

beforeAll(() => sandbox.listen());
beforeEach(() => {
	sandbox.reset();
});
afterAll(() => sandbox.close());

interface Result {
	status: number;
	headers: Headers;
	text: string;
	/** Whatever JSON the text is. */
	json: { success?: boolean; data?: Record<string, unknown> | null; error?: { code: string } };
}

const AUTH = { authorization: 'Bearer test-key' };
const ANN = { firstName: 'Ann', lastName: 'Sure', company: 'acme.com' };

async function call(
	method: string,
	path: string,
	body?: unknown,
	headers: object = {},
	timeoutMs = 5000,
): Promise<Result> {
	const type = body === undefined ? {} : { 'content-type': 'application/json' };
	const response = await fetch(`${sandbox.url}${path}`, {
		method,
		headers: { ...AUTH, ...type, ...headers },
		body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
		redirect: 'manual',
		signal: AbortSignal.timeout(timeoutMs),
	});
	const answer = {
		status: response.status,
		headers: response.headers,
		text: await response.text(),
	};
	try {
		return { ...answer, json: JSON.parse(answer.text) as Result['json'] };
	} catch {
		// Some faults answer no JSON.
		return { ...answer, json: {} };
	}
}

const post = (path: string, body: unknown, headers = {}) => call('POST', path, body, headers);
const get = (path: string, headers = {}) => call('GET', path, undefined, headers);
const find = (person: object = ANN) => post('/email/find', person);
const verify = (email: string) => post('/email/verify', { email });
const credits = () => get('/credits');

/** The answer to a request that is refused. */
const refusal = (status: number, code: string) => ({
	status,
	json: { success: false, error: { code } },
});

async function start(options: { webhookUrl?: string; limit?: number } = {}): Promise<string> {
	const { limit = 10, webhookUrl } = options;
	const { json } = await post('/start', { filters: { limit }, webhookUrl });
	return String(json.data?.scrapeId);
}
const statusOf = async (scrapeId: string) =>
	(await get(`/status?scrapeId=${encodeURIComponent(scrapeId)}`)).json.data ?? {};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The statuses of so many answers, one after the other. */
async function statusesOf(count: number): Promise<number[]> {
	const statuses: number[] = [];
	for (let sent = 0; sent < count; sent++) statuses.push((await credits()).status);
	return statuses;
}

/** Asks again and again until the answer is a truthy one. */
async function eventually<T>(ask: () => T | Promise<T>): Promise<NonNullable<T>> {
	const deadline = Date.now() + 5000;
	while (Date.now() < deadline) {
		const answer = await ask();
		if (answer) return answer;
		await pause(10);
	}
	throw new Error('It never happened');
}

const lastRequest = () => sandbox.requests[sandbox.requests.length - 1];

describe('the contract', () => {
	test('every operation answers as the contract says', async () => {
		sandbox.set({ job: { durationMs: 0 }, extraFields: true });
		const filters = {
			jobTitles: ['CEO'],
			locations: ['Austin, TX'],
			industries: ['Software'],
			companySize: '10-50',
			limit: 5,
		};
		const { json } = await post('/start', { filters, webhookUrl: 'http://127.0.0.1:1/hook' });
		await statusOf(String(json.data?.scrapeId));
		await credits();
		await find();
		const { firstName, lastName } = ANN;
		await post('/email/personal', { firstName, lastName, linkedinUrl: 'https://a.co/in/ann' });
		await verify('valid@acme.com');
		const operations = ['startScrape', 'getScrapeStatus', 'getCredits', 'findBusinessEmail'];
		expect(sandbox.requests).toMatchObject(
			[...operations, 'findPersonalEmail', 'verifyEmail'].map((operation) => ({
				operation,
				outcome: 'success',
				violation: undefined,
				answerViolation: undefined,
			})),
		);
	});

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
	])('refuses a request with %s', async (_what, path, ...[body, headers]) => {
		const answer = await call(body === undefined ? 'GET' : 'POST', path, body, headers);
		expect(answer).toMatchObject(refusal(400, 'INVALID_REQUEST'));
		expect(lastRequest()).toMatchObject({
			paid: false,
			outcome: 'INVALID_REQUEST',
			status: 400,
			violation: expect.any(String) as string,
		});
	});

	test('refuses to find more leads than a setting allows', async () => {
		const answer = await post('/start', { filters: { limit: 10_001 } });
		expect(answer).toMatchObject(refusal(400, 'INVALID_REQUEST'));
		expect(lastRequest()).toMatchObject({ paid: false, violation: undefined });
	});

	test('knows no other paths and no other jobs', async () => {
		sandbox.set({ accounts: { a: { plan: 'pro', credits: 9 }, b: { plan: 'pro', credits: 9 } } });
		const asA = { authorization: 'Bearer a' };
		const { json } = await post('/start', { filters: { limit: 1 } }, asA);
		const path = `/status?scrapeId=${String(json.data?.scrapeId)}`;
		const unknown = refusal(404, 'NOT_FOUND');
		expect((await get(path, asA)).status).toBe(200);
		expect(await get(path, { authorization: 'Bearer b' })).toMatchObject(unknown);
		expect(await get('/nowhere', asA)).toMatchObject(unknown);
		expect(await get('//credits', asA)).toMatchObject(unknown);
		expect(await call('DELETE', '/credits', undefined, asA)).toMatchObject(unknown);
		expect(lastRequest()?.violation).toContain('DELETE /credits');
		sandbox.set({ unknownScrape: 'INVALID_REQUEST' });
		const none = await get('/status?scrapeId=none', asA);
		expect(none).toMatchObject(refusal(400, 'INVALID_REQUEST'));
	});

	test.each(['', 'Bearer wrong', 'Basic test-key', 'test-key'])(
		'refuses the authorization "%s", before it looks at the request',
		async (authorization) => {
			const answer = await post('/email/find', {}, { authorization });
			expect(answer).toMatchObject(refusal(401, 'UNAUTHORIZED'));
		},
	);
});

describe('people', () => {
	test('the same person is always the same, and other seeds give others', async () => {
		const people = Array.from({ length: 60 }, (_, index) => ({
			...ANN,
			lastName: `Lee${String(index)}`,
		}));
		const all = async () => {
			const answers: unknown[] = [];
			for (const person of people) answers.push((await find(person)).json.data);
			return answers as Array<{ confidence: number } | undefined>;
		};
		const first = await all();
		sandbox.reset();
		expect(await all()).toEqual(first);
		const found = first.flatMap((data) => (data ? [data.confidence] : []));
		expect(found.length).toBeLessThan(people.length);
		const bandOf = (confidence: number) => [0.9, 0.7, 0.5, 0].find((low) => confidence >= low);
		expect(new Set(found.map(bandOf)).size).toBe(4);
		sandbox.reset({ seed: 2 });
		expect(await all()).not.toEqual(first);
	});

	test('names in any script get an address', async () => {
		const { json } = await find({ firstName: 'Sure', lastName: '李', company: 'Müller & Söhne' });
		expect(json.data?.email).toMatch(/^[a-z0-9.]+@mullersohne\.com$/);
	});

	test.each([
		['ann@mailinator.com', { disposable: true }],
		['not an address', { status: 'invalid' }],
	])('verifies %s', async (email, verdict) => {
		expect((await verify(email)).json.data).toMatchObject(verdict);
	});

	test('a search in vain is charged only if that is set', async () => {
		const nobody = { ...ANN, lastName: 'Nobody' };
		for (const notFound of ['error', 'emptyEmail', 'nullData'] as const) {
			sandbox.set({ notFound });
			await find(nobody);
			expect(lastRequest()).toMatchObject({ paid: false });
		}
		expect(sandbox.credits()).toBe(1000);
		sandbox.set({ chargeNotFound: true, notFound: 'error' });
		expect(await find(nobody)).toMatchObject(refusal(404, 'NOT_FOUND'));
		expect(sandbox.credits()).toBe(999);
		expect(lastRequest()).toMatchObject({ paid: true, outcome: 'NOT_FOUND' });
	});
});

describe('credits and time', () => {
	test('costs are taken, and too few credits refuse the work', async () => {
		sandbox.set({
			accounts: { 'test-key': { plan: 'starter', credits: 7 } },
			cost: { findBusiness: 3, verify: 2 },
		});
		expect((await find()).status).toBe(200);
		expect((await verify('a@b.co')).status).toBe(200);
		expect(sandbox.requests.map(({ cost }) => cost)).toEqual([3, 2]);
		const tooFew = refusal(402, 'INSUFFICIENT_CREDITS');
		expect(await find()).toMatchObject(tooFew);
		expect(await post('/start', { filters: { limit: 3 } })).toMatchObject(tooFew);
		expect((await credits()).json.data).toMatchObject({ credits: 2, plan: 'starter' });
		expect(lastRequest()).toMatchObject({ account: 'test-key', paid: false });
	});

	test('a scrape can be charged when it is completed', async () => {
		sandbox.set({ chargeScrape: 'completion', job: { leadShare: 0.5 } });
		const scrapeId = await start();
		expect(sandbox.credits()).toBe(1000);
		sandbox.finish(scrapeId, 'completed');
		expect(sandbox.credits()).toBe(995);
		expect(await statusOf(scrapeId)).toMatchObject({ leadsFound: 5, creditsUsed: 5 });
	});

	test('latency delays each answer', async () => {
		sandbox.set({ latencyMs: { min: 40, max: 60 } });
		const from = Date.now();
		await credits();
		expect(Date.now() - from).toBeGreaterThanOrEqual(35);
	});

	test('lognormal latencies lie around their median, and some are far longer', () => {
		const latencies = Array.from({ length: 999 }, (_, index) => {
			return latencyOf({ medianMs: 1000, sigma: 1 }, 1, index);
		}).sort((a, b) => a - b);
		const at = (share: number) => latencies[Math.floor(share * latencies.length)];
		expect(at(0.5)).toBeGreaterThan(900);
		expect(at(0.5)).toBeLessThan(1100);
		// A sixth of a normal distribution lies beyond one sigma.
		expect(at(5 / 6)).toBeGreaterThan(2300);
		expect(at(5 / 6)).toBeLessThan(3000);
		expect(latencies.at(-1)).toBeGreaterThan(10_000);
	});
});

describe('jobs', () => {
	test('go from pending by processing to completed', async () => {
		sandbox.set({ job: { durationMs: 300, nullsInStatus: true, progressScale: 1 } });
		const scrapeId = await start({ limit: 100 });
		const seen: Array<Record<string, unknown>> = [];
		await eventually(async () => {
			seen.push(await statusOf(scrapeId));
			return seen.at(-1)?.status === 'completed';
		});
		const statuses = new Set(seen.map(({ status }) => status));
		expect([...statuses]).toEqual(['pending', 'processing', 'completed']);
		const found = seen.map(({ leadsFound }) => Number(leadsFound));
		expect(found).toEqual(found.toSorted((a, b) => a - b));
		expect(seen[0]).toMatchObject({ progress: 0, completedAt: null });
		expect(seen.at(-2)?.progress).toBeLessThan(1);
		expect(seen.at(-1)).toMatchObject({ progress: 100, leadsFound: 100 });
		for (const { answerViolation } of sandbox.requests) expect(answerViolation).toBeUndefined();
	});

	test('the status can lag behind', async () => {
		sandbox.set({ job: { statusLagMs: 150, durationMs: 60_000 } });
		const scrapeId = await start();
		await pause(20);
		sandbox.finish(scrapeId, 'completed');
		expect((await statusOf(scrapeId)).status).toBe('processing');
		await eventually(async () => (await statusOf(scrapeId)).status === 'completed');
	});

	test.each([
		['string', /^scrape_\w+$/],
		['uuid', /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/],
		['number-like', /^\d+$/],
		['awkward', /^job\/1 a\+b&c=é\?#%/],
	] as const)('have a %s as identifier', async (scrapeIdStyle, pattern) => {
		sandbox.set({ job: { scrapeIdStyle } });
		const scrapeId = await start();
		expect(scrapeId).toMatch(pattern);
		expect(await start()).not.toBe(scrapeId);
		expect(await statusOf(scrapeId)).toMatchObject({ scrapeId });
	});
});

describe('notifications', () => {
	const read = async (request: IncomingMessage) => {
		const { method, url, headers } = request;
		const { 'content-type': type, 'x-signature': signature } = headers;
		return { method, url, type, signature, body: await text(request) };
	};
	let received: Array<Awaited<ReturnType<typeof read>>>;
	/** The statuses with which the receiver answers, before it answers 200. */
	let answers: number[];
	let webhookUrl: string;
	const receiver = createServer((request, response) => {
		void read(request).then((each) => {
			received.push(each);
			response.writeHead(answers.shift() ?? 200).end();
		});
	});

	beforeAll(async () => {
		await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
		webhookUrl = `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/hook?a=1`;
	});
	beforeEach(() => {
		received = [];
		answers = [];
	});
	afterAll(async () => {
		receiver.closeAllConnections();
		await new Promise((resolve) => receiver.close(resolve));
	});

	const finished = async (outcome: 'completed' | 'failed' = 'completed') => {
		const scrapeId = await start({ webhookUrl });
		sandbox.finish(scrapeId, outcome);
		return scrapeId;
	};
	const answered = (count: number) =>
		eventually(
			() => sandbox.jobs[0]?.notifications.filter(({ status }) => status).length === count,
		);

	test('come by themselves when a job ends', async () => {
		sandbox.set({ job: { durationMs: 20 }, notification: { headers: { 'x-signature': 'abc' } } });
		const scrapeId = await start({ webhookUrl });
		await answered(1);
		expect(received).toHaveLength(1);
		expect(received[0]).toMatchObject({ method: 'POST', url: '/hook?a=1', signature: 'abc' });
		expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ scrapeId, status: 'completed' });
		expect(sandbox.jobs[0]?.notifications).toMatchObject([{ status: 200, method: 'POST' }]);
	});

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
		sandbox.set({ notification: { shape, method: 'PUT' } });
		const scrapeId = await finished();
		await answered(1);
		expect(received[0]).toMatchObject({ method: 'PUT', type });
		expect(received[0]?.body).toMatch(body);
		expect(received[0]?.url?.includes(`&scrapeId=${scrapeId}`)).toBe(shape === 'query');
	});

	test('by GET put the fields into the query', async () => {
		sandbox.set({ notification: { method: 'GET' } });
		const scrapeId = await finished();
		await answered(1);
		expect(received[0]).toMatchObject({ method: 'GET', body: '' });
		expect(received[0]?.url).toContain(`/hook?a=1&scrapeId=${scrapeId}&status=completed`);
	});

	test.each([true, false])('are repeated, parallel: %s', async (parallel) => {
		sandbox.set({ notification: { times: 3, parallel, delayMs: 5 } });
		await finished();
		await answered(3);
		expect(new Set(received.map(({ body }) => body)).size).toBe(1);
	});

	test('get lost, or are kept for completed jobs, and can still be sent by force', async () => {
		sandbox.set({ notification: { times: 0 } });
		const scrapeId = await finished();
		sandbox.set({ notification: { times: 1, failed: false } });
		await finished('failed');
		await pause(50);
		expect(received).toHaveLength(0);
		expect(await sandbox.notify(scrapeId)).toMatchObject({ status: 200 });
		expect(received).toHaveLength(1);
	});

	test('tell of failed jobs too', async () => {
		await finished('failed');
		await answered(1);
		expect(received[0]?.body).toContain('"status":"failed"');
	});

	test('are tried again until the receiver takes them', async () => {
		sandbox.set({ notification: { retries: 5, backoffMs: 5 } });
		answers = [500, 404, 200];
		await finished();
		await answered(3);
		await pause(30);
		expect(sandbox.jobs[0]?.notifications.map(({ status }) => status)).toEqual([500, 404, 200]);
	});

	test('may come before the job says that it has ended', async () => {
		sandbox.set({ job: { durationMs: 60_000 }, notification: { earlyMs: 59_990 } });
		const scrapeId = await start({ webhookUrl });
		await answered(1);
		expect(received[0]?.body).toContain('"status":"completed"');
		expect((await statusOf(scrapeId)).status).toBe('pending');
	});
});

describe('rate limits', () => {
	/** A window that no test outlasts. */
	const windowMs = 3_600_000;

	test.each([
		['starter', 60],
		['pro', 300],
		['enterprise', 20],
	])('a %s account has %d requests', async (plan, limit) => {
		sandbox.set({
			accounts: { 'test-key': { plan, credits: 0 } },
			rateLimit: { windowMs, enterprisePerMinute: 20 },
		});
		expect((await statusesOf(limit + 1)).indexOf(429)).toBe(limit);
		expect(lastRequest()).toMatchObject({ outcome: 'RATE_LIMIT_EXCEEDED' });
	});

	test('each account has its own, and it can be off', async () => {
		const accounts = { 'test-key': { plan: 'x', credits: 0 }, b: { plan: 'x', credits: 0 } };
		sandbox.set({ accounts, rateLimit: { windowMs, perMinute: 1 } });
		expect(await statusesOf(2)).toEqual([200, 429]);
		expect((await get('/credits', { authorization: 'Bearer b' })).status).toBe(200);
		sandbox.set({ rateLimit: { enabled: false } });
		expect(await statusesOf(3)).toEqual([200, 200, 200]);
	});

	test.each([
		['fixed', false, [1, 1, 0, 1, 1, 0]],
		['fixed', true, [1, 1, 0, 1, 1, 0]],
		['sliding', false, [1, 1, 0, 1, 0, 1]],
		['sliding', true, [1, 1, 0, 0, 0, 0]],
		['tokenBucket', false, [1, 1, 1, 1, 0, 1]],
		['tokenBucket', true, [1, 1, 1, 1, 0, 0]],
	] as const)('%s windows, refused requests count: %s', (kind, countRefused, allowed) => {
		const settings = { ...defaultSettings().rateLimit, kind, countRefused, windowMs: 100 };
		const limiter = new RateLimiter();
		const times = [1000, 1040, 1090, 1130, 1133, 1155];
		const verdicts = times.map((now) => limiter.check(settings, 'key', 2, now).allowed);
		expect(verdicts.map(Number)).toEqual(allowed);
	});

	test('so many requests of an account may be in flight, and others are refused at once', async () => {
		sandbox.set({ latencyMs: 200, rateLimit: { maxInFlight: 3, refusalMs: 0 } });
		const began = Date.now();
		const fast: number[] = [];
		const statuses = await Promise.all(
			Array.from({ length: 5 }, async () => {
				const { status } = await credits();
				if (status === 429) fast.push(Date.now() - began);
				return status;
			}),
		);
		expect(statuses.toSorted()).toEqual([200, 200, 200, 429, 429]);
		for (const ms of fast) expect(ms).toBeLessThan(200);
		expect((await credits()).status).toBe(200);
	});

	test('the headers say how long to wait', async () => {
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

describe('faults', () => {
	const fault = (...faults: FaultRule[]) => {
		sandbox.set({ faults });
	};

	test.each<[FaultRule, number, string | RegExp]>([
		[{ kind: 'status', status: 503 }, 503, /INTERNAL_ERROR/],
		[{ kind: 'status', body: 'html' }, 500, /^<!DOCTYPE html>/],
		[{ kind: 'status', status: 504, body: 'empty' }, 504, /^$/],
		[{ kind: 'status', status: 502, body: 'Bad gateway' }, 502, /^Bad gateway$/],
		[{ kind: 'html' }, 200, /^<!DOCTYPE html>/],
		[{ kind: 'brokenJson' }, 200, /^\{"success":true,.*[^}]$/],
		[{ kind: 'emptyBody' }, 200, /^$/],
		[{ kind: 'noData' }, 200, /^\{"success":true\}$/],
		[{ kind: 'envelope', code: 'NOT_FOUND', message: 'Gone' }, 404, /"message":"Gone"/],
		[{ kind: 'envelope', code: 'NEW_CODE', status: 418 }, 418, /"NEW_CODE"/],
		[{ kind: 'redirect', status: 307, location: '/credits' }, 307, /^$/],
	])('%j', async (rule, status, text) => {
		fault({ ...rule, headers: { 'retry-after': '7' } });
		const answer = await find();
		expect(answer.status).toBe(status);
		expect(answer.text).toMatch(text);
		expect(answer.headers.get('retry-after')).toBe('7');
		if (rule.location) expect(answer.headers.get('location')).toBe(rule.location);
		expect(lastRequest()).toMatchObject({ outcome: `fault:${rule.kind}`, status, paid: false });

		fault({ ...rule, afterWork: true });
		expect((await find()).status).toBe(status);
		expect(lastRequest()).toMatchObject({ paid: true });
	});

	test.each([
		['resetBeforeWork', 'TypeError', false],
		['resetAfterWork', 'TypeError', true],
		['resetMidBody', 'TypeError', true],
		['hang', 'TimeoutError', false],
		['hangAfterWork', 'TimeoutError', true],
	] as const)('%s ends in a %s, charged: %s', async (kind, name, paid) => {
		fault({ kind, match: { times: 1 } });
		const answer = call('POST', '/email/find', ANN, {}, 100);
		await expect(answer).rejects.toMatchObject({ name });
		expect(lastRequest()).toMatchObject({ paid, outcome: `fault:${kind}` });
		expect(lastRequest()?.status).toBe(kind === 'resetMidBody' ? 200 : undefined);
		expect(sandbox.credits()).toBe(paid ? 999 : 1000);
		expect((await find()).status).toBe(200);
	});

	test('slowBody arrives whole in the end', async () => {
		fault({ kind: 'slowBody', delayMs: 30 });
		expect((await find()).json.success).toBe(true);
	});

	test('rules say which requests they are for, and how often', async () => {
		fault(
			{ kind: 'status', status: 501, match: { operation: 'getCredits', nth: [1, 3] } },
			{ kind: 'status', status: 502, match: { path: '/credits', method: 'GET', every: 2 } },
			{ kind: 'status', status: 503, match: { bodyIncludes: '"Bob"', times: 1 } },
		);
		expect(await statusesOf(4)).toEqual([501, 502, 501, 502]);
		expect((await find()).status).toBe(200);
		expect((await find({ ...ANN, firstName: 'Bob' })).status).toBe(503);
		expect((await find({ ...ANN, firstName: 'Bob' })).status).toBe(200);
	});
});

describe('control', () => {
	const control = (path: string, body?: unknown) =>
		call(body === undefined ? 'GET' : 'POST', `/_sandbox/${path}`, body);

	test('does over HTTP what the methods do', async () => {
		sandbox.set({ job: { scrapeIdStyle: 'awkward' } });
		const scrapeId = await start({ webhookUrl: 'http://127.0.0.1:1/' });
		expect((await control('state')).json).toMatchObject({
			url: sandbox.url,
			credits: { 'test-key': 990 },
			requests: 1,
			jobs: 1,
			settings: { seed: 1 },
		});
		expect((await control('requests')).json).toMatchObject([{ path: '/start' }]);
		const job = `jobs/${encodeURIComponent(scrapeId)}`;
		const { json } = await control(`${job}/finish`, { outcome: 'failed' });
		expect(json).toMatchObject({ status: 'failed' });
		expect((await control(`${job}/notify`, {})).json).toHaveProperty('error');
		expect((await control('jobs')).json).toMatchObject([{ scrapeId }]);
		await control('settings', { cost: { verify: 5 } });
		expect(sandbox.settings.cost).toMatchObject({ verify: 5, findBusiness: 1 });
		await control('reset', { seed: 3 });
		expect(sandbox).toMatchObject({ requests: [], jobs: [], settings: { seed: 3 } });
		expect(sandbox.credits()).toBe(1000);
	});

	test('refuses what does not exist', async () => {
		const wrong = await control('settings', { job: { duration: 1 } });
		expect(wrong).toMatchObject({ status: 400, json: { error: 'There is no setting duration' } });
		expect((await control('jobs/none/finish', {})).status).toBe(400);
		expect((await control('jobs/none/notify', {})).status).toBe(400);
		const scrapeId = await start();
		expect((await control(`jobs/${scrapeId}/finish`, { outcome: 'lost' })).status).toBe(400);
		expect((await control(`jobs/${scrapeId}/notify`, {})).status).toBe(400);
	});
});

test('close ends what hangs and what is still to come', async () => {
	const other = await startSandbox({ settings: { faults: [{ kind: 'hang' }] } });
	const hanging = fetch(`${other.url}/credits`, { headers: AUTH });
	await eventually(() => other.requests.length === 1);
	const refused = expect(hanging).rejects.toThrow();
	await other.close();
	await refused;
});

/** How many connections a queue may hold, at most, that nobody has accepted yet. */
function maxBacklog(): number {
	try {
		return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
	} catch {
		return 128;
	}
}

test('a burst of connections waits in the queue: none is dropped', async () => {
	const other = await startSandbox();
	const port = Number(new URL(other.url).port);
	const count = Math.min(1500, maxBacklog());
	// All of them ask before the sandbox can accept the first one.
	const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
	// What the queue does not hold, the system asks for again after a second.
	for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve));
	expect(sockets.filter(({ connecting }) => connecting)).toHaveLength(0);
	for (const socket of sockets) socket.destroy();
	await other.close();
});
