import type { IDataObject } from 'n8n-workflow';
import type { PaidCallLimit } from './paidCallLimit';
import type { Payer } from './purchases';
import type { NodeRun } from './run';
import type { Service } from './service';
import type { ServiceRequest } from './types';

/** The service as one item uses it. It counts the paid calls of the item, and keeps the node within its maximum. */
export class ItemService implements Payer {
	paidCalls = 0;
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
		if (this.left === 0) this.limit?.refuse(this.needed, this.run.halting.whenRunAgain);
		this.left--;
	}

	spent(isPaid: boolean): void {
		if (isPaid) this.limit?.use();
		else this.left++;
	}
}
