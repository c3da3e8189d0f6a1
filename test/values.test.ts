/** Which values the nodes clean, refuse, or send as they are. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { folded } from '../nodes/LeadGen/common/addresses';
import { hintTexts } from './engine';
import { ADDRESSES, DOMAINS, listed, NAMES, PROFILES } from './realLife';
import { errorOf, paired, someText } from './expected';
import { PEOPLE } from './namesOfPeople';
import {
	NO_ADDRESSES,
	NO_DOMAINS,
	NO_LISTS,
	NO_NAMES,
	NO_PERSON,
	NO_PLACES,
	NO_PROFILES,
} from './nobody';
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

/** What a field gets, and what is sent for it: in each line `given → sent`, with a plus between several values. */
const CLEANED = {
	firstName: `
		  Ada  → Ada
		Ada\tMarie → Ada Marie
		山田\u3000太郎 → 山田 太郎
		A\u200bda → Ada
		\u202eAda\u202c\ufeff\u00ad\u2060\u0000\u3164 → Ada
		Prof. Dr. Eva → Eva
		Mevr. Ute → Ute
		"Lea" → Lea
		Tom, MBA → Tom
		Uwe (Berlin) 👩‍💻 → Uwe`,
	fullName: `
		van der Berg, JAN → JAN + van der Berg
		Prof. Dr. van der Heide, Jan, MBA → Jan + van der Heide
		Dr. rer. nat. Anna Müller → Anna + Müller
		William (Bill) Gates III → William + Gates
		🚀 Ben Okafor ✨ → Ben + Okafor
		Cher → Cher
		Kim Okafor | LinkedIn → Kim + Okafor
		Lea Okafor • 2nd → Lea + Okafor`,
	company: `
		https://www.Acme.com/team?tab=1#top → acme.com
		ann@b.com → b.com
		"c.com", → c.com
		  D.com.\t → d.com
		e\u200b.com → e.com
		www.f.com → f.com
		http://g.com:8080/ → g.com
		//j.com/a → j.com
		http://ac.com./x → ac.com
		www.linkedin.com → linkedin.com
		bücher.example → xn--bcher-kva.example
		https://slack.com/intl/de-de/ → slack.com
		https://www.xing.com/de → xing.com
		https://cloud.google.com/ → cloud.google.com
		https://www.wix.com/?utm_source=x → wix.com
		https://github.com/index.html → github.com
		k.com (Germany) → k.com
		Acme (p.com) → p.com
		Acme Inc. (u.com) → u.com
		Website: q.com → q.com
		Acme GmbH, www.r.com → r.com
		Acme - v.com → v.com
		• ab.com ✅ → ab.com
		[Acme](https://s.com) → s.com
		<a href="https://w.com">Acme</a> → w.com
		www2.t.com → t.com
		www x.com → x.com
		www,y.com → y.com
		z.com | https://www.z.com/about → z.com
		http//l.com → l.com
		https:/m.com/a → m.com
		http:n.com → n.com
		https;//aa.com → aa.com
		https://http://o.com → o.com`,
	linkedinUrl: `
		linkedin.com/in/ada → https://linkedin.com/in/ada
		www.linkedin.com/mwlite/in/eve → https://www.linkedin.com/mwlite/in/eve
		http//linkedin.com/in/dan → https://linkedin.com/in/dan
		LinkedIn: https://www.linkedin.com/in/leo → https://www.linkedin.com/in/leo
		Lea Okafor https://www.linkedin.com/in/lea → https://www.linkedin.com/in/lea
		https://www.linkedin.com//in/pia → https://www.linkedin.com/in/pia
		https://https://linkedin.com/in/kim → https://linkedin.com/in/kim
		<https://www.linkedin.com/in/bob>. → https://www.linkedin.com/in/bob
		linkedin.com/in/uwe; linkedin.com/in/uwe/ → https://linkedin.com/in/uwe`,
	email: `
		a@b.com. → a@b.com
		"a@c.com" → a@c.com
		<a@d.com>; → a@d.com
		Ada <a@e.com>; → a@e.com
		Okafor, Ada <a@f.com>,  → a@f.com
		a@h.com (work) → a@h.com
		Email: a@j.com → a@j.com
		mailto:a@g.com?subject=Hello → a@g.com
		smtp:a@k.com → a@k.com
		a@l.com, A@l.com → a@l.com
		a@m.com <mailto:a@m.com> → a@m.com
		✉ a@o.com → a@o.com
		A <a@n.com> B → a@n.com
		a@b\u200b.io → a@b.io`,
	location: `
		Austin, Texas → Austin, Texas
		1010 → 1010`,
	jobTitles: `
		VP, Sales → VP, Sales
		["CTO","CEO"] → CTO + CEO
		[ "CIO",  "CEO" ] → CIO + CEO
		3D Artist → 3D Artist
		Leiter*in → Leiter*in
		C-Level \u200b → C-Level`,
};

const linesOf = (text: string) =>
	text
		.split('\n')
		.slice(1)
		.map((line) => line.replace(/^\t+/, ''));

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
	linkedinUrl: finding({ linkedinUrl: value }, 'linkedinUrl'),
	email: { operation: VERIFY, parameters: { email: value }, fields: ['email'] },
	location: { operation: PERSONAL, parameters: place, fields: ['location'] },
	jobTitles: { operation: START, parameters: titles, fields: ['jobTitles'] },
} satisfies Record<string, Way>;

const NAMES_OF_WAYS = Object.keys(WAYS) as Array<keyof typeof WAYS>;

/** Runs the values as the items of one run. */
async function send({ operation, parameters, fields }: Way, values: unknown[]) {
	const items = values.map((each) => ({ value: each as string }));
	const result = await service.run(operation, parameters, items, keepGoing);
	const sent = sandbox.requests.map(({ body }) => {
		const { filters, ...others } = body as Record<string, string> & { filters?: object };
		const all = { ...others, ...filters } as Record<string, string | string[] | undefined>;
		return fields.flatMap((field) => all[field] ?? []);
	});
	const errors = result.items.map((item) => errorOf(item)?.field);
	return { sent, errors, result };
}

/** A value as an error shows it. */
const shown = (given: unknown) =>
	given === '' ? 'empty' : JSON.stringify(given).replaceAll('<', '‹').replaceAll('>', '›');

/** Lookups that differ only in spelling are one, and are sent once. */
function once(values: string[][]): string[][] {
	const keys = values.map((each) => JSON.stringify(each.map(folded)));
	return values.filter((_, index) => keys.indexOf(keys[index] ?? '') === index);
}

test.each(NAMES_OF_WAYS)('Values are cleaned: %s', async (parameter) => {
	const examples = linesOf(CLEANED[parameter]).map((line) => line.split(' → '));
	const { sent, errors } = await send(
		WAYS[parameter],
		examples.map(([given]) => given),
	);
	expect(errors).toEqual(examples.map(() => undefined));
	const expected = examples.map(([, values = '']) => values.split(' + '));
	expect(sent).toEqual(parameter === 'jobTitles' ? expected : once(expected));
});

test.each<[keyof typeof WAYS, string[]]>([
	['firstName', NAMES],
	['email', ADDRESSES],
	['company', DOMAINS],
	['linkedinUrl', PROFILES],
])('Values of real files pass unchanged: %s', async (parameter, values) => {
	const { sent, errors } = await send(WAYS[parameter], values);
	expect(values.filter((_, index) => errors[index] !== undefined)).toEqual([]);
	expect(sent).toEqual(once(values.map((each) => [each])));
});

test('Names in many languages are split: what is paid for', async () => {
	const byFullName = { nameFormat: 'full', fullName: value, company: 'acme.com' };
	const way = finding(byFullName, 'firstName', 'lastName');
	const { sent, errors } = await send(
		way,
		PEOPLE.map(({ given }) => given),
	);
	expect(PEOPLE.filter((_, index) => errors[index] !== undefined)).toEqual([]);
	const names = PEOPLE.map(({ firstName, lastName }) => [firstName, lastName].filter(Boolean));
	expect(sent).toEqual(once(names));
});

test('Names in two fields are sent as they are', async () => {
	const people = PEOPLE.filter(({ firstName }) => firstName);
	const fields = {
		...person,
		firstName: '={{ $json.firstName }}',
		lastName: '={{ $json.lastName }}',
	};
	const items = people.map(({ firstName, lastName }) => ({ firstName, lastName }));
	const result = await service.run(FIND, fields, items, keepGoing);
	expect(people.filter((_, index) => errorOf(result.items[index]))).toEqual([]);
	const sent = sandbox.requests.map(({ body }) => body as Record<string, string>);
	const named = sent.map(({ firstName = '', lastName = '' }) => [firstName, lastName]);
	const all = once(items.map(({ firstName, lastName }) => [firstName, lastName]));
	expect(named.toSorted()).toEqual(all.toSorted());
});

describe('Values that are nobody’s are refused, and nothing is sent for them', () => {
	test.each<[keyof typeof WAYS, string, string[]]>([
		['firstName', 'First Name', NO_NAMES],
		['fullName', 'Full Name', [...NO_NAMES, ...NO_PERSON]],
		['email', 'Email', NO_ADDRESSES],
		['company', 'Company Domain', NO_DOMAINS],
		['location', 'Location', NO_PLACES],
		['jobTitles', 'Job Titles', [...NO_PLACES, ...NO_LISTS]],
	])('%s', async (parameter, field, values) => {
		const { sent, result } = await send(WAYS[parameter], values);
		expect(sent).toEqual([]);
		const errors = result.items.map(errorOf);
		expect(values.filter((_, index) => errors[index]?.field !== field)).toEqual([]);
		expect(errors.map((error) => error?.advice)).toEqual(values.map(() => someText));
	});

	test('also if they are too long', async () => {
		const tooLong = `${'Ada '.repeat(2500)}.com`;
		for (const parameter of NAMES_OF_WAYS) {
			const { sent, result } = await send(WAYS[parameter], [tooLong]);
			expect(sent).toEqual([]);
			expect(errorOf(result.items[0])?.message).toMatch(
				/must be text of up to 10,000 characters, but is "Ada Ada /,
			);
		}
	});
});

describe('A profile or a company that is refused', () => {
	const profile = 'https://www.linkedin.com/in/ada';
	const warning = (field: string) =>
		`warning: Where ${field} is not valid, the node searches without it. Dry Run shows each request.`;
	const name = { firstName: 'Ada', lastName: 'Sure' };
	const both = { ...name, company: '={{ $json.company }}', linkedinUrl: '={{ $json.profile }}' };

	test.each([[FIND], [ENRICH]])(
		'is left out with a warning if the other one is there: %s',
		async (operation) => {
			const rows = [
				...NO_PROFILES.map((wrong) => ({ company, profile: wrong })),
				...NO_DOMAINS.map((wrong) => ({ company: wrong, profile })),
			];
			const own = rows.filter(
				({ company: domain, profile: url }) => !/[{}#]|undefined/.test(domain + url),
			);
			const result = await service.run(operation, both, own, keepGoing);
			expect(own.filter((_, index) => errorOf(result.items[index])?.field)).toEqual([]);
			service.expectCalls(
				[
					post('/email/find', { ...name, company }),
					post('/email/find', { ...name, linkedinUrl: profile }),
				],
				'/email/find',
			);
			const warnings = hintTexts(result).filter((hint) => hint.startsWith('warning'));
			expect(warnings).toEqual([warning('LinkedIn URL'), warning('Company Domain')]);
		},
	);

	test('is left out of a search for a personal address', async () => {
		const wrong = NO_PROFILES.filter((each) => !/[{}#]/.test(each)).map((each) => ({
			value: each,
		}));
		const result = await service.run(PERSONAL, { ...name, linkedinUrl: value }, wrong, keepGoing);
		service.expectCalls([post('/email/personal', name)]);
		expect(hintTexts(result)).toContain(warning('LinkedIn URL'));
	});

	test('is an error if nothing else is enough, and if an expression went wrong', async () => {
		const rows = [
			...NO_PROFILES.map((wrong) => ({ profile: wrong, company: '' })),
			...['undefined', '{{ $json.url }}', '[object Object]'].map((slip) => ({
				profile: slip,
				company,
			})),
			{ profile: 'https://www.xing.com/profile/Ada', company: 'gmail.com' },
		];
		const { items } = await service.run(FIND, both, rows, keepGoing);
		service.expectCalls([]);
		const fields = rows.map(({ company: domain }) =>
			domain === 'gmail.com' ? 'Company Domain' : 'LinkedIn URL',
		);
		expect(items.map((item) => errorOf(item)?.field)).toEqual(fields);
		const copied = rows.filter((_, index) =>
			JSON.stringify(items[index]?.json).includes('Copy LinkedIn.com URL'),
		);
		const tools = NO_PROFILES.filter((url) => /\/(sales|talent|recruiter)\//.test(url));
		expect(copied.map(({ profile: url }) => url)).toEqual(tools);
	});
});

describe('What was paid for', () => {
	const spelled: Array<[Operation, string, string[]]> = [
		[
			FIND,
			'linkedinUrl',
			listed(`
				https://www.linkedin.com/in/josé-1, http://www.linkedin.com/in/josé-1, linkedin.com/in/josé-1,
				https://de.linkedin.com/in/josé-1, https://m.linkedin.com/in/josé-1/, https://www.linkedin.com/in/JOSÉ-1,
				https://www.linkedin.com/in/josé-1?trk=x, https://www.linkedin.com/in/josé-1/#about,
				https://www.linkedin.com/mwlite/in/josé-1, https://www.linkedin.com/IN/jos%C3%A9-1,
				https://www.linkedin.com/in/jos%c3%a9-1/detail/recent-activity, https://www.linkedin.com/comm/in/josé-1
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
			const { items } = await service.run(
				operation,
				{ ...person, [field]: value },
				rows,
				keepGoing,
			);
			expect(items.map((item) => errorOf(item)?.field)).toEqual(values.map(() => undefined));
			expect(sandbox.requests).toHaveLength(1);
		},
	);

	test('twice, for two people with similar profiles and names', async () => {
		const profiles = listed(`
			https://www.linkedin.com/in/ada, https://www.linkedin.com/in/ada-1, https://www.linkedin.com/pub/ada/1/2/3,
			https://www.linkedin.com/pub/ada/1/2/4, https://www.linkedin.com/sales/lead/A,x,1,
			https://www.linkedin.com/sales/lead/B,x,1, https://www.linkedin.com/talent/profile/A,
			https://www.linkedin.com/sales/lead/b,x,1, https://www.linkedin.com/in/ACoAAb, https://www.linkedin.com/in/ACoAAB
		`);
		const rows = profiles.map((each) => ({ value: each }));
		await service.run(FIND, { ...person, linkedinUrl: value }, rows, keepGoing);
		expect(sandbox.requests).toHaveLength(profiles.length);
	});

	test('one address with invisible characters is paid for once', async () => {
		const marks = '\u200b\u200d\u2060\ufeff\u00ad\u200e\u202a\ufe0f';
		const addresses = ['', ...Array.from(marks)].map((mark) => `a${mark}da@acme.com`);
		const { sent } = await send(WAYS.email, addresses);
		expect(sent).toEqual([['ada@acme.com']]);
	});

	test.each(NAMES_OF_WAYS)('nothing, for the slips of an expression: %s', async (parameter) => {
		const slips = ['undefined', 'null', '[object Object]', '{{ $json.x }}', 'J\ufffdrg'];
		const { sent, errors } = await send(WAYS[parameter], [...slips, { a: 1 }, true]);
		expect(sent).toEqual([]);
		expect(errors).not.toContain(undefined);
	});

	test('a row with a placeholder for its profile is looked up without it', async () => {
		const none = ['N/A', '-', 'k.A.', '#N/A', 'NULL'];
		const { sent, result } = await send(WAYS.linkedinUrl, none);
		expect(sent).toEqual([[]]);
		expect(hintTexts(result)).toEqual([
			'info: 5 items: 5 found · 1 paid call (1 business lookup) · 4 reused for free',
		]);
	});

	test('no agent starts a scrape of anybody with an empty list as text', async () => {
		const texts = ['[]', ' [ ] ', '[""]', '["CTO","CEO"]', '["CTO"'];
		const lists = texts.map((text) => ({ value: text }));
		const filters = { filters: { jobTitles: value, locations: '[]' }, limit: 1 };
		const { items } = await service.run(START, filters, lists, { isTool: true, ...keepGoing });
		expect(sandbox.jobs.map((job) => job.filters.jobTitles)).toEqual([['CTO', 'CEO']]);
		const fields = ['Filters', 'Filters', 'Filters', undefined, 'Job Titles'];
		expect(items.map((item) => errorOf(item)?.field)).toEqual(fields);
	});
});

describe('The name of a person', () => {
	const firstAndLast = { firstName: '={{ $json.first }}', lastName: '={{ $json.last }}' };
	const names = { ...firstAndLast, fullName: '={{ $json.full }}', company };
	const byExpression = { ...names, nameFormat: '={{ $json.format }}' };
	const items = [
		{ full: 'Prof. Dr. Peter van der Berg, MBA', first: 'Ida', last: 'Else', format: 'full' },
		{ full: 'Okafor, Ada', first: 'Eve', last: 'Else', format: 'full' },
		{ full: 'Tom Else', first: 'Dr. Ada', last: 'Okafor, PhD', format: 'firstAndLast' },
		{ full: 'Bob Else', first: 'Prof.', last: 'Müller (Berlin) 🚀', format: 'firstAndLast' },
	];
	const named = (firstName: string, lastName: string) => ({ firstName, lastName });
	const [ada, peter] = [named('Ada', 'Okafor'), named('Peter', 'van der Berg')];
	const prof = named('Prof.', 'Müller');
	const [ida, eve, tom, bob] = ['Ida', 'Eve', 'Tom', 'Bob'].map((first) => named(first, 'Else'));

	// One of them is there twice.
	test.each([
		['first and last name', names, [ida, eve, ada, prof]],
		['full name', { ...names, nameFormat: 'full' }, [peter, ada, tom, bob]],
		['an expression', byExpression, [peter, ada, prof]],
	])('comes from the chosen fields: %s', async (_, parameters, sent) => {
		await service.run(ENRICH, parameters, items, keepGoing);
		service.expectCalls(
			sent.map((name) => post('/email/find', { ...name, company })),
			'/email/find',
		);
	});

	test('is sent alone if the other one is missing', async () => {
		await service.run(PERSONAL, firstAndLast, [{ last: 'Herr' }, { first: 'Ada' }], keepGoing);
		service.expectCalls([
			post('/email/personal', { lastName: 'Herr' }),
			post('/email/personal', { firstName: 'Ada' }),
		]);
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

	test('a name in UTF-8 that was read as Windows-1252', async () => {
		const names = listed('Weiß, Ünal, Özil, Åsa, Ondřej, Œuvrard, Ñandú, Ştefan, Žofie, Győző');
		const damaged = names.map((name) => new TextDecoder('windows-1252').decode(Buffer.from(name)));
		const { sent, result } = await send(WAYS.firstName, damaged);
		expect(sent).toEqual([]);
		expect(result.items.map(errorOf)).toEqual(
			damaged.map((name) => ({
				field: 'First Name',
				outcome: 'notSent',
				paidCalls: 0,
				message: `First Name has damaged characters: "${name}"`,
				advice:
					'The file was read in the wrong encoding, or holds HTML codes. Save it as CSV UTF-8, or choose its encoding in the node that reads it.',
			})),
		);
	});
});
