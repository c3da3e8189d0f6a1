import { sleep } from 'n8n-workflow';
import { cancelledError } from './compatibility';

/** Longest timer that is left behind after Stop. */
const SLICE_MS = 1000;

/**
 * Waits `ms` milliseconds.
 * @throws {@link cancelledError} as soon as a person presses Stop
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

export function throwIfStopped(signal: AbortSignal | undefined): void {
	if (signal?.aborted) throw cancelledError();
}
