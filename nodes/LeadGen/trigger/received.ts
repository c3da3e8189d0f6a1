import { isRicher, richest, type Content } from './content';
import type { NamedIds } from './notification';
import type { Plan } from './plan';
import { fingerprint } from './signature';
import { isDone, isOpen, openScrapes, reject, type Check, type TriggerState } from './state';

/** Changes of the state that a notification causes. */

/** The maximum number of unverified IDs. Beyond it, the service must send the notification again later. */
export const MAX_UNVERIFIED = 500;
/** An ID that the service could not confirm for this long makes room for others. */
const STALE_MS = 3_600_000;

/** The result of a notification. */
export interface Received {
	outcome: 'noted' | 'known' | 'ignored' | 'full';
	/** What the notification is kept for: a key of `notifications` in the state. */
	source?: string;
}

/**
 * Handles a notification. Only its signature proves anything; the service must confirm the IDs that it names.
 * @param attempt the attempt whose URL received it: '' for a URL of 1.0.0, undefined without a signature
 * @param receive returns the content; called only if the notification is kept
 */
export function applyNotification(
	state: TriggerState,
	attempt: string | undefined,
	{ likely, others, depths }: NamedIds,
	{ plan, checks }: { plan: Plan; checks: ReadonlyMap<string, Check> },
	receive: () => Content,
	now: number,
): Received {
	const { scrapes } = state;
	const start = attempt ? state.starts[attempt] : undefined;
	const open = openScrapes(state);
	const own =
		open.find(([id, { source }]) => id === start?.scrapeId || (attempt && source === attempt)) ??
		// If several scrapes are open, a notification that names none belongs to none.
		(attempt === '' && likely.length === 0 && open.length === 1 ? open[0] : undefined);
	if (own) return note(state, own[1].source, receive());
	// The answer to the start will name the scrape. If the notification names IDs, use them, because the answer may get
	// lost.
	if (attempt && start?.stage === 'planned' && likely.length === 0) {
		return note(state, attempt, receive());
	}
	if (start?.scrapeId !== undefined) return { outcome: 'known' };
	const openOthers = others.filter((id) => isOpen(scrapes[id]));
	const isNamed = openOthers.length > 0 && !likely.some((id) => isOpen(scrapes[id]));
	const isLikely = likely.length > 0 || plan.mode === 'startScrape';
	const ids = isNamed ? openOthers : isLikely ? likely : others;
	const mayBeOurs = attempt !== undefined || plan.mode === 'listen';
	if (ids.length === 0 || !mayBeOurs) return { outcome: 'ignored' };
	const fresh = ids.filter((id) => !scrapes[id] && !isDone(state, id));
	if (!makeRoom(state, fresh.length, checks, now)) return { outcome: 'full' };
	const source = attempt || fingerprint([ids, now]);
	for (const id of fresh) {
		const depth = depths?.get(id) ?? 0;
		scrapes[id] = { stage: 'unverified', at: now, since: now, source, depth };
	}
	return named(state, ids, source, receive());
}

function note({ notifications }: TriggerState, source: string, received: Content): Received {
	notifications[source] = richest(notifications[source], received);
	return { outcome: 'noted', source };
}

/** Keeps the notification for each ID that may be a scrape, regardless of the other IDs. */
function named(
	state: TriggerState,
	ids: readonly string[],
	source: string,
	received: Content,
): Received {
	const { scrapes, starts, notifications } = state;
	const sources = new Set<string>();
	for (const id of ids) {
		const scrape = scrapes[id];
		const isWaiting = scrape?.stage === 'unverified' || isOpen(scrape);
		if (!scrape || !isWaiting) continue;
		// Only this ID gets the new source. Other IDs of the earlier notification keep that one.
		const isBetter = !starts[scrape.source] && isRicher(received, notifications[scrape.source]);
		if (isBetter) scrapes[id] = { ...scrape, at: received.at, source };
		sources.add(isBetter ? source : scrape.source);
	}
	for (const each of sources) note(state, each, received);
	const [first] = sources;
	if (first !== undefined) return { outcome: 'noted', source: first };
	return { outcome: ids.some((id) => isDone(state, id)) ? 'known' : 'full' };
}

/** Rejects IDs that the service does not find, or could not confirm for long. @returns whether there is enough room */
function makeRoom(
	state: TriggerState,
	count: number,
	checks: ReadonlyMap<string, Check>,
	now: number,
): boolean {
	const unverified = Object.entries(state.scrapes).filter(
		([, { stage }]) => stage === 'unverified',
	);
	const missing = unverified.length + count - MAX_UNVERIFIED;
	if (count === 0 || missing <= 0) return true;
	const stale = unverified.filter(([id, { since }]) => {
		const check = checks.get(id);
		return check && (check.missingSince !== undefined || check.at - since > STALE_MS);
	});
	if (stale.length < missing) return false;
	for (const [id] of stale.slice(0, missing)) reject(state, id, now);
	return true;
}
