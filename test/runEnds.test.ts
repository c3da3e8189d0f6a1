/**
 * What ends a run of many rows, so that no call is made that cannot succeed: it comes again and again. What comes once
 * concerns one row only.
 */
import type { RequestRecord } from '../lab/sandbox/requestLog';
import { hintTexts } from './engine';
import { containing, including, matching, mayBeDone, someText, verified } from './expected';
import {
	START_AND_WAIT_ROWS,
	START_ROWS,
	VERIFY_ROWS,
	answer,
	failure,
	keepGoing,
	rowsOf,
	success,
	titleIn,
	verdict,
	type Answer,
} from './given';
import { keyOf, sleep, until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox, answerWith, runRows, expectCalls } = service;

const rows = rowsOf(200);
const callKeys = rows.map((row) => keyOf(VERIFY_ROWS.callFor(row)));
/** The number of the row that a request is for. */
const indexOf = (request: RequestRecord) => callKeys.indexOf(keyOf(request));
const answered = () => sandbox.requests.filter(({ status }) => status === 200).length;
const page = (status: number) => answer('<html>Sign in</html>', status);

const noKey = 'the service does not accept the API key';
const earlier = (message: string) => `an earlier request failed. ${message}`;
const refused = { outcome: 'refused', paidCalls: 0 };
/** A search that finds nobody is paid for. */
const foundNobody = { outcome: 'refused', paidCalls: 1 };
const unclear = { outcome: 'unknown', advice: mayBeDone, paidCalls: 1 };
const wrongKey = failure('UNAUTHORIZED', 401);
const redirect = answer('', 302, { location: 'https://login.example/' });

// Which answers mean what is in answer.test.ts.
test.each<[what: string, first: number, Answer, facts: object, reason: string]>([
	['a refused key', 0, wrongKey, { ...refused, code: 'UNAUTHORIZED' }, noKey],
	['a refused key after successes', 3, wrongKey, { ...refused, code: 'UNAUTHORIZED' }, noKey],
	['HTTP 401 with another code', 3, failure('EXPIRED', 401), refused, noKey],
	['HTTP 403 without a code', 0, page(403), refused, noKey],
	['HTTP 403 about the key', 0, failure('INVALID_API_KEY', 403), refused, noKey],
	['a key that expires', 3, failure('API_KEY_EXPIRED', 403), refused, noKey],
	['HTTP 402 with a page', 0, page(402), refused, 'the account has too few credits'],
	['a page', 0, page(404), refused, earlier('The service answered HTTP 404 with a web page')],
	['a redirect', 0, redirect, unclear, earlier('The service redirects to https://login.example/')],
	[
		'JSON of another server',
		0,
		answer({ status: 'ok' }),
		{ ...unclear, advice: containing('Check the base URL') },
		earlier('The service answered HTTP 200 with something other than the expected JSON'),
	],
	[
		'credits that run out',
		3,
		failure('INSUFFICIENT_CREDITS', 402),
		{ ...refused, advice: containing('Add credits to the account') },
		'the account has too few credits',
	],
])('A run ends with %s in all answers from row %d on', async (_what, first, odd, facts, reason) => {
	answerWith(async (request) => {
		if (indexOf(request) < first) return verdict(request);
		await until(() => answered() >= first);
		return odd;
	});
	const { items } = await runRows(VERIFY_ROWS, rows);

	const isSent = new Set(sandbox.requests.map(indexOf));
	expect(isSent.size).toBeLessThanOrEqual(60);
	expectCalls(rows.filter((_row, index) => isSent.has(index)).map(VERIFY_ROWS.callFor));
	const notSent = {
		message: `Not sent: ${reason}`,
		advice: someText,
		...{ attempted: false, outcome: 'notSent', paidCalls: 0 },
	};
	expect(items).toEqual(
		verified(rows, (_row, index) => {
			if (index < first) return undefined;
			return isSent.has(index) ? including(facts) : notSent;
		}),
	);
});

const tryAgain = containing('a gateway or a firewall may have answered this one');
test.each<[what: string, row: number, Answer, error: object]>([
	['HTTP 403 with another code', 0, failure('FORBIDDEN', 403), { code: 'FORBIDDEN', ...refused }],
	['a page with HTTP 502', 0, page(502), unclear],
	[
		'nobody',
		0,
		answer({ error: { code: 'NOT_FOUND' } }, 404),
		{ code: 'NOT_FOUND', ...foundNobody },
	],
	['a refused value', 0, failure('INVALID_REQUEST', 400), refused],
	['HTTP 403 about the key', 5, failure('INVALID_API_KEY', 403), refused],
	['HTTP 401', 5, wrongKey, refused],
	['HTTP 403 with another code', 5, failure('FORBIDDEN', 403), { advice: tryAgain, ...refused }],
	['HTTP 403 without a code', 5, answer({ message: 'No' }, 403), { advice: tryAgain, ...refused }],
	['a page with HTTP 403', 5, page(403), { advice: tryAgain, ...refused }],
	['a page with HTTP 404', 5, page(404), { advice: tryAgain, ...refused }],
	['a login page', 5, page(200), unclear],
	['a redirect', 5, redirect, unclear],
])('A run goes on if %s comes for row %d only', async (_what, row, odd, error) => {
	answerWith(async (request) => {
		const isOdd = indexOf(request) === row;
		// The odd answer is the first one to be given, or comes after a success.
		if (isOdd) await until(() => row === 0 || answered() > 0);
		else if (row === 0) await until(() => sandbox.requests.some(({ status }) => status));
		return isOdd ? odd : verdict(request);
	});
	const { items } = await runRows(VERIFY_ROWS, rows);
	expectCalls(rows.map(VERIFY_ROWS.callFor));
	expect(items).toEqual(verified(rows, (_row, index) => index === row && including(error)));
});

test.each([
	['now and then', (index: number) => index % 20 === 19],
	['nine times in a row', (index: number) => index > 99 && index < 109],
])('A run goes on if one of several servers refuses the key %s', async (_what, isOdd) => {
	answerWith(async (request) => {
		const index = indexOf(request);
		// All calls before it are accepted, but for those that are refused.
		const before = rows.slice(0, index).filter((_row, at) => !isOdd(at));
		if (isOdd(index)) await until(() => answered() >= before.length);
		return isOdd(index) ? wrongKey : verdict(request);
	});
	const { items } = await runRows(VERIFY_ROWS, rows);
	expectCalls(rows.map(VERIFY_ROWS.callFor));
	expect(items).toEqual(verified(rows, (_row, index) => isOdd(index) && including(refused)));
});

test('An invalid input ends a run that is set to stop, and the error counts all of them and names ten', async () => {
	const invalid = new Set([20, 21, 23, 24, 26, 27, 29, 30, 32, 33, 35, 36]);
	const list = rowsOf(40).map((row, index) => {
		// What follows the first nine rows is known, so that these are sent meanwhile.
		const name = index < 9 || index > 19 ? row.name : 'p0';
		return { name, address: invalid.has(index) ? 'none' : `${name}@acme.com` };
	});
	// Longer than the node works without a break.
	const email = '={{ ((end) => { while (Date.now() < end); })(Date.now() + 30), $json.address }}';
	const { error } = await runRows({ ...VERIFY_ROWS, parameters: { email } }, list, {}, {});

	expectCalls(list.slice(0, 9).map(VERIFY_ROWS.callFor));
	expect(error).toMatchObject({
		message: 'Email must be one email address, but is "none"',
		context: { itemIndex: 20 },
		description: matching(
			/ The input of 12 of 40 items is invalid: item 20, 21, 23, 24, 26, 27, 29, 30, 32, 33 and others\. To get the results of the other items, set Settings > On Error to Continue\. This run paid for 9 results\. /,
		),
	});
});

test('A raised maximum of paid calls counts at once, and calls that were paid for before count, too', async () => {
	const list = [1, 1, 2, 2].map((maximum, index) => ({ name: `p${String(index)}`, maximum }));
	answerWith(verdict);
	const options = { maxPaidCalls: '={{ $json.maximum }}' };
	await runRows(VERIFY_ROWS, list, options, { ...keepGoing, isInLoop: true });
	expectCalls([list[0], list[2]].flatMap((row) => (row ? VERIFY_ROWS.callFor(row) : [])));
});

describe('The scrapes that a run started, or may have', () => {
	const retryOnFail = true;
	const remark = (scrapes: string) => containing(`This execution started ${scrapes}. `);
	const starts = () => sandbox.requests.filter(({ path }) => path === '/start');
	const started = (scrapeId: unknown) => success({ scrapeId, status: 'pending' });

	test('are in its error, those of all tries, and none is started again', async () => {
		const five = rowsOf(5);
		answerWith(async (request) => {
			const { scrapeId } = request.query;
			if (scrapeId) return success({ scrapeId, status: 'completed' });
			// Otherwise the lost answer would end the run before.
			await until(() => starts().length === 5);
			const id = titleIn(request);
			return id === 'p3' ? failure('DOWN', 500) : started(id);
		});
		const options = { pollInterval: 1 };
		const { error } = await runRows(START_AND_WAIT_ROWS, five, options, { retryOnFail });
		expectCalls(five.map(START_ROWS.callFor), '/start');
		const lost = '1 start without an answer may have started a scrape';
		const advice = 'Before you run the workflow again, remove the items that already have a result';
		expect(error).toMatchObject({
			description: remark(`4 scrapes: p0, p1, p2, p4. ${lost}. ${advice}`),
			context: { itemIndex: 3 },
		});
		expect(error?.description).not.toContain('you do not pay');
	});

	test('are in its error, also if a later try starts others', async () => {
		answerWith(async (request) => {
			const id = titleIn(request);
			if (id === 'p0') return started(id);
			await sleep(100);
			// In the first try, the second row fails. In the second one, it starts a scrape.
			return id === 'p1' && starts().length > 3 ? started(id) : failure('NOT_FOUND', 404);
		});
		const { error } = await runRows(START_ROWS, rowsOf(3), {}, { retryOnFail });
		expect(error).toMatchObject({ description: remark('2 scrapes: p0, p1') });
		expect(starts().map(titleIn).toSorted()).toEqual(['p0', 'p1', 'p1', 'p2', 'p2', 'p2']);
	});

	test('count for the execution if n8n tries several times, and the hint is of the last try', async () => {
		answerWith((request) => {
			const title = titleIn(request);
			if (title === 'p1') return failure('DOWN', 500);
			return title === 'p0' ? failure('ODD', 400) : started(title);
		});
		const result = await runRows(START_ROWS, rowsOf(4), {}, { ...keepGoing, retryOnFail });
		// The first item fails, so that n8n tries three times.
		expect(starts().map(titleIn).toSorted()).toEqual(['p0', 'p0', 'p0', 'p1', 'p2', 'p3']);
		expect(hintTexts(result)).toEqual([
			'warning: 4 items: 2 pending, 1 refused, 1 without an answer · no paid calls · 2 reused for free',
		]);
		expect(result.run.data.resultData.metadata?.paid_calls).toBe('3');
	});

	test('are named in its error, also without an ID', async () => {
		const datas = [{ scrapeId: 's1' }, null, { scrapeId: 17 }];
		const answers = datas.map((data) => success(data));
		const { error } = await service.runEach(START_ROWS, answers, {}, {});
		const advice = 'Before you run the workflow again, remove the items that already have a result';
		expect(error).toMatchObject({
			message: 'The service returned no result',
			description: remark(`3 scrapes: s1, without an ID, 17. ${advice}`),
		});
	});
});
