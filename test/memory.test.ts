import type { Answer } from '../nodes/LeadGen/service/answer';
import { Memory, type Buyer } from '../nodes/LeadGen/service/memory';

const MINUTE = 60_000;

let calls: Memory;

beforeEach(() => {
	jest.useFakeTimers({ now: 1_000_000 });
	calls = new Memory();
});
afterEach(() => {
	jest.useRealTimers();
});

const buyer = (executionId: string, rememberMs = 0): Buyer => ({ executionId, rememberMs });
const result = (key: string): Answer => ({ data: { key } });
const failure: Answer = { error: new Error('Nobody knows') };

/** Makes a call, and gets its answer. */
async function keep(key: string, by: Buyer, answer = result(key), isBought = true) {
	const pending = Promise.resolve(answer);
	calls.keep(key, by, pending, () => isBought);
	await pending;
}

/** Which of these keys a buyer has an answer to. */
const found = (by: Buyer, keys: string[]) =>
	keys.filter((key) => calls.recall(key, by)?.answer !== undefined);

it('gives all results of a long run to the next, for a while after its last one', async () => {
	const rows = Array.from({ length: 180 }, (_, row) => `row ${String(row)}`);
	for (const row of rows) {
		await keep(row, buyer('long run'));
		jest.setSystemTime(Date.now() + MINUTE);
	}
	await keep('another row', buyer('another run'));
	const next = buyer('next run', 15 * MINUTE);
	expect(found(next, rows)).toEqual(rows);
	expect(calls.recall('row 7', next)?.answer).toEqual(result('row 7'));
	jest.setSystemTime(Date.now() + 15 * MINUTE);
	expect(found(next, rows)).toEqual([]);
	expect(found(buyer('long run'), rows)).toEqual(rows);
});

it('does not count calls without an execution as one run, but reports their errors for a while', async () => {
	for (const key of ['a', 'b']) {
		await keep(key, buyer(''));
		jest.setSystemTime(Date.now() + 8 * MINUTE);
	}
	await keep('c', buyer(''), failure);
	expect(found(buyer('', 9 * MINUTE), ['a', 'b', 'c'])).toEqual(['b', 'c']);
	expect(found(buyer(''), ['a', 'b', 'c'])).toEqual(['c']);
	jest.setSystemTime(Date.now() + 10 * MINUTE);
	expect(found(buyer('', 9 * MINUTE), ['a', 'b', 'c'])).toEqual([]);
});

it('lets each run find the call that another one is making', async () => {
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
	const run = buyer('one');
	await keep('a', run, failure, false);
	expect(calls.recall('a', run)?.answer).toEqual(failure);
	expect(calls.recall('a', buyer('one'))).toBeUndefined();
});

it('keeps what was paid for when another run tries the same without success', async () => {
	await keep('a', buyer('one'));
	for (const name of ['two', 'three']) await keep('a', buyer(name), failure, false);
	expect(calls.recall('a', buyer('one'))?.answer).toEqual(result('a'));
	expect(calls.recall('a', buyer('four', MINUTE))?.answer).toEqual(result('a'));
	expect(calls.recall('a', buyer('four'))).toBeUndefined();
	for (const name of ['five', 'six']) await keep('a', buyer(name));
	expect(calls.recall('a', buyer('six'))).not.toHaveProperty('earlier');
});

it('forgets first what was bought longest ago when it is full', async () => {
	const keys = [...new Array(50_002).keys()].map(String);
	for (const key of keys.toSpliced(40_000, 0, '0')) await keep(key, buyer('one'));
	expect(found(buyer('one'), keys)).toEqual(['0', ...keys.slice(3)]);
});

it('gives the answers of an execution in all its runs, but not those of others', async () => {
	await keep('/start a', buyer('one'));
	await keep('/start b', buyer('two'));
	await keep('/start c', buyer('one'));
	await keep('/email d', buyer('one'));
	await keep('/start e', buyer(''));
	const own = buyer('');
	await keep('/start f', own);
	const keys = (by: Buyer) => calls.answersOf(by, '/start ');
	expect(keys(buyer('one'))).toEqual([result('/start a'), result('/start c')]);
	expect(keys(own)).toEqual([result('/start f')]);
});
