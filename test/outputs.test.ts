import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { NodeRun } from './engine';
import { useService } from './service';

const service = useService();
const addresses = ['invalid.a', 'valid.b', 'catchall.c', 'valid.d', 'unknown.e', 'invalid.f'].map(
	(name) => ({ address: `${name}@acme.com`, status: 'valid' }),
);
const errorOutput = { onError: 'continueErrorOutput' } as const;

async function verify(
	options: INodeParameters,
	items: IDataObject[] = addresses,
	more: Partial<NodeRun> = {},
) {
	const parameters = { email: '={{ $json.address }}', options };
	return (await service.run(['email', 'verify'], parameters, items, more)).outputs;
}

async function find(
	operation: string,
	options: INodeParameters,
	items: IDataObject[],
	more: Partial<NodeRun> = {},
) {
	const person = { firstName: 'Ann', lastName: '={{ $json.last }}', company: 'acme.com' };
	return (await service.run(['email', operation], { ...person, options }, items, more)).outputs;
}

/** Which of the incoming items each output holds. */
function places(outputs: INodeExecutionData[][]) {
	return outputs.map((items) => items.map(({ pairedItem }) => pairedItem));
}
const at = (...items: number[]) => items.map((item) => ({ item }));

describe('Split Output', () => {
	test('gives each result to the output of its kind, in order', async () => {
		const outputs = await verify({ splitOutput: true });
		expect(places(outputs)).toEqual([at(1, 3), at(2, 4), at(0, 5)]);
		expect(outputs.map((items) => items.map(({ json }) => json.status))).toEqual([
			['valid', 'valid'],
			['catch_all', 'unknown'],
			['invalid', 'invalid'],
		]);
	});

	test.each<[string, INodeParameters, unknown]>([
		[
			'goes by the result, wherever in the item it is put',
			{ splitOutput: true, includeInput: true, resultField: 'verdict' },
			[at(1, 3), at(2, 4), at(0, 5)],
		],
		['keeps one output unless it is switched on', {}, [at(0, 1, 2, 3, 4, 5)]],
		[
			'gives the plan of a dry run an output of its own',
			{ splitOutput: true, dryRun: true },
			[at(), at(), at(), at(0, 1, 2, 3, 4, 5)],
		],
	])('%s', async (_, options, expected) => {
		expect(places(await verify(options))).toEqual(expected);
	});

	test.each([
		['enrich', ['Low', 'Nobody', 'Sure']],
		['findBusiness', ['High', 'Nobody', 'Low']],
		['findPersonal', ['High', 'Nobody', 'Low']],
	])('gives people without an address an output of their own: %s', async (operation, names) => {
		const people = names.map((last) => ({ last }));
		const outputs = await find(operation, { splitOutput: true }, people);
		expect(places(outputs)).toEqual([at(0, 2), at(1)]);
	});

	test('gives the other items their results if an option of the first one is broken', async () => {
		const outputs = await find(
			'findBusiness',
			{ splitOutput: true, linkedinUrl: "={{ $json.url ?? $('Nowhere').item.json.url }}" },
			[{ last: 'High' }, { last: 'Low', url: '' }, { last: 'Nobody', url: '' }],
			errorOutput,
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
		const items = ['no address', 'valid@acme.com', 'lost@acme.com', 'invalid@acme.com'].map(
			(address) => ({ address, status: 'valid' }),
		);
		expect(places(await verify({ splitOutput: true }, items, { onError }))).toEqual(expected);
	});

	test('does not give the plan of a dry run to the people who are not found', async () => {
		const outputs = await find(
			'enrich',
			{ splitOutput: true, dryRun: true },
			[{ last: 'High' }, { last: '' }, { last: '-' }],
			errorOutput,
		);
		expect(places(outputs)).toEqual([at(), at(), at(0, 1), at(2)]);
	});
});
