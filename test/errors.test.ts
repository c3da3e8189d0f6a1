/** Calls that bring no result: what becomes of their items, and that none is sent again. */
import { inspect } from 'node:util';
import { Sandbox } from '../lab/sandbox/server';
import { including, matching, mayBeDone, paired, someText, verified } from './expected';
import {
	BALANCE,
	FIND_ROWS,
	PERSONAL_ROWS,
	START_AND_WAIT_ROWS,
	START_ROWS,
	VERIFY_ROWS,
	answer,
	failure,
	keepGoing,
	rowsOf,
	silence,
	success,
	verdict,
	type Responder,
} from './given';
import { SECRET, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { answerWith, runEach, runRows, expectCalls } = service;
/** Another server, which must get no request, since the request would hold the key. */
const elsewhere = new Sandbox({});

beforeAll(() => elsewhere.listen());
afterAll(() => elsewhere.close());

const rows = rowsOf(3);

describe('An item whose call fails', () => {
	// n8n replaces a message that names a network error, unless the node prevents it.
	const message = 'The service says: upstream ETIMEDOUT (INTERNAL)';
	const answers = [verdict, failure('INTERNAL', 500, 'upstream ETIMEDOUT'), verdict];
	const binary = { cv: { data: 'aGk=', mimeType: 'text/plain' } };
	const facts = { outcome: 'unknown', code: 'INTERNAL', httpStatus: 500, paidCalls: 1 };
	const error = { message, advice: mayBeDone, ...facts };
	const [first, , last] = verified(rows);
	const failed = { json: { ...rows[1], error }, binary, pairedItem: { item: 1 } };

	test.each([
		['continueRegularOutput', [first, failed, last], []],
		['continueErrorOutput', [first, last], [failed]],
	] as const)('keeps its fields and its file: %s', async (onError, ...outputs) => {
		const { items, errorItems } = await runEach(VERIFY_ROWS, answers, {}, { onError, binary });
		expect([items, errorItems]).toEqual(outputs);
	});

	test('fails the node, unless it is set to continue', async () => {
		const { items, error: thrown, run } = await runEach(VERIFY_ROWS, answers, {}, {});
		expect(run.status).toBe('error');
		expect(items).toEqual([]);
		const where = { context: { itemIndex: 1 }, httpCode: '500' };
		expect(thrown).toMatchObject({ message, description: mayBeDone, ...where });
	});
});

const broke = { message: 'The connection broke before the service answered' };
const late = { message: 'The service did not answer in time', code: 'ECONNABORTED' };
/** Sends half an answer, and calls `then` when it is on its way. */
const half =
	(then?: 'destroy'): Responder =>
	(_request, response) => {
		response.writeHead(200, { 'content-length': 99 });
		response.write('{"success":true,"data":{', () => then && response[then]());
		return undefined;
	};
const redirect = (status: number) => () =>
	answer('', status, { location: `${elsewhere.url}/credits` });
const redirected = { message: matching(/^The service redirects to http:.*\/credits$/) };

/** What else an answer may mean is in answer.test.ts. */
const LOST: Array<[what: string, given: Responder, error: object]> = [
	[
		'a reset',
		(_request, response) => void response.socket?.resetAndDestroy(),
		{ ...broke, code: 'ECONNRESET' },
	],
	['half an answer, and then a reset', half('destroy'), { ...broke, code: someText }],
	['half an answer, and then silence', half(), late],
	['silence', silence, late],
	['a page of a proxy', () => answer('<html>', 502), { httpStatus: 502 }],
	['no data', () => answer({ success: true }), { message: 'The service returned no result' }],
	['a redirect', redirect(302), redirected],
];

describe.each([FIND_ROWS, PERSONAL_ROWS, VERIFY_ROWS, START_ROWS, START_AND_WAIT_ROWS])(
	'What may have been paid for is never sent again: $operation',
	(action) => {
		test.each(LOST)('%s', async (_what, given, facts) => {
			const ok = success({ email: 'p@acme.com', scrapeId: 's', status: 'pending' });
			const options = { requestTimeout: 60 };
			const { items, record, run } = await runEach(action, [ok, given, ok], options);

			const error = including({ ...facts, advice: mayBeDone, outcome: 'unknown', paidCalls: 1 });
			const result = expect.not.objectContaining({ error: someText }) as object;
			expect(items).toEqual(paired([result, { ...rows[1], error }, result]));
			expect(elsewhere.requests).toEqual([]);
			expect(inspect([record, run], { depth: Infinity })).not.toContain(SECRET);
		});
	},
);

test('Redirects are not followed, also if nothing was done, nor by free requests', async () => {
	const refused = including({ ...redirected, outcome: 'refused', paidCalls: 0 });
	const { items } = await runEach(VERIFY_ROWS, [verdict, redirect(308), verdict]);
	expect(items).toEqual(verified(rows, (_row, index) => index === 1 && refused));

	answerWith(redirect(302));
	const free = await service.run(BALANCE, {}, rows, keepGoing);
	expect(free.items).toEqual(paired(rows.map((row) => ({ ...row, error: refused }))));
	expect(elsewhere.requests).toEqual([]);
});

test.each([
	['Base URL', { baseUrl: 'api.example.com' }],
	['API Key', { apiKey: '' }],
])(
	'A credential without its %s is an error of each item, and nothing is sent',
	async (field, credential) => {
		const facts = { advice: someText, field, outcome: 'notSent', paidCalls: 0 };
		const error = {
			message: matching(new RegExp(`^${field} in the LeadGen credential `)),
			...facts,
		};
		const { items } = await runRows(VERIFY_ROWS, rows, {}, { ...keepGoing, credential });
		expect(items).toEqual(paired(rows.map((row) => ({ ...row, error }))));
		expectCalls([]);
	},
);

test('A service that cannot be reached ends the run after some seconds', async () => {
	const since = Date.now();
	const nobody = { ...keepGoing, baseUrl: 'http://127.0.0.1:1' };
	const { items } = await runRows(VERIFY_ROWS, rows, {}, nobody);
	expect(Date.now() - since).toBeLessThan(20_000);

	const message = 'The service could not be reached';
	const error = { advice: matching(/ECONNREFUSED/), outcome: 'notSent', paidCalls: 0 };
	const tried = { ...error, message, code: 'ECONNREFUSED' };
	const earlier = `Not sent: an earlier request failed. ${message}`;
	const notTried = { ...error, message: earlier, attempted: false };
	const errors = items.map(({ json }) => json.error as { attempted?: boolean });
	expect(errors).toContainEqual(tried);
	const expected = errors.map(({ attempted }) => (attempted === false ? notTried : tried));
	expect(items).toEqual(paired(rows.map((row, at) => ({ ...row, error: expected[at] }))));
});
