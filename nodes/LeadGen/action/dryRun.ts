import type { IDataObject } from 'n8n-workflow';
import type { Service } from '../service/service';
import type { ServiceRequest } from '../service/types';

/** Shows which calls a run would make, without making them. */
export class DryRun {
	/** The sums over all items. */
	readonly totals = { new: 0, duplicate: 0, remembered: 0, mayFollow: 0 };

	constructor(private readonly service: Service) {}

	/**
	 * The plan for an item: the call that would be made, whether it is `new`, the `duplicate` of another item's call or
	 * `remembered` from before, and how many paid calls may follow, depending on the answer.
	 */
	plan(request: ServiceRequest, mayFollow: number): IDataObject {
		const call = this.service.foresee(request);
		this.totals[call] += 1;
		this.totals.mayFollow += mayFollow;
		const { path, body = {} } = request;
		return { dryRun: true, call, path, request: body, mayFollow };
	}
}
