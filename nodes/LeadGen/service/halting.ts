import { type LeadGenError, NotAttemptedError } from './errors';
import { isFree, type ServiceRequest } from './types';

/** Why a run sends no more paid calls, or no more calls at all. Calls in flight continue. */
export class Halting {
	reason: LeadGenError | undefined;
	private readonly allStopped = new AbortController();

	/** @param whenRunAgain text for the user: what happens to bought results when the workflow runs again */
	constructor(private readonly whenRunAgain: string) {}

	/** Aborted when it makes no sense for calls to wait for their turn. */
	get signal(): AbortSignal {
		return this.allStopped.signal;
	}

	/** Why a request must not be sent; undefined if it may be sent. */
	reasonFor(request: ServiceRequest): LeadGenError | undefined {
		return this.signal.aborted || !isFree(request) ? this.reason : undefined;
	}

	/** Stops all paid calls from now on. The first reason counts. */
	stopPaidCalls(reason: LeadGenError): void {
		this.reason ??= reason;
	}

	/** The service would refuse the remaining calls as well. */
	outOfCredits(): void {
		this.stopPaidCalls(
			new NotAttemptedError(
				'Not attempted, because the account has too few credits',
				`Add credits to the account, and run the workflow again. ${this.whenRunAgain}`,
			),
		);
	}

	/** Each of the remaining calls would wait without success. */
	stopAllCalls(): void {
		this.stopPaidCalls(
			new NotAttemptedError(
				'Not attempted, because the service refused all requests for ten minutes (too many requests)',
				`Something else may use up the rate limit of the account, or the account has a limit per day. Run the workflow again later. ${this.whenRunAgain}`,
			),
		);
		this.allStopped.abort(this.reason);
	}
}
