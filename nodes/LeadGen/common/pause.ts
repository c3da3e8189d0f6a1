import { sleep } from 'n8n-workflow';
import { cancelledError } from './compatibility';
import { LeadGenError } from './errors';

/** The longest timer that is left behind after Stop. */
const MAX_SLICE_MS = 1000;
/** A timer with a longer time would ring at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Work that takes longer holds up everything else in the process. */
const MAX_STRETCH_MS = 10;

/**
 * Waits `ms` milliseconds.
 * @throws like `throwIfStopped` as soon as the signal is aborted
 */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	// Unlike the time of day, it is never set back.
	const end = performance.now() + ms;
	for (let left = ms; left > 0 && !signal?.aborted; left = end - performance.now()) {
		await settledOrAborted(sleep(Math.min(left, MAX_SLICE_MS)), signal);
	}
	throwIfStopped(signal);
}

/** Waits until a promise is settled, or the signal is aborted. Nothing of it stays in memory with the signal. */
export async function settledOrAborted(
	promise: Promise<unknown>,
	signal: AbortSignal | undefined,
): Promise<void> {
	if (signal?.aborted) return;
	let stop = () => {};
	const stopped = new Promise<void>((resolve) => (stop = resolve));
	const forget = onAbort(signal, stop);
	await Promise.race([promise, stopped]).catch(() => {});
	forget();
}

const listenersOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls a function when the signal is aborted. All functions share one listener, because Node.js 20 warns of more than
 * ten.
 * @returns a function to call when the signal does not matter any more
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
	if (!signal) return () => {};
	const listeners = listenersOf.get(signal) ?? new Set();
	listenersOf.set(signal, listeners.add(listener));
	// To add the same function again has no effect.
	signal.addEventListener('abort', callListeners);
	return () => {
		listeners.delete(listener);
		if (listeners.size === 0) signal.removeEventListener('abort', callListeners);
	};
}

function callListeners({ target }: Event): void {
	for (const listener of listenersOf.get(target as AbortSignal) ?? []) listener();
}

/** A signal that is aborted after so many milliseconds, which may be a fraction. Node.js takes only whole numbers. */
export function timeoutSignal(ms: number): AbortSignal {
	return AbortSignal.timeout(Math.min(Math.ceil(ms), MAX_TIMER_MS));
}

/** A signal that is aborted with the first of several. */
export function anySignal(...signals: Array<AbortSignal | undefined>): AbortSignal {
	return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/** @throws {@link cancelledError} if the user pressed Stop, or the reason if we aborted the signal ourselves */
export function throwIfStopped(signal: AbortSignal | undefined): void {
	if (!signal?.aborted) return;
	throw signal.reason instanceof LeadGenError ? signal.reason : cancelledError();
}

/**
 * Lets everything go on that is ready, also requests and answers. A timer would take a millisecond, and n8n's lint rules
 * forbid `setImmediate`. A message of a new port comes in the next round of the event loop.
 */
export async function nextTask(): Promise<void> {
	await new Promise<void>((resolve) => {
		const { port1, port2 } = new MessageChannel();
		port1.once('message', () => {
			port1.close();
			resolve();
		});
		port2.postMessage(undefined);
	});
}

/**
 * Divides long work, so that the process can do other things in between.
 * @returns a function to await before each part; callers continue in the order in which they called it
 */
export function takeTurns(): () => Promise<void> {
	let since = performance.now();
	let last = Promise.resolve();
	const yieldIfLong = async () => {
		if (performance.now() - since < MAX_STRETCH_MS) return;
		await nextTask();
		since = performance.now();
	};
	return async () => {
		await (last = last.then(yieldIfLong));
	};
}
