import type { IDataObject } from 'n8n-workflow';
import { isFinished } from '../operations/scrape/getStatus';
import { ServiceError } from '../service/errors';
import { isRateRefusal } from '../service/retry';
import { started } from './events';
import { missingScrape, noStatus, stuckScrape, textOf } from './notices';
import type { Plan } from './plan';
import {
	addNotice,
	isDone,
	isOpen,
	markDone,
	reject,
	type Check,
	type Scrape,
	type TriggerState,
} from './state';

/** What the service says of a scrape, and what it changes in the state. */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** How far the clock of the service may differ from ours. */
const SKEW_MS = 60 * MINUTE_MS;
/** A scrape that runs for longer does not delay other starts. A failed one has no time of its end. */
export const LONGEST_SCRAPE_MS = DAY_MS;
/** After this it is not looked up any more. */
const GIVEN_UP_MS = 7 * DAY_MS;
/** A scrape may be so new that the service does not find it, or a gateway may say so in its place. */
export const UNKNOWN_SCRAPE_MS = 10 * MINUTE_MS;

/** What `GET /status` says of a scrape. */
export interface Found {
	data: IDataObject;
	/** As the service spells it, which may take others for the same. */
	id?: string;
	/** Undefined if the service has no such scrape, empty if it does not say. */
	status?: string;
	createdAt?: number;
	completedAt?: number;
}

/**
 * The service said how a scrape is.
 * @returns the ID under which the state has it now; undefined if it is done with
 */
export function looked(
	state: TriggerState,
	id: string,
	found: Found,
	check: Check,
	plan: Plan,
	now: number,
): string | undefined {
	const scrape = state.scrapes[id];
	if (!scrape || !(scrape.stage === 'unverified' || isOpen(scrape))) return undefined;
	const { data, status, completedAt = now } = found;
	// Some services may answer for any ID; what is said of a scrape holds its status.
	const isMissing = scrape.stage === 'unverified' ? !status : status === undefined;
	if (isMissing || status === undefined) return missing(state, id, scrape, check, now);
	delete check.missingSince;
	const realId = isOpen(scrape) ? id : verified(state, id, scrape, found, now);
	if (realId === undefined) return undefined;
	if (!isFinished({ status })) {
		const age = now - scrape.since;
		if (age >= LONGEST_SCRAPE_MS) {
			addNotice(state, `stuck ${realId}`, stuckScrape(realId, status), now);
		}
		if (age < GIVEN_UP_MS) return realId;
	} else if (plan.events.includes(status)) {
		check.result = { data, completedAt };
		return realId;
	}
	markDone(state, realId, completedAt);
	return undefined;
}

/** The service has no such scrape. */
function missing(
	state: TriggerState,
	id: string,
	scrape: Scrape,
	check: Check,
	now: number,
): string | undefined {
	const isSecond = check.missingSince !== undefined;
	const missingMs = now - (check.missingSince ??= now);
	const isOwn = state.starts[scrape.source] !== undefined;
	if (!isOpen(scrape)) {
		// It gets a second look: the first may have met a gateway while the service was restarted.
		if (!isSecond || (isOwn && missingMs < UNKNOWN_SCRAPE_MS)) return id;
		reject(state, id, now);
		return undefined;
	}
	if (missingMs >= UNKNOWN_SCRAPE_MS) addNotice(state, `missing ${id}`, missingScrape(id), now);
	if (missingMs < DAY_MS) return id;
	markDone(state, id, now);
	return undefined;
}

/** The service knows a scrape that a notification named. @returns its ID, unless it is not new */
function verified(
	state: TriggerState,
	id: string,
	{ since, source, depth }: Scrape,
	{ id: realId = id, createdAt, completedAt }: Found,
	now: number,
): string | undefined {
	const start = state.starts[source];
	const isNew = start
		? (createdAt ?? now) > start.at - SKEW_MS
		: (completedAt ?? (createdAt ?? now) + LONGEST_SCRAPE_MS) > state.facts.horizon.at;
	const isKnown = isDone(state, realId) || isOpen(state.scrapes[realId]);
	if (!isNew || isKnown) {
		reject(state, id, now);
		return undefined;
	}
	started(state, source, realId, now, since, depth);
	if (realId !== id) reject(state, id, now);
	return realId;
}

/** The service did not say how a scrape is. The person is told at once if it refuses to, else after a day. */
export function unanswered(state: TriggerState, id: string, now: number, error?: unknown): void {
	const scrape = state.scrapes[id];
	const age = scrape ? now - scrape.since : 0;
	const isClear = isRefused(error) && !isRateRefusal(error);
	if (isClear || age >= DAY_MS) {
		// Of those that anyone may name, one says it for all.
		const about = isOpen(scrape) ? id : `notifications ${String(Math.floor(now / DAY_MS))}`;
		addNotice(state, `status of ${about}`, noStatus(id, textOf(error)), now);
	}
	if (scrape?.stage === 'unverified' && age >= DAY_MS) reject(state, id, now);
	if (isOpen(scrape) && age >= GIVEN_UP_MS) markDone(state, id, now);
}

/** Whether the service itself said no. */
export function isRefused(error: unknown): error is ServiceError {
	return error instanceof ServiceError && error.outcome === 'refused';
}
