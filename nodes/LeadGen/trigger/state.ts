import type { IDataObject } from 'n8n-workflow';
import type { NoticeText } from './notices';
import { fingerprint } from './signature';

/**
 * What the trigger knows, kept in n8n's static data of the workflow. Times are milliseconds since 1970.
 *
 * Static data has no transactions: other nodes write old copies of it back, and each process of n8n reads and
 * writes it whole. So each process keeps a copy too, and copies are joined entry by entry: of two versions of
 * an entry the one in the later stage counts, then the later one. This needs no order and no locks (it is a
 * last-writer-wins map, a CRDT).
 */
export interface TriggerState {
	format: 2;
	/** Which node of which n8n this belongs to. A copied workflow brings the state of another node along. */
	owner: string;
	facts: Facts;
	/** By attempt ID. */
	starts: Record<string, Start>;
	/** By scrape ID. */
	scrapes: Record<string, Scrape>;
	/** By the `source` of the scrape. */
	notifications: Record<string, Notification>;
	/** What the person must be told, by an ID that is the same for the same event. */
	notices: Record<string, Notice>;
}

/** Later stages of an entry come later here. */
const STAGES = [
	// A start. Unknown: it may have been paid for, so it is never sent again. Failed: no scrape comes of it.
	...(['wanted', 'planned', 'unknown', 'failed', 'started'] as const),
	// A scrape. Unverified: only a notification names it. Rejected: it was looked up in vain.
	...(['unverified', 'rejected'] as const),
	// A scrape or a notice. Delivering: handed to n8n, which has not begun to run it as far as is known.
	...(['open', 'delivering', 'done'] as const),
];
type Stage = (typeof STAGES)[number];

export interface Entry {
	/** When it was last changed. */
	at: number;
	stage?: Stage;
	size?: number;
	leads?: number;
}

export interface Facts {
	activation?: Activation;
	/** When the next scheduled start is due, and the fingerprint of the schedule that says so. */
	schedule?: Entry & { print: string; due?: number };
	/** Completions before this time may have been delivered and forgotten. */
	horizon: Entry;
}

export interface Activation extends Entry {
	id: string;
	/** Fingerprint of the filters. */
	filters: string;
	/** It was on for a minute, so n8n does not repeat it after a crash. */
	isEstablished?: true;
	/** n8n deactivated the workflow, or is saving it. */
	isClosed?: true;
}

/** One attempt to start a scrape. It is saved as planned before the request is sent. */
export interface Start extends Entry {
	stage: 'wanted' | 'planned' | 'unknown' | 'failed' | 'started';
	/** When it was planned; before, when it is to be. */
	at: number;
	/** The same for all attempts of one start; for a scheduled one in all processes. */
	id: string;
	why: 'activation' | 'filters' | 'schedule';
	/** When it was due, by schedule. */
	due?: number;
	/** How often it was tried before. */
	tries: number;
	/** The process of n8n that planned it; no other one sends it. */
	process?: string;
	/** Fingerprint of the filters, when it was planned. */
	filters?: string;
	scrapeId?: string;
}

export interface Scrape extends Entry {
	stage: 'unverified' | 'rejected' | 'open' | 'delivering' | 'done';
	/** When it was started, or first named. */
	since: number;
	/** The attempt that started it, or a name for the notification that it came from. */
	source: string;
	/** Unverified: how deep in its notification the ID is. */
	depth?: number;
	/** Fingerprint of the filters, if this node started it. */
	filters?: string;
	/** Scheduled starts that were left out while it ran. */
	skipped?: number[];
	/** How often it was handed to n8n. */
	tries?: number;
}

export interface Notification extends Entry {
	/** Characters; of several notifications the largest holds most, unless another one holds more leads. */
	size: number;
	leads?: number;
	/** The process that received it, which looks the scrape up. */
	process: string;
	/** Its content, where it is known. */
	raw?: object;
}

/** What this process found when it last looked at a scrape. Not saved: the service says it again. */
export interface Check {
	at: number;
	/** Whether the service answered. */
	isAnswered: boolean;
	/** Since when the service says that it has no such scrape. */
	missingSince?: number;
	/** What the service said of it once it was finished. */
	result?: { data: IDataObject; completedAt: number };
}

/** A failed execution that says what happened and what to do. */
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

/** All that either of two copies knows, in the same order whatever the order of the copies. */
export function join(a: TriggerState, b: TriggerState): TriggerState {
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

/** Which of two notifications says more: positive if it is the first. */
export function compareContent(a: Entry, b: Entry): number {
	return (a.leads ?? 0) - (b.leads ?? 0) || (a.size ?? 0) - (b.size ?? 0);
}

/** Whether nothing is left to do for a scrape or a notice. */
export function isDoneWith(entry: Entry | undefined): boolean {
	return (entry?.stage ?? 'done') === 'done';
}

/** Adds what the person must be told, once. */
export function addNotice(state: TriggerState, id: string, text: NoticeText, now: number): void {
	state.notices[id] ??= { stage: 'open', at: now, ...text };
}

/** Whether a completion is on its way: the service knows the scrape, and the workflow did not run for it. */
export function isOpen(scrape: Scrape | undefined): scrape is Scrape {
	return scrape?.stage === 'open' || scrape?.stage === 'delivering';
}

export function openScrapes({ scrapes }: TriggerState): Array<[id: string, scrape: Scrape]> {
	return Object.entries(scrapes).filter(([, scrape]) => isOpen(scrape));
}

/** A scrape needs nothing more, or a notice was told. @param at when the scrape was completed */
export function markDone({ scrapes, notices }: TriggerState, id: string, at: number): void {
	if (notices[id]) notices[id] = { stage: 'done', at, message: '', advice: '' };
	else scrapes[id] = { stage: 'done', at, since: 0, source: '' };
}

/** Whether a scrape needs nothing more. 1.0.0 wrote down the fingerprints of those. */
export function isDone({ scrapes }: TriggerState, id: string): boolean {
	return [id, fingerprint(id)].some((key) => scrapes[key]?.stage === 'done');
}

/** An ID that a notification named is no scrape that can be delivered. */
export function reject({ scrapes }: TriggerState, id: string, now: number): void {
	scrapes[id] = { stage: 'rejected', at: now, since: now, source: '' };
}

/** The start that is in a stage, of which there is one at a time, with its attempt ID. */
export function startIn(
	{ starts }: TriggerState,
	stage: 'wanted' | 'planned',
): [attempt: string, start: Start] | undefined {
	return Object.entries(starts).find(([, start]) => start.stage === stage);
}
