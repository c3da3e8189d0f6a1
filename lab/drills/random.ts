/** Repeatable numbers from 0 to 1. */
export function randomFrom(seed: number): () => number {
	let state = seed;
	return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
