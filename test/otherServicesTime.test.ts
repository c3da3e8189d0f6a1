/** When a service may answer, and when it lets calls in, that the sandbox does not imitate. */
import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import type { NodeResult } from './engine';
import { GET_STATUS, START_AND_WAIT, VERIFY, WAIT, people } from './actions';
import {
	answer,
	failure,
	mayBeDone,
	success,
	titleIn,
	verdict,
	verified,
	type Answer,
	type Received,
	type Responder,
	type Row,
} from './answers';
import { useOtherService } from './otherService';
import { containing, including, paired } from './expected';
import { keepGoing } from './given';
import { keyOf, sleep, until } from './service';

const { received, answerWith, run, runEach, expectEach, stop, expectCalls } = useOtherService();

const busy = answer('busy', 503);
const tooFast = failure('RATE_LIMIT_EXCEEDED', 429);
const busyFor = (seconds: string) => ({ ...busy, headers: { 'retry-after': seconds } });

/** Whether a row is verified by one of these requests. */
const isIn = (requests: Received[]) => {
	const keys = requests.map(keyOf);
	return (row: Row) => keys.includes(keyOf(VERIFY.callFor(row)));
};

const isSame = (request: Received) => (other: Received) => keyOf(other) === keyOf(request);

/** Runs something, and expects that it takes less than so many milliseconds. */
async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
	const began = Date.now();
	const result = await work();
	expect(Date.now() - began).toBeLessThan(ms);
	return result;
}

const msBetween = (first?: Received, second?: Received) => Number(second?.at) - Number(first?.at);

describe('Headers about an hour, from a service with a limit per minute,', () => {
	const headers = {
		'x-ratelimit-limit': '5000',
		'x-ratelimit-remaining': '4900',
		'x-ratelimit-reset': '3600',
	};

	test.each<ICredentialDataDecryptedObject>([
		{ plan: 'starter' },
		{ plan: 'enterprise', requestsPerMinute: 60 },
	])('do not lift the limit of %j', async (credential) => {
		const rows = people(150);
		answerWith((request) => ({ ...verdict(request), headers }));
		const running = run(VERIFY, rows, {}, { ...keepGoing, credential });

		await until(() => received.length >= 60);
		// More would go out at once if they were allowed to.
		await sleep(300);
		stop();
		const { run: execution } = await running;

		expectCalls(rows.slice(0, 60).map(VERIFY.callFor));
		expect(execution.status).toBe('canceled');
	});

	test('do not make refused calls wait for the end of the hour', async () => {
		const rows = people(40);
		const taken: Received[] = [];
		answerWith((request) => {
			const lately = taken.filter((each) => msBetween(each, request) < 500);
			if (lately.length >= 15) return { ...tooFast, headers };
			taken.push(request);
			return { ...verdict(request), headers };
		});
		const { items } = await run(VERIFY, rows);

		expect(items).toEqual(verified(rows));
		expectCalls(rows.map(VERIFY.callFor), taken);
		expect(received.length).toBeGreaterThan(taken.length);
	});
});

describe('A call that the service refuses for its rate', () => {
	const code = 'RATE_LIMIT_EXCEEDED';

	test.each<[string, Answer]>([
		['HTTP 429 without JSON', answer('Too Many Requests', 429)],
		['HTTP 429 without the envelope', answer({ message: 'Slow down' }, 429)],
		['HTTP 429 with another code', failure('THROTTLED', 429)],
		['HTTP 200', failure(code, 200)],
		['HTTP 200 with the code beside the message', answer({ success: false, code, message: 'No' })],
		['HTTP 503', failure(code, 503)],
	])('is sent again, and no other: %s', async (_, refusal) => {
		const rows = people(5);
		const refused: Received[] = [];
		answerWith((request) => {
			const isRefused = [2, 4].includes(received.length) && !refused.some(isSame(request));
			if (!isRefused) return verdict(request);
			refused.push(request);
			return refusal;
		});
		const { items } = await run(VERIFY, rows);

		expect(items).toEqual(verified(rows));
		expect(refused.length).toBeGreaterThan(0);
		expectCalls([...rows, ...rows.filter(isIn(refused))].map(VERIFY.callFor));
	});
});

describe('Retry-After of a service that fails', () => {
	test('is kept before a free call is repeated', async () => {
		const rows = people(3);
		const status = (id: unknown) => ({ scrapeId: id, status: 'processing', progress: 10 });
		answerWith(({ query }) =>
			received.length === 1 ? busyFor('1') : success(status(query.scrapeId)),
		);
		const { items } = await run(GET_STATUS, rows);

		expect(items).toEqual(paired(rows.map(({ name }) => status(name))));
		const name = String(received[0]?.query.scrapeId);
		expectCalls([...rows, { name }].map(GET_STATUS.callFor));
		const [first, again] = received.filter(({ query }) => query.scrapeId === name);
		expect(msBetween(first, again)).toBeGreaterThanOrEqual(950);
	});

	test('holds back the rows that were not sent, and no row is sent twice', async () => {
		const rows = people(100);
		answerWith(async (request) => {
			if (received.length <= 5) return busyFor('1');
			// Later, so that the node hears of the failures first.
			await sleep(50);
			return verdict(request);
		});
		const { items } = await run(VERIFY, rows);

		const isBusyTo = isIn(received.slice(0, 5));
		const error = {
			message: 'The service answered HTTP 503 with something other than the expected JSON',
			answer: 'busy',
			advice: containing('did not send the request again'),
			outcome: 'unknown',
			httpStatus: 503,
		};
		expect(items).toEqual(verified(rows, (row) => isBusyTo(row) && error));
		expectCalls(rows.map(VERIFY.callFor));
		const ms = received.map((each) => msBetween(received[4], each));
		// Those that were in flight already.
		expect(ms.filter((each) => each < 500).length).toBeLessThanOrEqual(60);
		expect(ms.filter((each) => each >= 500 && each < 950)).toEqual([]);
	});
});

describe('A service that takes no calls for now', () => {
	const notAttempted = (message: string, advice: string): unknown => ({
		message: `Not sent: the service ${message}`,
		advice: containing(advice),
		attempted: false,
		outcome: 'notSent',
	});

	/**
	 * Expects that no row was sent twice, and that those that were not sent hold the error `rest`.
	 * @returns the errors of the calls that were not held back in the end
	 */
	function expectEnd({ items }: NodeResult, rows: Row[], rest: unknown): IDataObject[] {
		const sent = received.map(keyOf);
		expect(new Set(sent).size).toBe(sent.length);
		expect(sent.length).toBeLessThanOrEqual(60);
		expect(items).toMatchObject(paired(rows));
		const errors = items.map(({ json }) => json.error as IDataObject);
		const isSent = rows.map(isIn(received));
		const unsent = errors.filter((_, index) => !isSent[index]);
		expect(unsent).toEqual(unsent.map(() => rest));
		return errors.filter(({ attempted }) => attempted !== false);
	}

	const noneLeft = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '36000' };
	const refusing = 'refuses all requests (too many requests)';

	test('but in hours ends the run at once, and gets one call of a later run', async () => {
		const rows = people(330);
		const early = rows.slice(0, 300);
		const later = rows.slice(300);
		const rest = notAttempted('is not available', 'again in 600 minutes');
		answerWith(busyFor('36000'));
		const result = await within(5000, () => run(VERIFY, early));

		const errors = expectEnd(result, early, rest);
		expect(errors.length).toBeGreaterThan(0);
		expect(errors).toMatchObject(errors.map(() => ({ outcome: 'unknown' })));

		received.length = 0;
		const resultLater = await within(5000, () => run(VERIFY, later));

		expect(received).toHaveLength(1);
		expect(expectEnd(resultLater, later, rest)).toMatchObject([{ httpStatus: 503 }]);
	});

	test.each([{ headers: busyFor('36000').headers }, { headers: noneLeft }])(
		'is believed after a minute of refusals if it names hours, which may be milliseconds: $headers',
		async (named) => {
			const rows = people(330);
			const rest = notAttempted(refusing, 'again in 600 minutes');
			const now = performance.now.bind(performance);
			let [passedMs, stepMs] = [0, 61_000];
			jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
			answerWith(() => {
				passedMs += stepMs;
				return { ...tooFast, ...named };
			});
			const { items } = await within(20_000, () => run(VERIFY, rows.slice(0, 300)));

			// A refused call costs nothing, so it may be sent again.
			expect(received.length).toBeLessThan(200);
			const errors = items.map(({ json }) => json.error as IDataObject);
			const refused = errors.filter(({ attempted }) => attempted !== false);
			expect(refused.length).toBeGreaterThan(0);
			expect(refused).toMatchObject(refused.map(() => ({ outcome: 'refused', httpStatus: 429 })));
			const others = errors.filter(({ attempted }) => attempted === false);
			expect(others).toEqual(others.map(() => rest));

			received.length = 0;
			// Any pause is over by then.
			[passedMs, stepMs] = [passedMs + 5 * 60_000, 0];
			const later = await within(20_000, () => run(VERIFY, rows.slice(300)));

			expect(received).toHaveLength(1);
			expect(expectEnd(later, rows.slice(300), rest)).toMatchObject([{ httpStatus: 429 }]);
		},
	);

	test.each([
		{ about: 'and it refuses the next one', limit: 30 },
		{ about: 'though it takes more', limit: Infinity },
	])('says so beside the last result, $about', async ({ limit }) => {
		const rows = people(50);
		const now = performance.now.bind(performance);
		let passedMs = 0;
		jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
		const accepted: Received[] = [];
		answerWith((request) => {
			if (accepted.length >= limit) {
				passedMs += 61_000;
				return { ...tooFast, headers: noneLeft };
			}
			accepted.push(request);
			const taken = accepted.length;
			const remaining = String(Math.max(0, 30 - taken));
			return { ...verdict(request), headers: { ...noneLeft, 'x-ratelimit-remaining': remaining } };
		});
		const { items } = await within(10_000, () => run(VERIFY, rows));

		const results = items.filter(({ json }) => json.error === undefined);
		expect(results).toHaveLength(Math.min(limit, rows.length));
		expect(new Set(accepted.map(keyOf)).size).toBe(accepted.length);
		expect(received.length - accepted.length).toBeLessThan(50);
	});

	/** Calls that came when the service said it would be back, if it said so for half a second. */
	const probes = () => received.filter((each) => msBetween(received[0], each) > 400);

	test('is given up after ten minutes, and tried with one call at a time until then', async () => {
		const rows = people(300);
		const now = performance.now.bind(performance);
		let passedMs = 0;
		jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
		answerWith(() => {
			// Each of them takes four minutes.
			passedMs = probes().length * 4 * 60_000;
			return busyFor('0.5');
		});
		const began = now();
		const result = await run(VERIFY, rows);

		expect(now() - began).toBeLessThan(10_000);
		expect(probes()).toHaveLength(3);
		const rest = notAttempted('is not available', 'lasted for ten minutes');
		const errors = expectEnd(result, rows, rest);
		expect(errors).toMatchObject(received.map(() => ({ outcome: 'unknown' })));
	});

	test('is told as it was said where a free call would have been repeated', async () => {
		const error = {
			message: 'The service answered HTTP 503 with something other than the expected JSON',
			answer: 'busy',
			advice: 'This request costs no credits. Run it again.',
			outcome: 'unknown',
			httpStatus: 503,
		};
		await expectEach(GET_STATUS, [[busyFor('36000'), { error }]]);
	});

	test('gets a single call when it said it would be back', async () => {
		const rows = people(100);
		const refused: Received[] = [];
		answerWith((request) => {
			// It takes the third of these calls.
			if (probes().length > 2) return verdict(request);
			refused.push(request);
			return busyFor('0.5');
		});
		const { items } = await run(VERIFY, rows);

		const isRefused = isIn(refused);
		const error = including({ outcome: 'unknown', httpStatus: 503 });
		expect(items).toEqual(verified(rows, (row) => isRefused(row) && error));
		expectCalls(rows.map(VERIFY.callFor));
		const [first, second, third] = probes();
		expect(msBetween(first, second)).toBeGreaterThanOrEqual(450);
		expect(msBetween(second, third)).toBeGreaterThanOrEqual(450);
	});

	test.each([busy, tooFast])('leaves Stop at once: HTTP $status', async (refusal) => {
		answerWith({ ...refusal, headers: { 'retry-after': '300' } });
		const running = run(VERIFY, people(100));
		await until(() => received.length > 0);
		await sleep(150);
		const pressed = Date.now();
		stop();
		const { run: execution } = await running;

		expect(Date.now() - pressed).toBeLessThan(500);
		expect(execution.status).toBe('canceled');
		expect(received.length).toBeLessThanOrEqual(60);
	});
});

describe('An answer that comes byte by byte', () => {
	let closed = 0;
	/** Begins to answer at once, and goes on for longer than any test waits. */
	const trickle: Responder = (_request, outgoing) => {
		outgoing.writeHead(200, { 'content-type': 'application/json' });
		const timer = setInterval(() => outgoing.write(' '), 50);
		outgoing.on('close', () => {
			clearInterval(timer);
			closed++;
		});
		return undefined;
	};
	const message = 'The service did not answer in time';
	const options = { requestTimeout: 0.5 };

	beforeEach(() => {
		closed = 0;
	});

	test('counts as none when the Request Timeout is over', async () => {
		const error = { message, advice: mayBeDone, outcome: 'unknown', code: 'ECONNABORTED' };
		await expectEach(VERIFY, [[verdict], [trickle, { error }], [verdict]], options);

		expect(Date.now() - Number(received[0]?.at)).toBeLessThan(3000);
		await until(() => closed === 1);
	});

	test('is given up at once when the user presses Stop, if it is free', async () => {
		const running = runEach(GET_STATUS, [trickle, trickle, trickle]);
		await until(() => received.length === 3);
		const pressed = Date.now();
		stop();
		const { run: execution } = await running;
		await until(() => closed === 3);

		expect(Date.now() - pressed).toBeLessThan(1000);
		expect(execution.status).toBe('canceled');
	});

	test('is waited for in the background after Stop, if it is paid, until it is late', async () => {
		const requestTimeout = 3;
		const running = runEach(VERIFY, [trickle, trickle, trickle], { requestTimeout });
		await until(() => received.length === 3);
		const pressed = Date.now();
		stop();
		await sleep(1000);
		expect(closed).toBe(0);
		const { run: execution } = await running;
		await until(() => closed === 3);
		expect(Date.now() - pressed).toBeGreaterThan(1500);
		expect(execution.status).toBe('canceled');
		expect(received).toHaveLength(3);
	});

	test('makes the node ask again for what is free', async () => {
		const rows = people(3);
		const isLate = new Set<unknown>(['p1']);
		const ended = (id: unknown) => ({ scrapeId: id, status: 'completed' });
		answerWith((request, outgoing) => {
			const { scrapeId = titleIn(request.body) } = request.query;
			return isLate.delete(request.query.scrapeId)
				? trickle(request, outgoing)
				: success(ended(scrapeId));
		});
		const { items } = await run(START_AND_WAIT, rows, options);

		expect(items).toEqual(paired(rows.map(({ name }) => ended(name))));
		const asked = received.filter(({ path }) => path === '/status');
		expectCalls([...rows, { name: 'p1' }].map(GET_STATUS.callFor), asked);
	});
});

test('A wait for scrapes ends at its Timeout, also if no status was ever answered', async () => {
	const rows = people(3);
	const running = run(WAIT, rows, { timeout: 0.005 });
	answerWith(async ({ query }) => {
		await running;
		// Nothing is left to repeat then.
		return success({ scrapeId: query.scrapeId, status: 'completed' });
	});
	const { items } = await running;

	// The request alone would wait for five minutes.
	expect(Date.now() - Number(received[0]?.at)).toBeLessThan(10_000);
	const error = (id: string) => ({
		message: `Scrape ${id} did not finish within 0.005 minutes`,
		advice: containing('wait longer'),
		scrapeId: id,
	});
	expect(items).toEqual(paired(rows.map((row) => ({ ...row, error: error(row.name) }))));
	expectCalls(rows.map(GET_STATUS.callFor));
});

test('A wait that is over sends nothing more, though status requests waited for the rate limit', async () => {
	const rows = people(60);
	answerWith(({ query }) => success({ scrapeId: query.scrapeId, status: 'processing' }));
	const credential = { plan: 'starter' };
	const { items } = await run(WAIT, rows, { timeout: 0.02 }, { ...keepGoing, credential });

	expect(items.map(({ json }) => json.error !== undefined)).toEqual(rows.map(() => true));
	await sleep(2000);
	const { length } = received;
	await sleep(2000);
	expect(received).toHaveLength(length);
});

test('A service that limits how often it names the plan holds no other call up', async () => {
	const rows = people(58);
	const twiceADay = { ...failure('RATE_LIMIT_EXCEEDED', 429), headers: { 'retry-after': '3600' } };
	answerWith((request) => (request.path === '/credits' ? twiceADay : verdict(request)));
	const { items } = await run(VERIFY, rows, {}, { ...keepGoing, credential: { plan: 'auto' } });

	expect(items).toEqual(verified(rows));
	expect(received.filter(({ path }) => path === '/credits')).toHaveLength(1);
});
