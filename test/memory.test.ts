import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Memory } from '../nodes/LeadGen/service/memory';
import { sleep } from './service';

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

it('forgets what others bought first when it is full, and keeps the beginning of a run', () => {
	const memory = new Memory();
	for (let row = 0; row < 30_000; row++) memory.keep(`old ${String(row)}`, 'old', bought('old'));
	for (let row = 0; row < 60_000; row++) memory.keep(`row ${String(row)}`, 'run', bought('new'));
	const known = (name: string, rows: number) =>
		Array.from({ length: rows }, (_, row) =>
			memory.recall(`${name} ${String(row)}`, 'run', 1e9),
		).filter(Boolean).length;
	expect(known('old', 30_000)).toBe(0);
	expect(known('row', 60_000)).toBe(50_000);
	expect(memory.recall('row 0', 'run', 0)).toBeDefined();
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

	function keepErrors(memory: Memory, names: string[]): Array<WeakRef<object>> {
		return names.map((name) => {
			const error = new Error(name);
			memory.keep(`verify {"email":"${name}@acme.com"}`, 'run', { error });
			return new WeakRef(error);
		});
	}

	async function untilFree(references: Array<WeakRef<object>>): Promise<void> {
		const end = Date.now() + 20_000;
		for (const reference of references) {
			while (await isHeld(reference)) {
				if (Date.now() > end) throw new Error('It is still in memory');
				await sleep(50);
			}
		}
	}

	it('also if nothing is bought after them', async () => {
		const memory = new Memory(2000);
		const early = keepErrors(memory, ['a', 'b', 'c']);
		await sleep(1000);
		const late = keepErrors(memory, ['d']);
		const lateAt = Date.now();
		await untilFree(early);
		expect(Date.now() - lateAt).toBeGreaterThan(900);

		if (Date.now() - lateAt < 1900) {
			expect(memory.recall('verify {"email":"d@acme.com"}', 'run', 0)).toBeDefined();
		}
		await untilFree(late);
		expect(Date.now() - lateAt).toBeGreaterThan(1900);
		expect(memory.recall('verify {"email":"d@acme.com"}', 'run', 0)).toBeUndefined();
	});

	it('and again after that', async () => {
		const memory = new Memory(100);
		for (const name of ['a', 'b', 'c']) await untilFree(keepErrors(memory, [name]));
		expect(memory.recall('verify {"email":"a@acme.com"}', 'run', 0)).toBeUndefined();
	});
});
