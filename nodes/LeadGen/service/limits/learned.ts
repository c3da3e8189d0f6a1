import { isAnswered, MARGIN_MS, MAX_UNANSWERED_MS, mayCount, MINUTE_MS } from './policy';
import type { Call, Clock, End, Policy } from './policy';
import { TimeLog } from './timeLog';
import { backMs, boundedWaitMs } from './announced';
import type { Traffic } from './traffic';
import { Undecided } from './undecided';

/** Services usually count limits over one of these windows. */
const USUAL_WINDOWS_MS = [1000, 10_000, MINUTE_MS];
/** A stalled process measures a window up to this much longer than it is, as a factor. */
const MAX_DELAY = 1.25;
/** Each window is kept longer by this factor, and a moment, so that other processes find room. */
const MARGIN = 1.01;
const kept = (ms: number) => ms * MARGIN + MARGIN_MS;
/** A window explains a refusal if at least this share of it was taken. */
const FULL_SHARE = 0.5;
/** This long after a refusal, or one window if that is longer, one call more is tried. */
const TRY_AFTER_MS = 5000;
/** After a longer gap without calls, the account counts as idle. */
const MIN_IDLE_MS = 1000;
/** So many calls that were sent after a refused one, and accepted in a row, show that no limit was reached. */
const ACQUITTING = 3;
/** If so, further refusals are for another reason, too, until so many come in a row. */
const TOLERATED = 3;
/** The pauses between probes: the first, the share of the time so far of the next ones, and from the second phase on. */
const [FIRST_PAUSE_MS, PAUSE_SHARE, LATER_PAUSE_MS] = [100, 2 / 3, 1000];
/** A little more than a minute, so that probes come in every part of the window of others. */
const PHASE_MS = 1.1 * MINUTE_MS;

/**
 * Learns from refusals how many calls the service accepts in what time, and keeps to that.
 *
 * For example, a service accepts 100 calls in any second. 100 calls go out, and the 101st is refused: `pause` begins, and
 * single calls probe. A second after the first call, a probe is accepted: `window` is 100 calls in 1,000 ms. From now on,
 * the window explains a refusal, which only lowers its limit. After five seconds without one, `extra` calls more are
 * tried, and raise the limit if they are accepted. If calls that were sent soon after the refused one had been accepted,
 * the refusal would not have been for the rate, and nothing learned (`doubt`).
 */
export class Learned implements Policy {
	/** When each call was sent that the service did not refuse. */
	private readonly counted = new TimeLog();
	/** Calls in flight that may still be refused. */
	private readonly undecided = new Undecided();
	/** What refusals taught: `limit` calls in any `ms` milliseconds; undefined before. */
	private window: { limit: number; ms: number } | undefined;
	/** Until when the window holds back the next call, if it does. */
	private heldUntil = -Infinity;
	/** How many calls more are tried. */
	private extra = 1;
	/** When a refusal last showed that the limit is reached. */
	private refusedAt = -Infinity;
	/** How long the slowest refusal took. */
	private refusalMs = 0;
	/** The service refuses calls since then. Nothing goes out before `until`. After that, single calls probe. */
	pause: { since: number; until: number; isExplained: boolean } | undefined;
	/** If calls that were sent after `sentAt` are accepted, that many in a row, no limit was reached. */
	private doubt: { sentAt: number; accepted: number; needed: number } | undefined;
	/** How many refusals in a row are taken for one that is not for the rate, because the last ones were not. */
	private tolerance = 0;
	/** How many of them are left. */
	private tolerated = 0;
	/** When the last probe might have been sent. It may be sent later, for want of calls, which says nothing. */
	private probeAt = 0;
	/** Since when the service has accepted calls. After a refusal: since when it had accepted calls until then. */
	private acceptingSince = 0;
	/** When the last call was accepted. */
	private acceptedAt = -Infinity;
	/** Refusals of calls that were sent before this time are already corrected for. */
	private correctedAt = -Infinity;

	constructor(
		private readonly traffic: Traffic,
		private readonly clock: Clock,
	) {}

	/** Requests per minute; `Infinity` before the first refusal. */
	get perMinute(): number {
		return this.window ? (this.window.limit / this.window.ms) * MINUTE_MS : Infinity;
	}

	waitMs(now: number): number {
		for (const call of this.undecided.takePassed(now, this.refusalMs)) this.accepted(call, now);
		const windowMs = this.windowMs(now);
		if (windowMs > 0) this.heldUntil = now + windowMs;
		return Math.max(windowMs, this.pauseMs(now));
	}

	sent(call: Call): void {
		const now = call.sentAt;
		const isOnlyCall = this.traffic.recent(now, MIN_IDLE_MS) === 1;
		if (isOnlyCall && this.heldUntil === -Infinity && !this.pause) this.acceptingSince = now;
		this.counted.forgetBefore(now - MAX_UNANSWERED_MS - MINUTE_MS);
		this.counted.add(now);
		this.undecided.add(call);
		if (this.pause) {
			this.probeAt = Math.max(this.heldUntil, now + this.pauseMs(now));
			// The next call waits as if this one was refused.
			this.pause.until = this.nextProbe(this.pause.since, now);
		}
		this.heldUntil = -Infinity;
	}

	ended(call: Call, end: End, now: number): void {
		const isUndecided = this.undecided.remove(call);
		if (!mayCount(end)) this.counted.remove(call.sentAt);
		if (end.outcome === 'rateLimited') this.refused(call, end, now);
		if (isUndecided && isAnswered(end)) this.accepted(call, now);
	}

	/** How long the window lasts. Now and then, more calls are tried, but not before a burst, which they would disturb. */
	private windowMs(now: number): number {
		if (!this.window) return 0;
		const { limit, ms } = this.window;
		const waitMs = this.counted.waitMs(limit, kept(ms), now);
		const gapMs = ms / limit;
		const mayTry =
			now - this.refusedAt >= Math.max(TRY_AFTER_MS, ms) &&
			waitMs > gapMs / 2 &&
			gapMs > MINUTE_MS / this.traffic.perMinute;
		return mayTry ? this.counted.waitMs(limit + this.extra, kept(ms), now) : waitMs;
	}

	/** How long the pause lasts. If the published limit holds on average, the service accepts no call earlier than that. */
	private pauseMs(now: number): number {
		if (!this.pause) return 0;
		const began = this.began(this.pause.since);
		const expectedMs = this.counted.count(began) * (MINUTE_MS / this.traffic.perMinute);
		return Math.max(this.pause.until, began + expectedMs) - now;
	}

	private accepted(call: Call, now: number): void {
		this.acceptedAt = now;
		this.tolerated = this.tolerance;
		if (this.isAcquitted(call)) return;
		const { pause, window } = this;
		const tried = this.takenBefore(call) + 1;
		if (!pause && window && tried > window.limit) {
			window.limit = tried;
			// Then twice as many are tried, as in the slow start of TCP, but no more than the limit again.
			this.extra = Math.min(2 * this.extra, window.limit);
		}
		if (!pause || call.sentAt < pause.since) return;
		const taken = this.counted.count(this.oldest(pause.since), pause.since);
		const foundAt = Math.min(call.sentAt, this.probeAt);
		this.tolerance = 0;
		this.tolerated = 0;
		if (!pause.isExplained && taken > 0) this.learn(taken, foundAt - this.began(pause.since));
		this.acceptingSince = call.sentAt;
		this.correctedAt = now;
		this.pause = undefined;
	}

	/** Goes on if the call shows that the refusals since the pause began were not for the rate. */
	private isAcquitted({ sentAt }: Call): boolean {
		const { doubt, pause } = this;
		if (!doubt || !pause || sentAt <= doubt.sentAt || sentAt >= pause.since) return false;
		if (++doubt.accepted < doubt.needed) return false;
		this.pause = undefined;
		this.correctedAt = sentAt;
		this.tolerance = TOLERATED;
		this.tolerated = TOLERATED;
		return true;
	}

	/** @param taken how many calls the service accepted until it refused one, and accepted the next one after `ms` */
	private learn(taken: number, ms: number): void {
		const averageMs = (taken / this.traffic.perMinute) * MINUTE_MS;
		const isAverage = averageMs < 10_000 && ms > averageMs / 2 && ms < averageMs * 2;
		const usualMs = USUAL_WINDOWS_MS.find((usual) => ms > usual && ms <= MAX_DELAY * usual);
		// An outage may have lasted for longer.
		const measuredMs = isAverage ? averageMs : (usualMs ?? Math.min(ms, MINUTE_MS));
		// At least half of the rate before.
		const mostMs = (2 * taken * MINUTE_MS) / this.perMinute || Infinity;
		this.window = { limit: taken, ms: Math.max(1, Math.min(measuredMs, mostMs)) };
	}

	/** A full window explains a refusal, if a call was accepted since the last one. Otherwise, calls pause. */
	private refused(call: Call, { rateInfo }: End, now: number): void {
		this.refusalMs = Math.max(this.refusalMs, now - call.sentAt);
		const isNew = call.sentAt >= this.correctedAt;
		const namedMs = backMs(rateInfo);
		if (this.doubt) this.doubt.accepted = 0;
		if (!this.pause && isNew && this.tolerated > 0) {
			this.tolerated--;
			return;
		}
		if (!this.pause && isNew) {
			const { window } = this;
			this.refusedAt = now;
			this.extra = 1;
			const taken = this.takenBefore(call);
			const isFull = window !== undefined && taken >= FULL_SHARE * window.limit;
			if (isFull) window.limit = Math.min(window.limit, taken);
			// What follows soon after another refusal has the same reason.
			const isSoon = window !== undefined && now - this.correctedAt < window.ms / 2;
			const isExplained = isFull && (isSoon || this.acceptedAt >= this.correctedAt);
			const until = this.nextProbe(now, now);
			if (!isExplained || namedMs > 0) this.pause = { since: now, until, isExplained };
			const after = this.undecided.countAfter(call.sentAt);
			const needed = Math.min(ACQUITTING, after);
			this.doubt =
				after > 0 && !isExplained ? { sentAt: call.sentAt, accepted: 0, needed } : undefined;
		}
		if (isNew) this.correctedAt = now;
		if (!this.pause || namedMs === 0) return;
		// A long time may be in milliseconds by mistake.
		if (namedMs > MINUTE_MS && now - this.pause.since < MINUTE_MS) return;
		const backAt = now + boundedWaitMs(namedMs, call) + 100 * this.clock.random();
		this.pause.until = Math.max(this.pause.until, backAt);
	}

	/**
	 * When to probe: at growing intervals, no faster than the published limit allows, and when a usual window ends. From
	 * the second phase on, others may use up the limit, so that there is room only for moments. Each probe may begin a ban
	 * anew, so every other phase passes without.
	 */
	private nextProbe(since: number, now: number): number {
		const random = this.clock.random();
		const refusedMs = now - since;
		const phase = Math.floor(refusedMs / PHASE_MS);
		// Once three phases pass: for longer bans, and so that no other process renews the ban meanwhile.
		if (phase % 2 === 1) return now + PHASE_MS * ((phase === 5 ? 3 : 1) + 0.02 + random / 20);
		const gapMs = Math.max(FIRST_PAUSE_MS, MINUTE_MS / this.traffic.perMinute);
		const pauseMs = phase > 0 ? LATER_PAUSE_MS : Math.max(gapMs, PAUSE_SHARE * refusedMs);
		const ends = USUAL_WINDOWS_MS.flatMap((ms) => [ms, 1.15 * ms])
			.map((ms) => this.began(since) + ms * (1 + 0.002 * random) + MARGIN_MS)
			.filter((at) => at > now);
		return Math.min(now + pauseMs * (0.75 + random / 2), ...ends);
	}

	/** When the service counted the first of the calls that it accepted before it refused one. Windows count from there. */
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
