import { sleep, type IDataObject } from 'n8n-workflow';
import { count } from '../common/count';
import { numberIn } from '../common/json';
import { NotAttemptedError, ServiceError } from '../common/errors';
import type { NodeRun } from './run';
import type { Sender } from './sender';
import { Tally } from './tally';
import type { ServiceRequest } from './types';

/** If the balance does not show what calls cost, it is read again this often, and for this long. */
const READ_AGAIN_MS = 1000;
const MAX_LAG_MS = 6000;

/**
 * Keeps a node within its budget during an execution. The price of a call is not known (docs/service.md). So the balance is
 * read before the first call and again after 1, 2, 4, 8 … calls, and the highest price so far decides how many calls may
 * follow. Other work on the account counts as work of this node, which errs on the safe side.
 */
export class Budget {
	private readonly tally: Tally;
	/** The balance must not fall below this. */
	private readonly floor: number;
	/** The maximum that the node may spend. */
	private readonly most: number;

	constructor(
		private readonly run: NodeRun,
		private readonly sender: Sender,
	) {
		const { account, context, settings } = run;
		const { executionId = '', minBalance = 0, maxSpend = 0 } = settings;
		this.floor = minBalance > 0 ? minBalance : -Infinity;
		this.most = maxSpend > 0 ? maxSpend : Infinity;
		const node = `${executionId} ${context.getNode().id}`;
		// Without an execution, as over MCP, each run has its own tally.
		this.tally = executionId === '' ? new Tally() : account.tallyOf(node);
	}

	/** Makes a paid call if the budget allows it. @throws NotAttemptedError if it does not */
	async buy(
		request: ServiceRequest,
		call: () => Promise<IDataObject | null>,
	): Promise<IDataObject | null> {
		const { tally } = this;
		const permitted = tally.turn.then(async () => {
			await this.permit(weightOf(request));
		});
		tally.turn = permitted.catch(() => {});
		await permitted;
		const calling = call();
		const over = calling.then(
			(data) => {
				if (request.kind === 'lookup') tally.results++;
				this.owe(request, data?.estimatedCredits);
			},
			(error: unknown) => {
				if (error instanceof ServiceError && error.outcome === 'unknown') this.owe(request);
			},
		);
		tally.inFlight.add(over);
		void over.then(() => tally.inFlight.delete(over));
		return await calling;
	}

	/** Records that a scrape was started, or may have been. It is charged later. */
	private owe(request: ServiceRequest, credits?: unknown): void {
		if (request.kind !== 'start') return;
		// An estimate of nothing may come before the service has looked for leads.
		const estimate = numberIn(credits) ?? 0;
		this.tally.owed += estimate > 0 ? estimate : weightOf(request);
	}

	private async permit(weight: number): Promise<void> {
		const { tally } = this;
		const { halting } = this.run;
		if (halting.reason) throw halting.reason;
		if (tally.allowed < weight) {
			await Promise.all(tally.inFlight);
			await this.measure(weight);
		}
		if (tally.allowed < weight) {
			const error = this.reached();
			halting.stopPaidCalls(error);
			throw error;
		}
		tally.allowed -= weight;
		tally.since += weight;
	}

	private async measure(weight: number): Promise<void> {
		const balance = await this.readBalance();
		const { tally } = this;
		const decrease = (tally.lastBalance ?? balance) - balance;
		// Credits that were added hide what was spent meanwhile, so estimate it.
		tally.used += decrease < 0 ? tally.since * tally.price : decrease;
		tally.lastBalance = balance;
		if (tally.since > 0) {
			tally.price = Math.max(tally.price, (tally.cost - tally.costBefore) / tally.since);
		}
		tally.costBefore = tally.cost;
		tally.since = 0;
		tally.results = 0;
		tally.batch *= 2;
		const left = Math.min(tally.balance - this.floor, this.most - tally.cost);
		tally.allowed = Math.min(Math.max(tally.batch, weight), Math.floor(left / tally.price));
	}

	/** Reads the balance. If it shows nothing of what the last results cost, reads it again for a while. */
	private async readBalance(): Promise<number> {
		const { tally } = this;
		let balance = await this.readOnce();
		const before = tally.lastBalance ?? balance;
		const isShown = () =>
			balance !== before && !(tally.isLate && before - balance < tally.results * tally.price);
		for (let ms = 0; tally.results > 0 && !isShown() && ms < MAX_LAG_MS; ms += READ_AGAIN_MS) {
			await sleep(READ_AGAIN_MS);
			const again = await this.readOnce();
			tally.isLate ||= again < balance;
			balance = again;
		}
		return balance;
	}

	/** @throws NotAttemptedError if the balance is not known, because then no paid call may be made */
	private async readOnce(): Promise<number> {
		const { reason } = this.run.halting;
		if (reason) throw reason;
		const asked = this.sender.send({ kind: 'poll', path: '/credits' });
		const data = await asked.catch((error: unknown) => {
			// The outcome of this free call must not be mistaken for the outcome of the paid call.
			const isClear = error instanceof ServiceError && error.outcome === 'refused';
			if (!(error instanceof ServiceError) || (isClear && error.code !== 'NOT_FOUND')) throw error;
			throw noBalance(error.message);
		});
		const credits = numberIn(data?.credits);
		if (credits !== undefined) return credits;
		throw noBalance('The service did not say how many credits are left');
	}

	private reached(): NotAttemptedError {
		const { floor, most, tally } = this;
		const { cost, balance, owed } = tally;
		const mayCost = owed > 0 ? ', including what its scrapes may still cost' : '';
		const limit =
			most - cost < balance - floor
				? `Maximum Spend (${count(most, 'credit')})`
				: `Minimum Balance (${count(floor, 'credit')})`;
		return new NotAttemptedError(
			`Not sent: this run reached ${limit}`,
			`The balance is ${count(balance, 'credit')}. This run has used ${count(cost, 'credit')}${mayCost}. To continue, change this limit in the options. ${this.run.halting.whenRunAgain}`,
		);
	}
}

function noBalance(why: string): NotAttemptedError {
	return new NotAttemptedError(
		'Not sent: the balance of the account could not be read',
		`${why}. Try again later, or remove Maximum Spend and Minimum Balance from the options.`,
	);
}

/** The cost of a paid call in relation to others: a scrape is paid for by its leads. */
function weightOf({ kind, body }: ServiceRequest): number {
	const filters = body?.filters as IDataObject | undefined;
	return kind === 'start' && typeof filters?.limit === 'number' ? filters.limit : 1;
}
