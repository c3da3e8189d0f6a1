import { isRicher, richest, type Content } from './content';
import type { NamedIds } from './notification';
import type { Plan } from './plan';
import { fingerprint } from './signature';
import { isDone, isOpen, openScrapes, type TriggerState } from './state';

/** Changes of the state that a notification causes. */

/** The maximum number of unverified IDs. Beyond it, the service must send the notification again later. */
export const MAX_UNVERIFIED = 500;

/** The result of a notification. */
export interface Received {
	outcome: 'noted' | 'ignored' | 'full';
	/** What the notification is kept for: a key of `notifications` in the state. */
	source?: string;
}

/**
 * Handles a notification. Only its signature proves anything; the service must confirm the IDs that it names.
 * @param attempt the attempt whose URL received it: '' for a URL of 1.0.0, undefined without a signature
 */
export function applyNotification(
	state: TriggerState,
	attempt: string | undefined,
	named: NamedIds,
	mode: Plan['mode'],
	received: Content,
): Received {
	const { scrapes, starts } = state;
	const start = attempt ? starts[attempt] : undefined;
	const open = openScrapes(state);
	const own =
		open.find(([id, { source }]) => id === start?.scrapeId || (attempt && source === attempt)) ??
		// If several scrapes are open, a notification that names none belongs to none.
		(attempt === '' && named.likely.length === 0 && open.length === 1 ? open[0] : undefined);
	if (!own && start?.scrapeId !== undefined) return { outcome: 'ignored' };
	// The answer to the start will name the scrape. If the notification names IDs, use them, because the answer may get
	// lost.
	if (!own && attempt && start?.stage === 'planned' && named.likely.length === 0) {
		return keep(state, attempt, received);
	}
	const ids = own ? [own[0]] : candidates(state, named, mode);
	const mayBeOurs = attempt !== undefined || mode === 'listen';
	if (ids.length === 0 || !mayBeOurs) return { outcome: 'ignored' };
	const fresh = ids.filter((id) => !scrapes[id] && !isDone(state, id));
	if (fresh.length > 0 && !hasRoom(state, fresh.length)) return { outcome: 'full' };
	const { at } = received;
	const newSource = attempt || fingerprint([ids, at]);
	for (const id of fresh) {
		const depth = named.depths?.get(id) ?? 0;
		scrapes[id] = { stage: 'unverified', at, since: at, source: newSource, depth };
	}
	// Keep the notification for each ID that may be a scrape, regardless of the other IDs.
	let result: Received = { outcome: ids.some((id) => isDone(state, id)) ? 'ignored' : 'full' };
	for (const id of ids) {
		const scrape = scrapes[id];
		if (!scrape || !(scrape.stage === 'unverified' || isOpen(scrape))) continue;
		// Only this ID gets the new source. Other IDs of the earlier notification keep that one.
		const isBetter =
			!starts[scrape.source] && isRicher(received, state.notifications[scrape.source]);
		const source = isBetter ? newSource : scrape.source;
		if (isBetter) scrapes[id] = { ...scrape, at, source };
		result = keep(state, source, received);
	}
	return result;
}

/** The IDs in a notification that may be scrapes: an open scrape under any name, otherwise those with likely names. */
function candidates(
	{ scrapes }: TriggerState,
	{ likely, others }: NamedIds,
	mode: Plan['mode'],
): string[] {
	const openOthers = others.filter((id) => isOpen(scrapes[id]));
	if (openOthers.length > 0 && !likely.some((id) => isOpen(scrapes[id]))) return openOthers;
	return likely.length > 0 || mode === 'startScrape' ? likely : others;
}

function keep({ notifications }: TriggerState, source: string, received: Content): Received {
	notifications[source] = richest(notifications[source], received);
	return { outcome: 'noted', source };
}

/** Whether so many more unverified IDs fit. */
export function hasRoom({ scrapes }: TriggerState, count: number): boolean {
	const known = Object.values(scrapes).filter(({ stage }) => stage === 'unverified');
	return known.length + count <= MAX_UNVERIFIED;
}
