import { ManualExecutionCancelledError } from 'n8n-workflow';
import { LeadGenError } from './errors';

/**
 * Waits `ms` milliseconds. Leaves no timer behind that keeps the process alive, as n8n's `sleep` would.
 * @throws like `throwIfStopped` as soon as the signal is aborted
 */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	const over = new Promise<void>((resolve) => void onAbort(timeoutSignal(ms), resolve));
	await settledOrAborted(over, signal);
	throwIfStopped(signal);
}

/** Waits until a promise is settled, or the signal is aborted. Nothing of it stays in memory with the signal. */
export async function settledOrAborted(
	promise: Promise<unknown>,
	signal: AbortSignal | undefined,
): Promise<void> {
	if (signal?.aborted) return;
	let forget = () => {};
	const aborted = new Promise<void>((resolve) => (forget = onAbort(signal, resolve)));
	await Promise.race([promise, aborted]).catch(() => {});
	forget();
}

const listenersOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls a function when the signal is aborted. All share one listener, because Node.js 20 warns of more than ten.
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

/** A signal that is aborted after so many milliseconds. Node.js takes only whole numbers from 0 to this maximum. */
export function timeoutSignal(ms: number): AbortSignal {
	return AbortSignal.timeout(Math.ceil(Math.min(Math.max(0, ms), 2 ** 31 - 1)));
}

/** A signal that is aborted with the first of several. */
export function anySignal(...signals: Array<AbortSignal | undefined>): AbortSignal {
	return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/**
 * @throws ManualExecutionCancelledError, which n8n does not report, if the user pressed Stop, or the reason if we
 * aborted the signal ourselves
 */
export function throwIfStopped(signal: AbortSignal | undefined): void {
	if (!signal?.aborted) return;
	throw signal.reason instanceof LeadGenError
		? signal.reason
		: new ManualExecutionCancelledError('');
}

/**
 * Lets everything go on that is ready, also requests and answers: a message comes in the next round of the event loop.
 * A timer would take a millisecond, and n8n's lint rules forbid `setImmediate`.
 */
export async function nextTask(): Promise<void> {
	const { port1, port2 } = new MessageChannel();
	port2.postMessage(undefined);
	await new Promise((resolve) => port1.once('message', resolve));
	port1.close();
}

/** Several parts in a row are faster: n8n resolves expressions in an isolate of V8, which is slow after other work. */
const IN_A_ROW = 4;

/**
 * Divides long work, so that the process can do other things in between: one task for each part.
 * @param perTask returns how many parts to do for each task
 * @returns a function to await before each part; callers continue in the order in which they called it
 */
export function takeTurns(perTask: () => number): () => Promise<void> {
	let begun = 0;
	let last = Promise.resolve();
	return async () => {
		last = last.then(async () => {
			if (++begun % (IN_A_ROW * perTask()) > 0) return;
			for (let task = 0; task < IN_A_ROW; task++) await nextTask();
		});
		await last;
	};
}
