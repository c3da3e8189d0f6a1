import { deepCopy } from 'n8n-workflow';
import { compareContent, type Notification, type TriggerState } from './state';

/** Decides which content of notifications to keep, to save and to send. It can be as large as all leads of a scrape. */

/** Saved starts and notifications. A start is sent, and a notification is answered, only after n8n has saved it. */
export type Saved = Pick<TriggerState, 'starts' | 'notifications'>;

/** Whether n8n has saved the notification of a source with at least the content that is known now. */
export function isNotificationSaved(known: Saved, saved: Saved, source: string): boolean {
	const [now, then] = [known, saved].map(({ notifications }) => notifications[source]);
	return !now || (then !== undefined && compareContent(now, then) <= 0);
}

/** A copy without the content of notifications, except for those that `isKept` selects. */
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

/** A deep copy of the starts and of the notifications without content. Later changes do not affect it. */
export function savedPart({ starts, notifications }: Saved): Saved {
	return deepCopy(withoutContent({ starts, notifications }));
}

/** A notification that just arrived, with its content. */
export type Content = Notification & { raw: object };

/** Keeps the notification with the most content: a later ping must not replace the leads that arrived before it. */
export function richest(known: Notification | undefined, received: Content): Notification {
	const { at, process } = received;
	return known && !isRicher(received, known) ? { ...known, at, process } : received;
}

/** Whether a notification has more content than the known one, or the same while that content is missing. */
export function isRicher(received: Content, known: Notification | undefined): boolean {
	const order = known ? compareContent(received, known) : 1;
	return order > 0 || (order === 0 && !known?.raw);
}

/** The maximum content of one message, in characters. n8n accepts 16 MB, and the message is JSON in JSON. */
const MAX_SENT = 4_000_000;

/**
 * The part of the state that a process sends. It includes content that the receiver may not have.
 * @param process the sender; it sends only content that it received itself
 * @param needed the source of the scrape that is to be delivered
 * @param isElsewhere whether another process answered the last message
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

/** Accepts a notification if it fits into the space that the notifications before it have left. */
function budget(most: number): (notification: Notification) => boolean {
	let left = most;
	return ({ size }) => {
		if (size > left) return false;
		left -= size;
		return true;
	};
}

/** The maximum content of the notifications of all nodes, in characters. */
const MAX_CONTENT = 64_000_000;

/** Deletes the content of the oldest notifications if all together use too much. @returns whether it deleted any */
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

/**
 * Limits for saved content of a node and of its unverified IDs, in characters, so that the static data stays small.
 * Content beyond them stays in memory only.
 */
const MAX_SAVED = 1_000_000;
const MAX_SAVED_UNVERIFIED = 100_000;
const MAX_SAVED_EACH_UNVERIFIED = 2000;

/** The part of the state that is saved. */
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
