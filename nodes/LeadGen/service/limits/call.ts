import type { RateInfo } from './rateHeaders';

/** A call of the account, from its turn to its end. */
export interface Call {
	readonly sentAt: number;
	/** Calls that were in flight when it was sent. */
	readonly inFlightAtSend: number;
	/** What the call asks for. Answers to the same path take equally long. */
	readonly path: string;
	readonly isPoll: boolean;
}

/**
 * How a call ended.
 * - `accepted`: the service answered, and did not refuse the call for its rate
 * - `refused`: the service refused the call for its rate (`RATE_LIMIT_EXCEEDED`, see "Rate limits" in docs/service.md)
 * - `lost`: no answer came, but the service may have counted the call
 * - `unsent`: the call never reached the service
 */
export interface End {
	outcome: 'accepted' | 'refused' | 'lost' | 'unsent';
	/** What the answer says about the rate limit. */
	rateInfo?: RateInfo;
	/** Whether the service accepted the call but failed, so that its outcome is unknown. */
	isFailed?: boolean;
	/** Whether it is an error, which may come sooner than a result. */
	isError?: boolean;
}
