import { type LeadGenError, NotAttemptedError } from './errors';
import { isFree, type ServiceRequest } from './types';

/** Why a run sends no more paid calls, or no more calls at all. Calls that are under way go on. */
export class Halting {
	reason: LeadGenError | undefined;
	private readonly hopeless = new AbortController();

	/** @param whenRunAgain what becomes of what was bought, for the person who runs it again */
	constructor(private readonly whenRunAgain: string) {}

	/** Aborted when calls that wait for their turn would wait for nothing. */
	get signal(): AbortSignal {
		return this.hopeless.signal;
	}

	/** Why a request is not to be sent, if it is not. */
	reasonFor(request: ServiceRequest): LeadGenError | undefined {
		return this.signal.aborted || !isFree(request) ? this.reason : undefined;
	}

	/** No paid call is sent from now on; the first reason counts. */
	halt(reason: LeadGenError): void {
		this.reason ??= reason;
	}

	/** The calls that are left would be refused as well. */
	outOfCredits(): void {
		this.halt(
			new NotAttemptedError(
				'Not attempted, because the account has too few credits',
				`Add credits to the account, and run the workflow again. ${this.whenRunAgain}`,
			),
		);
	}

	/** The calls that are left would wait for nothing, one after the other. */
	giveUp(): void {
		this.halt(
			new NotAttemptedError(
				'Not attempted, because the service refused all requests for ten minutes (too many requests)',
				`Something else may use up the rate limit of the account, or the account has a limit per day. Run the workflow again later. ${this.whenRunAgain}`,
			),
		);
		this.hopeless.abort(this.reason);
	}
}
