import type { IDataObject } from 'n8n-workflow';
import { NotAttemptedError } from '../common/errors';
import { count } from '../common/values';
import { putLast } from './memory';
import type { Payer } from './purchases';
import type { NodeRun } from './run';
import type { Service } from './service';
import type { ServiceRequest } from './types';

/** The service as one item uses it. It keeps the node within its maximum of paid calls. */
export class ItemService implements Payer {
	/** How many paid calls the item may need, and how many of them it may still make. */
	private needed = 0;
	private left = Infinity;

	/** @param limit undefined if the user set no maximum */
	constructor(
		private readonly service: Service,
		private readonly limit: PaidCallLimit | undefined,
	) {}

	get run(): NodeRun {
		return this.service.run;
	}

	/** As in `Service`. */
	async call(request: ServiceRequest): Promise<IDataObject | null> {
		return await this.service.call(request, this);
	}

	/** As in `Service`. */
	async data(request: ServiceRequest): Promise<IDataObject> {
		return await this.service.data(request, this);
	}

	/**
	 * Does the work of the item when the maximum covers all calls that it may need, so that no item is left half done. If it
	 * never will, the item can only use results that are known already.
	 * @param request the first call; how many may follow depends on its answer
	 */
	async during<T>(request: ServiceRequest, mayFollow: number, work: () => Promise<T>): Promise<T> {
		const { limit } = this;
		if (!limit) return await work();
		this.needed = mayFollow + (this.service.isKnown(request) ? 0 : 1);
		this.left = (await limit.hold(this.needed)) ? this.needed : 0;
		try {
			return await work();
		} finally {
			limit.giveBack(this.left);
		}
	}

	spend(): void {
		if (this.left === 0) this.limit?.refuse(this.needed, this.run.stopReason.whenRunAgain);
		this.left--;
	}

	spent(isPaid: boolean): void {
		if (isPaid) this.limit?.use();
		else this.left++;
	}
}

/** How many nodes are counted. The one that was unused for longest is forgotten first. */
const MAX_COUNTED = 1000;

/** The paid calls of a node in one execution: in all runs of a loop, and in all calls of an AI agent. */
interface Counted {
	/** Calls that were paid for, or may have been. */
	used: number;
	/** Calls that the items which began may still need. */
	held: number;
	/** The wait of the last item. */
	last: Promise<unknown>;
	changed: () => void;
}

const counted = new Map<string, Counted>();

/** Keeps the paid calls of a node within a maximum. */
export class PaidCallLimit {
	private readonly calls: Counted;

	/** @param executionId empty over MCP, which has no executions. There, each run counts on its own */
	constructor(
		private readonly max: number,
		executionId: string,
		nodeName: string,
	) {
		const key = `${executionId} ${nodeName}`;
		const known = executionId === '' ? undefined : counted.get(key);
		this.calls = known ?? { used: 0, held: 0, last: Promise.resolve(), changed: () => {} };
		if (executionId !== '') putLast(counted, key, this.calls, MAX_COUNTED);
	}

	/**
	 * Holds as many calls as an item may need. Items take turns, and wait while those before them may give back calls.
	 * @returns false if the calls that are left will never be enough
	 */
	async hold(needed: number): Promise<boolean> {
		const { calls, max } = this;
		const holding = calls.last.then(async () => {
			while (calls.used + calls.held + needed > max) {
				if (calls.used + needed > max) return false;
				await new Promise<void>((resolve) => (calls.changed = resolve));
			}
			calls.held += needed;
			return true;
		});
		calls.last = holding;
		return await holding;
	}

	/** One of the calls that are held was paid for, or may have been. */
	use(): void {
		this.calls.used++;
		this.giveBack(1);
	}

	giveBack(unused: number): void {
		this.calls.held -= unused;
		this.calls.changed();
	}

	/** @throws NotAttemptedError for an item that the maximum does not cover */
	refuse(needed: number, whenRunAgain: string): never {
		throw new NotAttemptedError(
			`Not sent: the node reached Maximum Paid Calls (${String(this.max)})`,
			`It has made ${count(this.calls.used, 'paid call')} in this execution, and this item may need ${String(needed)}. To continue, raise this limit in the options. ${whenRunAgain}`,
		);
	}
}
