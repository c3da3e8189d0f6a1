import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IDataObject,
} from 'n8n-workflow';
import { pause } from '../pause';
import { accountOf, type Account } from './account';
import { Budget, type BudgetSettings, type Spent } from './budget';
import { readEnvelope, withoutData } from './envelope';
import { LeadGenError, NotAttemptedError, ServiceError } from './errors';
import { CREDENTIAL_TYPE, exchange } from './http';
import type { Run } from './limiter';
import type { Bought, Memory } from './memory';
import { readRateHeaders } from './rateHeaders';
import { isRateRefusal, retryDelayMs } from './retry';
import { isFree, type ServiceRequest } from './types';

/** How a run of a node makes its calls. */
export interface RunSettings {
	/** What other executions bought counts for this long. */
	rememberMs?: number;
	/** Calls under way at once; 0 finds a good number. */
	parallel?: number;
	budget?: BudgetSettings;
	/** Only says which calls would be made: each ends in a `PlannedCall`. */
	dryRun?: boolean;
	/** Makes the results bought by this execution its own, also when n8n runs the node again. */
	executionId?: string;
	/** Where in the execution the node runs; the same when n8n runs it again. */
	place?: string;
	signal?: AbortSignal;
}

/** What a dry run has to say about a call. */
export class PlannedCall extends Error {
	/** Paid calls that the answer may make necessary. */
	mayFollow = 0;

	/** @param status whether the call is paid for, brings a result that is known already, or is free */
	constructor(
		readonly status: 'new' | 'duplicate' | 'remembered' | 'free',
		readonly request: ServiceRequest,
	) {
		super('Dry run');
	}
}

/** MCP knows no executions: there, a start that may have happened is told of again for so long. */
const LATELY_MS = 10 * 60_000;

/** Calls under way at once, where neither a person nor a limit says how many. */
const PARALLEL = 64;
const MOST_PARALLEL = 500;

/**
 * The service as one run of a node uses it: makes each call once, at the time that the rate limit bears,
 * again only where that cannot be paid for twice, and remembers what was bought.
 */
export class Service {
	/** Paid calls that were made in this run and brought a result. */
	bought = 0;
	/** What the service said of the scrapes that were started in this run. */
	readonly started: IDataObject[] = [];
	/** Paid calls that were not needed, because the same one was made before. */
	saved = 0;

	private readonly account: Account;
	private readonly run: Run;
	private readonly budget: Budget | undefined;
	/** The answers of this run as JSON, so that everyone who asks gets a copy of their own. */
	private readonly asked = new Map<string, Promise<string>>();
	/** Whether the service answered in this run, and since when it cannot be reached any more. */
	private hasAnswered = false;
	private downSince: number | undefined;
	/** Why no paid call is sent any more, or none at all. */
	private halted: LeadGenError | undefined;
	private isHopeless = false;

	private constructor(
		private readonly context: IAllExecuteFunctions,
		private readonly credential: ICredentialDataDecryptedObject,
		private readonly timeoutMs: number,
		private readonly settings: RunSettings,
	) {
		this.account = accountOf(credential);
		const { limiter } = this.account;
		this.run = {
			inFlight: 0,
			waitedMs: 0,
			cap: () => settings.parallel || parallelFor(limiter.perMinute),
			signal: settings.signal,
		};
		if (settings.budget) this.budget = this.budgetOf(settings.budget);
	}

	/**
	 * Reads the credential of the node once, for all calls of a run.
	 * @param timeoutMs how long to wait for the answer to one request
	 * @throws InputError if the base URL can only be wrong
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
	 * Makes a call and gives its `data` (interface 2.1), `null` where the service says `null`.
	 * @throws ServiceError with what is known of the call; NotAttemptedError if it was not made
	 */
	async call(request: ServiceRequest): Promise<IDataObject | null> {
		if (this.settings.dryRun) throw this.planned(request);
		if (request.kind === 'poll') return await this.send(request);
		const key = keyOf(request);
		let answer = this.asked.get(key);
		if (answer) this.saved += isFree(request) ? 0 : 1;
		else {
			answer = this.first(request, key);
			this.asked.set(key, answer);
		}
		return JSON.parse(await answer) as IDataObject | null;
	}

	/** Like `call`, for operations that have nothing to say without data. */
	async data(request: ServiceRequest): Promise<IDataObject> {
		const data = await this.call(request);
		if (data === null) throw withoutData(request);
		return data;
	}

	/** How long the rate limit held up the run, in milliseconds. */
	get waitedMs(): number {
		return this.run.waitedMs;
	}

	/** From now on no paid call is sent. Calls that are under way go on. */
	private halt(reason: LeadGenError): void {
		this.halted ??= reason;
	}

	/** The first call of its kind in this run: from memory, or from the service. */
	private async first(request: ServiceRequest, key: string): Promise<string> {
		if (isFree(request)) return JSON.stringify(await this.send(request));
		const known = this.recall(request.kind, key);
		if (known) {
			this.saved++;
			if ('error' in known) throw known.error;
			if (request.kind === 'start') this.noteStart(known.json);
			return known.json;
		}
		const outcome = await this.buy(request).then(
			(data): Bought => ({ json: JSON.stringify(data) }),
			(error: unknown): Bought => ({ error: this.judge(error, request, key) }),
		);
		if ('error' in outcome) throw outcome.error;
		this.bought++;
		this.keep(request.kind, key, outcome);
		if (request.kind === 'start') this.noteStart(outcome.json);
		return outcome.json;
	}

	/** What was bought before. */
	private recall(kind: ServiceRequest['kind'], key: string): Bought | undefined {
		const { executionId = '', rememberMs = 0 } = this.settings;
		const memory = this.memoryOf(kind);
		const known = memory.recall(key, executionId, rememberMs);
		if (known || executionId !== '') return known;
		const lately = memory.recall(key, executionId, LATELY_MS);
		return lately && 'error' in lately ? lately : undefined;
	}

	private noteStart(json: string): void {
		const data = JSON.parse(json) as IDataObject | null;
		this.started.push(data ?? {});
	}

	private keep(kind: ServiceRequest['kind'], key: string, bought: Bought): void {
		this.memoryOf(kind).keep(key, this.settings.executionId ?? '', bought);
	}

	private memoryOf(kind: ServiceRequest['kind']): Memory {
		return kind === 'lookup' ? this.account.lookups : this.account.runs;
	}

	/** What a failed paid call means for the calls to come. */
	private judge(error: unknown, request: ServiceRequest, key: string): Error {
		if (error instanceof NotAttemptedError) this.halt(error);
		if (!(error instanceof ServiceError))
			return error instanceof Error ? error : new Error('Unknown');
		if (error.code === 'INSUFFICIENT_CREDITS') {
			this.halt(
				new NotAttemptedError(
					'Not attempted, because the credits ran out before',
					`Add credits to the account and run the workflow again. ${this.whenRunAgain}`,
				),
			);
		}
		const isBought = request.kind === 'lookup' && error.code === 'NOT_FOUND';
		// A start that may have happened must not happen again when n8n runs the node once more.
		const mayBeBought = request.kind === 'start' && error.outcome === 'unknown';
		if (isBought) this.bought++;
		if (isBought || mayBeBought) this.keep(request.kind, key, { error });
		return error;
	}

	private async buy(request: ServiceRequest): Promise<IDataObject | null> {
		const { budget } = this;
		if (!budget) return await this.send(request);
		const weight = weightOf(request);
		const owe = (credits: unknown) => {
			if (request.kind === 'start') budget.owe(typeof credits === 'number' ? credits : weight);
		};
		return await budget.spend(
			weight,
			async () =>
				await this.send(request).then(
					(data) => {
						owe(data?.estimatedCredits);
						return data;
					},
					(error: unknown) => {
						if (error instanceof ServiceError && error.outcome === 'unknown') owe(undefined);
						throw error;
					},
				),
		);
	}

	/** When n8n runs the node again, the budget is the one that it began with. */
	private budgetOf(settings: BudgetSettings): Budget {
		const { executionId = '', place = '' } = this.settings;
		const key = `budget ${place}`;
		const { runs } = this.account;
		const known = runs.recall(key, executionId, 0);
		const spent = known && 'json' in known ? (JSON.parse(known.json) as Spent) : undefined;
		return new Budget(settings, {
			readBalance: async () => await this.balance(),
			spent,
			keep: (now) => {
				runs.keep(key, executionId, { json: JSON.stringify(now) });
			},
			whenRunAgain: this.whenRunAgain,
		});
	}

	/** What becomes of what was bought, if a person runs the workflow again. */
	get whenRunAgain(): string {
		const minutes = (this.settings.rememberMs ?? 0) / 60_000;
		return minutes > 0
			? `Within ${String(minutes)} minutes, what was bought is not paid for again.`
			: 'What was bought is then paid for again, so leave out the items that have their result.';
	}

	/** Sends a request until it is answered, as the limiter and the retry policy allow. */
	private async send(request: ServiceRequest, first = false): Promise<IDataObject | null> {
		for (let tries = 1; ; tries++) {
			const result = await this.attempt(request, first);
			if (!('error' in result)) {
				if (request.path === '/credits' && result.data) this.account.hear(result.data);
				return result.data;
			}
			if (result.isRateRefusal) {
				tries--;
				continue;
			}
			const delay = retryDelayMs(result.error, request, tries, this.downMs);
			if (delay === undefined) throw result.error;
			await pause(delay, this.run.signal);
		}
	}

	/** Sends a request once, when its turn has come. */
	private async attempt(
		request: ServiceRequest,
		first: boolean,
	): Promise<{ data: IDataObject | null } | { error: ServiceError; isRateRefusal: boolean }> {
		const { limiter } = this.account;
		if (this.account.shouldAskForPlan()) this.askForPlan();
		await limiter.turn(this.run, first);
		if (this.halted && (this.isHopeless || !isFree(request))) {
			limiter.failed(this.run, false);
			throw this.halted;
		}
		const sentAt = Date.now();
		const response = await exchange(this.context, this.credential, request, this.timeoutMs);
		if (response instanceof ServiceError) {
			limiter.failed(this.run, response.outcome !== 'notSent');
			if (response.outcome === 'notSent') this.downSince ??= Date.now();
			return { error: response, isRateRefusal: false };
		}
		this.hasAnswered = true;
		this.downSince = undefined;
		const news = readRateHeaders(response.headers, Date.now());
		const answer = readEnvelope(response, request);
		if ('error' in answer && isRateRefusal(answer.error)) {
			const goesOn = limiter.refused(this.run, news);
			if (!goesOn) this.giveUp();
			return { error: answer.error, isRateRefusal: goesOn };
		}
		limiter.answered(this.run, sentAt, news);
		return 'error' in answer ? { error: answer.error, isRateRefusal: false } : answer;
	}

	/** After so many refusals the calls that are left would wait for nothing, one after the other. */
	private giveUp(): void {
		this.isHopeless = true;
		this.halt(
			new NotAttemptedError(
				'Not attempted, because the service refused every call for its rate for ten minutes',
				`Something else may use up the limit of the account, or a limit for the day. Run the workflow again later. ${this.whenRunAgain}`,
			),
		);
	}

	/** For how long the service cannot be reached; undefined where it never answered in this run. */
	private get downMs(): number | undefined {
		if (!this.hasAnswered) return undefined;
		return Date.now() - (this.downSince ?? Date.now());
	}

	private askForPlan(): void {
		// It goes ahead of the calls that wait. If it fails, the smallest limit is kept.
		this.send({ kind: 'poll', path: '/credits' }, true).catch(() => {});
	}

	private async balance(): Promise<number> {
		if (this.halted) throw this.halted;
		const data = await this.send({ kind: 'poll', path: '/credits' }).catch((error: unknown) => {
			// What happened to this free call must not be taken for what happened to the paid one.
			const isClear = error instanceof ServiceError && error.outcome === 'refused';
			if (!(error instanceof ServiceError) || (isClear && error.code !== 'NOT_FOUND')) throw error;
			throw noBalance(error.message);
		});
		if (typeof data?.credits === 'number') return data.credits;
		throw noBalance('The service did not say how many credits are left');
	}

	private planned(request: ServiceRequest): PlannedCall {
		if (isFree(request)) return new PlannedCall('free', request);
		const key = keyOf(request);
		if (this.asked.has(key)) return new PlannedCall('duplicate', request);
		this.asked.set(key, Promise.resolve(''));
		return new PlannedCall(this.recall(request.kind, key) ? 'remembered' : 'new', request);
	}
}

/** A whole minute's calls at once: as slow as the answers may be, the next minute begins in time. */
function parallelFor(perMinute: number): number {
	return perMinute < Infinity ? Math.min(MOST_PARALLEL, perMinute) : PARALLEL;
}

function noBalance(why: string): NotAttemptedError {
	return new NotAttemptedError(
		'Not attempted, because the balance of the account could not be read',
		`${why}. Try again later, or remove the budget from the Options to run without it.`,
	);
}

/**
 * Two lookups with the same key have the same answer: case and spaces make no difference. A start is told
 * by its place alone, since an expression in its body may give something else when n8n runs it again.
 */
function keyOf({ kind, path, query, body, place = '' }: ServiceRequest): string {
	const fields = Object.entries(query ?? body ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
	const content = JSON.stringify(fields);
	if (kind !== 'lookup') return `${kind} ${path} ${place || content}`;
	return `${kind} ${path} ${content.normalize('NFC').toLowerCase().replace(/\s+/g, ' ')}`;
}

/** What a paid call costs in relation to others: a scrape is paid for by its leads. */
function weightOf({ kind, body }: ServiceRequest): number {
	const filters = body?.filters as IDataObject | undefined;
	return kind === 'start' && typeof filters?.limit === 'number' ? filters.limit : 1;
}
