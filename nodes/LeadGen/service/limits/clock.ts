import { sleep } from 'n8n-workflow';

/** Limits are published per minute ("Rate limits" in docs/service.md). */
export const MINUTE_MS = 60_000;

/** Clocks and timers are not exact, so each window is kept longer by this margin. */
export const MARGIN_MS = 5;

/** If no call succeeds for this long, waiting does not help any more. No pause is longer than this. */
export const GIVE_UP_MS = 10 * MINUTE_MS;

/** Time and randomness, which tests replace. */
export interface Clock {
	/** Milliseconds since any fixed moment. */
	now(): number;
	sleep(ms: number): Promise<void>;
	/** From 0 to 1. */
	random(): number;
}

export const systemClock: Clock = {
	// Unlike the time of day, it is never set back.
	now: () => performance.now(),
	sleep: async (ms) => {
		await sleep(ms);
	},
	random: () => Math.random(),
};
