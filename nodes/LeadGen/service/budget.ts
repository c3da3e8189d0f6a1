import { LeadGenError, NotAttemptedError } from './errors';

/** Limits that a person sets on a run, in credits; `undefined` where there is none. */
export interface BudgetSettings {
	/** The balance must not fall below this. */
	floor?: number;
	/** What the run may spend. */
	most?: number;
}

/**
 * Keeps a run within its budget. The interface does not say what a call costs, so the balance is read
 * before the run and again after 1, 2, 4, 8 … calls, and the highest price seen so far decides how many
 * calls may follow. Other work on the account counts as if it was this run's, which errs on the safe side.
 */
export class Budget {
	private first: number | undefined;
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

	/** @param readBalance gives the credits of the account */
	constructor(
		private readonly settings: BudgetSettings,
		private readonly readBalance: () => Promise<number>,
	) {}

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
		const balance = await this.readBalance();
		if (this.first === undefined) this.first = balance;
		else if (this.since > 0) {
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
		const limit =
			most !== undefined && most - spent < this.last - (floor ?? 0)
				? `this run may spend ${String(most)} credits`
				: `${String(floor)} credits are to be kept`;
		return new NotAttemptedError(
			`Not attempted, because ${limit}`,
			`The balance is ${String(this.last)} credits, and ${String(spent)} were spent since the run began. Raise the limit under Options to go on; what was bought is not paid for again.`,
		);
	}
}
