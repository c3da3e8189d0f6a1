import type { Outcome } from '../../common/errors';
import type { RateInfo } from './rateHeaders';

/** What is known about a call before it is sent. */
export interface CallInfo {
	/** What the call asks for. Answers to the same path take equally long. */
	path: string;
	/** Whether it requests the status of a scrape. */
	isPoll?: boolean;
}

/** A call of the account, from its turn to its end. */
export interface Call extends Required<CallInfo> {
	sentAt: number;
	/** Calls that were in flight when it was sent. */
	inFlightAtSend: number;
}

/** How a call ended. */
export interface End {
	/**
	 * - `succeeded`: it brought a result
	 * - `rateLimited`: the service refused it for its rate (`RATE_LIMIT_EXCEEDED`, see "Rate limits" in docs/service.md)
	 * - others: as for `ServiceError`
	 */
	outcome: 'succeeded' | 'rateLimited' | Outcome;
	/** What the answer says about the rate limit; undefined if no answer came. */
	rateInfo?: RateInfo | undefined;
}

/** Whether the service answered the call, and did not refuse it for its rate. */
export function isAccepted({ outcome, rateInfo }: End): boolean {
	return outcome === 'succeeded' || (outcome !== 'rateLimited' && rateInfo !== undefined);
}

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
