import { isAnswered, type Call, type Clock, type End, type Policy } from './policy';
import type { Traffic } from './traffic';
import { Undecided } from './undecided';

/** How many failures in a row, or nearly so, are taken for chance: at the beginning, and after many answers. */
const [FIRST_TRUST, MAX_TRUST] = [1, 3];
/** What an answer gives back of the trust that a failure takes. Fewer failures than one in six hold nothing up. */
const TRUST_PER_ANSWER = 0.2;
/** After failures in a row, so much of what was in flight may be in flight. */
const SHRINK = 0.7;
/** How many more may be in flight for each answer after that. Each failure takes one back. */
const GROWTH = 0.06;
/** The pauses between test calls: the first, the share of the time so far of the next ones, and the longest. */
const [FIRST_PAUSE_MS, PAUSE_SHARE, LONGEST_PAUSE_MS] = [250, 1, 60_000];

/**
 * Reacts to failures that come together: HTTP 5xx, broken connections, time-outs, and calls that could not be sent. Single
 * ones hold nothing up. For example, a service breaks connections beyond 150 at once: after some failures, fewer calls
 * are in flight, and none goes out until a call is answered. If that takes long, single test calls go out at growing pauses.
 */
export class Brake implements Policy {
	/** How many failures more are taken for chance. A failure takes one, answers give back as in gRPC's retry throttling. */
	private trust = FIRST_TRUST;
	/** How many calls may be in flight. */
	private most = Infinity;
	/** Since when calls fail together. After that, a test call goes out at `testAt`. */
	private pause: { since: number; testAt: number } | undefined;
	/** The last test call. */
	private test: Call | undefined;
	private readonly undecided = new Undecided();
	/** How long the last failure took. */
	private failureMs = 0;

	constructor(
		private readonly traffic: Traffic,
		private readonly clock: Clock,
	) {}

	/** Whether failures hold up all calls. */
	get isOn(): boolean {
		return this.pause !== undefined;
	}

	waitMs(now: number): number {
		for (const call of this.undecided.takePassed(now, this.failureMs)) this.passed(call);
		if (!this.pause) return this.traffic.inFlight < this.most ? 0 : Infinity;
		return Math.max(0, this.pause.testAt - now);
	}

	sent(call: Call): void {
		this.undecided.add(call);
		const { pause } = this;
		if (!pause) return;
		// Nobody had a call to make for long, so nothing is known of that time.
		if (call.sentAt > pause.testAt + LONGEST_PAUSE_MS) pause.since = call.sentAt;
		this.test = call;
		pause.testAt = Infinity;
	}

	ended(call: Call, end: End, now: number): void {
		const isUndecided = this.undecided.remove(call);
		if (isAnswered(end)) {
			if (isUndecided) this.passed(call);
			this.most += GROWTH;
			// The outage is over. Otherwise, the service only answers some of so many at once.
			if (call === this.test) this.most = Infinity;
			this.pause = undefined;
		} else if (end.outcome === 'unknown' || end.outcome === 'notSent') {
			this.failed(call, end, now);
		} else if (this.pause && call === this.test) {
			this.pause.testAt = now;
		}
	}

	private passed(call: Call): void {
		this.trust = Math.min(MAX_TRUST, this.trust + TRUST_PER_ANSWER);
		if (call === this.test) this.pause = undefined;
	}

	private failed(call: Call, { rateInfo }: End, now: number): void {
		this.failureMs = now - call.sentAt;
		const { pause } = this;
		if (pause) {
			if (call !== this.test) return;
			const pauseMs = Math.max(FIRST_PAUSE_MS, PAUSE_SHARE * (now - pause.since));
			// If the service says when it comes back, another policy waits until then.
			const ownMs = rateInfo?.retryAfterMs ? 0 : Math.min(LONGEST_PAUSE_MS, pauseMs);
			pause.testAt = now + ownMs * (0.75 + this.clock.random() / 2);
			return;
		}
		this.trust--;
		this.most = Math.max(1, this.most - 1);
		if (this.trust >= 0) return;
		this.trust = 0;
		this.most = Math.max(1, Math.min(this.most, SHRINK * this.traffic.inFlight));
		this.pause = { since: now, testAt: now + FIRST_PAUSE_MS };
	}
}
