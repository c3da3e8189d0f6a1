import { MARGIN_MS, MINUTE_MS } from './clock';
import type { Call } from './policy';
import type { TimeLog } from './timeLog';

/** Services usually count limits over one of these windows. */
export const USUAL_WINDOWS_MS = [1000, 10_000, MINUTE_MS];
/** A longer window shows by single calls whether it has room for more. */
const LONG_WINDOW_MS = 10_000;
/** A refusal came in a full window if at least this share of its calls was taken. Otherwise the window is wrong. */
const FULL_SHARE = 0.9;
/** The share by which a refusal reduces the rate of a short window. */
const CUT = 0.05;
/** This many windows after a cut, the rate is back at what was good. */
const WINDOWS_TO_RECOVER = 3;
/** The largest reduction of a rate after a pause, as a factor. */
const MAX_CUT = 0.5;
/** If the rate is more than this share of the published limit, that limit is probably right on average. */
const LIKELY_SHARE = 0.5;
/** A busy process needs up to this much longer for the calls of a usual window, as a factor. */
const MAX_DELAY = 1.2;

/** `limit` calls in any `ms` milliseconds. */
export interface Window {
	limit: number;
	ms: number;
}

/**
 * What refusals taught: how many calls the service accepts in what time. The log `counted` says when the service
 * counted each call that it did not refuse, or may have counted it.
 */
export interface Rate {
	/** The window that is known to be good. */
	readonly window: Window;
	waitMs(counted: TimeLog, now: number): number;
	/** The rate held back calls for a while. Without demand, nothing is learned. */
	held?(ms: number): void;
	accepted?(call: Call, counted: TimeLog): void;
	/** @returns whether the window is right, because it was full */
	refused(call: Call, counted: TimeLog, now: number): boolean;
}

/**
 * A rate over a short window, by CUBIC congestion control (RFC 9438): a little less after a refusal, then slowly back to
 * what was good, then faster and faster beyond it, to find out whether much more is possible now.
 */
class ShortRate implements Rate {
	/** Calls per millisecond that were good when the service last refused a call. */
	private good: number;
	/** How long the rate has held back calls since then, in windows. */
	private age = WINDOWS_TO_RECOVER;

	/** @param burst calls that the service accepts at once */
	constructor(
		private readonly burst: number,
		ms: number,
		private correctedAt: number,
	) {
		this.good = burst / ms;
	}

	get window(): Window {
		return { limit: this.burst, ms: this.burst / this.level(this.age) };
	}

	waitMs(counted: TimeLog, now: number): number {
		const { limit, ms } = this.window;
		return counted.waitMs(limit, ms + MARGIN_MS, now);
	}

	held(ms: number): void {
		this.age += ms / this.goodMs;
	}

	/** Refusals within one window count as one, because the service still counts the earlier calls. */
	refused(call: Call, counted: TimeLog, now: number): boolean {
		const isFull = takenBefore(call, this.window.ms, counted) >= FULL_SHARE * this.burst;
		if (now - this.correctedAt >= this.goodMs) {
			// The service accepted the rate of one window ago for that long.
			this.good = this.level(Math.max(0, this.age - 1));
			this.age = 0;
			this.correctedAt = now;
		}
		return isFull;
	}

	/** The length of the window at the rate that was good. */
	private get goodMs(): number {
		return this.burst / this.good;
	}

	/** Calls per millisecond. */
	private level(age: number): number {
		return this.good * (1 + CUT * (age / WINDOWS_TO_RECOVER - 1) ** 3);
	}
}

/**
 * The number of calls in a long window. Once in each window, one call more is tried. If it is accepted, twice as many are
 * tried, and so on, as in the slow start of TCP. So the number follows what other users of the account leave.
 */
class LongRate implements Rate {
	/** How many calls more are tried. */
	private extra = 1;
	private refusedAt = -Infinity;

	constructor(
		private limit: number,
		private readonly ms: number,
	) {}

	get window(): Window {
		return { limit: this.limit, ms: this.ms };
	}

	waitMs(counted: TimeLog, now: number): number {
		const { limit, ms, extra } = this;
		const waitMs = counted.waitMs(limit, ms + MARGIN_MS, now);
		// Not before a burst: the try would put each of its calls ahead of its time.
		const mayTry = now - this.refusedAt >= ms && waitMs > ms / limit / 2;
		return mayTry ? counted.waitMs(limit + extra, ms + MARGIN_MS, now) : waitMs;
	}

	accepted(call: Call, counted: TimeLog): void {
		const taken = takenBefore(call, this.ms, counted);
		if (taken < this.limit) return;
		this.limit = taken + 1;
		this.extra *= 2;
	}

	refused(call: Call, counted: TimeLog, now: number): boolean {
		const taken = takenBefore(call, this.ms, counted);
		const isFull = taken >= FULL_SHARE * this.limit;
		if (isFull) this.limit = Math.max(1, Math.min(this.limit, taken));
		this.extra = 1;
		this.refusedAt = now;
		return isFull;
	}
}

/** How many calls the service had counted in the last `ms` milliseconds when a call came. */
function takenBefore({ sentAt }: Call, ms: number, counted: TimeLog): number {
	return counted.count(sentAt - ms, sentAt);
}

/**
 * The service accepts calls again.
 * @param before the window that was known before
 * @param taken how many calls it accepted until it refused one
 * @param ms how long it took until it accepted the next one
 * @param perMinute the published limit
 */
export function learn(
	before: Window | undefined,
	taken: number,
	ms: number,
	perMinute: number,
	now: number,
): Rate {
	const published = perMinute / MINUTE_MS;
	const averageMs = taken / published;
	if (!before && averageMs < LONG_WINDOW_MS && LIKELY_SHARE * ms <= averageMs) {
		const isDelayed = (usual: number) => averageMs > usual && averageMs < MAX_DELAY * usual;
		const likelyMs = USUAL_WINDOWS_MS.find(isDelayed) ?? averageMs;
		return new ShortRate(Math.round(likelyMs * published), likelyMs, now);
	}
	let limit = taken;
	let rate = taken / ms;
	// A long window is learned anew.
	if (before && before.ms < LONG_WINDOW_MS) {
		limit = Math.min(taken, before.limit);
		rate = Math.max(rate, (MAX_CUT * before.limit) / before.ms);
	}
	const windowMs = limit / Math.min(rate, published);
	return windowMs < LONG_WINDOW_MS
		? new ShortRate(limit, windowMs, now)
		: new LongRate(limit, windowMs);
}
