/** Which values the nodes clean, refuse, or send as they are. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { KINDS } from '../nodes/LeadGen/common/nonCompanyDomains';
import { hintTexts } from './engine';
import { errorOf, paired, someText } from './expected';
import { CLEANED, listed, NO_PROFILES, REFUSED, UNCHANGED } from './fieldValues';
import { PEOPLE } from './namesOfPeople';
import {
	ENRICH,
	FIND,
	PERSONAL,
	START,
	START_AND_WAIT,
	STATUS,
	VERIFY,
	keepGoing,
	post,
	type Operation,
} from './given';
import { useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

interface Way {
	operation: Operation;
	parameters: INodeParameters;
	/** The fields of the request, or of its filters, in which the service gets the value. */
	fields: string[];
}

const value = '={{ $json.value }}';
const company = 'acme.com';
const person = { firstName: 'Ada', lastName: 'Sure', company };
const finding = (parameters: INodeParameters, ...fields: string[]): Way => ({
	...{ operation: FIND, parameters: { ...person, ...parameters }, fields },
});
const place = { firstName: 'Ada', lastName: 'Sure', options: { location: value } };
const titles = { filters: { jobTitles: value }, limit: 1 };
const WAYS = {
	firstName: finding({ firstName: value }, 'firstName'),
	fullName: finding({ nameFormat: 'full', fullName: value }, 'firstName', 'lastName'),
	company: finding({ company: value }, 'company'),
	linkedinUrl: finding({ company: '', linkedinUrl: value }, 'linkedinUrl'),
	email: { operation: VERIFY, parameters: { email: value }, fields: ['email'] },
	location: { operation: PERSONAL, parameters: place, fields: ['location'] },
	jobTitles: { operation: START, parameters: titles, fields: ['jobTitles'] },
} satisfies Record<string, Way>;

/** A value as an error shows it. */
const shown = (given: unknown) =>
	given === '' ? 'empty' : JSON.stringify(given).replaceAll('<', '‹').replaceAll('>', '›');

/** What a run of the values sends for each, or the error: a dry run, which sends nothing. */
async function send(
	{ operation, parameters, fields }: Way,
	values: unknown[],
): Promise<string[][]> {
	const items = values.map((each) => ({ value: each as string }));
	const options = { ...(parameters.options as INodeParameters | undefined), dryRun: true };
	const result = await service.run(operation, { ...parameters, options }, items, keepGoing);
	return result.items.map((item) => {
		const { filters, ...others } = (item.json.request ?? {}) as Record<string, string | string[]>;
		const all: Record<string, string | string[]> = { ...others, ...(filters as object) };
		const sent = fields.map((field) => [all[field] ?? ''].flat().join(' + '));
		const { message } = errorOf(item) ?? {};
		return message === undefined ? sent : [message as string];
	});
}

/** Runs the values, and expects what is sent for each in the fields of the request. */
async function expectSent(way: Way, examples: Array<[given: string, ...sent: string[]]>) {
	const values = examples.map(([given]) => given);
	const sent = await send(way, values);
	expect(values.map((given, at) => [given, ...(sent[at] ?? [])])).toEqual(examples);
}

test.each(Object.keys(UNCHANGED) as Array<keyof typeof UNCHANGED>)(
	'Values are sent as they are, or cleaned: %s',
	async (field) => {
		const cleaned = Object.entries<string[]>(CLEANED[field]);
		await expectSent(WAYS[field], [
			...UNCHANGED[field].map((each): [string, string] => [each, each]),
			...cleaned.flatMap(([sent, given]) => given.map((each): [string, string] => [each, sent])),
		]);
	},
);

describe('Values that are nobody’s are refused, and nothing is sent for them', () => {
	test.each<[keyof typeof WAYS, string]>([
		['firstName', 'First Name'],
		['fullName', 'Full Name'],
		['email', 'Email'],
		['company', 'Company Domain'],
		['linkedinUrl', 'LinkedIn URL'],
		['location', 'Location'],
		['jobTitles', 'Job Titles'],
	])('%s', async (parameter, field) => {
		const { operation, parameters } = WAYS[parameter];
		const items = REFUSED[parameter].map((each) => ({ value: each as string }));
		const result = await service.run(operation, parameters, items, keepGoing);
		service.expectCalls([]);
		const errors = result.items.map(errorOf);
		expect(items.filter((_, index) => errors[index]?.field !== field)).toEqual([]);
		expect(errors.map((error) => error?.advice)).toEqual(items.map(() => someText));
	});

	test('each domain that is not one of a company, or only its pages', async () => {
		const hosts = [...KINDS.keys()].map((name) => name.replace('.*', '.de'));
		expect(hosts).toHaveLength(360);
		const pages = hosts.map((host) => (host.endsWith('/') ? `${host}acme` : `shop.${host}`));
		const own = hosts.filter((host) => host.endsWith('/')).map((host) => host.slice(0, -1));
		const problem = /^Company Domain must be the domain of a company, but ".*" is an? [a-z]/;
		const refused = [...pages, ...hosts.filter((host) => !host.endsWith('/'))];
		for (const [error] of await send(WAYS.company, refused)) expect(error).toMatch(problem);
		await expectSent(
			WAYS.company,
			own.map((host) => [host, host]),
		);
	});
});

describe('Names in many languages', () => {
	test('are split', async () => {
		await expectSent(
			WAYS.fullName,
			PEOPLE.map(({ given, firstName, lastName }) => [given, firstName, lastName]),
		);
	});

	test('are sent as they are from two fields', async () => {
		const people = PEOPLE.filter(({ firstName }) => firstName);
		const fields = { firstName: '={{ $json.firstName }}', lastName: '={{ $json.lastName }}' };
		const options = { dryRun: true };
		const items = people.map(({ firstName, lastName }) => ({ firstName, lastName }));
		const result = await service.run(FIND, { ...fields, company, options }, items, keepGoing);
		const sent = result.items.map(({ json }) => json.request ?? json.error);
		expect(sent).toEqual(
			items.map(({ firstName, lastName }) => ({
				firstName,
				...(lastName && { lastName }),
				company,
			})),
		);
	});
});

describe('A profile or a company that is refused', () => {
	const profile = 'https://www.linkedin.com/in/ada';
	const warning = (field: string) =>
		`warning: Where ${field} is not valid, the node searches without it. Dry Run shows each request.`;
	const name = { firstName: 'Ada', lastName: 'Sure' };
	const both = { ...name, company: '={{ $json.company }}', linkedinUrl: '={{ $json.profile }}' };

	test.each([FIND, ENRICH, PERSONAL])(
		'is left out with a warning if the others are enough: %s %s',
		async (...operation) => {
			const wrong = ['linkedin.com/company/acme', 'Ada'].map((url) => ({ company, profile: url }));
			const noCompany = ['gmail.com', 'Acme'].map((domain) => ({ company: domain, profile }));
			const isPersonal = operation[1] === 'findPersonal';
			const rows = isPersonal ? wrong : [...wrong, ...noCompany];
			const result = await service.run(operation, both, rows, keepGoing);
			if (isPersonal) service.expectCalls([post('/email/personal', name)]);
			else {
				const found = [{ company }, { linkedinUrl: profile }];
				const calls = found.map((each) => post('/email/find', { ...name, ...each }));
				service.expectCalls(calls, '/email/find');
			}
			const fields = isPersonal ? ['LinkedIn URL'] : ['LinkedIn URL', 'Company Domain'];
			const warnings = hintTexts(result).filter((hint) => hint.startsWith('warning'));
			expect(warnings).toEqual(fields.map(warning));
		},
	);

	test('is an error if both are refused, and if an expression went wrong', async () => {
		const rows = [
			...['undefined', '{{ $json.url }}', '[object Object]'].map((slip) => ({
				profile: slip,
				company,
			})),
			{ profile: 'https://www.xing.com/profile/Ada', company: 'gmail.com' },
		];
		const { items } = await service.run(FIND, both, rows, keepGoing);
		service.expectCalls([]);
		const field = 'LinkedIn URL';
		const fields = [field, field, field, 'Company Domain'];
		expect(items.map((item) => errorOf(item)?.field)).toEqual(fields);
	});

	test('has advice of its own if it is one of Sales Navigator or Recruiter', async () => {
		const rows = NO_PROFILES.map((wrong) => ({ value: wrong }));
		const { items } = await service.run(FIND, WAYS.linkedinUrl.parameters, rows, keepGoing);
		const copied = NO_PROFILES.filter((_, index) =>
			JSON.stringify(items[index]?.json).includes('Copy LinkedIn.com URL'),
		);
		expect(copied).toEqual(NO_PROFILES.filter((url) => /\/(sales|talent|recruiter)\//.test(url)));
	});

	test('is left out without a warning if it only says that there is none', async () => {
		const none = ['N/A', '-', 'k.A.', '#N/A', 'NULL'].map((each) => ({ value: each }));
		const result = await service.run(FIND, { ...person, linkedinUrl: value }, none, keepGoing);
		service.expectCalls([post('/email/find', person)], '/email/find');
		expect(hintTexts(result)).toEqual([
			'info: 5 items: 5 found · 1 paid call (1 business lookup) · 4 reused for free',
		]);
	});
});

describe('What was paid for', () => {
	const spelled: Array<[Operation, string, string[]]> = [
		[
			FIND,
			'linkedinUrl',
			listed(`
				https://www.linkedin.com/in/josé-1 | http://www.linkedin.com/in/josé-1 | linkedin.com/in/josé-1
				https://de.linkedin.com/in/josé-1 | https://m.linkedin.com/in/josé-1/
				https://www.linkedin.com/in/JOSÉ-1 | https://www.linkedin.com/in/josé-1?trk=x
				https://www.linkedin.com/in/josé-1/#about | https://www.linkedin.com/mwlite/in/josé-1
				https://www.linkedin.com/IN/jos%C3%A9-1
				https://www.linkedin.com/in/jos%c3%a9-1/detail/recent-activity
				https://www.linkedin.com/comm/in/josé-1
			`),
		],
		[
			FIND,
			'linkedinUrl',
			['lead/ACwAAa,NAME_SEARCH,x1', 'people/ACwAAa,name,y2', 'lead/ACwAAa?_ntb=z'].map(
				(path) => `https://www.linkedin.com/sales/${path}`,
			),
		],
		[FIND, 'firstName', ['J. P.', 'J.P.', 'j. p.']],
		[FIND, 'lastName', Array.from(`'’‘ʼ´\`ʻ′＇`).map((sign) => `O${sign}Brien`)],
		[FIND, 'firstName', Array.from('-‐‑‒–—−﹣－').map((sign) => `Anne${sign}Marie`)],
		[FIND, 'company', ['bücher.example', 'BÜCHER.example', 'https://www.xn--bcher-kva.example/']],
		[VERIFY, 'email', ['ada@bücher.example', 'ADA@xn--bcher-kva.example', 'ada@BÜCHER.example']],
	];
	test.each(spelled)(
		'once, for one value in several spellings: %s, %s',
		async (operation, field, values) => {
			const rows = values.map((each) => ({ value: each }));
			const parameters = { ...person, [field]: value };
			const { items } = await service.run(operation, parameters, rows, keepGoing);
			expect(items.map((item) => errorOf(item)?.field)).toEqual(values.map(() => undefined));
			expect(sandbox.requests).toHaveLength(1);
		},
	);

	test('twice, for two people with similar profiles and names', async () => {
		const profiles = listed(`
				https://www.linkedin.com/in/ada | https://www.linkedin.com/in/ada-1
				https://www.linkedin.com/pub/ada/1/2/3 | https://www.linkedin.com/pub/ada/1/2/4
				https://www.linkedin.com/sales/lead/A,x,1 | https://www.linkedin.com/sales/lead/B,x,1
				https://www.linkedin.com/talent/profile/A | https://www.linkedin.com/sales/lead/b,x,1
				https://www.linkedin.com/in/ACoAAb | https://www.linkedin.com/in/ACoAAB
			`);
		const rows = profiles.map((each) => ({ value: each }));
		await service.run(FIND, { ...person, linkedinUrl: value }, rows, keepGoing);
		expect(sandbox.requests).toHaveLength(profiles.length);
	});
});

describe('The name of a person', () => {
	const firstAndLast = { firstName: '={{ $json.first }}', lastName: '={{ $json.last }}' };
	const names = { ...firstAndLast, fullName: '={{ $json.full }}', company };
	const byExpression = { ...names, nameFormat: '={{ $json.format }}' };

	test('comes from the fields that an expression chooses', async () => {
		const items = [
			{ full: 'Peter Berg', first: 'Ida', last: 'Else', format: 'full' },
			{ full: 'Tom Else', first: 'Ada', last: 'Okafor', format: 'firstAndLast' },
		];
		await service.run(ENRICH, byExpression, items, keepGoing);
		service.expectCalls(
			[
				post('/email/find', { firstName: 'Peter', lastName: 'Berg', company }),
				post('/email/find', { firstName: 'Ada', lastName: 'Okafor', company }),
			],
			'/email/find',
		);
	});

	test.each([
		['Dr. Ada', 'Okafor, PhD', { firstName: 'Ada', lastName: 'Okafor' }],
		['Ada B.', 'Okafor (Berlin) 🚀', { firstName: 'Ada', lastName: 'Okafor' }],
		['Jan van', 'Dijk', { firstName: 'Jan', lastName: 'van Dijk' }],
		['Jan', 'Dijk, van', { firstName: 'Jan', lastName: 'van Dijk' }],
		['Jan', 'Dijk van', { firstName: 'Jan', lastName: 'van Dijk' }],
		['Ada', 'B. Okafor', { firstName: 'Ada', lastName: 'Okafor' }],
		['Ada Okafor', '', { firstName: 'Ada', lastName: 'Okafor' }],
		['Ada Okafor', 'Ada Okafor', { firstName: 'Ada', lastName: 'Okafor' }],
		['Ada', 'Ada Okafor', { firstName: 'Ada', lastName: 'Okafor' }],
		['Ada Okafor', 'Okafor', { firstName: 'Ada', lastName: 'Okafor' }],
		['MARIA DA', 'SILVA', { firstName: 'MARIA', lastName: 'DA SILVA' }],
		['Prof.', 'Müller', { lastName: 'Müller' }],
		['Herr', 'Jan van Dijk', { firstName: 'Jan', lastName: 'van Dijk' }],
		['', 'Herr', { lastName: 'Herr' }],
		['Jan van', '', { firstName: 'Jan van' }],
	])('in two fields, as %s and %s', async (first, last, sent) => {
		await service.run(PERSONAL, firstAndLast, [{ first, last }], keepGoing);
		service.expectCalls([post('/email/personal', sent)]);
	});

	test('must be in the chosen fields, and an error says which', async () => {
		const wrong = [
			{ format: 'full', full: 'Prof. Dr.', first: 'Ada' },
			{ format: 'full', full: '', first: 'Ada' },
			{ format: 'firstAndLast', full: 'Ada Sure' },
			{ format: 'both', full: 'Ada Sure', first: 'Ada' },
		];
		const { items } = await service.run(FIND, byExpression, wrong, keepGoing);
		service.expectCalls([]);
		expect(items.map((item) => errorOf(item)?.message)).toEqual([
			'Full Name must be a name, but is "Prof. Dr."',
			'Full Name is empty',
			'First Name and Last Name are both empty',
			'Name has no option "both"',
		]);
	});
});

describe('A value that can only be wrong is refused before anything is sent', () => {
	const personWith = (field: string) => ({ ...person, [field]: value });
	const filter = (field: string) => ({ filters: { [field]: value } });
	const option = (field: string, given = value) => ({
		email: 'a@b.com',
		options: { [field]: given },
	});
	const inJson = { filtersMode: 'json', filtersJson: value };
	const nameAlone = { firstName: value, company: 'acme.com' };
	// An expression that gives nothing is no permission to spend.
	const nothing = '={{ $json.budgett }}';
	const noAddress = ['ann', 'ann@', '@a.com', 'a s@a.com', 'a@a.com,b@a.com'];
	const noRange = ['50', '50-11', 'big', '11-50-70', '11-'];
	const noObject = ['nonsense', '{"jobTitles":', [1], '[1]', '"CTO"', 5, '5', true];
	const noFilter = [{ titles: ['CTO'] }, { titles: [] }, '{"jobTitles": ["CTO"], "titles": ""}'];
	const noWebhook = ['nowhere', 'ftp://example.com/a', 'example.com/hook'];

	const text = 'must be text, but is …';
	const freeMail = 'must be the domain of a company, but … is a free mail provider';
	const network = 'must be the domain of a company, but … is a social network';
	const address = 'must be one email address, but is …';
	const leads = 'must be a whole number of at least 1, but is …';
	const range = 'must be a range written <min>-<max>, but is …';
	const unknownFilter = 'contains "titles", which is not a filter';
	const wait = 'must be a number of at least 0, but is …';
	const onOrOff = 'must be on or off, but is …';

	// In the problem, … stands for the value.
	test.each<[string, Operation, INodeParameters, string, Array<IDataObject[string]>]>([
		['First Name and Last Name', FIND, nameAlone, 'are both empty', ['', ' ']],
		['First Name', FIND, personWith('firstName'), text, [['Ann'], true]],
		['Company Domain', FIND, personWith('company'), network, ['x.com/a', 'linkedin.com/in/ann']],
		['Company Domain', FIND, personWith('company'), freeMail, ['gmx.co.uk', 'outlook.com.br']],
		['Email', VERIFY, { email: value }, 'is empty', [null, '  ']],
		['Email', VERIFY, { email: value }, address, noAddress],
		['Put Output in Field', VERIFY, option('resultField'), text, [[1]]],
		['Limit', START, { limit: value }, leads, [0, -1, 1.5, 'abc', '', '1.5', true, [5], null]],
		['Company Size', START, filter('companySize'), range, noRange],
		['Job Titles', START, { filters: { jobTitles: ['CTO', value] } }, text, [{ a: 'CTO' }, true]],
		['Filters (JSON)', START, inJson, 'must be a JSON object, but is …', noObject],
		['Filters (JSON)', START, inJson, unknownFilter, noFilter],
		['Webhook URL', START, option('webhookUrl'), 'must be a URL, but is …', noWebhook],
		['Scrape ID', STATUS, { scrapeId: value }, 'is empty', ['', '  ', null]],
		['Poll Interval (Seconds)', START_AND_WAIT, option('pollInterval'), wait, [-1, '-1']],
		['Maximum Paid Calls', VERIFY, option('maxPaidCalls'), leads, [0, 0]],
		['Maximum Paid Calls', VERIFY, option('maxPaidCalls', nothing), leads, ['', '']],
		['Dry Run', VERIFY, option('dryRun', nothing), onOrOff, ['', '']],
		['Try Personal Email', ENRICH, personWith('tryPersonal'), onOrOff, ['maybe', 'perhaps', 2]],
	])('%s of %j', async (field, operation, parameters, problem, values) => {
		const inputs = values.map((wrong) => ({ value: wrong }));
		const { items } = await service.run(operation, parameters, inputs, keepGoing);
		service.expectCalls([]);
		const errors = values.map((wrong) => ({
			...{ message: `${field} ${problem.replace('…', shown(wrong))}`, advice: someText },
			...{ field, outcome: 'notSent', paidCalls: 0 },
		}));
		expect(items).toEqual(
			paired(inputs.map((input, index) => ({ ...input, error: errors[index] }))),
		);
	});
});
