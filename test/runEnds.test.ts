/** What ends a run of many rows, so that no call is made that cannot succeed, and what concerns one row only. */
import type { RequestRecord } from '../lab/sandbox/requestLog';
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
	type Responder,
} from './given';
import { keyOf, sleep, until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox, answerWith, runRows, expectCalls } = service;

const rows = rowsOf(200);
const callKeys = rows.map((row) => keyOf(VERIFY_ROWS.callFor(row)));
/** The number of the row that a request is for. */
const indexOf = (request: RequestRecord) => callKeys.indexOf(keyOf(request));
const page = (status: number) => answer('<html>Sign in</html>', status);
const notSent = (reason: string) => ({
	message: `Not sent: ${reason}`,
	advice: someText,
	...{ attempted: false, outcome: 'notSent', paidCalls: 0 },
});

/** Runs the rows, and expects that few are sent, each once, and that the others say why not. */
async function expectEnd(given: Responder, sent: (index: number) => unknown, reason: string) {
	answerWith(given);
	const { items } = await runRows(VERIFY_ROWS, rows);
	const isSent = new Set(sandbox.requests.map(indexOf));
	expect(isSent.size).toBeLessThanOrEqual(60);
	expectCalls(rows.filter((_, index) => isSent.has(index)).map(VERIFY_ROWS.callFor));
	const errorOf = (index: number) => (isSent.has(index) ? sent(index) : notSent(reason));
	expect(items).toEqual(verified(rows, (_, index) => errorOf(index)));
}

const noKey = 'the service does not accept the API key';
const earlier = (message: string) => `an earlier request failed. ${message}`;
const refused = { outcome: 'refused', paidCalls: 0 };
const unclear = { outcome: 'unknown', advice: mayBeDone, paidCalls: 1 };
const refusedKeys: Array<[what: string, Answer, facts: object]> = [
	['a refused key', failure('UNAUTHORIZED', 401), { code: 'UNAUTHORIZED' }],
	['a refused key with HTTP 200', failure('unauthorized', 200), { code: 'UNAUTHORIZED' }],
	['HTTP 401 without a code', answer('', 401), { httpStatus: 401 }],
];

describe('A run ends', () => {
	// Which answers are of another server is in answer.test.ts.
	type End = [what: string, Answer, facts: object, reason: string];
	test.each<End>([
		...refusedKeys.map(([what, refusal, facts]): End => [
			what,
			refusal,
			{ ...refused, ...facts },
			noKey,
		]),
		['HTTP 403 without a code', page(403), { ...refused, httpStatus: 403 }, noKey],
		['HTTP 403 about the key', failure('INVALID_API_KEY', 403), refused, noKey],
		[
			'a page with HTTP 404',
			page(404),
			refused,
			earlier('The service answered HTTP 404 with a web page'),
		],
		['a login page', page(200), unclear, earlier('The service answered HTTP 200 with a web page')],
		[
			'a redirect',
			answer('', 302, { location: 'https://login.example/' }),
			unclear,
			earlier('The service redirects to https://login.example/'),
		],
	])('with %s', async (_, odd, facts, reason) => {
		await expectEnd(
			() => odd,
			() => including(facts),
			reason,
		);
	});

	test.each(refusedKeys)('with %s after successes', async (_, refusal, facts) => {
		const respond: Responder = async (request) => {
			if (indexOf(request) < 3) return verdict(request);
			await until(() => sandbox.requests.filter(({ status }) => status === 200).length >= 3);
			return refusal;
		};
		await expectEnd(respond, (index) => index >= 3 && including({ ...refused, ...facts }), noKey);
	});
});

describe('A run goes on', () => {
	/** Runs the rows, of which one gets another answer, and expects an error of this row only. */
	async function expectOneError(odd: Answer, isFirst: boolean, error: object) {
		const at = isFirst ? 0 : 5;
		answerWith(async (request) => {
			if (indexOf(request) === at) {
				await until(() => isFirst || sandbox.requests.some(({ status }) => status === 200));
				return odd;
			}
			if (isFirst) await until(() => sandbox.requests.some(({ status }) => status !== undefined));
			return verdict(request);
		});
		const { items } = await runRows(VERIFY_ROWS, rows);
		expectCalls(rows.map(VERIFY_ROWS.callFor));
		expect(items).toEqual(verified(rows, (_, index) => index === at && including(error)));
	}

	const firewall = containing('a firewall may have blocked this one');
	test.each<[string, Answer, object]>([
		['HTTP 403 with a code', failure('FORBIDDEN', 403), { code: 'FORBIDDEN', outcome: 'refused' }],
		['a page with HTTP 403', page(403), { advice: firewall, outcome: 'refused', paidCalls: 0 }],
		['a page with HTTP 404', page(404), { httpStatus: 404, outcome: 'refused' }],
		['a login page', page(200), { httpStatus: 200, outcome: 'unknown', paidCalls: 1 }],
		['a redirect', answer('', 302), { httpStatus: 302, outcome: 'unknown', paidCalls: 1 }],
	])('after successes if one row gets %s', async (_, odd, error) => {
		await expectOneError(odd, false, error);
	});

	test.each<[string, Answer, object]>([
		['HTTP 403 with a code', failure('FORBIDDEN', 403), { code: 'FORBIDDEN', outcome: 'refused' }],
		['a page with HTTP 408', page(408), { httpStatus: 408, outcome: 'unknown', paidCalls: 1 }],
		['a page with HTTP 502', page(502), { httpStatus: 502, outcome: 'unknown', paidCalls: 1 }],
		['a refused value', failure('INVALID_REQUEST', 400), { code: 'INVALID_REQUEST', paidCalls: 0 }],
	])('if the first row gets %s', async (_, odd, error) => {
		await expectOneError(odd, true, error);
	});
});

test('An invalid input ends a run that is set to stop, and the error names all of them', async () => {
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

describe('The error of a run that started scrapes', () => {
	const stop = { retryOnFail: true };
	const remark = (scrapes: string) => containing(`This execution started ${scrapes}. `);

	test('names those of all tries', async () => {
		const five = rowsOf(5);
		const starts = () => sandbox.requests.filter(({ path }) => path === '/start');
		answerWith(async (request) => {
			if (request.path === '/start') {
				const id = titleIn(request);
				// Otherwise the lost answer would end the run before.
				await until(() => starts().length === 5);
				// The answer gets lost.
				return id === 'p3' ? failure('DOWN', 500) : success({ scrapeId: id, status: 'pending' });
			}
			return success({ scrapeId: request.query.scrapeId, status: 'completed' });
		});
		const { error } = await runRows(START_AND_WAIT_ROWS, five, { pollInterval: 1 }, stop);
		expectCalls(five.map(START_ROWS.callFor), '/start');
		expect(error).toMatchObject({
			description: remark(
				'4 scrapes: p0, p1, p2, p4. 1 start without an answer may have started a scrape',
			),
			context: { itemIndex: 3 },
		});
	});

	test('names those of earlier tries if a later try starts others', async () => {
		const three = rowsOf(3);
		const starts = () => sandbox.requests.filter(({ path }) => path === '/start');
		answerWith(async (request) => {
			const id = titleIn(request);
			if (id === 'p0') return success({ scrapeId: id, status: 'pending' });
			await sleep(100);
			// In the first try, the second row fails. In the second one, it starts a scrape.
			if (id === 'p1' && starts().length > 3) return success({ scrapeId: id, status: 'pending' });
			return failure('ODD', 400);
		});
		const { error } = await runRows(START_ROWS, three, {}, stop);
		expect(error?.description).toMatch(/This execution started 2 scrapes: p0, p1\. /);
		const titles = starts().map(titleIn);
		expect(titles.filter((title) => title === 'p0')).toHaveLength(1);
		expect(titles.filter((title) => title === 'p1')).toHaveLength(2);
	});

	test.each<[number, Array<object | null>, string]>([
		[1, [null], '1 scrape: without an ID'],
		[3, [{ scrapeId: 's1' }, null, { scrapeId: 17 }], '3 scrapes: s1, without an ID, 17'],
	])('says so of a scrape without an ID: %d', async (count, datas, scrapes) => {
		const list = rowsOf(count);
		answerWith(async (request) => {
			await until(() => sandbox.requests.length >= count);
			return success(datas[Number(titleIn(request).slice(1))]);
		});
		const { error } = await runRows(START_ROWS, list, {}, stop);
		expectCalls(list.map(START_ROWS.callFor));
		expect(error).toMatchObject({
			message: 'The service returned no result',
			description: remark(scrapes),
		});
		const kept = await runRows(START_ROWS, list, {}, keepGoing);
		const errors = kept.items.map(({ json }) => json.error);
		const none = including({ message: error?.message, paidCalls: 1 });
		expect(errors).toEqual(datas.map((data) => (data ? undefined : none)));
	});
});
