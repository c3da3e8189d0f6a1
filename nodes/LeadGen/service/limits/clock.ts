import { sleep } from 'n8n-workflow';

/** Time and randomness, which tests replace. */
export interface Clock {
	/** Milliseconds since any fixed moment. */
	now(): number;
	sleep(ms: number): Promise<void>;
	/** From 0 to 1. */
	random(): number;
}

export const systemClock: Clock = {
	now: () => Date.now(),
	sleep: async (ms) => {
		await sleep(ms);
	},
	random: () => Math.random(),
};
