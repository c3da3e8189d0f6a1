/** What a service may answer that the sandbox does not imitate. What an answer means is in answer.test.ts. */
import type { RequestRecord } from '../lab/sandbox/requestLog';
import { hintTexts } from './engine';
import {
	containing,
	errorOf,
	failed,
	including,
	matching,
	paired,
	someText,
	verdictOf,
	verified,
} from './expected';
import {
	ENRICH_ROWS,
	FIND_ROWS,
	PERSONAL_ROWS,
	START_AND_WAIT_ROWS,
	START_ROWS,
	STATUS_ROWS,
	VERIFY_ROWS,
	WAIT_ROWS,
	answer,
	failure,
	keepGoing,
	rowsOf,
	success,
	verdict,
	verdictWith,
	type Answer,
} from './given';
import { SECRET, sleep, until, useService, type Case } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox, answerWith, runRows, runEach, expectEach, expectCalls } = service;

const textIn = ({ body }: RequestRecord, name: string) =>
	(body as Record<string, string>)[name] ?? '';

describe.each([FIND_ROWS, PERSONAL_ROWS])('A finder: $operation', (finder) => {
	const nobody = { found: false, email: null, paidCalls: 1 };
	const email = 'p@acme.com';

	test('finds nobody where the service says so, or gives no address', async () => {
		const hidden = ['not available', 17, 'a***@acme.com', 'ada@ac…', 'locked@acme.com'];
		const several = ['a@acme.com, b@acme.com', 'a@acme.com;b@acme.com'];
		await expectEach(finder, [
			[failure('EMAIL_NOT_FOUND', 404), nobody],
			[failure('ROUTE_NOT_FOUND', 404), failed({ httpStatus: 404, outcome: 'refused' })],
			[success(null), nobody],
			[
				success({ email: '', confidence: 0.3, jobId: 'j1' }),
				{ ...nobody, confidence: 0.3, jobId: 'j1' },
			],
			[success({ status: 'not_found' }), { ...nobody, status: 'not_found' }],
			...[...hidden, ...several].map((emailAnswer): Case => [
				success({ email: emailAnswer }),
				{ ...nobody, emailAnswer },
			]),
		]);
	});

	test('takes an address as people write it', async () => {
		await expectEach(finder, [
			...[email, ` <${email}>`, `Pia Okafor <${email}>`].map((given): Case => [
				success({ email: given }),
				{ found: true, email, paidCalls: 1 },
			]),
			[success({ email, status: 'processing' }, 202), including({ found: true, email })],
		]);
	});

	test('gives the level of confidence of the service, or one that begins at its lower bound', async () => {
		const levelOf = (confidence: unknown, confidenceLevel?: string): Case => {
			const level = confidenceLevel && { confidenceLevel };
			return [
				success({ email, confidence }),
				{ found: true, email, confidence, ...level, paidCalls: 1 },
			];
		};
		const own = { email, confidence: 0.95, confidenceLevel: 'A+' };
		await expectEach(finder, [
			...[1, 0.9].map((confidence) => levelOf(confidence, 'very_high')),
			...[0.8999, 0.7].map((confidence) => levelOf(confidence, 'high')),
			...[0.6999, 0.5].map((confidence) => levelOf(confidence, 'medium')),
			...[0.4999, 0].map((confidence) => levelOf(confidence, 'low')),
			...[95, -0.1, 'high', undefined].map((confidence) => levelOf(confidence)),
			[success(own), { found: true, ...own, paidCalls: 1 }],
		]);
	});
});

describe('A start that is accepted without the ID in its place', () => {
	const error = {
		message: 'The service started a scrape but did not return its ID',
		advice: containing('you pay for it again'),
		paidCalls: 1,
	};
	const sent = [{}, { jobId: 'x', status: 'pending' }, { scrapeId: { id: 'x' } }];
	test.each([
		{ action: START_ROWS, sent: [...sent, { scrapeId: 17 }], outcomeOf: (data: object) => data },
		{
			action: START_AND_WAIT_ROWS,
			sent,
			outcomeOf: (data: object) => ({ error: { ...data, ...error } }),
		},
	])('gives what the service sent: $action.operation', async ({ action, sent, outcomeOf }) => {
		await expectEach(
			action,
			sent.map((data): Case => [success(data), outcomeOf(data)]),
		);
		expect(sandbox.requests).toHaveLength(sent.length);
	});
});

test('A scrape ends in any case, and the error of a failed one names it', async () => {
	const done = { scrapeId: 'p0', status: 'Completed', message: 'Done' };
	const noLeads = { scrapeId: 'p1', status: 'failed', message: 'No leads', note: '' };
	const message = 'Scrape p1 failed: No leads';
	const error = { code: 'SCRAPE_FAILED', message: 'Source is down' };
	const withoutId = { status: 'failed', progress: 40 };
	await expectEach(WAIT_ROWS, [
		[success(done), done],
		[success(noLeads), { error: { ...noLeads, message, advice: someText, paidCalls: 0 } }],
		[
			success({ scrapeId: 'p2', status: 'FAILED', error }),
			failed({ scrapeId: 'p2', message: 'Scrape p2 failed: Source is down' }),
		],
		[success(withoutId), failed({ scrapeId: 'p3', ...withoutId })],
	]);
});

test('A status that the service or a gateway does not find is asked for again, since the scrape may be new', async () => {
	const rows = rowsOf(3);
	const done = { status: 'completed' };
	const early = [answer('<html>', 404), failure('NOT_FOUND', 200), failure('NOT_FOUND', 400)];
	answerWith(() => early.pop() ?? success(done));
	const { items } = await runRows(WAIT_ROWS, rows);
	expect(items).toEqual(paired([done, done, done]));
	expectCalls([...rows, ...rows].map(WAIT_ROWS.callFor));
});

describe('A search', () => {
	test('keeps among the rejected what stands in place of an address, and the hint says nobody', async () => {
		const own = { email: null, confidence: 0.4, emailAnswer: 'locked' };
		const rejected = [{ ...own, emailType: 'business', outcome: 'not found' }];
		const none = { found: false, email: null, tried: 'business: not found', paidCalls: 1 };
		const result = await expectEach(ENRICH_ROWS, [
			[success({ email: 'locked', confidence: 0.4 }), { ...none, rejected }],
			[success({ email: '' }), none],
		]);
		const said = 'info: 2 items: 2 not found · 2 paid calls (2 business lookups)';
		expect(hintTexts(result)).toEqual([said]);
	});

	test('takes words in any spelling, those of the verification first, and numbers as text', async () => {
		const confidences = ['0.3', '0.95', '0.7', '0.5', '0.5'];
		const statuses = ['', 'Valid', ' CATCH-ALL ', undefined, 'invalid'];
		const rows = rowsOf(5);
		const emails = rows.map(({ name }) => `${name}@acme.com`);
		answerWith((request) => {
			const at = emails.findIndex((email) => email.startsWith(textIn(request, 'firstName') || '-'));
			if (at >= 0) return success({ email: emails[at], confidence: confidences[at], score: 88 });
			const status = statuses[emails.indexOf(textIn(request, 'email'))];
			return verdictWith({ status, confidence: 0.2, score: 12 })(request);
		});
		const parameters = { ...ENRICH_ROWS.parameters, accept: 'valid, CATCH_ALL' };
		const { items } = await runRows({ ...ENRICH_ROWS, parameters }, rows, { minConfidence: 0.5 });

		expectCalls([...rows.map(ENRICH_ROWS.callFor), ...rows.slice(1).map(VERIFY_ROWS.callFor)]);
		const none = { found: false, email: null };
		const found = { found: true, emailType: 'business', confidence: 0.2, score: 12 };
		const low = { email: emails[0], confidence: '0.3', confidenceLevel: 'low', score: 88 };
		const outcome = 'confidence too low';
		const rejected = [{ ...low, emailType: 'business', outcome }];
		expect(items).toMatchObject(
			paired([
				{ ...none, tried: `business: ${outcome}`, rejected, paidCalls: 1 },
				{ ...found, email: emails[1], status: 'Valid', confidenceLevel: 'very_high' },
				{ ...found, email: emails[2], status: ' CATCH-ALL ', tried: 'business: catch_all' },
				{ ...none, tried: 'business: unknown' },
				{ ...none, status: 'invalid', tried: 'business: invalid' },
			]),
		);
	});

	test('verifies what was found before it searches further', async () => {
		answerWith(async (request) => {
			if (request.path === '/email/verify') return verdict(request);
			// Until the calls of the first minute are sent.
			await until(() => sandbox.requests.length >= 60);
			return success({ email: `${textIn(request, 'firstName')}@acme.com` });
		});
		const starter = { ...keepGoing, credential: { plan: 'starter' } };
		await runRows(ENRICH_ROWS, rowsOf(90), {}, starter);
		const paths = sandbox.requests.slice(0, 120).map(({ path }) => path);
		expect(paths.join('')).toBe('/email/find'.repeat(60) + '/email/verify'.repeat(60));
	});

	test('is not made any more without credits, but the addresses that were found are verified', async () => {
		const many = rowsOf(300);
		const early = many.slice(0, 2);
		const [code, httpStatus] = ['INSUFFICIENT_CREDITS', 402];
		answerWith(async (request) => {
			if (request.path === '/email/verify') return verdict(request);
			const name = textIn(request, 'firstName');
			if (!early.some((row) => row.name === name)) return failure(code, httpStatus);
			await until(() => sandbox.requests.some(({ status }) => status === httpStatus));
			await sleep(50);
			return success({ email: `${name}@acme.com` });
		});
		const { items } = await runRows(ENRICH_ROWS, many);

		const finds = sandbox.requests.filter(({ path }) => path === '/email/find');
		expect(finds.length).toBeLessThan(100);
		const sent = many.slice(0, finds.length);
		expectCalls([...sent.map(ENRICH_ROWS.callFor), ...early.map(VERIFY_ROWS.callFor)]);
		const refused = including({ outcome: 'refused', code, httpStatus, paidCalls: 0 });
		const notSent = including({ message: 'Not sent: the account has too few credits' });
		const found = { found: true, emailType: 'business', tried: 'business: valid' };
		expect(items).toEqual(
			paired([
				...early.map((row) => ({ ...found, ...verdictOf(row, 2) })),
				...sent.slice(2).map((row) => ({ ...row, error: refused })),
				...many.slice(sent.length).map((row) => ({ ...row, error: notSent })),
			]),
		);
	});
});

test('An outage whose end the service names is not told as a wait for the rate limit', async () => {
	const down = answer('busy', 503, { 'retry-after': '60' });
	answerWith((request) => (sandbox.requests.length <= 6 ? down : verdict(request)));
	const result = await runRows(VERIFY_ROWS, rowsOf(100));
	expect(hintTexts(result)).toEqual([
		matching(
			/^warning: 100 items: 94 valid, 6 without an answer · .* may have been paid for · \d+ s$/,
		),
	]);
});

test('What a page of n8n would show as a link is text in the error of a value', async () => {
	const action = { ...VERIFY_ROWS, parameters: { email: '={{ $json.name }}' } };
	const { items } = await runRows(action, [{ name: '<img src=x>' }, { name: '<b>Sign in</b>' }]);
	expect(items.map((item) => errorOf(item)?.message)).toEqual([
		'Email must be one email address, but is "‹img src=x›"',
		'Email must be one email address, but is "‹b›Sign in‹/b›"',
	]);
});

test('Names that every object of JavaScript has as a field are fields like others, and change no other object', async () => {
	const names = '"constructor":1,"toString":"t","__proto__":{"odd":true}';
	const text = `{"success":true,"data":{"scrapeId":"constructor","status":"completed",${names}}}`;
	const data = { scrapeId: 'constructor', status: 'completed', constructor: 1, toString: 't' };
	const result = await runEach(WAIT_ROWS, [answer(text), answer(text)]);
	expect(result.items.map(({ json }) => json)).toMatchObject([data, data]);
	expect(({} as { odd?: boolean }).odd).toBeUndefined();
});

test.each([FIND_ROWS, PERSONAL_ROWS, VERIFY_ROWS, START_ROWS, STATUS_ROWS])(
	'The key is sent in the header Authorization, and nowhere else: $operation',
	async (action) => {
		// As it is pasted.
		const credential = { apiKey: `Bearer ${service.apiKey()}` };
		await runEach(action, [success({}), success({})], {}, { ...keepGoing, credential });
		for (const { headers, body, query, path } of sandbox.requests) {
			const { authorization, ...others } = headers;
			expect(authorization).toBe(`Bearer ${service.apiKey()}`);
			expect(JSON.stringify([others, body, query, path])).not.toContain(SECRET);
		}
	},
);

describe('A service that repeats the key', () => {
	const hidden = '**hidden**';
	/** The key as it is, after "Bearer", and in an address. */
	const spellingsOf = (key: string) => [key, `Bearer ${key}`, encodeURIComponent(key)];

	test('never gets it into the execution', async () => {
		const echoes: Array<(key: string) => Answer> = [
			(key) => answer(`{"success":false,"error":{"code":"A","message":"${key}"}}`, 400),
			(key) => answer('', 303, { location: `/a?${key}` }),
			(key) => answer(`{"success":true,"data":["${key}"],"debug":{"${key}":1}}`),
			(key) => answer(`<html>${key}</html>`),
			(key) => answer(`{"success":true,"data":{"list":[{"${key}":"valid"}]}}`),
		];
		const answers = spellingsOf(service.apiKey()).flatMap((key) => echoes.map((echo) => echo(key)));
		const { record, items } = await runEach(VERIFY_ROWS, answers);
		const failures = rowsOf(answers.length).map((row) => runRows(VERIFY_ROWS, [row], {}, {}));
		const records = (await Promise.all(failures)).map((failed) => failed.record);
		for (const text of [record, ...records]) {
			expect(text).toContain(hidden);
			expect(text).not.toContain(SECRET);
		}
		for (const item of items) expect(JSON.stringify(item)).toContain(hidden);
	});

	test('keeps the rest of its answer', async () => {
		const fields = (key: string) => ({
			note: `your key ${key}, "quoted" 4711`,
			[`x ${key}`]: [key, 4711],
		});
		const { items } = await runEach(VERIFY_ROWS, [verdictWith(fields(service.apiKey())), verdict]);
		const [first, second] = verified(rowsOf(2));
		expect(items).toEqual([{ ...first, json: { ...first?.json, ...fields(hidden) } }, second]);
	});
});
