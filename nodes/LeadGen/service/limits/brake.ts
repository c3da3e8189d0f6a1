import { isAnswered, type Call, type Clock, type End, type Policy } from './policy';
import type { Traffic } from './traffic';

/** How many failures in a row, or nearly so, are taken for chance: at the beginning, and after many answers. */
const [FIRST_TRUST, MAX_TRUST] = [1, 4];
/** What an answer gives back of the trust that a failure takes. Fewer failures than one in six hold nothing up. */
const TRUST_PER_ANSWER = 0.2;
/** After failures in a row, so much of what was in flight may be in flight. */
const SHRINK = 0.7;
/** How many more may be in flight for each answer after that. Each failure takes one back. */
const GROWTH = 0.06;
/** The pauses between test calls: the first, the share of the time so far of the next ones, and the longest. */
const [FIRST_PAUSE_MS, PAUSE_SHARE, LONGEST_PAUSE_MS] = [250, 2 / 3, 60_000];

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
	/** Since when calls fail together. A `test` call goes out at `testAt`. */
	private pause: { since: number; testAt: number; test?: Call | undefined } | undefined;

	constructor(
		private readonly traffic: Traffic,
		private readonly clock: Clock,
	) {}

	waitMs(now: number): number {
		if (!this.pause) return this.traffic.inFlight < this.most ? 0 : Infinity;
		return this.pause.test ? Infinity : Math.max(0, this.pause.testAt - now);
	}

	sent(call: Call): void {
		const { pause } = this;
		if (!pause) return;
		pause.test = call;
		// Nobody had a call to make for long, so nothing is known of that time.
		if (call.sentAt > pause.testAt + LONGEST_PAUSE_MS) pause.since = call.sentAt;
	}

	ended(call: Call, end: End, now: number): void {
		if (this.pause?.test === call) this.pause.test = undefined;
		if (isAnswered(end)) this.answered(call);
		else if (end.outcome === 'unknown' || end.outcome === 'notSent') this.failed(call, end, now);
	}

	private answered({ sentAt }: Call): void {
		this.trust = Math.min(MAX_TRUST, this.trust + TRUST_PER_ANSWER);
		this.most += GROWTH;
		if (!this.pause) return;
		// If a test call is answered, an outage is over. Otherwise, the service only answers some of so many at once.
		if (sentAt >= this.pause.since) this.most = Infinity;
		this.pause = undefined;
	}

	private failed({ sentAt }: Call, { rateInfo }: End, now: number): void {
		const { pause, traffic } = this;
		if (pause) {
			// What was in flight already says nothing new.
			if (sentAt < pause.since) return;
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
		this.most = Math.max(1, Math.min(this.most, SHRINK * traffic.inFlight));
		this.pause = { since: now, testAt: now + FIRST_PAUSE_MS };
	}
}
