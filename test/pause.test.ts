import { takeTurns } from '../nodes/LeadGen/pause';

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
