import { ExecutionCancelledError, type IDataObject } from 'n8n-workflow';
import { LeadGenError, ServiceError, type NotAttemptedError } from '../common/errors';
import { settledOrAborted, throwIfStopped } from '../common/pause';
import { foundNobody, meaningOf } from './answer';
import type { Bought, Purchase } from './memory';
import type { NodeRun } from './run';
import type { Sender } from './sender';
import { excerpt } from './texts';
import { outcomeAdvice, type ServiceRequest } from './types';

/** The paid calls of one item. */
export interface ItemCalls {
	/** How many were paid for, or may have been. */
	paid: number;
	/** Why it may make none. */
	refusal?: NotAttemptedError;
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

	/**
	 * The outcome of a paid call: from memory, from another run that makes the same call, or from the service.
	 * @throws NotAttemptedError if the item may make no call
	 */
	async get(request: ServiceRequest, key: string, item?: ItemCalls): Promise<Bought> {
		const { account, settings, signal } = this.run;
		const { memory } = account;
		// An AI agent may call a tool twice at once, and Retry may begin while calls of the stopped run are in flight.
		// Nothing is awaited between the last look and the call.
		for (let other = memory.pending.get(key); other; other = memory.pending.get(key)) {
			await settledOrAborted(other, signal);
			throwIfStopped(signal);
		}
		const known = memory.recall(key, settings);
		if (known) {
			this.count(request, known.bought, known);
			return known.bought;
		}
		if (item?.refusal) throw item.refusal;
		const buying = this.buy(request, key, item);
		memory.pending.set(key, buying);
		return await buying.finally(() => memory.pending.delete(key));
	}

	private async buy(request: ServiceRequest, key: string, item?: ItemCalls): Promise<Bought> {
		const { account, settings, stopReason } = this.run;
		const sending = this.sender.send(request).then((data) => ({ json: JSON.stringify(data) }));
		const bought = await sending.catch((error: unknown) => ({ error: known(error, request) }));
		const error = 'error' in bought ? bought.error : undefined;
		if (meaningOf(error) === 'INSUFFICIENT_CREDITS') stopReason.outOfCredits();
		const hasResult = isResult(bought, request);
		const mayBePaid = hasResult || (error instanceof ServiceError && error.outcome === 'unknown');
		if (!mayBePaid) return bought;
		if (item) item.paid++;
		// A start that may have succeeded must not be repeated when n8n runs the node again.
		if (hasResult || request.kind === 'start') account.memory.keep(key, bought, settings);
		this.count(request, bought);
		return bought;
	}

	/** Counts a call that was paid for, or may have been, and names the scrape that it started. */
	private count(request: ServiceRequest, bought: Bought, earlier?: Purchase): void {
		const { kind, noun = 'call' } = request;
		const { payer = '', onStart } = this.run.settings;
		// What this run paid for before n8n ran the node again is not free.
		const isReused = earlier !== undefined && (payer === '' || earlier.payer !== payer);
		if (!isResult(bought, request)) this.unclear++;
		else if (isReused) this.saved++;
		else this.bought.set(noun, (this.bought.get(noun) ?? 0) + 1);
		if (kind !== 'start') return;
		const answer = 'json' in bought ? ((JSON.parse(bought.json) ?? {}) as IDataObject) : undefined;
		onStart?.(request, answer, earlier === undefined);
	}
}

/** Whether a paid call brought a result. A lookup that finds nobody is paid for, too. */
export function isResult(bought: Bought, { kind }: ServiceRequest): boolean {
	return 'json' in bought || (kind === 'lookup' && foundNobody(bought.error));
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
