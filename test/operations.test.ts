import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { FaultRule, JobSettings } from '../lab/sandbox/settings';
import { get, paired, post, sleep, until, useService } from './service';

const service = useService();
const { sandbox } = service;

const CREDIT = ['credit', 'get'] as const;
const BUSINESS = ['email', 'findBusiness'] as const;
const PERSONAL = ['email', 'findPersonal'] as const;
const VERIFY = ['email', 'verify'] as const;
const START = ['scrape', 'start'] as const;
const STATUS = ['scrape', 'getStatus'] as const;
const WAIT = ['scrape', 'wait'] as const;
const START_AND_WAIT = ['scrape', 'startAndWait'] as const;

/** A person from the fields of the item; fields that the item lacks are empty. */
const person = {
	firstName: '={{ $json.first }}',
	lastName: '={{ $json.last }}',
	company: '={{ $json.company }}',
};
const keepGoing = { onError: 'continueRegularOutput' } as const;
const someText: unknown = expect.stringMatching(/\S/);

/** The incoming fields and the error of a parameter that can only be wrong. */
function inputError(input: object, error: string, field: string) {
	return { ...input, error: { message: error, advice: someText, field } };
}

describe('Credit: Get', () => {
	test('gives every item the balance of the account, which it reads once', async () => {
		const { items } = await service.run(CREDIT, {}, [{ a: 1 }, { a: 2 }, { a: 3 }]);

		const balance = { credits: 100_000, plan: 'enterprise', resetDate: '2030-01-01T00:00:00.000Z' };
		expect(items).toEqual(paired([balance, balance, balance]));
		// One answer serves all items.
		service.expectCalls([get('/credits')]);
	});
});

describe('Email: Find Business', () => {
	test('sends what is filled in and gives what was found', async () => {
		const { items } = await service.run(
			BUSINESS,
			{ ...person, linkedinUrl: '={{ $json.profile }}' },
			[
				{ first: ' Ann ', last: 'Sure\n', company: 'acme.com' },
				{ first: 'Bob', last: 'High', company: 'acme.com', profile: '' },
				{ first: 'Cid', last: 'Medium', company: 'beta.io', profile: '  ' },
				{ first: 'Dan', last: 'Low', company: 'x.org', profile: 'linkedin.com/in/dan' },
			],
		);

		service.expectCalls([
			post('/email/find', { firstName: 'Ann', lastName: 'Sure', company: 'acme.com' }),
			post('/email/find', { firstName: 'Bob', lastName: 'High', company: 'acme.com' }),
			post('/email/find', { firstName: 'Cid', lastName: 'Medium', company: 'beta.io' }),
			post('/email/find', {
				firstName: 'Dan',
				lastName: 'Low',
				company: 'x.org',
				linkedinUrl: 'https://linkedin.com/in/dan',
			}),
		]);
		expect(items).toEqual(
			paired([
				{
					found: true,
					email: 'ann.sure@acme.com',
					confidence: 0.97,
					sources: ['company_website'],
					confidenceLevel: 'very_high',
				},
				{
					found: true,
					email: 'bob.high@acme.com',
					confidence: 0.78,
					sources: ['company_website'],
					confidenceLevel: 'high',
				},
				{
					found: true,
					email: 'cid.medium@beta.io',
					confidence: 0.66,
					sources: ['company_website'],
					confidenceLevel: 'medium',
				},
				{
					found: true,
					email: 'dan.low@x.org',
					confidence: 0.47,
					sources: ['linkedin', 'company_website'],
					confidenceLevel: 'low',
				},
			]),
		);
	});

	test('cuts pasted addresses down to the domain', async () => {
		const domains = {
			'acme.com': 'acme.com',
			'ACME.Com': 'acme.com',
			'  acme.com\t': 'acme.com',
			'acme.com.': 'acme.com',
			'www.acme.com': 'acme.com',
			'WWW.Acme.com/about': 'acme.com',
			'https://acme.com': 'acme.com',
			'https://www.acme.com/team?tab=1#top': 'acme.com',
			'http://acme.com:8080/': 'acme.com',
			'acme.com:443': 'acme.com',
			'shop.acme.co.uk/a/b': 'shop.acme.co.uk',
			'https://notlinkedin.com/team': 'notlinkedin.com',
			'www.linkedin.com': 'linkedin.com',
			'ann@acme.com': 'acme.com',
			'www.com': 'www.com',
			'bücher.example': 'xn--bcher-kva.example',
		};
		const given = Object.keys(domains);
		const { items } = await service.run(
			BUSINESS,
			person,
			given.map((company, index) => ({ first: `N${String(index)}`, last: 'Sure', company })),
		);

		service.expectCalls(
			Object.values(domains).map((company, index) =>
				post('/email/find', { firstName: `N${String(index)}`, lastName: 'Sure', company }),
			),
		);
		expect(items.map(({ json }) => json.found)).toEqual(given.map(() => true));
	});

	test('sends profile addresses as they are, with a scheme', async () => {
		const profiles = {
			'https://www.linkedin.com/in/ann': 'https://www.linkedin.com/in/ann',
			'http://linkedin.com/in/ann?trk=a': 'http://linkedin.com/in/ann?trk=a',
			' linkedin.com/in/Ann/ ': 'https://linkedin.com/in/Ann/',
			'HTTPS://linkedin.com/in/ann': 'HTTPS://linkedin.com/in/ann',
		};
		await service.run(
			BUSINESS,
			{ ...person, linkedinUrl: '={{ $json.profile }}' },
			Object.keys(profiles).map((profile, index) => ({
				first: `N${String(index)}`,
				last: 'Sure',
				company: 'acme.com',
				profile,
			})),
		);

		service.expectCalls(
			Object.values(profiles).map((linkedinUrl, index) =>
				post('/email/find', {
					firstName: `N${String(index)}`,
					lastName: 'Sure',
					company: 'acme.com',
					linkedinUrl,
				}),
			),
		);
	});

	test('refuses what can only be wrong before anything is sent', async () => {
		const good = { first: 'Ann', last: 'Sure', company: 'acme.com', profile: '' };
		const noDomain = (text: string) => `Company Domain must be a domain, but is "${text}"`;
		const aPage = (text: string) =>
			`Company Domain must be the domain of a company, but "${text}" is a social network`;
		const noPage = (text: string) => `LinkedIn URL must be a URL, but is "${text}"`;
		const cases: Array<[IDataObject, string, string]> = [
			[
				{ first: ' ', last: '' },
				'First Name and Last Name are both empty',
				'First Name and Last Name',
			],
			[{ first: ['Ann'] }, 'First Name must be text, but is ["Ann"]', 'First Name'],
			[{ last: { a: 1 } }, 'Last Name must be text, but is {"a":1}', 'Last Name'],
			[{ company: ' ' }, 'Company Domain is empty', 'Company Domain'],
			...[
				'Acme',
				'Acme Inc',
				'acme inc.com',
				'https://',
				'.com',
				'acme..com',
				'12.5',
				'10.0.0.1',
				'acme.com,acme.de',
			].map((company): [IDataObject, string, string] => [
				{ company },
				noDomain(company),
				'Company Domain',
			]),
			...['https://www.linkedin.com/company/acme', 'linkedin.com/in/ann'].map(
				(company): [IDataObject, string, string] => [{ company }, aPage(company), 'Company Domain'],
			),
			...['not a page', 'ftp://linkedin.com/in/ann', 'javascript://x', 'in/nathan'].map(
				(profile): [IDataObject, string, string] => [{ profile }, noPage(profile), 'LinkedIn URL'],
			),
		];
		const inputs = cases.map(([wrong]) => ({ ...good, ...wrong }));
		const { items } = await service.run(
			BUSINESS,
			{ ...person, linkedinUrl: '={{ $json.profile }}' },
			[...inputs, good],
			keepGoing,
		);

		service.expectCalls([
			post('/email/find', { firstName: 'Ann', lastName: 'Sure', company: 'acme.com' }),
		]);
		expect(items.slice(0, -1)).toEqual(
			paired(cases.map(([wrong, error, field]) => inputError({ ...good, ...wrong }, error, field))),
		);
		expect(items.at(-1)?.json.email).toBe('ann.sure@acme.com');
	});

	test('leaves it to the service what else is required', async () => {
		service.expectViolations();
		const inputs = [
			{ first: 'Ann', last: '', company: 'acme.com', profile: '' },
			{ first: '', last: 'Sure', company: 'acme.com', profile: '' },
			{ first: 'Ann', last: 'Sure', company: '', profile: 'https://linkedin.com/in/ann' },
		];
		const { items } = await service.run(
			BUSINESS,
			{ ...person, linkedinUrl: '={{ $json.profile }}' },
			inputs,
			keepGoing,
		);

		service.expectCalls([
			post('/email/find', { firstName: 'Ann', company: 'acme.com' }),
			post('/email/find', { lastName: 'Sure', company: 'acme.com' }),
			post('/email/find', {
				firstName: 'Ann',
				lastName: 'Sure',
				linkedinUrl: 'https://linkedin.com/in/ann',
			}),
		]);
		expect(items).toEqual(
			paired(
				inputs.map((input) => ({
					...input,
					error: {
						message: expect.stringMatching(/^The service says: .+ \(INVALID_REQUEST\)$/) as unknown,
						advice: someText,
						outcome: 'refused',
						code: 'INVALID_REQUEST',
						httpStatus: 400,
					},
				})),
			),
		);
	});

	test('takes the LinkedIn URL of a workflow of 1.0.0 from the options, unless the field has one', async () => {
		const { items } = await service.run(
			BUSINESS,
			{
				...person,
				linkedinUrl: '={{ $json.profile }}',
				options: { linkedinUrl: '={{ $json.old }}' },
			},
			[
				{ first: 'Ann', last: 'Sure', company: 'acme.com', old: 'linkedin.com/in/ann' },
				{
					first: 'Bob',
					last: 'High',
					company: 'acme.com',
					profile: 'linkedin.com/in/bob',
					old: 'linkedin.com/in/b',
				},
				{ first: 'Cid', last: 'Low', company: 'acme.com', old: 'in/cid' },
			],
			keepGoing,
		);

		service.expectCalls([
			post('/email/find', {
				firstName: 'Ann',
				lastName: 'Sure',
				company: 'acme.com',
				linkedinUrl: 'https://linkedin.com/in/ann',
			}),
			post('/email/find', {
				firstName: 'Bob',
				lastName: 'High',
				company: 'acme.com',
				linkedinUrl: 'https://linkedin.com/in/bob',
			}),
		]);
		expect(items.map(({ json }) => json.email ?? (json.error as IDataObject).message)).toEqual([
			'ann.sure@acme.com',
			'bob.high@acme.com',
			'LinkedIn URL (Deprecated) must be a URL, but is "in/cid"',
		]);
	});
});

describe('Email: Find Personal', () => {
	test('sends what is filled in and gives what was found', async () => {
		const { items } = await service.run(
			PERSONAL,
			{
				firstName: person.firstName,
				lastName: person.lastName,
				linkedinUrl: '={{ $json.profile }}',
				options: { location: '={{ $json.place }}' },
			},
			[
				{ first: 'Ann', last: 'Sure', profile: 'linkedin.com/in/ann' },
				{ first: ' Bob', last: 'High ', profile: '', place: '' },
				{ first: 'Cid', last: 'Medium', place: ' Austin, Texas ' },
				{
					first: 'Dan',
					last: 'Low',
					profile: 'https://linkedin.com/in/dan',
					place: 'Graz, Styria',
				},
			],
		);

		service.expectCalls([
			post('/email/personal', {
				firstName: 'Ann',
				lastName: 'Sure',
				linkedinUrl: 'https://linkedin.com/in/ann',
			}),
			post('/email/personal', { firstName: 'Bob', lastName: 'High' }),
			post('/email/personal', { firstName: 'Cid', lastName: 'Medium', location: 'Austin, Texas' }),
			post('/email/personal', {
				firstName: 'Dan',
				lastName: 'Low',
				linkedinUrl: 'https://linkedin.com/in/dan',
				location: 'Graz, Styria',
			}),
		]);
		expect(items).toEqual(
			paired([
				{ found: true, email: 'asure@outlook.com', confidence: 0.94, confidenceLevel: 'very_high' },
				{ found: true, email: 'bob.high@gmail.com', confidence: 0.77, confidenceLevel: 'high' },
				{
					found: true,
					email: 'cid.medium@hotmail.com',
					confidence: 0.55,
					confidenceLevel: 'medium',
				},
				{ found: true, email: 'dan.low@gmail.com', confidence: 0.41, confidenceLevel: 'low' },
			]),
		);
	});
});

describe('Email: Verify', () => {
	test('gives the verdict on each address', async () => {
		const { items } = await service.run(VERIFY, { email: '={{ $json.address }}' }, [
			{ address: 'valid@acme.com' },
			{ address: '  invalid@gmail.com\n' },
			{ address: 'mailto:catchall@beta.io?subject=Hello' },
			{ address: 'Unknown.Person@Beta.io' },
			{ address: 'disposable@mailinator.com' },
		]);

		const verdict = (email: string, status: string, disposable = false, freeProvider = false) => ({
			email,
			status,
			deliverable: status === 'valid',
			disposable,
			freeProvider,
		});
		const verdicts = [
			verdict('valid@acme.com', 'valid'),
			verdict('invalid@gmail.com', 'invalid', false, true),
			verdict('catchall@beta.io', 'catch_all'),
			verdict('Unknown.Person@Beta.io', 'unknown'),
			verdict('disposable@mailinator.com', 'valid', true),
		];
		service.expectCalls(verdicts.map(({ email }) => post('/email/verify', { email })));
		expect(items).toEqual(paired(verdicts));
	});

	test('refuses what is no address before anything is sent', async () => {
		const wrong = (address: unknown) => [
			address,
			`Email must be one email address, but is ${JSON.stringify(address)}`,
		];
		const cases = [
			[null, 'Email is empty'],
			['  ', 'Email is empty'],
			wrong('ann'),
			wrong('ann@'),
			wrong('Ann<ann@acme.com>'),
			wrong('ann@acme.com,bob@acme.com'),
			wrong('@acme.com'),
			wrong('ann@acme@com'),
			wrong('ann sure@acme.com'),
			wrong('ann@acme.com, bob@acme.com'),
			wrong('Ann <ann@acme.com>'),
			[['ann@acme.com'], 'Email must be text, but is ["ann@acme.com"]'],
		] as Array<[IDataObject[string], string]>;
		const { items } = await service.run(
			VERIFY,
			{ email: '={{ $json.address }}' },
			[...cases.map(([address]) => ({ address })), { address: 'valid@acme.com' }],
			keepGoing,
		);

		service.expectCalls([post('/email/verify', { email: 'valid@acme.com' })]);
		expect(items.slice(0, -1)).toEqual(
			paired(cases.map(([address, error]) => inputError({ address }, error, 'Email'))),
		);
		expect(items.at(-1)?.json.status).toBe('valid');
	});
});

describe('Confidence', () => {
	/** Makes the service answer each person `P0`, `P1`, … with the email and confidence given. */
	function answerWith(answers: object[]): void {
		sandbox.set({
			faults: answers.map((data, index) => ({
				kind: 'status',
				status: 200,
				body: JSON.stringify({ success: true, data }),
				match: { bodyIncludes: `"P${String(index)}"` },
			})),
		});
	}
	const people = (count: number) =>
		Array.from({ length: count }, (_, index) => ({
			first: `P${String(index)}`,
			last: 'X',
			company: 'acme.com',
		}));

	test.each([
		['Business', BUSINESS],
		['Personal', PERSONAL],
	])('%s: each band begins at its lower bound', async (_name, operation) => {
		const bands: Array<[number, string]> = [
			[1, 'very_high'],
			[0.9, 'very_high'],
			[0.8999, 'high'],
			[0.7, 'high'],
			[0.6999, 'medium'],
			[0.5, 'medium'],
			[0.4999, 'low'],
			[0, 'low'],
		];
		const data = bands.map(([confidence]) => ({ email: 'p@acme.com', confidence }));
		answerWith(data);
		const { items } = await service.run(operation, person, people(bands.length));

		expect(items).toEqual(
			paired(
				bands.map(([, confidenceLevel], index) => ({
					found: true,
					...data[index],
					confidenceLevel,
				})),
			),
		);
		expect(sandbox.requests).toHaveLength(bands.length);
	});

	test('a confidence outside the scale has no band', async () => {
		const data = [95, -0.1, 'high', null].map((confidence) => ({
			email: 'p@acme.com',
			confidence,
		}));
		answerWith([...data, { email: 'p@acme.com' }]);
		const { items } = await service.run(BUSINESS, person, people(5));

		expect(items).toEqual(
			paired([...data, { email: 'p@acme.com' }].map((fields) => ({ found: true, ...fields }))),
		);
	});

	test('an empty email is not found, whatever else comes with it', async () => {
		const data = [
			{ email: '', confidence: 0.3, sources: [] },
			{ email: null, reason: 'left the company' },
			{ confidence: 0 },
		];
		answerWith(data);
		const { items } = await service.run(BUSINESS, person, people(3));

		expect(items).toEqual(
			paired([
				{ found: false, email: '', confidence: 0.3, sources: [] },
				{ found: false, email: null, reason: 'left the company' },
				{ found: false, email: null, confidence: 0 },
			]),
		);
	});
});

describe.each([
	['NOT_FOUND with HTTP 404', { notFound: 'error' }, {}],
	['NOT_FOUND with HTTP 200', { notFound: 'error', errorStatus: { NOT_FOUND: 200 } }, {}],
	['an empty email', { notFound: 'emptyEmail' }, { confidence: 0 }],
	['null data', { notFound: 'nullData' }, {}],
] as const)('Nobody found, said by %s', (_style, settings, rest) => {
	const operations = [
		{ name: 'Business', operation: BUSINESS, path: '/email/find', more: { sources: [] } },
		{ name: 'Personal', operation: PERSONAL, path: '/email/personal', more: {} },
	];
	const people = ['Ann', 'Eve', 'Bob'].map((first) => ({
		first,
		last: first === 'Eve' ? 'Nobody' : 'Sure',
		company: 'acme.com',
	}));

	beforeEach(() => {
		sandbox.set(settings);
	});

	test.each(operations)('$name: is a result', async ({ operation, path, more }) => {
		const { items } = await service.run(operation, person, people);

		const extra = 'confidence' in rest ? { ...rest, ...more } : {};
		expect(items[1]).toEqual({
			json: { found: false, email: null, ...extra },
			pairedItem: { item: 1 },
		});
		expect(items.map(({ json }) => json.found)).toEqual([true, false, true]);
		expect(sandbox.requests.map((request) => request.path)).toEqual([path, path, path]);
	});

	test.each(operations)('$name: is an error if asked for', async ({ operation }) => {
		const { items } = await service.run(
			operation,
			{ ...person, options: { errorIfNotFound: true } },
			people,
			keepGoing,
		);

		expect(items[1]).toEqual({
			json: {
				...people[1],
				error: {
					message: 'No address was found for this person',
					advice: someText,
					code: 'NOT_FOUND',
				},
			},
			pairedItem: { item: 1 },
		});
		expect(items.map(({ json }) => json.found)).toEqual([true, undefined, true]);
		expect(sandbox.requests).toHaveLength(3);
	});
});

test('an error other than NOT_FOUND is never "nobody found"', async () => {
	sandbox.set({ faults: [{ kind: 'envelope', code: 'OTHER', match: { bodyIncludes: 'Bob' } }] });
	const people = ['Ann', 'Bob', 'Cid'].map((first) => ({
		first,
		last: 'Sure',
		company: 'acme.com',
	}));
	const { items } = await service.run(BUSINESS, person, people, keepGoing);

	expect(items[1]).toEqual({
		json: {
			...people[1],
			error: {
				message: 'The service says: Something went wrong (OTHER)',
				advice: someText,
				outcome: 'refused',
				code: 'OTHER',
				httpStatus: 400,
			},
		},
		pairedItem: { item: 1 },
	});
});

describe('Scrape: Start', () => {
	/** Runs Start for each item; gives the `filters` sent, in the order of the items. */
	async function filtersSent(parameters: INodeParameters, items: IDataObject[]) {
		const result = await service.run(START, parameters, items);
		expect(result.items).toHaveLength(items.length);
		return result.items.map(({ json }) => {
			const job = sandbox.jobs.find(({ scrapeId }) => scrapeId === json.scrapeId);
			expect(json).toEqual({
				scrapeId: job?.scrapeId,
				status: 'pending',
				estimatedCredits: job?.limit,
			});
			return job?.filters;
		});
	}

	test.each([START, START_AND_WAIT])(
		'is refused to an AI agent that sets no filter, and to nobody else: %s %s',
		async (...operation) => {
			service.sandbox.set({ job: { durationMs: 0 } });
			const items = [{ titles: '' }, { titles: 'CTO' }];
			const ways: INodeParameters[] = [
				{ filters: { jobTitles: '={{ $json.titles }}' } },
				{ filtersMode: 'json', filtersJson: '={{ { jobTitles: [$json.titles], limit: 3 } }}' },
			];
			const started = () => sandbox.jobs.map(({ filters }) => filters.jobTitles?.join());
			for (const parameters of ways) {
				const before = started();
				const byAgent = await service.run(operation, parameters, items, {
					isTool: true,
					...keepGoing,
				});
				expect(byAgent.items.map(({ json }) => json.error)).toEqual([
					{
						message:
							'Filters are empty, and an AI agent must set at least one of jobTitles, locations, industries and companySize',
						field: 'Filters',
						advice:
							'A scrape without filters collects leads of any kind, and uses credits for them.',
					},
					undefined,
				]);
				expect(started()).toEqual([...before, 'CTO']);

				await service.run(operation, parameters, items);
				expect(started().toSorted()).toEqual([...before, 'CTO', undefined, 'CTO'].toSorted());
			}
		},
	);

	test('starts one scrape for each item, also where all want the same', async () => {
		const filters = {
			jobTitles: ['Head of Sales', 'CTO'],
			locations: ['Austin, Texas', 'Graz, Styria'],
			industries: ['Software'],
			companySize: '11-50',
		};
		const items = [{ n: 1 }, { n: 2 }, { n: 3 }];
		const sent = await filtersSent({ filters, limit: 10 }, items);

		expect(sent).toEqual(items.map(() => ({ ...filters, limit: 10 })));
		service.expectCalls(items.map(() => post('/start', { filters: { ...filters, limit: 10 } })));
		expect(new Set(sandbox.jobs.map(({ scrapeId }) => scrapeId)).size).toBe(3);
	});

	test('sends no filters but the limit where nothing is filled in', async () => {
		const empty = { jobTitles: [], locations: [''], industries: ['={{ $json.missing }}'] };
		const sent = await filtersSent({ filters: { ...empty, companySize: '' } }, [{}, {}, {}]);
		service.expectCalls(sent.map(() => post('/start', { filters: { limit: 50 } })));
	});

	const lists: Array<[string, IDataObject[string], string[] | undefined]> = [
		['a list', ['CTO', 'CFO'], ['CTO', 'CFO']],
		['lists in a list', [['CTO'], [['CFO']]], ['CTO', 'CFO']],
		['one text', 'CTO', ['CTO']],
		['text with commas', 'VP, Sales', ['VP, Sales']],
		['lines', 'CTO\nVP, Sales\r\nCFO', ['CTO', 'VP, Sales', 'CFO']],
		['lines in a list', ['CTO\nCFO', 'CEO'], ['CTO', 'CFO', 'CEO']],
		['blanks', ['', ' CTO ', '\n', '\t', 'CFO\n\n'], ['CTO', 'CFO']],
		['duplicates', ['CTO', 'CFO', ' CTO', 'cto'], ['CTO', 'CFO', 'cto']],
		['numbers', [1, 2.5], ['1', '2.5']],
		['one number', 7, ['7']],
		['holes', [null, 'CTO'], ['CTO']],
		['nothing', null, undefined],
		['an empty list', [], undefined],
		['an empty text', ' ', undefined],
	];

	test.each(['jobTitles', 'locations', 'industries'])(
		'%s: an expression for the whole list may give anything',
		async (name) => {
			const sent = await filtersSent(
				{ filters: { [name]: '={{ $json.values }}' } },
				lists.map(([, values]) => ({ values })),
			);
			expect(sent).toEqual(
				lists.map(([, , values]) => ({ ...(values && { [name]: values }), limit: 50 })),
			);
		},
	);

	test.each(['jobTitles', 'locations', 'industries'])(
		'%s: an expression in a field of the list may give anything',
		async (name) => {
			const sent = await filtersSent(
				{ filters: { [name]: ['First, of all', '={{ $json.values }}', 'Last'] } },
				lists.map(([, values]) => ({ values })),
			);
			expect(sent).toEqual(
				lists.map(([, , values = []]) => ({
					[name]: ['First, of all', ...values, 'Last'],
					limit: 50,
				})),
			);
		},
	);

	test('company sizes in other spellings', async () => {
		const sizes = {
			'11-50': '11-50',
			'11 – 50': '11-50',
			'11—50': '11-50',
			' 51 - 200 ': '51-200',
			'1,001-5,000': '1001-5000',
			'1,001 – 5,000': '1001-5000',
			'30-70': '30-70',
			'7-7': '7-7',
		};
		const sent = await filtersSent(
			{ filters: { companySize: '={{ $json.size }}' } },
			Object.keys(sizes).map((size) => ({ size })),
		);
		expect(sent).toEqual(Object.values(sizes).map((companySize) => ({ companySize, limit: 50 })));
	});

	test('limit is 50, or a whole number, also as text', async () => {
		const sent = await filtersSent({ limit: '={{ $json.limit }}' }, [
			{ limit: 1 },
			{ limit: '25' },
			{ limit: ' 7 ' },
			{ limit: 10_000 },
		]);
		expect(sent).toEqual([{ limit: 1 }, { limit: 25 }, { limit: 7 }, { limit: 10_000 }]);
		expect(await filtersSent({}, [{ a: 1 }, { a: 2 }])).toEqual([{ limit: 50 }, { limit: 50 }]);
	});

	describe('Filters as JSON', () => {
		const json = { filtersMode: 'json', limit: 20 };

		test('as text', async () => {
			const text = '{ "jobTitles": ["{{ $json.title }}", " "], "companySize": "11 - 50" }';
			const sent = await filtersSent({ ...json, filtersJson: `=${text}` }, [
				{ title: 'CTO' },
				{ title: 'VP, Sales' },
				{ title: 'CEO' },
			]);
			expect(sent).toEqual(
				['CTO', 'VP, Sales', 'CEO'].map((title) => ({
					jobTitles: [title],
					companySize: '11-50',
					limit: 20,
				})),
			);
		});

		test('as an object, cleaned as fields are', async () => {
			const sent = await filtersSent({ ...json, filtersJson: '={{ $json.filters }}' }, [
				{ filters: { jobTitles: ' CTO \nCFO', locations: [], companySize: '' } },
				{ filters: { industries: ['Software', 'Software'], locations: 'Austin, Texas' } },
				{ filters: {} },
				{ filters: '{ "locations": ["Graz, Styria"] }' },
			]);
			expect(sent).toEqual([
				{ jobTitles: ['CTO', 'CFO'], limit: 20 },
				{ industries: ['Software'], locations: ['Austin, Texas'], limit: 20 },
				{ limit: 20 },
				{ locations: ['Graz, Styria'], limit: 20 },
			]);
		});

		test('a limit of its own counts', async () => {
			const sent = await filtersSent({ ...json, filtersJson: '={{ $json.filters }}' }, [
				{ filters: { limit: 5 } },
				{ filters: '{ "limit": 6, "industries": ["Software"] }' },
				{ filters: { limit: '7' } },
			]);
			expect(sent).toEqual([{ limit: 5 }, { limit: 6, industries: ['Software'] }, { limit: 7 }]);
		});

		test('its default asks for nothing in particular', async () => {
			expect(await filtersSent(json, [{ a: 1 }, { a: 2 }])).toEqual([{ limit: 20 }, { limit: 20 }]);
		});
	});

	test.each<[string, INodeParameters, IDataObject[string][], string, (value: string) => string]>([
		[
			'limit',
			{ limit: '={{ $json.value }}' },
			[0, -1, 1.5, 'abc', '', '1.5', true, [5], null],
			'Limit',
			(value) => `Limit must be a whole number of at least 1, but is ${value}`,
		],
		[
			'company size',
			{ filters: { companySize: '={{ $json.value }}' } },
			['50', '50-11', 'big', '10001+', '11-50-70', '11-', '-5'],
			'Company Size',
			(value) => `Company Size must be a range written <min>-<max>, but is ${value}`,
		],
		[
			'job titles',
			{ filters: { jobTitles: ['CTO', '={{ $json.value }}'] } },
			[{ title: 'CTO' }],
			'Job Titles',
			(value) => `Job Titles must be text, but is ${value}`,
		],
		[
			'locations',
			{ filters: { locations: '={{ $json.value }}' } },
			[{ city: 'Graz' }],
			'Locations',
			(value) => `Locations must be text, but is ${value}`,
		],
		[
			'JSON that is no object',
			{ filtersMode: 'json', filtersJson: '={{ $json.value }}' },
			['nonsense', '{"jobTitles":', [1], '[1]', '"CTO"', 5, '5', true],
			'Filters (JSON)',
			(value) => `Filters (JSON) must be a JSON object, but is ${value}`,
		],
		[
			'JSON with a name that is no filter',
			{ filtersMode: 'json', filtersJson: '={{ $json.value }}' },
			[{ titles: ['CTO'] }, { titles: [] }, '{ "jobTitles": ["CTO"], "titles": "" }'],
			'Filters (JSON)',
			() => 'Filters (JSON) contains "titles", which is not a filter',
		],
		[
			'the limit in JSON',
			{ filtersMode: 'json', filtersJson: '={{ ({ limit: $json.value }) }}' },
			[0, 'abc', null, 2.5],
			'Limit',
			(value) => `Limit must be a whole number of at least 1, but is ${value}`,
		],
		[
			'webhook URL',
			{ options: { webhookUrl: '={{ $json.value }}' } },
			['nowhere', 'ftp://example.com/a', 'example.com/hook'],
			'Webhook URL',
			(value) => `Webhook URL must be a URL, but is ${value}`,
		],
	])(
		'a wrong %s is refused before anything is sent',
		async (_, parameters, values, field, text) => {
			const inputs = values.map((value) => ({ value }));
			const { items } = await service.run(START, parameters, inputs, keepGoing);

			service.expectCalls([]);
			expect(items).toEqual(
				paired(inputs.map((input) => inputError(input, text(JSON.stringify(input.value)), field))),
			);
		},
	);

	test('a webhook URL goes along', async () => {
		const { items } = await service.run(
			START,
			{ limit: 1, options: { webhookUrl: '={{ $json.hook }}' } },
			[
				{ hook: 'http://127.0.0.1:9/webhook/a?b=c' },
				{ hook: ' http://127.0.0.1:9/webhook/d ' },
				{ hook: '' },
			],
		);

		service.expectCalls([
			post('/start', { filters: { limit: 1 }, webhookUrl: 'http://127.0.0.1:9/webhook/a?b=c' }),
			post('/start', { filters: { limit: 1 }, webhookUrl: 'http://127.0.0.1:9/webhook/d' }),
			post('/start', { filters: { limit: 1 } }),
		]);
		expect(items).toHaveLength(3);
	});
});

/** The status of a job that has ended, as the service gives it. */
function finalStatus(scrapeId: string) {
	const job = sandbox.jobs.find((candidate) => candidate.scrapeId === scrapeId);
	if (!job) throw new Error(`There is no job ${scrapeId}`);
	const { status, progress, leadsFound, creditsUsed, createdAt, endsAt } = job;
	return {
		scrapeId,
		status,
		progress,
		leadsFound,
		creditsUsed,
		createdAt: new Date(createdAt).toISOString(),
		...(status === 'completed' && { completedAt: new Date(endsAt).toISOString() }),
	};
}

/** Starts a job for each limit; gives the items that hold their identifiers. */
async function startJobs(limits: number[]) {
	const items: Array<{ id: string }> = [];
	for (const limit of limits) items.push({ id: await service.startJob({ limit }) });
	return items;
}

/** The polls sent for each scrape; all requests must be polls or those of `startJobs`. */
function polls(): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { method, path, query, body } of sandbox.requests) {
		if (path === '/start') continue;
		expect({ method, path, query: Object.keys(query), body }).toEqual({
			method: 'GET',
			path: '/status',
			query: ['scrapeId'],
			body: undefined,
		});
		const id = String(query.scrapeId);
		counts[id] = (counts[id] ?? 0) + 1;
	}
	return counts;
}

const waitFor = (options: INodeParameters = {}) => ({
	scrapeId: '={{ $json.id }}',
	options: { pollInterval: 0.05, ...options },
});

describe('Scrape: Get Status', () => {
	test('asks once for each item', async () => {
		sandbox.set({ job: { durationMs: 60_000 } });
		const items = await startJobs([10, 20, 30]);
		const [, second = { id: '' }, third = { id: '' }] = items;
		sandbox.finish(second.id, 'completed');
		sandbox.finish(third.id, 'failed');
		const result = await service.run(STATUS, { scrapeId: '={{ $json.id }}' }, items);

		service.expectCalls(
			items.map(({ id }) => get('/status', { scrapeId: id })),
			'/status',
		);
		expect(result.items).toEqual(paired(items.map(({ id }) => finalStatus(id))));
		expect(result.items.map(({ json }) => json.status)).toEqual(['pending', 'completed', 'failed']);
	});

	test('an empty identifier is refused before anything is sent', async () => {
		const inputs = [{ id: '' }, { id: '  ' }, { id: null }];
		for (const operation of [STATUS, WAIT]) {
			const { items } = await service.run(operation, waitFor(), inputs, keepGoing);
			expect(items).toEqual(
				paired(inputs.map((input) => inputError(input, 'Scrape ID is empty', 'Scrape ID'))),
			);
		}
		service.expectCalls([]);
	});

	test.each<JobSettings['scrapeIdStyle']>(['string', 'uuid', 'number-like', 'awkward'])(
		'identifiers of the style "%s" arrive as they are',
		async (scrapeIdStyle) => {
			sandbox.set({ job: { durationMs: 0, scrapeIdStyle } });
			const items = await startJobs([1, 2, 3]);
			await sleep(5);
			const expected = paired(items.map(({ id }) => finalStatus(id)));

			const status = await service.run(STATUS, { scrapeId: '={{ $json.id }}' }, items);
			expect(status.items).toEqual(expected);
			const wait = await service.run(WAIT, waitFor(), items);
			expect(wait.items).toEqual(expected);
			expect(polls()).toEqual(Object.fromEntries(items.map(({ id }) => [id, 2])));
		},
	);

	test('an identifier of digits may come as a number', async () => {
		sandbox.set({ job: { durationMs: 60_000, scrapeIdStyle: 'number-like' } });
		const items = await startJobs([1, 2, 3]);
		const result = await service.run(
			STATUS,
			{ scrapeId: '={{ $json.id }}' },
			items.map(({ id }) => ({ id: Number(id) })),
		);
		expect(result.items).toEqual(paired(items.map(({ id }) => finalStatus(id))));
	});
});

describe('Scrape: Wait', () => {
	test.each<[string, Partial<JobSettings>]>([
		['as it is', {}],
		['counting progress to 1', { progressScale: 1 }],
		['that lags behind', { statusLagMs: 100 }],
		['with nulls', { nullsInStatus: true }],
	])('polls a service %s until each scrape is completed', async (_name, settings) => {
		sandbox.set({ job: { durationMs: 600, leadShare: 0.5, ...settings } });
		const items = await startJobs([10, 20, 31]);
		const result = await service.run(WAIT, waitFor(), items);

		expect(result.items).toEqual(paired(items.map(({ id }) => finalStatus(id))));
		expect(result.items.map(({ json }) => [json.status, json.progress, json.leadsFound])).toEqual([
			['completed', 100, 5],
			['completed', 100, 10],
			['completed', 100, 15],
		]);
		expect(Object.keys(polls()).toSorted()).toEqual(items.map(({ id }) => id).toSorted());
		expect(sandbox.requests.length).toBeGreaterThan(3 + items.length);
	});

	test('items wait for scrapes that end in another order', async () => {
		const items: Array<{ id: string }> = [];
		for (const durationMs of [300, 50, 150]) {
			sandbox.set({ job: { durationMs } });
			items.push(...(await startJobs([durationMs])));
		}
		const result = await service.run(WAIT, waitFor(), items);

		expect(result.items).toEqual(paired(items.map(({ id }) => finalStatus(id))));
		expect(result.items.map(({ json }) => json.leadsFound)).toEqual([300, 50, 150]);
	});

	async function oneFails() {
		sandbox.set({ job: { durationMs: 100 } });
		const items = await startJobs([10, 20, 30]);
		sandbox.finish(items[1]?.id ?? '', 'failed');
		return items;
	}

	test('a scrape that failed is an error with all that is known of it', async () => {
		const inputs = await oneFails();
		const { items } = await service.run(WAIT, waitFor(), inputs, keepGoing);

		const [first, second, third] = inputs.map(({ id }) => finalStatus(id));
		expect(items).toEqual(
			paired([
				{ ...first },
				{
					...inputs[1],
					error: {
						message: `Scrape ${String(second?.scrapeId)} failed`,
						advice: someText,
						...second,
					},
				},
				{ ...third },
			]),
		);
		expect(second).toMatchObject({ status: 'failed', leadsFound: 10, progress: 50 });
	});

	test('a scrape that failed is a result if asked for', async () => {
		const inputs = await oneFails();
		const { items } = await service.run(WAIT, waitFor({ failedAsResult: true }), inputs);

		expect(items).toEqual(paired(inputs.map(({ id }) => finalStatus(id))));
		expect(items.map(({ json }) => json.status)).toEqual(['completed', 'failed', 'completed']);
	});

	test('time running out is an error that says how to go on', async () => {
		sandbox.set({ job: { durationMs: 600_000 } });
		const inputs = await startJobs([10, 20, 30]);
		sandbox.finish(inputs[0]?.id ?? '', 'completed');
		const late = await service.run(WAIT, waitFor({ timeout: 0.002 }), inputs, keepGoing);

		const timedOut = (input: { id: string } = { id: '' }) => ({
			...input,
			error: {
				message: `Scrape ${input.id} did not finish within 0.002 minutes`,
				advice: expect.stringContaining('To wait longer, use "Wait') as unknown,
				...finalStatus(input.id),
			},
		});
		expect(late.items).toEqual(
			paired([finalStatus(inputs[0]?.id ?? ''), timedOut(inputs[1]), timedOut(inputs[2])]),
		);
		expect(late.items[1]?.json.error).toMatchObject({ status: 'pending', progress: 0 });

		for (const { id } of inputs) sandbox.finish(id, 'completed');
		const later = await service.run(WAIT, waitFor({ timeout: 0.002 }), inputs);
		expect(later.items).toEqual(paired(inputs.map(({ id }) => finalStatus(id))));
	});

	test('is given up when the service is out of order for ten minutes', async () => {
		sandbox.set({ job: { durationMs: 600_000 } });
		const inputs = await startJobs([10, 20]);
		const now = Date.now.bind(Date);
		const running = service.run(WAIT, waitFor({ timeout: 0 }), inputs, keepGoing);
		await until(() => Object.keys(polls()).length === 2);
		sandbox.set({ faults: [{ kind: 'html', status: 502 }] });
		const since = now();
		// Ten minutes in two seconds.
		jest.spyOn(Date, 'now').mockImplementation(() => now() + 300 * (now() - since));
		const { items } = await running;
		jest.restoreAllMocks();

		expect(items.map(({ json }) => json)).toEqual(
			inputs.map(({ id }) => ({
				id,
				error: expect.objectContaining({
					scrapeId: id,
					httpStatus: 502,
					advice: expect.stringContaining(`"Wait Until Finished" with this scrape ID`) as unknown,
				}) as unknown,
			})),
		);
	});

	test('an unknown scrape is an error that keeps the identifier', async () => {
		sandbox.set({ job: { durationMs: 50 } });
		const [known = { id: '' }] = await startJobs([10]);
		const inputs = [{ id: 'gone-1' }, known, { id: 'gone-2' }];
		const { items } = await service.run(WAIT, waitFor(), inputs, keepGoing);

		const gone = (id: string) => ({
			id,
			error: {
				message: 'The service says: No such scrape (NOT_FOUND)',
				advice: someText,
				scrapeId: id,
				outcome: 'refused',
				code: 'NOT_FOUND',
				httpStatus: 404,
			},
		});
		expect(items).toEqual(paired([gone('gone-1'), finalStatus(known.id), gone('gone-2')]));
	});

	test('no time limit waits until the end', async () => {
		sandbox.set({ job: { durationMs: 150 } });
		const inputs = await startJobs([10, 20, 30]);
		const { items } = await service.run(WAIT, waitFor({ timeout: 0 }), inputs);
		expect(items).toEqual(paired(inputs.map(({ id }) => finalStatus(id))));
	});

	describe.each([undefined, 'continueRegularOutput', 'continueErrorOutput'] as const)(
		'Stop with onError %s',
		(onError) => {
			test.each([0.05, 600])('ends a wait with a poll every %d s', async (pollInterval) => {
				sandbox.set({ job: { durationMs: 600_000 } });
				const inputs = await startJobs([10, 20, 30]);
				let stop = () => {};
				const running = service.run(WAIT, waitFor({ pollInterval }), inputs, {
					onError,
					onStart: (pressStop) => (stop = pressStop),
				});
				// Once for each scrape.
				await until(() => sandbox.requests.length >= 2 * inputs.length);
				stop();
				const { run } = await running;

				expect(run.status).toBe('canceled');
				const before = sandbox.requests.length;
				await sleep(200);
				expect(sandbox.requests).toHaveLength(before);
				expect(Object.keys(polls()).length).toBeGreaterThan(0);
			});
		},
	);
});

describe('Scrape: Start and Wait', () => {
	const parameters = {
		filters: { jobTitles: ['={{ $json.title }}'] },
		limit: '={{ $json.limit }}',
		options: { pollInterval: 0.05 },
	};
	const inputs = [
		{ title: 'CTO', limit: 10 },
		{ title: 'CFO', limit: 20 },
		{ title: 'CEO', limit: 30 },
	];
	const starts = inputs.map(({ title, limit }) =>
		post('/start', { filters: { jobTitles: [title], limit } }),
	);
	const scrapeOf = ({ title }: { title: string }) => {
		const job = sandbox.jobs.find(({ filters }) => filters.jobTitles?.[0] === title);
		return finalStatus(job?.scrapeId ?? '');
	};

	test('gives the fields of the start and of the last status', async () => {
		sandbox.set({ job: { durationMs: 120 }, extraFields: true });
		const { items } = await service.run(START_AND_WAIT, parameters, inputs);

		service.expectCalls(starts, '/start');
		expect(items).toEqual(
			paired(
				inputs.map((input) => ({
					estimatedCredits: input.limit,
					...scrapeOf(input),
					requestId: expect.stringMatching(/^req_\d+$/) as unknown,
				})),
			),
		);
		expect(items.map(({ json }) => json.leadsFound)).toEqual([10, 20, 30]);
		expect(Object.keys(polls())).toHaveLength(3);
	});

	test('sends a webhook URL and returns failed scrapes if asked for', async () => {
		sandbox.set({ job: { durationMs: 50, outcome: 'failed' } });
		const webhookUrl = 'http://127.0.0.1:9/hook/{{ $json.title }}';
		const { items } = await service.run(
			START_AND_WAIT,
			{
				...parameters,
				options: { pollInterval: 0.05, failedAsResult: true, webhookUrl: `=${webhookUrl}` },
			},
			inputs,
		);

		service.expectCalls(
			inputs.map(({ title, limit }) =>
				post('/start', {
					filters: { jobTitles: [title], limit },
					webhookUrl: `http://127.0.0.1:9/hook/${title}`,
				}),
			),
			'/start',
		);
		expect(items).toEqual(
			paired(inputs.map((input) => ({ estimatedCredits: input.limit, ...scrapeOf(input) }))),
		);
		expect(items.map(({ json }) => json.status)).toEqual(['failed', 'failed', 'failed']);
	});

	test('a scrape that failed is an error with all that is known of it', async () => {
		sandbox.set({ job: { durationMs: 50, outcome: 'failed' } });
		const { items } = await service.run(START_AND_WAIT, parameters, inputs, keepGoing);

		service.expectCalls(starts, '/start');
		expect(items.map(({ json }) => json)).toEqual(
			inputs.map((input) => ({
				...input,
				error: expect.objectContaining({
					message: `Scrape ${scrapeOf(input).scrapeId} failed`,
					advice: someText,
					...scrapeOf(input),
				}) as unknown,
			})),
		);
	});

	test('time running out leaves the identifier to wait for', async () => {
		sandbox.set({ job: { durationMs: 600_000 } });
		const late = await service.run(
			START_AND_WAIT,
			{ ...parameters, options: { pollInterval: 0.05, timeout: 0.002 } },
			inputs,
			keepGoing,
		);

		expect(late.items.map(({ json }) => json)).toEqual(
			inputs.map((input) => ({
				...input,
				error: expect.objectContaining({
					message: `Scrape ${scrapeOf(input).scrapeId} did not finish within 0.002 minutes`,
					advice: someText,
					...scrapeOf(input),
				}) as unknown,
			})),
		);

		for (const { scrapeId } of sandbox.jobs) sandbox.finish(scrapeId, 'completed');
		const later = await service.run(
			WAIT,
			{ scrapeId: '={{ $json.error.scrapeId }}' },
			late.items.map(({ json }) => json),
		);
		expect(later.items).toEqual(paired(inputs.map(scrapeOf)));
		service.expectCalls(starts, '/start');
	});

	test.each<[string, FaultRule]>([
		['is out of order', { kind: 'html', status: 502 }],
		['cuts the connection', { kind: 'resetBeforeWork' }],
		['does not know the scrape yet', { kind: 'envelope', code: 'NOT_FOUND' }],
	])('goes on while the service %s', async (_, fault) => {
		sandbox.set({
			job: { durationMs: 50 },
			faults: [{ ...fault, match: { operation: 'getScrapeStatus', times: 15 } }],
		});
		const { items } = await service.run(START_AND_WAIT, parameters, inputs);

		service.expectCalls(starts, '/start');
		expect(items.map(({ json }) => json)).toEqual(
			inputs.map((input) => ({ estimatedCredits: input.limit, ...scrapeOf(input) })),
		);
	});

	test('an error while waiting leaves the identifier to wait for', async () => {
		sandbox.set({
			job: { durationMs: 50 },
			faults: [{ kind: 'envelope', code: 'BROKEN', match: { operation: 'getScrapeStatus' } }],
		});
		const { items } = await service.run(START_AND_WAIT, parameters, inputs, keepGoing);

		service.expectCalls(starts, '/start');
		expect(items.map(({ json }) => json)).toEqual(
			inputs.map((input) => ({
				...input,
				error: expect.objectContaining({
					message: 'The service says: Something went wrong (BROKEN)',
					scrapeId: scrapeOf(input).scrapeId,
					code: 'BROKEN',
					advice: expect.stringContaining(scrapeOf(input).scrapeId) as unknown,
				}) as unknown,
			})),
		);
	});

	test.each([
		['pollInterval', 'Poll Interval (Seconds)'],
		['timeout', 'Timeout (Minutes)'],
	])('a wrong %s is refused before anything is started', async (name, field) => {
		const { items } = await service.run(
			START_AND_WAIT,
			{ ...parameters, options: { [name]: -1 } },
			inputs,
			keepGoing,
		);

		service.expectCalls([]);
		expect(items).toEqual(
			paired(
				inputs.map((input) =>
					inputError(input, `${field} must be a number of at least 0, but is -1`, field),
				),
			),
		);
	});
});

describe('Fields of the result', () => {
	const address = { email: '={{ $json.email }}' };
	const inputs = ['valid@acme.com', 'invalid@acme.com', 'broken@acme.com', 'unknown@beta.io'].map(
		(email, index) => ({ id: index + 1, email, status: 'new', note: { a: [1] } }),
	);
	const verdicts = ['valid', 'invalid', '', 'unknown'].map((status, index) => ({
		email: inputs[index]?.email,
		status,
		deliverable: status === 'valid',
		disposable: false,
		freeProvider: false,
	}));

	beforeEach(() => {
		sandbox.set({
			faults: [{ kind: 'envelope', code: 'BROKEN', match: { bodyIncludes: 'broken' } }],
		});
	});

	const shapes: Array<[INodeParameters, (input: object, verdict: object) => object]> = [
		[{}, (_input, verdict) => verdict],
		[{ includeInput: true }, (input, verdict) => ({ ...input, ...verdict })],
		[{ resultField: ' leadgen ' }, (_input, leadgen) => ({ leadgen })],
		[{ resultField: 'email', includeInput: true }, (input, email) => ({ ...input, email })],
		[{ resultField: 'check', includeInput: true }, (input, check) => ({ ...input, check })],
		[{ resultField: '', includeInput: false }, (_input, verdict) => verdict],
	];
	const broken = {
		...inputs[2],
		error: {
			message: 'The service says: Something went wrong (BROKEN)',
			advice: someText,
			outcome: 'refused',
			code: 'BROKEN',
			httpStatus: 400,
		},
	};

	test.each(shapes)('options %j, errors on the regular output', async (options, shape) => {
		const { items } = await service.run(VERIFY, { ...address, options }, inputs, keepGoing);

		expect(items).toEqual(
			paired(
				inputs.map((input, index) => (index === 2 ? broken : shape(input, verdicts[index] ?? {}))),
			),
		);
		service.expectCalls(inputs.map(({ email }) => post('/email/verify', { email })));
	});

	test.each(shapes)('options %j, errors on their own output', async (options, shape) => {
		const { items, errorItems } = await service.run(VERIFY, { ...address, options }, inputs, {
			onError: 'continueErrorOutput',
		});

		expect(errorItems).toEqual([{ json: broken, pairedItem: { item: 2 } }]);
		expect(items).toEqual(
			[0, 1, 3].map((index) => ({
				json: shape(inputs[index] ?? {}, verdicts[index] ?? {}),
				pairedItem: { item: index },
			})),
		);
	});

	test('the name of the field may differ by item', async () => {
		const { items } = await service.run(
			VERIFY,
			{ ...address, options: { resultField: '=result{{ $json.id }}' } },
			inputs.slice(0, 2),
		);
		expect(items).toEqual(paired([{ result1: verdicts[0] }, { result2: verdicts[1] }]));
	});

	test('a wrong name of the field is refused before anything is sent', async () => {
		const { items } = await service.run(
			VERIFY,
			{ ...address, options: { resultField: '={{ $json.note }}' } },
			inputs,
			keepGoing,
		);

		service.expectCalls([]);
		expect(items).toEqual(
			paired(
				inputs.map((input) =>
					inputError(
						input,
						'Put Output in Field must be text, but is {"a":[1]}',
						'Put Output in Field',
					),
				),
			),
		);
	});

	test('files stay with the input fields', async () => {
		const file = { data: 'aGVsbG8=', mimeType: 'text/plain', fileName: 'hello.txt' };
		const binary = { attachment: file };
		const good = [0, 1, 3].map((index) => inputs[index] ?? {}) as IDataObject[];
		const withInput = await service.run(
			VERIFY,
			{ ...address, options: { includeInput: true } },
			good,
			{ binary },
		);
		expect(withInput.items.map((item) => item.binary)).toEqual([binary, binary, binary]);

		const without = await service.run(VERIFY, address, good, { binary });
		expect(without.items.map((item) => item.binary)).toEqual([undefined, undefined, undefined]);
	});

	test('fields that the interface does not name are passed on', async () => {
		sandbox.set({ extraFields: true, job: { durationMs: 50 } });
		const requestId: unknown = expect.stringMatching(/^req_\d+$/);
		const people = ['Ann', 'Bob'].map((first) => ({ first, last: 'Sure', company: 'acme.com' }));
		const jobs = await startJobs([5, 6]);
		const runs: Array<[readonly [string, string], INodeParameters, IDataObject[]]> = [
			[CREDIT, {}, [{}, {}]],
			[BUSINESS, person, people],
			[PERSONAL, person, people],
			[VERIFY, address, inputs.slice(0, 2)],
			[START, { limit: '={{ $json.n }}' }, [{ n: 1 }, { n: 2 }]],
			[STATUS, { scrapeId: '={{ $json.id }}' }, jobs],
			[WAIT, waitFor(), jobs],
		];
		for (const [operation, parameters, items] of runs) {
			const result = await service.run(operation, parameters, items);
			expect(result.items.map(({ json }) => json.requestId)).toEqual([requestId, requestId]);
		}
	});
});
