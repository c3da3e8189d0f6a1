import type { Answer } from '../nodes/LeadGen/service/answer';
import { Memory, type Buyer } from '../nodes/LeadGen/service/memory';

const MINUTE = 60_000;

beforeEach(() => {
	jest.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
	jest.useRealTimers();
});

const buyer = (executionId: string, rememberMs = 0): Buyer => ({ executionId, rememberMs });
const result = (key: string): Answer => ({ data: { key } });
const failure: Answer = { error: new Error('Nobody knows') };

/** Makes a call, and gets its answer. */
async function keep(
	to: Memory,
	key: string,
	by: Buyer,
	answer: Answer = result(key),
	isBought = true,
): Promise<void> {
	const pending = Promise.resolve(answer);
	to.keep(key, by, pending, () => isBought);
	await pending;
}

/** Which of these keys a buyer has an answer to. */
const found = (of: Memory, by: Buyer, keys: string[]) =>
	keys.filter((key) => of.recall(key, by)?.answer !== undefined);

it('gives all results of a long run to the next, for a while after its last one', async () => {
	const rows = Array.from({ length: 180 }, (_, row) => `row ${String(row)}`);
	const long = new Memory();
	for (const row of rows) {
		await keep(long, row, buyer('long run'));
		jest.setSystemTime(Date.now() + MINUTE);
	}
	const next = buyer('next run', 15 * MINUTE);
	expect(found(long, next, rows)).toEqual(rows);
	expect(long.recall('row 7', next)?.answer).toEqual(result('row 7'));
	jest.setSystemTime(Date.now() + 15 * MINUTE);
	expect(found(long, next, rows)).toEqual([]);
	expect(found(long, buyer('long run'), rows)).toEqual(rows);
});

it('does not count calls without an execution as one run, but reports their errors for a while', async () => {
	const calls = new Memory();
	for (const key of ['a', 'b']) {
		await keep(calls, key, buyer(''));
		jest.setSystemTime(Date.now() + 8 * MINUTE);
	}
	await keep(calls, 'c', buyer(''), failure);
	expect(found(calls, buyer('', 9 * MINUTE), ['a', 'b', 'c'])).toEqual(['b', 'c']);
	expect(found(calls, buyer(''), ['a', 'b', 'c'])).toEqual(['c']);
	jest.setSystemTime(Date.now() + 10 * MINUTE);
	expect(found(calls, buyer('', 9 * MINUTE), ['a', 'b', 'c'])).toEqual([]);
});

it('lets each run find the call that another one is making', async () => {
	const calls = new Memory();
	let answerWith: (answer: Answer) => void = () => {};
	const pending = new Promise<Answer>((resolve) => (answerWith = resolve));
	calls.keep('a', buyer('one'), pending, () => true);
	expect(calls.recall('a', buyer('two'))).toMatchObject({ pending });
	answerWith(result('a'));
	await pending;
	expect(calls.recall('a', buyer('two'))).toBeUndefined();
	expect(calls.recall('a', buyer('one'))?.answer).toEqual(result('a'));
});

it('counts a failure for the run that got it, and not for its retry', async () => {
	const calls = new Memory();
	const run = buyer('one');
	await keep(calls, 'a', run, failure, false);
	expect(calls.recall('a', run)?.answer).toEqual(failure);
	expect(calls.recall('a', buyer('one'))).toBeUndefined();
});

it('keeps what was paid for when another run tries the same without success', async () => {
	const calls = new Memory();
	await keep(calls, 'a', buyer('one'));
	for (const name of ['two', 'three']) await keep(calls, 'a', buyer(name), failure, false);
	expect(calls.recall('a', buyer('one'))?.answer).toEqual(result('a'));
	expect(calls.recall('a', buyer('four', MINUTE))?.answer).toEqual(result('a'));
	expect(calls.recall('a', buyer('four'))).toBeUndefined();
});

it('forgets the oldest calls first when it is full', async () => {
	const calls = new Memory();
	const keys = [...new Array(50_002).keys()].map(String);
	for (const key of keys) await keep(calls, key, buyer('one'));
	expect(found(calls, buyer('one'), keys)).toEqual(keys.slice(2));
});

it('gives the answers of an execution in all its runs, but not those of others', async () => {
	const calls = new Memory();
	await keep(calls, '/start a', buyer('one'));
	await keep(calls, '/start b', buyer('two'));
	await keep(calls, '/start c', buyer('one'));
	await keep(calls, '/email d', buyer('one'));
	await keep(calls, '/start e', buyer(''));
	const own = buyer('');
	await keep(calls, '/start f', own);
	const keys = (by: Buyer) => calls.answersOf(by, '/start ');
	expect(keys(buyer('one'))).toEqual([result('/start a'), result('/start c')]);
	expect(keys(own)).toEqual([result('/start f')]);
});
