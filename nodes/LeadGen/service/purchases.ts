import { ExecutionCancelledError, type IDataObject } from 'n8n-workflow';
import { LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import { settledOrAborted, throwIfStopped } from '../common/pause';
import { meaningOf } from './answer';
import { isResult, type Bought, type Memory } from './memory';
import type { NodeRun } from './run';
import type { Sender } from './sender';
import { excerpt } from './texts';
import { outcomeAdvice, type ServiceRequest } from './types';

/** MCP has no executions. There, a start that may have succeeded is reported again for this long. */
const LATELY_MS = 10 * 60_000;

/** The item that needs a paid call. */
export interface Payer {
	/** Before a call that may be paid for. @throws NotAttemptedError if the maximum does not cover it */
	spend(): void;
	/** After the call. @param isPaid whether it was paid for, or may have been */
	spent(isPaid: boolean): void;
}

/** The paid calls of a run: what was bought before, what may be bought, and what a failed call means for later ones. */
export class Purchases {
	/** How many paid calls brought a result, by the noun that the user sees. */
	readonly bought = new Map<string, number>();
	/** Paid calls that were not needed, because an identical call was made before. */
	saved = 0;
	/** Paid calls whose outcome is not known. */
	unclear = 0;

	constructor(
		private readonly run: NodeRun,
		private readonly sender: Sender,
	) {}

	/** The number of paid calls that brought a result, of every kind. */
	get total(): number {
		return [...this.bought.values()].reduce((all, number) => all + number, 0);
	}

	/** What was bought before, if it counts for this run. */
	recall(request: ServiceRequest, key: string): Bought | undefined {
		const { executionId = '', rememberMs = 0 } = this.run.settings;
		const memory = this.memoryOf(request);
		const known = memory.recall(key, executionId, rememberMs);
		if (known || executionId !== '') return known;
		const lately = memory.recall(key, executionId, LATELY_MS);
		return lately && 'error' in lately ? lately : undefined;
	}

	/**
	 * The outcome of a paid call: from memory, from another run of the execution, or from the service.
	 * @throws NotAttemptedError if the maximum of the item does not cover it
	 */
	async get(request: ServiceRequest, key: string, item?: Payer): Promise<Bought> {
		const memory = this.memoryOf(request);
		// An AI agent may call a tool twice at once, and Retry may begin while calls of the stopped run are in flight.
		// Nothing is awaited between the last look and the call.
		for (let other = memory.pendingOf(key); other; other = memory.pendingOf(key)) {
			await settledOrAborted(other, this.run.signal);
			throwIfStopped(this.run.signal);
		}
		const known = this.recall(request, key);
		if (known) {
			this.countKnown(known, request, key);
			return known;
		}
		item?.spend();
		return await memory.during(key, this.buy(request, key, item));
	}

	private async buy(request: ServiceRequest, key: string, item?: Payer): Promise<Bought> {
		try {
			const bought = { json: JSON.stringify(await this.sender.send(request)) };
			item?.spent(true);
			this.count(request);
			this.keep(request, key, bought);
			return bought;
		} catch (error) {
			return { error: this.judge(known(error, request), request, key, item) };
		}
	}

	/** Decides what a failed paid call means for later calls. */
	private judge(error: Error, request: ServiceRequest, key: string, item?: Payer): Error {
		const { stopReason } = this.run;
		const isBought = request.kind === 'lookup' && isResult({ error });
		const isUnclear = error instanceof ServiceError && error.outcome === 'unknown' && !isBought;
		item?.spent(isUnclear || isBought);
		if (error instanceof NotAttemptedError) stopReason.stopPaidCalls(error);
		if (meaningOf(error) === 'INSUFFICIENT_CREDITS') stopReason.outOfCredits();
		if (isUnclear) this.unclear++;
		if (isBought) this.count(request);
		// A start that may have succeeded must not be repeated when n8n runs the node again.
		if (isBought || (isUnclear && request.kind === 'start')) this.keep(request, key, { error });
		return error;
	}

	/** Counts what was bought before. What this run paid for before n8n ran the node again is not free. */
	private countKnown(known: Bought, request: ServiceRequest, key: string): void {
		const { payer = '' } = this.run.settings;
		const isOwn = this.memoryOf(request).isPaidBy(payer, key);
		if (!isResult(known)) this.unclear++;
		else if (isOwn) this.count(request);
		else this.saved++;
		this.report(request, known, false);
	}

	private count({ noun = 'call' }: ServiceRequest): void {
		this.bought.set(noun, (this.bought.get(noun) ?? 0) + 1);
	}

	private keep(request: ServiceRequest, key: string, bought: Bought): void {
		const { executionId = '', payer } = this.run.settings;
		this.memoryOf(request).keep(key, executionId, bought, payer);
		this.report(request, bought, true);
	}

	private report(request: ServiceRequest, bought: Bought, isNew: boolean): void {
		if (request.kind !== 'start') return;
		const answer = 'json' in bought ? ((JSON.parse(bought.json) ?? {}) as IDataObject) : undefined;
		this.run.settings.onStart?.(request, answer, isNew);
	}

	private memoryOf({ kind }: ServiceRequest): Memory {
		const { lookups, starts } = this.run.account;
		return kind === 'lookup' ? lookups : starts;
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
