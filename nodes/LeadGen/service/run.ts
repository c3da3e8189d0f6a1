import type { IAllExecuteFunctions, ICredentialDataDecryptedObject } from 'n8n-workflow';
import { NotAttemptedError, type ServiceError } from '../common/errors';
import { anySignal } from '../common/pause';
import { count } from '../common/values';
import { accountOf, type Account } from './account';
import { ABOUT_KEY, CHECK_ADDRESS, documentedCode, foundNobody, meaningOf } from './answer';
import type { Answer } from './answer';
import type { Run } from './limits/limiter';
import { MAX_UNANSWERED_MS, MINUTE_MS } from './limits/policy';
import { putLast, type Buyer } from './memory';
import { isRateRefusal } from './retry';
import type { ServiceRequest } from './request';

/** How a run of a node makes its calls. */
interface RunSettings extends Partial<Buyer> {
	/** How long to wait for the whole answer to one request. */
	timeoutMs: number;
	maxPaidCalls?: number;
	/** Called for each new start, with the answer; also with an error, if the scrape may have been started. */
	onStart?: (request: ServiceRequest, answer: Answer) => void;
	signal?: AbortSignal | undefined;
}

/** What is known of one run of a node: how it calls, what it bought, and why it sends no more. It makes no calls. */
export class NodeRun implements Run {
	inFlight = 0;
	waitedMs = 0;
	readonly account: Account;
	readonly buyer: Buyer;
	/** Undefined if the user set none. */
	readonly maximum: MaximumPaidCalls | undefined;
	/** The answers to reads, by the key of the request. */
	readonly reads = new Map<string, Promise<Answer>>();
	/** The keys of the calls that a dry run showed. */
	readonly foreseen = new Set<string>();
	/** How many paid calls brought a result, by the noun that the user sees. */
	readonly bought = new Map<string, number>();
	/** Paid calls that were not needed, because an identical call was made before. */
	reused = 0;
	/** The executions that bought them. */
	readonly reusedFrom = new Set<string>();
	/** Paid calls whose outcome is not known. */
	unclear = 0;
	/** The display names of fields without which the service accepted a search. */
	readonly needless = new Set<string>();
	/** Whether the service accepted a call, so that its address and the key are right. */
	hasSucceeded = false;
	/** How often the service refused the key since it last accepted a call. */
	private refusedKeys = 0;
	/** Aborted when the user presses Stop, or no call makes sense any more. Calls in flight continue. */
	readonly signal: AbortSignal;
	private readonly over = new AbortController();
	/** The same for the paid calls of a path. */
	private readonly paths = new Map<string, { controller: AbortController; signal: AbortSignal }>();

	/** @throws InputError if the base URL or the key of the credential is invalid or missing */
	constructor(
		readonly context: IAllExecuteFunctions,
		readonly credential: ICredentialDataDecryptedObject,
		readonly settings: RunSettings,
	) {
		const { executionId = '', rememberMs = 0, maxPaidCalls = Infinity, signal } = settings;
		this.account = accountOf(credential);
		this.buyer = { executionId, rememberMs };
		if (maxPaidCalls < Infinity)
			this.maximum = maximumOf(maxPaidCalls, executionId, context.getNode().name);
		this.signal = anySignal(this.over.signal, signal);
	}

	/** The number of paid calls that brought a result, of every kind. */
	get total(): number {
		return [...this.bought.values()].reduce((all, number) => all + number, 0);
	}

	/** Tells the user what happens to bought results when the workflow runs again. */
	get whenRunAgain(): string {
		const { rememberMs } = this.buyer;
		return rememberMs > 0
			? `If you run the workflow again within ${count(rememberMs / MINUTE_MS, 'minute')}, you do not pay for the same results again. If it is later, raise Remember Results (Minutes) first.`
			: 'Before you run the workflow again, remove the items that already have a result. Otherwise you pay for them again.';
	}

	/** Lets the results of this run be remembered from now on: it may have waited for long before it ended. */
	rememberOn(): void {
		this.account.memory.extend([this.buyer.executionId, ...this.reusedFrom]);
	}

	/** Judges by an answer whether other calls like it make sense. For polls, it only judges the key. */
	judge(request: ServiceRequest, error?: ServiceError): void {
		if (!error || foundNobody(error)) {
			this.hasSucceeded = true;
			this.refusedKeys = 0;
		} else if (isKeyRefused(error, this.hasSucceeded)) {
			this.refusedKeys++;
			// One of several servers may refuse a key that is right.
			if (!this.hasSucceeded || this.refusedKeys >= MOST_REFUSED_KEYS)
				this.stop('the service does not accept the API key', error.advice);
		} else if (request.kind === 'poll') return;
		else if (meaningOf(error) === 'INSUFFICIENT_CREDITS' && error.outcome === 'refused') {
			const advice = 'Add credits to the account, or wait until they reset.';
			// A verification may cost less than a lookup.
			this.stop('the account has too few credits', advice, request.path);
		} else if (error.isForeign && !this.hasSucceeded)
			this.stop(`an earlier request failed. ${error.message}`, CHECK_ADDRESS);
	}

	/**
	 * Each of the remaining calls would wait without success. Scrapes that were started are still waited for.
	 * @param request the last one, of this run or of another one @param error the answer to it
	 * @param backMs in how much time the service accepts calls again, if it said so
	 */
	giveUp({ kind, path }: ServiceRequest, error: ServiceError, backMs: number): void {
		const only = kind === 'start' ? path : undefined;
		if (error.outcome === 'notSent') {
			this.stop(`an earlier request failed. ${error.message}`, error.advice, only);
			return;
		}
		const { httpStatus = 0, message } = error;
		const isAnswering = httpStatus >= 200 && httpStatus < 300;
		const problem = isRateRefusal(error)
			? 'refuses all requests (too many requests)'
			: isAnswering
				? `gives no results. ${message}`
				: 'is not available';
		const minutes = Math.ceil(backMs / MINUTE_MS);
		const time = minutes < 120 ? count(minutes, 'minute') : count(Math.ceil(minutes / 60), 'hour');
		const back =
			backMs > MAX_UNANSWERED_MS
				? `The service says that it accepts requests again in ${time}.`
				: 'This has lasted for ten minutes.';
		this.stop(`the service ${problem}`, `${back} Try again later.`, only);
	}

	/** The first reason counts. @param path if only the paid calls of a path make no sense any more */
	private stop(reason: string, advice: string, path?: string): void {
		const stopped = path === undefined ? this.over : this.pathOf(path).controller;
		stopped.abort(new NotAttemptedError(`Not sent: ${reason}`, `${advice} ${this.whenRunAgain}`));
	}

	/** Aborts the paid calls of a path. */
	pathOf(path: string) {
		const known = this.paths.get(path);
		if (known) return known;
		const controller = new AbortController();
		const end = { controller, signal: anySignal(this.signal, controller.signal) };
		this.paths.set(path, end);
		return end;
	}
}

/** If the service refuses the key so often in a row, it does not accept it any more. One of its servers may do so. */
const MOST_REFUSED_KEYS = 10;

/** Whether the service refuses every call with this key, and not only this one. */
function isKeyRefused({ code = '', httpStatus, outcome }: ServiceError, hasSucceeded: boolean) {
	if (outcome !== 'refused') return false;
	if (documentedCode(code) === 'UNAUTHORIZED' || httpStatus === 401) return true;
	return httpStatus === 403 && (ABOUT_KEY.test(code) || (code === '' && !hasSucceeded));
}

/** How many maxima are kept. The one that was unused for longest is forgotten first. */
const MAX_MAXIMA = 1000;
const maxima = new Map<string, MaximumPaidCalls>();

/** @param executionId empty over MCP, which has no executions. There, each run counts on its own */
function maximumOf(max: number, executionId: string, nodeName: string): MaximumPaidCalls {
	const key = `${executionId} ${nodeName}`;
	const known = executionId === '' ? undefined : maxima.get(key);
	const maximum = known ?? new MaximumPaidCalls(max);
	maximum.max = max;
	return putLast(maxima, key, maximum, MAX_MAXIMA);
}

/** Keeps the paid calls of a node within a maximum: in all runs of a loop, and in all calls of an AI agent. */
export class MaximumPaidCalls {
	/** Calls that were paid for, or may have been. */
	used = 0;
	/** Calls that the items which began to pay may need. */
	private held = 0;
	/** The wait of the last item. */
	private last: Promise<unknown> = Promise.resolve();
	private changed = () => {};

	constructor(public max: number) {}

	/**
	 * Takes all paid calls that an item may need, so that no item is left half done. Items take turns, and wait while
	 * those before them may give back calls. @returns false if too few will ever be left
	 */
	async take(needed: number): Promise<boolean> {
		const taking = this.last.then(async () => {
			while (this.used + this.held + needed > this.max) {
				if (this.used + needed > this.max) return false;
				await new Promise<void>((resolve) => (this.changed = resolve));
			}
			this.held += needed;
			return true;
		});
		this.last = taking;
		return await taking;
	}

	/** Gives back what an item took, but for what it used. */
	giveBack(taken: number, used: number): void {
		this.used += used;
		this.held -= taken;
		this.changed();
	}
}
