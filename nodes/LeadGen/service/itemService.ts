import type { IDataObject } from 'n8n-workflow';
import { NotAttemptedError } from '../common/errors';
import { count } from '../common/values';
import { putLast } from './memory';
import type { ItemCalls } from './purchases';
import type { NodeRun } from './run';
import type { Service } from './service';
import type { ServiceRequest } from './types';

/** The service as one item uses it. Its paid calls count to the maximum of the node. `call` and `data` are as in `Service`. */
export class ItemService {
	readonly calls: ItemCalls = { paid: 0 };

	/** @param limit undefined if the user set no maximum */
	constructor(
		private readonly service: Service,
		private readonly limit: PaidCallLimit | undefined,
	) {}

	get run(): NodeRun {
		return this.service.run;
	}

	async call(request: ServiceRequest): Promise<IDataObject | null> {
		return await this.service.call(request, this.calls);
	}

	async data(request: ServiceRequest): Promise<IDataObject> {
		return await this.service.data(request, this.calls);
	}

	/** @param needed how many paid calls the work may need */
	async during<T>(needed: number, work: () => Promise<T>): Promise<T> {
		return await (this.limit?.during(needed, this, work) ?? work());
	}
}

/** How many limits are kept. The one that was unused for longest is forgotten first. */
const MAX_LIMITS = 1000;
const limits = new Map<string, PaidCallLimit>();

/** Keeps the paid calls of a node within a maximum: in all runs of a loop, and in all calls of an AI agent. */
export class PaidCallLimit {
	/** Calls that were paid for, or may have been. */
	private used = 0;
	/** Calls that the items which began may need. */
	private held = 0;
	/** The wait of the last item. */
	private last: Promise<unknown> = Promise.resolve();
	private changed = () => {};

	constructor(private max: number) {}

	/** @param executionId empty over MCP, which has no executions. There, each run counts on its own */
	static of(max: number, executionId: string, nodeName: string): PaidCallLimit {
		if (executionId === '') return new PaidCallLimit(max);
		const key = `${executionId} ${nodeName}`;
		const limit = putLast(limits, key, limits.get(key) ?? new PaidCallLimit(max), MAX_LIMITS);
		limit.max = max;
		return limit;
	}

	/**
	 * Does the work of an item when the maximum covers all paid calls that it may need, so that no item is left half done. If
	 * it never will, the item can only use results that are known already.
	 */
	async during<T>(needed: number, item: ItemService, work: () => Promise<T>): Promise<T> {
		if (!(await this.hold(needed))) {
			item.calls.refusal = new NotAttemptedError(
				`Not sent: the node reached Maximum Paid Calls (${String(this.max)})`,
				`It has made ${count(this.used, 'paid call')} in this execution, and this item may need ${String(needed)}. To continue, raise this limit in the options. ${item.run.stopReason.whenRunAgain}`,
			);
			return await work();
		}
		try {
			return await work();
		} finally {
			this.used += item.calls.paid;
			this.held -= needed;
			this.changed();
		}
	}

	/** Items take turns, and wait while those before them may give back calls. @returns false if too few will ever be left */
	private async hold(needed: number): Promise<boolean> {
		const holding = this.last.then(async () => {
			while (this.used + this.held + needed > this.max) {
				if (this.used + needed > this.max) return false;
				await new Promise<void>((resolve) => (this.changed = resolve));
			}
			this.held += needed;
			return true;
		});
		this.last = holding;
		return await holding;
	}
}
