import {
	ExecutionCancelledError,
	type IAllExecuteFunctions,
	type ICredentialDataDecryptedObject,
	type IDataObject,
} from 'n8n-workflow';
import { accountOf, type Account } from './account';
import { Budget, type BudgetSettings } from './budget';
import { isOutOfCredits, withoutData } from './envelope';
import { LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import { settled } from '../common/pause';
import { Halting } from './halting';
import { CREDENTIAL_TYPE } from './http';
import type { Run } from './limits/limiter';
import { isResult, type Bought } from './memory';
import { keyOf, Purchases, type Remembering } from './purchases';
import { Sender } from './sender';
import { excerpt } from './texts';
import { isFree, outcomeAdvice, type ServiceRequest } from './types';

/** How a run of a node makes its calls. */
export interface RunSettings extends Remembering {
	/** The maximum number of calls in flight; 0 finds a good number. */
	parallel?: number;
	budget?: BudgetSettings;
	/** The node in its execution. It stays the same when n8n runs the node again. */
	place?: string;
	/** Called for each new scrape: with the answer, or without one if the scrape may have been started. */
	onStart?: (request: ServiceRequest, answer?: IDataObject) => void;
	signal?: AbortSignal;
}

/** What a call would be: new and to be paid for, a duplicate of another call, remembered from before, or free. */
export type CallStatus = 'new' | 'duplicate' | 'remembered' | 'free';

/** The service as one run of a node uses it. It makes each call only once, and remembers what was bought. */
export class Service {
	readonly account: Account;
	/** How many paid calls of this run brought a result, by the noun that the user sees. */
	readonly bought = new Map<string, number>();
	/** Warnings for the user about the calls of this run. */
	readonly warnings = new Set<string>();
	/** The answers of the service to the starts of this run. */
	readonly started: IDataObject[] = [];
	/** Paid calls that were not needed, because an identical call was made before. */
	saved = 0;
	/** Paid calls whose outcome is not known. */
	unclear = 0;

	private readonly run: Run;
	private readonly purchases: Purchases;
	private readonly halting: Halting;
	private readonly sender: Sender;
	private readonly budget: Budget | undefined;
	/** The answers of this run, by the key of the request. */
	private readonly asked = new Map<string, Promise<Bought>>();

	/**
	 * @param timeoutMs how long to wait for the answer to one request
	 * @throws InputError if the base URL is invalid
	 */
	constructor(
		context: IAllExecuteFunctions,
		credential: ICredentialDataDecryptedObject,
		timeoutMs: number,
		private readonly settings: RunSettings = {},
	) {
		const account = (this.account = accountOf(credential));
		const { parallel = 0, signal, budget, executionId = '', place = '' } = settings;
		this.purchases = new Purchases(account, settings);
		const halting = (this.halting = new Halting(this.whenRunAgain));
		const ends = AbortSignal.any([halting.signal, ...(signal ? [signal] : [])]);
		this.run = { inFlight: 0, waitedMs: 0, cap: parallel || Infinity, signal: ends };
		this.sender = new Sender({ context, credential, account, halting, timeoutMs }, this.run);
		this.budget =
			budget &&
			new Budget(budget, {
				readCredits: async () => await this.readCredits(),
				memory: account.runs,
				executionId,
				place,
				whenRunAgain: this.whenRunAgain,
			});
	}

	/**
	 * Reads the credential of the node once, for all calls of a run.
	 * @param timeoutMs how long to wait for the answer to one request
	 * @throws InputError if the base URL is invalid
	 */
	static async connect(
		context: IAllExecuteFunctions,
		timeoutMs: number,
		settings: RunSettings = {},
	): Promise<Service> {
		const credential = await context.getCredentials(CREDENTIAL_TYPE);
		return new Service(context, credential, timeoutMs, settings);
	}

	/**
	 * Makes a call and returns its `data` (docs/service.md, The envelope); `null` if the service returns `null`.
	 * @throws ServiceError with what is known about the call; NotAttemptedError if the call was not made
	 */
	async call(request: ServiceRequest): Promise<IDataObject | null> {
		if (request.kind === 'poll') return await this.sender.send(request);
		this.note(request);
		const key = keyOf(request);
		const asked = this.asked.get(key);
		const answer = asked ?? this.first(request, key);
		this.asked.set(key, answer);
		const outcome = await answer;
		if (asked && !isFree(request) && isResult(outcome)) this.saved++;
		if ('error' in outcome) throw outcome.error;
		return JSON.parse(outcome.json) as IDataObject | null;
	}

	/** Like `call`, for operations that have no result without data. */
	async data(request: ServiceRequest): Promise<IDataObject> {
		const data = await this.call(request);
		if (data === null) throw withoutData(request);
		return data;
	}

	/** What a call would be, without making it. The next identical call is then a duplicate. */
	foresee(request: ServiceRequest): CallStatus {
		if (isFree(request)) return 'free';
		this.note(request);
		const key = keyOf(request);
		if (this.asked.has(key)) return 'duplicate';
		this.asked.set(key, Promise.resolve({ json: '' }));
		return this.purchases.recall(request, key) ? 'remembered' : 'new';
	}

	/** The outcome of an identical call that was made before, if it counts for this run. */
	remembered(request: ServiceRequest): Bought | undefined {
		return this.purchases.recall(request, keyOf(request));
	}

	/** How long the rate limit held up the run, in milliseconds. */
	get waitedMs(): number {
		return this.run.waitedMs;
	}

	/** Text for the user: what happens to bought results when the workflow runs again. */
	get whenRunAgain(): string {
		return this.purchases.whenRunAgain;
	}

	private note({ warning }: ServiceRequest): void {
		if (warning !== undefined) this.warnings.add(warning);
	}

	/** Makes the first call with this key in this run. The answer comes from memory or from the service. */
	private async first(request: ServiceRequest, key: string): Promise<Bought> {
		const send = async () => await this.sender.send(request);
		if (isFree(request)) return { json: JSON.stringify(await send()) };
		// An AI agent may call a tool twice at once. Nothing is awaited between the last look and the call.
		for (let other = this.purchases.pendingOf(request, key); other;) {
			await settled(other, this.run.signal);
			other = this.purchases.pendingOf(request, key);
		}
		const known = this.purchases.recall(request, key);
		if (known) this.countKnown(known, request, key);
		const outcome =
			known ?? (await this.purchases.during(request, key, this.buy(request, key, send)));
		if (request.kind === 'start' && 'json' in outcome) {
			this.started.push((JSON.parse(outcome.json) as IDataObject | null) ?? {});
		}
		return outcome;
	}

	private async buy(
		request: ServiceRequest,
		key: string,
		send: () => Promise<IDataObject | null>,
	): Promise<Bought> {
		try {
			const data = await (this.budget ? this.budget.buy(request, send) : send());
			const bought = { json: JSON.stringify(data) };
			this.count(request);
			this.purchases.keep(request, key, bought);
			if (request.kind === 'start') this.settings.onStart?.(request, data ?? {});
			return bought;
		} catch (error) {
			return { error: this.judge(known(error, request), request, key) };
		}
	}

	/** Counts what was bought before. What this run paid for before n8n ran the node again is not free. */
	private countKnown(known: Bought, request: ServiceRequest, key: string): void {
		if (!isResult(known)) this.unclear++;
		else if (this.purchases.isOwn(request, key)) this.count(request);
		else this.saved++;
	}

	private count({ noun = 'call', onPaid }: ServiceRequest): void {
		onPaid?.();
		this.bought.set(noun, (this.bought.get(noun) ?? 0) + 1);
	}

	/** Decides what a failed paid call means for later calls. */
	private judge(error: Error, request: ServiceRequest, key: string): Error {
		if (error instanceof NotAttemptedError) this.halting.stopPaidCalls(error);
		if (!(error instanceof ServiceError)) return error;
		if (isOutOfCredits(error)) this.halting.outOfCredits();
		if (error.outcome === 'unknown') this.unclear++;
		const isBought = request.kind === 'lookup' && isResult({ error });
		// A start that may have succeeded must not be repeated when n8n runs the node again.
		const mayBeBought = request.kind === 'start' && error.outcome === 'unknown';
		if (isBought) this.count(request);
		if (mayBeBought) this.settings.onStart?.(request);
		if (isBought || mayBeBought) this.purchases.keep(request, key, { error });
		return error;
	}

	/** Serves a paid call, so it is not sent either if paid calls are halted. */
	private async readCredits(): Promise<IDataObject | null> {
		if (this.halting.reason) throw this.halting.reason;
		return await this.sender.send({ kind: 'poll', path: '/credits' });
	}
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
