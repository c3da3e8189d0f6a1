import type { Call, End } from './call';
import type { Clock } from './clock';
import * as concurrency from './concurrency';
import * as rate from './learned';
import { HOPELESS_MS, isNamed, pauseOn, tryOnce, type Outlook, type Pause } from './pause';
import { pollWaitMs } from './polls';
import { Presumption } from './presumption';
import { MINUTE_MS, publishedWaitMs } from './published';
import type { RateNews } from './rateHeaders';
import { countDown, hear, reset, toldWaitMs, type Told } from './told';
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
	private tookAt = -Infinity;
	private pause: Pause | undefined;
	/** Until when the service is unavailable, according to its answer. */
	private closedUntil = -Infinity;
	private told: Told | undefined;
	private learned: rate.Learned | undefined;
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
		for (const call of this.presumption.taken(now)) {
			this.tookAt = now;
			this.took(call, now);
		}
		const { sent, over, underWay } = this.traffic;
		this.told = reset(this.told, now);
		const { window } = this;
		const learned = window ? rate.learnedWaitMs(window, sent, now) : 0;
		const others = Math.max(
			this.concurrencyWaitMs(now),
			this.pause ? this.pause.until - now : 0,
			this.closedUntil - now,
			toldWaitMs(this.told, underWay, now),
			publishedWaitMs(this.perMinute, over, underWay, now),
		);
		const wait = Math.max(learned, others);
		if (wait <= 0) return 0;
		this.heldBy = learned > others ? 'learned' : 'other';
		return wait;
	}

	/** How long the next poll has to wait in addition. */
	pollWaitMs(): number {
		return pollWaitMs(this.knownPerMinute, this.traffic.polls, this.clock.now());
	}

	/** Records that a call is sent now. */
	send(path: string, isPoll: boolean): Call {
		const now = this.clock.now();
		const { heldBy, traffic } = this;
		this.heldBy = undefined;
		const call: Call = { sentAt: now, ahead: traffic.underWay, path, isPoll };
		traffic.forget(this.window?.ms, now);
		if (this.learned) {
			this.learned = rate.climbOn(this.learned, now, heldBy === 'learned', this.perMinute);
		}
		const isIdle = !heldBy && !this.pause && traffic.isIdle(now);
		if (isIdle) this.concurrency = concurrency.rested(this.concurrency, now);
		this.grow(now);
		this.told = countDown(this.told);
		traffic.send(isPoll, isIdle, now);
		if (this.pause) this.pause = tryOnce(this.pause, this.outlook(), now);
		this.presumption.sent(call);
		return call;
	}

	/** Records the end of a call. */
	end(call: Call, { outcome, news = {}, isFailed = false, isError = false }: End): void {
		const now = this.clock.now();
		const isOpen = this.presumption.over(call);
		if (outcome === 'taken' && !isError) this.measure(call, now);
		this.traffic.end(call, outcome, this.window?.ms ?? 0, now);
		// Another call may probe instead.
		if (outcome === 'unsent' && this.pause) this.pause = { ...this.pause, until: now };
		if (outcome !== 'taken' && outcome !== 'refused') return;
		if (isFailed && news.retryAfterMs) this.close(news.retryAfterMs, now);
		this.told = hear(news, this.traffic.underWay, now, now - call.sentAt);
		if (outcome === 'refused') {
			this.presumption.refused(call, now);
			this.refused(call, news, now);
			return;
		}
		this.tookAt = now;
		if (isOpen) this.took(call, now);
		// If the refusals were for the number of calls in flight, there is room for another call now.
		if (this.pause && this.concurrency.before) this.pause = { ...this.pause, until: now };
	}

	/** The service failed and named a time to come back. Few calls go out then, because the service may fail again. */
	private close(ms: number, now: number): void {
		this.closedUntil = Math.max(this.closedUntil, now + Math.min(ms, HOPELESS_MS));
		this.startOver();
	}

	/** The credits have run out, so the next run begins with few calls. */
	startOver(): void {
		this.concurrency = concurrency.startOver(this.concurrency, this.clock.now());
	}

	/** While the cause of a refusal is unclear, single calls probe whether it was the rate. */
	private concurrencyWaitMs(now: number): number {
		if (this.pause && this.concurrency.before) return 0;
		const { underWay, latencies } = this.traffic;
		if (underWay > 0) this.grow(now);
		return concurrency.concurrencyWaitMs(this.concurrency, underWay, latencies.usualMs);
	}

	private grow(now: number): void {
		const { underWay, latencies } = this.traffic;
		this.concurrency = concurrency.grow(this.concurrency, underWay, latencies.usualMs, now);
	}

	/**
	 * The service accepted a call. If it refused others, that has ended, and shows how many calls it accepts in what
	 * time.
	 */
	private took(call: Call, now: number): void {
		this.concurrency = concurrency.prove(this.concurrency, call);
		if (!this.pause || call.sentAt < this.pause.since) return;
		if (concurrency.wasRate(this.concurrency, call, this.traffic.surelyAhead(call))) {
			const seen = this.traffic.seen(this.pause.since, call, this.window?.ms ?? 0);
			this.learned = rate.learn(this.learned, seen, now, this.perMinute);
			this.concurrency = concurrency.takeBack(this.concurrency);
		} else this.concurrency = concurrency.keep(this.concurrency);
		this.traffic.began = call.sentAt;
		this.correctedAt = now;
		this.pause = undefined;
	}

	/** Allows fewer calls in flight if many calls make answers slow. */
	private measure(call: Call, now: number): void {
		const isNew = call.sentAt >= this.concurrency.cutAt;
		const isAlone = call.ahead < concurrency.FEW;
		const slope = this.traffic.latencies.measure(call.path, now - call.sentAt, isNew, isAlone);
		this.concurrency = concurrency.slowDown(this.concurrency, slope, call, now);
	}

	/** Corrects the policy that was trying for more. If none was, no calls go out for a while. */
	private refused(call: Call, news: RateNews, now: number): void {
		const { isLimit, before } = this.concurrency;
		const isTooMany = concurrency.isTooMany(this.concurrency, call, !this.learned);
		const isKnown = this.learned !== undefined || (isLimit && isTooMany);
		if (this.pause || isNamed(news) || !isKnown) {
			// The service names a time only for a rate, and the pause lasts until then.
			if (isNamed(news)) this.concurrency = concurrency.takeBack(this.concurrency);
			else if (!this.learned && (before || (!isLimit && !this.pause))) {
				const isLater = this.pause !== undefined && call.sentAt > this.pause.since;
				this.concurrency = concurrency.suspect(this.concurrency, call, isLater, now);
			}
			this.pause = pauseOn(this.pause, news, this.outlook(), now);
			return;
		}
		if (call.sentAt < this.correctedAt) return;
		// The service refused a call after the last correction and has accepted none since, so it accepts no calls now.
		if (this.correctedAt > this.tookAt) {
			this.pause = pauseOn(undefined, news, this.outlook(), now);
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
