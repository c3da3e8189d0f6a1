import type { IDataObject } from 'n8n-workflow';
import { fingerprint } from './secret';

/**
 * What the trigger remembers between two calls, kept in the static data of the workflow. Everything in it
 * is bounded. Times are milliseconds since 1970.
 */
export interface TriggerRecord {
	/** Rises with every change, so that an old copy that someone else wrote back is recognised. */
	version: number;
	/** When it was last changed. */
	at: number;
	/** The process that changed it. */
	writer?: string;
	/** Whose record it is: one that came along with a copied or imported workflow counts for nothing. */
	owner: string;
	/** Completions before this are refused: it is not known whether they were delivered. */
	horizon: number;
	/** n8n closed the node: it was deactivated, or is being saved. */
	closed?: true;
	/** The activation whose clock is in charge. */
	clock: { id: string; at: number; process: string };
	/** Fingerprint of the filters that the last start was for. */
	filters?: string;
	/** Fingerprint of the schedule that `due` belongs to. */
	schedule?: string;
	/** Next start by schedule. */
	due?: number;
	/** A start that is wanted and not under way yet. */
	want?: Want;
	/** A start that may have been sent. It is saved before the request goes out. */
	intent?: Want & { id: string };
	/** Scrapes whose completion was not delivered yet. */
	open: Scrape[];
	/** What the person must be told and was not yet. */
	notices: Notice[];
	/** Fingerprints of the scrapes delivered last, with the time of their completion. */
	delivered: Array<[string, number]>;
	/** Times in which a scrape may have been started that is not in the record. */
	gaps: Array<[from: number, to: number]>;
	/** Starts by schedule that were left out since the last delivery. */
	skipped?: number[];
}

export interface Want {
	why: 'activation' | 'filters' | 'schedule';
	at: number;
	/** Fingerprint of the filters. */
	filters: string;
	/** When it fell due, by schedule. */
	due?: number;
	/** Not before this. */
	retryAt?: number;
	/** How often it was tried. */
	tries?: number;
}

export interface Scrape {
	id: string;
	/** When it was started, or first heard of. */
	at: number;
	/** Fingerprint of the filters, if we started it. */
	filters?: string;
	/** Last look at its status. */
	checked?: number;
	/** Last notification of it. */
	heard?: number;
	/** Only a notification says that it exists: this one, which may name several that are no scrapes. */
	claimed?: string;
	/** Since when the service says that it has no such scrape. */
	missingSince?: number;
	/** Set once it is finished. */
	completedAt?: number;
	/** When its completion was handed to n8n. */
	handed?: Handed;
	/** Whether the person was told that it does not get on. */
	isTold?: true;
	/** The notification, unless it is very large. */
	notification?: IDataObject;
}

/** One failed execution that says what happened and what to do. */
export interface Notice {
	id: string;
	message: string;
	advice: string;
	handed?: Handed;
}

/** When something was last handed to n8n, and in which process. */
export interface Handed {
	at: number;
	process: string;
}

const MAX_DELIVERED = 1000;
const MAX_GAPS = 5;
const MAX_NOTICES = 5;
const MAX_SKIPPED = 20;
/** More claims at once are put off. */
export const MAX_CLAIMS = 500;
/** Completions may come in in another order, and the clock of the service may differ from ours. */
const DISORDER_MS = 3_600_000;

export function newRecord(
	owner: string,
	clock: TriggerRecord['clock'],
	now: number,
): TriggerRecord {
	return {
		version: 0,
		at: now,
		owner,
		horizon: now - DISORDER_MS,
		clock,
		open: [],
		notices: [],
		delivered: [],
		gaps: [],
	};
}

export function isDelivered(record: TriggerRecord, scrapeId: string): boolean {
	const print = fingerprint(scrapeId);
	return record.delivered.some(([delivered]) => delivered === print);
}

/** A scrape is done with: its completion is delivered, or never will be. */
export function settle(record: TriggerRecord, scrapeId: string, completedAt: number): void {
	record.open = record.open.filter(({ id }) => id !== scrapeId);
	addDelivered(record, [[fingerprint(scrapeId), completedAt]]);
}

/** Adds what is new in `delivered`. */
export function addDelivered(record: TriggerRecord, delivered: TriggerRecord['delivered']): void {
	for (const [print, completedAt] of delivered) {
		if (record.delivered.some(([known]) => known === print)) continue;
		record.open = record.open.filter(({ id }) => fingerprint(id) !== print);
		record.delivered.push([print, completedAt]);
	}
	while (record.delivered.length > MAX_DELIVERED) {
		const [forgotten] = record.delivered.splice(0, 1);
		record.horizon = Math.max(record.horizon, (forgotten?.[1] ?? 0) - DISORDER_MS);
	}
}

export function addNotice(record: TriggerRecord, notice: Omit<Notice, 'id'>, now: number): void {
	const id = `notice ${String(now)} ${fingerprint(notice.message)}`;
	if (record.notices.some((known) => known.message === notice.message)) return;
	record.notices = [...record.notices, { id, ...notice }].slice(-MAX_NOTICES);
}

export function addGap(record: TriggerRecord, from: number, to: number): void {
	record.gaps = [...record.gaps, [from, to] as [number, number]].slice(-MAX_GAPS);
}

export function addSkipped(record: TriggerRecord, due: number): void {
	record.skipped = [...(record.skipped ?? []), due].slice(-MAX_SKIPPED);
}
