import type { IDataObject } from 'n8n-workflow';
import type { NoticeText } from './notices';
import { fingerprint } from './signature';

/**
 * The state of the trigger, saved in n8n's static data of the workflow. Times are milliseconds since 1970.
 *
 * Static data has no transactions: other nodes write old copies of it back, and each process of n8n reads and writes it
 * as a whole. So each process also keeps a copy, and copies are merged entry by entry. The version in the later stage
 * wins; in the same stage, the later version wins. Merging needs no order and no locks (it is a last-writer-wins map, a
 * CRDT).
 */
export interface TriggerState {
	format: 2;
	/** The node and the n8n that own this state. A copied workflow contains the state of another node. */
	owner: string;
	facts: Facts;
	/** By attempt ID. */
	starts: Record<string, Start>;
	/** By scrape ID. */
	scrapes: Record<string, Scrape>;
	/** By the `source` of the scrape. */
	notifications: Record<string, Notification>;
	/** What the user must be told. The same event always has the same ID. */
	notices: Record<string, Notice>;
}

/** Stages in their order: when copies are merged, the later stage wins. */
const STAGES = [
	// A start. Unknown: it may have been paid for, so it is never sent again. Failed: it creates no scrape.
	...(['wanted', 'planned', 'unknown', 'failed', 'started'] as const),
	// A scrape. Unverified: only a notification names it. Rejected: the node will not deliver it.
	...(['unverified', 'rejected'] as const),
	// A scrape or a notice. Delivering: handed to n8n, but no execution is known to have begun.
	...(['open', 'delivering', 'done'] as const),
];
type Stage = (typeof STAGES)[number];

export interface Entry {
	/** When the entry last changed. */
	at: number;
	stage?: Stage;
	size?: number;
	leads?: number;
}

export interface Facts {
	activation?: Activation;
	/** When the next scheduled start is due, and the fingerprint of its schedule. */
	schedule?: Entry & { print: string; due?: number };
	/** Completions before this time may have been delivered and forgotten. */
	horizon: Entry;
}

export interface Activation extends Entry {
	id: string;
	/** Fingerprint of the filters. */
	filters: string;
	/** The workflow was active for a minute, so n8n does not repeat this activation after a crash. */
	isEstablished?: true;
	/** n8n deactivated the workflow, or is saving it. */
	isClosed?: true;
}

/** One attempt to start a scrape. It is saved as planned before the request is sent. */
export interface Start extends Entry {
	stage: 'wanted' | 'planned' | 'unknown' | 'failed' | 'started';
	/** Wanted: when to plan it. Afterwards: when it was planned or sent. */
	at: number;
	/** Identifies the start in all its attempts. A scheduled start has the same ID in all processes. */
	id: string;
	why: 'activation' | 'filters' | 'schedule';
	/** The time at which the schedule made it due. */
	due?: number;
	/** The number of earlier tries. */
	tries: number;
	/** The process of n8n that planned it. No other process sends it. */
	process?: string;
	/** Fingerprint of the filters when it was planned or sent. */
	filters?: string;
	scrapeId?: string;
}

export interface Scrape extends Entry {
	stage: 'unverified' | 'rejected' | 'open' | 'delivering' | 'done';
	/** When it was started, or first named by a notification. */
	since: number;
	/** The attempt that started it, or a name for the notification that named it. */
	source: string;
	/** Unverified: the depth of the ID in its notification. */
	depth?: number;
	/** Fingerprint of the filters, if this node started it. */
	filters?: string;
	/** Scheduled starts that were skipped while it ran. */
	skipped?: number[];
	/** The number of deliveries. */
	tries?: number;
}

export interface Notification extends Entry {
	/** In characters. If several notifications arrive, the one with the most leads is kept, then the largest one. */
	size: number;
	leads?: number;
	/** The process that received it. This process looks the scrape up. */
	process: string;
	/** The content, if it is known. */
	raw?: object;
}

/** The result of the last status request of this process. Not saved, because the service can be asked again. */
export interface Check {
	at: number;
	/** Whether the service answered. */
	isAnswered: boolean;
	/** Since when the service has not found the scrape. */
	missingSince?: number;
	/** The status of the scrape, once it is finished. */
	result?: { data: IDataObject; completedAt: number };
}

/** A failed execution that tells the user what happened and what to do. */
export interface Notice extends Entry, NoticeText {
	stage: 'open' | 'delivering' | 'done';
	tries?: number;
}

const KINDS = ['facts', 'starts', 'scrapes', 'notifications', 'notices'] as const;

export function newState(owner: string): TriggerState {
	return {
		format: 2,
		owner,
		facts: { horizon: { at: 0 } },
		starts: {},
		scrapes: {},
		notifications: {},
		notices: {},
	};
}

/** Merges two copies. The result, and the order of its keys, do not depend on the order of the copies. */
export function merge(a: TriggerState, b: TriggerState): TriggerState {
	const joined = KINDS.map((kind) => {
		const entries = { ...entriesOf(a, kind) };
		for (const [key, entry] of Object.entries(entriesOf(b, kind))) {
			if (isFurther(entry, entries[key])) entries[key] = entry;
		}
		const sorted = Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1));
		return [kind, Object.fromEntries(sorted)];
	});
	return { ...a, ...(Object.fromEntries(joined) as Partial<TriggerState>) };
}

function entriesOf(state: TriggerState, kind: (typeof KINDS)[number]): Record<string, Entry> {
	return state[kind] as Record<string, Entry>;
}

function isFurther(entry: Entry, known: Entry | undefined): boolean {
	if (!known) return true;
	const rank = ({ stage }: Entry) => (stage ? STAGES.indexOf(stage) : 0);
	const order =
		rank(entry) - rank(known) ||
		compareContent(entry, known) ||
		Number('raw' in entry) - Number('raw' in known) ||
		entry.at - known.at;
	return order > 0 || (order === 0 && JSON.stringify(entry) > JSON.stringify(known));
}

/** Compares the content of two notifications: positive if the first one has more. */
export function compareContent(a: Entry, b: Entry): number {
	return (a.leads ?? 0) - (b.leads ?? 0) || (a.size ?? 0) - (b.size ?? 0);
}

/** Whether nothing is left to do for a scrape or a notice. */
export function isFinal(entry: Entry | undefined): boolean {
	return (entry?.stage ?? 'done') === 'done';
}

/** Adds what the user must be told, once per event. */
export function addNotice(state: TriggerState, id: string, text: NoticeText, now: number): void {
	state.notices[id] ??= { stage: 'open', at: now, ...text };
}

/** Whether a completion is expected: the service knows the scrape, and the workflow has not run for it. */
export function isOpen(scrape: Scrape | undefined): scrape is Scrape {
	return scrape?.stage === 'open' || scrape?.stage === 'delivering';
}

export function openScrapes({ scrapes }: TriggerState): Array<[id: string, scrape: Scrape]> {
	return Object.entries(scrapes).filter(([, scrape]) => isOpen(scrape));
}

/** Marks a scrape or a notice as done. @param at when the scrape was completed */
export function markDone({ scrapes, notices }: TriggerState, id: string, at: number): void {
	if (notices[id]) notices[id] = { stage: 'done', at, message: '', advice: '' };
	else scrapes[id] = { stage: 'done', at, since: 0, source: '' };
}

/** Whether a scrape is done. 1.0.0 saved the fingerprints of such scrapes instead of their IDs. */
export function isDone({ scrapes }: TriggerState, id: string): boolean {
	return [id, fingerprint(id)].some((key) => scrapes[key]?.stage === 'done');
}

/** Records that an ID from a notification is not a scrape to deliver. */
export function reject({ scrapes }: TriggerState, id: string, now: number): void {
	scrapes[id] = { stage: 'rejected', at: now, since: now, source: '' };
}

/** The start in a stage, with its attempt ID. At most one start is in each of these stages. */
export function startIn(
	{ starts }: TriggerState,
	stage: 'wanted' | 'planned',
): [attempt: string, start: Start] | undefined {
	return Object.entries(starts).find(([, start]) => start.stage === stage);
}
