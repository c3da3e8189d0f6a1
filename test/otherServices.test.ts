/** What a service may answer that the sandbox does not imitate. */
import type { IDataObject } from 'n8n-workflow';
import {
	ENRICH,
	FIND_BUSINESS,
	FIND_PERSONAL,
	GET_STATUS,
	START,
	VERIFY,
	WAIT,
	answer,
	failure,
	mayBeDone,
	people,
	saying,
	someText,
	success,
	useOtherService,
	verdict,
	verdictOf,
	verdictWith,
	verified,
	type Action,
	type Answer,
	type Case,
	type Received,
	type Responder,
} from './otherService';
import { get, paired } from './service';

const { received, apiKey, answerWith, run, runEach, expectEach, expectCalls } = useOtherService();

const START_AND_WAIT: Action = {
	...START,
	operation: ['scrape', 'startAndWait'],
	next: ({ query }) => success({ scrapeId: query.scrapeId, status: 'completed', progress: 100 }),
};

const nobody = { found: false, email: null };

/** Starts three scrapes with Retry On Fail. The second one gets an answer with which the node fails. */
async function expectOneStartEach(odd: Answer) {
	const started = success({ scrapeId: 'scr_other', status: 'pending', estimatedCredits: 5 });
	const result = await runEach(START, [started, odd, started], {}, { retryOnFail: true });
	expect(result.items).toEqual([]);
	expect(result.error).toMatchObject({ description: mayBeDone, context: { itemIndex: 1 } });
	return result;
}

describe('An option that limits what is spent, from an expression that gives nothing,', () => {
	test.each([
		['spendAtMost', 'Maximum Spend (Credits)', 'must be a number of at least 0'],
		['keepCredits', 'Minimum Balance (Credits)', 'must be a number of at least 0'],
		['dryRun', 'Dry Run', 'must be on or off'],
	])('is no permission to spend: %s', async (option, field, rule) => {
		const rows = people(3);
		answerWith((request) =>
			request.path === '/credits' ? success({ credits: 100 }) : verdict(request),
		);
		const { items } = await run(VERIFY, rows, { [option]: '={{ $json.budgett }}' });

		expectCalls([]);
		const error = { message: `${field} ${rule}, but is empty`, advice: someText, field };
		expect(items).toEqual(verified(rows, () => error));
	});
});

test.each([FIND_BUSINESS, FIND_PERSONAL, ENRICH])(
	'Error If Not Found that is neither on nor off is an error before anything is paid for: $operation',
	async (finder) => {
		const rows = ['maybe', 'yes', 'perhaps'].map((name) => ({ name }));
		answerWith(success({ email: null }));
		const { items } = await run(finder, rows, { errorIfNotFound: '={{ $json.name }}' });

		expectCalls([finder.callFor({ name: 'yes' })]);
		const wrong = (value: string) => ({
			message: `Error if Not Found must be on or off, but is "${value}"`,
			advice: someText,
			field: 'Error if Not Found',
		});
		const notFound: unknown = expect.objectContaining({ code: 'NOT_FOUND', message: someText });
		expect(items).toEqual(
			paired([
				{ name: 'maybe', error: wrong('maybe') },
				{ name: 'yes', error: notFound },
				{ name: 'perhaps', error: wrong('perhaps') },
			]),
		);
	},
);

describe('A message of the service that names a network error', () => {
	const texts = ['upstream ETIMEDOUT', 'ECONNREFUSED', 'getaddrinfo ENOTFOUND db.internal'];
	const shown = (text: string) => `The service says: ${text} (INTERNAL)`;

	test('is shown as it is in the item', async () => {
		const facts = { advice: someText, outcome: 'unknown', code: 'INTERNAL', httpStatus: 500 };
		const cases = texts.map((text): Case => {
			const error = { message: shown(text), ...facts };
			return [failure('INTERNAL', 500, text), { error }];
		});
		await expectEach(VERIFY, cases);
	});

	test.each(texts)('is shown as it is where the node fails: %s', async (text) => {
		const answers = [verdict, verdict, failure('INTERNAL', 500, text)];
		const { items, error } = await runEach(VERIFY, answers, { parallel: 1 }, {});

		expect(items).toEqual([]);
		expect(error).toMatchObject({
			message: shown(text),
			description: mayBeDone,
			context: { itemIndex: 2 },
			httpCode: '500',
		});
	});
});

describe('An error beside data that is null', () => {
	const besideNull = (code: string, message: string) =>
		answer({ success: true, data: null, error: { code, message } });
	const internal = besideNull('INTERNAL', 'That went wrong');
	const error = {
		message: 'The service says: That went wrong (INTERNAL)',
		advice: mayBeDone,
		outcome: 'unknown',
		code: 'INTERNAL',
		httpStatus: 200,
	};

	test.each([FIND_BUSINESS, FIND_PERSONAL])(
		'is one also without a code, but not if it is empty: $operation',
		async (finder) => {
			const data = { email: 'somebody@acme.com', confidence: 0.75 };
			const result = { found: true, confidenceLevel: 'high', ...data };
			const unknown: unknown = expect.objectContaining({ outcome: 'unknown' });
			await expectEach(finder, [
				[success(data), result],
				[internal, { error }],
				[besideNull('', 'That went wrong'), { error: unknown }],
				[besideNull('', ''), nobody],
				[success(data), result],
			]);
		},
	);

	test('is one for a verification', async () => {
		await expectEach(VERIFY, [[verdict], [internal, { error }], [verdict]]);
	});
});

test('An error code may be any text or number, and advice on the key is not all there is', async () => {
	const lookUp = 'Look up this code in the documentation of the service.';
	const checkKey = `Check the API key in the LeadGen credential. ${lookUp}`;
	// Every object of JavaScript has fields with these names.
	const names = ['constructor', 'toString', '__proto__'];
	const errors = [
		...names.map((code) => ({ code, httpStatus: 200, outcome: 'unknown', advice: mayBeDone })),
		...names.map((code) => ({ code, httpStatus: 400, outcome: 'refused', advice: lookUp })),
		{ code: 1007, httpStatus: 422, outcome: 'refused', advice: lookUp },
		{ code: 'QUOTA_EXCEEDED', httpStatus: 403, outcome: 'refused', advice: checkKey },
		{ code: 17, httpStatus: 401, outcome: 'refused', advice: checkKey },
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

test('An error that the service does not explain is told in words', async () => {
	const failing = (fields: object) => answer({ success: false, ...fields }, 400);
	const error = (message: string, details = {}) => ({
		error: { message, advice: someText, outcome: 'refused', httpStatus: 400, ...details },
	});
	const noMessage = 'The service reports an error, without a message or a code';
	const onlyCode = 'The service reports the error E7, without a message';
	const errors = ['too long'];
	const { items } = await expectEach(VERIFY, {
		nothing: [failing({}), error(noMessage)],
		code: [failing({ error: { code: 'E7' } }), error(onlyCode, { code: 'E7' })],
		message: [failing({ message: 'Went wrong' }), error('The service says: Went wrong')],
		emptyTexts: [failure('', 400, ''), error(noMessage)],
		somethingElse: [failing({ errors }), error(noMessage, { answer: { errors } })],
	});

	const texts = items.map((item) => JSON.stringify(item));
	expect(texts.filter((text) => /no code|no message|this code(?<!E7.*)/.test(text))).toEqual([]);
});

describe('Credits that run out in the middle of a run', () => {
	const notSent = {
		message: 'Not sent: the account has too few credits',
		advice: someText,
		attempted: false,
	};
	const texts = [
		'Not enough credits',
		'You do not have enough credits for this request.',
		"You don't have enough credits",
		'You have run out of credits',
		'No credits left',
		'You have no credits.',
		'No more credits available',
		'Your monthly credits are exhausted. Upgrade your plan.',
		'Insufficient credit balance',
		'Credit limit reached',
	];
	const codes = ['NO_CREDITS', 'OUT_OF_CREDITS', 'CREDITS_EXHAUSTED', 'insufficient-credit'];

	test.each([
		answer('Pay first', 402),
		failure('PAYMENT', 402),
		...texts.map((text) => saying(text, 200)),
		...codes.map((code) => failure(code, 403)),
		failure('NO_CREDITS', 200),
		failure('INSUFFICIENT_CREDITS', 429),
		failure('FORBIDDEN', 403, 'You have run out of credits'),
		answer({ success: false, message: 'Insufficient credits' }, 400),
	])('end it: %j', async (refusal) => {
		const rows = people(5);
		answerWith((request) => (received.length <= 2 ? verdict(request) : refusal));
		const { items } = await run(VERIFY, rows, { parallel: 1 });

		const refused: unknown = expect.objectContaining({
			outcome: 'refused',
			httpStatus: refusal.status,
			advice: expect.stringContaining('Add credits to the account') as string,
			...(refusal.status !== 402 && { code: 'INSUFFICIENT_CREDITS' }),
		});
		const errors = [undefined, undefined, refused, notSent, notSent];
		expect(items).toEqual(verified(rows, (_, index) => errors[index]));
		expectCalls(rows.slice(0, 3).map(VERIFY.callFor));
	});

	test('are not what an error means that only mentions them', async () => {
		const mentions = [
			failure('INVALID_EMAIL', 400, 'No credits were charged'),
			failure('INVALID_EMAIL', 422, 'Not a valid address. This cost no credits.'),
			saying('Used 3 out of 10 credits', 404),
			failure('EMAIL_NOT_FOUND', 404, 'No email was found. This lookup used no credits'),
			saying('Nobody found, charged no credits.', 404),
			saying('Nobody found. No more credits were charged', 404),
			saying('Nobody found. Your credits were not used up.', 404),
			failure('TOO_LITTLE', 422, 'Not enough data to find an email, no credits used up'),
			saying('Provider: not enough credits', 502),
		];
		const cases = mentions.map((mention): Case => {
			const error: unknown = expect.objectContaining({ httpStatus: mention.status });
			return [mention, { error }];
		});
		await expectEach(VERIFY, [[verdict], ...cases, [verdict], [verdict]], { parallel: 1 });
	});
});

test('A balance that is a text is read', async () => {
	const rows = people(3);
	answerWith(success({ credits: ' 1 ', plan: 'x' }));
	const { items } = await run(VERIFY, rows, { keepCredits: 1 });

	const message = 'Not sent: this run reached Minimum Balance (1 credit)';
	expect(items).toEqual(verified(rows, (): unknown => expect.objectContaining({ message })));
	expectCalls([get('/credits')]);
});

test('A confidenceLevel that the service itself sends is passed on untouched', async () => {
	const ann = { email: 'ann@acme.com', confidence: 0.95, confidenceLevel: 'A+' };
	const bob = { email: 'bob@acme.com', confidence: 0.95, confidenceLevel: null };
	const cid = { email: 'cid@acme.com', confidence: 0.95 };
	await expectEach(FIND_BUSINESS, [
		[success(ann), { found: true, ...ann }],
		[success(bob), { found: true, ...bob }],
		[success(cid), { found: true, ...cid, confidenceLevel: 'very_high' }],
	]);
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
	['HTTP 502 and a text about a rate', saying('Rate limit exceeded', 502), someText],
])(
	'A start that is answered with %s is not sent again by Retry On Fail',
	async (_, odd, message) => {
		const { error } = await expectOneStartEach(odd);
		expect(error).toMatchObject({ message, httpCode: String(odd.status) });
	},
);

test.each([
	[301, 'unknown', 'refused'],
	[302, 'unknown', 'refused'],
	[303, 'unknown', 'unknown'],
	[307, 'refused', 'refused'],
	[308, 'refused', 'refused'],
])(
	'A start that is answered with HTTP %d is %s if that leads elsewhere, and %s if it leads to the same path',
	async (status, elsewhere, samePath) => {
		const error = (outcome: string) => ({
			error: expect.objectContaining({ outcome, httpStatus: status }) as object,
		});
		const to = (location: string) => answer({}, status, { location });
		await expectEach(START, {
			result: [to('/status?scrapeId=s1'), error(elsewhere)],
			nowhere: [answer({}, status), error(elsewhere)],
			newVersion: [to('/v2/start'), error(samePath)],
			otherHost: [to('https://api.example.com/start'), error(samePath)],
			slash: [to('/start/'), error(samePath)],
		});
	},
);

describe('A start that is accepted without the ID', () => {
	const sent = [{}, { id: 'x' }, { jobId: 'x', status: 'pending' }];

	test('returns what the service sent', async () => {
		const cases = [...sent, { scrapeId: 17 }].map((data): Case => [success(data), data]);
		await expectEach(START, cases);
	});

	test('is an error with what the service sent if nobody can wait for it', async () => {
		const error = {
			message: 'The service started a scrape but did not return its ID',
			advice: expect.stringContaining('you pay for it again') as string,
		};
		const cases = sent.map((data): Case => [success(data), { error: { ...data, ...error } }]);
		await expectEach(START_AND_WAIT, cases);
		expect(received).toHaveLength(cases.length);
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

test('A start that is refused stops the run before the next one goes out', async () => {
	const rows = people(4);
	answerWith(failure('INVALID_REQUEST', 400));
	const { error } = await run(START, rows, { parallel: 1 }, {});

	expect(error?.message).toContain('INVALID_REQUEST');
	expectCalls(rows.slice(0, 1).map(START.callFor));
});

describe('A service that answers in other words', () => {
	test('finds nobody only where it says so, and says why else', async () => {
		const data = { email: 'p@acme.com' };
		const unknown = (text: string) => ({
			error: {
				message: `The service says: ${text}`,
				advice: someText,
				outcome: 'unknown',
				httpStatus: 200,
			},
		});
		const internal = { success: 'false', data: null, error: 'Internal error' };
		const down = { success: true, data: null, error: 'Search is down' };
		await expectEach(FIND_BUSINESS, [
			[failure('not_found', 200), nobody],
			[saying('Not found'), nobody],
			[answer({ success: false, error: { code: 404, message: 'Not found' } }), nobody],
			[success(null), nobody],
			[answer({ success: 'true', data, error: {} }), { found: true, ...data }],
			[answer(internal), unknown('Internal error')],
			[answer(down), unknown('Search is down')],
			[answer({ data: null, message: 'Try later' }), unknown('Try later')],
		]);
	});

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

	test('or a gateway in front of it, gets advice that fits', async () => {
		const refused = (httpStatus: number, advice: string) => ({
			error: expect.objectContaining({
				advice: expect.stringContaining(advice) as string,
				outcome: 'refused',
				httpStatus,
			}) as object,
		});
		await expectEach(VERIFY, [
			[answer({ message: 'Unauthorized' }, 401), refused(401, 'API key')],
			[answer({ error: 'Forbidden' }, 403), refused(403, 'API key')],
			[answer('<html>', 401), refused(401, 'API key')],
			[failure('invalid_request', 400), refused(400, 'fields of this item')],
		]);
	});

	test('ends a scrape in any case, or with an error, and the error names the scrape', async () => {
		const done = { scrapeId: 's1', status: 'completed', message: 'Done', progress: 100 };
		const inCapitals = { scrapeId: 's2', status: 'Completed' };
		const noLeads = { scrapeId: 's3', status: 'failed', message: 'No leads', progress: 40 };
		const error = { code: 'SCRAPE_FAILED', message: 'Source is down' };
		const asError = { success: false, error, data: { scrapeId: 's4', status: 'FAILED' } };
		const withError = { scrapeId: 's5', status: 'failed', error: { message: 'Source is down' } };
		const failed = (scrapeId: string) => ({
			error: expect.objectContaining({
				scrapeId,
				message: `Scrape ${scrapeId} failed: Source is down`,
			}) as object,
		});
		await expectEach(WAIT, {
			s1: [success(done), done],
			s2: [success(inCapitals), inCapitals],
			s3: [
				success(noLeads),
				{ error: { ...noLeads, message: 'Scrape s3 failed: No leads', advice: someText } },
			],
			s4: [answer(asError), failed('s4')],
			s5: [success(withError), failed('s5')],
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

	test('that gives the estimate of a scrape as text is kept within the budget', async () => {
		answerWith(({ path }) =>
			success(path === '/credits' ? { credits: 1000 } : { scrapeId: 's1', estimatedCredits: '60' }),
		);
		await run(START, people(3), { spendAtMost: 100 });

		expect(received.filter(({ path }) => path === '/start')).toHaveLength(1);
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
		const options = { minConfidence: 0.5, trustConfidence: 0.9 };
		const { items } = await run(ENRICH, rows, options);

		const found = (name: string, confidenceLevel: string) => ({
			emailType: 'business',
			found: true,
			email: `${name}@acme.com`,
			confidence: confidences[name],
			confidenceLevel,
			score: 88,
		});
		expect(items).toMatchObject(
			paired([
				{ found: false, tried: 'business: confidence too low' },
				{ ...found('sure', 'very_high'), status: null },
				{
					...found('good', 'high'),
					...{ status: 'Valid', deliverable: true },
					verification: { confidence: 0.2, score: 12 },
				},
			]),
		);
		expectCalls([...rows.map(ENRICH.callFor), VERIFY.callFor({ name: 'good' })]);
	});
});

describe('A service that repeats the key', () => {
	const hidden = '**hidden**';
	/** The key as texts, addresses, pages and JSON hold it. */
	const spellings: Record<string, (key: string) => string> = {
		asItIs: (key) => key,
		afterBearer: (key) => `Bearer ${key}`,
		inAnAddress: encodeURIComponent,
		inAWebPage: (key) => key.replace(/[&<>"/]/g, (c) => `&#${String(c.charCodeAt(0))};`),
		inAWebPageByName: (key) => key.replace('&', '&amp;').replace('<', '&lt;'),
		inJsonWithinJson: (key) => JSON.stringify(key),
		inJsonAsPhpWritesIt: (key) => key.replace('/', '\\/'),
		inJsonWithEscapes: (key) => key.replace(/./g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
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
			const isEscaped = /^\\|\\\//.test(plain);
			const json = isEscaped ? `"${plain.replaceAll('"', '\\"')}"` : JSON.stringify(plain);
			return [name, ({ body }) => echo(json, plain, (body as { email: string }).email)];
		});
		const [core = ''] = /4711\+\d+/.exec(apiKey()) ?? [];
		const expectHidden = (record: string) => {
			expect(record).toContain(hidden);
			const texts = record.replaceAll('\\', '').replaceAll('%2B', '+');
			expect(texts).not.toContain(core);
			expect(texts).not.toContain('u0034');
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

describe('An answer that is nested too deeply', () => {
	const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
	const bodies = [
		`{"success":true,"data":{"scrapeId":"s1","list":${deep}}}`,
		`{"success":true,"data":{"scrapeId":"s1","text":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}}`,
		`{"success":true,"scrapeId":"s1","list":${deep}}`,
		`{"success":true,"data":${JSON.stringify(`{"scrapeId":"s1","list":${deep}}`)}}`,
		`{"scrapeId":"s1","list":${deep}}`,
	].map((text) => [text.slice(0, 50), text]);

	test.each(bodies)('is no reason to start a scrape twice: %s …', async (_, text) => {
		const { error } = await expectOneStartEach(answer(text));
		expect(error?.context).toMatchObject({ details: { outcome: 'unknown' } });
	});

	test('is an error of its item, which holds the beginning', async () => {
		const error: unknown = expect.objectContaining({ advice: mayBeDone, outcome: 'unknown' });
		const cases = bodies.map(([, text]): Case => [answer(text), { error }]);
		const { items, run: execution } = await expectEach(VERIFY, [[verdict], ...cases, [verdict]]);

		expect(execution.status).toBe('success');
		const errors = items.slice(1, -1).map(({ json }) => JSON.stringify(json.error));
		expect(errors.filter((text) => !text.includes('s1') || text.length > 50_000)).toEqual([]);
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

	test('stay on one line, without control characters and markup', async () => {
		const odd = 'a\r\n2026-01-01 | error | forged \u001B[31mred\u2028b <a href="//x.example">c</a>';
		const clean = 'a 2026-01-01 | error | forged [31mred b ‹a href="//x.example"›c‹/a›';
		const said = { message: `The service says: ${clean} (${clean})`, code: clean };
		const error: unknown = expect.objectContaining(said);
		const each: Case = [failure(odd, 400, odd), { error }];
		await expectEach(VERIFY, [each, each, each]);
	});
});

describe('A paid answer that is almost JSON', () => {
	test('is read', async () => {
		const result = { email: 'p@acme.com', status: 'valid' };
		const data = JSON.stringify(result).slice(1, -1);
		const whole = `{"success":true,"data":{${data}}}`;
		const within = (field: string) => answer(`{"success":true,"data":{${data},${field}}}`);
		await expectEach(VERIFY, {
			notANumber: [within('"score":NaN'), { ...result, score: null }],
			infinity: [within('"a":[-Infinity,Infinity]'), { ...result, a: [null, null] }],
			undefinedNumber: [within('"score":undefined'), { ...result, score: null }],
			bareFraction: [within('"score":.95'), { ...result, score: 0.95 }],
			commasAtTheEnd: [
				answer(`{"success":true,"data":{${data},"a":[1,2,],},\n}`),
				{ ...result, a: [1, 2] },
			],
			byteOrderMark: [answer(`\uFEFF${whole}`), result],
			zeroBytesAround: [answer(`\u0000${whole}\n\u0000`), result],
			prefixAgainstScripts: [answer(`)]}',\n${whole}`), result],
			lineBreaksInText: [
				within('"note":"a\nb\t\\"c\\" NaN, ]"'),
				{ ...result, note: 'a\nb\t"c" NaN, ]' },
			],
			listAround: [answer(`[${whole}]`), result],
			textAround: [answer(JSON.stringify(whole)), result],
			dataAsText: [answer({ success: true, data: `{${data}}` }), result],
		});
	});

	test('is kept in the error otherwise', async () => {
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

describe('A lookup that the service has not finished', () => {
	const message = 'The service has not finished this lookup';
	const pending = (data: object, status = 200): Case => {
		const error: unknown = expect.objectContaining({
			message,
			advice: expect.stringContaining('charged for it') as string,
			outcome: 'unknown',
			httpStatus: status,
			answer: data,
		});
		return [success(data, status), { error }];
	};
	const finished = (data: object): Case => [
		success(data),
		expect.objectContaining({ found: false }) as object,
	];

	test.each([FIND_BUSINESS, FIND_PERSONAL, ENRICH])(
		'is not known, and finds nobody otherwise: $operation',
		async (finder) => {
			await expectEach(finder, [
				pending({ status: 'processing', jobId: 'j1' }),
				pending({ status: 'PENDING' }),
				pending({ state: 'in_progress', email: null }),
				pending({ status: 'In Progress', email: '' }),
				pending({ status: 'accepted', job_id: 'j1', found: null }),
				pending({ status: 'accepted' }, 202),
				pending({ jobId: 'j1' }),
				pending({ task_id: 17 }),
				pending({ id: 'x' }, 202),
				pending({ email: null }, 202),
				pending({ status: 'queued', email: null, found: false }, 201),
				finished({}),
				finished({ email: null }),
				finished({ email: '', jobId: 'j1' }),
				finished({ status: 'completed', jobId: 'j1' }),
				finished({ status: 'not_found', task_id: 'j1' }),
				finished({ found: false, jobId: 'j1' }),
				finished({ requestId: 'r1' }),
			]);
		},
	);

	test('is a result as soon as it holds the address', async () => {
		const data = { email: 'p@acme.com', status: 'processing', jobId: 'j1' };
		const found = { found: true, ...data };
		await expectEach(FIND_BUSINESS, [
			[success(data), found],
			[success(data, 202), found],
		]);
	});

	test('is told from a verdict by the words of the service', async () => {
		const cases = ['valid', 'accepted', 'unknown'].map((status, index): Case => {
			const fields = { status, jobId: 'j1' };
			return [verdictWith(fields), { ...verdictOf({ name: `p${String(index)}` }), ...fields }];
		});
		const error: unknown = expect.objectContaining({ message, outcome: 'unknown' });
		await expectEach(VERIFY, [...cases, [verdictWith({ status: 'processing' }), { error }]]);
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
