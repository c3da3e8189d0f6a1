import { count } from '../count';
import { LeadGenError, NotAttemptedError } from './errors';

/** Limits that a person sets on a run, in credits; `undefined` where there is none. */
export interface BudgetSettings {
	/** The balance must not fall below this. */
	floor?: number;
	/** What the run may spend. */
	most?: number;
}

/** What a run has used so far; kept, in case n8n runs the node again. */
export interface Spent {
	/** The balance that was read last, if it was. */
	balance?: number;
	/** By how much the balance went down since the run began; what was added to it does not count. */
	used: number;
	/** What its scrapes will cost at most; when they are charged is not known (docs/service.md). */
	owed: number;
}

/** What a budget needs from outside. */
export interface BudgetSource {
	/** Gives the credits of the account. */
	readBalance: () => Promise<number>;
	/** Of the same run, before n8n ran the node again. */
	spent: Spent | undefined;
	keep: (spent: Spent) => void;
	/** What becomes of what was bought; for the person whose budget is used up. */
	whenRunAgain: string;
}

/**
 * Keeps a run within its budget. The price of a call is not known (docs/service.md), so the balance is read
 * before the run and again after 1, 2, 4, 8 … calls, and the highest price seen so far decides how many
 * calls may follow. Other work on the account counts as if it was this run's, which errs on the safe side.
 */
export class Budget {
	private readonly spent: Spent;
	/** What the run cost when the balance was read last. */
	private costBefore = 0;
	private batch = 0.5;
	private allowed = 0;
	/** Weight of the calls since the balance was last read. */
	private since = 0;
	/** Credits per unit of weight; a unit is a lookup, or a lead of a scrape. */
	private price = 1;
	private over: LeadGenError | undefined;
	private turn: Promise<void> = Promise.resolve();
	private readonly underWay = new Set<Promise<unknown>>();

	constructor(
		private readonly settings: BudgetSettings,
		private readonly source: BudgetSource,
	) {
		this.spent = source.spent ?? { used: 0, owed: 0 };
	}

	/** Counts a scrape that may be charged later, in credits. */
	owe(credits: number): void {
		this.spent.owed += credits;
		this.source.keep(this.spent);
	}

	/** What the run has cost, with what it owes. */
	private get cost(): number {
		return Math.max(this.spent.used, this.spent.owed);
	}

	/** The balance, less what is owed and not charged yet. */
	private get balance(): number {
		return (this.spent.balance ?? 0) - (this.cost - this.spent.used);
	}

	/**
	 * Makes a paid call if the budget bears it.
	 * @param weight 1 for a lookup, the number of leads for a scrape
	 * @throws NotAttemptedError if it does not
	 */
	async spend<T>(weight: number, call: () => Promise<T>): Promise<T> {
		const permitted = this.turn.then(async () => {
			await this.permit(weight);
		});
		this.turn = permitted.catch(() => {});
		await permitted;
		const calling = call();
		const over = calling.catch(() => {});
		this.underWay.add(over);
		void over.then(() => this.underWay.delete(over));
		return await calling;
	}

	private async permit(weight: number): Promise<void> {
		if (this.over) throw this.over;
		if (this.allowed < weight) {
			await Promise.all(this.underWay);
			await this.measure(weight);
		}
		if (this.allowed < weight) throw (this.over = this.reached());
		this.allowed -= weight;
		this.since += weight;
	}

	private async measure(weight: number): Promise<void> {
		const balance = await this.source.readBalance();
		const { spent } = this;
		const decrease = (spent.balance ?? balance) - balance;
		// Credits that were added hide what was spent meanwhile.
		spent.used += decrease < 0 ? this.since * this.price : decrease;
		spent.balance = balance;
		this.source.keep(spent);
		if (this.since > 0) {
			this.price = Math.max(this.price, (this.cost - this.costBefore) / this.since);
		}
		this.costBefore = this.cost;
		this.since = 0;
		this.batch *= 2;
		const { floor = -Infinity, most = Infinity } = this.settings;
		const left = Math.min(this.balance - floor, most - this.cost);
		this.allowed = Math.min(Math.max(this.batch, weight), Math.floor(left / this.price));
	}

	private reached(): LeadGenError {
		const { floor, most } = this.settings;
		const { cost, balance } = this;
		const owed = this.spent.owed > 0 ? ', with what its scrapes may still cost' : '';
		const limit =
			most !== undefined && (floor === undefined || most - cost < balance - floor)
				? `of Maximum Spend (${count(most, 'credit')})`
				: `of Minimum Balance (${count(floor ?? 0, 'credit')})`;
		return new NotAttemptedError(
			`Not attempted, because ${limit}`,
			`The balance is ${count(balance, 'credit')}. This run has used ${count(cost, 'credit')}${owed}. Change the limit in the options to go on. ${this.source.whenRunAgain}`,
		);
	}
}
