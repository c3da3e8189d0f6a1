import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { NodeRun } from './engine';
import { useService } from './service';

const service = useService({ plan: 'enterprise' });
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
			'findPersonal',
			{ splitOutput: true, location: "={{ $json.place ?? $('Nowhere').item.json.place }}" },
			[{ last: 'High' }, { last: 'Low', place: '' }, { last: 'Nobody', place: '' }],
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

	test('takes no failed item for the plan of a dry run', async () => {
		const items = ['no address', 'valid@acme.com'].map((address) => ({ address }));
		const options = { splitOutput: true, dryRun: true };
		const outputs = await verify(options, items, { onError: 'continueRegularOutput' });
		expect(places(outputs)).toEqual([at(), at(0), at(), at(1)]);
	});
});

describe('An old result in the incoming item', () => {
	const old = { status: 'valid', deliverable: true, confidence: 0.99, emailType: 'business' };
	const onBoth = { email: 'old@acme.com', found: true, tried: 'business: valid', rejected: [1] };
	const person = { last: 'Sure', id: 7, ...old, ...onBoth, sources: ['linkedin'], paidCalls: 9 };
	const fault = (bodyIncludes: string, path: string) => {
		const match = { bodyIncludes, path };
		service.sandbox.set({ faults: [{ kind: 'envelope', code: 'INVALID_REQUEST', match }] });
	};
	const keepGoing = { onError: 'continueRegularOutput' } as const;

	test.each([
		['enrich', []],
		['findBusiness', ['status', 'deliverable', 'emailType', 'tried', 'rejected']],
		['findPersonal', ['status', 'deliverable', 'emailType', 'tried', 'rejected', 'sources']],
	])('is no result of a failed item: %s', async (operation, others) => {
		fault('Lost', operation === 'findPersonal' ? '/email/personal' : '/email/find');
		const people = [person, { ...person, last: 'Lost' }, { ...person, last: '-' }];
		const [items = []] = await find(operation, {}, people, keepGoing);
		expect(service.sandbox.requests.filter(({ path }) => path !== '/email/verify')).toHaveLength(2);
		const kept = ['last', 'id', ...others, 'error'].toSorted();
		expect(items.slice(1).map(({ json }) => Object.keys(json).toSorted())).toEqual([kept, kept]);
		expect(items[0]?.json.email).toMatch(/^ann.sure@(acme|gmail).com$/);
	});

	test('is no verdict on a failed address, which stays', async () => {
		fault('lost', '/email/verify');
		const items = ['valid@acme.com', 'lost@acme.com', 'none'].map((email) => ({
			...{ email, found: true, status: 'valid', freeProvider: false, disposable: false },
		}));
		const parameters = { email: '={{ $json.email }}' };
		const run = async (options: INodeParameters) => {
			const all = { ...parameters, options };
			return (await service.run(['email', 'verify'], all, items, keepGoing)).items;
		};
		const error: unknown = expect.objectContaining({ message: expect.any(String) as string });
		const failed = (email: string) => ({ email, found: true, error });
		const [, lost, none] = await run({});
		expect([lost?.json, none?.json]).toEqual([failed('lost@acme.com'), failed('none')]);
		// A result in a field of its own leaves the other fields as they are.
		const kept = (await run({ resultField: 'verdict', includeInput: true })).slice(1);
		expect(kept.map(({ json }) => json)).toEqual(
			items.slice(1).map((item) => ({ ...item, error })),
		);
		expect(service.sandbox.requests).toHaveLength(3);
	});

	test('is none of an item that succeeds: neither its error nor its fields', async () => {
		const people = ['Nobody', 'Sure', 'Low'].map((last) => ({
			...{ ...person, last, error: { message: 'Of an earlier node' } },
		}));
		const [items = []] = await find('findBusiness', { includeInput: true }, people);
		expect(items.map(({ json }) => [json.found, json.email, 'error' in json])).toEqual([
			[false, null, false],
			[true, 'ann.sure@acme.com', false],
			[true, 'ann.low@acme.com', false],
		]);
		const [nobody] = items;
		const { status, deliverable, emailType, tried, rejected, id } = person;
		expect(nobody?.json).toEqual({
			...{ last: 'Nobody', id, status, deliverable, emailType, tried, rejected },
			...{ found: false, email: null, paidCalls: 1 },
		});
	});
});
