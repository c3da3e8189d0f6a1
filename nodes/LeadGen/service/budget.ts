import { sleep, type IDataObject } from 'n8n-workflow';
import { count } from '../count';
import { numberIn } from '../json';
import { LeadGenError, NotAttemptedError, ServiceError } from './errors';
import type { Memory } from './memory';
import type { ServiceRequest } from './types';

/** If the balance does not show what calls cost, it is read again this often, and for this long. */
const READ_AGAIN_MS = 1000;
const LONGEST_LAG_MS = 6000;

/** Limits that the user sets for a run, in credits; `undefined` for no limit. */
export interface BudgetSettings {
	/** The balance must not fall below this. */
	floor?: number;
	/** The maximum that the run may spend. */
	most?: number;
}

/** What a run has used so far. Remembered, because n8n may run the node again. */
interface Spent {
	/** The last balance that was read, if any. */
	balance?: number;
	/** How much the balance has decreased since the run began. Credits that were added do not count. */
	used: number;
	/** The maximum cost of its scrapes. It is not known when the service charges them (docs/service.md). */
	owed: number;
}

/** What a budget needs from the rest of its run. */
export interface BudgetSource {
	/** Requests the balance from the service (docs/service.md, Credits). */
	readCredits: () => Promise<IDataObject | null>;
	/** Remembers what was spent. */
	memory: Memory;
	executionId: string;
	/** The place in the execution where the node runs. It stays the same when n8n runs the node again. */
	place: string;
	/** Text for the user: what happens to bought results when the workflow runs again. */
	whenRunAgain: string;
}

/**
 * Keeps a run within its budget. The price of a call is not known (docs/service.md). So the balance is read before the
 * run and again after 1, 2, 4, 8 … calls, and the highest price so far decides how many calls may follow. Other work on
 * the account counts as work of this run, which errs on the safe side. When n8n runs the node again, the budget with
 * which the run began still applies.
 */
export class Budget {
	private readonly spent: Spent;
	/** The cost of the run when the balance was last read. */
	private costBefore = 0;
	private batch = 0.5;
	private allowed = 0;
	/** The weight of the calls since the balance was last read. */
	private since = 0;
	/** Credits per unit of weight. A unit is a lookup, or a lead of a scrape. */
	private price = 1;
	/** The lookups with a result since the balance was last read. */
	private results = 0;
	/** Whether the service shows late in the balance what calls cost. */
	private isLate = false;
	private over: LeadGenError | undefined;
	private turn: Promise<void> = Promise.resolve();
	private readonly inFlight = new Set<Promise<unknown>>();

	constructor(
		private readonly settings: BudgetSettings,
		private readonly source: BudgetSource,
	) {
		const known = source.memory.recall(this.key, source.executionId, 0);
		const isKnown = known !== undefined && 'json' in known;
		this.spent = isKnown ? (JSON.parse(known.json) as Spent) : { used: 0, owed: 0 };
	}

	private get key(): string {
		return `budget ${this.source.place}`;
	}

	private keep(): void {
		const json = JSON.stringify(this.spent);
		this.source.memory.keep(this.key, this.source.executionId, { json });
	}

	/** The cost of the run, including what it owes. */
	private get cost(): number {
		return Math.max(this.spent.used, this.spent.owed);
	}

	/** The balance minus what is owed but not charged yet. */
	private get balance(): number {
		return (this.spent.balance ?? 0) - (this.cost - this.spent.used);
	}

	/** Makes a paid call if the budget allows it. @throws NotAttemptedError if it does not */
	async buy(
		request: ServiceRequest,
		call: () => Promise<IDataObject | null>,
	): Promise<IDataObject | null> {
		const permitted = this.turn.then(async () => {
			await this.permit(weightOf(request));
		});
		this.turn = permitted.catch(() => {});
		await permitted;
		const calling = call();
		const over = calling.then(
			(data) => {
				if (request.kind === 'lookup') this.results++;
				this.owe(request, data?.estimatedCredits);
			},
			(error: unknown) => {
				if (error instanceof ServiceError && error.outcome === 'unknown') this.owe(request);
			},
		);
		this.inFlight.add(over);
		void over.then(() => this.inFlight.delete(over));
		return await calling;
	}

	/** Records that a scrape was started, or may have been. It is charged later. */
	private owe(request: ServiceRequest, credits?: unknown): void {
		if (request.kind !== 'start') return;
		this.spent.owed += numberIn(credits) ?? weightOf(request);
		this.keep();
	}

	private async permit(weight: number): Promise<void> {
		if (this.over) throw this.over;
		if (this.allowed < weight) {
			await Promise.all(this.inFlight);
			await this.measure(weight);
		}
		if (this.allowed < weight) throw (this.over = this.reached());
		this.allowed -= weight;
		this.since += weight;
	}

	private async measure(weight: number): Promise<void> {
		const balance = await this.readBalance();
		const { spent } = this;
		const decrease = (spent.balance ?? balance) - balance;
		// Credits that were added hide what was spent meanwhile, so estimate it.
		spent.used += decrease < 0 ? this.since * this.price : decrease;
		spent.balance = balance;
		this.keep();
		if (this.since > 0) {
			this.price = Math.max(this.price, (this.cost - this.costBefore) / this.since);
		}
		this.costBefore = this.cost;
		this.since = 0;
		this.results = 0;
		this.batch *= 2;
		const { floor = -Infinity, most = Infinity } = this.settings;
		const left = Math.min(this.balance - floor, most - this.cost);
		this.allowed = Math.min(Math.max(this.batch, weight), Math.floor(left / this.price));
	}

	/** Reads the balance. If it shows nothing of what the last results cost, reads it again for a while. */
	private async readBalance(): Promise<number> {
		const { readCredits } = this.source;
		let balance = await balanceOf(readCredits);
		const before = this.spent.balance ?? balance;
		const isShown = () =>
			balance !== before && !(this.isLate && before - balance < this.results * this.price);
		for (let ms = 0; this.results > 0 && !isShown() && ms < LONGEST_LAG_MS; ms += READ_AGAIN_MS) {
			await sleep(READ_AGAIN_MS);
			const again = await balanceOf(readCredits);
			this.isLate ||= again < balance;
			balance = again;
		}
		return balance;
	}

	private reached(): LeadGenError {
		const { floor, most } = this.settings;
		const { cost, balance } = this;
		const owed = this.spent.owed > 0 ? ', including what its scrapes may still cost' : '';
		const limit =
			most !== undefined && (floor === undefined || most - cost < balance - floor)
				? `of Maximum Spend (${count(most, 'credit')})`
				: `of Minimum Balance (${count(floor ?? 0, 'credit')})`;
		return new NotAttemptedError(
			`Not attempted, because ${limit}`,
			`The balance is ${count(balance, 'credit')}. This run has used ${count(cost, 'credit')}${owed}. To continue, change this limit in the options. ${this.source.whenRunAgain}`,
		);
	}
}

async function balanceOf(readCredits: BudgetSource['readCredits']): Promise<number> {
	const data = await readCredits().catch((error: unknown) => {
		// The outcome of this free call must not be mistaken for the outcome of the paid call.
		const isClear = error instanceof ServiceError && error.outcome === 'refused';
		if (!(error instanceof ServiceError) || (isClear && error.code !== 'NOT_FOUND')) throw error;
		throw noBalance(error.message);
	});
	const credits = numberIn(data?.credits);
	if (credits !== undefined) return credits;
	throw noBalance('The service did not say how many credits are left');
}

function noBalance(why: string): NotAttemptedError {
	return new NotAttemptedError(
		'Not attempted, because the balance of the account could not be read',
		`${why}. Try again later, or remove Maximum Spend and Minimum Balance from the options.`,
	);
}

/** The cost of a paid call in relation to others: a scrape is paid for by its leads. */
function weightOf({ kind, body }: ServiceRequest): number {
	const filters = body?.filters as IDataObject | undefined;
	return kind === 'start' && typeof filters?.limit === 'number' ? filters.limit : 1;
}
