import { randomUUID } from 'crypto';
import {
	deepCopy,
	type IDataObject,
	type IHookFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { fingerprint, type NodeIdentity } from './secret';
import { addDelivered, isDelivered, type Scrape, type TriggerRecord } from './record';

export interface LargeNotification {
	raw: IDataObject;
	/** Characters of its JSON. */
	size: number;
}

/** What this process knows of one node, beside what n8n saves. */
class NodeMemory {
	record: TriggerRecord | undefined;
	/** Fingerprint of what the record held when it got its version. */
	print = '';
	/** Whether a knock is being answered. */
	busy = false;
	/** Notifications that are too large to be saved, by scrape. */
	readonly notifications = new Map<string, LargeNotification>();
	/** When scrapes were looked up in vain that only a notification told of. */
	lookups: Array<{ at: number; claimed: string }> = [];
}

/** Names this process, as long as it runs. */
export const PROCESS = randomUUID();

const MINUTE_MS = 60_000;
/** More are not delivered while two processes write at the same moment. */
const MOST_AT_ONCE = 20;

const memories = new Map<string, NodeMemory>();

/**
 * The record of one node, in n8n's static data and in this process.
 *
 * Calls that come at the same moment all read the same old static data, and whoever else writes static
 * data in the workflow (a Code node, a polling trigger) writes back an old copy of ours. So the newer of
 * the two copies counts, and is written back. The static data is the workflow's and keyed by node id,
 * because that of a node is keyed by its name and lost when it is renamed.
 */
export class Store {
	readonly memory: NodeMemory;
	private readonly data: IDataObject;
	private readonly key: string;
	/** As n8n had saved it when the call came in; never changed. Not copied, as n8n watches each value in it, which is slow. */
	readonly saved: TriggerRecord | undefined;

	constructor(context: IHookFunctions | IWebhookFunctions, { workflowId, nodeId }: NodeIdentity) {
		this.key = `leadGenTrigger ${nodeId}`;
		this.data = context.getWorkflowStaticData('global');
		const name = `${workflowId} ${nodeId}`;
		this.memory = memories.get(name) ?? new NodeMemory();
		memories.set(name, this.memory);
		this.saved = toRecord(this.data[this.key]);
		this.memory.record = merge(this.memory.record, this.saved);
	}

	/** Whether n8n had saved a record just as it is. */
	private isSaved(record: TriggerRecord): boolean {
		return this.saved?.version === record.version && this.saved.at === record.at;
	}

	/** To be read anew after every pause: another call may have replaced it. */
	get record(): TriggerRecord | undefined {
		return this.memory.record;
	}

	/** Writes the record down, if it differs from what n8n has saved; scrapes that are closed need nothing more. */
	save(record: TriggerRecord, now: number): void {
		const print = fingerprint({ ...record, version: 0, at: 0, writer: '' });
		if (print !== this.memory.print) {
			record.version++;
			record.at = now;
			record.writer = PROCESS;
			this.memory.print = print;
		}
		this.memory.record = record;
		const { notifications } = this.memory;
		for (const id of notifications.keys()) {
			if (!record.open.some((scrape) => scrape.id === id)) notifications.delete(id);
		}
		if (!this.isSaved(record)) {
			this.data[this.key] = deepCopy(record);
		}
	}
}

/**
 * What this process goes on with: the newer of its own copy, which it changes, and of the one that n8n had saved.
 * Of two webhook processes that write at the same moment, one does not know what the other heard, whichever
 * of the two counts as the newer. An old copy of our own holds nothing but what is done with.
 */
export function merge(
	mine: TriggerRecord | undefined,
	saved: TriggerRecord | undefined,
): TriggerRecord | undefined {
	if (!saved) return mine;
	if (!mine) return deepCopy(saved);
	const isSameVersion = saved.version === mine.version;
	if (saved.version > mine.version || (isSameVersion && saved.at > mine.at)) {
		const newer = deepCopy(saved);
		takeOver(newer, mine);
		return newer;
	}
	if (saved.writer === PROCESS) return mine;
	takeOver(mine, saved);
	if (isSameVersion && saved.closed) mine.closed = true;
	return mine;
}

function takeOver(record: TriggerRecord, other: TriggerRecord): void {
	if (record.owner !== other.owner) return;
	const isNews = ({ id, at }: Scrape) =>
		Date.now() - at < MINUTE_MS &&
		!record.open.some((scrape) => scrape.id === id) &&
		!isDelivered(record, id);
	record.open.push(...other.open.filter(isNews).map((scrape) => deepCopy(scrape)));
	addDelivered(record, other.delivered.slice(-MOST_AT_ONCE));
}

/** Static data can be written by anyone: what is no record of ours counts for nothing. */
function toRecord(value: unknown): TriggerRecord | undefined {
	if (typeof value !== 'object' || value === null) return undefined;
	const record = value as Partial<TriggerRecord>;
	const lists = [record.open, record.notices, record.delivered, record.gaps];
	const isRecord =
		typeof record.version === 'number' &&
		typeof record.owner === 'string' &&
		typeof record.horizon === 'number' &&
		typeof record.clock?.at === 'number' &&
		lists.every(Array.isArray);
	return isRecord ? (record as TriggerRecord) : undefined;
}
