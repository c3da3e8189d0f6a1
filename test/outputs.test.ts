import type { INodeExecutionData } from 'n8n-workflow';
import { useService } from './service';

const service = useService();
const VERIFY = ['email', 'verify'] as const;
const split = { options: { splitOutput: true } };
const addresses = ['invalid.a', 'valid.b', 'catchall.c', 'valid.d', 'unknown.e', 'invalid.f'].map(
	(name) => ({ address: `${name}@acme.com` }),
);

/** Which of the incoming items each output holds. */
function places(outputs: INodeExecutionData[][]) {
	return outputs.map((items) => items.map(({ pairedItem }) => pairedItem));
}
const at = (...items: number[]) => items.map((item) => ({ item }));

describe('Split Output', () => {
	test('gives each result to the output of its kind, in order', async () => {
		const { outputs } = await service.run(
			VERIFY,
			{ email: '={{ $json.address }}', ...split },
			addresses,
		);
		expect(places(outputs)).toEqual([at(1, 3), at(2, 4), at(0, 5)]);
		expect(outputs.map((items) => items.map(({ json }) => json.status))).toEqual([
			['valid', 'valid'],
			['catch_all', 'unknown'],
			['invalid', 'invalid'],
		]);
	});

	test('goes by the result, wherever in the item it is put', async () => {
		const { outputs } = await service.run(
			VERIFY,
			{
				email: '={{ $json.address }}',
				options: { splitOutput: true, includeInput: true, resultField: 'verdict' },
			},
			addresses.map((item) => ({ ...item, status: 'valid' })),
		);
		expect(places(outputs)).toEqual([at(1, 3), at(2, 4), at(0, 5)]);
	});

	test('keeps one output unless it is switched on', async () => {
		const { outputs } = await service.run(VERIFY, { email: '={{ $json.address }}' }, addresses);
		expect(places(outputs)).toEqual([at(0, 1, 2, 3, 4, 5)]);
	});

	test.each([
		['enrich', ['Low', 'Nobody', 'Sure']],
		['findBusiness', ['High', 'Nobody', 'Low']],
		['findPersonal', ['High', 'Nobody', 'Low']],
	])('gives people without an address an output of their own: %s', async (operation, names) => {
		const { outputs } = await service.run(
			['email', operation],
			{ firstName: 'Ann', lastName: '={{ $json.last }}', company: 'acme.com', ...split },
			names.map((last) => ({ last })),
		);
		expect(places(outputs)).toEqual([at(0, 2), at(1)]);
	});

	test('gives the other items their results if an option of the first one is broken', async () => {
		const { outputs } = await service.run(
			['email', 'findBusiness'],
			{
				...{ firstName: 'Ann', lastName: '={{ $json.last }}', company: 'acme.com' },
				options: {
					...split.options,
					linkedinUrl: "={{ $json.url ?? $('Nowhere').item.json.url }}",
				},
			},
			[{ last: 'High' }, { last: 'Low', url: '' }, { last: 'Nobody', url: '' }],
			{ onError: 'continueErrorOutput' },
		);
		expect(places(outputs)).toEqual([at(1), at(2), at(0)]);
		const message = "Referenced node doesn't exist";
		expect(outputs[2]?.[0]?.json.error).toEqual(expect.objectContaining({ message }));
	});

	test.each([
		['continueRegularOutput', [at(1), at(0, 2), at(3)]],
		['continueErrorOutput', [at(1), at(), at(3), at(0, 2)]],
	] as const)('never takes a failed item for a valid one: %s', async (onError, expected) => {
		service.sandbox.set({
			faults: [{ kind: 'html', status: 502, match: { bodyIncludes: 'lost' } }],
		});
		const { outputs } = await service.run(
			VERIFY,
			{ email: '={{ $json.address }}', ...split },
			['no address', 'valid@acme.com', 'lost@acme.com', 'invalid@acme.com'].map((address) => ({
				address,
				status: 'valid',
			})),
			{ onError },
		);
		expect(places(outputs)).toEqual(expected);
	});

	test('gives the plan of a dry run an output of its own', async () => {
		const { outputs } = await service.run(
			VERIFY,
			{ email: '={{ $json.address }}', options: { splitOutput: true, dryRun: true } },
			addresses,
		);
		expect(places(outputs)).toEqual([at(), at(), at(), at(0, 1, 2, 3, 4, 5)]);
	});

	test('does not give the plan of a dry run to the people who are not found', async () => {
		const { outputs } = await service.run(
			['email', 'enrich'],
			{
				...{ firstName: 'Ann', lastName: '={{ $json.last }}', company: 'acme.com' },
				options: { splitOutput: true, dryRun: true },
			},
			[{ last: 'High' }, { last: '' }, { last: '-' }],
			{ onError: 'continueErrorOutput' },
		);
		expect(places(outputs)).toEqual([at(), at(), at(0, 1), at(2)]);
	});
});
