/** When a service may answer, and when it lets calls in, that the sandbox does not imitate. Time is virtual. */
import type { IDataObject } from 'n8n-workflow';
import type { RequestRecord } from '../lab/sandbox/requestLog';
import type { NodeResult } from './engine';
import { containing, including, matching, mayBeDone, paired, verified } from './expected';
import {
	BALANCE,
	START_AND_WAIT_ROWS,
	STATUS_ROWS,
	VERIFY_ROWS,
	WAIT_ROWS,
	answer,
	failure,
	keepGoing,
	rowsOf,
	silence,
	success,
	verdict,
	type Responder,
	type Row,
} from './given';
import { keyOf, sleep, until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox, answerWith, runRows, expectEach, expectCalls } = service;

const busy = answer('busy', 503);
const tooFast = failure('RATE_LIMIT_EXCEEDED', 429);
const busyFor = (seconds: string) => ({ ...busy, headers: { 'retry-after': seconds } });

/** Whether a row is verified by one of these requests. */
const isIn = (requests: RequestRecord[]) => {
	const keys = requests.map(keyOf);
	return (row: Row) => keys.includes(keyOf(VERIFY_ROWS.callFor(row)));
};

/** Runs something, and expects that it takes less than so many milliseconds. */
async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
	const began = Date.now();
	const result = await work();
	expect(Date.now() - began).toBeLessThan(ms);
	return result;
}

/** Whether so many milliseconds have passed since a request came. */
const isLongAgo = (request: RequestRecord | undefined, ms: number) =>
	request !== undefined && Date.now() - request.at > ms;

const msBetween = (first?: RequestRecord, second?: RequestRecord) =>
	Number(second?.at) - Number(first?.at);

const auto = { ...keepGoing, credential: { plan: 'auto' } };
const questions = () => sandbox.requests.filter(({ path }) => path === '/credits').length;

test('A clock that is set back holds no call up', async () => {
	const rows = rowsOf(4);
	answerWith(verdict);
	await runRows(VERIFY_ROWS, rows.slice(0, 2));
	const clock = jest.spyOn(Date, 'now');
	clock.mockImplementation(() => performance.timeOrigin + performance.now() - 5 * 60_000);
	await within(60_000, () => runRows(VERIFY_ROWS, rows.slice(2)));
	clock.mockRestore();
	expectCalls(rows.map(VERIFY_ROWS.callFor));
});

test('A call that is refused for its rate is sent again, and no other', async () => {
	const rows = rowsOf(5);
	const refused: RequestRecord[] = [];
	answerWith((request) => {
		const isAgain = refused.some((each) => keyOf(each) === keyOf(request));
		if (![2, 4].includes(sandbox.requests.length) || isAgain) return verdict(request);
		refused.push(request);
		return refused.length === 1 ? answer('Too Many Requests', 429) : tooFast;
	});
	const { items } = await runRows(VERIFY_ROWS, rows);

	expect(items).toEqual(verified(rows));
	expect(refused.length).toBeGreaterThan(0);
	expectCalls([...rows, ...rows.filter(isIn(refused))].map(VERIFY_ROWS.callFor));
});

describe('Retry-After of a service that fails', () => {
	test('is kept before a free call is repeated', async () => {
		const rows = [...rowsOf(2), { name: 'P1' }];
		const status = (id: unknown) => ({ scrapeId: id, status: 'processing', progress: 10 });
		answerWith(({ query }) =>
			sandbox.requests.length === 1 ? busyFor('1') : success(status(query.scrapeId)),
		);
		const { items } = await runRows(STATUS_ROWS, rows);

		expect(items).toEqual(paired(rows.map(({ name }) => status(name))));
		const name = String(sandbox.requests[0]?.query.scrapeId);
		expectCalls([...rows, { name }].map(STATUS_ROWS.callFor));
		const [first, again] = sandbox.requests.filter(({ query }) => query.scrapeId === name);
		expect(msBetween(first, again)).toBeGreaterThanOrEqual(950);
	});

	test('holds back the rows that were not sent, and no row is sent twice', async () => {
		const rows = rowsOf(100);
		answerWith(async (request) => {
			if (sandbox.requests.length <= 5) return busyFor('1');
			// Later, so that the node hears of the failures first.
			await sleep(50);
			return verdict(request);
		});
		const { items } = await runRows(VERIFY_ROWS, rows);

		const isBusyTo = isIn(sandbox.requests.slice(0, 5));
		const error = {
			message: 'The service answered HTTP 503 with something other than the expected JSON',
			answer: 'busy',
			advice: containing('did not send the request again'),
			outcome: 'unknown',
			httpStatus: 503,
			paidCalls: 1,
		};
		expect(items).toEqual(verified(rows, (row) => isBusyTo(row) && error));
		expectCalls(rows.map(VERIFY_ROWS.callFor));
		const ms = sandbox.requests.map((each) => msBetween(sandbox.requests[4], each));
		// Those that were in flight already.
		expect(ms.filter((each) => each < 500).length).toBeLessThanOrEqual(60);
		expect(ms.filter((each) => each >= 500 && each < 950)).toEqual([]);
	});
});

test('A free request without an answer is made four times, with growing pauses', async () => {
	const rows = rowsOf(3);
	const isLost = ({ query }: RequestRecord) => query.scrapeId !== 'p1' || triesOf('p1').length < 4;
	const triesOf = (id: string) => sandbox.requests.filter(({ query }) => query.scrapeId === id);
	const data = { scrapeId: 'p1', status: 'completed' };
	answerWith((request) => (isLost(request) ? answer('<html>', 502) : success(data)));
	const { items } = await runRows(STATUS_ROWS, rows);

	const lost = including({ httpStatus: 502, outcome: 'unknown', paidCalls: 0 });
	const jsons = rows.map((row) => (row.name === 'p1' ? data : { ...row, error: lost }));
	expect(items).toEqual(paired(jsons));
	expectCalls(rows.flatMap((row) => new Array<Row>(4).fill(row).map(STATUS_ROWS.callFor)));
	for (const { name } of rows) {
		const [first, second, third, fourth] = triesOf(name);
		expect(msBetween(first, second)).toBeGreaterThanOrEqual(490);
		expect(msBetween(second, third)).toBeGreaterThanOrEqual(990);
		expect(msBetween(third, fourth)).toBeGreaterThanOrEqual(1990);
	}
});

describe('A service that takes no calls for now', () => {
	const notAttempted = (message: string, advice: string): unknown => ({
		message: `Not sent: the service ${message}`,
		advice: containing(advice),
		attempted: false,
		outcome: 'notSent',
		paidCalls: 0,
	});

	/** Expects that the rows that were not sent hold the error `rest`. @returns the errors of the others */
	function expectEnd({ items }: NodeResult, rows: Row[], rest: unknown): IDataObject[] {
		expect(items).toMatchObject(paired(rows));
		const errors = items.map(({ json }) => json.error as IDataObject);
		const isSent = rows.map(isIn(sandbox.requests));
		const unsent = errors.filter((_, index) => !isSent[index]);
		expect(unsent).toEqual(unsent.map(() => rest));
		return errors.filter(({ attempted }) => attempted !== false);
	}

	function expectFewOnce() {
		const sent = sandbox.requests.map(keyOf);
		expect(new Set(sent).size).toBe(sent.length);
		expect(sent.length).toBeLessThanOrEqual(60);
	}

	const refusing = { ...tooFast, headers: busyFor('36000').headers };
	const noResult = { ...answer('{"success":true}'), headers: busyFor('0').headers };
	test.each([
		['is not available', busyFor('7140'), 'unknown', '119 minutes'],
		['refuses all requests (too many requests)', refusing, 'refused', '10 hours'],
	])('for hours ends the run at once, and gets a call of a later run: %s', async (...row) => {
		const [about, answered, outcome, time] = row;
		const rows = rowsOf(330);
		const [early, later] = [rows.slice(0, 300), rows.slice(300)];
		const rest = notAttempted(about, `again in ${time}.`);
		answerWith(answered);
		const result = await within(60_000, () => runRows(VERIFY_ROWS, early));

		expectFewOnce();
		const errors = expectEnd(result, early, rest);
		expect(errors).toMatchObject(sandbox.requests.map(() => ({ outcome })));

		sandbox.requests = [];
		await sleep(90_000);
		const resultLater = await within(60_000, () => runRows(VERIFY_ROWS, later));
		// On a busy machine, a call or two more go out before the first one is answered.
		const { length } = sandbox.requests;
		expect([1, 2, 3, 4]).toContain(length);
		const { status: httpStatus } = answered;
		const refused = new Array(length).fill({ httpStatus });
		expect(expectEnd(resultLater, later, rest)).toMatchObject(refused);
	});

	test.each([
		['is not available', busyFor('180')],
		['gives no results. The service returned no result', noResult],
	])('is given up after ten minutes, with what it says: %s', async (about, answered) => {
		const rows = rowsOf(100);
		answerWith(answered);
		const result = await runRows(VERIFY_ROWS, rows);

		expectFewOnce();
		const errors = expectEnd(result, rows, notAttempted(about, 'lasted for ten minutes'));
		expect(errors).toMatchObject(sandbox.requests.map(() => ({ outcome: 'unknown' })));
	});

	test('is given up by all executions that wait for it at about the same time', async () => {
		answerWith(verdict);
		await runRows(VERIFY_ROWS, rowsOf(1));
		await sandbox.goDown();
		const rows = rowsOf(20).slice(1);
		const began = Date.now();
		const runs = await Promise.all(rows.map((row) => runRows(VERIFY_ROWS, [row])));
		await sandbox.comeBack();
		expect(Date.now() - began).toBeLessThan(13 * 60_000);
		const outcome = including({ outcome: 'notSent' });
		for (const [index, { items }] of runs.entries())
			expect(items).toEqual(paired([{ ...rows[index], error: outcome }]));
		expectCalls([...rowsOf(1)].map(VERIFY_ROWS.callFor));
	});

	test('is given up by all executions that wait for its scrapes, once they did so for ten minutes', async () => {
		answerWith(answer('<html>', 502));
		const began = Date.now();
		const rows = rowsOf(12);
		const runs = await Promise.all(rows.map((row) => runRows(WAIT_ROWS, [row])));
		expect(Date.now() - began).toBeGreaterThan(10 * 60_000);
		expect(Date.now() - began).toBeLessThan(13 * 60_000);
		for (const [index, { items }] of runs.entries()) {
			const [row = { name: '' }] = rows.slice(index);
			const error = including({ scrapeId: row.name, paidCalls: 0 });
			expect(items).toEqual(paired([{ ...row, error }]));
		}
	});

	test('for the balance alone ends no other run', async () => {
		answerWith((request) => (request.path === '/credits' ? busyFor('3600') : verdict(request)));
		const rows = rowsOf(150);
		const asking = [30_000, 61_000, 62_000].map(async (ms) => {
			await sleep(ms);
			await service.run(BALANCE, {}, [{}], auto);
		});
		const { items } = await runRows(VERIFY_ROWS, rows, {}, auto);
		await Promise.all(asking);
		expect(items).toEqual(verified(rows));
		// A question for the plan may still wait.
		await sleep(10 * 60_000);
	});

	test('but gives the status of scrapes still ends the waits for those that it started', async () => {
		const refusing = { ...tooFast, headers: busyFor('36000').headers };
		const began = Date.now();
		answerWith(({ path, query }) => {
			if (path === '/status') {
				const isOver = Date.now() - began > 60_000;
				return success({ scrapeId: query.scrapeId, status: isOver ? 'completed' : 'processing' });
			}
			const { length } = sandbox.requests.filter((each) => each.path === '/start');
			return length <= 3 ? success({ scrapeId: `s${String(length)}` }) : refusing;
		});
		const { items } = await runRows(START_AND_WAIT_ROWS, rowsOf(8));
		const completed = items.filter(({ json }) => json.status === 'completed');
		expect(completed.map(({ json }) => json.scrapeId).toSorted()).toEqual(['s1', 's2', 's3']);
		const others = items.filter(({ json }) => json.error);
		const error = { outcome: matching(/refused|notSent/), paidCalls: 0 };
		expect(others).toMatchObject(new Array(5).fill({ json: { error } }));
	});

	test.each([VERIFY_ROWS, WAIT_ROWS])('leaves Stop at once: $operation', async (action) => {
		const { operation, parameters } = action;
		answerWith(busyFor('300'));
		let heldBackAt = 0;
		const isHeldBack = () => {
			heldBackAt = Date.now();
			return isLongAgo(sandbox.requests[0], 150);
		};
		await service.runUntil(isHeldBack, operation, parameters, rowsOf(100), keepGoing);
		expect(Date.now() - heldBackAt).toBeLessThan(60_000);
		expect(sandbox.requests.length).toBeLessThanOrEqual(60);
	});
});

describe('An answer that comes byte by byte', () => {
	let closed = 0;
	/** Begins to answer at once, and goes on for longer than any test waits. */
	const trickle: Responder = (_request, response) => {
		response.writeHead(200, { 'content-type': 'application/json' });
		const timer = setInterval(() => response.write(' '), 50);
		response.on('close', () => {
			clearInterval(timer);
			closed++;
		});
		return undefined;
	};
	const options = { requestTimeout: 0.5 };

	beforeEach(() => {
		closed = 0;
	});

	test('counts as none when the Request Timeout is over', async () => {
		const message = 'The service did not answer in time';
		const facts = { outcome: 'unknown', code: 'ECONNABORTED', paidCalls: 1 };
		const error = { message, advice: mayBeDone, ...facts };
		await within(30_000, () =>
			expectEach(VERIFY_ROWS, [[verdict], [trickle, { error }], [verdict]], options),
		);
		await until(() => closed === 1);
	});

	test.each([
		{ about: 'at once, if it is free', action: STATUS_ROWS, afterMs: [0, 30_000] },
		{ about: 'when it is late, if it is paid', action: VERIFY_ROWS, afterMs: [59_000, 90_000] },
	])('is given up after Stop $about', async ({ action, afterMs: [least = 0, most = 0] }) => {
		const rows = rowsOf(3);
		answerWith(trickle);
		const areAsked = () => sandbox.requests.length === 3;
		const parameters = { ...action.parameters, options: { requestTimeout: 60 } };
		await service.runUntil(areAsked, action.operation, parameters, rows, keepGoing);
		await until(() => closed === 3);
		const ms = Date.now() - Number(sandbox.requests[0]?.at);
		expect(ms).toBeGreaterThanOrEqual(least);
		expect(ms).toBeLessThan(most);
		expectCalls(rows.map(action.callFor));
	});
});

test.each([
	// Of half the time for which a request waits.
	['none', silence, 0.5, { message: 'did not finish within 0.5 minutes' }],
	['none that can be read', answer('<html>', 502), 2, { message: 'HTTP 502', httpStatus: 502 }],
])('A wait for scrapes ends at its Timeout, also if it gets no status: %s', async (...row) => {
	const [, given, timeout, { message, ...facts }] = row;
	const rows = rowsOf(3);
	answerWith(given);
	const { items } = await within(timeout * 70_000, () => runRows(WAIT_ROWS, rows, { timeout }));

	const advice = containing('wait longer');
	const error = { message: containing(message), advice, ...facts, paidCalls: 0 };
	const errors = rows.map(({ name: scrapeId }) => including({ ...error, scrapeId }));
	expect(items).toEqual(paired(rows.map((row, index) => ({ ...row, error: errors[index] }))));
	if (given === silence) expectCalls(rows.map(WAIT_ROWS.callFor));
});

test.each([
	['is not available', busyFor('500')],
	['does not accept the key', failure('UNAUTHORIZED', 401)],
	['limits it', { ...tooFast, headers: busyFor('3600').headers }],
])('A question for the plan that fails holds no other call up: it %s', async (_what, answered) => {
	answerWith((request) => (request.path === '/credits' ? answered : verdict(request)));
	const rows = rowsOf(90);
	const since = Date.now();
	const { items } = await within(100_000, () => runRows(VERIFY_ROWS, rows, {}, auto));
	expect(items).toEqual(verified(rows));
	expectCalls(rows.map(VERIFY_ROWS.callFor), '/email/verify');
	// As long as with the smallest plan, and a question each minute.
	expect(Date.now() - since).toBeGreaterThan(60_000);
	expect([1, 2]).toContain(questions());
});

test('A question for the plan that failed once is asked again after a minute, and its answer counts', async () => {
	answerWith((request) => {
		if (request.path !== '/credits') return verdict(request);
		return questions() > 1 ? success({ credits: 1, plan: 'pro' }) : failure('DOWN', 500);
	});
	const rows = rowsOf(400);
	const since = Date.now();
	await runRows(VERIFY_ROWS, rows, {}, auto);
	expectCalls(rows.map(VERIFY_ROWS.callFor), '/email/verify');
	// With the smallest plan all the time, it would take more than six minutes.
	expect(Date.now() - since).toBeLessThan(3 * 60_000);
});

test('A gateway that answers for twenty seconds, as in a deployment, takes few rows', async () => {
	const rows = rowsOf(180);
	let end = 0;
	answerWith((request) => {
		// The first call of the second minute.
		if (sandbox.requests.length === 61) end = Date.now() + 20_000;
		return Date.now() < end ? answer('404 page not found', 404) : verdict(request);
	});
	const starter = { ...keepGoing, credential: { plan: 'starter' } };
	const { items } = await runRows(VERIFY_ROWS, rows, {}, starter);
	expectCalls(rows.map(VERIFY_ROWS.callFor));
	const refused = items.filter(({ json }) => json.error);
	// Otherwise the sixty of that minute.
	expect(refused.length).toBeLessThan(30);
	expect(refused).not.toEqual([]);
	const error = { outcome: 'refused', httpStatus: 404, advice: containing('Try it again later') };
	expect(refused).toMatchObject(refused.map(() => ({ json: { error } })));
});

test('After a run that ended early, its results are free for 15 minutes from its end, and those that it reused', async () => {
	let isBusy = false;
	answerWith((request) => (isBusy ? tooFast : verdict(request)));
	const rows = rowsOf(30);
	const [first, second] = [rows.slice(0, 10), rows.slice(0, 20)];
	await runRows(VERIFY_ROWS, first);
	await sleep(8 * 60_000);
	await runRows(VERIFY_ROWS, second);
	isBusy = true;
	// Ends after ten minutes.
	const { items } = await runRows(VERIFY_ROWS, rows);
	expect(items.filter(({ json }) => json.error)).toHaveLength(10);
	await sleep(14 * 60_000);
	isBusy = false;
	sandbox.requests = [];
	await runRows(VERIFY_ROWS, rows);
	expectCalls(rows.slice(20).map(VERIFY_ROWS.callFor));
});

test('The same is true of a run that was stopped, also with On Error: Continue', async () => {
	let isBusy = true;
	answerWith((request) => {
		const isTaken = !isBusy || sandbox.requests.length <= 10;
		return isTaken ? verdict(request) : tooFast;
	});
	const rows = rowsOf(30);
	const isWaiting = () => isLongAgo(sandbox.requests[0], 8 * 60_000);
	const { operation, parameters } = VERIFY_ROWS;
	await service.runUntil(isWaiting, operation, parameters, rows, keepGoing);
	const bought = isIn(sandbox.requests.filter(({ status }) => status === 200));
	await sleep(14 * 60_000);
	isBusy = false;
	sandbox.requests = [];
	await runRows(VERIFY_ROWS, rows);
	expectCalls(rows.filter((row) => !bought(row)).map(VERIFY_ROWS.callFor));
	expect(sandbox.requests).toHaveLength(20);
});

test('A refusal of a status counts from the first one on, not from an outage before', async () => {
	const rows = rowsOf(3);
	const since = Date.now();
	const refused = new Set<unknown>();
	answerWith(({ query: { scrapeId } }) => {
		if (Date.now() - since < 80_000) return answer('<html>', 502);
		if (refused.has(scrapeId)) return success({ scrapeId, status: 'completed' });
		refused.add(scrapeId);
		return answer('<html>', 404);
	});
	const { items } = await runRows(WAIT_ROWS, rows);
	expect(refused.size).toBe(3);
	expect(items).toEqual(paired(rows.map(({ name }) => ({ scrapeId: name, status: 'completed' }))));
});

test('A wait that ends early does not say that another run costs nothing', async () => {
	const rows = rowsOf(12);
	answerWith(({ query: { scrapeId } }) =>
		sandbox.requests.length <= 12
			? success({ scrapeId, status: 'processing' })
			: failure('UNAUTHORIZED', 401),
	);
	const { items } = await runRows(WAIT_ROWS, rows);
	const errors = items.map(({ json }) => json.error as IDataObject);
	expect(errors).toMatchObject(rows.map(({ name: scrapeId }) => ({ scrapeId, paidCalls: 0 })));
	for (const { advice } of errors) {
		expect(advice).toContain('If you start a new scrape instead, you pay again.');
		expect(advice).not.toMatch(/do not pay|Remember Results/);
	}
});

test('The plan is asked for again after a quarter of an hour, because it may change', async () => {
	const rows = rowsOf(180);
	for (const [run, asked] of [1, 1, 2].entries()) {
		await runRows(VERIFY_ROWS, rows.slice(60 * run, 60 * (run + 1)), {}, auto);
		expect(questions()).toBe(asked);
		await sleep(10 * 60_000);
	}
});
