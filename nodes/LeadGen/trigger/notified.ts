import { isMore, largest, type Content } from './content';
import type { NamedIds } from './notification';
import type { Plan } from './plan';
import { fingerprint } from './signature';
import { isDone, isOpen, openScrapes, reject, type Check, type TriggerState } from './state';

/** What a notification changes in the state. */

/** More IDs that only notifications name are put off. */
export const MAX_UNVERIFIED = 500;
/** The service could not answer for so long: what it was asked for makes room. */
const STALE_MS = 3_600_000;

/** What a notification led to. */
export interface Received {
	outcome: 'noted' | 'known' | 'ignored' | 'full';
	/** What it is kept for: see `notifications` of the state. */
	source?: string;
}

/**
 * A notification came in. Only its signature proves anything; the IDs that it names are looked up.
 * @param attempt whose URL it came to: '' for a URL of 1.0.0, undefined without a signature
 * @param receive gives its content, if it is kept
 */
export function notified(
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
		// With several scrapes under way, what names none belongs to none.
		(attempt === '' && likely.length === 0 && open.length === 1 ? open[0] : undefined);
	if (own) return note(state, own[1].source, receive());
	// The answer to the start is on its way, unless it gets lost: then the IDs are all that is known.
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
	notifications[source] = largest(notifications[source], received);
	return { outcome: 'noted', source };
}

/** Each of the IDs may be that of a scrape, whatever the others are. */
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
		// What else another notification is kept for keeps it.
		const isBetter = !starts[scrape.source] && isMore(received, notifications[scrape.source]);
		if (isBetter) scrapes[id] = { ...scrape, at: received.at, source };
		sources.add(isBetter ? source : scrape.source);
	}
	for (const each of sources) note(state, each, received);
	const [first] = sources;
	if (first !== undefined) return { outcome: 'noted', source: first };
	return { outcome: ids.some((id) => isDone(state, id)) ? 'known' : 'full' };
}

/** Those that the service does not find, or could not answer for long, make room. @returns whether there is enough */
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
