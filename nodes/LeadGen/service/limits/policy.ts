import { sleep } from 'n8n-workflow';
import { nextTask } from '../../common/pause';
import type { Outcome } from '../../common/errors';

/** Limits are published per minute ("Rate limits" in docs/service.md). */
export const MINUTE_MS = 60_000;
/** If no call is answered for this long, waiting does not help any more. No wait is longer than this. */
export const MAX_UNANSWERED_MS = 10 * MINUTE_MS;
/** Clocks and timers are not exact, so each window is kept longer by this margin. */
export const MARGIN_MS = 15;

/** Time and randomness, which tests replace. */
export interface Clock {
	/** Milliseconds since any fixed moment. Unlike the time of day, it is never set back. */
	now(): number;
	sleep(ms: number): Promise<void>;
	/** Lets everything go on that is ready. */
	nextTask(): Promise<void>;
	/** From 0 to 1. */
	random(): number;
}

export const systemClock: Clock = {
	now: () => performance.now(),
	sleep,
	nextTask,
	random: () => Math.random(),
};

/** What is known about a call before it is sent. */
export interface CallInfo {
	path: string;
	/** Whether it requests the status of a scrape. */
	isPoll?: boolean;
	/** How long its answer is waited for, in milliseconds. */
	timeoutMs?: number;
	/** Whether an earlier call of its item was answered, so that it goes before calls that begin an item. */
	hasBegun?: boolean;
}

/** A call of the account, from its turn to its end. */
export interface Call extends Required<CallInfo> {
	sentAt: number;
	/** How many calls of the account were sent before it. */
	before: number;
	/** How many were in flight then, with it. */
	inFlight: number;
}

/** What an answer says about the rate limit, if anything. Times are milliseconds from now. */
export interface RateInfo {
	/** The pause before the next request. */
	retryAfterMs?: number;
	/** Requests that are left until the reset. */
	remaining?: number;
	resetMs?: number;
}

/** How a call ended. */
export interface End {
	/**
	 * - `rateLimited`: refused for the rate ("Rate limits" in docs/service.md)
	 * - `cancelled`: the turn was given back, and nothing was sent
	 * - the others as for `ServiceError`
	 */
	outcome: 'succeeded' | 'rateLimited' | 'cancelled' | Outcome;
	/** What the answer says about the rate limit; undefined if no answer came. */
	rateInfo?: RateInfo | undefined;
}

/** Whether the service did the work, or said no for another reason than the rate. So it works, and lets calls in. */
export function isAnswered({ outcome }: End): boolean {
	return outcome === 'succeeded' || outcome === 'refused';
}

/**
 * Whether the service may have counted the call for a limit. What it refused for the rate, or never got, does not
 * count.
 */
export function mayCount(end: End): boolean {
	return isAnswered(end) || end.outcome === 'unknown';
}

/** A reason to hold back calls of an account. The longest wait of all policies counts. */
export interface Policy {
	/** How long a call has to wait, in milliseconds; `Infinity` means until another call ends. Asked again and again. */
	waitMs(now: number, next: Required<CallInfo>): number;
	/** Records that a call is sent, after `waitMs` was 0 for all policies. */
	sent?(call: Call): void;
	/** Records how a call ended. */
	ended?(call: Call, end: End, now: number): void;
	/** Records that a call was answered, or takes so long that it will hardly fail or be refused any more. */
	passed?(call: Call, now: number): void;
}
