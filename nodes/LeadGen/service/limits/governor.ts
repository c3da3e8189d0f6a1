import type { Call, End } from './call';
import type { Clock } from './clock';
import * as concurrency from './concurrency';
import * as rate from './learned';
import { isNamed, pauseOn, tryOnce, worthwhileMs, type Outlook, type Pause } from './pause';
import { pollWaitMs, SeparateLimit } from './polls';
import { Presumption } from './presumption';
import { MINUTE_MS, publishedWaitMs } from './published';
import { countDown, quotaWaitMs, readQuota, reset, type Quota } from './quota';
import type { RateInfo } from './rateHeaders';
import { Traffic } from './traffic';

/**
 * Decides when the next call of an account may be sent. It combines the policies in this folder: it reports to them
 * what happens, and the longest wait among them counts.
 */
export class Governor {
	/** The published limit; `Infinity` if there is none. */
	perMinute = Infinity;

	private readonly traffic = new Traffic();
	private readonly presumption = new Presumption();
	/** When the service last accepted a call. */
	private acceptedAt = -Infinity;
	private pause: Pause | undefined;
	/** When the service last failed and named a time to come back. */
	private closedAt = -Infinity;
	private quota: Quota | undefined;
	private learned: rate.Learned | undefined;
	private readonly pollLimit = new SeparateLimit();
	private concurrency = concurrency.opening;
	/** What held back the next call at the last check. */
	private heldBy: 'learned' | 'other' | undefined;
	/** Refusals of calls that were sent before this time are already corrected for. */
	private correctedAt = -Infinity;

	constructor(private readonly clock: Clock) {}

	/** Calls that ended within the last minute, or are in flight. */
	get recent(): number {
		return this.traffic.recent(this.clock.now());
	}

	/** Requests per minute, as far as known; `Infinity` if no limit is known. */
	get knownPerMinute(): number {
		const { limit, ms } = this.window ?? { limit: this.perMinute, ms: MINUTE_MS };
		return Math.min(this.perMinute, (limit / ms) * MINUTE_MS);
	}

	/** How long the next call has to wait, in milliseconds; `Infinity` means until another call ends. */
	waitMs(): number {
		const now = this.clock.now();
		for (const call of this.presumption.presumedAccepted(now)) {
			this.acceptedAt = now;
			this.onAccepted(call, now);
		}
		const { sent, over, inFlight } = this.traffic;
		this.quota = reset(this.quota, now);
		const { window } = this;
		const learned = window ? rate.learnedWaitMs(window, sent, now) : 0;
		const others = Math.max(
			this.concurrencyWaitMs(now),
			this.pause ? this.pause.until - now : 0,
			quotaWaitMs(this.quota, inFlight, now),
			publishedWaitMs(this.perMinute, over, inFlight, now),
		);
		const wait = Math.max(learned, others);
		if (wait <= 0) return 0;
		this.heldBy = learned > others ? 'learned' : 'other';
		return wait;
	}

	/** How long the next poll has to wait in addition. */
	pollWaitMs(): number {
		const now = this.clock.now();
		const sharedMs = pollWaitMs(this.knownPerMinute, this.traffic.polls, now);
		return Math.max(sharedMs, this.pollLimit.waitMs(now));
	}

	/** Records that a call is sent now. */
	send(path: string, isPoll: boolean): Call {
		const now = this.clock.now();
		const { heldBy, traffic } = this;
		this.heldBy = undefined;
		const call: Call = { sentAt: now, inFlightAtSend: traffic.inFlight, path, isPoll };
		traffic.forget(this.window?.ms, now);
		if (this.learned) {
			this.learned = rate.climbOn(this.learned, now, heldBy === 'learned', this.perMinute);
		}
		const isIdle = !heldBy && !this.pause && traffic.isIdle(now);
		if (isIdle) this.concurrency = concurrency.rested(this.concurrency, now);
		this.grow(now);
		this.quota = countDown(this.quota);
		traffic.send(isPoll, isIdle, now);
		if (this.pause) this.pause = tryOnce(this.pause, this.outlook(), now);
		this.presumption.sent(call);
		return call;
	}

	/** Records the end of a call. */
	end(call: Call, { outcome, rateInfo = {}, isFailed = false, isError = false }: End): void {
		const now = this.clock.now();
		const isOpen = this.presumption.over(call);
		if (outcome === 'accepted' && !isError) this.measure(call, now);
		this.traffic.end(call, outcome, this.window?.ms ?? 0, now);
		const isOfPolls = outcome === 'refused' && this.pollLimit.refused(call, rateInfo, now);
		// Another call may probe instead.
		const isNoProbe = outcome === 'unsent' || isOfPolls;
		if (isNoProbe && this.pause) this.pause = { ...this.pause, until: now };
		if (isOfPolls || (outcome !== 'accepted' && outcome !== 'refused')) return;
		// Failures of calls that were in flight together count as one.
		if (call.sentAt >= this.closedAt) {
			if (isFailed && rateInfo.retryAfterMs) this.close(rateInfo.retryAfterMs, now);
			else this.quota = readQuota(rateInfo, this.traffic.inFlight, now, now - call.sentAt);
		}
		if (outcome === 'refused') {
			this.presumption.refused(call, now);
			this.refused(call, rateInfo, now);
			return;
		}
		this.acceptedAt = now;
		this.pollLimit.accepted(call);
		if (isOpen) this.onAccepted(call, now);
		// If the refusals were for the number of calls in flight, there is room for another call now.
		if (this.pause && this.concurrency.beforeCut) this.pause = { ...this.pause, until: now };
	}

	/** The service failed and named a time to come back. One call goes ahead then, because the service may fail again. */
	private close(ms: number, now: number): void {
		this.closedAt = now;
		this.quota = { left: 0, until: now + worthwhileMs(ms) };
		this.startOver();
	}

	/** The credits have run out, so the next run begins with few calls. */
	startOver(): void {
		this.concurrency = concurrency.startOver(this.concurrency, this.clock.now());
	}

	/** While the cause of a refusal is unclear, single calls probe whether it was the rate. */
	private concurrencyWaitMs(now: number): number {
		if (this.pause && this.concurrency.beforeCut) return 0;
		const { inFlight, latencies } = this.traffic;
		if (inFlight > 0) this.grow(now);
		return concurrency.concurrencyWaitMs(this.concurrency, inFlight, latencies.usualMs);
	}

	private grow(now: number): void {
		const { inFlight, latencies } = this.traffic;
		this.concurrency = concurrency.grow(this.concurrency, inFlight, latencies.usualMs, now);
	}

	/**
	 * The service accepted a call. If it refused others, that has ended, and shows how many calls it accepts in what
	 * time.
	 */
	private onAccepted(call: Call, now: number): void {
		this.concurrency = concurrency.prove(this.concurrency, call);
		if (!this.pause || call.sentAt < this.pause.since) return;
		if (concurrency.wasRate(this.concurrency, call, this.traffic.surelyAhead(call))) {
			const seen = this.traffic.seen(this.pause.since, call, this.window?.ms ?? 0);
			this.learned = rate.learn(this.learned, seen, now, this.perMinute);
			this.concurrency = concurrency.undoCut(this.concurrency);
		} else this.concurrency = concurrency.confirmCut(this.concurrency);
		this.traffic.began = call.sentAt;
		this.correctedAt = now;
		this.pause = undefined;
	}

	/** Allows fewer calls in flight if many calls make answers slow. */
	private measure(call: Call, now: number): void {
		const isNew = call.sentAt >= this.concurrency.cutAt;
		const isAlone = call.inFlightAtSend < concurrency.FEW;
		const slope = this.traffic.latencies.measure(call.path, now - call.sentAt, isNew, isAlone);
		this.concurrency = concurrency.slowDown(this.concurrency, slope, call, now);
	}

	/** Corrects the policy that was trying for more. If none was, no calls go out for a while. */
	private refused(call: Call, rateInfo: RateInfo, now: number): void {
		const { isLimit, beforeCut } = this.concurrency;
		const isTooMany = concurrency.isTooMany(this.concurrency, call, !this.learned);
		const isKnown = this.learned !== undefined || (isLimit && isTooMany);
		if (this.pause || isNamed(rateInfo) || !isKnown) {
			// The service names a time only for a rate, and the pause lasts until then.
			if (isNamed(rateInfo)) this.concurrency = concurrency.undoCut(this.concurrency);
			else if (!this.learned && (beforeCut || (!isLimit && !this.pause))) {
				const isLater = this.pause !== undefined && call.sentAt > this.pause.since;
				this.concurrency = concurrency.cutTentatively(this.concurrency, call, isLater, now);
			}
			this.pause = pauseOn(this.pause, rateInfo, this.outlook(), now);
			return;
		}
		if (call.sentAt < this.correctedAt) return;
		// The service refused a call after the last correction and has accepted none since, so it accepts no calls now.
		if (this.correctedAt > this.acceptedAt) {
			this.pause = pauseOn(undefined, rateInfo, this.outlook(), now);
		} else if (isTooMany) this.concurrency = concurrency.cutTo(this.concurrency, call, now);
		else if (this.learned) this.learned = rate.slowDown(this.learned, this.perMinute, now);
		this.correctedAt = now;
	}

	private outlook(): Outlook {
		const first = this.traffic.firstCounted(this.traffic.began);
		const began = Math.min(first, this.pause?.since ?? this.clock.now());
		const expectedMs = (this.traffic.sent.count(began) / this.perMinute) * MINUTE_MS;
		return { began, expectedMs, knownMs: this.window?.ms, random: this.clock.random() };
	}

	/** The window that refusals taught; undefined before the first one. */
	private get window(): rate.Window | undefined {
		return this.learned && rate.windowOf(this.learned, this.perMinute);
	}
}
