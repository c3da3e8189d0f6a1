import { isAccepted, type Call, type End } from './call';
import type { Clock } from './clock';
import { pauseOn, tryOnce, type Pause } from './pause';
import type { Policy } from './policy';
import { Presumption } from './presumption';
import { learn, type Rate } from './rate';
import { namedMs, type RateInfo } from './rateHeaders';
import { TimeLog } from './timeLog';
import { GIVE_UP_MS, MARGIN_MS, MINUTE_MS } from './times';
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
	private pause: Pause | undefined;
	/** Whether the last refusal came in a full window, so that the rate is right. */
	private wasFull = false;
	/** Since when the service has accepted calls. After a refusal: since when it had accepted calls until then. */
	private acceptingSince = 0;
	/** When the service last accepted a call. */
	private acceptedAt = -Infinity;
	/** Refusals of calls that were sent before this time are already corrected for. */
	private correctedAt = -Infinity;
	/** The time in which the rate has held back the next call. */
	private held: { since: number; until: number } | undefined;

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
		const { pause } = this;
		const rateMs = this.rate?.waitMs(this.counted, now) ?? 0;
		if (rateMs > 0) this.held = { since: this.held?.since ?? now, until: now + rateMs };
		return Math.max(rateMs, pause ? this.pauseEnd(pause) - now : 0);
	}

	sent(call: Call): void {
		const { held, traffic } = this;
		const now = call.sentAt;
		if (!held && !this.pause && traffic.idleMs(now) > MIN_IDLE_MS) {
			this.acceptingSince = now;
		}
		this.forget(now);
		if (held) this.rate?.held?.(Math.min(now, held.until) - held.since);
		this.held = undefined;
		this.counted.add(now);
		this.presumption.sent(call);
		if (this.pause) this.pause = tryOnce(this.pause, this.began, this.clock.random(), now);
	}

	ended(call: Call, end: End, now: number): void {
		const { outcome, rateInfo } = end;
		const isUndecided = this.presumption.ended(call);
		if (outcome === 'rateLimited' || outcome === 'notSent') this.counted.remove(call.sentAt);
		else this.counted.move(call.sentAt, this.countedAt(call, now));
		if (outcome === 'notSent' || this.traffic.isOfPolls(call, outcome)) {
			// Another call may probe instead.
			if (this.pause) this.pause.until = now;
		} else if (outcome === 'rateLimited') {
			this.presumption.refused(call, now);
			this.refused(call, rateInfo, now);
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
		const { pause, traffic, rate } = this;
		if (!pause) rate?.accepted?.(call, this.counted);
		if (!pause || call.sentAt < pause.since) return;
		if (!rate || !this.wasFull) {
			const began = Math.max(this.acceptingSince, pause.since - MINUTE_MS);
			const taken = Math.max(1, this.counted.count(began, pause.since));
			const ms = Math.max(1, call.sentAt - this.firstCounted(began));
			this.rate = learn(rate?.window, taken, ms, traffic.perMinute, now);
		}
		this.acceptingSince = call.sentAt;
		this.correctedAt = now;
		this.pause = undefined;
	}

	/** Slows down if a rate is known that was tried to exceed. Otherwise no calls go out for a while. */
	private refused(call: Call, rateInfo: RateInfo | undefined, now: number): void {
		const { rate, counted } = this;
		if (!this.pause) this.wasFull = rate?.refused(call, counted, now) ?? false;
		if (this.pause || namedMs(rateInfo) !== undefined || !rate) {
			this.pause = pauseOn(this.pause, rateInfo, this.began, this.clock.random(), now);
			return;
		}
		if (call.sentAt < this.correctedAt) return;
		// The service refused a call after the last correction and has accepted none since, so it accepts no calls now.
		if (this.correctedAt > this.acceptedAt) {
			this.pause = pauseOn(undefined, rateInfo, this.began, this.clock.random(), now);
		}
		this.correctedAt = now;
	}

	/** If the published limit holds on average, the service accepts no call earlier than that. */
	private pauseEnd(pause: Pause): number {
		const { began } = this;
		const expectedMs = (this.counted.count(began) / this.traffic.perMinute) * MINUTE_MS;
		return Math.max(pause.until, began + expectedMs + MARGIN_MS);
	}

	/** When the service counted the first of the calls that it accepted before it refused one. */
	private get began(): number {
		return Math.min(this.firstCounted(this.acceptingSince), this.pause?.since ?? Infinity);
	}

	/**
	 * The latest time at which the service counted a call that has ended. This process may have been busy for a while
	 * after the call had its turn, but the service then took at least as long as for its fastest answer.
	 */
	private countedAt({ sentAt, path }: Call, now: number): number {
		const lateMs = now - sentAt - this.traffic.latencies.leastMs(path);
		return sentAt + Math.max(0, Math.min(lateMs, MAX_LATE_MS));
	}

	/** The latest time at which the service counted the first call from `begin` on. */
	private firstCounted(begin: number): number {
		const byAnswer = this.traffic.over.firstFrom(begin) - this.traffic.latencies.leastMs();
		return Math.max(this.counted.firstFrom(begin), byAnswer);
	}

	/** Forgets calls that are older than a minute, than two windows, and than the calls that a refusal may concern. */
	private forget(now: number): void {
		const windowsMs = Math.max(MINUTE_MS, 2 * (this.rate?.window.ms ?? 0));
		const oldest = Math.min(this.acceptingSince, now - windowsMs) - MARGIN_MS;
		this.counted.forgetBefore(Math.max(oldest, now - GIVE_UP_MS));
	}
}
