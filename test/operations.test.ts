/** What each operation sends for its items, and what comes out of them. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { FaultRule, JobSettings } from '../lab/sandbox/settings';
import { containing, errorOf, found, including, paired, someText, verdictOn } from './expected';
import {
	BALANCE,
	FIND,
	PERSONAL,
	START,
	START_AND_WAIT,
	STATUS,
	VERIFY,
	WAIT,
	failure,
	get,
	keepGoing,
	person,
	post,
	success,
	titleIn,
	type Call,
	type Operation,
} from './given';
import { sleep, until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

const given = '={{ $json.given }}';

/** The error of an item whose request the service refuses. */
function refusal(code: string, text: string, httpStatus = 400) {
	const message = `The service says: ${text} (${code})`;
	return { message, advice: someText, outcome: 'refused', code, httpStatus, paidCalls: 0 };
}

test('Credit: Get gives every item the balance of the account, which each run reads once', async () => {
	const balance = { credits: 100_000, plan: 'enterprise', resetDate: '2030-01-01T00:00:00.000Z' };
	for (const calls of [[get('/credits')], [get('/credits'), get('/credits')]]) {
		const { items } = await service.run(BALANCE, {}, [{ a: 1 }, { a: 2 }, { a: 3 }]);
		expect(items).toEqual(paired([balance, balance, balance]));
		service.expectCalls(calls);
	}
	// A free request without an answer is sent again after a minute.
	sandbox.set({ faults: [{ kind: 'hang', match: { times: 1 } }] });
	const since = Date.now();
	expect((await service.run(BALANCE, {}, [{}, {}])).items).toEqual(paired([balance, balance]));
	expect(Date.now() - since).toBeLessThan(5 * 60_000);
});

const linkedinUrl = 'https://linkedin.com/in/dan';
const website = ['company_website'];

test.each<[string, Operation, INodeParameters, Call[], object[]]>([
	[
		'Find Business',
		FIND,
		person,
		[
			post('/email/find', { firstName: 'Ann', lastName: 'Sure', company: 'acme.com' }),
			post('/email/find', { firstName: 'Bob', lastName: 'High', company: 'acme.com' }),
			post('/email/find', { firstName: 'Dan', lastName: 'Low', company: 'x.org', linkedinUrl }),
		],
		[
			found('ann.sure@acme.com', 0.97, 'very_high', website),
			found('bob.high@acme.com', 0.8, 'high', website),
			found('dan.low@x.org', 0.3, 'low', ['linkedin', ...website]),
		],
	],
	[
		'Find Personal',
		PERSONAL,
		{ ...person, options: { location: '={{ $json.place }}' } },
		[
			post('/email/personal', { firstName: 'Ann', lastName: 'Sure' }),
			post('/email/personal', { firstName: 'Bob', lastName: 'High' }),
			post('/email/personal', { firstName: 'Dan', lastName: 'Low', linkedinUrl, location: 'Graz' }),
		],
		[
			found('ann.sure@gmail.com', 0.95, 'very_high'),
			found('bob.high@gmail.com', 0.7, 'high'),
			found('dan.low@gmail.com', 0.2, 'low'),
		],
	],
])('Email: %s sends what is filled in, and gives what was found', async (...row) => {
	const [, operation, parameters, requests, results] = row;
	const { items } = await service.run(operation, parameters, [
		{ first: ' Ann ', last: 'Sure\n', company: 'acme.com' },
		{ first: 'Bob', last: 'High', company: 'acme.com', profile: '', place: 'N/A' },
		{ first: 'Dan', last: 'Low', company: 'x.org', profile: linkedinUrl, place: 'Graz' },
	]);
	service.expectCalls(requests);
	expect(items).toEqual(paired(results));
});

test('Email: Find Business leaves it to the service what it requires, and says what a refused request lacked', async () => {
	sandbox.set({ faults: [{ kind: 'envelope', code: 'INVALID_REQUEST' }] });
	const inputs = [
		{ last: 'Sure', company: 'acme.com' },
		{ first: 'Ann', last: 'Sure', profile: linkedinUrl },
		{ first: 'Ann', last: 'Sure', company: 'acme.com', profile: linkedinUrl },
	];
	const { items } = await service.run(FIND, person, inputs, keepGoing);
	service.expectCalls([
		post('/email/find', { lastName: 'Sure', company: 'acme.com' }),
		post('/email/find', { firstName: 'Ann', lastName: 'Sure', linkedinUrl }),
		post('/email/find', { firstName: 'Ann', lastName: 'Sure', company: 'acme.com', linkedinUrl }),
	]);
	const refused = refusal('INVALID_REQUEST', 'Something went wrong');
	const advice = containing('. The request had no First Name and no LinkedIn URL.');
	expect(items.map(errorOf)).toEqual([
		{ ...refused, missing: ['First Name', 'LinkedIn URL'], advice },
		{ ...refused, missing: ['Company Domain'] },
		refused,
	]);
});

test('Email: Verify gives the verdict on each address', async () => {
	const inputs = ['a@x.com', ' invalid@gmail.com', 'catchall@x.com', 'disposable@x.com'];
	const items = inputs.map((given) => ({ given }));
	const result = await service.run(VERIFY, { email: given }, items);
	service.expectCalls(inputs.map((email) => post('/email/verify', { email: email.trim() })));
	expect(result.items).toEqual(
		paired([
			{ ...verdictOn('a@x.com'), paidCalls: 1 },
			{ ...verdictOn('invalid@gmail.com', 'invalid', { freeProvider: true }), paidCalls: 1 },
			{ ...verdictOn('catchall@x.com', 'catch_all'), paidCalls: 1 },
			{ ...verdictOn('disposable@x.com', 'valid', { disposable: true }), paidCalls: 1 },
		]),
	);
});

describe('Scrape: Start', () => {
	const fields = {
		filters: {
			jobTitles: '={{ $json.titles }}',
			locations: ['={{ $json.places }}', '={{ $json.place }}', ''],
			industries: [],
			companySize: '={{ $json.size }}',
		},
		limit: '={{ $json.limit ?? 50 }}',
	};
	const json = { filtersMode: 'json', filtersJson: given, limit: 50 };

	/** In each row, an item and the filters that are sent for it, beside a limit of 50. */
	test.each<[string, INodeParameters, Array<[input: IDataObject, filters: object]>]>([
		[
			'starts a scrape for each item, with clean values, also where two want the same',
			fields,
			[
				[{ titles: 'CTO\nVP, Sales\r\nCFO' }, { jobTitles: ['CTO', 'VP, Sales', 'CFO'] }],
				[{ titles: ['', ' CTO ', ['CFO\n\n', 'CTO'], 2.5] }, { jobTitles: ['CTO', 'CFO', '2.5'] }],
				[
					{ titles: 7, places: ['A, B', 'C'] },
					{ jobTitles: ['7'], locations: ['A, B', 'C'] },
				],
				[{ places: ['A', 'B'], place: ['A', 'C'] }, { locations: ['A', 'B', 'C'] }],
				[{ size: '1-1' }, { companySize: '1-1' }],
				[{ size: '11 – 50 employees' }, { companySize: '11-50' }],
				[{ size: '1,001-5,000' }, { companySize: '1001-5000' }],
				[{ size: '10001+ employees' }, { companySize: '10001-1000000' }],
				[{ limit: ' 7 ' }, { limit: 7 }],
				[{ titles: null, places: [], place: ' ', size: '' }, {}],
				[{}, {}],
			],
		],
		[
			'cleans JSON in the same way, and the limit in it counts',
			json,
			[
				[{ given: { jobTitles: ' CTO \nCFO', locations: [] } }, { jobTitles: ['CTO', 'CFO'] }],
				[{ given: '{ "limit": 6, "industries": ["IT"] }' }, { limit: 6, industries: ['IT'] }],
				[{ given: {} }, {}],
			],
		],
	])('%s', async (_, parameters, rows) => {
		const inputs = rows.map(([input]) => input);
		const sent = rows.map(([, filters]) => ({ limit: 50, ...filters }));
		const { items } = await service.run(START, parameters, inputs);
		service.expectCalls(sent.map((filters) => post('/start', { filters })));
		const jobs = items.map(({ json }) =>
			sandbox.jobs.find(({ scrapeId }) => scrapeId === json.scrapeId),
		);
		expect(jobs.map((job) => job?.filters)).toEqual(sent);
		const ids = new Set(jobs.map((job) => job?.scrapeId));
		const result = (scrapeId: string | undefined, at: number) => {
			return { scrapeId, status: 'pending', estimatedCredits: sent[at]?.limit };
		};
		expect(items).toEqual(paired([...ids].map(result)));
	});

	test('names in its error those that it started, as the service names them', async () => {
		const datas = [{ scrapeId: '<b>\n1' }, { jobId: 'x' }];
		service.answerWith(async (request) => {
			await until(() => sandbox.requests.length === 3);
			const data = datas[Number(titleIn(request))];
			return data ? success(data) : failure('ODD', 400);
		});
		const titles = ['0', '1', '2'].map((given) => ({ given }));
		const { error } = await service.run(START, { filters: { jobTitles: given } }, titles);
		const ids = 'This execution started 2 scrapes: ‹b› 1, {"jobId":"x"}. ';
		expect(error).toMatchObject({ description: containing(ids) });
	});

	test('starts one in each run of a loop', async () => {
		await service.run(START, {}, [{}, {}], { isInLoop: true });
		const start = post('/start', { filters: { limit: 50 } });
		service.expectCalls([start, start]);
	});

	test.each([
		{ filters: { jobTitles: given } },
		{ filtersMode: 'json', filtersJson: '={{ { jobTitles: $json.given } }}' },
	])('is refused only to an AI agent that sets no filter: %j', async (parameters) => {
		// An agent may send a list as text.
		const inputs = ['', '[]', ' [ ] ', '[""]', '["CTO"]'].map((titles) => ({ given: titles }));
		const byAgent = { isTool: true, ...keepGoing };
		const { items } = await service.run(START, parameters, inputs, byAgent);
		const message =
			'Filters are empty, and an AI agent must set at least one of jobTitles, locations, industries and companySize';
		const facts = { field: 'Filters', outcome: 'notSent', paidCalls: 0 };
		const error = { message, advice: someText, ...facts };
		expect(items.map(errorOf)).toEqual([error, error, error, error, undefined]);
		await service.run(START, parameters, [{ given: '' }]);
		const [cto, anybody] = [{ jobTitles: ['CTO'], limit: 50 }, { limit: 50 }];
		service.expectCalls([cto, anybody].map((filters) => post('/start', { filters })));
	});
});

/** Starts a scrape. @returns an item that holds its ID */
async function started(job: Partial<JobSettings>, limit = 10) {
	sandbox.set({ job });
	const { items } = await service.run(START, { limit }, [{}]);
	return { id: items[0]?.json.scrapeId as string };
}

const NEVER = { durationMs: 24 * 3_600_000 };

/** What the service says of a scrape. */
function statusOf(scrapeId: string, status: string, progress: number, limit: number) {
	const counts = { progress, leadsFound: (limit * progress) / 100, creditsUsed: limit };
	const end = status === 'completed' && { completedAt: someText };
	return { scrapeId, status, ...counts, createdAt: someText, ...end };
}

const polls = () => sandbox.requests.filter(({ path }) => path === '/status');

/** The time between the first and the last poll with this HTTP status. */
function msOfPolls(httpStatus: number): number {
	const times = polls().flatMap(({ status, at }) => (status === httpStatus ? at : []));
	return Math.max(...times) - Math.min(...times);
}

const byId = { scrapeId: '={{ $json.id }}' };

test('Scrape: Get Status asks once for each item, whatever its ID', async () => {
	const running = await started({ ...NEVER, scrapeIdStyle: 'awkward' }, 10);
	const done = await started({ durationMs: 0, scrapeIdStyle: 'string' }, 20);
	const failed = await started({ outcome: 'failed' }, 30);
	const { items } = await service.run(STATUS, byId, [running, done, failed]);
	const requests = [running, done, failed].map(({ id }) => get('/status', { scrapeId: id }));
	service.expectCalls(requests, '/status');
	expect(items).toEqual(
		paired([
			statusOf(running.id, 'pending', 0, 10),
			statusOf(done.id, 'completed', 100, 20),
			statusOf(failed.id, 'failed', 50, 30),
		]),
	);
});

test('Scrape: an ID may be a number, and its letters stay as they are', async () => {
	service.answerWith(({ query }) => success({ scrapeId: 17, status: 'completed', ...query }));
	const { items } = await service.run(STATUS, byId, [{ id: 4711 }, { id: 'Ab8' }]);
	const { items: waited } = await service.run(START_AND_WAIT, {}, [{}, {}]);
	const ids = [...items, ...waited].map(({ json }) => json.scrapeId);
	expect(ids).toEqual(['4711', 'Ab8', '17', '17']);
});

describe('Scrape: Wait Until Finished', () => {
	test.each([
		['NOT_FOUND', 404],
		['INVALID_REQUEST', 400],
	])('gives the end of each scrape; one is unknown: %s', async (unknownScrape, httpStatus) => {
		const [code, match] = [unknownScrape, { bodyIncludes: 'gone' }];
		sandbox.set({ faults: [{ kind: 'envelope', code, message: 'No such scrape', match }] });
		const late = await started({ durationMs: 90_000 }, 10);
		const failing = await started({ durationMs: 10_000, outcome: 'failed' }, 20);
		const endless = await started(NEVER, 30);
		const soon = await started({ durationMs: 5000, outcome: 'completed' }, 40);
		const gone = { id: 'gone' };
		const inputs = [late, failing, endless, soon, gone];
		const parameters = { ...byId, options: { timeout: 2 } };
		const { items } = await service.run(WAIT, parameters, inputs, keepGoing);

		const message = (id: string, end: string) => ({ message: `Scrape ${id} ${end}`, paidCalls: 0 });
		const endlessly = {
			...message(endless.id, 'did not finish within 2 minutes'),
			advice: containing(`"Wait Until Finished" with the scrape ID ${endless.id}.`),
			...statusOf(endless.id, 'pending', 0, 30),
		};
		const failed = {
			...message(failing.id, 'failed'),
			advice: someText,
			...statusOf(failing.id, 'failed', 50, 20),
		};
		const unknown = { ...refusal(unknownScrape, 'No such scrape', httpStatus), scrapeId: 'gone' };
		expect(items).toEqual(
			paired([
				statusOf(late.id, 'completed', 100, 10),
				{ ...failing, error: failed },
				{ ...endless, error: endlessly },
				statusOf(soon.id, 'completed', 100, 40),
				{ ...gone, error: unknown },
			]),
		);
		// A new scrape may not be known at once.
		expect(msOfPolls(httpStatus)).toBeGreaterThanOrEqual(60_000);
		expect(msOfPolls(httpStatus)).toBeLessThan(90_000);
	});

	test('goes on if a gateway answers first, as while the service is restarted', async () => {
		const scrapes = [
			await started({ durationMs: 5000 }, 10),
			await started({ durationMs: 5000 }, 20),
		];
		sandbox.set({ faults: [{ kind: 'html', status: 404, match: { path: '/status', times: 4 } }] });
		const ended = scrapes.map(({ id }, index) => statusOf(id, 'completed', 100, 10 * (index + 1)));
		expect((await service.run(WAIT, byId, scrapes)).items).toEqual(paired(ended));
	});

	test('says why a scrape failed if the service tells it', async () => {
		const status = { status: 'failed', message: '', error: 'The\n<b>source</b> is down' };
		service.answerWith(({ query }) => success({ ...query, ...status }));
		const { items } = await service.run(WAIT, byId, [{ id: 'a' }, { id: 'b' }], keepGoing);
		expect(items.map((item) => errorOf(item)?.message)).toEqual([
			'Scrape a failed: The ‹b›source‹/b› is down',
			'Scrape b failed: The ‹b›source‹/b› is down',
		]);
	});

	test('is given up when the service is out of order for ten minutes', async () => {
		const { id } = await started(NEVER);
		const parameters = { ...byId, options: { timeout: 0 } };
		const running = service.run(WAIT, parameters, [{ id }], keepGoing);
		await until(() => polls().length > 0);
		// Nine minutes, which end with an answer, do not count. Test calls are up to 75 s apart by then.
		for (const minutes of [9, 3, 0]) {
			sandbox.set({ faults: minutes === 3 ? [] : [{ kind: 'html', status: 502 }] });
			await sleep(minutes * 60_000);
		}
		const advice = containing('"Wait Until Finished" with the scrape ID');
		const error = including({ scrapeId: id, advice });
		expect((await running).items).toEqual(paired([{ id, error }]));
		expect(msOfPolls(502)).toBeGreaterThanOrEqual(19 * 60_000);
	});

	// At once, and then at each interval.
	test.each([
		[{}, 5],
		[{ pollInterval: 9 }, 4],
	])('asks every 5 seconds, or in the interval %j', async (options, count) => {
		const starter = { credential: { plan: 'starter' } };
		// Four scrapes at once could be asked every 12 seconds each, at 60 requests a minute.
		const ended = await Promise.all([1, 2, 3].map(async () => await started({ durationMs: 0 })));
		await service.run(WAIT, byId, ended, starter);
		const before = polls().length;
		await service.run(WAIT, { ...byId, options }, [await started({ durationMs: 19_000 })], starter);
		expect(polls()).toHaveLength(before + count);
	});

	test('ends at its Timeout, however long the interval is', async () => {
		const scrapes = [await started(NEVER), await started(NEVER)];
		const since = Date.now();
		const parameters = { ...byId, options: { pollInterval: 600, timeout: 1 } };
		await service.run(WAIT, parameters, scrapes, keepGoing);
		expect(Date.now() - since).toBeLessThan(5 * 60_000);
	});

	test('ends at once when another item fails', async () => {
		const failing = await started({ durationMs: 0, outcome: 'failed' });
		const scrapes = [await started(NEVER), failing];
		const parameters = { ...byId, options: { pollInterval: 600 } };
		const since = Date.now();
		const { error } = await service.run(WAIT, parameters, scrapes);
		expect(error).toMatchObject({ message: `Scrape ${failing.id} failed` });
		expect(Date.now() - since).toBeLessThan(60_000);
	});

	test('ends with Stop', async () => {
		const scrapes = [await started(NEVER), await started(NEVER)];
		const parameters = { ...byId, options: { pollInterval: 600 } };
		await service.runUntil(() => polls().length === 2, WAIT, parameters, scrapes);
		await sleep(3_600_000);
		expect(polls()).toHaveLength(2);
	});
});

describe('Scrape: Start and Wait', () => {
	const inputs = [
		{ title: 'CTO', limit: 10 },
		{ title: 'CFO', limit: 20 },
	];
	const parameters = {
		filters: { jobTitles: ['={{ $json.title }}'] },
		limit: '={{ $json.limit }}',
	};
	const starts = inputs.map(({ title, limit }) => ({ filters: { jobTitles: [title], limit } }));
	/** The ID of the scrape with this limit. */
	const idOf = (limit: number) => sandbox.jobs.find((job) => job.limit === limit)?.scrapeId ?? '';
	const completed = () => inputs.map(({ limit }) => statusOf(idOf(limit), 'completed', 100, limit));

	test('sends a webhook URL, and gives the fields of the start and of the last status', async () => {
		sandbox.set({ job: { durationMs: 12_000 }, extraFields: true });
		const options = { webhookUrl: '=http://127.0.0.1:9/{{ $json.limit }}?a=b' };
		const { items } = await service.run(START_AND_WAIT, { ...parameters, options }, inputs);
		const [cto, cfo] = starts;
		service.expectCalls(
			[
				post('/start', { ...cto, webhookUrl: 'http://127.0.0.1:9/10?a=b' }),
				post('/start', { ...cfo, webhookUrl: 'http://127.0.0.1:9/20?a=b' }),
			],
			'/start',
		);
		const [one, two] = completed();
		expect(items).toEqual(
			paired([
				{ estimatedCredits: 10, ...one, requestId: someText },
				{ estimatedCredits: 20, ...two, requestId: someText },
			]),
		);
	});

	test('is an error with the ID to wait for if polls are refused for a minute', async () => {
		const match = { path: '/status' };
		sandbox.set({ faults: [{ kind: 'envelope', code: 'BROKEN', match }] });
		const { items } = await service.run(START_AND_WAIT, parameters, inputs, keepGoing);
		const refused = { ...refusal('BROKEN', 'Something went wrong'), paidCalls: 1 };
		const failed = inputs.map((input) => {
			const scrapeId = idOf(input.limit);
			return { ...input, error: { ...refused, scrapeId, advice: containing(scrapeId) } };
		});
		expect(items).toEqual(paired(failed));
		expect(msOfPolls(400)).toBeGreaterThanOrEqual(60_000);
		expect(msOfPolls(400)).toBeLessThan(120_000);
	});

	test('is an error with the ID if the run ends meanwhile, and the scrape counts as started', async () => {
		// The other scrape is asked for later.
		service.answerWith((request) => {
			const { scrapeId } = request.query;
			if (scrapeId === 'CTO') return failure('UNAUTHORIZED', 401);
			return success({ scrapeId: scrapeId ?? titleIn(request), status: 'pending' });
		});
		const options = { pollInterval: '={{ $json.limit === 10 ? 5 : 300 }}' };
		const given = { ...parameters, options };
		const { items } = await service.run(START_AND_WAIT, given, inputs, keepGoing);
		const advice = containing('with the scrape ID');
		expect(items.map(errorOf)).toEqual([
			including({ scrapeId: 'CTO', code: 'UNAUTHORIZED', httpStatus: 401, advice }),
			{
				message: 'The status of scrape CFO is not known: the service does not accept the API key',
				...{ scrapeId: 'CFO', advice, paidCalls: 1 },
			},
		]);
	});

	test.each<[string, FaultRule]>([
		['is out of order', { kind: 'html', status: 502 }],
		['cuts the connection', { kind: 'resetBeforeWork' }],
		['does not know the scrape yet', { kind: 'envelope', code: 'NOT_FOUND' }],
		['is behind a firewall', { kind: 'html', status: 403 }],
	])('asks again, and starts nothing again, while the service %s', async (_, fault) => {
		const match = { path: '/status', times: 6 };
		sandbox.set({ job: { durationMs: 0 }, faults: [{ ...fault, match }] });
		const { items } = await service.run(START_AND_WAIT, parameters, inputs);
		const requests = starts.map((body) => post('/start', body));
		service.expectCalls(requests, '/start');
		expect(polls()).toHaveLength(6 + inputs.length);
		expect(items.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
	});
});
