import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { latencyOf } from '../lab/sandbox/latency';
import { RateLimiter } from '../lab/sandbox/rateLimit';
import { startSandbox } from '../lab/sandbox/server';
import type { Sandbox } from '../lab/sandbox/server';
import { defaultSettings } from '../lab/sandbox/settings';
import type { FaultRule, RateLimitSettings, SettingsPatch } from '../lab/sandbox/settings';

let sandbox: Sandbox;

beforeAll(async () => {
	sandbox = await startSandbox();
});
beforeEach(() => {
	sandbox.reset();
});
afterAll(async () => {
	await sandbox.close();
});

interface Result {
	status: number;
	headers: Headers;
	text: string;
	/** Whatever JSON the text is. */
	json: Envelope;
}
interface Envelope {
	success?: boolean;
	data?: Record<string, unknown> | null;
	error?: { code: string; message: string };
}

const AUTH = { authorization: 'Bearer test-key' };
const ANN = { firstName: 'Ann', lastName: 'Sure', company: 'acme.com' };

async function call(method: string, path: string, body?: unknown, headers = {}): Promise<Result> {
	const response = await fetch(`${sandbox.url}${path}`, {
		method,
		headers: {
			...AUTH,
			...(body === undefined ? {} : { 'content-type': 'application/json' }),
			...headers,
		},
		body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
		redirect: 'manual',
		signal: AbortSignal.timeout(5000),
	});
	const text = await response.text();
	let json: Envelope = {};
	try {
		json = JSON.parse(text) as Envelope;
	} catch {
		// Some faults answer no JSON.
	}
	return { status: response.status, headers: response.headers, text, json };
}

const post = (path: string, body: unknown, headers = {}) => call('POST', path, body, headers);
const get = (path: string, headers = {}) => call('GET', path, undefined, headers);
const find = (person: object = ANN) => post('/email/find', person);
const credits = () => get('/credits');

async function start(options: { webhookUrl?: string; limit?: number } = {}): Promise<string> {
	const { limit = 10, webhookUrl } = options;
	const { json } = await post('/start', { filters: { limit }, webhookUrl });
	return String(json.data?.scrapeId);
}
const statusOf = async (scrapeId: string) =>
	(await get(`/status?scrapeId=${encodeURIComponent(scrapeId)}`)).json.data ?? {};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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
		sandbox.set({ job: { durationMs: 10 }, extraFields: true });
		const filters = {
			jobTitles: ['CEO'],
			locations: ['Austin, TX'],
			industries: ['Software'],
			companySize: '10-50',
			limit: 5,
		};
		const started = await post('/start', { filters, webhookUrl: 'http://127.0.0.1:1/hook' });
		expect(started.json).toMatchObject({
			success: true,
			data: { status: 'pending', estimatedCredits: 5, requestId: expect.any(String) as string },
		});
		const scrapeId = String(started.json.data?.scrapeId);
		const done = await eventually(async () => {
			const status = await statusOf(scrapeId);
			return status.status === 'completed' ? status : undefined;
		});
		expect(done).toMatchObject({ scrapeId, progress: 100, leadsFound: 5, creditsUsed: 5 });
		expect(done.completedAt).toEqual(expect.any(String));
		expect((await credits()).json.data).toMatchObject({ credits: 995, plan: 'pro' });
		expect((await find()).json.data).toMatchObject({
			email: expect.stringMatching(/@acme\.com$/) as string,
		});
		const { firstName, lastName } = ANN;
		const personal = { firstName, lastName, linkedinUrl: 'https://linkedin.com/in/ann' };
		expect((await post('/email/personal', personal)).json.success).toBe(true);
		expect((await post('/email/verify', { email: 'valid@acme.com' })).json.data).toMatchObject({
			email: 'valid@acme.com',
			status: 'valid',
			deliverable: true,
			disposable: false,
			freeProvider: false,
		});
		for (const request of sandbox.requests) {
			expect(request).toMatchObject({ violation: undefined, answerViolation: undefined });
		}
	});

	test.each<[string, string, unknown]>([
		['unknown field', '/start', { filters: {}, name: 'x' }],
		['unknown filter', '/start', { filters: { titles: ['CEO'] } }],
		['no filters', '/start', {}],
		['limit as text', '/start', { filters: { limit: '5' } }],
		['limit below 1', '/start', { filters: { limit: 0 } }],
		['limit with a fraction', '/start', { filters: { limit: 1.5 } }],
		['limit too large', '/start', { filters: { limit: 1_000_000 } }],
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
		['query parameter', '/email/verify?x=1', { email: 'a@b.co' }],
	])('refuses a request with %s', async (_what, path, body) => {
		const { status, json } = await post(path, body);
		expect(status).toBe(400);
		expect(json).toMatchObject({ success: false, error: { code: 'INVALID_REQUEST' } });
		expect(lastRequest()).toMatchObject({ paid: false, outcome: 'INVALID_REQUEST', status: 400 });
		if (!JSON.stringify(body).includes('1000000')) {
			expect(lastRequest()?.violation).toEqual(expect.any(String));
		}
	});

	test('refuses a wrong content type, and query parameters that are wrong', async () => {
		const typed = await post('/email/find', ANN, { 'content-type': 'text/plain' });
		expect(typed.json.error?.code).toBe('INVALID_REQUEST');
		for (const path of ['/status', '/status?scrapeId=', '/credits?x=1', '/status?scrapeId=1&a=2']) {
			expect((await get(path)).json.error?.code).toBe('INVALID_REQUEST');
		}
	});

	test('knows no other paths and no other jobs', async () => {
		sandbox.set({ accounts: { a: { plan: 'pro', credits: 9 }, b: { plan: 'pro', credits: 9 } } });
		const asA = { authorization: 'Bearer a' };
		const { json } = await post('/start', { filters: { limit: 1 } }, asA);
		const path = `/status?scrapeId=${String(json.data?.scrapeId)}`;
		expect((await get(path, asA)).status).toBe(200);
		expect((await get(path, { authorization: 'Bearer b' })).status).toBe(404);
		expect((await get('/nowhere', asA)).json.error?.code).toBe('NOT_FOUND');
		expect((await get('//credits', asA)).status).toBe(404);
		expect((await call('DELETE', '/credits', undefined, asA)).status).toBe(404);
		expect(lastRequest()?.violation).toContain('DELETE /credits');
		sandbox.set({ unknownScrape: 'INVALID_REQUEST' });
		expect((await get('/status?scrapeId=none', asA)).status).toBe(400);
	});

	test.each(['', 'Bearer wrong', 'Basic test-key', 'test-key'])(
		'refuses the authorization "%s"',
		async (authorization) => {
			const { status, json } = await get('/credits', { authorization });
			expect(status).toBe(401);
			expect(json.error?.code).toBe('UNAUTHORIZED');
		},
	);

	test('authentication comes before validation', async () => {
		expect((await post('/email/find', {}, { authorization: '' })).status).toBe(401);
	});

	test('the service can be under a path', async () => {
		const other = await startSandbox({ basePath: '/api/v1' });
		expect(other.url).toMatch(/\/api\/v1$/);
		expect((await fetch(`${other.url}/credits`, { headers: AUTH })).status).toBe(200);
		await other.close();
	});
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
		for (const [low, high] of [
			[0, 0.5],
			[0.5, 0.7],
			[0.7, 0.9],
			[0.9, 1.01],
		] as const) {
			expect(found.some((confidence) => confidence >= low && confidence < high)).toBe(true);
		}
		sandbox.reset({ seed: 2 });
		expect(await all()).not.toEqual(first);
	});

	test.each([
		['Low', 0, 0.5],
		['Medium', 0.5, 0.7],
		['High', 0.7, 0.9],
		['Sure', 0.9, 1.01],
	])('the last name %s forces the confidence', async (lastName, low, high) => {
		for (const company of ['a.com', 'b.com', 'c.com', 'Some Company']) {
			const confidence = (await find({ ...ANN, lastName, company })).json.data?.confidence;
			expect(confidence).toBeGreaterThanOrEqual(low);
			expect(confidence).toBeLessThan(high);
		}
	});

	test('names in any script get an address', async () => {
		const { json } = await find({ firstName: 'Sure', lastName: '李', company: 'Müller & Söhne' });
		expect(json.data?.email).toMatch(/^[a-z0-9.]+@mullersohne\.com$/);
	});

	test.each([
		['valid.x@acme.com', { status: 'valid', deliverable: true }],
		['invalid.x@acme.com', { status: 'invalid', deliverable: false }],
		['catchall@acme.com', { status: 'catch_all', deliverable: false }],
		['unknown@acme.com', { status: 'unknown', deliverable: false }],
		['disposable@acme.com', { disposable: true }],
		['ann@mailinator.com', { disposable: true }],
		['ann@gmail.com', { freeProvider: true }],
		['not an address', { status: 'invalid' }],
	])('verifies %s', async (email, verdict) => {
		expect((await post('/email/verify', { email })).json.data).toMatchObject(verdict);
	});

	test('an address of very high confidence is valid', async () => {
		for (const company of ['a.com', 'b.com', 'c.com', 'd.com', 'e.com', 'f.com']) {
			const email = (await find({ ...ANN, company })).json.data?.email;
			expect((await post('/email/verify', { email })).json.data?.status).toBe('valid');
		}
	});

	test('nobody is found in three ways, charged or not', async () => {
		const nobody = { ...ANN, lastName: 'Nobody' };
		expect(await find(nobody)).toMatchObject({ status: 404, json: { success: false } });
		sandbox.set({ notFound: 'emptyEmail' });
		expect((await find(nobody)).json.data).toMatchObject({ email: null, confidence: 0 });
		sandbox.set({ notFound: 'nullData' });
		expect((await find(nobody)).json).toEqual({ success: true, data: null });
		expect(sandbox.credits()).toBe(1000);
		sandbox.set({ chargeNotFound: true, notFound: 'error' });
		expect((await find(nobody)).status).toBe(404);
		expect(sandbox.credits()).toBe(999);
		expect(lastRequest()).toMatchObject({ paid: true, outcome: 'NOT_FOUND' });
	});
});

describe('credits and errors', () => {
	test('costs are taken, and too few credits refuse the work', async () => {
		sandbox.set({
			accounts: { 'test-key': { plan: 'starter', credits: 7 } },
			cost: { findBusiness: 3, verify: 2 },
		});
		expect((await find()).status).toBe(200);
		expect((await post('/email/verify', { email: 'a@b.co' })).status).toBe(200);
		expect(sandbox.requests.map(({ cost }) => cost)).toEqual([3, 2]);
		const refused = await find();
		expect(refused.status).toBe(402);
		expect(refused.json.error?.code).toBe('INSUFFICIENT_CREDITS');
		expect((await post('/start', { filters: { limit: 3 } })).status).toBe(402);
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

	test('an error can come with any HTTP status', async () => {
		sandbox.set({ errorStatus: { UNAUTHORIZED: 200, NOT_FOUND: 422 } });
		const { status, json } = await get('/credits', { authorization: 'Bearer wrong' });
		expect([status, json.success]).toEqual([200, false]);
		expect((await get('/status?scrapeId=none')).status).toBe(422);
	});

	test('there is no setting that does not exist', () => {
		expect(() => {
			sandbox.set({ job: { duration: 1 } } as unknown as SettingsPatch);
		}).toThrow('duration');
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
		sandbox.set({ job: { durationMs: 1000, nullsInStatus: true, progressScale: 1 } });
		const scrapeId = await start({ limit: 100 });
		const seen: Array<Record<string, unknown>> = [];
		await eventually(async () => {
			seen.push(await statusOf(scrapeId));
			return seen[seen.length - 1]?.status === 'completed';
		});
		expect([...new Set(seen.map(({ status }) => status))]).toEqual([
			'pending',
			'processing',
			'completed',
		]);
		const found = seen.map(({ leadsFound }) => Number(leadsFound));
		expect(found).toEqual([...found].sort((a, b) => a - b));
		expect(seen[0]).toMatchObject({ progress: 0, completedAt: null });
		expect(seen[seen.length - 2]?.progress).toBeLessThan(1);
		expect(seen[seen.length - 1]).toMatchObject({ progress: 100, leadsFound: 100 });
		expect(sandbox.requests.every(({ answerViolation }) => answerViolation === undefined)).toBe(
			true,
		);
	});

	test('can fail, by setting or by force', async () => {
		sandbox.set({ job: { durationMs: 0, outcome: 'failed' } });
		const failed = await statusOf(await start());
		expect(failed).toMatchObject({ status: 'failed', progress: 50, leadsFound: 5 });
		expect(failed).not.toHaveProperty('completedAt');
		sandbox.set({ job: { durationMs: 60_000 } });
		const scrapeId = await start();
		sandbox.finish(scrapeId, 'failed');
		expect(sandbox.jobs[1]).toMatchObject({ scrapeId, status: 'failed', limit: 10 });
	});

	test('the status can lag behind', async () => {
		sandbox.set({ job: { statusLagMs: 400, durationMs: 60_000 } });
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
	let receiver: Server;
	let webhookUrl: string;
	let answers: number[];
	let received: Array<{
		method?: string;
		url?: string;
		type?: string;
		signed: boolean;
		body: string;
	}>;

	const receive = async (request: IncomingMessage): Promise<number> => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const { method, url, headers } = request;
		const body = Buffer.concat(chunks).toString();
		const signed = headers['x-signature'] === 'abc';
		received.push({ method, url, type: headers['content-type'], signed, body });
		return answers.shift() ?? 200;
	};

	beforeAll(async () => {
		receiver = createServer((request, response) => {
			void receive(request).then((status) => response.writeHead(status).end());
		});
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
		expect(received[0]).toMatchObject({ method: 'POST', url: '/hook?a=1', signed: true });
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

	test('a receiver that is gone is noted', async () => {
		const scrapeId = await start({ webhookUrl: 'http://127.0.0.1:1/' });
		sandbox.finish(scrapeId, 'completed');
		await eventually(() => sandbox.jobs[0]?.notifications[0]?.error);
	});
});

describe('rate limits', () => {
	const burst = async (count: number) => {
		const answers: Result[] = [];
		for (let sent = 0; sent < count; sent++) answers.push(await credits());
		return answers.map(({ status }) => status);
	};
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
		const statuses = await burst(limit + 1);
		expect(statuses.indexOf(429)).toBe(limit);
		expect(lastRequest()).toMatchObject({ outcome: 'RATE_LIMIT_EXCEEDED' });
	});

	test('each account has its own, and it can be off', async () => {
		const accounts = { 'test-key': { plan: 'x', credits: 0 }, b: { plan: 'x', credits: 0 } };
		sandbox.set({ accounts, rateLimit: { windowMs, perMinute: 1 } });
		expect(await burst(2)).toEqual([200, 429]);
		expect((await get('/credits', { authorization: 'Bearer b' })).status).toBe(200);
		sandbox.set({ rateLimit: { enabled: false } });
		expect(await burst(3)).toEqual([200, 200, 200]);
	});

	test.each(['fixed', 'sliding', 'tokenBucket'] as const)(
		'a %s window opens again',
		async (kind) => {
			sandbox.set({ rateLimit: { kind, perMinute: 2, windowMs: 500 } });
			await eventually(async () => (await credits()).status === 429);
			await eventually(async () => (await credits()).status === 200);
		},
	);

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
		['resetBeforeWork', false],
		['resetAfterWork', true],
		['resetMidBody', true],
	] as const)('%s cuts the connection, charged: %s', async (kind, paid) => {
		fault({ kind });
		await expect(find()).rejects.toThrow();
		expect(lastRequest()).toMatchObject({ paid, outcome: `fault:${kind}` });
		expect(sandbox.credits()).toBe(paid ? 999 : 1000);
	});

	test.each([
		['hang', false],
		['hangAfterWork', true],
	] as const)('%s never answers, charged: %s', async (kind, paid) => {
		fault({ kind, match: { times: 1 } });
		const signal = AbortSignal.timeout(100);
		const body = JSON.stringify(ANN);
		const headers = { ...AUTH, 'content-type': 'application/json' };
		const hanging = fetch(`${sandbox.url}/email/find`, { method: 'POST', headers, body, signal });
		await expect(hanging).rejects.toThrow();
		expect(lastRequest()).toMatchObject({ paid, outcome: `fault:${kind}` });
		expect(lastRequest()?.status).toBeUndefined();
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
		const statuses: number[] = [];
		for (let sent = 0; sent < 4; sent++) statuses.push((await credits()).status);
		expect(statuses).toEqual([501, 502, 501, 502]);
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
		expect(JSON.parse((await control('state')).text)).toMatchObject({
			url: sandbox.url,
			credits: { 'test-key': 990 },
			requests: 1,
			jobs: 1,
			settings: { seed: 1 },
		});
		expect(JSON.parse((await control('requests')).text)).toMatchObject([{ path: '/start' }]);
		const job = `jobs/${encodeURIComponent(scrapeId)}`;
		expect(JSON.parse((await control(`${job}/finish`, { outcome: 'failed' })).text)).toMatchObject({
			status: 'failed',
		});
		expect(JSON.parse((await control(`${job}/notify`, {})).text)).toHaveProperty('error');
		expect(JSON.parse((await control('jobs')).text)).toMatchObject([{ scrapeId }]);
		await control('settings', { cost: { verify: 5 } });
		expect(sandbox.settings.cost).toMatchObject({ verify: 5, findBusiness: 1 });
		await control('reset', { seed: 3 });
		expect([sandbox.requests.length, sandbox.jobs.length, sandbox.settings.seed]).toEqual([
			0, 0, 3,
		]);
		expect(sandbox.credits()).toBe(1000);
	});

	test('refuses what does not exist', async () => {
		expect((await control('settings', { nothing: 1 })).status).toBe(400);
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
