import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { FaultRule, JobSettings } from '../lab/sandbox/settings';
import { containing, found, including, paired, someText, verdictOn } from './expected';
import {
	BALANCE,
	FIND,
	PERSONAL,
	START,
	START_AND_WAIT,
	STATUS,
	VERIFY,
	WAIT,
	get,
	keepGoing,
	person,
	post,
	success,
	type Call,
	type Operation,
} from './given';
import { sleep, until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

const value = '={{ $json.value }}';
const ann = { first: 'Ann', last: 'Sure', company: 'acme.com' };

/** The incoming fields and the error of a parameter that can only be wrong. */
function inputError(input: object, error: string, field: string) {
	const facts = { field, outcome: 'notSent', paidCalls: 0 };
	return { ...input, error: { message: error, advice: someText, ...facts } };
}

/** The error of an item whose request the service refuses. */
function refusal(code: string, text: string, httpStatus = 400) {
	const message = `The service says: ${text} (${code})`;
	return { message, advice: someText, outcome: 'refused', code, httpStatus, paidCalls: 0 };
}

/** An item, the request that it leads to, if any, and what comes out for it. */
type Row = [input: IDataObject, request: Call | undefined, output: object];

/** Runs the inputs as the items of one run; there must be no other requests. */
async function expectRows(operation: Operation, parameters: INodeParameters, rows: Row[]) {
	const inputs = rows.map(([input]) => input);
	const { items } = await service.run(operation, parameters, inputs, keepGoing);
	service.expectCalls(rows.flatMap(([, request]) => request ?? []));
	expect(items).toEqual(paired(rows.map(([, , output]) => output)));
}

test('Credit: Get gives every item the balance of the account, which each run reads once', async () => {
	const balance = { credits: 100_000, plan: 'enterprise', resetDate: '2030-01-01T00:00:00.000Z' };
	for (const calls of [[get('/credits')], [get('/credits'), get('/credits')]]) {
		const { items } = await service.run(BALANCE, {}, [{ a: 1 }, { a: 2 }, { a: 3 }]);
		expect(items).toEqual(paired([balance, balance, balance]));
		service.expectCalls(calls);
	}
});

describe('Email: Find Business', () => {
	const find = (firstName: string, lastName: string, others: object = {}) =>
		post('/email/find', { firstName, lastName, company: 'acme.com', ...others });

	test('sends what is filled in and gives what was found', async () => {
		const website = ['company_website'];
		const wrong = { ...ann, company: 'Acme' };
		const message = 'Company Domain must be a domain, but is "Acme"';

		await expectRows(FIND, person, [
			[
				{ first: ' Ann ', last: 'Sure\n', company: 'acme.com' },
				find('Ann', 'Sure'),
				found('ann.sure@acme.com', 0.97, 'very_high', website),
			],
			[
				{ first: 'Bob', last: 'High', company: 'acme.com', profile: '' },
				find('Bob', 'High'),
				found('bob.high@acme.com', 0.8, 'high', website),
			],
			[wrong, undefined, inputError(wrong, message, 'Company Domain')],
			[
				{ first: 'Dan', last: 'Low', company: 'x.org', profile: 'linkedin.com/in/dan' },
				find('Dan', 'Low', { company: 'x.org', linkedinUrl: 'https://linkedin.com/in/dan' }),
				found('dan.low@x.org', 0.3, 'low', ['linkedin', ...website]),
			],
		]);
	});

	test('leaves it to the service what else is required', async () => {
		service.sandbox.set({ faults: [{ kind: 'envelope', code: 'INVALID_REQUEST' }] });
		const profile = 'https://linkedin.com/in/ann';
		const sure = { lastName: 'Sure' };
		const refused = (given: object, body: object, missing: string[]): Row => {
			const input = { ...ann, ...given };
			const advice = containing(`. The request had no ${missing.join(' and no ')}.`);
			const error = { ...refusal('INVALID_REQUEST', 'Something went wrong'), missing, advice };
			return [input, post('/email/find', body), { ...input, error }];
		};
		await expectRows(FIND, person, [
			refused({ first: '' }, { ...sure, company: 'acme.com' }, ['First Name', 'LinkedIn URL']),
			refused({ company: '', profile }, { ...sure, firstName: 'Ann', linkedinUrl: profile }, [
				'Company Domain',
			]),
		]);
	});
});

test('Email: Find Personal sends what is filled in and gives what was found', async () => {
	const find = (firstName: string, lastName: string, others: object = {}) =>
		post('/email/personal', { firstName, lastName, ...others });
	const linkedinUrl = 'https://linkedin.com/in/ann';

	await expectRows(PERSONAL, { ...person, options: { location: '={{ $json.place }}' } }, [
		[
			{ first: 'Ann', last: 'Sure', profile: 'linkedin.com/in/ann' },
			find('Ann', 'Sure', { linkedinUrl }),
			found('ann.sure@gmail.com', 0.95, 'very_high'),
		],
		[
			{ first: ' Bob', last: 'High ', profile: '', place: '' },
			find('Bob', 'High'),
			found('bob.high@gmail.com', 0.7, 'high'),
		],
		[
			{ first: 'Dan', last: 'Low', profile: linkedinUrl, place: 'Graz, Styria' },
			find('Dan', 'Low', { linkedinUrl, location: 'Graz, Styria' }),
			found('dan.low@gmail.com', 0.2, 'low'),
		],
	]);
});

test('Email: Verify gives the verdict on each address, and sends nothing for what is none', async () => {
	const verdict = (address: string, email: string, ...verdict: [string, object?]): Row => [
		{ value: address },
		post('/email/verify', { email }),
		{ ...verdictOn(email, ...verdict), paidCalls: 1 },
	];
	const error = 'Email must be one email address, but is "ann"';

	await expectRows(VERIFY, { email: value }, [
		verdict('valid@acme.com', 'valid@acme.com', 'valid'),
		verdict('  invalid@gmail.com\n', 'invalid@gmail.com', 'invalid', { freeProvider: true }),
		[{ value: 'ann' }, undefined, inputError({ value: 'ann' }, error, 'Email')],
		verdict('mailto:catchall@beta.io?subject=Hello', 'catchall@beta.io', 'catch_all'),
		verdict('Unknown.Person@Beta.io', 'Unknown.Person@Beta.io', 'unknown'),
		verdict('disposable@mailinator.com', 'disposable@mailinator.com', 'valid', {
			disposable: true,
		}),
	]);
});

describe('Scrape: Start', () => {
	/** Runs Start for each item; gives the `filters` sent, in the order of the items. */
	async function filtersSent(parameters: INodeParameters, items: IDataObject[]) {
		const result = await service.run(START, parameters, items);
		expect(result.items).toHaveLength(items.length);
		return result.items.map(({ json }) => {
			const job = sandbox.jobs.find(({ scrapeId }) => scrapeId === json.scrapeId);
			const { scrapeId, limit: estimatedCredits } = job ?? {};
			expect(json).toEqual({ scrapeId, status: 'pending', estimatedCredits });
			return job?.filters;
		});
	}

	test('is refused only to an AI agent that sets no filter', async () => {
		const items = [{ value: '' }, { value: 'CTO' }];
		const parameters = { filters: { jobTitles: value } };
		const started = () => sandbox.jobs.map(({ filters }) => String(filters.jobTitles));
		const byAgent = { isTool: true, ...keepGoing };
		const result = await service.run(START, parameters, items, byAgent);
		const message =
			'Filters are empty, and an AI agent must set at least one of jobTitles, locations, industries and companySize';
		expect(result.items.map(({ json }) => json.error)).toEqual([
			inputError({}, message, 'Filters').error,
			undefined,
		]);
		expect(started()).toEqual(['CTO']);

		await service.run(START, parameters, items);
		expect(started().toSorted()).toEqual(['CTO', 'CTO', 'undefined']);
	});

	test('starts one scrape for each item, also where all want the same', async () => {
		const filters = {
			jobTitles: ['Head of Sales', 'CTO'],
			locations: ['Austin, Texas', 'Graz, Styria'],
			industries: ['Software'],
			companySize: '11-50',
		};
		const items = [{ n: 1 }, { n: 2 }, { n: 3 }];
		await filtersSent({ filters, limit: 10 }, items);

		service.expectCalls(items.map(() => post('/start', { filters: { ...filters, limit: 10 } })));
	});

	/** What the field with the expression is given, and the filters that are sent for it. */
	type Sent = [string, INodeParameters, Array<[given: IDataObject[string], filters: object]>];
	const lists: Array<[given: IDataObject[string], list?: string[]]> = [
		['CTO\nVP, Sales\r\nCFO', ['CTO', 'VP, Sales', 'CFO']],
		[
			['', ' CTO ', '\n', ['CFO\n\n', 'CTO'], null, 2.5],
			['CTO', 'CFO', '2.5'],
		],
		[7, ['7']],
		[null],
		[[]],
		[' '],
	];
	const blank = { jobTitles: [], locations: [''], industries: [value], companySize: '' };
	const json = { filtersMode: 'json', limit: 20 };
	test.each<Sent>([
		[
			'an expression for the whole list may give anything',
			{ filters: { jobTitles: value } },
			lists.map(([given, list]) => [given, { ...(list && { jobTitles: list }), limit: 50 }]),
		],
		[
			'an expression in a field of the list may give a list',
			{ filters: { jobTitles: ['First, of all', value, 'Last'] } },
			lists.map(([given, list = []]) => [
				given,
				{ jobTitles: ['First, of all', ...list, 'Last'], limit: 50 },
			]),
		],
		[
			'a limit may be text',
			{ limit: value },
			[1, ' 7 '].map((given) => [given, { limit: Number(given) }]),
		],
		['blanks are not sent', { filters: blank }, [null, ''].map((given) => [given, { limit: 50 }])],
		[
			'JSON is cleaned as fields are, and its own limit counts',
			{ ...json, filtersJson: value },
			[
				[
					{ jobTitles: ' CTO \nCFO', locations: [], companySize: '' },
					{ jobTitles: ['CTO', 'CFO'], limit: 20 },
				],
				[{}, { limit: 20 }],
				['{ "limit": 6, "industries": ["Software"] }', { limit: 6, industries: ['Software'] }],
			],
		],
	])('%s', async (_, parameters, rows) => {
		const items = rows.map(([given]) => ({ value: given }));
		expect(await filtersSent(parameters, items)).toEqual(rows.map(([, filters]) => filters));
	});
});

interface Scrape extends IDataObject {
	id: string;
}

/**
 * Starts three jobs, with limits of 10, 20 and 30; gives the items that hold their identifiers.
 * @param durationsMs of each; by default they do not end by themselves
 */
async function startThree(
	job: Partial<JobSettings> = {},
	durationsMs: number[] = [],
): Promise<[Scrape, Scrape, Scrape]> {
	const start = async (place: number) => {
		const durationMs = durationsMs[place - 1] ?? 600_000;
		sandbox.set({ job: { durationMs, ...job } });
		return { id: await service.startJob({ limit: 10 * place }) };
	};
	return [await start(1), await start(2), await start(3)];
}

/** What the service says of a job, which must have this status by now. */
function statusOf(scrapeId: string, status = 'completed') {
	const job = sandbox.jobs.find((candidate) => candidate.scrapeId === scrapeId);
	if (!job) throw new Error(`There is no job ${scrapeId}`);
	const { progress, leadsFound, creditsUsed, createdAt, endsAt } = job;
	return {
		...{ scrapeId, status, progress, leadsFound, creditsUsed },
		createdAt: new Date(createdAt).toISOString(),
		...(status === 'completed' && { completedAt: new Date(endsAt).toISOString() }),
	};
}

/** The items for scrapes that must have these statuses by now. */
function withStatus(scrapes: Scrape[], ...statuses: string[]) {
	return paired(scrapes.map(({ id }, index) => statusOf(id, statuses[index])));
}

/** The polls sent for each scrape; all requests must be polls or those of `startThree`. */
function polls(): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { method, path, query, body } of sandbox.requests) {
		if (path === '/start') continue;
		const id = String(query.scrapeId);
		expect({ method, path, query, body }).toEqual(get('/status', { scrapeId: id }));
		counts[id] = (counts[id] ?? 0) + 1;
	}
	return counts;
}

/** The time between the first and the last request with this answer, in milliseconds. */
function msOfPolls(status: number): number {
	const times = sandbox.requests.filter((each) => each.status === status).map(({ at }) => at);
	return Math.max(...times) - Math.min(...times);
}

const waitFor = (options: INodeParameters = {}) => ({
	scrapeId: '={{ $json.id }}',
	options,
});

describe('Scrape: Get Status', () => {
	test('asks once for each item', async () => {
		const scrapes = await startThree();
		sandbox.finish(scrapes[1].id, 'completed');
		sandbox.finish(scrapes[2].id, 'failed');
		const { items } = await service.run(STATUS, waitFor(), scrapes);

		expect(items).toEqual(withStatus(scrapes, 'pending', 'completed', 'failed'));
		expect(Object.values(polls())).toEqual([1, 1, 1]);
	});

	test('an awkward scrape ID arrives as it is', async () => {
		const scrapes = await startThree({ durationMs: 0, scrapeIdStyle: 'awkward' });
		const { items } = await service.run(STATUS, waitFor(), scrapes);
		expect(items).toEqual(withStatus(scrapes));
	});

	test('a scrape ID may be a number', async () => {
		service.answerWith(({ query }) => success(query));
		const { items } = await service.run(STATUS, waitFor(), [{ id: 4711 }, { id: 8 }]);
		expect(items).toEqual(paired([{ scrapeId: '4711' }, { scrapeId: '8' }]));
	});
});

describe('Scrape: Wait', () => {
	test('polls until all scrapes are completed', async () => {
		const scrapes = await startThree({}, [60_000, 5000, 30_000]);
		const { items } = await service.run(WAIT, waitFor({ timeout: 0 }), scrapes);

		expect(items).toEqual(withStatus(scrapes));
		expect(items.map(({ json }) => json.leadsFound)).toEqual([10, 20, 30]);
		expect(Object.keys(polls())).toHaveLength(3);
		expect(sandbox.requests.length).toBeGreaterThan(3 + items.length);
	});

	test('a scrape that failed is an error with all that is known of it', async () => {
		const scrapes = await startThree({ durationMs: 10_000 });
		const [one, two, three] = scrapes;
		sandbox.finish(two.id, 'failed');
		const { items } = await service.run(WAIT, waitFor(), scrapes, keepGoing);

		const known = { ...statusOf(two.id, 'failed'), leadsFound: 10, progress: 50 };
		const says = { message: `Scrape ${two.id} failed`, advice: someText };
		const error = { ...known, ...says, paidCalls: 0 };
		expect(items).toEqual(paired([statusOf(one.id), { ...two, error }, statusOf(three.id)]));
	});

	test('time running out is an error that says how to go on', async () => {
		const scrapes = await startThree();
		const [one, two, three] = scrapes;
		sandbox.finish(one.id, 'completed');
		const late = await service.run(WAIT, waitFor({ timeout: 1 }), scrapes, keepGoing);

		const timedOut = ({ id }: Scrape) => ({
			id,
			error: {
				...statusOf(id, 'pending'),
				progress: 0,
				message: `Scrape ${id} did not finish within 1 minute`,
				advice: containing('To wait longer, use "Wait'),
				paidCalls: 0,
			},
		});
		expect(late.items).toEqual(paired([statusOf(one.id), timedOut(two), timedOut(three)]));
	});

	test('is given up when the service is out of order for ten minutes', async () => {
		const scrapes = await startThree();
		const running = service.run(WAIT, waitFor({ timeout: 0 }), scrapes, keepGoing);
		await until(() => scrapes.every(({ id }) => id in polls()));
		sandbox.set({ faults: [{ kind: 'html', status: 502 }] });
		const { items } = await running;

		const advice = containing('"Wait Until Finished" with the scrape ID');
		const errorOf = (scrapeId: string) => including({ scrapeId, advice });
		expect(items).toEqual(paired(scrapes.map(({ id }) => ({ id, error: errorOf(id) }))));
		expect(msOfPolls(502)).toBeGreaterThanOrEqual(10 * 60_000);
	});

	test.each([
		['NOT_FOUND', 404],
		['INVALID_REQUEST', 400],
	])(
		'an unknown scrape is an error after a minute, and keeps the ID: %s',
		async (code, httpStatus) => {
			sandbox.set({ faults: [{ kind: 'envelope', code, message: 'No such scrape' }] });
			const inputs = [{ id: 'gone-1' }, { id: 'gone-2' }];
			const { items } = await service.run(WAIT, waitFor(), inputs, keepGoing);

			const error = refusal(code, 'No such scrape', httpStatus);
			const gone = ({ id }: Scrape) => ({ id, error: { ...error, scrapeId: id } });
			expect(items).toEqual(paired(inputs.map(gone)));
			expect(msOfPolls(httpStatus)).toBeGreaterThanOrEqual(60_000);
			expect(msOfPolls(httpStatus)).toBeLessThan(5 * 60_000);
		},
	);

	test('polls as often as before when other scrapes have ended', async () => {
		const starter = { credential: { plan: 'starter' } };
		await service.run(WAIT, waitFor(), await startThree({ durationMs: 0 }, [0, 0, 0]), starter);
		sandbox.set({ job: { durationMs: 19_000 } });
		const id = await service.startJob();
		await service.run(WAIT, waitFor(), [{ id }], starter);
		// At once, and every 5 seconds. At 60 requests a minute, four scrapes take 12 seconds.
		expect(polls()[id]).toBe(5);
	});

	test('ends with Stop', async () => {
		const scrapes = await startThree();
		const areAsked = () => scrapes.every(({ id }) => id in polls());
		await service.runUntil(areAsked, WAIT, waitFor({ pollInterval: 600 }), scrapes);

		const before = sandbox.requests.length;
		await sleep(3_600_000);
		expect(sandbox.requests).toHaveLength(before);
	});
});

test('Scrape: Start takes a range as Company Size, also as people write it', async () => {
	const sizes: Array<[given: string, sent: string]> = [
		['51-200', '51-200'],
		['5-75', '5-75'],
		['11 – 50 employees', '11-50'],
		['1,001-5,000', '1001-5000'],
		['10,001+', '10001-1000000'],
		['10001+ employees', '10001-1000000'],
	];
	const parameters = { filters: { companySize: '={{ $json.size }}' }, limit: 1 };
	await service.run(
		START,
		parameters,
		sizes.map(([size]) => ({ size })),
	);
	service.expectCalls(
		sizes.map(([, companySize]) => post('/start', { filters: { companySize, limit: 1 } })),
	);
});

describe('Scrape: Start and Wait', () => {
	const inputs = [
		{ title: 'CTO', limit: 10 },
		{ title: 'CFO', limit: 20 },
		{ title: 'CEO', limit: 30 },
	];
	const withOptions = (options: INodeParameters = {}) => ({
		filters: { jobTitles: ['={{ $json.title }}'] },
		limit: '={{ $json.limit }}',
		options,
	});
	const idOf = ({ title }: { title: string }) =>
		sandbox.jobs.find(({ filters }) => filters.jobTitles?.[0] === title)?.scrapeId ?? '';
	const completed = (others: object = {}) =>
		paired(
			inputs.map((input) => {
				return { estimatedCredits: input.limit, ...statusOf(idOf(input)), ...others };
			}),
		);
	const expectStarts = (more: (title: string) => object = () => ({})) => {
		const starts = inputs.map(({ title, limit }) =>
			post('/start', { filters: { jobTitles: [title], limit }, ...more(title) }),
		);
		service.expectCalls(starts, '/start');
	};

	test('sends a webhook URL, and gives the fields of the start and of the last status', async () => {
		sandbox.set({ job: { durationMs: 12_000 }, extraFields: true });
		const webhookUrl = '=http://127.0.0.1:9/hook/{{ $json.title }}';
		const { items } = await service.run(START_AND_WAIT, withOptions({ webhookUrl }), inputs);

		expectStarts((title) => ({ webhookUrl: `http://127.0.0.1:9/hook/${title}` }));
		const requestId: unknown = expect.stringMatching(/^req_\d+$/);
		expect(items).toEqual(completed({ requestId }));
		expect(Object.keys(polls())).toHaveLength(3);
	});

	test('is an error with the ID to wait for if a poll is refused', async () => {
		const match = { path: '/status' };
		sandbox.set({ faults: [{ kind: 'envelope', code: 'BROKEN', match }] });
		const { items } = await service.run(START_AND_WAIT, withOptions(), inputs, keepGoing);

		const errorWith = (scrapeId: string) => ({
			...refusal('BROKEN', 'Something went wrong'),
			scrapeId,
			advice: containing(scrapeId),
			paidCalls: 1,
		});
		const failed = inputs.map((input) => ({ ...input, error: errorWith(idOf(input)) }));
		expect(items).toEqual(paired(failed));

		sandbox.set({ faults: [] });
		for (const { scrapeId } of sandbox.jobs) sandbox.finish(scrapeId, 'completed');
		const parameters = { scrapeId: '={{ $json.error.scrapeId }}' };
		const later = await service.run(WAIT, parameters, failed);
		expect(later.items).toEqual(paired(inputs.map((input) => statusOf(idOf(input)))));
		expectStarts();
	});

	test.each<[string, FaultRule]>([
		['is out of order', { kind: 'html', status: 502 }],
		['cuts the connection', { kind: 'resetBeforeWork' }],
		['does not know the scrape yet', { kind: 'envelope', code: 'NOT_FOUND' }],
	])('asks again after the interval while the service %s', async (_, fault) => {
		const times = 6;
		sandbox.set({
			job: { durationMs: 0 },
			faults: [{ ...fault, match: { path: '/status', times } }],
		});
		const { items } = await service.run(START_AND_WAIT, withOptions(), inputs);

		expectStarts();
		expect(items).toEqual(completed());
		const all = Object.values(polls()).reduce((sum, number) => sum + number);
		expect(all).toBe(times + inputs.length);
	});
});

describe('Fields of the result', () => {
	const address = { email: '={{ $json.email }}' };
	const inputs = ['valid@acme.com', 'invalid@acme.com', 'broken@acme.com', 'unknown@beta.io'].map(
		(email, index) => ({ id: index + 1, email, status: 'new', note: { a: [1] } }),
	);
	const verdicts = inputs.map(({ email }) => {
		return { ...verdictOn(email, email.split('@')[0]), paidCalls: 1 };
	});

	test.each<[INodeParameters, (input: object, verdict: object) => object]>([
		[{}, (_input, verdict) => verdict],
		[{ includeInput: true }, (input, verdict) => ({ ...input, ...verdict })],
		[{ resultField: ' leadgen ' }, (_input, leadgen) => ({ leadgen })],
		[{ resultField: 'check', includeInput: true }, (input, check) => ({ ...input, check })],
	])('options %j shape results and plans, and no errors', async (options, shape) => {
		const dryRun = { ...options, dryRun: true };
		const plan = await service.run(VERIFY, { ...address, options: dryRun }, inputs);
		const request = { dryRun: true, call: 'new', path: '/email/verify', mayFollow: 0 };
		expect(plan.items).toEqual(
			paired(inputs.map((input) => shape(input, { ...request, request: { email: input.email } }))),
		);
		service.expectCalls([]);
		const match = { bodyIncludes: 'broken' };
		sandbox.set({ faults: [{ kind: 'envelope', code: 'BROKEN', match }] });
		// The address is what was asked for. The status is an old one, unless results have a field of their own.
		const { status, ...asked } = inputs[2] ?? {};
		const kept = options.resultField ? { ...asked, status } : asked;
		const shaped = inputs.map((input, index) => shape(input, verdicts[index] ?? {}));
		const broken = { ...kept, error: refusal('BROKEN', 'Something went wrong') };

		const { items } = await service.run(VERIFY, { ...address, options }, inputs, keepGoing);
		expect(items).toEqual(paired(shaped.with(2, broken)));
		service.expectCalls(inputs.map(({ email }) => post('/email/verify', { email })));
	});

	test('the options of the first item count for all items', async () => {
		const options = { resultField: '=result{{ $json.id }}', includeInput: '={{ $json.id > 1 }}' };
		const { items } = await service.run(VERIFY, { ...address, options }, inputs.slice(0, 2));
		expect(items).toEqual(paired([{ result1: verdicts[0] }, { result1: verdicts[1] }]));
	});

	test.each([true, false])('files stay with the input fields: %s', async (includeInput) => {
		const binary = { cv: { data: 'aGVsbG8=', mimeType: 'text/plain', fileName: 'hello.txt' } };
		const parameters = { ...address, options: { includeInput } };
		const { items } = await service.run(VERIFY, parameters, inputs, { binary });
		expect(items.map((item) => item.binary)).toEqual(
			inputs.map(() => (includeInput ? binary : undefined)),
		);
	});
});
