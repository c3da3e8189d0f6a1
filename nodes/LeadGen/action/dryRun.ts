import { createHash } from 'crypto';
import type { IDataObject } from 'n8n-workflow';
import type { PreparedItem } from './operations/operation';
import { keyOf, type Service } from '../service/service';

/** Shows which calls a run would make, without making them. */
export class DryRun {
	/** The sums over all items. Each item holds this object. `free` is 0: only paid operations have a dry run. */
	readonly totals: { items: number; mayFollow: number } & Record<
		'new' | 'duplicate' | 'remembered' | 'free',
		number
	>;

	constructor(items: number) {
		this.totals = { items, new: 0, duplicate: 0, remembered: 0, free: 0, mayFollow: 0 };
	}

	/**
	 * The plan for an item: the call that would be made, whether it is `new`, the `duplicate` of another item's call or
	 * `remembered` from before, how many paid calls may follow, depending on the answer, and the totals.
	 */
	async plan(prepared: PreparedItem, service: Service): Promise<IDataObject> {
		const { request, mayFollow: most = 0 } = prepared;
		const call = service.foresee(request);
		const isKnown = call === 'remembered' && most > 0;
		const mayFollow = isKnown ? await callsAfterRemembered(prepared, service, most + 1) : most;
		const { totals } = this;
		totals[call] += 1;
		totals.mayFollow += mayFollow;
		// 32 hexadecimal digits, short enough for a column of a table.
		const key = createHash('sha256').update(keyOf(request)).digest('hex').slice(0, 32);
		const { path, body = {} } = request;
		return { dryRun: true, call, path, request: body, key, mayFollow, totals };
	}
}

/** Runs an item with remembered answers only. @returns how many calls may follow after these answers */
async function callsAfterRemembered(
	prepared: PreparedItem,
	service: Service,
	maxCalls: number,
): Promise<number> {
	let answered = 0;
	let unknown = 0;
	const replay = service.withCall(async (request) => {
		const known = service.remembered(request);
		if (!known) {
			unknown++;
			throw new Error('Not remembered');
		}
		answered++;
		if ('error' in known) throw known.error;
		return await Promise.resolve(JSON.parse(known.json) as IDataObject | null);
	});
	await prepared.run?.(replay).catch(() => {});
	return unknown > 0 ? maxCalls - answered : 0;
}
