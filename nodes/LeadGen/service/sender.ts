import type { IDataObject } from 'n8n-workflow';
import { anySignal, pause, throwIfStopped } from '../common/pause';
import { ServiceError } from '../common/errors';
import { BALANCE } from './account';
import { readEnvelope, type Answer } from './answer';
import { backMs, readRateHeaders } from './limits/announced';
import { isRateRefusal, isUnsent, retryDelayMs } from './retry';
import type { NodeRun } from './run';
import { isFree, type ServiceRequest } from './types';
import { exchange, noAnswer } from './wire';

/** Sends the requests of a run when the limiter allows it, and retries them as the retry policy says. */
export class Sender {
	/** Whether the service has answered in this run, and was not away for long since. */
	private hasAnswered = false;

	constructor(private readonly run: NodeRun) {}

	/**
	 * Sends a request until it is answered.
	 * @returns the `data` of the answer
	 * @throws ServiceError if there is none; NotAttemptedError if the request must not be sent
	 */
	async send(request: ServiceRequest): Promise<IDataObject | null> {
		const { signal } = this.run;
		if (!request.signal) return await this.untilAnswered(request, signal);
		const either = anySignal(signal, request.signal);
		return await this.untilAnswered(request, either).catch((error: unknown) => {
			throw signal.aborted || !either.aborted ? error : noAnswer(error, request);
		});
	}

	private async untilAnswered(
		request: ServiceRequest,
		signal: AbortSignal,
	): Promise<IDataObject | null> {
		const { account, stopReason } = this.run;
		let tries = 0;
		let failedAt: number | undefined;
		for (;;) {
			if (account.plan.shouldAsk()) void this.askForPlan();
			const result = await this.attempt(request, signal);
			if (!('error' in result)) {
				if (request.isBalance && result.data) account.plan.learn(result.data);
				return result.data;
			}
			// The limiter lets the call wait until the service accepts calls again.
			if (result.isHeldBack) continue;
			const { error } = result;
			failedAt ??= performance.now();
			const failingMs = this.hasAnswered ? performance.now() - failedAt : undefined;
			const delay = retryDelayMs(error, request, ++tries, failingMs);
			// A service that is away for long is not waited for again by each of the remaining calls.
			if (delay === undefined && error.outcome === 'notSent') this.hasAnswered = false;
			if (delay === undefined || stopReason.signal.aborted) throw error;
			await pause(delay, signal);
		}
	}

	/** Sends a request once, when it is its turn, and ends the run if it makes no sense to continue. */
	private async attempt(
		request: ServiceRequest,
		signal: AbortSignal,
	): Promise<Answer & { isHeldBack?: boolean }> {
		const { account, settings, stopReason } = this.run;
		const { limiter } = account;
		const { timeoutMs } = settings;
		const isPoll = request.kind === 'poll';
		const call = await limiter.turn(this.run, { path: request.path, isPoll, timeoutMs }, signal);
		// An answer that arrived meanwhile may have stopped the run.
		const stopped = isFree(request) ? undefined : stopReason.reason;
		if (stopped || signal.aborted) limiter.end(this.run, call, { outcome: 'cancelled' });
		throwIfStopped(signal);
		if (stopped) throw stopped;
		const response = await exchange(this.run, request);
		if (response instanceof ServiceError) {
			const goesOn = limiter.end(this.run, call, { outcome: response.outcome });
			if (!goesOn) stopReason.stopAllCalls(response, 0);
			return { error: response, isHeldBack: isUnsent(response) && goesOn };
		}
		this.hasAnswered = true;
		const rateInfo = readRateHeaders(response, Date.now());
		const answer = readEnvelope(response, request);
		const error = 'error' in answer ? answer.error : undefined;
		const isRateLimited = error !== undefined && isRateRefusal(error);
		const outcome = isRateLimited ? 'rateLimited' : (error?.outcome ?? 'succeeded');
		const goesOn = limiter.end(this.run, call, { outcome, rateInfo });
		if (error && !goesOn) stopReason.stopAllCalls(error, backMs(rateInfo));
		return { ...answer, isHeldBack: isRateLimited && goesOn };
	}

	/** Asks once. If that fails, it says nothing about other calls, and the smallest limit stays in force. */
	private async askForPlan(): Promise<void> {
		const { account, signal } = this.run;
		const call = await account.limiter.turn(this.run, BALANCE, signal).catch(() => undefined);
		if (!call) return;
		const response = await exchange(this.run, BALANCE);
		const answer =
			response instanceof ServiceError ? { error: response } : readEnvelope(response, BALANCE);
		const outcome = 'data' in answer ? 'succeeded' : 'unknown';
		account.limiter.end(this.run, call, { outcome });
		if ('data' in answer && answer.data) account.plan.learn(answer.data);
	}
}
