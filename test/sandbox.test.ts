/** What other tests take for granted: the sandbox answers as the service does, and its settings do what they say. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { statusAt } from '../lab/sandbox/jobs';
import { notificationRequest } from '../lab/sandbox/notification';
import { Sandbox } from '../lab/sandbox/server';
import type { FaultRule, SettingsPatch } from '../lab/sandbox/settings';
import { matching, someText } from './expected';
import { until } from './service';

const sandbox = new Sandbox({});

beforeAll(() => sandbox.listen());
beforeEach(() => {
	sandbox.reset();
});
afterAll(() => sandbox.close());

const ANN = { firstName: 'Ann', lastName: 'Sure', company: 'acme.com' };
const LINK = 'https://www.linkedin.com/in/ann-sure';
const FOUND = { email: 'ann.sure@acme.com', confidence: 0.97, sources: ['company_website'] };
const BOTH_SOURCES = ['linkedin', ...FOUND.sources];
const ONCE = { method: 'POST', shape: 'leads', times: 1, retryMs: null } as const;

/** @param request such as `GET /credits` */
async function call(request: string, body?: unknown, headers: object = {}, timeoutMs = 30_000) {
	const [method, path = ''] = request.split(' ');
	const type = body === undefined ? {} : { 'content-type': 'application/json' };
	const response = await fetch(`${sandbox.url}${path}`, {
		method,
		headers: { authorization: 'Bearer test-key', ...type, ...headers },
		body: body === undefined ? undefined : JSON.stringify(body),
		redirect: 'manual',
		signal: AbortSignal.timeout(timeoutMs),
	});
	return { status: response.status, headers: response.headers, text: await response.text() };
}

/** HTTP status and the whole envelope. */
async function answerTo(...request: Parameters<typeof call>): Promise<[number, unknown]> {
	const { status, text } = await call(...request);
	return [status, JSON.parse(text)];
}

async function dataOf(...request: Parameters<typeof call>) {
	const [, envelope] = await answerTo(...request);
	return (envelope as { data: Record<string, unknown> }).data;
}

const refusal = (code: string, message: unknown = someText) => {
	return { success: false, error: { code, message } };
};
const lastRequest = () => sandbox.requests.at(-1);

describe('The interface:', () => {
	const filters = {
		...{ jobTitles: ['CTO'], locations: ['Austin, Texas'], industries: ['Software'] },
		...{ companySize: '11-50', limit: 50 },
	};
	const webhookUrl = 'https://n8n.example/webhook';
	const place = { linkedinUrl: LINK, location: 'Austin, Texas' };
	const valid = { status: 'valid', deliverable: true, disposable: false, freeProvider: false };
	const pending = { scrapeId: someText, status: 'pending', estimatedCredits: 50 };
	const balance = { credits: 1000, plan: 'pro', resetDate: '2030-01-01T00:00:00.000Z' };
	const ann = { firstName: 'Ann', lastName: 'Sure' };
	const atGmail = { email: 'ann.sure@gmail.com', confidence: 0.95 };
	test.each<[request: string, body: object | undefined, cost: number, data: object]>([
		['POST /start', { filters, webhookUrl }, 50, pending],
		['POST /start', { filters: {} }, 100, { ...pending, estimatedCredits: 100 }],
		['GET /credits', undefined, 0, balance],
		['POST /email/find', ANN, 1, FOUND],
		['POST /email/find', { ...ANN, linkedinUrl: LINK }, 1, { ...FOUND, sources: BOTH_SOURCES }],
		['POST /email/personal', { ...ann, ...place }, 1, atGmail],
		['POST /email/verify', { email: 'ann@acme.com' }, 1, { email: 'ann@acme.com', ...valid }],
	])('%s %j costs %d', async (request, body, cost, data) => {
		expect(await answerTo(request, body)).toEqual([200, { success: true, data }]);
		expect(lastRequest()).toMatchObject({ cost, violation: undefined });
		expect(sandbox.credits()).toBe(1000 - cost);
	});

	const CODES = new Map([
		[400, 'INVALID_REQUEST'],
		[401, 'UNAUTHORIZED'],
		[402, 'INSUFFICIENT_CREDITS'],
		[404, 'NOT_FOUND'],
	]);
	const noKey = { authorization: '' };
	const isText = { 'content-type': 'text/plain' };
	test.each<[status: number, isAllowed: boolean, ...Parameters<typeof call>]>([
		[401, true, 'POST /start', { filters }, { authorization: 'Bearer x' }],
		[402, true, 'POST /start', { filters: { limit: 1001 } }],
		[404, true, 'GET /status?scrapeId=none'],
		[404, true, 'POST /email/find', { ...ANN, lastName: 'Nobody' }],
		[404, true, 'POST /email/personal', { lastName: 'Nobody' }],
		[401, false, 'GET /credits', undefined, noKey],
		[404, false, 'DELETE /credits'],
		[400, false, 'POST /start', {}],
		[400, false, 'POST /start', { filters: { titles: ['CEO'] } }],
		[400, false, 'POST /start', { filters: { limit: '5' } }],
		[400, false, 'GET /status?scrapeId='],
		[400, false, 'POST /email/verify', 'hello'],
		[400, false, 'POST /email/verify?x=1', { email: 'a@b.co' }],
		[400, false, 'POST /email/find', ANN, isText],
		[400, false, 'POST /email/find', { firstName: 'Ann' }],
		[400, false, 'POST /email/find', { company: 'acme.com' }],
		[400, false, 'POST /email/personal', { linkedinUrl: LINK }],
	])('HTTP %d refuses what may be sent (%s): %s %j', async (status, isAllowed, ...request) => {
		expect(await answerTo(...request)).toEqual([status, refusal(CODES.get(status) ?? '')]);
		const violation = isAllowed ? undefined : someText;
		expect(lastRequest()).toMatchObject({ cost: 0, violation });
	});

	test('a scrape is of the account that started it, and so are the credits', async () => {
		const plan = 'pro';
		sandbox.set({ accounts: { 'test-key': { plan, credits: 9 }, b: { plan, credits: 0 } } });
		const { scrapeId } = await dataOf('POST /start', { filters: { limit: 1 } });
		const request = `GET /status?scrapeId=${String(scrapeId)}`;
		const other = { authorization: 'Bearer b' };
		expect((await call(request)).status).toBe(200);
		expect((await call(request, undefined, other)).status).toBe(404);
		expect((await call('POST /email/find', ANN, other)).status).toBe(402);
		expect([sandbox.credits(), sandbox.credits('b')]).toEqual([8, 0]);
	});

	const job = { scrapeId: 's', limit: 10, estimatedCredits: 10, createdAt: 0, endsAt: 1000 };
	const at = { createdAt: '1970-01-01T00:00:00.000Z', completedAt: '1970-01-01T00:00:01.000Z' };
	test.each([
		[199, 'completed', { status: 'pending', progress: 0, leadsFound: 0 }],
		[200, 'completed', { status: 'processing', progress: 0, leadsFound: 0 }],
		[700, 'completed', { status: 'processing', progress: 62, leadsFound: 6 }],
		[999, 'failed', { status: 'processing', progress: 49, leadsFound: 4 }],
		[1000, 'completed', { status: 'completed', progress: 100, leadsFound: 10, ...at }],
		[1000, 'failed', { status: 'failed', progress: 50, leadsFound: 5 }],
	] as const)('after %d ms of 1000, a scrape that will be %s is %j', (now, outcome, status) => {
		const given = { ...job, account: 'k', filters: {}, outcome, notifications: [] };
		const { createdAt } = at;
		expect(statusAt(given, now)).toEqual({ scrapeId: 's', creditsUsed: 10, createdAt, ...status });
	});
});

describe('Notifications', () => {
	/** The bodies that came, and the statuses to answer them with, before 200. */
	let [received, answers]: [string[], number[]] = [[], []];
	const receiver = createServer((request, response) => {
		void text(request).then((body) => {
			received.push(body);
			response.writeHead(answers.shift() ?? 200).end();
		});
	});
	let webhookUrl: string;

	beforeAll(async () => {
		await once(receiver.listen(0, '127.0.0.1'), 'listening');
		webhookUrl = `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/`;
	});
	afterAll(() => {
		receiver.close();
	});

	test.each<[string, SettingsPatch['notification'], 'completed' | 'failed', number[]]>([
		['never', { times: 0 }, 'failed', []],
		['three times', { times: 3 }, 'failed', [200, 200, 200]],
		['until they are taken', { retryMs: 5 }, 'completed', [500, 404, 200]],
	])('come %s', async (_when, notification, outcome, statuses) => {
		sandbox.set({ notification });
		[received, answers] = [[], statuses.slice()];
		const scrapeId = String((await dataOf('POST /start', { filters: {}, webhookUrl })).scrapeId);
		for (let times = 0; times < 2; times++) sandbox.finish(scrapeId, outcome);
		const sent = () => sandbox.jobs[0]?.notifications.map(({ status }) => status);
		await until(() => received.length >= statuses.length && !sent()?.includes(undefined));
		expect(await sandbox.notify(scrapeId)).toEqual({ status: 200 });
		expect(sent()).toEqual([...statuses, 200]);
		for (const body of received) expect(body).toContain(`"status":"${outcome}"`);
	});

	const url = 'https://n8n.example/hook?a=1';
	const counts = { progress: 100, leadsFound: 2, creditsUsed: 2, createdAt: '2030' };
	const status = { scrapeId: 's', status: 'completed', ...counts } as const;
	const query =
		'scrapeId=s&status=completed&progress=100&leadsFound=2&creditsUsed=2&createdAt=2030';
	const typed = (type: string, body: string) => {
		return { method: 'POST', url, headers: { 'content-type': type }, body };
	};
	test.each([
		['flat', 'POST', typed('application/json', JSON.stringify(status))],
		['form', 'POST', typed('application/x-www-form-urlencoded', query)],
		['text', 'POST', typed('text/plain', 'Scrape s completed')],
		['broken', 'POST', typed('application/json', JSON.stringify(status).slice(0, -5))],
		['empty', 'PUT', { method: 'PUT', url }],
		['query', 'POST', { method: 'POST', url: `${url}&${query}` }],
		['flat', 'GET', { method: 'GET', url: `${url}&${query}` }],
	] as const)('of the shape %s are sent with %s', (shape, method, request) => {
		expect(notificationRequest({ ...ONCE, shape, method }, url, status)).toEqual(request);
	});

	test('may hold the leads, each with an address of its own', () => {
		const leadsOf = (scrapeId: string) => {
			const { body = '' } = notificationRequest(ONCE, url, { ...status, scrapeId });
			return (JSON.parse(body) as { data: { leads: Array<{ email: string }> } }).data.leads;
		};
		const leads = [...leadsOf('one'), ...leadsOf('two')];
		const lead = { name: someText, email: someText, jobTitle: someText, company: someText };
		expect(leads).toEqual([lead, lead, lead, lead]);
		expect(new Set(leads.map(({ email }) => email)).size).toBe(4);
	});
});

test.each([
	['starter', {}, 60, null],
	['pro', {}, 300, null],
	['enterprise', { perMinute: 2, retryAfter: true }, 2, matching(/^(5\d|60)$/)],
	['pro', { perMinute: Infinity }, 301, null],
	['another', {}, 301, null],
])('The plan %s with %j allows %d requests a minute', async (plan, rateLimit, allowed, wait) => {
	const account = { plan, credits: 0 };
	sandbox.set({ accounts: { 'test-key': account, other: account }, rateLimit });
	const answers = await Promise.all(Array.from({ length: 301 }, () => call('GET /credits')));
	const refused = answers.filter(({ status }) => status === 429);
	expect(refused).toHaveLength(301 - allowed);
	for (const { headers } of refused) expect(headers.get('retry-after')).toEqual(wait);
	const other = { authorization: 'Bearer other' };
	expect((await call('GET /credits', undefined, other)).status).toBe(200);
});

const ERROR = JSON.stringify(refusal('INTERNAL_ERROR', 'Something went wrong'));
const NOT_FOUND = JSON.stringify(refusal('NOT_FOUND', 'Something went wrong'));
const DATA = JSON.stringify({ success: true, data: FOUND });
test.each<[FaultRule, isCharged: boolean, answer: [number, body: unknown] | undefined]>([
	[{ kind: 'status' }, false, [500, ERROR]],
	[{ kind: 'status', status: 503, body: 'no' }, false, [503, 'no']],
	[{ kind: 'html', status: 502 }, false, [502, '<!DOCTYPE html><html>Error 502</html>']],
	[{ kind: 'envelope' }, false, [400, ERROR]],
	[{ kind: 'envelope', code: 'NOT_FOUND' }, false, [404, NOT_FOUND]],
	[{ kind: 'late', delayMs: 5 }, true, [200, DATA]],
	[{ kind: 'resetBeforeWork' }, false, undefined],
	[{ kind: 'resetAfterWork' }, true, undefined],
	[{ kind: 'hang' }, false, undefined],
])('With the fault %j, the request is charged: %s', async (fault, isCharged, answer) => {
	sandbox.set({ faults: [{ ...fault, match: { path: '/email/find', nth: [2, 3], times: 1 } }] });
	const costs: unknown[] = [];
	for (const isHit of [false, true, false]) {
		const timeoutMs = isHit && fault.kind === 'hang' ? 500 : undefined;
		const got = await call('POST /email/find', ANN, {}, timeoutMs).catch(() => undefined);
		expect(got && [got.status, got.text]).toEqual(isHit ? answer : [200, DATA]);
		costs.push(lastRequest()?.cost);
	}
	expect(costs).toEqual([1, Number(isCharged), 1]);
	expect(sandbox.credits()).toBe(isCharged ? 997 : 998);
});

test('A test may answer in place of the service, but only what the service takes', async () => {
	const own = { status: 202, headers: {}, body: '{"success":true,"data":{}}' };
	sandbox.respond = () => Promise.resolve(own);
	expect((await call('GET /credits')).status).toBe(202);
	expect((await call('POST /email/verify', { address: 'a@b.co' })).status).toBe(400);
});
