/** Find and Verify: which calls it pays for, and what comes out. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { address, errorOf, found, matching, paired, someText, verdictOn } from './expected';
import { ENRICH, FIND, keepGoing, people, person, post, success } from './given';
import { useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

async function enrich(parameters: INodeParameters, items: IDataObject[]) {
	return (await service.run(ENRICH, { ...person, ...parameters }, items, keepGoing)).items;
}

const find = (firstName: string, lastName: string, others: object = { company: 'acme.com' }) =>
	post('/email/find', { firstName, lastName, ...others });
const personal = (firstName: string, lastName: string, others: object = {}) =>
	post('/email/personal', { firstName, lastName, ...others });
const verify = (email: string) => post('/email/verify', { email });

/** The paid calls for a person, as the table below names them. */
function callsFor(name: string) {
	const [first = '', last = ''] = name.split(' ');
	const local = `${first}.${last}`.toLowerCase();
	return {
		find: find(first, last),
		verify: verify(`${local}@acme.com`),
		personal: personal(first, last),
		verifyPersonal: verify(`${local}@gmail.com`),
	};
}
type Paid = keyof ReturnType<typeof callsFor>;
const both: Paid[] = ['find', 'verify', 'personal', 'verifyPersonal'];

test.each<[INodeParameters, Array<[name: string, Paid[], email: string | null, tried: string]>]>([
	[
		{},
		[
			['Val Low', ['find', 'verify'], 'val.low@acme.com', 'business: valid'],
			['Catchall High', ['find', 'verify'], null, 'business: catch_all'],
			['Unknowns High', ['find', 'verify'], null, 'business: unknown'],
			['Invalid Low', ['find', 'verify'], null, 'business: invalid'],
			['Tom Nobody', ['find'], null, 'business: not found'],
		],
	],
	[
		{ tryPersonal: true, accept: ['valid', 'catch_all'] },
		[
			['Catchall High', ['find', 'verify'], 'catchall.high@acme.com', 'business: catch_all'],
			['Unknowns High', both, null, 'business: unknown, personal: unknown'],
			['Ann Sure', ['find', 'verify'], 'ann.sure@acme.com', 'business: valid'],
		],
	],
	// They are sure to 0.97, 0.8 and 0.3.
	[
		{ options: { minConfidence: 0.3 } },
		[
			['Ann Sure', ['find', 'verify'], 'ann.sure@acme.com', 'business: valid'],
			['Ann Low', ['find', 'verify'], 'ann.low@acme.com', 'business: valid'],
		],
	],
	[
		{ options: { minConfidence: 0.5 } },
		[
			['Ann High', ['find', 'verify'], 'ann.high@acme.com', 'business: valid'],
			['Ann Low', ['find'], null, 'business: confidence too low'],
		],
	],
	[
		{ options: { minConfidence: 1 } },
		[['Ann Sure', ['find'], null, 'business: confidence too low']],
	],
])('pays for no more than it needs with %j', async (parameters, rows) => {
	const items = await enrich(parameters, people(...rows.map(([name]) => name)));
	service.expectCalls(rows.flatMap(([name, calls]) => calls.map((call) => callsFor(name)[call])));
	expect(items.map(({ json }) => [json.found, json.email, json.tried])).toEqual(
		rows.map(([, , email, tried]) => [email !== null, email, tried]),
	);
});

test('gives one item with the address, how sure it is, what was tried, and what was rejected', async () => {
	sandbox.set({ extraFields: true });
	const list = people('Ann Sure', 'Ann Novak', 'Tom Nobody', 'Invalid High', 'Ann Low');
	const items = await enrich({ tryPersonal: true, options: { minConfidence: 0.75 } }, list);

	// A field that the node does not know.
	const requestId = someText;
	const sources = ['company_website'];
	const business = { emailType: 'business', requestId };
	const low = { emailType: 'personal', requestId, outcome: 'confidence too low' };
	const nobody = { found: false, email: null };
	expect(items).toEqual(
		paired([
			{
				...{ ...business, ...found('ann.sure@acme.com', 0.97, 'very_high', sources) },
				...{ ...verdictOn('ann.sure@acme.com'), tried: 'business: valid', paidCalls: 2 },
			},
			{
				...{ ...low, outcome: undefined, ...found('ann.novak@gmail.com', 0.95, 'very_high') },
				...verdictOn('ann.novak@gmail.com', 'valid', { freeProvider: true }),
				...{ tried: 'business: not found, personal: valid', paidCalls: 3 },
			},
			{ ...nobody, tried: 'business: not found, personal: not found', paidCalls: 2 },
			{
				...{ ...nobody, status: 'invalid', paidCalls: 3 },
				tried: 'business: invalid, personal: confidence too low',
				rejected: [
					{
						...{ ...business, outcome: 'invalid' },
						...address('invalid.high@acme.com', 0.8, 'high', sources),
						...verdictOn('invalid.high@acme.com', 'invalid'),
					},
					{ ...low, ...address('invalid.high@gmail.com', 0.7, 'high') },
				],
			},
			{
				...{ ...nobody, paidCalls: 2 },
				tried: 'business: confidence too low, personal: confidence too low',
				rejected: [
					{ ...low, ...business, ...address('ann.low@acme.com', 0.3, 'low', sources) },
					{ ...low, ...address('ann.low@gmail.com', 0.2, 'low') },
				],
			},
		]),
	);
});

test('gives each finder the fields that it takes, and leaves out one that has nothing to go by', async () => {
	const linkedinUrl = 'https://www.linkedin.com/in/ann';
	const location = 'Graz, Styria';
	const items = await enrich({ tryPersonal: true, options: { location, minConfidence: 1 } }, [
		{ first: 'Ann', last: 'High', company: 'acme.com', profile: linkedinUrl },
		{ first: 'Bob', last: 'High', profile: linkedinUrl },
		{ first: 'Cid', last: 'High' },
	]);
	service.expectCalls([
		find('Ann', 'High', { company: 'acme.com', linkedinUrl }),
		personal('Ann', 'High', { linkedinUrl, location }),
		find('Bob', 'High', { linkedinUrl }),
		personal('Bob', 'High', { linkedinUrl, location }),
		personal('Cid', 'High', { location }),
	]);
	expect(items.map(({ json }) => json.paidCalls)).toEqual([2, 2, 1]);
});

test('keeps what the steps before a failed one brought, in its error', async () => {
	const match = { path: '/email/verify', bodyIncludes: 'ann.high' };
	sandbox.set({ faults: [{ kind: 'resetAfterWork', match }] });
	const list = people('Ann High', 'Ann Sure', 'Ann High');
	const items = await enrich({}, list);

	service.expectCalls([
		...[find('Ann', 'High'), verify('ann.high@acme.com')],
		...[find('Ann', 'Sure'), verify('ann.sure@acme.com')],
	]);
	const { paidCalls, ...high } = found('ann.high@acme.com', 0.8, 'high', ['company_website']);
	const error = {
		message: someText,
		// Once, though another item shares the error.
		advice: matching(/^(?:(?!Before).)+ Before that, it found ann\.high@acme\.com\.$/),
		outcome: 'unknown',
		code: 'ECONNRESET',
		bought: [{ emailType: 'business', outcome: 'not verified', ...high }],
	};
	expect(items[0]?.json).toEqual({ ...list[0], error: { ...error, paidCalls: 1 + paidCalls } });
	expect(items[1]?.json).toMatchObject({ found: true, email: 'ann.sure@acme.com' });
	// Both items share the call that failed.
	expect(items[2]?.json).toEqual({ ...list[2], error: { ...error, paidCalls: 0 } });
});

test('says in a dry run which call would be sent, and how many may follow', async () => {
	const [ann, bob, cy, low] = people('Ann Sure', 'Bob Sure', 'Cy Sure', 'Ann Low');
	await service.run(FIND, person, [{ ...ann }, { ...bob }, { ...low }]);
	await enrich({}, [{ ...bob }]);
	sandbox.requests.length = 0;
	const options = { dryRun: true, minConfidence: 0.5 };
	const items = await enrich({ tryPersonal: '={{ $json.personal }}', options }, [
		{ ...ann },
		{ ...low },
		{ ...bob },
		{ ...cy },
		{ ...cy, personal: true },
		{ first: 'Dan', last: 'High', personal: true },
	]);
	service.expectCalls([]);
	const plan = (path: string, call: string, mayFollow: number, request: object) => {
		return { dryRun: true, path, call, mayFollow, request };
	};
	const searchFor = (firstName: string) => ({ firstName, lastName: 'Sure', company: 'acme.com' });
	expect(items).toEqual(
		paired([
			plan('/email/verify', 'new', 0, { email: 'ann.sure@acme.com' }),
			plan('/email/find', 'remembered', 1, { ...searchFor('Ann'), lastName: 'Low' }),
			plan('/email/find', 'remembered', 1, searchFor('Bob')),
			plan('/email/find', 'new', 1, searchFor('Cy')),
			plan('/email/find', 'duplicate', 3, searchFor('Cy')),
			plan('/email/personal', 'new', 1, { firstName: 'Dan', lastName: 'High' }),
		]),
	);
});

test('takes an address without a number as its confidence for a sure one, and keeps each address', async () => {
	const [emailType, email, gmail] = ['business', 'a@acme.com', 'a@gmail.com'];
	service.answerWith(({ path, body }) => {
		const given = body as { firstName?: string; email?: string };
		// A verdict may name no address.
		if (path === '/email/verify')
			return success({ email: '', status: given.email === email ? 'invalid' : 'valid' });
		const confidence = given.firstName === 'Bob' && { confidence: 'high' };
		return success({ email: path === '/email/find' ? email : gmail, ...confidence });
	});
	const options = { minConfidence: 1 };
	const items = await enrich({ tryPersonal: true, options }, people('Ann Sure', 'Bob Sure'));
	const tried = 'business: invalid, personal: valid';
	const rejected = [{ email, emailType, status: 'invalid', outcome: 'invalid' }];
	const sure = { found: true, email: gmail, status: 'valid', tried, rejected };
	expect(items).toMatchObject(paired([sure, { ...sure, confidence: 'high' }]));
});

test('takes a switch as a spreadsheet holds it', async () => {
	const [on, off] = [
		[true, 'yes', 'On', 1, ' TRUE '],
		[false, 'no', 'OFF', 0, '', null],
	];
	const [ann] = people('Ann Sure');
	const rows = [...on, ...off].map((personal) => ({ ...ann, personal }));
	const parameters = { tryPersonal: '={{ $json.personal }}', options: { dryRun: true } };
	const items = await enrich(parameters, rows);
	const mayFollow = [...on.map(() => 3), ...off.map(() => 1)];
	expect(items.map(({ json }) => json.mayFollow)).toEqual(mayFollow);
});

test('says what can only be wrong before anything is paid for', async () => {
	const place = { no: 'place' };
	const rows: Array<[IDataObject, string?]> = [
		[{ company: '' }, 'Company Domain is empty'],
		[{ first: '', last: 'Hidden' }, 'Last Name must be a real value, but is "Hidden"'],
		[{ first: 'N.A.', last: '' }, 'First Name must be a real value, but is "N.A."'],
		[{ accept: [] }, 'Accepted Statuses is empty'],
		[{ accept: [5] }, 'Accepted Statuses has no option "5"'],
		[{ confidence: 70 }, 'Minimum Confidence must be a number from 0 to 1, but is 70'],
		[{ personal: true, place }, 'Location must be text, but is {"no":"place"}'],
		// A location is only for a personal address.
		[{ place }],
	];
	const [ann] = people('Ann Sure');
	const parameters = {
		accept: '={{ $json.accept ?? ["valid"] }}',
		tryPersonal: '={{ $json.personal }}',
		options: { minConfidence: '={{ $json.confidence ?? 0 }}', location: '={{ $json.place }}' },
	};
	const items = await enrich(
		parameters,
		rows.map(([wrong]) => ({ ...ann, ...wrong })),
	);
	service.expectCalls([find('Ann', 'Sure'), verify('ann.sure@acme.com')]);
	expect(items.map((item) => errorOf(item)?.message)).toEqual(rows.map(([, error]) => error));
});

test.each([
	[['/email/find'], 'business: refused, personal: valid', 'personal: not found'],
	[['/email/personal'], 'business: not found, personal: refused', 'INVALID_REQUEST'],
	[['/email/find', '/email/personal'], 'INVALID_REQUEST', 'INVALID_REQUEST'],
])(
	'takes a refused search for one without a result if there is another: %j',
	async (paths, two, one) => {
		const code = 'INVALID_REQUEST';
		sandbox.set({ faults: paths.map((path) => ({ kind: 'envelope', code, match: { path } })) });
		const list = [...people('Ann Novak'), { first: 'Tom', last: 'Nobody' }];
		const items = await enrich({ tryPersonal: true }, list);
		expect(items.map((item) => item.json.tried ?? errorOf(item)?.code)).toEqual([two, one]);
	},
);
