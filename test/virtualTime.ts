import { getEventListeners } from 'node:events';
import timers from 'node:timers/promises';

/** What happens at a time of the virtual clock. */
interface Timer {
	due: number;
	ring: () => void;
	/** Whether anything waits for it. */
	isAwaited: () => boolean;
	real?: NodeJS.Timeout;
}

/** What the system does for the process without an event before it is done: files, names of hosts, connections. */
const SYSTEM_WORK = /Req|Connect/;
/**
 * After so many milliseconds, in real time, a test waits in vain: at all, and while nothing happens and no timer runs.
 */
const [MAX_WAIT_MS, MAX_SILENCE_MS] = [120_000, 3000];

const { setTimeout: realTimeout, clearTimeout: realClear } = globalThis;
const [realDate, realNow] = [Date.now.bind(Date), performance.now.bind(performance)];
const waiting = new Set<Timer>();
let aheadMs = 0;
/** For how many milliseconds at least nothing has happened, and no timer runs. */
let silentFor = 0;

/** Puts the clock forward, and leaves each timer the time that it has. */
export function skip(ms: number): void {
	aheadMs += ms;
	for (const timer of waiting) timer.due += ms;
}

/** Lets time pass. */
export async function sleep(ms: number): Promise<void> {
	await new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Resolves as soon as `condition` is true, before the clock jumps again.
 * @throws if the test is over, or waits in vain
 */
export async function until(condition: () => boolean, what = String(condition)): Promise<void> {
	const { currentTestName } = expect.getState();
	const since = realNow();
	silentFor = 0;
	while (!condition()) {
		await new Promise((resolve) => realTimeout(resolve, 1));
		if (expect.getState().currentTestName !== currentTestName) throw new Error('The test is over');
		if (silentFor > MAX_SILENCE_MS || realNow() - since > MAX_WAIT_MS)
			throw new Error(`The test waits in vain until ${what}`);
	}
}

/**
 * Whenever the process has nothing to do but wait, its clock jumps to the next timer. Otherwise, the time passes as
 * usual. So a wait of ten minutes takes a moment, also on a busy machine. This holds for all that runs in the process:
 * the node, n8n's engine, the sandbox and the tests of the file.
 */
export function useVirtualTime(): void {
	const realSignal = AbortSignal.timeout.bind(AbortSignal);
	const realWait = timers.setTimeout;
	let isOver = false;
	const now = () => realNow() + aheadMs;

	function arm(timer: Timer, ms: number): void {
		realClear(timer.real);
		timer.real = realTimeout(() => {
			waiting.delete(timer);
			timer.ring();
		}, ms).unref();
	}

	function add(ms: number, ring: () => void, isAwaited = () => true): Timer {
		const timer = { due: now() + ms, ring, isAwaited };
		waiting.add(timer);
		arm(timer, ms);
		return timer;
	}

	function jump(): void {
		const awaited = [...waiting].filter(({ isAwaited }) => isAwaited());
		const next = Math.min(...awaited.map(({ due }) => due));
		if (next === Infinity) return;
		silentFor = 0;
		aheadMs += Math.max(0, next - now());
		for (const timer of waiting) if (timer.due <= next) arm(timer, 0);
	}

	async function passTime(): Promise<void> {
		let seen = 0;
		for (let quietFor = 0; !isOver; quietFor++) {
			await new Promise((resolve) => realTimeout(resolve, 1).unref());
			// Each message and each part of an answer is an event.
			const { events } = performance.nodeTiming.uvMetricsInfo;
			const isBusy = process.getActiveResourcesInfo().some((name) => SYSTEM_WORK.test(name));
			if (events !== seen || isBusy) quietFor = silentFor = 0;
			seen = events;
			silentFor++;
			if (quietFor < 2) continue;
			jump();
			quietFor = 0;
		}
	}

	beforeAll(() => {
		Date.now = () => realDate() + Math.floor(aheadMs);
		performance.now = now;
		AbortSignal.timeout = (ms) => {
			if (!Number.isInteger(ms)) throw new RangeError('Node.js takes only whole milliseconds');
			const controller = new AbortController();
			const isAwaited = () => getEventListeners(controller.signal, 'abort').length > 0;
			add(ms, controller.abort.bind(controller), isAwaited);
			return controller.signal;
		};
		timers.setTimeout = async <T>(ms = 0, value?: T) =>
			await new Promise<T>((resolve) => add(ms, resolve.bind(undefined, value as T)));
		globalThis.setTimeout = ((ring: () => void, ms = 0, ...args: []) => {
			const timer = add(ms, ring.bind(undefined, ...args));
			return Object.assign(timer, { ref: () => timer, unref: () => timer });
		}) as unknown as typeof realTimeout;
		globalThis.clearTimeout = ((timer?: Timer) => {
			realClear(timer?.real);
			if (timer) waiting.delete(timer);
		}) as typeof realClear;
		void passTime();
	});
	afterAll(() => {
		isOver = true;
		for (const timer of waiting) realClear(timer.real);
		Object.assign(globalThis, { setTimeout: realTimeout, clearTimeout: realClear });
		timers.setTimeout = realWait;
		Object.assign(Date, { now: realDate });
		Object.assign(performance, { now: realNow });
		Object.assign(AbortSignal, { timeout: realSignal });
	});
}
