import { createHash } from 'crypto';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { PreparedItem } from './operations/operation';
import type { ToItem } from './outputItem';
import { keyOf } from '../service/purchases';
import type { CallStatus, Service } from '../service/service';
import type { ServiceRequest } from '../service/types';

/** What a dry run predicts for an item. */
export interface Foreseen {
	/** The first call. */
	request: ServiceRequest;
	status: CallStatus;
	/** Paid calls that may follow, depending on the answer. */
	mayFollow: number;
}

/** An item of a dry run. */
export interface Planned extends Foreseen {
	toItem: ToItem;
}

/** Totals of a dry run: the items, their calls by kind, and the paid calls that may follow. */
export type Totals = Record<'items' | 'mayFollow' | CallStatus, number>;

/** The call that would be made for an item; undefined if it costs nothing. */
export async function foresee(
	prepared: PreparedItem,
	service: Service,
): Promise<Foreseen | undefined> {
	const { request, mayFollow = 0 } = prepared;
	if (!request) return undefined;
	const status = service.foresee(request);
	if (status !== 'remembered' || mayFollow === 0) return { request, status, mayFollow };
	const unknown = await callsAfterRemembered(prepared, service, mayFollow + 1);
	return { request, status, mayFollow: unknown };
}

/** Runs an item with remembered answers only. @returns how many calls may follow after these answers */
async function callsAfterRemembered(
	prepared: PreparedItem,
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
	await prepared.run(replay).catch(() => {});
	return unknown > 0 ? maxCalls - answered : 0;
}

/**
 * Fills in the items of a dry run. Each contains the call that would be made, its status (`new`, the `duplicate` of
 * another item's call, `remembered` from before, or `free`), how many paid calls may follow, depending on the answer,
 * and the totals.
 * @param results receives the items
 */
export function planItems(
	calls: ReadonlyMap<number, Planned>,
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
	for (const [index, { status, request, mayFollow, toItem }] of calls) {
		const { path, body = {} } = request;
		results[index] = toItem({
			dryRun: true,
			call: status,
			path,
			request: body,
			key: shortKey(request),
			mayFollow,
			totals,
		});
	}
	return totals;
}

/** 32 hexadecimal digits, short enough for a column of a table. */
function shortKey(request: ServiceRequest): string {
	return createHash('sha256').update(keyOf(request)).digest('hex').slice(0, 32);
}
