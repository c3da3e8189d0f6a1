import { backMs, boundedWaitMs } from './announced';
import { isAnswered, MARGIN_MS, MAX_UNANSWERED_MS, mayCount, MINUTE_MS } from './policy';
import type { Call, Clock, End, Policy } from './policy';
import { nextProbe } from './probes';
import { TimeLog } from './timeLog';
import type { Traffic } from './traffic';
import { Trust } from './trust';

/** Each window is kept longer by this factor, and a moment, so that other processes find room. */
const MARGIN = 1.01;
const kept = (ms: number) => ms * MARGIN + MARGIN_MS;
/** A window explains a refusal if at least this share of it was taken. */
const FULL_SHARE = 0.5;
/** This long after a refusal, or one window if that is longer, one call more is tried. */
const TRY_AFTER_MS = 5000;
/** If so many calls in a row are accepted that were sent after a refused one, the window was not full. */
const NOT_FULL = 3;
/** After a longer gap without calls, the account counts as idle. */
const MIN_IDLE_MS = 1000;

interface Pause {
	since: number;
	until: number;
	/** The call that was refused. */
	refused: Call;
	/** If so many more in a row are accepted that were sent after it, the window was not full. */
	needed: number;
	/** Whether the window was full. */
	isExplained: boolean;
	/** Whether calls failed meanwhile, so that its length says nothing of the window. */
	hasFailed?: boolean;
}

/**
 * Learns from refusals how many calls the service accepts in what time, and keeps to that.
 *
 * For example, a service accepts 100 calls in any second. 100 calls go out, and the 101st is refused: `pause` begins,
 * and single calls probe. A second after the first call, a probe is accepted: `window` is 100 calls in 1,000 ms. From
 * now on, the window explains a refusal, which only lowers its limit. After five seconds without one, a call more is
 * tried, and raises the limit if it is accepted.
 */
export class Learned implements Policy {
	/** What refusals taught: `limit` calls in any `ms` milliseconds; undefined before. */
	private window: { limit: number; ms: number } | undefined;
	/** The service refuses calls since then. Nothing goes out before `until`. After that, single calls probe. */
	private pause: Pause | undefined;
	/** When each call was sent that the service did not refuse. */
	private readonly counted = new TimeLog();
	/** Since when the service has accepted calls. After a refusal: since when it had accepted calls until then. */
	private acceptingSince = 0;
	/** When a refusal last showed that the limit is reached. */
	private refusedAt = -Infinity;
	/** Refusals of calls that were sent before this time are already corrected for. */
	private correctedAt = -Infinity;
	/** When the last probe might have been sent. It may be sent later, for want of calls, which says nothing. */
	private probeAt = 0;
	/** Whether the window has held back the next call. */
	private isHeld = false;
	/** Single refusals may be for another reason than the rate, such as one of several servers that is busy. */
	private readonly trust = new Trust();

	constructor(
		private readonly traffic: Traffic,
		private readonly clock: Clock,
		/** Returns the published limit; `Infinity` if there is none. */
		private readonly published: () => number,
	) {}

	/** Requests per minute; `Infinity` before the first refusal. */
	get perMinute(): number {
		return this.window ? (this.window.limit / this.window.ms) * MINUTE_MS : Infinity;
	}

	waitMs(now: number): number {
		const windowMs = this.windowMs(now);
		if (windowMs > 0) this.isHeld = true;
		return Math.max(windowMs, this.pauseMs(now));
	}

	sent(call: Call): void {
		const now = call.sentAt;
		const isOnlyCall = this.traffic.recent(now, MIN_IDLE_MS) === 1;
		if (isOnlyCall && !this.isHeld && !this.pause) this.acceptingSince = now;
		if (this.pause) this.probeAt = this.isHeld ? now : now + this.pauseMs(now);
		this.isHeld = false;
		this.counted.forgetBefore(now - MAX_UNANSWERED_MS - MINUTE_MS);
		this.counted.add(now);
		// The next call waits as if this one was refused.
		if (this.pause) this.pause.until = this.nextProbe(this.pause.since, now);
	}

	ended(call: Call, end: End, now: number): void {
		if (!mayCount(end)) this.counted.remove(call.sentAt);
		if (end.outcome === 'rateLimited') this.refused(call, end, now);
		else if (this.pause && !isAnswered(end) && end.outcome !== 'cancelled')
			this.pause.hasFailed = true;
	}

	passed(call: Call, now: number): void {
		const { pause, window } = this;
		this.trust.passed();
		if (!pause) {
			if (window) window.limit = Math.max(window.limit, this.takenBefore(call) + 1);
		} else if (call.sentAt >= pause.since) {
			const taken = this.counted.count(this.oldest(pause.since), pause.since);
			const ms = Math.min(call.sentAt, this.probeAt) - this.began(pause.since);
			if (taken > 0 && !pause.isExplained && !pause.hasFailed) this.learn(taken, ms);
			this.acceptingSince = call.sentAt;
			this.resume(now);
		} else if (!pause.isExplained && call.before > pause.refused.before) {
			if (--pause.needed !== 0) return;
			this.trust.restore();
			this.resume(now);
		}
	}

	private resume(now: number): void {
		this.pause = undefined;
		this.correctedAt = now;
	}

	/** How long the window lasts. Now and then, one call more is tried, but not before a burst, which it would disturb. */
	private windowMs(now: number): number {
		if (!this.window) return 0;
		const { limit, ms } = this.window;
		const waitMs = this.counted.waitMs(limit, kept(ms), now);
		const gapMs = ms / limit;
		const mayTry =
			now - this.refusedAt >= Math.max(TRY_AFTER_MS, ms) &&
			waitMs > gapMs / 2 &&
			gapMs > MINUTE_MS / this.published();
		return mayTry ? this.counted.waitMs(limit + 1, kept(ms), now) : waitMs;
	}

	/**
	 * How long the pause lasts. If the published limit holds on average, the service accepts no call earlier than that.
	 */
	private pauseMs(now: number): number {
		if (!this.pause) return 0;
		const began = this.began(this.pause.since);
		const expectedMs = this.counted.count(began) * (MINUTE_MS / this.published());
		return Math.max(this.pause.until, began + expectedMs) - now;
	}

	/** So many calls were accepted, then one was refused, and after `ms` one was accepted again. */
	private learn(taken: number, ms: number): void {
		const averageMs = (taken / this.published()) * MINUTE_MS;
		const isAverage = averageMs < 10_000 && ms > averageMs / 2 && ms < averageMs * 2;
		// An outage may have lasted for longer than a minute.
		const windowMs = isAverage ? averageMs : Math.min(Math.max(1, ms), MINUTE_MS);
		this.window = { limit: taken, ms: windowMs };
	}

	private refused(call: Call, { rateInfo }: End, now: number): void {
		if (this.pause) this.pause.needed = NOT_FULL;
		const isNew = call.sentAt >= this.correctedAt;
		const namedMs = backMs(rateInfo);
		if (isNew && !this.pause) {
			const isExplained = this.isExplained(call);
			if (!isExplained && this.trust.failed()) return;
			this.refusedAt = now;
			if (!isExplained || namedMs > 0) {
				const until = isExplained ? now : this.nextProbe(now, now);
				const sentAfter = this.traffic.total - call.before - 1;
				const needed = Math.min(NOT_FULL, sentAfter);
				this.pause = { since: now, until, refused: call, needed, isExplained };
			}
		}
		if (isNew) this.correctedAt = now;
		if (!this.pause || namedMs === 0) return;
		const backAt = now + boundedWaitMs(namedMs, call) + 100 * this.clock.random();
		this.pause.until = Math.max(this.pause.until, backAt);
	}

	/** Whether the window was full, and so explains a refusal. Then its limit is no higher than what was taken. */
	private isExplained(refused: Call): boolean {
		const { window } = this;
		const taken = this.takenBefore(refused);
		if (!window || taken < FULL_SHARE * window.limit) return false;
		window.limit = Math.min(window.limit, taken);
		return true;
	}

	private nextProbe(since: number, now: number): number {
		const leastMs = MINUTE_MS / this.published();
		const random = this.clock.random();
		return nextProbe(now, { since, began: this.began(since), leastMs, random });
	}

	/**
	 * When the service counted the first of the calls that it accepted before it refused one. Windows count from there.
	 */
	private began(pausedAt: number): number {
		const oldest = this.oldest(pausedAt);
		// This process may have been stalled after the call had its turn.
		const byAnswer = this.traffic.counted.firstFrom(oldest) - this.traffic.leastMs;
		return Math.min(Math.max(this.counted.firstFrom(oldest), byAnswer), pausedAt);
	}

	/** Calls that were sent earlier than this are not the reason for a pause. */
	private oldest(pausedAt: number): number {
		return Math.max(this.acceptingSince, pausedAt - MINUTE_MS);
	}

	/** How many calls were sent within the window before a call, and not refused. */
	private takenBefore({ sentAt }: Call): number {
		return this.counted.count(sentAt - kept(this.window?.ms ?? 0), sentAt);
	}
}
