import type { IDataObject } from 'n8n-workflow';
import { Budget, type BudgetSettings, type Spent } from './budget';
import { NotAttemptedError, ServiceError } from './errors';
import type { Memory } from './memory';
import type { ServiceRequest } from './types';

/** What the budget of a run needs from the rest of it. */
export interface RunBudgetSource {
	/** Asks the service for the balance (docs/service.md, Credits). */
	readCredits: () => Promise<IDataObject | null>;
	/** Keeps what was spent, in case n8n runs the node again. */
	memory: Memory;
	executionId: string;
	/** Where in the execution the node runs. */
	place: string;
	whenRunAgain: string;
}

/** Buys within the budget of a run. When n8n runs the node again, the budget is the one that it began with. */
export class RunBudget {
	private readonly budget: Budget;

	constructor(settings: BudgetSettings, source: RunBudgetSource) {
		const { memory, executionId, place, whenRunAgain } = source;
		const key = `budget ${place}`;
		const known = memory.recall(key, executionId, 0);
		this.budget = new Budget(settings, {
			readBalance: async () => await balanceOf(source.readCredits),
			spent: known && 'json' in known ? (JSON.parse(known.json) as Spent) : undefined,
			keep: (now) => {
				memory.keep(key, executionId, { json: JSON.stringify(now) });
			},
			whenRunAgain,
		});
	}

	/** Makes a paid call if the budget bears it. @throws NotAttemptedError if it does not */
	async buy(
		request: ServiceRequest,
		call: () => Promise<IDataObject | null>,
	): Promise<IDataObject | null> {
		const weight = weightOf(request);
		return await this.budget.spend(weight, async () => {
			const calling = call();
			await calling.then(
				(data) => {
					this.owe(request, data?.estimatedCredits);
				},
				(error: unknown) => {
					if (error instanceof ServiceError && error.outcome === 'unknown') this.owe(request);
				},
			);
			return await calling;
		});
	}

	/** A scrape was started, or may have been, and is charged later. */
	private owe(request: ServiceRequest, credits?: unknown): void {
		if (request.kind !== 'start') return;
		this.budget.owe(typeof credits === 'number' ? credits : weightOf(request));
	}
}

async function balanceOf(readCredits: RunBudgetSource['readCredits']): Promise<number> {
	const data = await readCredits().catch((error: unknown) => {
		// What happened to this free call must not be taken for what happened to the paid one.
		const isClear = error instanceof ServiceError && error.outcome === 'refused';
		if (!(error instanceof ServiceError) || (isClear && error.code !== 'NOT_FOUND')) throw error;
		throw noBalance(error.message);
	});
	if (typeof data?.credits === 'number') return data.credits;
	throw noBalance('The service did not say how many credits are left');
}

function noBalance(why: string): NotAttemptedError {
	return new NotAttemptedError(
		'Not attempted, because the balance of the account could not be read',
		`${why}. Try again later, or remove Maximum Spend and Minimum Balance from the options.`,
	);
}

/** What a paid call costs in relation to others: a scrape is paid for by its leads. */
function weightOf({ kind, body }: ServiceRequest): number {
	const filters = body?.filters as IDataObject | undefined;
	return kind === 'start' && typeof filters?.limit === 'number' ? filters.limit : 1;
}
