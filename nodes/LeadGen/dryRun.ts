import type { INodeExecutionData } from 'n8n-workflow';
import type { PlannedCall } from './service/service';

/**
 * What a dry run gives instead of results: for each item the call that would be made, and whether it would
 * be `new`, the `duplicate` of another item's, `remembered` from before, or `free`; how many paid calls may
 * follow, depending on its answer; and the totals.
 */
export function planItems(
	calls: ReadonlyMap<number, PlannedCall>,
	results: INodeExecutionData[],
): void {
	const totals = {
		items: results.length,
		new: 0,
		duplicate: 0,
		remembered: 0,
		free: 0,
		mayFollow: 0,
	};
	for (const { status, mayFollow } of calls.values()) {
		totals[status] += 1;
		totals.mayFollow += mayFollow;
	}
	for (const [index, { status, request, mayFollow }] of calls) {
		const { path, body = {} } = request;
		results[index] = {
			json: { dryRun: true, call: status, path, request: body, mayFollow, totals },
			pairedItem: { item: index },
		};
	}
}
