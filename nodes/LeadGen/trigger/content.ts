import { deepCopy } from 'n8n-workflow';
import { compareContent, type Notification, type TriggerState } from './state';

/** The content of notifications, which can be as large as all leads: what is kept, saved and sent of it. */

/** What n8n has saved, as far as somebody waits for it. */
export type Saved = Pick<TriggerState, 'starts' | 'notifications'>;

/** Whether n8n has saved a notification, and none that says more came in since. */
export function isSaved(known: Saved, saved: Saved, source: string): boolean {
	const [now, then] = [known, saved].map(({ notifications }) => notifications[source]);
	return !now || (then !== undefined && compareContent(now, then) <= 0);
}

/** A copy without the content of notifications, but for those that are kept. */
export function withoutContent<State extends Saved>(
	state: State,
	isKept?: (source: string, notification: Notification) => boolean,
): State {
	const notifications: TriggerState['notifications'] = {};
	for (const [source, notification] of Object.entries(state.notifications)) {
		const { raw, ...rest } = notification;
		notifications[source] = raw && isKept?.(source, notification) ? notification : rest;
	}
	return { ...state, notifications };
}

/** A copy of what somebody waits for, which what comes later does not change. */
export function savedPart({ starts, notifications }: Saved): Saved {
	return deepCopy(withoutContent({ starts, notifications }));
}

/** A notification that just came in. */
export type Content = Notification & { raw: object };

/** Of several notifications the one that says most: a later ping must not replace the leads that came before it. */
export function largest(known: Notification | undefined, received: Content): Notification {
	const { at, process } = received;
	return known && !isMore(received, known) ? { ...known, at, process } : received;
}

/** Whether a notification says more than the one that is known. */
export function isMore(received: Content, known: Notification | undefined): boolean {
	const order = known ? compareContent(received, known) : 1;
	return order > 0 || (order === 0 && !known?.raw);
}

/** What one message may hold, in characters. n8n takes 16 MB, and the message is JSON within JSON. */
const MAX_SENT = 4_000_000;

/**
 * What a process sends of what it knows. The content of a notification goes along where it may be missing.
 * @param process that sends; it has the content of what it received itself
 * @param needed what is to be delivered
 * @param isElsewhere whether another process answered last
 */
export function toSend(
	state: TriggerState,
	process: string,
	needed: string | undefined,
	isElsewhere: boolean,
): TriggerState {
	const neededSize = state.notifications[needed ?? '']?.size ?? 0;
	const fits = budget(MAX_SENT - neededSize);
	return withoutContent(state, (source, notification) => {
		if (notification.process !== process) return false;
		return source === needed ? neededSize <= MAX_SENT : isElsewhere && fits(notification);
	});
}

/** Takes what fits in beside what was taken before. */
function budget(most: number): (notification: Notification) => boolean {
	let left = most;
	return ({ size }) => {
		if (size > left) return false;
		left -= size;
		return true;
	};
}

/** What the notifications of all nodes may take, in characters. */
const MAX_CONTENT = 64_000_000;

/** Forgets the content of the oldest notifications where all take too much. @returns whether it did */
export function limitContent(states: TriggerState[]): boolean {
	const fits = budget(MAX_CONTENT);
	const forgotten = states
		.flatMap(({ notifications }) => Object.values(notifications))
		.filter(({ raw }) => raw !== undefined)
		.sort((a, b) => b.at - a.at)
		.filter((notification) => !fits(notification));
	for (const notification of forgotten) delete notification.raw;
	return forgotten.length > 0;
}

/** What goes beyond this is kept in memory only, lest the static data grow: of a node, and of unverified IDs. */
const MAX_SAVED = 1_000_000;
const MAX_SAVED_UNVERIFIED = 100_000;
const MAX_SAVED_EACH_UNVERIFIED = 2000;

/** What is saved of what a process knows. */
export function toSave(state: TriggerState): TriggerState {
	const unverified = new Set(
		Object.values(state.scrapes).flatMap(({ stage, source }) =>
			stage === 'unverified' ? source : [],
		),
	);
	const [fits, fitsUnverified] = [budget(MAX_SAVED), budget(MAX_SAVED_UNVERIFIED)];
	return withoutContent(state, (source, notification) =>
		unverified.has(source)
			? notification.size <= MAX_SAVED_EACH_UNVERIFIED && fitsUnverified(notification)
			: fits(notification),
	);
}
