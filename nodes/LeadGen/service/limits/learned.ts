import { GIVE_UP_MS, MARGIN_MS, MINUTE_MS, type Clock } from './clock';
import { isAccepted, type Call, type End, type Policy } from './policy';
import { Presumption } from './presumption';
import { nextProbe } from './probe';
import { learn, type Rate } from './rate';
import { backMs, worthwhileMs } from './rateHeaders';
import { TimeLog } from './timeLog';
import type { Traffic } from './traffic';

/** After a longer gap without calls, the account counts as idle. */
const MIN_IDLE_MS = 1000;
/** The service counts a call at most this much later than it was sent. */
const MAX_LATE_MS = 50;

/**
 * Learns from refusals how many calls the service accepts in what time, and keeps to that. While the service refuses
 * calls, it pauses, and single calls probe.
 */
export class Learned implements Policy {
	/** When the service counted each call that it did not refuse, as far as this is known. */
	private readonly counted = new TimeLog();
	private readonly presumption = new Presumption();
	private rate: Rate | undefined;
	/** The time in which the rate has held back the next call. */
	private held: { since: number; until: number } | undefined;
	/** The service refuses calls since then. Nothing goes out before `until`. After that, single calls probe. */
	private pause: { since: number; until: number } | undefined;
	/** Whether the last refusal came in a full window, so that the rate is right. */
	private wasFull = false;
	/** Since when the service has accepted calls. After a refusal: since when it had accepted calls until then. */
	private acceptingSince = 0;
	/** When the service last accepted a call. */
	private acceptedAt = -Infinity;
	/** Refusals of calls that were sent before this time are already corrected for. */
	private correctedAt = -Infinity;

	constructor(
		private readonly traffic: Traffic,
		private readonly clock: Clock,
	) {}

	/** Requests per minute; `Infinity` before the first refusal. */
	get perMinute(): number {
		const window = this.rate?.window;
		return window ? (window.limit / window.ms) * MINUTE_MS : Infinity;
	}

	waitMs(now: number): number {
		for (const call of this.presumption.acceptedBy(now)) this.accepted(call, now);
		const rateMs = this.rate?.waitMs(this.counted, now) ?? 0;
		if (rateMs > 0) this.held = { since: this.held?.since ?? now, until: now + rateMs };
		return Math.max(rateMs, this.pauseMs(now));
	}

	sent(call: Call): void {
		const now = call.sentAt;
		const { held } = this;
		const isIdle = this.traffic.recent(now, MIN_IDLE_MS) === 0;
		if (isIdle && !held && !this.pause) this.acceptingSince = now;
		if (held) this.rate?.held?.(Math.min(now, held.until) - held.since);
		this.held = undefined;
		this.counted.forgetBefore(now - GIVE_UP_MS - MINUTE_MS);
		this.counted.add(now);
		this.presumption.sent(call);
		// The next call waits as if this one was refused.
		if (this.pause) this.pause.until = this.nextProbe(this.pause.since, now);
	}

	ended(call: Call, end: End, now: number): void {
		const { outcome } = end;
		const isUndecided = this.presumption.ended(call);
		if (outcome === 'rateLimited' || outcome === 'notSent') this.counted.remove(call.sentAt);
		else this.counted.move(call.sentAt, this.countedAt(call, now));
		if (outcome === 'notSent' || this.traffic.isOfPolls(call, outcome)) {
			// Another call may probe instead.
			if (this.pause) this.pause.until = now;
		} else if (outcome === 'rateLimited') {
			this.presumption.refused(call, now);
			this.refused(call, end, now);
		} else if (isAccepted(end)) {
			this.acceptedAt = now;
			if (isUndecided) this.accepted(call, now);
		}
	}

	/**
	 * The service accepted a call. If it refused others, that has ended, and shows how many calls it accepts in what
	 * time.
	 */
	private accepted(call: Call, now: number): void {
		this.acceptedAt = now;
		const { pause, rate, counted } = this;
		if (!pause) rate?.accepted?.(call, counted);
		if (!pause || call.sentAt < pause.since) return;
		const taken = counted.count(this.oldest(pause.since), pause.since);
		if (!this.wasFull && taken > 0) {
			const ms = Math.max(1, call.sentAt - this.began(pause.since));
			this.rate = learn(rate?.window, taken, ms, this.traffic.perMinute, now);
		}
		this.acceptingSince = call.sentAt;
		this.correctedAt = now;
		this.pause = undefined;
	}

	/** Slows down if a rate is known that was tried to exceed. Otherwise no calls go out for a while. */
	private refused(call: Call, { rateInfo }: End, now: number): void {
		const isNew = call.sentAt >= this.correctedAt;
		// The service refused a call after the last correction and has accepted none since, so it accepts no calls now.
		const isClosed = isNew && this.correctedAt > this.acceptedAt;
		const namedMs = backMs(rateInfo);
		if (!this.pause) {
			this.wasFull = this.rate?.refused(call, this.counted, now) ?? false;
			if (namedMs > 0 || !this.rate || isClosed) {
				this.pause = { since: now, until: this.nextProbe(now, now) };
			}
		}
		if (this.pause && namedMs > 0) {
			const until = now + worthwhileMs(namedMs, call.isPoll) + 100 * this.clock.random();
			this.pause.until = Math.max(this.pause.until, until);
		}
		if (isNew) this.correctedAt = now;
	}

	/** How long the pause lasts. If the published limit holds on average, the service accepts no call earlier than that. */
	private pauseMs(now: number): number {
		if (!this.pause) return 0;
		const { since, until } = this.pause;
		const began = this.began(since);
		const expectedMs = (this.counted.count(began) / this.traffic.perMinute) * MINUTE_MS;
		return Math.max(until, began + expectedMs + MARGIN_MS) - now;
	}

	private nextProbe(since: number, now: number): number {
		return nextProbe(since, this.began(since), now, this.clock.random());
	}

	/** When the service counted the first of the calls that it accepted before it refused one. Windows count from there. */
	private began(pausedAt: number): number {
		const oldest = this.oldest(pausedAt);
		const byAnswer = this.traffic.over.firstFrom(oldest) - this.traffic.latencies.leastMs;
		return Math.min(Math.max(this.counted.firstFrom(oldest), byAnswer), pausedAt);
	}

	/** Calls that were sent earlier than this are not the reason for a pause. */
	private oldest(pausedAt: number): number {
		return Math.max(this.acceptingSince, pausedAt - MINUTE_MS);
	}

	/**
	 * The latest time at which the service counted a call that has ended. This process may have been busy for a while
	 * after the call had its turn, but the service then took at least as long as for its fastest answer.
	 */
	private countedAt({ sentAt }: Call, now: number): number {
		const lateMs = now - sentAt - this.traffic.latencies.leastMs;
		return sentAt + Math.max(0, Math.min(lateMs, MAX_LATE_MS));
	}
}
