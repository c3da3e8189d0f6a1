import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { baseUrlOf } from '../service/http';
import type { Access, NodeMemory } from './memory';
import type { SyncRequest } from './messages';
import { copyWithout } from './notification';
import { deliverAt } from './planner';
import { PROCESS } from './process';
import { fingerprint } from './signature';
import { isOpen, markDone } from './state';

/** The last delivery of a scrape, after about forty minutes, is not repeated. */
const MAX_DELIVERIES = 6;

/** What an execution receives in addition to the output of the node. The gate removes it. */
export interface Delivery {
	/** Scrape ID, or the ID of a notice. */
	id: string;
	/** Idempotency key: the same for each delivery of the same completion. */
	key: string;
	/** When the scrape was completed. */
	at: number;
	/** The process that made the delivery, and when. */
	process: string;
	deliveredAt: number;
	/** The addresses at which the node reaches itself. */
	addresses: string[];
}

/** The item that runs the workflow; undefined if another process has just made the same delivery. */
export function deliveryItem(
	{ state, addresses = [] }: NodeMemory,
	{ credential, signer }: Access,
	{ id, data = {}, completedAt: at }: NonNullable<SyncRequest['deliver']>,
	now: number,
): INodeExecutionData | undefined {
	const scrape = state.scrapes[id];
	const entry = state.notices[id] ?? (isOpen(scrape) ? scrape : undefined);
	if (!entry || deliverAt(entry) > now) return undefined;
	const tries = (entry.tries ?? 0) + 1;
	Object.assign(entry, { stage: 'delivering', at: now, tries });
	if (tries === MAX_DELIVERIES) markDone(state, id, at ?? now);
	const leadGenDelivery = {
		id,
		// Another account may use the same scrape ID.
		key: fingerprint([baseUrlOf(credential), credential.apiKey, id, data.createdAt]),
		at: at ?? now,
		process: PROCESS,
		deliveredAt: now,
		addresses,
	} satisfies Delivery;
	if ('message' in entry) {
		const { message, advice } = entry;
		return { json: { leadGenDelivery, leadGenNotice: { message, advice } } };
	}
	const notification = state.notifications[entry.source]?.raw ?? null;
	// The service may repeat the signed URL that it received.
	const secrets = signer.secretsOf(entry.source);
	const output = copyWithout(secrets, { ...data, notification }) as IDataObject;
	const skippedStarts = entry.skipped?.map((time) => new Date(time).toISOString());
	return { json: { ...output, ...(skippedStarts && { skippedStarts }), leadGenDelivery } };
}
