import { getEventListeners } from 'node:events';
import { onAbort, pause, takeTurns } from '../nodes/LeadGen/common/pause';
import { useService } from './service';

const service = useService();

test('Work in turns lets the process do other things in between, and goes on in its order', async () => {
	const turn = takeTurns();
	const done: Array<number | string> = [];
	const others = setInterval(() => done.push('other'), 1);
	const parts = [0, 1, 2, 3, 4, 5, 6, 7];
	await Promise.all(
		parts.map(async (part) => {
			await turn();
			done.push(part);
			const end = performance.now() + 5;
			while (performance.now() < end);
		}),
	);
	clearInterval(others);
	expect(done.filter((each) => each !== 'other')).toEqual(parts);
	expect(done.slice(0, done.indexOf(7)).filter((each) => each === 'other').length).toBeGreaterThan(
		2,
	);
});

/** From this number of listeners on, Node.js 20 warns of a leak. */
const MAX_LISTENERS = 10;

test('A signal gets one listener for all that wait for it, and none when nothing does', async () => {
	const stop = new AbortController();
	const { signal } = stop;
	const heard: number[] = [];
	const forgets = [1, 2, 3].map((each) => onAbort(signal, () => heard.push(each)));
	const pauses = Promise.allSettled(Array.from({ length: 50 }, () => pause(60_000, signal)));
	expect(getEventListeners(signal, 'abort')).toHaveLength(1);
	forgets[1]?.();
	stop.abort();
	expect(heard).toEqual([1, 3]);
	expect((await pauses).every(({ status }) => status === 'rejected')).toBe(true);
	for (const forget of forgets) forget();
	expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('Many calls at once and pauses between polls add few listeners to any signal', async () => {
	const added = jest.spyOn(AbortSignal.prototype, 'addEventListener');
	let most = 0;
	const counting = setInterval(() => {
		for (const signal of new Set(added.mock.contexts as AbortSignal[])) {
			most = Math.max(most, getEventListeners(signal, 'abort').length);
		}
	}, 10);
	service.sandbox.set({ latencyMs: 300, job: { durationMs: 2000 } });
	const { items } = await service.run(
		['scrape', 'startAndWait'],
		{ limit: 1, options: { pollInterval: 1 } },
		Array.from({ length: 30 }, (_, index) => ({ index })),
	);
	clearInterval(counting);
	added.mockRestore();
	expect(items).toHaveLength(30);
	expect(most).toBeGreaterThan(0);
	expect(most).toBeLessThanOrEqual(MAX_LISTENERS);
});
