import { count } from '../common/count';
import { NotAttemptedError, type LeadGenError, type ServiceError } from '../common/errors';
import { GIVE_UP_MS } from './limits/policy';
import { isRateRefusal } from './retry';

/** Why a run sends no more paid calls, or no more calls at all. Calls in flight continue. */
export class Halting {
	/** Why no more paid calls are sent. */
	reason: LeadGenError | undefined;
	private readonly allStopped = new AbortController();
	/** Aborted when it makes no sense for calls to wait for their turn. */
	readonly signal = this.allStopped.signal;

	/** @param whenRunAgain text for the user: what happens to bought results when the workflow runs again */
	constructor(readonly whenRunAgain: string) {}

	/** Stops all paid calls from now on. The first reason counts. */
	stopPaidCalls(reason: LeadGenError): void {
		this.reason ??= reason;
	}

	/** The service would refuse the remaining calls as well. */
	outOfCredits(): void {
		this.stopPaidCalls(
			new NotAttemptedError(
				'Not sent: the account has too few credits',
				`Add credits to the account, or wait until they reset. ${this.whenRunAgain}`,
			),
		);
	}

	/**
	 * Each of the remaining calls would wait without success.
	 * @param error the last answer
	 * @param backMs in how much time the service accepts calls again, if it said so
	 */
	stopAllCalls(error: ServiceError, backMs = 0): void {
		const why = isRateRefusal(error)
			? 'refuses all requests (too many requests)'
			: 'is not available';
		const back =
			backMs > GIVE_UP_MS
				? `The service says that it accepts requests again in ${duration(backMs)}.`
				: 'This has lasted for ten minutes.';
		const advice = isRateRefusal(error)
			? 'Something else may use up the rate limit of the account, or the account has a limit per day. Try again later.'
			: 'Try again later.';
		this.stopPaidCalls(
			new NotAttemptedError(
				`Not sent: the service ${why}`,
				`${back} ${advice} ${this.whenRunAgain}`,
			),
		);
		this.allStopped.abort(this.reason);
	}
}

function duration(ms: number): string {
	const minutes = Math.ceil(ms / 60_000);
	return minutes < 120 ? count(minutes, 'minute') : count(Math.ceil(minutes / 60), 'hour');
}
