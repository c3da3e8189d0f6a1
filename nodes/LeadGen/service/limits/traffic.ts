import type { Call, End } from './call';
import { Latencies } from './latency';
import { HOPELESS_MS } from './pause';
import { MARGIN_MS, MINUTE_MS } from './published';
import { TimeLog } from './timeLog';

/** A pause that is longer says that there was nothing to do. */
const IDLE_MS = 1000;
/** A call counts for so much later than it was sent at most, as a share of the window. */
const LATE = 0.1;
/** An answer takes this share of the fastest one at the least. */
const SURE = 0.8;

/** What was sent and what came back, as far as policies go by it. */
export class Traffic {
	/** When the service counted each call that was not refused, as far as that is known. */
	readonly sent = new TimeLog();
	/** When each call was over that the service may have counted. */
	readonly over = new TimeLog();
	/** When each poll was sent. */
	readonly polls = new TimeLog();
	readonly latencies = new Latencies();
	underWay = 0;
	/** Since when there was always something to do. */
	private busySince = 0;
	private endedAt = -Infinity;
	/** Since when the service takes calls, or took them until it refused one. */
	began = 0;

	/** Calls of the last minute, or under way. */
	recent(now: number): number {
		return this.over.count(now - MINUTE_MS) + this.underWay;
	}

	isIdle(now: number): boolean {
		return this.underWay === 0 && now - this.endedAt > IDLE_MS;
	}

	/** @param isIdle whether there was nothing to do before */
	send(isPoll: boolean, isIdle: boolean, now: number): void {
		if (isIdle) this.busySince = this.began = now;
		this.sent.add(now);
		if (isPoll) this.polls.add(now);
		this.underWay++;
	}

	/** @param windowMs the window that is known */
	end(call: Call, outcome: End['outcome'], windowMs: number, now: number): void {
		const { sentAt, isPoll } = call;
		this.underWay--;
		this.endedAt = now;
		if (outcome === 'unsent' || outcome === 'refused') this.sent.remove(sentAt);
		else {
			this.sent.move(sentAt, this.countedAt(call, windowMs, now));
			this.over.add(now);
		}
		if (outcome === 'unsent' && isPoll) this.polls.remove(sentAt);
	}

	/**
	 * When the service counted a call that is over, at the latest. This process may have been busy for a while after
	 * the call had its turn, but the service then took no less time than for its fastest answer.
	 */
	private countedAt({ sentAt, path }: Call, windowMs: number, now: number): number {
		const { leastMs } = this.latencies.of(path);
		return sentAt + Math.max(0, Math.min(now - sentAt - leastMs, LATE * windowMs));
	}

	/** When the service counted the first call from `begin` on, at the latest. */
	firstCounted(begin: number): number {
		const byAnswer = this.over.firstFrom(begin) - this.latencies.leastMs;
		return Math.max(this.sent.firstFrom(begin), byAnswer);
	}

	/** How many calls were under way when one was sent, at the least: this process may hear late of answers. */
	surelyAhead({ sentAt, ahead }: Call): number {
		const began = sentAt - SURE * this.latencies.leastMs;
		return Math.min(ahead, this.sent.count(began, sentAt));
	}

	/**
	 * How many calls the service took at once until it refused one at `since`, and how many a millisecond
	 * until it took `next`.
	 * @param windowMs the window that is known: it may have been full from before
	 */
	seen(since: number, next: Call, windowMs: number): { burst: number; rate: number } {
		const windows = Math.min(this.began, next.sentAt - 2 * windowMs);
		// What it took in the last minute is the least that it takes in a minute.
		const lately = Math.max(this.busySince, windows);
		const spans = windowMs > 0 ? [lately] : [lately, since - MINUTE_MS];
		const rates = spans.map((begin) => {
			const taken = Math.max(1, this.sent.count(begin, since));
			return taken / Math.max(1, next.sentAt - this.firstCounted(begin));
		});
		return { burst: this.sent.count(this.began, since), rate: Math.max(...rates) };
	}

	/** Forgets what is older than a minute, and than `ms`, and than the calls that a refusal may tell of. */
	forget(ms: number | undefined, now: number): void {
		const oldest = Math.min(this.began, now - Math.max(MINUTE_MS, 2 * (ms ?? 0))) - MARGIN_MS;
		for (const log of [this.sent, this.over, this.polls]) {
			log.forgetBefore(Math.max(oldest, now - HOPELESS_MS));
		}
	}
}
