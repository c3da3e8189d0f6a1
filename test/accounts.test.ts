/** Which account pays for an item: the one that the credential names for it. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { hintTexts, type NodeRun } from './engine';
import { errorOf, including, paired, verdictOn } from './expected';
import { BALANCE, ENRICH, START, VERIFY, keepGoing, people, person, type Operation } from './given';
import { SECRET, useService } from './service';

const service = useService();
const { sandbox } = service;

/** Two accounts for each test, since results are remembered by account. */
let [A, B] = ['', ''];
let tests = 0;
const byItem = { apiKey: '={{ $json.key }}' };
const address = { email: '={{ $json.address }}' };

/** Rows of these accounts, with an address each. */
const rows = (...keys: string[]) =>
	keys.map((key, index) => ({ key, address: `valid.${String(index)}@acme.com` }));

beforeEach(() => {
	tests += 1;
	[A, B] = ['a', 'b'].map((name) => `${SECRET}-${name}${String(tests)}`) as [string, string];
	const accounts = [A, B].map((key) => [key, { plan: 'enterprise', credits: 1000 }] as const);
	sandbox.set({ accounts: Object.fromEntries(accounts) });
});

/** Runs an operation with the key that each item holds. */
async function run(
	operation: Operation,
	parameters: INodeParameters,
	items: IDataObject[],
	options: Partial<NodeRun> = {},
) {
	return await service.run(operation, parameters, items, {
		credential: byItem,
		...keepGoing,
		...options,
	});
}

/** The body of each request, by its account. */
function sentBy(key: string) {
	return sandbox.requests.filter(({ account }) => account === key).map(({ body }) => body);
}
const spent = () => [A, B].map((key) => 1000 - sandbox.credits(key));

describe('A key that each item names itself', () => {
	test('pays for the item, and the same address once for each account', async () => {
		const items = rows(A, B, B, A, B);
		items.push({ key: A, address: 'valid.1@acme.com' }, { key: B, address: 'valid.1@acme.com' });
		const result = await run(VERIFY, address, items);

		const own = (key: string) =>
			items.filter((item) => item.key === key).map(({ address: email }) => ({ email }));
		expect(sentBy(A)).toEqual(expect.arrayContaining(own(A)));
		expect(sentBy(B)).toEqual(expect.arrayContaining(own(B).slice(0, 3)));
		expect([sentBy(A).length, sentBy(B).length]).toEqual([3, 3]);
		expect(spent()).toEqual([3, 3]);
		expect(result.items).toEqual(paired(items.map(({ address }) => verdictOn(address))));
		expect(hintTexts(result)).toEqual([
			'info: 7 items: 7 valid · 2 accounts · 6 paid calls (6 verifications) · 1 reused for free',
		]);
		expect(result.readings).toBe(7);
	});

	test('pays for the verification, too, and for scrapes', async () => {
		const list = people('Ann Sure', 'Bob Sure', 'Cid Sure').map((each, index) => ({
			...each,
			key: index === 1 ? B : A,
		}));
		await run(ENRICH, person, list);
		expect(spent()).toEqual([4, 2]);
		await run(START, { limit: '={{ $itemIndex + 1 }}' }, rows(A, B, A));
		expect(spent()).toEqual([4 + 1 + 3, 2 + 2]);
	});

	test('reads the balance of each account once', async () => {
		const { items } = await run(BALANCE, {}, rows(A, B, A, B));
		expect(items.map(({ json }) => json.credits)).toEqual([1000, 1000, 1000, 1000]);
		expect([A, B].map((key) => sentBy(key).length)).toEqual([1, 1]);
	});

	test.each([
		['no key', 1, '', 'is empty'],
		['no key for the first item', 0, '', 'is empty'],
		[
			'a key that no header can hold',
			2,
			'sk-\u200b',
			'contains a character that no key can contain (U+200B)',
		],
	])('fails only the item that has none: %s', async (_, wrong, key, problem) => {
		const message = `API Key in the LeadGen credential ${problem}`;
		const items = rows(...[A, B].toSpliced(wrong, 0, key));
		const result = await run(VERIFY, address, items);
		expect(spent()).toEqual([1, 1]);
		expect(sandbox.requests).toHaveLength(2);
		const outcomes = items.map((item, index) =>
			index === wrong
				? { ...item, error: including({ message, field: 'API Key' }) }
				: verdictOn(item.address),
		);
		expect(result.items).toEqual(paired(outcomes));
	});

	test('stops no other account when its credits run out', async () => {
		sandbox.set({
			accounts: {
				[A]: { plan: 'enterprise', credits: 1 },
				[B]: { plan: 'enterprise', credits: 1000 },
			},
		});
		const items = rows(A, B, A, B, A, B);
		const result = await run(VERIFY, { ...address, options: { parallel: 1 } }, items);
		expect(result.items.map((item) => errorOf(item) === undefined)).toEqual([
			true,
			true,
			false,
			true,
			false,
			true,
		]);
		expect(sandbox.credits(B)).toBe(1000 - 3);
		expect(sentBy(A)).toHaveLength(2);
	});

	test('names another service, too', async () => {
		const host = new URL(sandbox.url).host;
		const credential = { baseUrl: '={{ $json.url }}', apiKey: A };
		const items = ['http://HOST', 'HOST', 'http://HOST/'].map((url, index) => ({
			url: url.replace('HOST', host),
			address: `valid.${String(index)}@acme.com`,
		}));
		const result = await service.run(VERIFY, address, items, { ...keepGoing, credential });
		expect(result.items.map((item) => errorOf(item)?.field)).toEqual([
			undefined,
			'Base URL',
			undefined,
		]);
		expect(sentBy(A)).toEqual([items[0], items[2]].map((item) => ({ email: item?.address })));
	});

	test('fails the items whose expression fails, as n8n says it', async () => {
		const credential = { apiKey: '={{ $json.account.key.trim() }}' };
		const items = [
			{ address: 'valid.0@acme.com' },
			{ address: 'valid.1@acme.com', account: { key: A } },
			{ address: 'valid.2@acme.com' },
		];
		const result = await service.run(VERIFY, address, items, { ...keepGoing, credential });
		expect(sandbox.requests.map(({ account, body }) => [account, body])).toEqual([
			[A, { email: 'valid.1@acme.com' }],
		]);
		expect(result.items.map((item) => errorOf(item) === undefined)).toEqual([false, true, false]);
	});
});

test('A credential without an expression that items change is read once, however many items there are', async () => {
	const items = rows(...new Array<string>(50).fill(A));
	const { readings } = await service.run(VERIFY, address, items, { credential: { apiKey: A } });
	expect(readings).toBe(1);
	expect(spent()).toEqual([50, 0]);
});
