import type { IDataObject } from 'n8n-workflow';
import { isFinished } from '../operations/scrape/getStatus';
import { ServiceError } from '../service/errors';
import { isRateRefusal } from '../service/retry';
import { recordScrape } from './events';
import { missingScrape, noStatus, stuckScrape, textOf } from './notices';
import type { Plan } from './plan';
import { hasRoom, MAX_UNVERIFIED } from './received';
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

/** Changes of the state that the status of a scrape causes. */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** How far the clock of the service may differ from ours. */
const SKEW_MS = 60 * MINUTE_MS;
/** A scrape that runs longer does not delay other starts. A failed scrape has no completion time. */
export const LONGEST_SCRAPE_MS = DAY_MS;
/** After this time, a scrape is no longer looked up. */
const GIVEN_UP_MS = 7 * DAY_MS;
/** The service may not find a new scrape yet, or a gateway may answer in its place. */
export const UNKNOWN_SCRAPE_MS = 10 * MINUTE_MS;

/** What `GET /status` returns for a scrape. */
export interface Found {
	data: IDataObject;
	/** The ID as the service spells it. The service may accept other spellings. */
	id?: string;
	/** Undefined if the service does not find the scrape, empty if the answer contains no status. */
	status?: string;
	createdAt?: number;
	completedAt?: number;
}

/** Handles the answer to a status request. */
export function applyStatus(
	state: TriggerState,
	id: string,
	found: Found,
	check: Check,
	plan: Plan,
	now: number,
): void {
	const scrape = state.scrapes[id];
	if (!scrape || !(scrape.stage === 'unverified' || isOpen(scrape))) return;
	const { data, status, completedAt = now } = found;
	// Some services may answer for any ID. Only an answer with a status confirms an unverified ID.
	if (status === undefined || (status === '' && !isOpen(scrape))) {
		applyMissing(state, id, scrape, check, now);
		return;
	}
	delete check.missingSince;
	const realId = isOpen(scrape) ? id : applyVerified(state, id, scrape, found, now);
	if (realId === undefined) return;
	if (!isFinished({ status })) {
		const isStuck = now - scrape.since >= LONGEST_SCRAPE_MS;
		if (isStuck) addNotice(state, `stuck ${realId}`, stuckScrape(realId, status), now);
		giveUpLate(state, realId, now);
	} else if (plan.events.includes(status)) check.result = { data, completedAt };
	else markDone(state, realId, completedAt);
}

/** Handles a scrape that the service does not find. */
function applyMissing(
	state: TriggerState,
	id: string,
	scrape: Scrape,
	check: Check,
	now: number,
): void {
	const isOwn = state.starts[scrape.source] !== undefined;
	const isGone = now - (check.missingSince ??= now) >= UNKNOWN_SCRAPE_MS;
	if (isOpen(scrape)) {
		if (isGone) addNotice(state, `missing ${id}`, missingScrape(id), now);
		giveUpLate(state, id, now);
		return;
	}
	// In a flood of notifications without a signature, there is no room to look each ID up again.
	const isFlood = !isOwn && !hasRoom(state, MAX_UNVERIFIED / 2);
	if (isGone || isFlood) reject(state, id, now);
}

/** Gives up a scrape after a week, and an ID that the service never confirmed after a day. */
function giveUpLate(state: TriggerState, id: string, now: number): void {
	const scrape = state.scrapes[id];
	const age = scrape ? now - scrape.since : 0;
	if (scrape?.stage === 'unverified' && age >= DAY_MS) reject(state, id, now);
	if (isOpen(scrape) && age >= GIVEN_UP_MS) markDone(state, id, now);
}

/** Handles an unverified ID that the service confirmed. @returns the ID of the scrape; undefined if it is not new */
function applyVerified(
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
	const isWanted = isNew && !isDone(state, realId) && !isOpen(state.scrapes[realId]);
	if (!isWanted || realId !== id) reject(state, id, now);
	if (!isWanted) return undefined;
	recordScrape(state, source, realId, now, since, depth);
	return realId;
}

/** Handles a failed status request. The user is told at once if the service refuses it, otherwise after a day. */
export function applyStatusError(
	state: TriggerState,
	id: string,
	now: number,
	error?: unknown,
): void {
	const scrape = state.scrapes[id];
	const age = scrape ? now - scrape.since : 0;
	const isClear = isRefused(error) && !isRateRefusal(error);
	if (isClear || age >= DAY_MS) {
		// Anyone may name unverified IDs, so one notice a day covers them all.
		const about = isOpen(scrape) ? id : `notifications ${String(Math.floor(now / DAY_MS))}`;
		addNotice(state, `status of ${about}`, noStatus(id, textOf(error)), now);
	}
	giveUpLate(state, id, now);
}

/** Whether the service itself refused the request. */
export function isRefused(error: unknown): error is ServiceError {
	return error instanceof ServiceError && error.outcome === 'refused';
}
