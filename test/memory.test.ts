import { Memory } from '../nodes/LeadGen/service/memory';

const MINUTE = 60_000;

beforeEach(() => {
	jest.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
	jest.useRealTimers();
});

const bought = (key: string) => ({ json: JSON.stringify({ key }) });

it('gives all results of a long run to the next, for a while after its last one', () => {
	const memory = new Memory();
	for (let minute = 0; minute < 180; minute++) {
		memory.keep(`row ${String(minute)}`, 'long run', bought(String(minute)));
		jest.setSystemTime(Date.now() + MINUTE);
	}
	expect(memory.recall('row 0', 'next run', 15 * MINUTE)).toEqual(bought('0'));
	expect(memory.recall('row 179', 'next run', 15 * MINUTE)).toEqual(bought('179'));
	jest.setSystemTime(Date.now() + 15 * MINUTE);
	expect(memory.recall('row 0', 'next run', 15 * MINUTE)).toBeUndefined();
	expect(memory.recall('row 0', 'long run', 0)).toEqual(bought('0'));
});

it('does not count calls without an execution as one run', () => {
	const memory = new Memory();
	memory.keep('a', '', bought('a'));
	jest.setSystemTime(Date.now() + 10 * MINUTE);
	memory.keep('b', '', bought('b'));
	expect(memory.recall('a', '', 10 * MINUTE)).toBeUndefined();
	expect(memory.recall('b', '', 10 * MINUTE)).toEqual(bought('b'));
});

it('knows of a call until it is over, whoever makes it', async () => {
	const memory = new Memory();
	const isPending = (key: string) => memory.pendingOf(key) !== undefined;
	const [good, bad] = [Promise.resolve(1), Promise.reject(new Error('It failed'))];
	const calls = [memory.during('good', good), memory.during('bad', bad)];
	expect([isPending('good'), isPending('bad'), isPending('other')]).toEqual([true, true, false]);
	await Promise.allSettled(calls);
	expect([isPending('good'), isPending('bad')]).toEqual([false, false]);
});

it('forgets what others bought first when it is full, and keeps the beginning of a run', () => {
	const memory = new Memory();
	for (let row = 0; row < 30_000; row++) memory.keep(`old ${String(row)}`, 'old', bought('old'));
	for (let row = 0; row < 60_000; row++) memory.keep(`row ${String(row)}`, 'run', bought('new'));
	const isKnown = (key: string) => memory.recall(key, 'run', 1e9) !== undefined;
	const rows = [...new Array(60_000).keys()].map(String);
	expect(rows.filter((row) => isKnown(`old ${row}`))).toEqual([]);
	expect(rows.filter((row) => isKnown(`row ${row}`))).toEqual(rows.slice(0, 50_000));
	memory.keep('next', 'next', bought('next'));
	expect(memory.recall('next', 'next', 0)).toBeDefined();
	expect(memory.recall('row 0', 'run', 0)).toBeUndefined();
});

it('forgets what is older than a day when something is bought', () => {
	const memory = new Memory();
	for (const key of ['a', 'b']) memory.keep(key, 'run', bought(key));
	jest.setSystemTime(Date.now() + 24 * 60 * MINUTE);
	memory.keep('c', 'run', bought('c'));
	expect(['a', 'b'].map((key) => memory.recall(key, 'run', 0))).toEqual([undefined, undefined]);
	expect(memory.recall('c', 'run', 0)).toEqual(bought('c'));
});
