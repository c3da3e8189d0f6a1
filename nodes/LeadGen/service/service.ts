import { ExecutionCancelledError, type IDataObject } from 'n8n-workflow';
import { LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import { anySignal, pause, settledOrAborted, throwIfStopped } from '../common/pause';
import { count } from '../common/values';
import { excerpt, foundNobody, isUnclear, withoutData, type Answer } from './answer';
import { backMs, boundedWaitMs } from './limits/announced';
import type { End } from './limits/policy';
import type { Buyer } from './memory';
import { BALANCE, isFree, keyOf, outcomeAdvice, type ServiceRequest } from './request';
import { isRateRefusal, isUnsent, retryDelayMs } from './retry';
import type { MaximumPaidCalls, NodeRun } from './run';
import { exchange } from './wire';

/** The paid call that certainly follows the data of another one. */
export type Follows = (data: IDataObject) => ServiceRequest | undefined;

interface Foreseen {
	call: 'new' | 'duplicate' | 'remembered';
	request: ServiceRequest;
}

/** The calls of one item. It makes each call only once, and remembers what was bought. */
export class Service {
	/** How many calls the item paid for, or may have paid for. */
	paidCalls = 0;
	/** Whether the item has the answer to a paid call, also if it was paid for before. */
	private hasBegun = false;
	/** How many calls it took from the maximum. */
	private taken = 0;

	/** @param mayNeed how many paid calls the item may need */
	constructor(
		readonly run: NodeRun,
		private readonly mayNeed = 1,
	) {}

	/** Gives back to the maximum what the item took and did not use. */
	end(): void {
		this.run.maximum?.giveBack(this.taken, this.paidCalls);
		this.taken = 0;
	}

	/**
	 * Makes a call (docs/service.md, The envelope).
	 * @returns its `data`, or a ServiceError with what is known about the call
	 * @throws NotAttemptedError if the call was not made; n8n's error if the user pressed Stop
	 */
	async call(request: ServiceRequest): Promise<Answer> {
		const answer = await this.answerTo(request);
		// Several items may get the same answer.
		return 'data' in answer ? { data: structuredClone(answer.data) } : answer;
	}

	/** Like `call`, for what has no result without data. @throws ServiceError if there is none */
	async data(request: ServiceRequest): Promise<IDataObject> {
		const answer = await this.call(request);
		if ('error' in answer) throw answer.error;
		if (answer.data === null) throw withoutData(request);
		return answer.data;
	}

	/**
	 * The first call of an item that is not remembered, without making it, or else its first call. The next identical call
	 * is then a duplicate.
	 * @param follows the paid call that certainly follows such data
	 */
	foresee(request: ServiceRequest, follows?: Follows): Foreseen {
		const { account, buyer, foreseen } = this.run;
		const key = keyOf(request, buyer.executionId);
		if (foreseen.has(key)) return { call: 'duplicate', request };
		foreseen.add(key);
		const known = account.memory.recall(key, buyer);
		if (!known) return { call: 'new', request };
		const { answer } = known;
		const next = answer && 'data' in answer && answer.data ? follows?.(answer.data) : undefined;
		const after = next && this.foresee(next);
		return after?.call === 'new' ? after : { call: 'remembered', request };
	}

	private async answerTo(request: ServiceRequest): Promise<Answer> {
		if (request.kind === 'poll') return await this.send(request);
		const { buyer, reads } = this.run;
		const key = keyOf(request, buyer.executionId);
		if (!isFree(request)) return await this.pay(request, key);
		const reading = reads.get(key) ?? this.send(request);
		reads.set(key, reading);
		return await reading;
	}

	/** The answer to a paid call: from memory, from a run that makes the same call, or from the service. */
	private async pay(request: ServiceRequest, key: string): Promise<Answer> {
		const { run } = this;
		const { memory } = run.account;
		let refusal: NotAttemptedError | undefined;
		// Nothing is awaited between the last look at the memory and the call.
		for (;;) {
			const known = memory.recall(key, run.buyer);
			if (known?.answer) {
				this.tally(known.answer, request, known.buyer);
				return known.answer;
			}
			if (known) {
				await settledOrAborted(known.pending, run.signal);
				throwIfStopped(run.signal);
			} else if (refusal) throw refusal;
			else if (run.maximum && this.taken === 0) refusal = await this.takeFrom(run.maximum);
			else break;
		}
		const buying = this.buy(request);
		memory.keep(key, run.buyer, buying, (answer) => isBought(answer, request));
		return await buying;
	}

	/** @returns why the item may pay for no call */
	private async takeFrom(maximum: MaximumPaidCalls): Promise<NotAttemptedError | undefined> {
		const { signal, whenRunAgain } = this.run;
		if (await maximum.take(this.mayNeed)) {
			this.taken = this.mayNeed;
			throwIfStopped(signal);
			return undefined;
		}
		return new NotAttemptedError(
			`Not sent: the node reached Maximum Paid Calls (${String(maximum.max)})`,
			`It has made ${count(maximum.used, 'paid call')} in this execution, and this item may need ${String(this.mayNeed)}. To continue, raise this limit in the options. ${whenRunAgain}`,
		);
	}

	private async buy(request: ServiceRequest): Promise<Answer> {
		const answer = await this.send(request).catch((error: unknown) => ({
			error: known(error, request),
		}));
		this.tally(answer, request);
		if (request.kind === 'start' && isBought(answer, request))
			this.run.settings.onStart?.(request, answer);
		return answer;
	}

	/** Counts the answer to a paid call. @param buyer the run that bought it, if it was bought before */
	private tally(answer: Answer, request: ServiceRequest, buyer?: Buyer): void {
		const { run } = this;
		const { noun = 'call' } = request;
		if (isResult(answer, request)) {
			this.hasBegun = true;
			if (buyer) {
				run.reused++;
				run.reusedFrom.add(buyer.executionId);
			} else {
				this.paidCalls++;
				run.bought.set(noun, (run.bought.get(noun) ?? 0) + 1);
			}
		} else if (isUnclear(answer) && !buyer) {
			this.paidCalls++;
			run.unclear++;
		}
	}

	/** Sends a request until it is answered, when the limiter allows it, and again as `retry` says. */
	private async send(request: ServiceRequest): Promise<Answer> {
		const { run } = this;
		const stop = isFree(request) ? run.signal : run.pathOf(request.path).signal;
		const signal = request.signal ? anySignal(stop, request.signal) : stop;
		for (let tries = 1; ; tries++) {
			const { answer, goesOn, namedMs } = await this.attempt(request, signal);
			if ('data' in answer) return answer;
			const delayMs = goesOn ? retryDelayMs(answer.error, request, tries) : undefined;
			if (delayMs === undefined) return answer;
			if (delayMs > 0) await pause(Math.max(delayMs, namedMs), signal);
		}
	}

	/**
	 * Sends a request once, when it is its turn.
	 * @param isAside whether a failure says nothing about other calls, as of the question for the plan
	 * @returns also whether further calls make sense, and how long the service asks to wait
	 */
	private async attempt(request: ServiceRequest, signal: AbortSignal, isAside = false) {
		const { run } = this;
		const { account, settings } = run;
		const { limiter } = account;
		const { kind, path } = request;
		const { timeoutMs } = settings;
		const isPoll = kind === 'poll';
		const info = { path, isPoll, timeoutMs, hasBegun: this.hasBegun };
		// What becomes of the question for the plan does not matter to the run.
		const caller = isAside ? { inFlight: 0, waitedMs: 0 } : run;
		const call = await limiter.turn(caller, info, signal);
		if (account.shouldAskForPlan()) void this.attempt(BALANCE, run.signal, true).catch(() => {});
		const permitted = Promise.resolve(request.permit?.());
		// An answer that arrived meanwhile may have stopped the run.
		await permitted.then(throwIfStopped.bind(undefined, signal)).catch((error: unknown) => {
			limiter.end(caller, call, { outcome: 'cancelled' });
			throw error;
		});
		const { answer, rateInfo } = await exchange(run, request);
		const error = 'error' in answer ? answer.error : undefined;
		const told = isAside ? undefined : rateInfo;
		const outcome = outcomeFor(error, isAside, run.hasSucceeded);
		const goesOn = limiter.end(caller, call, { outcome, rateInfo: told });
		if ('data' in answer && path === BALANCE.path) account.learnPlan(answer.data ?? {});
		if (!isAside) run.judge(request, error);
		const namedMs = boundedWaitMs(rateInfo?.retryAfterMs, call);
		const attempted = { answer, goesOn, namedMs };
		if (isAside || !error || goesOn) return attempted;
		// Other runs would only wait for the same answer.
		for (const each of new Set([run, ...limiter.runsTo(path, isPoll)]))
			each.giveUp?.(request, error, backMs(rateInfo));
		return attempted;
	}
}

/** How a call ended for the limiter. What can never be sent, such as to a wrong certificate, holds up nothing. */
function outcomeFor(
	error: ServiceError | undefined,
	isAside: boolean,
	hasSucceeded: boolean,
): End['outcome'] {
	if (!error) return 'succeeded';
	if (isRateRefusal(error)) return isAside ? 'cancelled' : 'rateLimited';
	// A gateway answers while the service is deployed, so more calls would fail, too.
	if (error.isForeign && hasSucceeded) return 'unknown';
	return error.outcome === 'notSent' && !isUnsent(error) ? 'cancelled' : error.outcome;
}

/** Whether a paid call brought a result. A lookup that finds nobody is paid for, too. */
function isResult(answer: Answer, { kind }: ServiceRequest): boolean {
	return 'data' in answer || (kind === 'lookup' && foundNobody(answer.error));
}

/** Whether an answer counts for later runs. A start that may have succeeded must not be sent again by n8n. */
function isBought(answer: Answer, request: ServiceRequest): boolean {
	return isResult(answer, request) || (request.kind === 'start' && isUnclear(answer));
}

/** An error of a paid call. If it is not one of ours, it may have happened after the call was sent. */
function known(error: unknown, request: ServiceRequest): Error {
	if (error instanceof LeadGenError || error instanceof ExecutionCancelledError) return error;
	return new ServiceError(
		'The node could not handle this request or its answer',
		`${outcomeAdvice(request)} The error is: ${excerpt(String(error))}`,
		{ outcome: 'unknown' },
	);
}
