import { Memory, type Buyer } from '../nodes/LeadGen/service/memory';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

beforeEach(() => {
	jest.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
	jest.useRealTimers();
});

const pass = (ms: number) => {
	jest.setSystemTime(Date.now() + ms);
};
const result = (key: string) => ({ json: JSON.stringify({ key }) });
const failure = { error: new Error('Nobody knows') };

/** A memory, and which of these keys a buyer finds in it. */
function memoryOf(keys: string[], buyer: Buyer, pauseMs = 0) {
	const memory = new Memory();
	for (const key of keys) {
		memory.keep(key, result(key), buyer);
		pass(pauseMs);
	}
	const found = (by: Buyer, among = keys) =>
		among.filter((key) => memory.recall(key, by)?.bought !== undefined);
	return { memory, found };
}

it('gives all results of a long run to the next, for a while after its last one', () => {
	const rows = Array.from({ length: 180 }, (_, row) => `row ${String(row)}`);
	const { memory, found } = memoryOf(rows, { executionId: 'long run' }, MINUTE);
	const next = { executionId: 'next run', rememberMs: 15 * MINUTE };
	expect(found(next)).toEqual(rows);
	expect(memory.recall('row 7', next)?.bought).toEqual(result('row 7'));
	pass(15 * MINUTE);
	expect(found(next)).toEqual([]);
	expect(found({ executionId: 'long run' })).toEqual(rows);
});

it('does not count calls without an execution as one run, but reports their errors for a while', () => {
	const rememberMs = 9 * MINUTE;
	const { memory, found } = memoryOf(['a', 'b'], {}, 8 * MINUTE);
	memory.keep('c', failure, {});
	expect([found({ rememberMs }, ['a', 'b', 'c']), found({}, ['c'])]).toEqual([['b', 'c'], ['c']]);
	pass(10 * MINUTE);
	expect(found({ rememberMs }, ['a', 'b', 'c'])).toEqual([]);
});

it('forgets what others bought first when it is full, and keeps the beginning of a run', () => {
	const run = { executionId: 'run' };
	const all = [...new Array(60_000).keys()].map(String);
	const old = all.slice(0, 30_000).map((row) => `old ${row}`);
	const { memory, found } = memoryOf(old, { executionId: 'old' });
	for (const row of all) memory.keep(row, result(row), run);
	expect(found({ rememberMs: DAY })).toEqual([]);
	expect(found(run, all)).toEqual(all.slice(0, 50_000));
	const next = { executionId: 'next' };
	memory.keep('next', result('next'), next);
	expect([found(next, ['next']), found(run, ['0', '1'])]).toEqual([['next'], ['1']]);
});

it('forgets what is older than a day when something is bought', () => {
	const run = { executionId: 'run' };
	const { memory, found } = memoryOf(['a', 'b'], run);
	pass(DAY);
	memory.keep('c', result('c'), run);
	expect(found(run, ['a', 'b', 'c'])).toEqual(['c']);
});
