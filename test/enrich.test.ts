import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { address, errorOf, found, matching, paired, someText } from './expected';
import { ENRICH, FIND, keepGoing, people, person, post } from './given';
import { useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

/** Searches for the people in the items. */
async function enrich(parameters: INodeParameters, items: IDataObject[]) {
	return (await service.run(ENRICH, { ...person, ...parameters }, items, keepGoing)).items;
}

const find = (firstName: string, lastName: string, others: object = { company: 'acme.com' }) =>
	post('/email/find', { firstName, lastName, ...others });
const personal = (firstName: string, lastName: string, others: object = {}) =>
	post('/email/personal', { firstName, lastName, ...others });
const verify = (email: string) => post('/email/verify', { email });

const sources = ['company_website'];
/** A field that the node does not know. */
const requestId: unknown = expect.any(String);

function verdict(status: string, freeProvider = false) {
	return { status, deliverable: status === 'valid', disposable: false, freeProvider };
}

/** The fields of the items that decide; the whole items are in the first test. */
function answers(items: Array<{ json: IDataObject }>) {
	return items.map(({ json }) => [json.found, json.email, json.emailType, json.status]);
}
const nobody = [false, null, undefined, undefined];
/** Nobody, with the status of the last address that was verified. */
const nobodyWith = (status: string) => [false, null, undefined, status];

describe('Email: Find and Verify', () => {
	test('gives one item with the address, how sure it is, and what was tried', async () => {
		sandbox.set({ extraFields: true });
		const list = people('Ann Sure', 'Ann Novak', 'Tom Nobody');
		const items = await enrich({ tryPersonal: true }, list);

		service.expectCalls([
			find('Ann', 'Sure'),
			verify('ann.sure@acme.com'),
			find('Ann', 'Novak'),
			personal('Ann', 'Novak'),
			verify('ann.novak@gmail.com'),
			find('Tom', 'Nobody'),
			personal('Tom', 'Nobody'),
		]);
		const tried = 'business: not found, personal: not found';
		expect(items).toEqual(
			paired([
				{
					emailType: 'business',
					...found('ann.sure@acme.com', 0.97, 'very_high', sources),
					...{ ...verdict('valid'), requestId, tried: 'business: valid', paidCalls: 2 },
				},
				{
					emailType: 'personal',
					...found('ann.novak@gmail.com', 0.95, 'very_high'),
					...{ ...verdict('valid', true), requestId },
					...{ tried: 'business: not found, personal: valid', paidCalls: 3 },
				},
				{ found: false, email: null, tried, paidCalls: 2 },
			]),
		);
	});

	test('keeps what is known of the addresses that are not good enough', async () => {
		sandbox.set({ extraFields: true });
		const list = people('Invalid High', 'Ann Low');
		const items = await enrich({ tryPersonal: true, options: { minConfidence: 0.75 } }, list);

		const low = { outcome: 'confidence too low', requestId };
		const business = { emailType: 'business', requestId };
		expect(items).toEqual(
			paired([
				{
					...{ found: false, email: null, status: 'invalid', paidCalls: 3 },
					tried: 'business: invalid, personal: confidence too low',
					rejected: [
						{
							...{ ...business, outcome: 'invalid' },
							...address('invalid.high@acme.com', 0.8, 'high', sources),
							...verdict('invalid'),
						},
						{ emailType: 'personal', ...address('invalid.high@gmail.com', 0.7, 'high'), ...low },
					],
				},
				{
					...{ found: false, email: null, paidCalls: 2 },
					tried: 'business: confidence too low, personal: confidence too low',
					rejected: [
						{ ...business, ...address('ann.low@acme.com', 0.3, 'low', sources), ...low },
						expect.objectContaining({ emailType: 'personal', ...low }),
					],
				},
			]),
		);
	});

	test('goes on to the personal address only if it is wanted and the business one is not good enough', async () => {
		const list = people('Catchall High', 'Unknowns High', 'Invalid Low', 'Valid Low');
		const alone = await enrich({}, list);
		service.expectCalls([
			...list.map(({ first, last }) => find(first, last)),
			...list.map(({ first, last }) => verify(`${first}.${last}@acme.com`.toLowerCase())),
		]);
		const valid = [true, 'valid.low@acme.com', 'business', 'valid'];
		const rejected = ['catch_all', 'unknown', 'invalid'].map(nobodyWith);
		expect(answers(alone)).toEqual([...rejected, valid]);

		sandbox.requests.length = 0;
		const accepting = await enrich({ accept: ['valid', 'catch_all'], tryPersonal: true }, list);
		// What was asked before is remembered; only the personal addresses are new.
		const searches = sandbox.requests.filter(({ path }) => path !== '/email/verify');
		const searched = searches.map(({ path, body }) => [path, (body as IDataObject).firstName]);
		expect(searched.toSorted()).toEqual([
			['/email/personal', 'Invalid'],
			['/email/personal', 'Unknowns'],
		]);
		const [first, , , last] = answers(accepting);
		expect(first).toEqual([true, 'catchall.high@acme.com', 'business', 'catch_all']);
		expect(last).toEqual(valid);
	});

	// They are sure to 0.97, 0.8 and 0.3.
	test.each([
		[0.3, ['sure', 'high', 'low']],
		[0.5, ['sure', 'high']],
		[1, []],
	])('verifies no address that is less sure than %d', async (minConfidence, verified) => {
		const list = people('Ann Sure', 'Ann High', 'Ann Low', 'Tom Nobody');
		const items = await enrich({ options: { minConfidence } }, list);

		service.expectCalls([
			...list.map(({ first, last }) => find(first, last)),
			...verified.map((last) => verify(`ann.${last}@acme.com`)),
		]);
		const accepted = verified.map((last) => [true, `ann.${last}@acme.com`, 'business', 'valid']);
		const others = list.slice(verified.length).map(() => nobody);
		expect(answers(items)).toEqual([...accepted, ...others]);
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
		expect(items.map(({ json }) => json.tried)).toEqual([
			'business: confidence too low, personal: confidence too low',
			'business: confidence too low, personal: confidence too low',
			'personal: confidence too low',
		]);
	});

	test('an error of a later step keeps what the steps before it brought', async () => {
		const match = { path: '/email/verify', bodyIncludes: 'ann.high' };
		sandbox.set({ faults: [{ kind: 'resetAfterWork', match }] });
		const list = people('Ann High', 'Ann Sure', 'Ann High');
		const items = await enrich({}, list);

		service.expectCalls([
			...[find('Ann', 'High'), verify('ann.high@acme.com')],
			...[find('Ann', 'Sure'), verify('ann.sure@acme.com')],
		]);
		const high = { found: true, ...address('ann.high@acme.com', 0.8, 'high', sources) };
		const failedWith = (paidCalls: number) => ({
			...list[0],
			error: {
				message: someText,
				// Once, though another item shares the error.
				advice: matching(/^(?:(?!Before).)+ Before that, it found ann\.high@acme\.com\.$/),
				outcome: 'unknown',
				code: 'ECONNRESET',
				bought: [{ emailType: 'business', outcome: 'not verified', ...high }],
				paidCalls,
			},
		});
		expect(items[0]?.json).toEqual(failedWith(2));
		expect(answers(items.slice(1, 2))).toEqual([[true, 'ann.sure@acme.com', 'business', 'valid']]);
		// Both items share the call that failed.
		expect(items[2]?.json).toEqual(failedWith(0));
	});

	test.each<[boolean | string, string | undefined]>([
		['={{ $json.last === "Nobody" }}', 'Location'],
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
		const { path, body: request } = find('Ann', 'Sure');
		const bobs = { path: '/email/personal', request: { firstName: 'Bob', lastName: 'High' } };
		expect(items).toEqual(
			paired([
				{ dryRun: true, path, request, call: 'new', mayFollow: 1 },
				{ dryRun: true, path, request, call: 'duplicate', mayFollow: 3 },
				{ dryRun: true, ...bobs, call: 'new', mayFollow: 1 },
			]),
		);
	});

	test('a dry run says that a remembered address must be verified', async () => {
		const [ann, bob] = people('Ann Sure', 'Bob Sure');
		await service.run(FIND, person, [{ ...ann }, { ...bob }]);
		await enrich({}, [{ ...bob }]);
		const items = await enrich({ options: { dryRun: true } }, [{ ...ann }, { ...bob }]);
		const { path, body: request } = find('Bob', 'Sure');
		const verification = { path: '/email/verify', request: { email: 'ann.sure@acme.com' } };
		expect(items).toEqual(
			paired([
				{ dryRun: true, ...verification, call: 'new', mayFollow: 0 },
				{ dryRun: true, path, request, call: 'remembered', mayFollow: 1 },
			]),
		);
	});

	test('what can only be wrong is said before anything is paid for', async () => {
		const rows: Array<[IDataObject, string?]> = [
			[{ company: 'Acme Inc' }, 'Company Domain must be a domain, but is "Acme Inc"'],
			[{ company: '' }, 'Company Domain is empty'],
			[{ first: '', last: '' }, 'First Name and Last Name are both empty'],
			[{ accept: [] }, 'Accepted Statuses is empty'],
			[{ accept: [5] }, 'Accepted Statuses has no option "5"'],
			[{ confidence: 70 }, 'Minimum Confidence must be a number from 0 to 1, but is 70'],
			[{}],
		];
		const [ann] = people('Ann Sure');
		const options = { minConfidence: '={{ $json.confidence ?? 0 }}' };
		const items = await enrich(
			{ accept: '={{ $json.accept ?? ["valid"] }}', options },
			rows.map(([wrong]) => ({ ...ann, ...wrong })),
		);

		service.expectCalls([find('Ann', 'Sure'), verify('ann.sure@acme.com')]);
		expect(items.map((item) => errorOf(item)?.message)).toEqual(rows.map(([, error]) => error));
	});

	const both = ['/email/find', '/email/personal'];
	test.each([
		[both.slice(0, 1), 'business: refused, personal: valid', 'personal: not found'],
		[both.slice(1), 'business: not found, personal: refused', 'INVALID_REQUEST'],
		[both, 'INVALID_REQUEST', 'INVALID_REQUEST'],
	])('a refused search finds nobody if there is another one: %j', async (paths, two, one) => {
		const code = 'INVALID_REQUEST';
		sandbox.set({ faults: paths.map((path) => ({ kind: 'envelope', code, match: { path } })) });
		const [ann] = people('Ann Novak');
		const tom = { first: 'Tom', last: 'Nobody' };
		const items = await enrich({ tryPersonal: true }, [{ ...ann }, tom]);
		expect(items.map((item) => item.json.tried ?? errorOf(item)?.code)).toEqual([two, one]);
	});
});
