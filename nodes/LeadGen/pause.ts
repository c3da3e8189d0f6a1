import { sleep } from 'n8n-workflow';
import { cancelledError } from './compatibility';
import { LeadGenError } from './service/errors';

/** The longest timer that is left behind after Stop. */
const SLICE_MS = 1000;

/** Work that takes longer holds up everything else in the process. */
const LONGEST_STRETCH_MS = 2;

/**
 * Waits `ms` milliseconds.
 * @throws like `throwIfStopped` as soon as the signal is aborted
 */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	const end = Date.now() + ms;
	let stop = () => {};
	const stopped = new Promise<void>((resolve) => (stop = resolve));
	signal?.addEventListener('abort', stop);
	try {
		for (let left = ms; left > 0 && !signal?.aborted; left = end - Date.now()) {
			await Promise.race([sleep(Math.min(left, SLICE_MS)), stopped]);
		}
	} finally {
		signal?.removeEventListener('abort', stop);
	}
	throwIfStopped(signal);
}

/** @throws {@link cancelledError} if the user pressed Stop, or the reason if we aborted the signal ourselves */
export function throwIfStopped(signal: AbortSignal | undefined): void {
	if (!signal?.aborted) return;
	throw signal.reason instanceof LeadGenError ? signal.reason : cancelledError();
}

/**
 * Divides long work, so that the process can do other things in between.
 * @returns a function to await before each part; callers continue in the order in which they called it
 */
export function takeTurns(): () => Promise<void> {
	let since = Date.now();
	let last = Promise.resolve();
	const yieldIfLong = async () => {
		if (Date.now() - since < LONGEST_STRETCH_MS) return;
		await sleep(0);
		since = Date.now();
	};
	return async () => {
		await (last = last.then(yieldIfLong));
	};
}
