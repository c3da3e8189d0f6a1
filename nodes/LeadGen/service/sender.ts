import type { IDataObject } from 'n8n-workflow';
import { anySignal, pause, throwIfStopped } from '../common/pause';
import { ServiceError } from '../common/errors';
import { BALANCE } from './account';
import { readEnvelope, type Answer } from './answer';
import { backMs, readRateHeaders } from './limits/told';
import { isRateRefusal, Outage, retryDelayMs } from './retry';
import type { NodeRun } from './run';
import { isFree, type ServiceRequest } from './types';
import { exchange, noAnswer } from './wire';

/** Sends the requests of a run when the limiter allows it, and retries them as the retry policy says. */
export class Sender {
	private readonly outage = new Outage();

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
		for (;;) {
			if (account.plan.shouldAsk(() => account.limiter.demand)) void this.askForPlan();
			const result = await this.attempt(request, signal);
			if (!('error' in result)) {
				if (request.isBalance && result.data) account.learn(result.data);
				return result.data;
			}
			// The limiter lets the call wait until the service accepts calls again.
			if (result.isRateLimited) continue;
			tries++;
			const delay = retryDelayMs(result.error, request, tries, this.outage.ms);
			if (delay === undefined) throw result.error;
			await pause(delay, signal).catch((reason: unknown) => {
				// The request was sent, so the caller must not hear that it was not attempted.
				throw reason === stopReason.reason ? result.error : reason;
			});
		}
	}

	/** Sends a request once, when it is its turn, and ends the run if it makes no sense to continue. */
	private async attempt(
		request: ServiceRequest,
		signal: AbortSignal,
	): Promise<Answer & { isRateLimited?: boolean }> {
		const { account, settings, stopReason } = this.run;
		const { limiter } = account;
		const { timeoutMs } = settings;
		const isPoll = request.kind === 'poll';
		const call = await limiter.turn(this.run, { path: request.path, isPoll, timeoutMs }, signal);
		// An answer that arrived meanwhile may have stopped the run.
		const stopped = isFree(request) ? undefined : stopReason.reason;
		if (stopped || signal.aborted) limiter.end(this.run, call, { outcome: 'notSent' });
		throwIfStopped(signal);
		if (stopped) throw stopped;
		const response = await exchange(this.run, request);
		const isAnswered = !(response instanceof ServiceError);
		if (isAnswered) this.outage.answered();
		else if (response.outcome === 'notSent') this.outage.notReached();
		const rateInfo = isAnswered ? readRateHeaders(response, Date.now()) : undefined;
		const answer = isAnswered ? readEnvelope(response, request) : { error: response };
		if (!('error' in answer)) {
			limiter.end(this.run, call, { outcome: 'succeeded', rateInfo });
			return answer;
		}
		const { error } = answer;
		const outcome = isRateRefusal(error) ? 'rateLimited' : error.outcome;
		const goesOn = limiter.end(this.run, call, { outcome, rateInfo });
		if (!goesOn) stopReason.stopAllCalls(error, backMs(rateInfo));
		return { error, isRateLimited: goesOn && outcome === 'rateLimited' };
	}

	/** Asks once. If that fails, it says nothing about other calls, and the smallest limit stays in force. */
	private async askForPlan(): Promise<void> {
		const { account, signal } = this.run;
		const call = await account.limiter.turn(this.run, BALANCE, signal).catch(() => undefined);
		if (!call) return;
		const response = await exchange(this.run, BALANCE);
		account.limiter.end(this.run, call, { outcome: 'unknown' });
		if (response instanceof ServiceError) return;
		const answer = readEnvelope(response, BALANCE);
		if ('data' in answer && answer.data) account.learn(answer.data);
	}
}
