import type { Call, End } from './call';
import { Latencies } from './latency';
import { GIVE_UP_MS } from './pause';
import { MARGIN_MS, MINUTE_MS } from './published';
import { TimeLog } from './timeLog';

/** After a longer gap without calls, the account counts as idle. */
const IDLE_MS = 1000;
/** The service counts a call at most this much later than it was sent, as a share of the window. */
const LATE = 0.1;
/** An answer takes at least this share of the time of the fastest answer. */
const SURE = 0.8;

/** What was sent and what came back, as far as the policies depend on it. */
export class Traffic {
	/** When the service counted each call that it did not refuse, as far as this is known. */
	readonly sent = new TimeLog();
	/** When each call ended that the service may have counted. */
	readonly over = new TimeLog();
	/** When each poll was sent. */
	readonly polls = new TimeLog();
	readonly latencies = new Latencies();
	inFlight = 0;
	/** Since when the account has not been idle. */
	private busySince = 0;
	private endedAt = -Infinity;
	/** Since when the service has accepted calls. After a refusal: since when it had accepted calls until then. */
	began = 0;

	/** Calls that ended within the last minute, or are in flight. */
	recent(now: number): number {
		return this.over.count(now - MINUTE_MS) + this.inFlight;
	}

	isIdle(now: number): boolean {
		return this.inFlight === 0 && now - this.endedAt > IDLE_MS;
	}

	/** @param isIdle whether the account was idle before */
	send(isPoll: boolean, isIdle: boolean, now: number): void {
		if (isIdle) this.busySince = this.began = now;
		this.sent.add(now);
		if (isPoll) this.polls.add(now);
		this.inFlight++;
	}

	/** @param windowMs the known window */
	end(call: Call, outcome: End['outcome'], windowMs: number, now: number): void {
		const { sentAt, isPoll } = call;
		this.inFlight--;
		this.endedAt = now;
		if (outcome === 'unsent' || outcome === 'refused') this.sent.remove(sentAt);
		else {
			this.sent.move(sentAt, this.countedAt(call, windowMs, now));
			this.over.add(now);
		}
		if (outcome === 'unsent' && isPoll) this.polls.remove(sentAt);
	}

	/**
	 * The latest time at which the service counted a call that has ended. This process may have been busy for a while
	 * after the call had its turn, but the service then took at least as long as for its fastest answer.
	 */
	private countedAt({ sentAt, path }: Call, windowMs: number, now: number): number {
		const { leastMs } = this.latencies.of(path);
		return sentAt + Math.max(0, Math.min(now - sentAt - leastMs, LATE * windowMs));
	}

	/** The latest time at which the service counted the first call from `begin` on. */
	firstCounted(begin: number): number {
		const byAnswer = this.over.firstFrom(begin) - this.latencies.leastMs;
		return Math.max(this.sent.firstFrom(begin), byAnswer);
	}

	/** The least number of calls that were in flight when one was sent: this process may learn late of answers. */
	surelyAhead({ sentAt, inFlightAtSend }: Call): number {
		const began = sentAt - SURE * this.latencies.leastMs;
		return Math.min(inFlightAtSend, this.sent.count(began, sentAt));
	}

	/**
	 * How many calls the service accepted until it refused one at `since`, and how many per millisecond until it accepted
	 * `next`.
	 * @param windowMs the known window, which may already have been full before
	 */
	seen(since: number, next: Call, windowMs: number): { burst: number; rate: number } {
		const windows = Math.min(this.began, next.sentAt - 2 * windowMs);
		// What the service accepted in the last minute is the least that it accepts in a minute.
		const lately = Math.max(this.busySince, windows);
		const spans = windowMs > 0 ? [lately] : [lately, since - MINUTE_MS];
		const rates = spans.map((begin) => {
			const taken = Math.max(1, this.sent.count(begin, since));
			return taken / Math.max(1, next.sentAt - this.firstCounted(begin));
		});
		return { burst: this.sent.count(this.began, since), rate: Math.max(...rates) };
	}

	/**
	 * Forgets entries that are older than a minute, than two windows of `ms`, and than the calls that a refusal may
	 * concern.
	 */
	forget(ms: number | undefined, now: number): void {
		const oldest = Math.min(this.began, now - Math.max(MINUTE_MS, 2 * (ms ?? 0))) - MARGIN_MS;
		for (const log of [this.sent, this.over, this.polls]) {
			log.forgetBefore(Math.max(oldest, now - GIVE_UP_MS));
		}
	}
}
