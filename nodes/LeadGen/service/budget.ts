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
	/** The balance before the run. */
	first: number;
	/** What its scrapes will cost at most; when they are charged is not shown (interface 4.1). */
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
 * Keeps a run within its budget. The interface does not say what a call costs, so the balance is read
 * before the run and again after 1, 2, 4, 8 … calls, and the highest price seen so far decides how many
 * calls may follow. Other work on the account counts as if it was this run's, which errs on the safe side.
 */
export class Budget {
	private first: number | undefined;
	private owed: number;
	/** The balance that was read last, less what is owed and not charged yet. */
	private last = 0;
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
		this.first = source.spent?.first;
		this.owed = source.spent?.owed ?? 0;
	}

	/** Counts a scrape that may be charged later, in credits. */
	owe(credits: number): void {
		this.owed += credits;
		this.keep();
	}

	private keep(): void {
		if (this.first !== undefined) this.source.keep({ first: this.first, owed: this.owed });
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
		const charged = await this.source.readBalance();
		this.first ??= charged;
		this.keep();
		const balance = charged - Math.max(0, this.owed - Math.max(0, this.first - charged));
		if (this.since > 0) {
			this.price = Math.max(this.price, (this.last - balance) / this.since);
		}
		this.last = balance;
		this.since = 0;
		this.batch *= 2;
		const { floor = -Infinity, most = Infinity } = this.settings;
		const left = Math.min(balance - floor, most - (this.first - balance));
		this.allowed = Math.min(Math.max(this.batch, weight), Math.floor(left / this.price));
	}

	private reached(): LeadGenError {
		const { floor, most } = this.settings;
		const spent = (this.first ?? 0) - this.last;
		const owed = this.owed > 0 ? ', with what its scrapes may cost' : '';
		const limit =
			most !== undefined && most - spent < this.last - (floor ?? 0)
				? `this run may spend ${String(most)} credits`
				: `${String(floor)} credits are to be kept`;
		return new NotAttemptedError(
			`Not attempted, because ${limit}`,
			`The balance is ${String(this.last)} credits, and ${String(spent)} were spent since the run began${owed}. Raise the limit under Options to go on. ${this.source.whenRunAgain}`,
		);
	}
}
