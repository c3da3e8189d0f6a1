/** Faults of the LeadGen node that a service, or what a person enters, brought to light. */
import type { INodeParameters } from 'n8n-workflow';
import {
	ENRICH,
	FIND_BUSINESS,
	FIND_PERSONAL,
	GET_STATUS,
	START,
	WAIT,
	VERIFY,
	answer,
	failure,
	people,
	saying,
	someText,
	success,
	useOtherService,
	verdict,
	verdictOf,
	verdictWith,
	type Action,
	type Case,
	type Received,
	type Row,
} from './otherService';
import { hintsOf, type NodeResult } from './engine';
import { paired } from './service';

const { received, answerWith, expectCalls, expectEach, run, runEach } = useOtherService();

const START_AND_WAIT: Action = { ...START, operation: ['scrape', 'startAndWait'] };
const FINDERS = [FIND_BUSINESS, FIND_PERSONAL, ENRICH];

const textIn = ({ body }: Received, name: string) => (body as Record<string, string>)[name] ?? '';
const titleIn = (body: unknown) =>
	(body as { filters: { jobTitles: string[] } }).filters.jobTitles[0] ?? '';
const has = (fields: object): unknown => expect.objectContaining(fields);
const holds = (text: string): unknown => expect.stringContaining(text);

test.each(FINDERS)(
	'A path that a server does not have is no sign that nobody was found: $operation',
	async (finder) => {
		const noPath = (body: object): Case => {
			const advice = holds('Check the base URL');
			return [answer(body, 404), { error: has({ outcome: 'refused', httpStatus: 404, advice }) }];
		};
		const nobody = has({ found: false, email: null }) as object;
		await expectEach(finder, {
			spring: noPath({ status: 404, error: 'Not Found', path: '/v2/email/find' }),
			nest: noPath({ statusCode: 404, message: 'Cannot POST /email/find', error: 'Not Found' }),
			lambda: noPath({ message: 'Not Found' }),
			strapi: noPath({ data: null, error: { status: 404, name: 'E', message: 'Not Found' } }),
			fastApi: noPath({ detail: 'Not Found' }),
			// The service itself.
			envelope: [failure('NOT_FOUND', 404), nobody],
			text: [answer({ success: false, error: 'Not found' }, 404), nobody],
			code: [answer({ error: { code: 'NOT_FOUND', message: 'Nobody' } }, 404), nobody],
			noData: [success(null), nobody],
		});
	},
);

test('An error keeps all that the service sends with it', async () => {
	const error = (message: string, answer?: unknown, code?: string): object => ({
		error: { message, advice: someText, outcome: 'refused', httpStatus: 422, answer, code },
	});
	const refuse = (body: object) => answer({ success: false, ...body }, 422);
	const details = [{ field: 'email', issue: 'No such domain' }];
	const both = { code: 'E1', message: 'Wrong' };
	await expectEach(VERIFY, {
		details: [
			refuse({ error: { ...both, details }, requestId: 'r1', data: null }),
			error('The service says: Wrong (E1)', { error: { details }, requestId: 'r1' }, 'E1'),
		],
		noMore: [
			refuse({ error: { ...both, details: null, hint: '' }, data: null }),
			error('The service says: Wrong (E1)', undefined, 'E1'),
		],
		messageBeside: [
			refuse({ error: { code: 'E1' }, message: 'Wrong' }),
			error('The service says: Wrong (E1)', undefined, 'E1'),
		],
		twoTexts: [
			refuse({ error: 'Bad Request', message: 'Wrong domain' }),
			error('The service says: Bad Request: Wrong domain'),
		],
		sameTexts: [
			refuse({ error: both, message: 'Wrong' }),
			error('The service says: Wrong (E1)', undefined, 'E1'),
		],
		flag: [
			refuse({ error: true, message: 'Wrong' }),
			error('The service says: Wrong', { error: true }),
		],
		listOfTexts: [
			answer({ statusCode: 422, error: 'Bad Request', message: ['Wrong', 'No'] }, 422),
			error('The service says: Bad Request', { statusCode: 422, message: ['Wrong', 'No'] }),
		],
		odd: [
			refuse({ error: { code: { a: 1 }, message: { en: 'Wrong' } } }),
			error('The service reports an error, without a message or a code', {
				error: { code: { a: 1 }, message: { en: 'Wrong' } },
			}),
		],
		otherJson: [
			answer({ detail: details }, 422),
			error(
				'The service answered HTTP 422 with something other than the expected JSON',
				JSON.stringify({ detail: details }),
			),
		],
		page: [
			answer('<html>Wrong</html>', 422),
			error('The service answered HTTP 422 with a web page'),
		],
	});
});

test('A start that may have been done keeps the ID that came with its error', async () => {
	const data = { scrapeId: 's1' };
	const error = { code: 'INTERNAL', message: 'Queue is down' };
	const kept = { error: has({ outcome: 'unknown', code: 'INTERNAL', answer: { data } }) };
	const started = { scrapeId: 's2', status: 'pending' };
	await expectEach(START, {
		failed: [answer({ success: false, error, data }, 500), kept],
		withHttp200: [answer({ success: false, error, data }), kept],
		started: [success(started), started],
	});
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

describe('A scrape whose ID has no usual place', () => {
	test('was started all the same, and the error holds what the service sent', async () => {
		const cases = [{ scrapeId: { id: 's1' } }, { scrapeId: true }, { id: 's2' }].map(
			(data): Case => [
				success(data),
				{
					error: {
						...data,
						message: 'The service started a scrape but did not return its ID',
						advice: holds('you pay for it again'),
					},
				},
			],
		);
		await expectEach(START_AND_WAIT, cases);
		expect(received).toHaveLength(cases.length);
	});

	test('is named where another item fails', async () => {
		const answers = [success({ id: 's1' }), success({ scrapeId: 's2' }), failure('ODD', 400)];
		const { error } = await runEach(START, answers, { parallel: 1 }, {});
		expect(error?.description).toContain('This run started 2 scrapes: {"id":"s1"}, "s2".');
	});

	test('is named by the error if it failed and its status does not repeat the ID', async () => {
		const failed = { status: 'failed', progress: 40 };
		const done = { status: 'completed' };
		const error = (scrapeId: string) => ({
			error: { scrapeId, ...failed, message: `Scrape ${scrapeId} failed`, advice: someText },
		});
		await expectEach(WAIT, {
			s1: [success(failed), error('s1')],
			s2: [success(done), done],
			s3: [success(failed), error('s3')],
		});
	});
});

test('A value from an expression that JSON does not have is named like others', async () => {
	const rows = ['ok', 'slip', 'fine'].map((name) => ({ name }));
	const slip = (wrong: string, value: string) =>
		`={{ $json.name === 'slip' ? ${wrong} : ${value} }}`;
	answerWith((request) =>
		request.path === '/start' ? success({ scrapeId: 's1' }) : verdict(request),
	);
	const jobTitles = [slip('[$json.name.trim]', '$json.name')];
	const { items: started } = await run(
		{ ...START, parameters: { limit: 5, filters: { jobTitles } } },
		rows,
	);
	const address = slip("Symbol('x')", "$json.name + '@acme.com'");
	const { items: verified } = await run({ ...VERIFY, parameters: { email: address } }, rows);

	const sent = [{ name: 'ok' }, { name: 'fine' }];
	expectCalls([...sent.map(START.callFor), ...sent.map(VERIFY.callFor)]);
	const error = (field: string, message: string) => ({ name: 'slip', error: { field, message } });
	expect(started).toMatchObject(
		paired([
			{ scrapeId: 's1' },
			error('Job Titles', 'Job Titles must be text, but is a function'),
			{ scrapeId: 's1' },
		]),
	);
	expect(verified).toMatchObject(
		paired([
			verdictOf({ name: 'ok' }),
			error('Email', 'Email must be text, but is a symbol'),
			verdictOf({ name: 'fine' }),
		]),
	);
});

test.each<[string, INodeParameters, (plan: object, row: Row) => object]>([
	['nothing', {}, (plan) => plan],
	['the input', { includeInput: true }, (plan, row) => ({ ...row, ...plan })],
	['a field', { resultField: 'plan' }, (plan) => ({ plan })],
	[
		'both, for each item',
		{ includeInput: '={{ $json.name !== "p1" }}', resultField: '={{ $json.name }}' },
		(plan, row) => ({ ...(row.name !== 'p1' && row), [row.name]: plan }),
	],
])('The options for the output also hold in a dry run: %s', async (_, options, shape) => {
	const rows = people(3);
	const all = { ...options, dryRun: true, includeCost: true };
	const { items } = await run(VERIFY, [...rows, { name: ' ' }], all);

	expectCalls([]);
	const plan = ({ name }: Row) => ({
		dryRun: true,
		call: 'new',
		path: '/email/verify',
		request: { email: `${name}@acme.com` },
		key: someText,
		mayFollow: 0,
		totals: { items: 4, new: 3, duplicate: 0, remembered: 0, free: 0, mayFollow: 0 },
	});
	expect(items).toEqual(
		paired([
			...rows.map((row) => shape(plan(row), row)),
			{ name: ' ', error: has({ field: 'Email' }) },
		]),
	);
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
				json: { name: `p${String(item)}`, error: has({ code: 'ODD' }) },
				binary,
				pairedItem: { item },
			})),
		);
	},
);

test.each(FINDERS)(
	'A service that says in its own words that it found nobody is understood: $operation',
	async (finder) => {
		const nobody = has({ found: false, email: null }) as object;
		const other = { error: has({ httpStatus: 404, outcome: 'refused' }) };
		await expectEach(finder, {
			code404: [failure('EMAIL_NOT_FOUND', 404), nobody],
			code400: [failure('person-not-found', 400), nobody],
			code200: [failure('NO_RESULTS_FOUND', 200), nobody],
			text: [saying('No email address was found.', 404), nobody],
			message: [answer({ success: false, message: 'No matches found' }), nobody],
			route: [failure('ROUTE_NOT_FOUND', 404), other],
			account: [failure('ACCOUNT_NOT_FOUND', 404), other],
			company: [failure('COMPANY_NOT_FOUND', 404), other],
			path: [saying('Path /v2/email/find not found', 404), other],
		});
	},
);

test('Start and Wait goes on if the service says in its own words that it does not know the scrape yet', async () => {
	const rows = people(2);
	const unknown = [failure('SCRAPE_NOT_FOUND', 400), saying('Scrape not found', 422)];
	answerWith(({ path, body, query }) => {
		if (path === '/start') return success({ scrapeId: titleIn(body) });
		return unknown.pop() ?? success({ scrapeId: query.scrapeId, status: 'completed' });
	});
	const { items } = await run(START_AND_WAIT, rows, { pollInterval: 0 });
	expect(items).toEqual(paired(rows.map(({ name }) => ({ scrapeId: name, status: 'completed' }))));
	const polls = rows.map(GET_STATUS.callFor);
	expectCalls([...rows.map(START.callFor), ...polls, ...polls]);
});

describe('Where n8n runs the node again because the first item failed', () => {
	const keep = { onError: 'continueRegularOutput', retryOnFail: true } as const;
	const rows = people(4);
	const refuse = failure('ODD', 400);
	const hintOf = (result: NodeResult) =>
		hintsOf(result)
			.flat()
			.map(({ message }) => message);

	test('each result keeps its cost, and the hint names all paid calls', async () => {
		answerWith((request) =>
			textIn(request, 'email') === 'p0@acme.com' ? refuse : verdict(request),
		);
		await run(VERIFY, rows.slice(3));
		const result = await run(VERIFY, [...rows, { name: 'p1' }], { includeCost: true }, keep);

		const [first, ...others] = rows.map(VERIFY.callFor);
		expectCalls([...others, ...[first, first, first].flatMap((call) => call ?? [])]);
		expect(result.items).toEqual(
			paired([
				{ name: 'p0', error: has({ code: 'ODD' }) },
				...rows.slice(1).map((row, index) => ({ ...verdictOf(row), paidCalls: index < 2 ? 1 : 0 })),
				{ ...verdictOf({ name: 'p1' }), paidCalls: 0 },
			]),
		);
		expect(hintOf(result)).toEqual([
			'5 items: 4 valid, 1 failed · 2 paid calls (2 verifications) · 2 remembered',
		]);
	});

	test('the hint names the scrapes that were started, and that may have been', async () => {
		answerWith(({ body }) => {
			const title = titleIn(body);
			if (title === 'p1') return failure('DOWN', 500);
			return title === 'p0' ? refuse : success({ scrapeId: title, status: 'pending' });
		});
		const result = await run(START, rows, { includeCost: true }, keep);

		const [first, ...others] = rows.map(START.callFor);
		expectCalls([...others, ...[first, first, first].flatMap((call) => call ?? [])]);
		expect(result.items).toEqual(
			paired([
				{ name: 'p0', error: has({ outcome: 'refused' }) },
				{ name: 'p1', error: has({ outcome: 'unknown' }) },
				{ scrapeId: 'p2', status: 'pending', paidCalls: 1 },
				{ scrapeId: 'p3', status: 'pending', paidCalls: 1 },
			]),
		);
		expect(hintOf(result)).toEqual([
			'4 items: 2 pending, 2 failed · 2 paid calls (2 scrapes) · 1 call without an answer may have been paid for',
		]);
	});
});

test.each(FINDERS)(
	'A lookup goes on also if only the fields beside its data say so: $operation',
	async (finder) => {
		const pending = (body: object, kept: object | undefined, status?: number): Case => {
			const message = 'The service has not finished this lookup';
			const error = { message, outcome: 'unknown', answer: kept };
			return [answer({ success: true, ...body }, status), { error: has(error) }];
		};
		const nobody = (body: object): Case => [
			answer({ success: true, ...body }),
			has({ found: false, email: null }) as object,
		];
		await expectEach(finder, {
			accepted: pending({ data: null }, {}, 202),
			taken: pending({ data: null, status: 'success' }, { status: 'success' }, 202),
			job: pending({ data: null, jobId: 'j1' }, { jobId: 'j1' }),
			status: pending({ data: {}, status: 'processing' }, { status: 'processing' }),
			both: pending(
				{ data: { status: 'queued', email: null }, pollUrl: '/jobs/1' },
				{ status: 'queued', email: null, pollUrl: '/jobs/1' },
			),
			done: nobody({ data: null, status: 'success', requestId: 'r1' }),
			number: nobody({ data: {}, status: 200 }),
			message: nobody({ data: null, message: 'Nobody was found' }),
			ended: nobody({ data: { status: 'completed' }, status: 'processing' }),
		});
	},
);

test.each([0, '0', null, -1, 'none'])(
	'An estimate of %p credits does not let scrapes exceed the budget',
	async (estimatedCredits) => {
		const rows = people(4);
		answerWith(({ path, body }) =>
			path === '/credits'
				? success({ credits: 1000 })
				: success({ scrapeId: titleIn(body), estimatedCredits }),
		);
		const { items } = await run(START, rows, { spendAtMost: 12 });

		const sent = received.filter(({ path }) => path === '/start');
		expectCalls(rows.slice(0, 2).map(START.callFor), sent);
		const message = 'Not sent: this run reached Maximum Spend (12 credits)';
		expect(items).toMatchObject(
			paired([
				{ scrapeId: 'p0', estimatedCredits },
				{ scrapeId: 'p1', estimatedCredits },
				{ name: 'p2', error: { message } },
				{ name: 'p3', error: { message } },
			]),
		);
	},
);
