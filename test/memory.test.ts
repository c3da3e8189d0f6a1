import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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

it('has calls of the same execution and of a stopped run wait for each other, and no others', () => {
	const memory = new Memory();
	const never = new Promise<never>(() => {});
	void memory.during('stopped', 'one', AbortSignal.abort(), never);
	void memory.during('running', 'one', undefined, never);
	const isPending = (key: string, run: string) => memory.pendingOf(key, run) !== undefined;
	expect([isPending('stopped', 'two'), isPending('running', 'two')]).toEqual([true, false]);
	expect(isPending('running', 'one')).toBe(true);
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

describe('Results that count no more leave the memory of the process', () => {
	jest.setTimeout(60_000);
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;

	beforeEach(() => {
		jest.useRealTimers();
	});

	/** Whether something is still in the memory of the process. */
	async function isHeld(reference: WeakRef<object>): Promise<boolean> {
		// A reference that was read keeps its object until the next turn.
		await sleep(0);
		collect();
		return reference.deref() !== undefined;
	}

	const keyOf = (name: string) => `verify {"email":"${name}@acme.com"}`;

	function keepErrors(memory: Memory, names: string[]): Array<WeakRef<object>> {
		return names.map((name) => {
			const error = new Error(name);
			memory.keep(keyOf(name), 'run', { error });
			return new WeakRef(error);
		});
	}

	async function untilFree(references: Array<WeakRef<object>>): Promise<void> {
		const end = Date.now() + 20_000;
		for (const reference of references) {
			while (await isHeld(reference)) {
				if (Date.now() > end) throw new Error('It is still in memory');
				await sleep(20);
			}
		}
	}

	it('also if nothing is bought after them', async () => {
		const memory = new Memory(800);
		const early = keepErrors(memory, ['a', 'b', 'c']);
		await sleep(400);
		const late = keepErrors(memory, ['d']);
		const lateAt = Date.now();
		await untilFree(early);
		expect(Date.now() - lateAt).toBeGreaterThan(300);

		if (Date.now() - lateAt < 700) expect(memory.recall(keyOf('d'), 'run', 0)).toBeDefined();
		await untilFree(late);
		expect(Date.now() - lateAt).toBeGreaterThan(700);
		expect(memory.recall(keyOf('d'), 'run', 0)).toBeUndefined();
		// Also what is bought after that.
		await untilFree(keepErrors(memory, ['e']));
	});
});
