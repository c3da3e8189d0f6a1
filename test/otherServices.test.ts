/** What a service may answer that the sandbox does not imitate. */
import type { IDataObject } from 'n8n-workflow';
import { hintTexts } from './engine';
import {
	ENRICH,
	FINDERS,
	FIND_BUSINESS,
	FIND_PERSONAL,
	GET_STATUS,
	START,
	START_AND_WAIT,
	VERIFY,
	WAIT,
	people,
	type Action,
} from './actions';
import {
	answer,
	failed,
	failure,
	mayBeDone,
	saying,
	success,
	titleIn,
	verdict,
	verdictOf,
	verdictWith,
	verified,
	type Answer,
	type Case,
	type Received,
	type Responder,
	type Row,
} from './answers';
import { useOtherService } from './otherService';
import { containing, including, paired, someText } from './expected';
import { keepGoing } from './given';
import { get } from './service';

const { received, apiKey, answerWith, run, runEach, expectEach, expectCalls } = useOtherService();

const nobody = including({ found: false, email: null });
const textIn = ({ body }: Received, name: string) => (body as Record<string, string>)[name] ?? '';

/** Starts three scrapes with Retry On Fail. The second one gets an answer with which the node fails. */
async function expectOneStartEach(odd: Answer) {
	const started = success({ scrapeId: 'scr_other', status: 'pending', estimatedCredits: 5 });
	const result = await runEach(START, [started, odd, started], {}, { retryOnFail: true });
	expect(result.items).toEqual([]);
	expect(result.error).toMatchObject({ description: mayBeDone, context: { itemIndex: 1 } });
	return result;
}

describe.each(FINDERS)('Whether anybody was found: $operation', (finder) => {
	const noPath = (body: object): Case => [
		answer(body, 404),
		failed({ outcome: 'refused', httpStatus: 404, advice: containing('Check the base URL') }),
	];
	const other = failed({ httpStatus: 404, outcome: 'refused' });
	const unclear = (body: object, message = someText): Case => [
		answer(body),
		failed({ message, outcome: 'unknown', httpStatus: 200 }),
	];
	const none = (body: object, status?: number): Case => [answer(body, status), nobody];

	test('is told from a path, an account or a server that is not there, and from a failure', async () => {
		await expectEach(finder, {
			envelope: [failure('NOT_FOUND', 404), nobody],
			lowerCase: [failure('not_found', 200), nobody],
			hyphens400: [failure('not-found', 400), nobody],
			text: [saying('Not found'), nobody],
			text404: [saying('Not found', 404), nobody],
			noEnvelope: none({ error: { code: 'NOT_FOUND', message: 'Nobody' } }, 404),
			codeBeside: none({ success: false, code: 'NOT_FOUND', message: 'Nobody' }, 404),
			noData: [success(null), nobody],

			route: [failure('ROUTE_NOT_FOUND', 404), other],
			account: [failure('ACCOUNT_NOT_FOUND', 404), other],
			company: [failure('COMPANY_NOT_FOUND', 404), other],
			path: [saying('Path /v2/email/find not found', 404), other],
			spring: noPath({ status: 404, error: 'Not Found', path: '/v2/email/find' }),
			nest: noPath({ statusCode: 404, message: 'Cannot POST /email/find', error: 'Not Found' }),
			lambda: noPath({ message: 'Not Found' }),
			strapi: noPath({ data: null, error: { status: 404, name: 'E', message: 'Not Found' } }),
			fastApi: noPath({ detail: 'Not Found' }),
			edgeFunctions: noPath({ code: 'NOT_FOUND', message: 'Requested function was not found' }),

			internal: unclear(
				{ success: 'false', data: null, error: 'Internal error' },
				'The service says: Internal error',
			),
			down: unclear(
				{ success: true, data: null, error: 'Search is down' },
				'The service says: Search is down',
			),
			later: unclear({ data: null, message: 'Try later' }, 'The service says: Try later'),
			besideNull: unclear(
				{ success: true, data: null, error: { code: 'INTERNAL', message: 'Oops' } },
				'The service says: Oops (INTERNAL)',
			),
			withoutCode: unclear({ success: true, data: null, error: { code: '', message: 'Oops' } }),
		});
	});

	const message = 'The service has not finished this lookup';
	const unfinished = (kept: object | undefined, httpStatus = 200) =>
		failed({
			...{ message, advice: containing('charged for it'), outcome: 'unknown' },
			...{ httpStatus, answer: kept },
		});
	const pending = (data: object, status?: number): Case => [
		success(data, status),
		unfinished({ data }, status),
	];
	const pendingBeside = (body: object, kept: object, status?: number): Case => [
		answer({ success: true, ...body }, status),
		unfinished(kept, status),
	];

	test('is not known while the lookup goes on', async () => {
		await expectEach(finder, [
			pending({ status: 'processing', jobId: 'j1' }),
			pending({ status: 'PENDING' }),
			pending({ status: 'pending', email: null, found: false }, 201),
			pending({ status: 'accepted' }, 202),
			pending({ id: 'x' }, 202),
			pending({ email: null }, 202),
			pendingBeside({ data: null, jobId: 'j1' }, { jobId: 'j1' }, 202),
			pendingBeside(
				{ data: { status: 'pending', email: null }, pollUrl: '/jobs/1' },
				{ data: { status: 'pending', email: null }, pollUrl: '/jobs/1' },
			),

			[success({}), nobody],
			[success({ email: null }), nobody],
			[success({ email: '', jobId: 'j1' }), including({ found: false })],
			[success({ status: 'completed', jobId: 'j1' }), nobody],
			[success({ status: 'not_found', task_id: 'j1' }), nobody],
			[success({ found: false, jobId: 'j1' }), nobody],
			[success({ requestId: 'r1' }), nobody],
			none({ success: true, data: null, status: 'success', requestId: 'r1' }),
			none({ success: true, data: {}, status: 200 }),
			[success({ email: 'N/A', found: true }), nobody],
			[success({ email: ' ' }), nobody],
			[success({ email: [] }), nobody],
			none({ success: true, data: null, message: 'Nobody was found' }),
			none({ success: true, data: { status: 'completed' }, status: 'processing' }),
		]);
	});
});

describe('An address', () => {
	test('is found by a lookup that may go on, in other words, with its own level of confidence', async () => {
		const running = { email: 'p@acme.com', status: 'processing', jobId: 'j1' };
		const other = { email: 'p@acme.com' };
		const ann = { email: 'ann@acme.com', confidence: 0.95, confidenceLevel: 'A+' };
		const bob = { email: 'bob@acme.com', confidence: 0.95, confidenceLevel: null };
		const cid = { email: 'cid@acme.com', confidence: 0.95 };
		await expectEach(FIND_BUSINESS, [
			[success(running), { found: true, ...running }],
			[success(running, 202), { found: true, ...running }],
			[answer({ success: 'true', data: other, error: {} }), { found: true, ...other }],
			[
				answer({ success: true, data: other, error: { code: '', message: '' } }),
				{ found: true, ...other },
			],
			[success(ann), { found: true, ...ann }],
			[success(bob), { found: true, ...bob }],
			[success(cid), { found: true, ...cid, confidenceLevel: 'very_high' }],
		]);
	});

	test.each([FIND_BUSINESS, FIND_PERSONAL])(
		'has a level of confidence, which begins at its lower bound: $operation',
		async (finder) => {
			const email = 'p@acme.com';
			const levelOf = (confidence: unknown, confidenceLevel?: string): Case => {
				const data = { email, confidence };
				return [
					success(data),
					{ found: true, ...data, ...(confidenceLevel && { confidenceLevel }) },
				];
			};
			const none = { email: '', confidence: 0.3, sources: [] };
			const gone = { email: null, reason: 'left the company' };
			await expectEach(finder, [
				...[1, 0.9].map((confidence) => levelOf(confidence, 'very_high')),
				...[0.8999, 0.7].map((confidence) => levelOf(confidence, 'high')),
				...[0.6999, 0.5].map((confidence) => levelOf(confidence, 'medium')),
				...[0.4999, 0].map((confidence) => levelOf(confidence, 'low')),
				...[95, -0.1, 'high', null, undefined].map((confidence) => levelOf(confidence)),
				[success(none), { found: false, ...none, email: null }],
				[success(gone), { found: false, ...gone }],
				[success({ confidence: 0 }), { found: false, email: null, confidence: 0 }],
			]);
		},
	);

	test('has the verdict of the service, unless the verification goes on or failed', async () => {
		const cases = ['valid', 'accepted', 'unknown'].map((status, index): Case => {
			const fields = { status, jobId: 'j1' };
			return [verdictWith(fields), { ...verdictOf({ name: `p${String(index)}` }), ...fields }];
		});
		const message = 'The service has not finished this lookup';
		const error = { code: 'INTERNAL', message: 'Oops' };
		await expectEach(VERIFY, [
			...cases,
			[verdictWith({ status: 'processing' }), failed({ message, outcome: 'unknown' })],
			[
				answer({ success: true, data: null, error }),
				failed({ message: 'The service says: Oops (INTERNAL)', outcome: 'unknown' }),
			],
		]);
	});
});

describe('What a service writes in the place of the address', () => {
	const answers = ['not available', 'ada', ' locked ', 17, true];
	const cases = (kept: (email: unknown) => object): Case[] => [
		...answers.map((email): Case => [success({ email, confidence: 0.4 }), kept(email)]),
		...['', null].map((email): Case => {
			const { emailAnswer: none, ...others } = kept(email) as { emailAnswer?: unknown };
			expect(none).toEqual(email);
			return [success({ email, confidence: 0.4 }), others];
		}),
		[success({ email: 'p@acme.com' }), including({ found: true, email: 'p@acme.com' })],
	];

	test.each([FIND_BUSINESS, FIND_PERSONAL])(
		'is kept in a field of its own: $operation',
		async (of) => {
			const nobody = { found: false, email: null, confidence: 0.4 };
			await expectEach(
				of,
				cases((emailAnswer) => ({ ...nobody, emailAnswer })),
			);
		},
	);

	test('is kept among the rejected, and the hint says that nobody was found', async () => {
		const tried = 'business: not found';
		const each = answers.map((email): Case => {
			const own = { found: false, email: null, confidence: 0.4, emailAnswer: email };
			const rejected = [{ ...own, emailType: 'business', outcome: 'not found' }];
			return [success({ email, confidence: 0.4 }), { found: false, email: null, tried, rejected }];
		});
		const none: Case = [success({ email: '' }), { found: false, email: null, tried }];
		const result = await expectEach(ENRICH, [...each, none]);
		expect(hintTexts(result)).toEqual([
			'info: 6 items: 6 not found · 6 paid calls (6 business lookups)',
		]);
	});
});

describe('An error', () => {
	test('has any text or number as its code', async () => {
		const lookUp = 'Look up this code in the documentation of the service.';
		// Every object of JavaScript has fields with these names.
		const names = ['constructor', 'toString', '__proto__'];
		const errors = [
			...names.map((code) => ({ code, httpStatus: 200, outcome: 'unknown', advice: mayBeDone })),
			...names.map((code) => ({ code, httpStatus: 400, outcome: 'refused', advice: lookUp })),
			{ code: 1007, httpStatus: 422, outcome: 'refused', advice: lookUp },
		];
		const cases = errors.map((error): Case => {
			const sent = { code: error.code, message: 'Bad' };
			const code = String(error.code);
			return [
				answer({ success: false, error: sent }, error.httpStatus),
				{ error: { ...error, code, message: `The service says: Bad (${code})` } },
			];
		});
		await expectEach(VERIFY, cases);
	});

	test('is told in words, and keeps all that the service sends with it', async () => {
		const error = (message: string, answer?: unknown, code?: string): object => ({
			error: { message, advice: someText, outcome: 'refused', httpStatus: 422, answer, code },
		});
		const refuse = (body: object) => answer({ success: false, ...body }, 422);
		const details = [{ field: 'email', issue: 'No such domain' }];
		const both = { code: 'E1', message: 'Wrong' };
		const wrong = 'The service says: Wrong (E1)';
		const noMessage = 'The service reports an error, without a message or a code';
		const { items } = await expectEach(VERIFY, {
			nothing: [refuse({}), error(noMessage)],
			emptyTexts: [failure('', 422, ''), error(noMessage)],
			errors: [refuse({ errors: ['too long'] }), error(noMessage, { errors: ['too long'] })],
			code: [
				refuse({ error: { code: 'E7' } }),
				error('The service reports the error E7, without a message', undefined, 'E7'),
			],
			message: [refuse({ message: 'Went wrong' }), error('The service says: Went wrong')],
			details: [
				refuse({ error: { ...both, details }, requestId: 'r1', data: null }),
				error(wrong, { error: { details }, requestId: 'r1' }, 'E1'),
			],
			noMore: [
				refuse({ error: { ...both, details: null, hint: '' }, data: null }),
				error(wrong, undefined, 'E1'),
			],
			messageBeside: [
				refuse({ error: { code: 'E1' }, message: 'Wrong' }),
				error(wrong, undefined, 'E1'),
			],
			twoTexts: [
				refuse({ error: 'Bad Request', message: 'Wrong domain' }),
				error('The service says: Bad Request: Wrong domain'),
			],
			sameTexts: [refuse({ error: both, message: 'Wrong' }), error(wrong, undefined, 'E1')],
			flag: [
				refuse({ error: true, message: 'Wrong' }),
				error('The service says: Wrong', { error: true }),
			],
			listOfTexts: [
				answer({ statusCode: 422, error: 'Bad Request', message: ['Wrong', 'No'] }, 422),
				error('The service says: Bad Request: Wrong: No', { statusCode: 422 }),
			],
			otherJson: [
				answer({ detail: details }, 422),
				error(
					'The service answered HTTP 422 with something other than the expected JSON',
					JSON.stringify({ detail: details }),
				),
			],
		});
		// Only where there is a code, the advice may tell what to do about it.
		const texts = items.map((item) => JSON.stringify(item));
		expect(texts.filter((text) => /no code|no message|this code(?<!E[17].*)/.test(text))).toEqual(
			[],
		);
	});

	test('of the service or a gateway in front of it comes with advice that fits', async () => {
		const refused = (httpStatus: number, advice: string) =>
			failed({ advice: containing(advice), outcome: 'refused', httpStatus });
		await expectEach(VERIFY, [
			[answer({ message: 'Unauthorized' }, 401), refused(401, 'API key')],
			[answer({ error: 'Forbidden' }, 403), refused(403, 'API key')],
			[answer('<html>', 401), refused(401, 'API key')],
			[failure('invalid_request', 400), refused(400, 'fields of this item')],
		]);
	});
});

describe('Credits that run out in the middle of a run', () => {
	const notSent = {
		message: 'Not sent: the account has too few credits',
		advice: someText,
		attempted: false,
		outcome: 'notSent',
	};
	test.each([
		answer('Pay first', 402),
		failure('PAYMENT', 402),
		saying('Insufficient credits', 403),
		failure('insufficient-credits', 403),
		failure('Insufficient Credits', 200),
		failure('INSUFFICIENT_CREDITS', 429),
	])('end it: %j', async (refusal) => {
		const rows = people(5);
		answerWith((request) => (received.length <= 2 ? verdict(request) : refusal));
		const { items } = await run(VERIFY, rows, { parallel: 1 });

		const refused = including({
			outcome: 'refused',
			httpStatus: refusal.status,
			advice: containing('Add credits to the account'),
			...(refusal.status !== 402 && { code: 'INSUFFICIENT_CREDITS' }),
		});
		const errors = [undefined, undefined, refused, notSent, notSent];
		expect(items).toEqual(verified(rows, (_, index) => errors[index]));
		expectCalls(rows.slice(0, 3).map(VERIFY.callFor));
	});

	test('end it where only a text with HTTP 200 says so, and that call may be paid for', async () => {
		const rows = people(4);
		answerWith((request) =>
			received.length === 1 ? verdict(request) : saying('Insufficient credits', 200),
		);
		const { items } = await run(VERIFY, rows, { parallel: 1 });

		const code = 'INSUFFICIENT_CREDITS';
		const unclear = including({ outcome: 'unknown', httpStatus: 200, advice: mayBeDone, code });
		const errors = [undefined, unclear, notSent, notSent];
		expect(items).toEqual(verified(rows, (_, index) => errors[index]));
		expectCalls(rows.slice(0, 2).map(VERIFY.callFor));
	});

	test('are not what an error means that only mentions them', async () => {
		const mentions = [
			failure('INVALID_EMAIL', 400, 'No credits were charged'),
			saying('Used 3 out of 10 credits', 404),
		];
		const cases = mentions.map((mention): Case => [
			mention,
			failed({ httpStatus: mention.status }),
		]);
		await expectEach(VERIFY, [[verdict], ...cases, [verdict], [verdict]], { parallel: 1 });
	});
});

describe('A result with any 2xx status', () => {
	const data = { email: 'p@acme.com', credits: 5, scrapeId: 's1', status: 'completed' };

	test.each([FIND_BUSINESS, FIND_PERSONAL, VERIFY, GET_STATUS, WAIT, START, START_AND_WAIT])(
		'is one: $operation',
		async (action) => {
			const isFinder = action === FIND_BUSINESS || action === FIND_PERSONAL;
			const more = action === START_AND_WAIT && { progress: 100 };
			const result = { ...(isFinder && { found: true }), ...data, ...more };
			const statuses = [200, 201, 202, 203, 206];
			await expectEach(
				action,
				statuses.map((status): Case => [success(data, status), result]),
			);
		},
	);

	test.each([201, 202, 206])('is a balance, read once for all items: HTTP %d', async (status) => {
		answerWith(success(data, status));
		const balance: Action = { ...VERIFY, operation: ['credit', 'get'], parameters: {} };
		const { items } = await run(balance, people(3));
		expect(items).toEqual(paired([data, data, data]));
		expectCalls([get('/credits')]);
	});
});

test.each<[string, Answer, unknown]>([
	[
		'a redirect to its result',
		answer({}, 303, { location: '/status?scrapeId=s1' }),
		'The service redirects to /status?scrapeId=s1',
	],
	['HTTP 200 and a text about a rate', saying('Rate limit exceeded', 200), someText],
	['HTTP 200 and a text about its fields', saying('Invalid request', 200), someText],
	['HTTP 200 and a text about credits', saying('Insufficient credits', 200), someText],
	['HTTP 502 and a text about a rate', saying('Rate limit exceeded', 502), someText],
])(
	'A start that is answered with %s is not sent again by Retry On Fail',
	async (_, odd, message) => {
		const { error } = await expectOneStartEach(odd);
		expect(error).toMatchObject({ message, httpCode: String(odd.status) });
	},
);

describe('A start that is accepted without the ID in its place', () => {
	const sent = [
		{},
		{ id: 'x' },
		{ jobId: 'x', status: 'pending' },
		{ scrapeId: { id: 'x' } },
		{ scrapeId: true },
	];

	test('returns what the service sent', async () => {
		const cases = [...sent, { scrapeId: 17 }].map((data): Case => [success(data), data]);
		await expectEach(START, cases);
	});

	test('is an error with what the service sent if nobody can wait for it', async () => {
		const error = {
			message: 'The service started a scrape but did not return its ID',
			advice: containing('you pay for it again'),
		};
		const cases = sent.map((data): Case => [success(data), { error: { ...data, ...error } }]);
		await expectEach(START_AND_WAIT, cases);
		expect(received).toHaveLength(cases.length);
	});

	test('is named where another item fails', async () => {
		const answers = [success({ id: 's1' }), success({ scrapeId: 's2' }), failure('ODD', 400)];
		const { error } = await runEach(START, answers, { parallel: 1 }, {});
		expect(error?.description).toContain('This run started 2 scrapes: {"id":"s1"}, s2.');
	});

	test('keeps the ID that came with its error', async () => {
		const data = { scrapeId: 's1' };
		const error = { code: 'INTERNAL', message: 'Queue is down' };
		const kept = failed({ outcome: 'unknown', code: 'INTERNAL', answer: { data } });
		await expectEach(START, {
			failed: [answer({ success: false, error, data }, 500), kept],
			withHttp200: [answer({ success: false, error, data }), kept],
			started: [success(data), data],
		});
	});

	test.each([START, START_AND_WAIT])(
		'and without data is an error that holds the answer: $operation',
		async (action) => {
			const error = {
				message: 'The service returned no result',
				advice: mayBeDone,
				outcome: 'unknown',
			};
			const cases = [
				{ scrapeId: 'x', status: 'pending' },
				{ data: 'abc' },
				{ data: [{ scrapeId: 'x' }] },
			].flatMap((fields): Case[] => [
				[answer(fields), { error: { ...error, answer: fields } }],
				[answer({ success: true, ...fields }), { error: { ...error, answer: fields } }],
			]);
			await expectEach(action, [
				[answer({}), { error }],
				[answer({ success: true }), { error }],
				...cases,
			]);
		},
	);
});

describe('A service that answers in other words', () => {
	test.each([failure('rate_limit_exceeded', 200), saying('Rate limit exceeded', 403)])(
		'is asked again after it refused a call for its rate: %j',
		async (refusal) => {
			const rows = people(4);
			answerWith((request) => (received.length === 2 ? refusal : verdict(request)));
			const { items } = await run(VERIFY, rows);

			expect(items).toEqual(verified(rows));
			expectCalls([...rows.map(VERIFY.callFor), ...received.slice(1, 2)]);
		},
	);

	test('ends a scrape in any case, or with an error, and the error names the scrape', async () => {
		const done = { scrapeId: 's1', status: 'completed', message: 'Done', progress: 100 };
		const inCapitals = { scrapeId: 's2', status: 'Completed' };
		const noLeads = {
			scrapeId: 's3',
			status: 'failed',
			message: 'No leads',
			progress: 40,
			completedAt: null,
			note: '',
		};
		const error = { code: 'SCRAPE_FAILED', message: 'Source is down' };
		const asError = { success: false, error, data: { scrapeId: 's4', status: 'FAILED' } };
		const withError = { scrapeId: 's5', status: 'failed', error: { message: 'Source is down' } };
		const notRepeated = { status: 'failed', progress: 40 };
		const isDown = (scrapeId: string) =>
			failed({ scrapeId, message: `Scrape ${scrapeId} failed: Source is down` });
		await expectEach(WAIT, {
			s1: [success(done), done],
			s2: [success(inCapitals), inCapitals],
			s3: [
				success(noLeads),
				{ error: { ...noLeads, message: 'Scrape s3 failed: No leads', advice: someText } },
			],
			s4: [answer(asError), isDown('s4')],
			s5: [success(withError), isDown('s5')],
			s6: [success(notRepeated), failed({ scrapeId: 's6', ...notRepeated })],
		});
	});

	test('gives the three outputs of a verification its verdicts in any case', async () => {
		const answers = ['Valid', 'INVALID', 'Catch_All'].map((status) => verdictWith({ status }));
		const { outputs } = await runEach(VERIFY, answers, { splitOutput: true });

		expect(outputs.map((items) => items.map(({ json }) => json.status))).toEqual([
			['Valid'],
			['Catch_All'],
			['INVALID'],
		]);
	});

	test('in both calls of a search keeps its words apart, and numbers as text count', async () => {
		const confidences: Record<string, string> = { low: '0.3', sure: '0.95', good: '0.7' };
		const rows = Object.keys(confidences).map((name) => ({ name }));
		const verifies = verdictWith({ status: 'Valid', confidence: 0.2, score: 12 });
		answerWith((request) => {
			if (request.path === '/email/verify') return verifies(request);
			const name = (request.body as { firstName: string }).firstName;
			return success({ email: `${name}@acme.com`, confidence: confidences[name], score: 88 });
		});
		const options = { minConfidence: 0.5 };
		const { items } = await run(ENRICH, rows, options);

		const found = (name: string, confidenceLevel: string) => ({
			emailType: 'business',
			found: true,
			email: `${name}@acme.com`,
			confidence: confidences[name],
			confidenceLevel,
			score: 88,
		});
		const verdict = {
			...{ status: 'Valid', deliverable: true },
			verification: { confidence: 0.2, score: 12 },
		};
		expect(items).toMatchObject(
			paired([
				{ found: false, tried: 'business: confidence too low' },
				{ ...found('sure', 'very_high'), ...verdict },
				{ ...found('good', 'high'), ...verdict },
			]),
		);
		const verified = ['sure', 'good'].map((name) => VERIFY.callFor({ name }));
		expectCalls([...rows.map(ENRICH.callFor), ...verified]);
	});
});

test('An address without a verdict is not accepted', async () => {
	answerWith((request) =>
		success({
			email: request.path === '/email/find' ? `${textIn(request, 'firstName')}@acme.com` : '',
		}),
	);
	const rows = people(2);
	const { items } = await run(ENRICH, rows);
	expectCalls([...rows.map(ENRICH.callFor), ...rows.map(VERIFY.callFor)]);
	const json = { found: false, tried: 'business: unknown' };
	expect(items).toMatchObject(paired([json, json]));
});

test.each([
	['catch-all', 'Catch-All'],
	['Catch All', 'catch_all'],
	[' CATCH_ALL ', 'unknown, catch_all'],
])('An accepted status counts in any spelling: %s', async (status, accept) => {
	answerWith((request) =>
		request.path === '/email/find'
			? success({ email: `${textIn(request, 'firstName')}@acme.com` })
			: verdictWith({
					status: textIn(request, 'email').startsWith('p2') ? 'invalid' : status,
				})(request),
	);
	const rows = people(3);
	const { items } = await run({ ...ENRICH, parameters: { ...ENRICH.parameters, accept } }, rows);

	expectCalls([...rows.map(ENRICH.callFor), ...rows.map(VERIFY.callFor)]);
	const found = ({ name }: Row) => ({ found: true, email: `${name}@acme.com`, status });
	expect(items).toMatchObject(
		paired([
			...rows.slice(0, 2).map((row) => ({ ...found(row), tried: 'business: catch_all' })),
			{ found: false, email: null, tried: 'business: invalid' },
		]),
	);
});

describe('A number with more digits than JavaScript keeps', () => {
	const ids = [
		'9007199254740991',
		'9007199254740993',
		'12345678901234567891',
		'12345678901234567000',
	];
	const text = (id: string, status: string) =>
		`{"success":true,"data":{"scrapeId":${id},"status":"${status}","team":[-${id},1.5],"note":"a: ${id}"}}`;
	const result = (id: string, status: string) => {
		const isKept = String(Number(id)) === id;
		const number = (digits: string) => (isKept ? Number(digits) : digits);
		return { scrapeId: number(id), status, team: [number(`-${id}`), 1.5], note: `a: ${id}` };
	};

	test.each([GET_STATUS, WAIT])('stays what it is: $operation', async (action) => {
		await expectEach(
			action,
			Object.fromEntries(
				ids.map((id) => [`s${id}`, [answer(text(id, 'completed')), result(id, 'completed')]]),
			),
		);
	});

	test('is kept in a paid answer of any length, beside texts that look like JSON', async () => {
		const cases = [10, 5_000_000].map((length): Case => {
			const note = 'a,] '.repeat(length / 4);
			const text = `{"success":true,"data":{"email":"p@acme.com","status":"valid","id":12345678901234567890,"note":"${note}"}}`;
			const kept = { email: 'p@acme.com', status: 'valid', id: '12345678901234567890', note };
			return [answer(text), kept];
		});
		await expectEach(VERIFY, cases);
	});

	test('is the scrape that was started', async () => {
		const rows = ids.map((name) => ({ name }));
		answerWith(({ path, query, body }) =>
			path === '/start'
				? answer(text(titleIn(body), 'pending'))
				: answer(text(String(query.scrapeId), 'completed')),
		);
		const { items } = await run(START_AND_WAIT, rows);
		expect(items).toEqual(paired(ids.map((id) => result(id, 'completed'))));
		expectCalls([...rows.map(START.callFor), ...rows.map(GET_STATUS.callFor)]);
	});
});

describe('A service that repeats the key', () => {
	const hidden = '**hidden**';
	/** The key as texts, addresses and JSON hold it. */
	const spellings: Record<string, (key: string) => string> = {
		asItIs: (key) => key,
		afterBearer: (key) => `Bearer ${key}`,
		inAnAddress: encodeURIComponent,
		inJsonAsPhpWritesIt: (key) => JSON.stringify(key).slice(1, -1).replace('/', '\\/'),
	};

	/** @param json the key as a JSON string */
	test.each<[string, (json: string, plain: string, email: string) => Answer]>([
		['message', (json) => answer(`{"success":false,"error":{"code":"A","message":${json}}}`, 400)],
		['text of an error', (json) => answer(`{"success":false,"error":${json}}`, 400)],
		['code', (json) => answer(`{"success":false,"error":{"code":${json},"message":"b"}}`, 400)],
		['Location of a refusal', (_, plain) => answer('', 307, { location: `/a?${plain}` })],
		['Location of a result', (_, plain) => answer('', 303, { location: `/a?${plain}` })],
		['answer', (json) => answer(`{"success":true,"data":[${json}],"debug":{${json}:1}}`)],
		['web page', (_, plain) => answer(`<html>${plain}</html>`)],
		[
			'data',
			(json, _, email) => answer(`{"success":true,"data":{"email":"${email}","k":${json}}}`),
		],
		['name of a field', (json) => answer(`{"success":true,"data":{"list":[{${json}:"valid"}]}}`)],
	])('never gets it into the execution: %s', async (_, echo) => {
		const answers = Object.entries(spellings).map(([name, spell]): [string, Responder] => {
			const plain = spell(apiKey());
			const isEscaped = plain.includes('\\/');
			const json = isEscaped ? `"${plain}"` : JSON.stringify(plain);
			return [name, ({ body }) => echo(json, plain, (body as { email: string }).email)];
		});
		const [core = ''] = /4711\+\d+/.exec(apiKey()) ?? [];
		const expectHidden = (record: string) => {
			expect(record).toContain(hidden);
			const texts = record.replaceAll('\\', '').replaceAll('%2B', '+');
			expect(texts).not.toContain(core);
		};

		const { record, items, rows } = await runEach(VERIFY, Object.fromEntries(answers));
		const texts = items.map((item) => JSON.stringify(item));
		expect(rows.filter((_row, index) => !texts[index]?.includes(hidden))).toEqual([]);
		expectHidden(record);
		for (const row of rows) expectHidden((await run(VERIFY, [row], {}, {})).record);
	});

	test('leaves the rest of the answer as it is', async () => {
		const fields = (key: string) => ({
			note: `your key ${key}, "quoted" 4711`,
			[`x ${key}`]: [key, 4711],
		});
		const echo = verdictWith(fields(apiKey()));
		const cases = people(3).map((row): Case => [echo, { ...verdictOf(row), ...fields(hidden) }]);
		await expectEach(VERIFY, cases);
	});
});

test('An answer with which the node itself fails may be paid for, so that a start is not sent again by Retry On Fail', async () => {
	const { stringify } = JSON;
	jest.spyOn(JSON, 'stringify').mockImplementation((value: unknown, ...more: unknown[]) => {
		const isOurs = (value as IDataObject | null | undefined)?.fails === true;
		if (isOurs) throw new RangeError('Maximum call stack size exceeded');
		return stringify(value, ...(more as []));
	});
	const text = '{"success":true,"data":{"scrapeId":"s1","fails":true}}';
	const { error } = await expectOneStartEach(answer(text));

	expect(error).toMatchObject({
		message: 'The node could not handle this request or its answer',
		description: expect.stringMatching(
			/may have done the work.*RangeError: Maximum call stack size exceeded/,
		) as string,
		context: { details: { outcome: 'unknown' } },
	});
});

describe('Texts of the service', () => {
	const long = 'It failed. '.repeat(50_000);

	test.each<[string, Answer]>([
		['message', failure('ODD', 400, long)],
		['error', saying(long, 400)],
		['code', failure(long, 400)],
		['Location', answer({}, 307, { location: `/a?${'b'.repeat(12_000)}` })],
	])('are cut: %s', async (_, odd) => {
		const { items } = await runEach(VERIFY, [odd, odd, odd]);
		for (const { json } of items) {
			const { message, code = '' } = json.error as Record<string, string>;
			expect(message?.length).toBeGreaterThan(500);
			expect(message?.length).toBeLessThan(600);
			expect(code.length).toBeLessThanOrEqual(501);
		}
		const { record } = await run(VERIFY, people(3), {}, {});
		expect(record.length).toBeLessThan(20_000);
	});

	test('are cut in a scrape that failed', async () => {
		answerWith(success({ scrapeId: 's1', status: 'failed', message: long }));
		const { error } = await run(WAIT, [{ name: 's1' }], {}, {});
		expect(error?.message).toMatch(/^Scrape s1 failed: It failed\. /);
		expect(error?.message.length).toBeLessThan(600);
	});

	const odd = 'a\r\n2026-01-01 | error | forged \u001B[31mred\u2028b <a href="//x.example">c</a>';
	const clean = 'a 2026-01-01 | error | forged [31mred b ‹a href="//x.example"›c‹/a›';

	test('stay on one line in the ID of a scrape, and the error keeps the ID as it is', async () => {
		const rows = people(3);
		const last = { scrapeId: odd, status: 'failed' };
		answerWith(({ path }) => success(path === '/start' ? { scrapeId: odd } : last));
		const { items } = await run(START_AND_WAIT, rows);

		const error = { ...last, message: `Scrape ${clean} failed`, advice: someText };
		expect(items).toEqual(paired(rows.map((row) => ({ ...row, error }))));
	});

	test('stay on one line, without control characters and markup', async () => {
		const said = { message: `The service says: ${clean} (${clean})`, code: clean };
		const each: Case = [failure(odd, 400, odd), failed(said)];
		await expectEach(VERIFY, [each, each, each]);
	});
});

describe('What a page of n8n would show as a link', () => {
	const link = '<a href="https://evil.example">Sign in</a>';
	const shown = (value: unknown) => JSON.stringify(value).replaceAll('<', '‹').replaceAll('>', '›');

	test('is text in the error of a value and of a filter', async () => {
		const rows = [link, `${link}@acme.com`, '<img src=x>'].map((name) => ({ name }));
		const wrong = await run({ ...VERIFY, parameters: { email: '={{ $json.name }}' } }, rows);
		expect(wrong.items.map(({ json }) => (json.error as { message: string }).message)).toEqual(
			rows.map(({ name }) => `Email must be one email address, but is ${shown(name)}`),
		);
		const filters = { filtersMode: 'json', filtersJson: '={{ ({ [$json.name]: 1 }) }}' };
		const unknown = await run({ ...START, parameters: filters }, rows);
		expect(unknown.items.map(({ json }) => (json.error as { message: string }).message)).toEqual(
			rows.map(({ name }) => `Filters (JSON) contains ${shown(name)}, which is not a filter`),
		);
		expectCalls([]);
	});
});

describe('A paid answer that is almost JSON', () => {
	test('is kept in the error', async () => {
		const kept = (text: string): Case => {
			const error = {
				message: expect.stringMatching(/^The service answered HTTP 200 with /) as string,
				advice: mayBeDone,
				outcome: 'unknown',
				httpStatus: 200,
				answer: text,
			};
			return [answer(text), { error }];
		};
		await expectEach(START, {
			cutOff: kept('{"success":true,"data":{"scrapeId":"s1","stat'),
			otherQuotes: kept("{'success': True, 'data': {'scrapeId': 's1'}}"),
			twoObjects: kept('{"success":true,"data":{"scrapeId":"s1"}}{"success":false}'),
			warningBefore: kept('<b>Warning</b> {"success":true,"data":{"scrapeId":"s1"}}'),
			xml: kept('<data><scrapeId>s1</scrapeId></data>'),
			text: kept('s1'),
			list: kept('["s1"]'),
			notANumber: kept('{"success":true,"data":{"scrapeId":"s1","score":NaN}}'),
			commaAtTheEnd: kept('{"success":true,"data":{"scrapeId":"s1",}}'),
			leadingZeros: kept('{"success":true,"data":{"scrapeId":0071,"x":"s1"}}'),
		});
	});

	test('is kept up to a few kilobytes', async () => {
		answerWith(answer(`scrape s1 ${'😀'.repeat(100_000)}`));
		const { items } = await run(VERIFY, people(3));
		for (const { json } of items) {
			const { answer: kept } = json.error as { answer: string };
			expect(kept).toMatch(/^scrape s1 (😀){2000,2100}…$/u);
		}
	});
});

describe('Names that every object of JavaScript has as a field', () => {
	const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
	const finished = names.map((scrapeId) => ({ scrapeId, status: 'completed' }));

	test.each([GET_STATUS, WAIT])('are scrape IDs like others: $operation', async (action) => {
		const rows = names.map((name) => ({ name }));
		answerWith(({ query }) => success({ scrapeId: query.scrapeId, status: 'completed' }));
		const { items } = await run(action, rows);
		expect(items).toEqual(paired(finished));
		expectCalls(rows.map(action.callFor));
	});

	test('are started scrapes like others, and are waited for', async () => {
		const cases = finished.map((each): Case => [
			success({ ...each, status: 'pending' }),
			{ ...each, progress: 100 },
		]);
		await expectEach(START_AND_WAIT, cases);
	});

	test('are fields of a result like others, and change no other object', async () => {
		const echo = ({ body }: Received) => {
			const email = JSON.stringify((body as IDataObject).email);
			return answer(
				`{"success":true,"data":{"email":${email},"constructor":1,"__proto__":{"odd":true}}}`,
			);
		};
		const { items, rows, run: execution } = await runEach(VERIFY, [echo, echo, echo]);
		expect(execution.status).toBe('success');
		expect(items.map(({ json }) => [json.email, json.constructor])).toEqual(
			rows.map(({ name }) => [`${name}@acme.com`, 1]),
		);
		expect(({} as IDataObject).odd).toBeUndefined();
	});
});

test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
	'A failed item keeps its file and its fields: %s',
	async (onError) => {
		const rows = people(3);
		const binary = { cv: { data: 'aGk=', mimeType: 'text/plain' } };
		answerWith((request) =>
			textIn(request, 'email') === 'p1@acme.com' ? verdict(request) : failure('ODD', 400),
		);
		const { outputs } = await run(VERIFY, rows, {}, { onError, binary });

		expectCalls(rows.map(VERIFY.callFor));
		const failed = outputs.flat().filter(({ json }) => json.error);
		expect(failed).toEqual(
			[0, 2].map((item) => ({
				json: { name: `p${String(item)}`, error: including({ code: 'ODD' }) },
				binary,
				pairedItem: { item },
			})),
		);
	},
);

describe('Where n8n runs the node again because the first item failed', () => {
	const keep = { ...keepGoing, retryOnFail: true };
	const rows = people(4);
	const refuse = failure('ODD', 400);

	test('the hint names all paid calls', async () => {
		answerWith((request) =>
			textIn(request, 'email') === 'p0@acme.com' ? refuse : verdict(request),
		);
		await run(VERIFY, rows.slice(3));
		const result = await run(VERIFY, [...rows, { name: 'p1' }], {}, keep);

		const [first, ...others] = rows.map(VERIFY.callFor);
		expectCalls([...others, ...[first, first, first].flatMap((call) => call ?? [])]);
		expect(result.items).toEqual(
			paired([
				{ name: 'p0', error: including({ code: 'ODD' }) },
				...rows.slice(1).map(verdictOf),
				verdictOf({ name: 'p1' }),
			]),
		);
		expect(hintTexts(result)).toEqual([
			'warning: 5 items: 4 valid, 1 refused · 2 paid calls (2 verifications) · 2 reused for free',
		]);
	});

	test('the hint names the scrapes that were started, and that may have been', async () => {
		answerWith(({ body }) => {
			const title = titleIn(body);
			if (title === 'p1') return failure('DOWN', 500);
			return title === 'p0' ? refuse : success({ scrapeId: title, status: 'pending' });
		});
		const result = await run(START, rows, {}, keep);

		const [first, ...others] = rows.map(START.callFor);
		expectCalls([...others, ...[first, first, first].flatMap((call) => call ?? [])]);
		expect(result.items).toEqual(
			paired([
				{ name: 'p0', error: including({ outcome: 'refused' }) },
				{ name: 'p1', error: including({ outcome: 'unknown' }) },
				{ scrapeId: 'p2', status: 'pending' },
				{ scrapeId: 'p3', status: 'pending' },
			]),
		);
		expect(hintTexts(result)).toEqual([
			'warning: 4 items: 2 pending, 1 refused, 1 without an answer · 2 paid calls (2 scrapes) · 1 call without an answer may have been paid for',
		]);
	});
});
