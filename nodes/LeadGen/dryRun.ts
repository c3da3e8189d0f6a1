import { createHash } from 'crypto';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { Operation, PlannedCall } from './operations/operation';
import type { Parameters } from './parameters';
import { keyOf } from './service/purchases';
import type { CallStatus, Service } from './service/service';
import type { ServiceRequest } from './service/types';

/** What a dry run predicts for an item. */
export interface Foreseen extends PlannedCall {
	status: CallStatus;
}

/** Totals of a dry run: the items, their calls by kind, and the paid calls that may follow. */
export type Totals = Record<'items' | 'mayFollow' | CallStatus, number>;

/** The call that an operation would make for an item. @throws InputError like the operation */
export async function foresee(
	operation: Operation,
	parameters: Parameters,
	service: Service,
): Promise<Foreseen | undefined> {
	const planned = operation.plan?.(parameters);
	if (!planned) return undefined;
	const status = service.foresee(planned.request);
	if (status !== 'remembered' || planned.mayFollow === 0) return { ...planned, status };
	const unknown = await callsAfterRemembered(operation, parameters, service, planned.mayFollow + 1);
	return { ...planned, status, mayFollow: unknown };
}

/** Runs an operation with remembered answers only. @returns how many calls may follow after these answers */
async function callsAfterRemembered(
	operation: Operation,
	parameters: Parameters,
	service: Service,
	maxCalls: number,
): Promise<number> {
	let unknown = 0;
	let answered = 0;
	const replay = Object.create(service) as Service;
	replay.call = async (request) => {
		const known = service.remembered(request);
		if (!known) {
			unknown++;
			throw new Error('Not remembered');
		}
		answered++;
		if ('error' in known) throw known.error;
		return await Promise.resolve(JSON.parse(known.json) as IDataObject | null);
	};
	await operation.run(parameters, replay).catch(() => {});
	return unknown > 0 ? maxCalls - answered : 0;
}

/**
 * Fills in the items of a dry run. Each contains the call that would be made, its status (`new`, the `duplicate` of
 * another item's call, `remembered` from before, or `free`), how many paid calls may follow, depending on the answer,
 * and the totals.
 * @param results receives the items
 */
export function planItems(
	calls: ReadonlyMap<number, Foreseen>,
	results: INodeExecutionData[],
): Totals {
	const totals: Totals = {
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
			json: {
				dryRun: true,
				call: status,
				path,
				request: body,
				key: shortKey(request),
				mayFollow,
				totals,
			},
			pairedItem: { item: index },
		};
	}
	return totals;
}

/** 32 hexadecimal digits, short enough for a column of a table. */
function shortKey(request: ServiceRequest): string {
	return createHash('sha256').update(keyOf(request)).digest('hex').slice(0, 32);
}
