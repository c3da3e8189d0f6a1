import { isFinal, type Entry, type TriggerState } from './state';

/** Forgets old entries, so that the static data stays small. */

const MAX_DONE = 500;
const MAX_STARTS = 20;
const MAX_NOTICES = 5;
const REJECTED_MS = 10 * 60_000;
/** Completions may arrive out of order, and the clock of the service may differ from ours. */
const DISORDER_MS = 3_600_000;

/** Forgets entries that are too old, and the oldest ones beyond each limit. */
export function prune(state: TriggerState, now: number): TriggerState {
	const fresh = keep(
		state.scrapes,
		({ stage, at }) => stage !== 'rejected' || now - at < REJECTED_MS,
	);
	const scrapes = newest(fresh, MAX_DONE, isFinal);
	const forgotten = Object.entries(fresh).flatMap(([id, { at }]) => (id in scrapes ? [] : at));
	const horizon = Math.max(0, ...forgotten.map((at) => at - DISORDER_MS));
	// Starts of every stage count: an old copy may bring back a start that was planned long ago. After the clock was set
	// back, old starts have future times, so the distance from now decides.
	const age = ({ at }: Entry) => Math.abs(now - at);
	const starts = newest(state.starts, MAX_STARTS, () => true, age);
	// The notification may arrive before the answer to the start.
	const planned = keep(starts, ({ stage }) => stage === 'planned');
	const sources = new Set(Object.values(scrapes).map(({ source }) => source));
	const told = newest(state.notices, MAX_DONE, isFinal);
	return {
		...state,
		facts: {
			...state.facts,
			...(horizon > state.facts.horizon.at && { horizon: { at: horizon } }),
		},
		starts,
		scrapes,
		notifications: keep(
			state.notifications,
			(_content, source) => source in planned || sources.has(source),
		),
		notices: newest(told, MAX_NOTICES, (notice) => !isFinal(notice)),
	};
}

function keep<T>(
	entries: Record<string, T>,
	isKept: (value: T, key: string) => boolean,
): Record<string, T> {
	return Object.fromEntries(Object.entries(entries).filter(([key, value]) => isKept(value, key)));
}

/** Keeps all entries except the oldest counted ones beyond `most`. */
function newest<T extends Entry>(
	entries: Record<string, T>,
	most: number,
	isCounted: (value: T) => boolean,
	age: (value: T) => number = ({ at }) => -at,
): Record<string, T> {
	const counted = Object.values(entries).filter(isCounted);
	const oldest = new Set(counted.sort((a, b) => age(a) - age(b)).slice(most));
	return oldest.size === 0 ? entries : keep(entries, (value) => !oldest.has(value));
}
