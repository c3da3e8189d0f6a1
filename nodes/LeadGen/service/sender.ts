import {
	sleep,
	type IAllExecuteFunctions,
	type ICredentialDataDecryptedObject,
	type IDataObject,
} from 'n8n-workflow';
import { pause, throwIfStopped } from '../pause';
import type { Account } from './account';
import { readEnvelope } from './envelope';
import { ServiceError } from './errors';
import type { Halting } from './halting';
import { exchange } from './http';
import type { Call, End } from './limits/call';
import type { Run } from './limits/limiter';
import { backMs } from './limits/pause';
import { readRateHeaders } from './limits/rateHeaders';
import { isRateRefusal, Outage, retryDelayMs } from './retry';
import { isPoll, type ServiceRequest } from './types';

/** What every request of a run needs. */
export interface Sending {
	context: IAllExecuteFunctions;
	credential: ICredentialDataDecryptedObject;
	account: Account;
	halting: Halting;
	/** How long to wait for the answer to one request, in milliseconds. */
	timeoutMs: number;
}

/** Sends the requests of a run when the limiter allows it, and retries them as the retry policy says. */
export class Sender {
	private readonly outage = new Outage();

	constructor(
		private readonly sending: Sending,
		private readonly run: Run,
	) {}

	/**
	 * Sends a request until it is answered.
	 * @param isFirst whether it goes before the calls that already wait, and is given up if it is refused
	 * @returns the `data` of the answer
	 * @throws ServiceError if there is none; NotAttemptedError if the request must not be sent
	 */
	async send(request: ServiceRequest, isFirst = false): Promise<IDataObject | null> {
		const { account } = this.sending;
		for (let tries = 1; ; tries++) {
			if (account.shouldAskForPlan()) this.askForPlan();
			const result = await this.attempt(request, isFirst);
			if (!('error' in result)) {
				if (request.path === '/credits' && result.data) account.updatePlan(result.data);
				return result.data;
			}
			if (result.isRateRefusal) {
				tries--;
				continue;
			}
			const delay = retryDelayMs(result.error, request, tries, this.outage.ms);
			if (delay === undefined) throw result.error;
			await pause(delay, this.run.signal).catch((reason: unknown) => {
				// The request was sent, so the caller must not hear that it was not attempted.
				throw reason === this.sending.halting.reason ? result.error : reason;
			});
		}
	}

	/** Sends a request once, when it is its turn. */
	private async attempt(
		request: ServiceRequest,
		isFirst: boolean,
	): Promise<{ data: IDataObject | null } | { error: ServiceError; isRateRefusal: boolean }> {
		const { context, credential, account, halting, timeoutMs } = this.sending;
		const { limiter } = account;
		const { path } = request;
		const call = await limiter.turn(this.run, { path, isPoll: isPoll(request), isFirst });
		const halted = halting.reasonFor(request);
		const { signal } = this.run;
		// An answer that arrived meanwhile may have stopped the run.
		if (halted || signal?.aborted) limiter.end(this.run, call, { outcome: 'unsent' });
		throwIfStopped(signal);
		if (halted) throw halted;
		const leftMs = Math.max(1, (request.deadline ?? Infinity) - Date.now());
		const response = await exchange(context, credential, request, Math.min(timeoutMs, leftMs));
		if (response instanceof ServiceError) {
			const isUnsent = response.outcome === 'notSent';
			void this.failed(call, { outcome: isUnsent ? 'unsent' : 'lost' }, response);
			if (isUnsent) this.outage.notReached();
			return { error: response, isRateRefusal: false };
		}
		this.outage.answered();
		const rateInfo = readRateHeaders(response.headers, Date.now());
		const answer = readEnvelope(response, request);
		if ('error' in answer && isFirst) {
			// The failure of the question about the plan says nothing about other calls.
			limiter.end(this.run, call, { outcome: 'lost' });
			return { error: answer.error, isRateRefusal: false };
		}
		if ('error' in answer && isRateRefusal(answer.error)) {
			const goesOn = this.end(call, { outcome: 'refused', rateInfo }, answer.error);
			return { error: answer.error, isRateRefusal: goesOn };
		}
		if ('error' in answer) {
			const isFailed = answer.error.outcome === 'unknown';
			const end: End = { outcome: 'accepted', rateInfo, isFailed, isError: true };
			void this.failed(call, end, answer.error);
			return { error: answer.error, isRateRefusal: false };
		}
		limiter.end(this.run, call, { outcome: 'accepted', rateInfo });
		return answer;
	}

	/** A failure may stop the run. That must happen before the next call goes out. */
	private async failed(call: Call, end: End, error: ServiceError): Promise<void> {
		await sleep(0);
		this.end(call, end, error);
	}

	/** Records the end of a call that brought no result. @returns whether it makes sense to continue */
	private end(call: Call, end: End, error: ServiceError): boolean {
		const { account, halting } = this.sending;
		const goesOn = account.limiter.end(this.run, call, end);
		if (!goesOn) halting.stopAllCalls(error, end.rateInfo && backMs(end.rateInfo));
		return goesOn;
	}

	private askForPlan(): void {
		// This goes before the calls that wait. If it fails, the smallest limit stays in force.
		this.send({ kind: 'poll', path: '/credits' }, true).catch(() => {});
	}
}
