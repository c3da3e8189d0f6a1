import type { Call } from './call';
import type { TimeLog } from './timeLog';
import { MARGIN_MS, MINUTE_MS } from './traffic';

/** Services usually count limits over one of these windows. */
export const USUAL_WINDOWS_MS = [1000, 10_000, MINUTE_MS];
/** The share by which a refusal reduces the rate. */
const CUT = 0.05;
/** This many windows after a cut, the rate is back at what was good. */
const WINDOWS_TO_RECOVER = 3;
/** The largest reduction of a rate at once, as a factor. */
const MAX_CUT = 0.5;
/** A refusal comes in a full window if at least this share of its calls was taken. */
const FULL_SHARE = 0.75;
/** If the rate is more than this share of the published limit, that limit is probably right on average. */
const LIKELY = 0.5;
/** A busy process needs up to this much longer for the calls of a usual window, as a factor. */
const MAX_DELAY = 1.2;
/** A longer window shows by single calls whether it has room for more. */
const LONG_WINDOW_MS = 10_000;

/** `limit` calls in any `ms` milliseconds. */
export interface Window {
	limit: number;
	ms: number;
}

/** What refusals taught: how many calls the service accepts in what time. */
export interface Rate {
	/** The window that is known to be good. */
	readonly window: Window;
	/** @param counted when the service counted each call that it did not refuse, or may have counted it */
	waitMs(counted: TimeLog, now: number): number;
	/** The rate held back calls for a while. Without demand, nothing is learned. */
	held(ms: number): void;
	/** A call was accepted. */
	accepted(call: Call, counted: TimeLog): void;
	/** A call was refused. @returns whether the window is right, because it was full */
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
		this.age += ms / this.unitMs;
	}

	accepted(): void {}

	/** Refusals within one window count as one, because the service still counts the earlier calls. */
	refused({ sentAt }: Call, counted: TimeLog, now: number): boolean {
		const { limit, ms } = this.window;
		const isFull = counted.count(sentAt - ms, sentAt) >= FULL_SHARE * limit;
		if (now - this.correctedAt < this.unitMs) return isFull;
		// The service accepted the rate of one window ago for that long.
		this.good = this.level(Math.max(0, this.age - 1));
		this.age = 0;
		this.correctedAt = now;
		return isFull;
	}

	/** The window that is known to be good, as a unit of time: the service needs as long to refuse a call. */
	private get unitMs(): number {
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
		const mayTry = now - this.refusedAt >= ms && waitMs > ms / limit / 2;
		return mayTry ? counted.waitMs(limit + extra, ms + MARGIN_MS, now) : waitMs;
	}

	held(): void {}

	accepted(call: Call, counted: TimeLog): void {
		const before = this.takenBefore(call, counted);
		if (before < this.limit) return;
		this.limit = before + 1;
		this.extra *= 2;
	}

	refused(call: Call, counted: TimeLog, now: number): boolean {
		const before = this.takenBefore(call, counted);
		this.extra = 1;
		this.refusedAt = now;
		// Otherwise the window is longer than it seemed, or somebody else used it up.
		const isFull = before >= FULL_SHARE * this.limit;
		if (isFull) this.limit = Math.max(1, Math.min(this.limit, before));
		return isFull;
	}

	/** How many calls the service had counted in the window when a call came. */
	private takenBefore({ sentAt }: Call, counted: TimeLog): number {
		return counted.count(sentAt - this.ms, sentAt);
	}
}

/**
 * The service accepts calls again.
 * @param before the window that was known before
 * @param seen how many calls it accepted until it refused one, and how many per millisecond until now
 * @param perMinute the published limit
 */
export function learn(
	before: Window | undefined,
	seen: { burst: number; rate: number },
	now: number,
	perMinute: number,
): Rate {
	const published = perMinute / MINUTE_MS;
	const averageMs = seen.burst / published;
	if (!before && averageMs < LONG_WINDOW_MS && seen.rate >= LIKELY * published) {
		const usualMs = USUAL_WINDOWS_MS.find((ms) => averageMs > ms && averageMs < MAX_DELAY * ms);
		const ms = usualMs ?? averageMs;
		return new ShortRate(Math.max(1, Math.round(ms * published)), ms, now);
	}
	// A long window is learned anew, because a refusal that it does not explain shows that it was wrong.
	const known = before && before.ms < LONG_WINDOW_MS ? before : { limit: Infinity, ms: Infinity };
	const limit = Math.min(seen.burst, known.limit);
	const least = known.limit < Infinity ? (MAX_CUT * known.limit) / known.ms : 0;
	const ms = limit / Math.min(published, Math.max(seen.rate, least));
	return ms < LONG_WINDOW_MS ? new ShortRate(limit, ms, now) : new LongRate(limit, ms);
}
