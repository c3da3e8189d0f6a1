import { boundedWaitMs } from './announced';
import { isAnswered, type Call, type Clock, type End, type Policy } from './policy';
import type { Traffic } from './traffic';
import { Trust } from './trust';

/** After failures in a row, so much of what was in flight may be in flight. */
const SHRINK = 0.7;
/** How many more may be in flight for each answer after that. Each failure takes one back, unless it is chance. */
const GROWTH = 0.06;
/** The same where one call more failed last, so that it rarely fails again, as in TCP's congestion avoidance. */
const CAREFUL_GROWTH = 0.01;
/** Of so many calls that were answered last, half show that a failure is not for how many are in flight. */
const LAST_ANSWERED = 20;
/** The pauses between test calls grow with the time so far, from the first to the longest. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [250, 60_000];
/** The longest where the service could never be reached: its address may be wrong, and nothing is paid for. */
const UNREACHABLE_PAUSE_MS = 2000;

/**
 * Reacts to failures that come together: HTTP 5xx, broken connections, time-outs, and calls that could not be sent.
 * Single ones hold nothing up. For example, a service breaks connections beyond 150 at once: after some failures, fewer
 * calls are in flight, and none goes out until a call is answered. If that takes long, single test calls go out at
 * growing pauses. Each path has its own.
 */
export class Brake implements Policy {
	private readonly trust = new Trust();
	/** How many calls are in flight, and may be. */
	private inFlight = 0;
	private most = Infinity;
	/** How many were when the last call failed, with it; `Infinity` if that was chance. */
	private failedAt = Infinity;
	/** How many were when each of the last calls was sent that were answered since then. */
	private answeredAt: number[] = [];
	/**
	 * Since when calls fail together. After that, a test call goes out at `testAt`. If the service named that time, an
	 * answer to a call that was sent before says nothing.
	 */
	private pause: { since: number; testAt: number; isNamed: boolean } | undefined;
	/** The last test call. */
	private test: Call | undefined;

	constructor(
		private readonly traffic: Traffic,
		private readonly clock: Clock,
	) {}

	/** Whether failures hold up all calls. */
	get isOn(): boolean {
		return this.pause !== undefined;
	}

	waitMs(now: number): number {
		if (!this.pause) return this.inFlight < this.most ? 0 : Infinity;
		return Math.max(0, this.pause.testAt - now);
	}

	sent(call: Call): void {
		this.inFlight++;
		const { pause } = this;
		if (!pause) return;
		// Nobody had a call to make for long, so nothing is known of that time.
		if (call.sentAt > pause.testAt + LONGEST_PAUSE_MS) pause.since = call.sentAt;
		this.test = call;
		pause.testAt = Infinity;
	}

	ended(call: Call, end: End, now: number): void {
		this.inFlight--;
		if (isAnswered(end)) {
			this.answeredAt = [...this.answeredAt, call.inFlight].slice(-LAST_ANSWERED);
			this.most += Math.ceil(this.most) === this.failedAt - 1 ? CAREFUL_GROWTH : GROWTH;
			// The outage is over. Otherwise, the service only answers some of so many at once.
			if (call === this.test) this.most = Infinity;
			if (!this.pause?.isNamed || call.sentAt >= this.pause.since) this.pause = undefined;
		} else if (end.outcome === 'unknown' || end.outcome === 'notSent') {
			this.failed(call, end, now);
		} else if (this.pause && call === this.test) {
			this.pause.testAt = now;
		}
	}

	passed(): void {
		this.trust.passed();
	}

	private failed(call: Call, { outcome, rateInfo }: End, now: number): void {
		const { pause } = this;
		// The service may say when it comes back.
		const namedMs = boundedWaitMs(rateInfo?.retryAfterMs, call);
		if (pause) {
			if (call !== this.test) return;
			const pauseMs = Math.max(FIRST_PAUSE_MS, now - pause.since);
			const isUnreachable = outcome === 'notSent' && !this.traffic.hasAnswered;
			const longestMs = isUnreachable ? UNREACHABLE_PAUSE_MS : LONGEST_PAUSE_MS;
			const ownMs = Math.min(longestMs, pauseMs) * (0.75 + this.clock.random() / 2);
			pause.testAt = now + Math.max(ownMs, namedMs);
			return;
		}
		const others = this.answeredAt.filter((inFlight) => inFlight >= call.inFlight).length;
		const isChance = others >= LAST_ANSWERED / 2;
		this.answeredAt = [];
		this.failedAt = isChance ? Infinity : call.inFlight;
		if (!isChance) this.most = Math.max(1, this.most - 1);
		if (this.trust.failed()) return;
		this.most = Math.max(1, Math.min(this.most, SHRINK * this.inFlight));
		const testAt = now + Math.max(FIRST_PAUSE_MS, namedMs);
		this.pause = { since: now, testAt, isNamed: namedMs > 0 };
	}
}
