import { sleep, type IDataObject } from 'n8n-workflow';
import { count } from '../common/count';
import { numberIn } from '../common/json';
import { LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import type { Memory } from './memory';
import type { ServiceRequest } from './types';

/** If the balance does not show what calls cost, it is read again this often, and for this long. */
const READ_AGAIN_MS = 1000;
const MAX_LAG_MS = 6000;

/** Limits that the user sets for a run, in credits; `undefined` for no limit. */
export interface BudgetSettings {
	/** The balance must not fall below this. */
	floor?: number;
	/** The maximum that the run may spend. */
	most?: number;
}

/** What a node has used in an execution so far: in a loop, when n8n runs it again, and as a tool of an AI agent. */
class Tally {
	/** The last balance that was read, if any. */
	lastBalance: number | undefined;
	/** How much the balance has decreased since the node first ran. Credits that were added do not count. */
	used = 0;
	/** The maximum cost of its scrapes. It is not known when the service charges them (docs/service.md). */
	owed = 0;
	/** The cost when the balance was last read. */
	costBefore = 0;
	batch = 0.5;
	allowed = 0;
	/** The weight of the calls since the balance was last read. */
	since = 0;
	/** Credits per unit of weight. A unit is a lookup, or a lead of a scrape. */
	price = 1;
	/** The lookups with a result since the balance was last read. */
	results = 0;
	/** Whether the service shows late in the balance what calls cost. */
	isLate = false;
	turn: Promise<void> = Promise.resolve();
	readonly inFlight = new Set<Promise<unknown>>();

	/** The cost so far, including what is owed. */
	get cost(): number {
		return Math.max(this.used, this.owed);
	}

	/** The balance minus what is owed but not charged yet. */
	get balance(): number {
		return (this.lastBalance ?? 0) - (this.cost - this.used);
	}
}

/** How many tallies of an account are kept. The oldest one is forgotten first. */
const MAX_TALLIES = 1000;

const tallies = new WeakMap<Memory, Map<string, Tally>>();

/** Without an execution, as over MCP, each run has its own tally. */
function tallyOf({ memory, executionId, place }: BudgetSource): Tally {
	const known = tallies.get(memory) ?? new Map<string, Tally>();
	const tally = known.get(place) ?? new Tally();
	if (executionId === '') return new Tally();
	known.set(place, tally);
	const [oldest = ''] = known.keys();
	if (known.size > MAX_TALLIES) known.delete(oldest);
	tallies.set(memory, known);
	return tally;
}

/** What a budget needs from the rest of its run. */
export interface BudgetSource {
	/** Requests the balance from the service (docs/service.md, Credits). */
	readCredits: () => Promise<IDataObject | null>;
	/** The memory of the account, with which the tally is kept. */
	memory: Memory;
	executionId: string;
	/** The node in its execution. It stays the same when n8n runs the node again. */
	place: string;
	/** Text for the user: what happens to bought results when the workflow runs again. */
	whenRunAgain: string;
}

/**
 * Keeps a node within its budget during an execution. The price of a call is not known (docs/service.md). So the balance is
 * read before the first call and again after 1, 2, 4, 8 … calls, and the highest price so far decides how many calls may
 * follow. Other work on the account counts as work of this node, which errs on the safe side.
 */
export class Budget {
	private readonly tally: Tally;
	private over: LeadGenError | undefined;

	constructor(
		private readonly settings: BudgetSettings,
		private readonly source: BudgetSource,
	) {
		this.tally = tallyOf(source);
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
		if (this.over) throw this.over;
		if (tally.allowed < weight) {
			await Promise.all(tally.inFlight);
			await this.measure(weight);
		}
		if (tally.allowed < weight) throw (this.over = this.reached());
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
		const { floor = -Infinity, most = Infinity } = this.settings;
		const left = Math.min(tally.balance - floor, most - tally.cost);
		tally.allowed = Math.min(Math.max(tally.batch, weight), Math.floor(left / tally.price));
	}

	/** Reads the balance. If it shows nothing of what the last results cost, reads it again for a while. */
	private async readBalance(): Promise<number> {
		const { readCredits } = this.source;
		const { tally } = this;
		let balance = await balanceOf(readCredits);
		const before = tally.lastBalance ?? balance;
		const isShown = () =>
			balance !== before && !(tally.isLate && before - balance < tally.results * tally.price);
		for (let ms = 0; tally.results > 0 && !isShown() && ms < MAX_LAG_MS; ms += READ_AGAIN_MS) {
			await sleep(READ_AGAIN_MS);
			const again = await balanceOf(readCredits);
			tally.isLate ||= again < balance;
			balance = again;
		}
		return balance;
	}

	private reached(): LeadGenError {
		const { floor, most } = this.settings;
		const { cost, balance } = this.tally;
		const owed = this.tally.owed > 0 ? ', including what its scrapes may still cost' : '';
		const limit =
			most !== undefined && (floor === undefined || most - cost < balance - floor)
				? `Maximum Spend (${count(most, 'credit')})`
				: `Minimum Balance (${count(floor ?? 0, 'credit')})`;
		return new NotAttemptedError(
			`Not sent: this run reached ${limit}`,
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
		'Not sent: the balance of the account could not be read',
		`${why}. Try again later, or remove Maximum Spend and Minimum Balance from the options.`,
	);
}

/** The cost of a paid call in relation to others: a scrape is paid for by its leads. */
function weightOf({ kind, body }: ServiceRequest): number {
	const filters = body?.filters as IDataObject | undefined;
	return kind === 'start' && typeof filters?.limit === 'number' ? filters.limit : 1;
}
