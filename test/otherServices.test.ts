/** What a service may answer that the sandbox does not imitate. */
import type { RequestRecord } from '../lab/sandbox/requestLog';
import { hintTexts } from './engine';
import {
	containing,
	errorOf,
	failed,
	including,
	mayBeDone,
	paired,
	someText,
	verdictOf,
	verdictOn,
	verified,
} from './expected';
import {
	ENRICH_ROWS,
	FIND_ROWS,
	PERSONAL_ROWS,
	START_AND_WAIT_ROWS,
	START_ROWS,
	VERIFY_ROWS,
	WAIT_ROWS,
	answer,
	failure,
	keepGoing,
	rowsOf,
	saying,
	success,
	titleIn,
	verdict,
	verdictWith,
	type Answer,
} from './given';
import { SECRET, sleep, until, useService, type Case } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox, answerWith, runRows, runEach, expectEach, expectCalls } = service;

const nobody = including({ found: false, email: null });
const textIn = ({ body }: RequestRecord, name: string) =>
	(body as Record<string, string>)[name] ?? '';
/** Whether a request is for one of the first two rows. */
const isEarly = ({ body }: RequestRecord) => /"p[01]["@]/.test(JSON.stringify(body));

describe.each([FIND_ROWS, PERSONAL_ROWS, ENRICH_ROWS])('A finder: $operation', (finder) => {
	test('finds nobody where the service says so, or gives no address', async () => {
		await expectEach(finder, [
			[failure('NOT_FOUND', 404), nobody],
			[failure('EMAIL_NOT_FOUND', 404), nobody],
			[success(null), nobody],
			[success([]), nobody],
			[success({ email: null }), nobody],
			[success({ email: '', jobId: 'j1' }), nobody],
			[success({ email: 'N/A', found: true }), nobody],
			[success({ status: 'not_found', task_id: 'j1' }), nobody],
		]);
	});

	test('fails if the path, or the server behind the service, is not there', async () => {
		const says = 'The service says: Search is down';
		await expectEach(finder, [
			[failure('ROUTE_NOT_FOUND', 404), failed({ httpStatus: 404, outcome: 'refused' })],
			[answer({ detail: 'Not Found' }, 404), failed({ httpStatus: 404, outcome: 'refused' })],
			[
				answer({ data: null, message: 'Search is down' }),
				failed({ message: says, outcome: 'unknown' }),
			],
		]);
	});
});

describe('An address', () => {
	test.each([FIND_ROWS, PERSONAL_ROWS])(
		'has the level of confidence of the service, or one that begins at its lower bound: $operation',
		async (finder) => {
			const email = 'p@acme.com';
			const levelOf = (confidence: unknown, confidenceLevel?: string): Case => {
				const data = { email, confidence };
				return [
					success(data),
					{ found: true, ...data, ...(confidenceLevel && { confidenceLevel }), paidCalls: 1 },
				];
			};
			const sent: Array<[data: object, status?: number]> = [
				[{ email, confidence: 0.95, confidenceLevel: 'A+' }],
				[{ email, status: 'processing', jobId: 'j1' }, 202],
			];
			const none = { email: '', confidence: 0.3, sources: [] };
			await expectEach(finder, [
				...[1, 0.9].map((confidence) => levelOf(confidence, 'very_high')),
				...[0.8999, 0.7].map((confidence) => levelOf(confidence, 'high')),
				...[0.6999, 0.5].map((confidence) => levelOf(confidence, 'medium')),
				...[0.4999, 0].map((confidence) => levelOf(confidence, 'low')),
				...[95, -0.1, 'high', undefined].map((confidence) => levelOf(confidence)),
				...sent.map(([data, status]): Case => [
					success(data, status),
					{ found: true, ...data, paidCalls: 1 },
				]),
				[success(none), { found: false, ...none, email: null, paidCalls: 1 }],
				[success({ confidence: 0 }), { found: false, email: null, confidence: 0, paidCalls: 1 }],
			]);
		},
	);

	test('has the verdict of the service, whatever its words are', async () => {
		const cases = ['valid', 'accepted', 'unknown', 'processing'].map((status, index): Case => {
			const fields = { status, jobId: 'j1' };
			return [verdictWith(fields), { ...verdictOf({ name: `p${String(index)}` }), ...fields }];
		});
		await expectEach(VERIFY_ROWS, cases);
	});

	test.each([FIND_ROWS, PERSONAL_ROWS])(
		'keeps in a field of its own what the service writes in its place: $operation',
		async (finder) => {
			const none = { found: false, email: null, confidence: 0.4, paidCalls: 1 };
			await expectEach(finder, [
				...[
					...['not available', 'ada', 17, 'a***@acme.com', 'ada@ac…', 'locked@acme.com'],
					...['a@acme.com, b@acme.com', 'a@acme.com;b@acme.com', 'email_not_unlocked@domain.com'],
				].map((emailAnswer): Case => [
					success({ email: emailAnswer, confidence: 0.4 }),
					{ ...none, emailAnswer },
				]),
				[success({ email: '', confidence: 0.4 }), none],
				[success({ email: 'p@example.com' }), including({ found: true, email: 'p@example.com' })],
				...['p@acme.com', ' <p@acme.com>', 'Pia Okafor <p@acme.com>'].map((email): Case => [
					success({ email }),
					including({ found: true, email: 'p@acme.com' }),
				]),
			]);
		},
	);

	test('is kept among the rejected of a search, and the hint says that nobody was found', async () => {
		const tried = 'business: not found';
		const own = { email: null, confidence: 0.4, emailAnswer: 'locked' };
		const rejected = [{ ...own, emailType: 'business', outcome: 'not found' }];
		const locked = success({ email: 'locked', confidence: 0.4 });
		const none = { found: false, email: null, tried, paidCalls: 1 };
		const result = await expectEach(ENRICH_ROWS, [
			[locked, { ...none, rejected }],
			[locked, { ...none, rejected }],
			[success({ email: '' }), none],
		]);
		expect(hintTexts(result)).toEqual([
			'info: 3 items: 3 not found · 3 paid calls (3 business lookups)',
		]);
	});
});

describe('Credits that run out in the middle of a run', () => {
	const rows = rowsOf(300);
	const code = 'INSUFFICIENT_CREDITS';
	const notSent = {
		message: 'Not sent: the account has too few credits',
		advice: someText,
		attempted: false,
		outcome: 'notSent',
		paidCalls: 0,
	};
	const advice = containing('Add credits to the account');

	test('end it', async () => {
		answerWith((request) => (isEarly(request) ? verdict(request) : failure(code, 402)));
		const { items } = await runRows(VERIFY_ROWS, rows);

		const sent = rows.slice(0, sandbox.requests.length);
		expect(sent.length).toBeLessThan(100);
		expectCalls(sent.map(VERIFY_ROWS.callFor));
		const refused = including({ outcome: 'refused', code, httpStatus: 402, advice });
		const errorOf = (index: number) => (index < sent.length ? refused : notSent);
		expect(items).toEqual(verified(rows, (_, index) => index > 1 && errorOf(index)));
	});

	test('end the searches, and the addresses that they found are verified', async () => {
		answerWith(async (request) => {
			if (request.path === '/email/verify') return verdict(request);
			if (!isEarly(request)) return failure(code, 402);
			await until(() => sandbox.requests.some(({ status }) => status === 402));
			await sleep(50);
			return success({ email: `${textIn(request, 'firstName')}@acme.com` });
		});
		const { items } = await runRows(ENRICH_ROWS, rows);

		const finds = sandbox.requests.filter(({ path }) => path === '/email/find');
		expect(finds.length).toBeLessThan(100);
		const early = rows.slice(0, 2);
		const sent = rows.slice(0, finds.length);
		expectCalls([...sent.map(ENRICH_ROWS.callFor), ...early.map(VERIFY_ROWS.callFor)]);
		const refused = including({ outcome: 'refused', code, httpStatus: 402, advice, paidCalls: 0 });
		const found = { found: true, emailType: 'business', tried: 'business: valid' };
		expect(items).toEqual(
			paired([
				...early.map((row) => ({ ...found, ...verdictOf(row, 2) })),
				...sent.slice(2).map((row) => ({ ...row, error: refused })),
				...rows.slice(sent.length).map((row) => ({ ...row, error: notSent })),
			]),
		);
	});
});

test('A start whose answer is unclear is not sent again by Retry On Fail', async () => {
	const started = success({ scrapeId: 'scr_other', status: 'pending', estimatedCredits: 5 });
	const answers = [started, saying('Rate limit exceeded', 200), started];
	const { items, error } = await runEach(START_ROWS, answers, {}, { retryOnFail: true });
	expect(items).toEqual([]);
	const message = 'The service says: Rate limit exceeded';
	expect(error).toMatchObject({ message, description: mayBeDone, context: { itemIndex: 1 } });
});

describe('A start that is accepted without the ID in its place', () => {
	const sent = [{}, { jobId: 'x', status: 'pending' }, { scrapeId: { id: 'x' } }];

	test('returns what the service sent', async () => {
		const cases = [...sent, { scrapeId: 17 }].map((data): Case => [success(data), data]);
		await expectEach(START_ROWS, cases);
	});

	test('is an error with what the service sent if nobody can wait for it', async () => {
		const error = {
			message: 'The service started a scrape but did not return its ID',
			advice: containing('you pay for it again'),
			paidCalls: 1,
		};
		const cases = sent.map((data): Case => [success(data), { error: { ...data, ...error } }]);
		await expectEach(START_AND_WAIT_ROWS, cases);
		expect(sandbox.requests).toHaveLength(cases.length);
	});
});

test('A scrape ends in any case, and the error of a failed one names it', async () => {
	const done = { scrapeId: 'p0', status: 'Completed', message: 'Done' };
	const noLeads = { scrapeId: 'p1', status: 'failed', message: 'No leads', note: '' };
	const error = { code: 'SCRAPE_FAILED', message: 'Source is down' };
	const withError = { scrapeId: 'p2', status: 'FAILED', error };
	const withoutId = { status: 'failed', progress: 40 };
	await expectEach(WAIT_ROWS, [
		[success(done), done],
		[
			success(noLeads),
			{
				error: {
					...noLeads,
					...{ message: 'Scrape p1 failed: No leads', advice: someText, paidCalls: 0 },
				},
			},
		],
		[success(withError), failed({ scrapeId: 'p2', message: 'Scrape p2 failed: Source is down' })],
		[success(withoutId), failed({ scrapeId: 'p3', ...withoutId })],
	]);
});

describe('A search', () => {
	/** Answers the lookups with an address and `found`, and the verifications with `verdict`. */
	const answerSearch = (found: (first: string) => object, verdict: (email: string) => object) => {
		answerWith((request) => {
			if (request.path === '/email/verify') {
				return verdictWith(verdict(textIn(request, 'email')))(request);
			}
			const first = textIn(request, 'firstName');
			return success({ email: `${first}@acme.com`, ...found(first) });
		});
	};
	const rows = rowsOf(3);
	const [p0, ...others] = rows.map(({ name }) => `${name}@acme.com`);

	test('takes the words of the verification where it has them, and numbers as text count', async () => {
		const confidences: Record<string, string> = { p0: '0.3', p1: '0.95', p2: '0.7' };
		answerSearch(
			(first) => ({ confidence: confidences[first], score: 88 }),
			() => ({ status: 'Valid', confidence: 0.2, score: 12 }),
		);
		const { items } = await runRows(ENRICH_ROWS, rows, { minConfidence: 0.5 });

		const found = (email: unknown, confidenceLevel: string) => ({
			...{ emailType: 'business', found: true, confidenceLevel, tried: 'business: valid' },
			...{ ...verdictOn(email, 'Valid'), deliverable: true, confidence: 0.2, score: 12 },
			paidCalls: 2,
		});
		const outcome = 'confidence too low';
		const low = { email: p0, confidence: '0.3', confidenceLevel: 'low', score: 88 };
		expect(items).toEqual(
			paired([
				{
					...{ found: false, email: null, tried: `business: ${outcome}`, paidCalls: 1 },
					rejected: [{ ...low, emailType: 'business', outcome }],
				},
				found(others[0], 'very_high'),
				found(others[1], 'high'),
			]),
		);
		expectCalls([...rows.map(ENRICH_ROWS.callFor), ...rows.slice(1).map(VERIFY_ROWS.callFor)]);
	});

	test.each([
		['catch-all', 'CATCH_ALL'],
		[' CATCH_ALL ', 'valid, catch_all'],
	])('accepts a status in any spelling, but none without a status: %s', async (status, accept) => {
		answerSearch(
			() => ({}),
			(email) => ({ status: email === p0 ? 'invalid' : email === others[0] ? undefined : status }),
		);
		const parameters = { ...ENRICH_ROWS.parameters, accept };
		const { items } = await runRows({ ...ENRICH_ROWS, parameters }, rows);

		expectCalls([...rows.map(ENRICH_ROWS.callFor), ...rows.map(VERIFY_ROWS.callFor)]);
		const none = { found: false, email: null };
		expect(items).toMatchObject(
			paired([
				{ ...none, status: 'invalid', tried: 'business: invalid' },
				{ ...none, tried: 'business: unknown' },
				{ found: true, email: others[1], status, tried: 'business: catch_all' },
			]),
		);
	});
});

test('Names that every object of JavaScript has as a field are fields like others, and change no other object', async () => {
	const names = '"constructor":1,"toString":"t","__proto__":{"odd":true}';
	const text = `{"success":true,"data":{"scrapeId":"constructor","status":"completed",${names}}}`;
	const data = { scrapeId: 'constructor', status: 'completed', constructor: 1, toString: 't' };
	const result = await runEach(WAIT_ROWS, [answer(text), answer(text)]);
	expect(result.items.map(({ json }) => json)).toMatchObject([data, data]);
	expect(({} as { odd?: boolean }).odd).toBeUndefined();
});

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

	test('leaves the rest of the answer as it is', async () => {
		const fields = (key: string) => ({
			note: `your key ${key}, "quoted" 4711`,
			[`x ${key}`]: [key, 4711],
		});
		const echo = verdictWith(fields(service.apiKey()));
		const cases = rowsOf(3).map((row): Case => [echo, { ...verdictOf(row), ...fields(hidden) }]);
		await expectEach(VERIFY_ROWS, cases);
	});
});

test('What a page of n8n would show as a link is text in the error of a value', async () => {
	const link = '<a href="https://evil.example">Sign in</a>';
	const rows = [link, `${link}@acme.com`, '<img src=x>'].map((name) => ({ name }));
	const parameters = { email: '={{ $json.name }}' };
	const { items } = await runRows({ ...VERIFY_ROWS, parameters }, rows);
	const shown = rows.map(({ name }) =>
		JSON.stringify(name).replaceAll('<', '‹').replaceAll('>', '›'),
	);
	expect(items.map((item) => errorOf(item)?.message)).toEqual(
		shown.map((text) => `Email must be one email address, but is ${text}`),
	);
	expectCalls([]);
});

test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
	'A failed item keeps its file and its fields: %s',
	async (onError) => {
		const binary = { cv: { data: 'aGk=', mimeType: 'text/plain' } };
		const refuse = failure('ODD', 400);
		const answers = [refuse, verdict, refuse];
		const { outputs, rows } = await runEach(VERIFY_ROWS, answers, {}, { onError, binary });

		expect(outputs.flat().filter(({ json }) => json.error)).toEqual(
			[0, 2].map((item) => ({
				json: { ...rows[item], error: including({ code: 'ODD' }) },
				binary,
				pairedItem: { item },
			})),
		);
	},
);

test('Where n8n runs the node again, the hint names all scrapes that were started, or may have been', async () => {
	const rows = rowsOf(4);
	answerWith((request) => {
		const title = titleIn(request);
		if (title === 'p1') return failure('DOWN', 500);
		const isRefused = title === 'p0';
		return isRefused ? failure('ODD', 400) : success({ scrapeId: title, status: 'pending' });
	});
	const result = await runRows(START_ROWS, rows, {}, { ...keepGoing, retryOnFail: true });

	// The first item fails, so that n8n tries three times.
	const again = ['p0', 'p0'].map((name) => ({ name }));
	expectCalls([...rows, ...again].map(START_ROWS.callFor));
	expect(result.items).toEqual(
		paired([
			{ name: 'p0', error: including({ outcome: 'refused' }) },
			{ name: 'p1', error: including({ outcome: 'unknown' }) },
			{ scrapeId: 'p2', status: 'pending' },
			{ scrapeId: 'p3', status: 'pending' },
		]),
	);
	expect(hintTexts(result)).toEqual([
		'warning: 4 items: 2 pending, 1 refused, 1 without an answer · no paid calls · 1 call without an answer may have been paid for · 2 reused for free',
	]);
});
