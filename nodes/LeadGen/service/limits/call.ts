import type { RateNews } from './rateHeaders';

/** A call of the account, from its turn to its end. */
export interface Call {
	readonly sentAt: number;
	/** Calls that were under way when it was sent. */
	readonly ahead: number;
	/** What is asked; answers to the same take equally long. */
	readonly path: string;
	readonly isPoll: boolean;
}

/**
 * How a call ended.
 * - `taken`: the service answered, and did not refuse it for its rate
 * - `refused`: it did (`RATE_LIMIT_EXCEEDED`, see "Rate limits" in docs/service.md)
 * - `lost`: no answer came, and the service may have counted it
 * - `unsent`: it never reached the service
 */
export interface End {
	outcome: 'taken' | 'refused' | 'lost' | 'unsent';
	/** What the answer says of the rate. */
	news?: RateNews;
	/** Whether the service took it and failed, so that nobody knows what it did. */
	isFailed?: boolean;
	/** Whether it is an error, which may come sooner than a result. */
	isError?: boolean;
}
