import type { IDataObject } from 'n8n-workflow';
import { paired, post, useService } from './service';

const service = useService();
const { sandbox } = service;

const ENRICH = ['email', 'enrich'] as const;
const keepGoing = { onError: 'continueRegularOutput' } as const;
const someText: unknown = expect.stringMatching(/\S/);

/** A person from the fields of the item; fields that the item lacks are empty. */
const person = {
	firstName: '={{ $json.first }}',
	lastName: '={{ $json.last }}',
	company: '={{ $json.company }}',
	linkedinUrl: '={{ $json.profile }}',
};

const find = (firstName: string, lastName: string, others: IDataObject = { company: 'acme.com' }) =>
	post('/email/find', { firstName, lastName, ...others });
const personal = (firstName: string, lastName: string, others: IDataObject = {}) =>
	post('/email/personal', { firstName, lastName, ...others });
const verify = (email: string) => post('/email/verify', { email });

/** The fields of the items that decide; the whole items are in the first test. */
function answers(items: Array<{ json: IDataObject }>) {
	return items.map(({ json: { found, email, emailType, status } }) => [
		found,
		email,
		emailType,
		status,
	]);
}

describe('Email: Find and Verify', () => {
	test('gives one item with the address, how sure it is, and what was tried', async () => {
		sandbox.set({ extraFields: true });
		const { items } = await service.run(ENRICH, { ...person, tryPersonal: true }, [
			{ first: 'Ann', last: 'Sure', company: 'acme.com' },
			{ first: 'Ann', last: 'Baker', company: 'acme.com' },
			{ first: 'Tom', last: 'Nobody', company: 'acme.com' },
		]);

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
		const sure = {
			found: true,
			email: 'ann.sure@acme.com',
			confidence: 0.97,
			confidenceLevel: 'very_high',
			sources: ['company_website'],
			requestId,
		};
		const sureVerdict = {
			email: 'ann.sure@acme.com',
			status: 'valid',
			deliverable: true,
			disposable: false,
			freeProvider: false,
			requestId,
		};
		const baker = {
			found: true,
			email: 'ann.baker@gmail.com',
			confidence: 0.96,
			confidenceLevel: 'very_high',
			requestId,
		};
		const bakerVerdict = { ...sureVerdict, email: 'ann.baker@gmail.com', freeProvider: true };
		expect(items).toEqual(
			paired([
				{
					emailType: 'business',
					...sure,
					...sureVerdict,
					verification: { requestId },
					tried: 'business: valid',
				},
				{
					emailType: 'personal',
					...baker,
					...bakerVerdict,
					verification: { requestId },
					tried: 'business: not found, personal: valid',
				},
				{ found: false, email: null, tried: 'business: not found, personal: not found' },
			]),
		);
	});

	test('keeps what is known of the addresses that are not good enough', async () => {
		const { items } = await service.run(
			ENRICH,
			{ ...person, tryPersonal: true, options: { minConfidence: 0.7 } },
			[
				{ first: 'Invalid', last: 'Reed', company: 'acme.com' },
				{ first: 'Ann', last: 'Low', company: 'acme.com' },
			],
		);
		expect(items.map(({ json }) => json)).toEqual([
			{
				found: false,
				email: null,
				tried: 'business: invalid, personal: confidence too low',
				rejected: [
					{
						emailType: 'business',
						outcome: 'invalid',
						found: true,
						email: 'ireed@acme.com',
						confidence: 0.72,
						confidenceLevel: 'high',
						sources: ['company_website'],
						status: 'invalid',
						deliverable: false,
						disposable: false,
						freeProvider: false,
					},
					{
						emailType: 'personal',
						outcome: 'confidence too low',
						found: true,
						email: 'ireed@hotmail.com',
						confidence: 0.68,
						confidenceLevel: 'medium',
					},
				],
			},
			{
				found: false,
				email: null,
				tried: 'business: confidence too low, personal: confidence too low',
				rejected: [
					{
						emailType: 'business',
						outcome: 'confidence too low',
						found: true,
						email: 'ann.low@acme.com',
						confidence: 0.38,
						confidenceLevel: 'low',
						sources: ['linkedin', 'company_website'],
					},
					expect.objectContaining({ emailType: 'personal', outcome: 'confidence too low' }),
				],
			},
		]);
	});

	test('goes on to the personal address only if it is wanted and the business one is not good enough', async () => {
		const people = [
			{ first: 'Catchall', last: 'High', company: 'acme.com' },
			{ first: 'Unknown', last: 'High', company: 'acme.com' },
			{ first: 'Invalid', last: 'Low', company: 'acme.com' },
			{ first: 'Valid', last: 'Low', company: 'acme.com' },
		];
		const alone = await service.run(ENRICH, person, people);
		const [catchAll, unknown, invalid, valid] = people.map(({ first, last }) =>
			`${first}.${last}@acme.com`.toLowerCase(),
		);
		const business = [
			...people.map(({ first, last }) => find(first, last)),
			...[catchAll, unknown, invalid, valid].map((email) => verify(String(email))),
		];
		service.expectCalls(business);
		const nothing = [false, null, undefined, undefined];
		expect(answers(alone.items)).toEqual([
			nothing,
			nothing,
			nothing,
			[true, valid, 'business', 'valid'],
		]);

		sandbox.requests.length = 0;
		const accepting = await service.run(
			ENRICH,
			{ ...person, accept: ['valid', 'catch_all'], tryPersonal: true },
			people,
			{ executionId: 'second' },
		);
		// What was asked before is remembered; only the personal addresses are new.
		const calls = sandbox.requests.map(({ path, body }) => [path, (body as IDataObject).firstName]);
		expect(calls.filter(([path]) => path === '/email/find')).toEqual([]);
		expect(calls.filter(([path]) => path === '/email/personal').toSorted()).toEqual([
			['/email/personal', 'Invalid'],
			['/email/personal', 'Unknown'],
		]);
		const [first, , , last] = answers(accepting.items);
		expect(first).toEqual([true, catchAll, 'business', 'catch_all']);
		expect(last).toEqual([true, valid, 'business', 'valid']);
	});

	test('pays for no verification that cannot change the answer', async () => {
		const { items } = await service.run(
			ENRICH,
			{ ...person, options: { minConfidence: 0.5, trustConfidence: 0.9 } },
			['Sure', 'High', 'Medium', 'Low'].map((last) => ({
				first: 'Ann',
				last,
				company: 'acme.com',
			})),
		);

		service.expectCalls([
			find('Ann', 'Sure'),
			find('Ann', 'High'),
			find('Ann', 'Medium'),
			find('Ann', 'Low'),
			verify('ann.high@acme.com'),
			verify('ann.medium@acme.com'),
		]);
		expect(answers(items)).toEqual([
			[true, 'ann.sure@acme.com', 'business', null],
			[true, 'ann.high@acme.com', 'business', 'valid'],
			[true, 'ann.medium@acme.com', 'business', 'valid'],
			[false, null, undefined, undefined],
		]);
	});

	test('gives each finder the fields that it takes, and leaves out one that has nothing to go by', async () => {
		const profile = 'https://www.linkedin.com/in/ann';
		const { items } = await service.run(
			ENRICH,
			{
				...person,
				tryPersonal: true,
				options: { location: 'Graz, Styria', minConfidence: 1 },
			},
			[
				{ first: 'Ann', last: 'High', company: 'acme.com', profile },
				{ first: 'Bob', last: 'High', profile },
				{ first: 'Cid', last: 'High' },
			],
		);

		const location = 'Graz, Styria';
		// Our sandbox wants a company; whether the service does is not known.
		service.expectViolations();
		service.expectCalls([
			find('Ann', 'High', { company: 'acme.com', linkedinUrl: profile }),
			personal('Ann', 'High', { linkedinUrl: profile, location }),
			find('Bob', 'High', { linkedinUrl: profile }),
			personal('Bob', 'High', { linkedinUrl: profile, location }),
			personal('Cid', 'High', { location }),
		]);
		expect(items[1]?.json).toMatchObject({
			found: false,
			tried: 'business: not found, personal: confidence too low',
		});
	});

	test('pays for the same person once', async () => {
		const ann = { first: 'Ann', last: 'Sure', company: 'acme.com' };
		const { items } = await service.run(ENRICH, person, [
			ann,
			{ ...ann, company: 'https://www.ACME.com/team' },
			{ ...ann, first: ' ann ' },
		]);

		expect(sandbox.requests.map(({ path }) => path).toSorted()).toEqual([
			'/email/find',
			'/email/verify',
		]);
		expect(answers(items)).toEqual(
			Array.from({ length: 3 }, () => [true, 'ann.sure@acme.com', 'business', 'valid']),
		);
	});

	test('an error of a later step keeps what the steps before it brought', async () => {
		sandbox.set({
			faults: [
				{ kind: 'resetAfterWork', match: { path: '/email/verify', bodyIncludes: 'ann.high' } },
			],
		});
		const { items } = await service.run(
			ENRICH,
			person,
			[
				{ first: 'Ann', last: 'High', company: 'acme.com' },
				{ first: 'Ann', last: 'Sure', company: 'acme.com' },
			],
			keepGoing,
		);

		service.expectCalls([
			find('Ann', 'High'),
			verify('ann.high@acme.com'),
			find('Ann', 'Sure'),
			verify('ann.sure@acme.com'),
		]);
		expect(items[0]?.json).toEqual({
			first: 'Ann',
			last: 'High',
			company: 'acme.com',
			error: {
				message: someText,
				advice: expect.stringContaining('"bought"') as unknown,
				outcome: 'unknown',
				code: 'ECONNRESET',
				bought: [
					{
						emailType: 'business',
						outcome: 'not verified',
						found: true,
						email: 'ann.high@acme.com',
						confidence: 0.77,
						confidenceLevel: 'high',
						sources: ['linkedin', 'company_website'],
					},
				],
			},
		});
		expect(answers(items.slice(1))).toEqual([[true, 'ann.sure@acme.com', 'business', 'valid']]);
	});

	test('items that find the credits used up each keep what was bought for them', async () => {
		// Two searches and one verification.
		sandbox.set({ accounts: { poor: { plan: 'enterprise', credits: 3 } } });
		const { items } = await service.run(
			ENRICH,
			{ ...person, options: { parallel: 1 } },
			['Sure', 'High', 'Low'].map((last) => ({ first: 'Ann', last, company: 'acme.com' })),
			{ ...keepGoing, credential: { apiKey: 'poor' } },
		);

		expect(sandbox.credits('poor')).toBe(0);
		const bought = items.flatMap(({ json }) => {
			const { bought: own = [] } = (json.error ?? {}) as { bought?: IDataObject[] };
			return own.map(({ email }) => [json.last, email]);
		});
		expect(bought.length).toBeGreaterThan(0);
		const own = { Sure: 'ann.sure', High: 'ann.high', Low: 'ann.low' };
		for (const [last, email] of bought) {
			expect(email).toBe(`${own[last as keyof typeof own]}@acme.com`);
		}
		const codes = items.map(({ json }) => (json.error as IDataObject | undefined)?.message);
		expect(codes.filter((message) => message !== undefined).length).toBeGreaterThanOrEqual(2);
	});

	test('nothing good enough is an error if that is asked for', async () => {
		const { items } = await service.run(
			ENRICH,
			{ ...person, options: { errorIfNotFound: true } },
			[
				{ first: 'Invalid', last: 'Low', company: 'acme.com' },
				{ first: 'Ann', last: 'Sure', company: 'acme.com' },
			],
			keepGoing,
		);
		expect(items[0]?.json.error).toMatchObject({
			message: 'No acceptable address was found for this person',
			code: 'NOT_FOUND',
			tried: 'business: invalid',
			rejected: [{ email: 'invalid.low@acme.com', status: 'invalid' }],
		});
		expect(answers(items.slice(1))).toEqual([[true, 'ann.sure@acme.com', 'business', 'valid']]);
	});

	test('a dry run says how many calls may follow', async () => {
		const ann = { first: 'Ann', last: 'Sure', company: 'acme.com' };
		const { items } = await service.run(
			ENRICH,
			{ ...person, tryPersonal: '={{ $json.personal }}', options: { dryRun: true } },
			[ann, { ...ann, personal: true }, { first: 'Bob', last: 'High', personal: true }],
		);

		service.expectCalls([]);
		const totals = { items: 3, new: 2, duplicate: 1, remembered: 0, free: 0, mayFollow: 5 };
		const search = {
			dryRun: true,
			path: '/email/find',
			request: { firstName: 'Ann', lastName: 'Sure', company: 'acme.com' },
			key: 'ed8730fab578d1c5fef89b80a981ad74',
			totals,
		};
		expect(items).toEqual(
			paired([
				{ ...search, call: 'new', mayFollow: 1 },
				{ ...search, call: 'duplicate', mayFollow: 3 },
				{
					...search,
					call: 'new',
					path: '/email/personal',
					request: { firstName: 'Bob', lastName: 'High' },
					key: '61f0bf4b5ed06cbdcfd97b9415f8b3e9',
					mayFollow: 1,
				},
			]),
		);
	});

	test('what can only be wrong is said before anything is paid for', async () => {
		const ann = { first: 'Ann', last: 'Sure', company: 'acme.com' };
		const { items } = await service.run(
			ENRICH,
			{
				...person,
				accept: '={{ $json.accept ?? ["valid"] }}',
				options: { minConfidence: '={{ $json.confidence ?? 0 }}' },
			},
			[
				{ ...ann, company: 'Acme Inc' },
				{ ...ann, company: '' },
				{ company: 'acme.com' },
				{ ...ann, accept: [] },
				{ ...ann, accept: [5] },
				{ ...ann, accept: 'valid; unknown' },
				{ ...ann, confidence: 70 },
				ann,
			],
			keepGoing,
		);

		service.expectCalls([find('Ann', 'Sure'), verify('ann.sure@acme.com')]);
		expect(items.map(({ json }) => (json.error as IDataObject | undefined)?.message)).toEqual([
			'Company Domain must be a domain, but is "Acme Inc"',
			'Company Domain is empty',
			'First Name and Last Name are both empty',
			'Accept Results is empty',
			'Accept Results has no option 5',
			'Accept Results has no option "valid; unknown"',
			'Minimum Confidence must be a number from 0 to 1, but is 70',
			undefined,
		]);
	});
});
