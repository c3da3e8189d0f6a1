import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { NodeRun } from './engine';
import { containing, errorOf, found, paired, someText } from './expected';
import { ENRICH, keepGoing, people, person, post } from './given';
import { useService } from './service';

const service = useService();
const { sandbox } = service;

/** Searches for the persons in the items. */
async function enrich(
	parameters: INodeParameters,
	persons: IDataObject[],
	options: Partial<NodeRun> = {},
) {
	const all = { ...keepGoing, ...options };
	return (await service.run(ENRICH, { ...person, ...parameters }, persons, all)).items;
}

const find = (firstName: string, lastName: string, others: object = { company: 'acme.com' }) =>
	post('/email/find', { firstName, lastName, ...others });
const personal = (firstName: string, lastName: string, others: object = {}) =>
	post('/email/personal', { firstName, lastName, ...others });
const verify = (email: string) => post('/email/verify', { email });

const website = ['company_website'];

function verdict(status: string, freeProvider = false) {
	return { status, deliverable: status === 'valid', disposable: false, freeProvider };
}

/** The fields of the items that decide; the whole items are in the first test. */
function answers(items: Array<{ json: IDataObject }>) {
	return items.map(({ json }) => [json.found, json.email, json.emailType, json.status]);
}
const nobody = [false, null, undefined, undefined];

describe('Email: Find and Verify', () => {
	test('verifies an address that is just as sure as it must be', async () => {
		await enrich({ options: { minConfidence: 0.38 } }, people('Ann Low', 'Bob Nobody'));
		service.expectCalls([find('Ann', 'Low'), verify('ann.low@acme.com'), find('Bob', 'Nobody')]);
	});

	test('gives one item with the address, how sure it is, and what was tried', async () => {
		sandbox.set({ extraFields: true });
		const items = await enrich(
			{ tryPersonal: true },
			people('Ann Sure', 'Ann Baker', 'Tom Nobody'),
		);

		service.expectCalls([
			find('Ann', 'Sure'),
			verify('ann.sure@acme.com'),
			find('Ann', 'Baker'),
			personal('Ann', 'Baker'),
			verify('ann.baker@gmail.com'),
			find('Tom', 'Nobody'),
			personal('Tom', 'Nobody'),
		]);
		const requestId: unknown = expect.any(String);
		expect(items).toEqual(
			paired([
				{
					emailType: 'business',
					...found('ann.sure@acme.com', 0.97, 'very_high', website),
					...verdict('valid'),
					requestId,
					verification: { requestId },
					tried: 'business: valid',
				},
				{
					emailType: 'personal',
					...found('ann.baker@gmail.com', 0.96, 'very_high'),
					...verdict('valid', true),
					requestId,
					verification: { requestId },
					tried: 'business: not found, personal: valid',
				},
				{ found: false, email: null, tried: 'business: not found, personal: not found' },
			]),
		);
	});

	test('keeps what is known of the addresses that are not good enough', async () => {
		// A field that the node does not know stays.
		sandbox.set({ extraFields: true });
		const items = await enrich(
			{ tryPersonal: true, options: { minConfidence: 0.7 } },
			people('Invalid Reed', 'Ann Low'),
		);

		const outcome = 'confidence too low';
		const reed = { email: 'ireed@acme.com', confidence: 0.72, outcome: 'invalid' };
		const reedAtHome = { email: 'ireed@hotmail.com', confidence: 0.68, outcome };
		const low = { email: 'ann.low@acme.com', confidence: 0.38, outcome };
		const requestId: unknown = expect.any(String);
		expect(items.map(({ json }) => json)).toEqual([
			{
				found: false,
				email: null,
				tried: 'business: invalid, personal: confidence too low',
				rejected: [
					{ emailType: 'business', ...reed, requestId },
					{ emailType: 'personal', ...reedAtHome, requestId },
				],
			},
			{
				found: false,
				email: null,
				tried: 'business: confidence too low, personal: confidence too low',
				rejected: [
					{ emailType: 'business', ...low, requestId },
					expect.objectContaining({ emailType: 'personal', outcome }),
				],
			},
		]);
	});

	test('goes on to the personal address only if it is wanted and the business one is not good enough', async () => {
		const list = people('Catchall High', 'Unknown High', 'Invalid Low', 'Valid Low');
		const alone = await enrich({}, list);
		service.expectCalls([
			...list.map(({ first, last }) => find(first, last)),
			...list.map(({ first, last }) => verify(`${first}.${last}@acme.com`.toLowerCase())),
		]);
		const valid = [true, 'valid.low@acme.com', 'business', 'valid'];
		expect(answers(alone)).toEqual([nobody, nobody, nobody, valid]);

		sandbox.requests.length = 0;
		const accepting = await enrich({ accept: ['valid', 'catch_all'], tryPersonal: true }, list);
		// What was asked before is remembered; only the personal addresses are new.
		const searches = sandbox.requests.filter(({ path }) => path !== '/email/verify');
		expect(
			searches.map(({ path, body }) => [path, (body as IDataObject).firstName]).toSorted(),
		).toEqual([
			['/email/personal', 'Invalid'],
			['/email/personal', 'Unknown'],
		]);
		const [first, , , last] = answers(accepting);
		expect(first).toEqual([true, 'catchall.high@acme.com', 'business', 'catch_all']);
		expect(last).toEqual(valid);
	});

	test('pays for no verification that cannot change the answer', async () => {
		const items = await enrich(
			{ options: { minConfidence: 0.5 } },
			people('Ann Sure', 'Ann High', 'Ann Medium', 'Ann Low'),
		);

		service.expectCalls([
			...['Sure', 'High', 'Medium', 'Low'].map((last) => find('Ann', last)),
			verify('ann.sure@acme.com'),
			verify('ann.high@acme.com'),
			verify('ann.medium@acme.com'),
		]);
		expect(answers(items)).toEqual([
			[true, 'ann.sure@acme.com', 'business', 'valid'],
			[true, 'ann.high@acme.com', 'business', 'valid'],
			[true, 'ann.medium@acme.com', 'business', 'valid'],
			nobody,
		]);
	});

	test('gives each finder the fields that it takes, and leaves out one that has nothing to go by', async () => {
		const linkedinUrl = 'https://www.linkedin.com/in/ann';
		const location = 'Graz, Styria';
		const items = await enrich({ tryPersonal: true, options: { location, minConfidence: 1 } }, [
			{ first: 'Ann', last: 'High', company: 'acme.com', profile: linkedinUrl },
			{ first: 'Bob', last: 'High', profile: linkedinUrl },
			{ first: 'Cid', last: 'High' },
		]);

		// Our sandbox wants a company; whether the service does is not known.
		service.expectViolations();
		service.expectCalls([
			find('Ann', 'High', { company: 'acme.com', linkedinUrl }),
			personal('Ann', 'High', { linkedinUrl, location }),
			find('Bob', 'High', { linkedinUrl }),
			personal('Bob', 'High', { linkedinUrl, location }),
			personal('Cid', 'High', { location }),
		]);
		expect(items[1]?.json).toMatchObject({
			found: false,
			tried: 'business: not found, personal: confidence too low',
		});
	});

	test('an error of a later step keeps what the steps before it brought', async () => {
		sandbox.set({
			faults: [
				{ kind: 'resetAfterWork', match: { path: '/email/verify', bodyIncludes: 'ann.high' } },
			],
		});
		const list = people('Ann High', 'Ann Sure');
		const items = await enrich({}, list);

		service.expectCalls([
			find('Ann', 'High'),
			verify('ann.high@acme.com'),
			find('Ann', 'Sure'),
			verify('ann.sure@acme.com'),
		]);
		const high = found('ann.high@acme.com', 0.77, 'high', ['linkedin', ...website]);
		expect(items[0]?.json).toEqual({
			...list[0],
			error: {
				message: someText,
				advice: containing('"bought"'),
				outcome: 'unknown',
				code: 'ECONNRESET',
				bought: [{ emailType: 'business', outcome: 'not verified', ...high }],
			},
		});
		expect(answers(items.slice(1))).toEqual([[true, 'ann.sure@acme.com', 'business', 'valid']]);
	});

	test.each<[boolean | string, string | undefined]>([
		[true, 'Location'],
		['={{ $json.last === "Nobody" }}', 'Location'],
		[false, undefined],
		['={{ $json.unknown }}', undefined],
	])('reads the location only for a personal address: %j', async (tryPersonal, field) => {
		const options = { location: '={{ ({ no: "place" }) }}' };
		const items = await enrich({ tryPersonal, options }, people('Tom Nobody'));
		expect(items.map((item) => errorOf(item)?.field)).toEqual([field]);
		service.expectCalls(field ? [] : [find('Tom', 'Nobody')]);
	});

	test('a dry run says how many calls may follow', async () => {
		const [ann] = people('Ann Sure');
		const items = await enrich(
			{ tryPersonal: '={{ $json.personal }}', options: { dryRun: true } },
			[{ ...ann }, { ...ann, personal: true }, { first: 'Bob', last: 'High', personal: true }],
		);

		service.expectCalls([]);
		const annsSearch = {
			path: '/email/find',
			request: { firstName: 'Ann', lastName: 'Sure', company: 'acme.com' },
		};
		const bobsSearch = {
			path: '/email/personal',
			request: { firstName: 'Bob', lastName: 'High' },
		};
		expect(items).toEqual(
			paired([
				{ dryRun: true, ...annsSearch, call: 'new', mayFollow: 1 },
				{ dryRun: true, ...annsSearch, call: 'duplicate', mayFollow: 3 },
				{ dryRun: true, ...bobsSearch, call: 'new', mayFollow: 1 },
			]),
		);
	});

	test('what can only be wrong is said before anything is paid for', async () => {
		const rows: Array<[IDataObject, string?]> = [
			[{ company: 'Acme Inc' }, 'Company Domain must be a domain, but is "Acme Inc"'],
			[{ company: '' }, 'Company Domain is empty'],
			[{ first: '', last: '' }, 'First Name and Last Name are both empty'],
			[{ accept: [] }, 'Accepted Statuses is empty'],
			[{ accept: [5] }, 'Accepted Statuses has no option 5'],
			[{ accept: 'valid; unknown' }, 'Accepted Statuses has no option "valid; unknown"'],
			[{ confidence: 70 }, 'Minimum Confidence must be a number from 0 to 1, but is 70'],
			[{}],
		];
		const [ann] = people('Ann Sure');
		const items = await enrich(
			{
				accept: '={{ $json.accept ?? ["valid"] }}',
				options: { minConfidence: '={{ $json.confidence ?? 0 }}' },
			},
			rows.map(([wrong]) => ({ ...ann, ...wrong })),
		);

		service.expectCalls([find('Ann', 'Sure'), verify('ann.sure@acme.com')]);
		expect(items.map((item) => errorOf(item)?.message)).toEqual(rows.map(([, error]) => error));
	});

	test('finds nobody if the service needs a profile for the personal email', async () => {
		const code = 'INVALID_REQUEST';
		sandbox.set({ faults: [{ kind: 'envelope', code, match: { path: '/email/personal' } }] });
		const profile = 'https://www.linkedin.com/in/tom';
		const [ann, tom, eve, sue] = people('Ann Sure', 'Tom Nobody', 'Eve Nobody', 'Sue Nobody');
		const bob = { first: 'Bob', last: 'Nobody' };
		const list = [{ ...ann }, { ...tom }, { ...eve }, { ...sue, profile }, bob];
		const items = await enrich({ tryPersonal: true }, list);

		service.expectCalls([
			find('Ann', 'Sure'),
			verify('ann.sure@acme.com'),
			find('Tom', 'Nobody'),
			personal('Tom', 'Nobody'),
			find('Eve', 'Nobody'),
			personal('Eve', 'Nobody'),
			find('Sue', 'Nobody', { company: 'acme.com', linkedinUrl: profile }),
			personal('Sue', 'Nobody', { linkedinUrl: profile }),
			personal('Bob', 'Nobody'),
		]);
		const none = { found: false, email: null, tried: 'business: not found, personal: not found' };
		expect(items.slice(1, 3)).toEqual(paired([none, none, none]).slice(1));
		expect(items[0]?.json).toMatchObject({ email: 'ann.sure@acme.com', tried: 'business: valid' });
		// The profile or the only call is refused for another reason.
		expect(items.slice(3).map((item) => errorOf(item)?.code)).toEqual([code, code]);
	});
});
