import type { Call, End } from './call';

/** A reason to hold back calls of an account. The longest wait of all policies counts. */
export interface Policy {
	/**
	 * How long the next call has to wait, in milliseconds. `Infinity` means until another call ends. It is asked again
	 * before each call.
	 */
	waitMs(now: number, isPoll: boolean): number;
	/** Records that a call is sent, after `waitMs` was 0 for all policies. */
	sent?(call: Call): void;
	/** Records how a call ended. */
	ended?(call: Call, end: End, now: number): void;
}
