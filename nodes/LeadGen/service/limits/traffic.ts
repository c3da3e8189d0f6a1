import type { Call, End } from './call';
import { HOPELESS_MS } from './pause';
import { MARGIN_MS, MINUTE_MS } from './published';
import { TimeLog } from './timeLog';

/** A pause that is longer says that there was nothing to do. */
const IDLE_MS = 1000;

/** What was sent and what came back, as far as policies go by it. */
export class Traffic {
	/** When the service counted each call that was not refused, as far as that is known. */
	readonly sent = new TimeLog();
	/** When each call was over that the service may have counted. */
	readonly over = new TimeLog();
	/** When each poll was sent. */
	readonly polls = new TimeLog();
	underWay = 0;
	/** Since when there was always something to do. */
	private busySince = 0;
	private endedAt = -Infinity;
	/** Since when the service takes calls, or took them until it refused one. */
	began = 0;

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

	/** @param countedAt when the service counted it */
	end({ sentAt, isPoll }: Call, outcome: End['outcome'], countedAt: number, now: number): void {
		this.underWay--;
		this.endedAt = now;
		if (outcome === 'unsent' || outcome === 'refused') this.sent.remove(sentAt);
		else {
			this.sent.move(sentAt, countedAt);
			this.over.add(now);
		}
		if (outcome === 'unsent' && isPoll) this.polls.remove(sentAt);
	}

	/** When the service counted the first call from `begin` on, at the latest. @param leastMs for any answer */
	firstCounted(begin: number, leastMs: number): number {
		const byAnswer = this.over.firstFrom(begin) - leastMs;
		return Math.max(this.sent.firstFrom(begin), byAnswer);
	}

	/**
	 * How many calls the service took at once until it refused one at `since`, and how many a millisecond
	 * until it took `next`.
	 * @param windowMs the window that is known: it may have been full from before
	 */
	seen(
		since: number,
		next: Call,
		windowMs: number,
		leastMs: number,
	): { burst: number; rate: number } {
		const windows = Math.min(this.began, next.sentAt - 2 * windowMs);
		// What it took in the last minute is the least that it takes in a minute.
		const lately = Math.max(this.busySince, windows);
		const spans = windowMs > 0 ? [lately] : [lately, since - MINUTE_MS];
		const rates = spans.map((begin) => {
			const taken = Math.max(1, this.sent.count(begin, since));
			return taken / Math.max(1, next.sentAt - this.firstCounted(begin, leastMs));
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
