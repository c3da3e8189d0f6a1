import type { IDataObject } from 'n8n-workflow';
import { pause, throwIfStopped } from '../common/pause';
import { readEnvelope } from './envelope';
import { ServiceError } from '../common/errors';
import { exchange } from './http';
import type { Call } from './limits/policy';
import { backMs, readRateHeaders, type RateInfo } from './limits/rateHeaders';
import { isRateRefusal, Outage, retryDelayMs } from './retry';
import type { NodeRun } from './run';
import { isFree, type ServiceRequest } from './types';

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
		const { account, signal, halting } = this.run;
		let tries = 0;
		for (;;) {
			if (account.plan.shouldAsk(account.limiter.demand)) void this.askForPlan();
			const result = await this.attempt(request);
			if (!('error' in result)) {
				if (request.path === '/credits' && result.data) account.learn(result.data);
				return result.data;
			}
			// The limiter lets the call wait until the service accepts calls again.
			if (result.isRateLimited) continue;
			tries++;
			const delay = retryDelayMs(result.error, request, tries, this.outage.ms);
			if (delay === undefined) throw result.error;
			await pause(delay, signal).catch((reason: unknown) => {
				// The request was sent, so the caller must not hear that it was not attempted.
				throw reason === halting.reason ? result.error : reason;
			});
		}
	}

	/** Sends a request once, when it is its turn. */
	private async attempt(
		request: ServiceRequest,
	): Promise<{ data: IDataObject | null } | { error: ServiceError; isRateLimited: boolean }> {
		const { account, halting, signal } = this.run;
		const { limiter } = account;
		const { kind, path } = request;
		const isPoll = kind === 'poll' && path === '/status';
		const call = await limiter.turn(this.run, { path, isPoll });
		const halted = isFree(request) ? undefined : halting.reason;
		// An answer that arrived meanwhile may have stopped the run.
		if (halted || signal?.aborted) limiter.end(this.run, call, { outcome: 'notSent' });
		throwIfStopped(signal);
		if (halted) throw halted;
		const response = await exchange(this.run, request);
		if (response instanceof ServiceError) {
			if (response.outcome === 'notSent') this.outage.notReached();
			return this.failed(call, response);
		}
		this.outage.answered();
		const rateInfo = readRateHeaders(response.headers, Date.now());
		const answer = readEnvelope(response, request);
		if ('error' in answer) return this.failed(call, answer.error, rateInfo);
		limiter.end(this.run, call, { outcome: 'succeeded', rateInfo });
		return answer;
	}

	/** Records the end of a call that brought no result, and stops the run if it makes no sense to continue. */
	private failed(
		call: Call,
		error: ServiceError,
		rateInfo?: RateInfo,
	): { error: ServiceError; isRateLimited: boolean } {
		const { account, halting } = this.run;
		const outcome = isRateRefusal(error) ? 'rateLimited' : error.outcome;
		const goesOn = account.limiter.end(this.run, call, { outcome, rateInfo });
		if (!goesOn) halting.stopAllCalls(error, backMs(rateInfo));
		return { error, isRateLimited: goesOn && outcome === 'rateLimited' };
	}

	/** Asks once. If that fails, it says nothing about other calls, and the smallest limit stays in force. */
	private async askForPlan(): Promise<void> {
		const { account, signal } = this.run;
		const request: ServiceRequest = { kind: 'poll', path: '/credits' };
		const call = await account.limiter.turn(this.run, request).catch(() => undefined);
		if (!call) return;
		const response = signal?.aborted ? undefined : await exchange(this.run, request);
		const answer =
			response && !(response instanceof ServiceError) && readEnvelope(response, request);
		if (answer && 'data' in answer && answer.data) account.learn(answer.data);
		account.limiter.end(this.run, call, { outcome: response ? 'unknown' : 'notSent' });
	}
}
