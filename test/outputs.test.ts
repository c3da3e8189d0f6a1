/** Through which output an item leaves the node, and with which fields. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { NodeRun } from './engine';
import { found, including, paired, verdictOn } from './expected';
import { keepGoing, post, success } from './given';
import { useService } from './service';

const service = useService({ plan: 'enterprise' });

/** An operation of the resource Email, for the person and the address that are named in each item. */
async function run(
	operation: string,
	options: INodeParameters,
	items: IDataObject[],
	more: Partial<NodeRun> = keepGoing,
) {
	const person = { firstName: 'Ann', lastName: '={{ $json.name }}', company: 'acme.com' };
	const parameters = { ...person, email: '={{ $json.name }}@acme.com', options };
	// The service has no answer for one of them, and refuses another one.
	service.sandbox.set({
		faults: [
			{ kind: 'html', status: 502, match: { bodyIncludes: 'Lost' } },
			{ kind: 'envelope', code: 'BROKEN', match: { bodyIncludes: 'Broken' } },
		],
	});
	return await service.run(['email', operation], parameters, items, more);
}

const on = { splitOutput: true };
const noPlace = "={{ $json.name === 'Sure' ? $('Nowhere').item.json.place : '' }}";
const elsewhere = { ...on, includeInput: true, resultField: 'verdict' };
const dryRun = { ...on, dryRun: true };
const errorOutput = { onError: 'continueErrorOutput' } as const;
const addresses = 'Invalid Valid Catchall Valid2 Unknown';

/**
 * In each row, the names in the items, and those that leave through each output. The item of Lost fails, and so does
 * that of no@, which is no address: it is neither found nor valid, nor the plan of a dry run.
 */
test.each<[string, INodeParameters, Partial<NodeRun>, names: string, outputs: string[]]>([
	['verify', {}, keepGoing, addresses, [addresses]],
	['verify', on, keepGoing, addresses, ['Valid Valid2', 'Catchall Unknown', 'Invalid']],
	['verify', elsewhere, keepGoing, addresses, ['Valid Valid2', 'Catchall Unknown', 'Invalid']],
	['enrich', on, keepGoing, 'Low Nobody Sure', ['Low Sure', 'Nobody']],
	['findBusiness', on, keepGoing, 'High Nobody Lost Low', ['High Low', 'Nobody Lost']],
	['findPersonal', on, keepGoing, 'High Nobody Low', ['High Low', 'Nobody']],
	['verify', on, keepGoing, 'no@ Valid Lost Invalid', ['Valid', 'no@ Lost', 'Invalid']],
	['verify', on, errorOutput, 'no@ Valid Lost Invalid', ['Valid', '', 'Invalid', 'no@ Lost']],
	['verify', dryRun, keepGoing, 'no@ Valid Invalid', ['', 'no@', '', 'Valid Invalid']],
	['findPersonal', { ...on, location: noPlace }, errorOutput, 'Sure Low', ['Low', '', 'Sure']],
])('Split Output: %s with %j and %j', async (operation, options, onError, names, outputs) => {
	const items = names.split(' ').map((name) => ({ name, status: 'valid' }));
	const result = await run(operation, options, items, onError);
	const placesOf = (output: string) =>
		items.flatMap(({ name }, item) => (output.split(' ').includes(name) ? { item } : []));
	expect(result.outputs.map((output) => output.map(({ pairedItem }) => pairedItem))).toEqual(
		outputs.map(placesOf),
	);
});

test('Split Output knows the verdicts in any case', async () => {
	const statuses = ['VALID', ' Catch-All', 'Invalid '];
	service.answerWith(({ body }) => {
		const { email } = body as { email: string };
		return success({ status: statuses[Number.parseInt(email)] });
	});
	const { outputs } = await run('verify', on, [{ name: '0' }, { name: '1' }, { name: '2' }]);
	expect(outputs).toMatchObject(statuses.map((status) => [{ json: { status } }]));
});

test('The error of an expression names its item', async () => {
	const items = ['Low', 'Sure'].map((name) => ({ name }));
	const { error } = await run('findPersonal', { location: noPlace }, items, {});
	expect(error).toMatchObject({ context: { itemIndex: 1 } });
});

describe('The fields of an item', () => {
	const inputs = ['Valid', 'Catchall', 'Broken'].map((name, index) => {
		const old = { status: 'new', a: { status: 'old' }, email: 'as pasted', error: 'old' };
		return { name, id: index + 1, note: { a: [1] }, ...old };
	});
	const verdicts = [verdictOn('Valid@acme.com'), verdictOn('Catchall@acme.com', 'catch_all')];
	const results = verdicts.map((verdict) => ({ ...verdict, paidCalls: 1 }));

	test.each<[INodeParameters, (input: object, result: object) => object, failed: object]>([
		[{}, (_, result) => result, { status: undefined }],
		[{ includeInput: true }, (input, result) => ({ ...input, ...result }), { status: undefined }],
		[{ resultField: ' a ' }, (_, a) => ({ a }), { a: undefined }],
		[{ resultField: 'a', includeInput: true }, (input, a) => ({ ...input, a }), { a: undefined }],
	])('with %j', async (options, shape, without) => {
		const kept = inputs.map((input) => ({ ...input, error: undefined }));
		const plan = await run('verify', { ...options, dryRun: true }, inputs);
		service.expectCalls([]);
		const request = { dryRun: true, call: 'new', path: '/email/verify', mayFollow: 0 };
		expect(plan.items).toEqual(
			paired(
				kept.map((input) =>
					shape(input, { ...request, request: { email: `${input.name}@acme.com` } }),
				),
			),
		);

		const { items } = await run('verify', options, inputs);
		service.expectCalls(
			inputs.map(({ name }) => post('/email/verify', { email: `${name}@acme.com` })),
		);
		const [one, two] = kept.map((input, index) => shape(input, results[index] ?? {}));
		// An old status would look like that of the run.
		const failed = { ...inputs[2], ...without, error: including({ code: 'BROKEN' }) };
		expect(items).toEqual(paired([one ?? {}, two ?? {}, failed]));
	});

	test('are shaped by the options of the first item', async () => {
		const options = { resultField: '=result{{ $json.id }}', includeInput: '={{ $json.id > 1 }}' };
		const { items } = await run('verify', options, inputs.slice(0, 2));
		expect(items).toEqual(paired([{ result1: results[0] }, { result1: results[1] }]));
	});

	test.each([true, false])('hold its files with the input fields: %s', async (includeInput) => {
		const binary = { cv: { data: 'aGVsbG8=', mimeType: 'text/plain', fileName: 'hello.txt' } };
		const { items } = await run('verify', { includeInput }, inputs, { ...keepGoing, binary });
		const kept = includeInput ? binary : undefined;
		expect(items.map((item) => item.binary)).toEqual([kept, kept, binary]);
	});

	const old = {
		...{ id: 7, email: 'old@acme.com', found: true, confidence: 0.99, sources: ['linkedin'] },
		...{ emailType: 'business', tried: 'business: valid', rejected: [1], status: 'valid' },
		...{ deliverable: true, disposable: false, freeProvider: false, paidCalls: 9 },
		error: { message: 'Of an earlier node' },
	};
	const verdict = ['status', 'deliverable', 'disposable', 'freeProvider'];
	const search = ['emailType', 'tried', 'rejected'];

	// Verify asks for the address.
	test.each([
		['enrich', []],
		['findBusiness', [...verdict, ...search]],
		['findPersonal', [...verdict, ...search, 'sources']],
		['verify', [...search, 'sources', 'email', 'found', 'confidence']],
	])('of an old result are none of a failed item: %s', async (operation, others) => {
		const { items } = await run(operation, {}, [
			{ ...old, name: 'Broken' },
			{ ...old, name: '@-' },
		]);
		const kept = ['id', 'name', 'error', ...others].toSorted();
		expect(items.map(({ json }) => Object.keys(json).toSorted())).toEqual([kept, kept]);
		expect(service.sandbox.requests).toHaveLength(1);
	});

	test('of an old result are none of an item that succeeds, and neither is its error', async () => {
		const list = ['Nobody', 'Sure'].map((name) => ({ ...old, name }));
		const { items } = await run('findBusiness', { includeInput: true }, list);
		const { error, confidence, sources, ...others } = old;
		expect([error, confidence, sources]).not.toContain(undefined);
		const result = found('ann.sure@acme.com', 0.97, 'very_high', ['company_website']);
		expect(items).toEqual(
			paired([
				{ ...others, name: 'Nobody', found: false, email: null, paidCalls: 1 },
				{ ...others, name: 'Sure', ...result },
			]),
		);
	});
});
