import { GIVE_UP_MS, MARGIN_MS } from './clock';
import { Latencies } from './latency';
import type { Call, End } from './policy';
import { TimeLog } from './timeLog';

/** What the policies of an account share: the published limit, what was sent, and what came back. */
export class Traffic {
	/** The published limit; `Infinity` if there is none. */
	perMinute = Infinity;
	inFlight = 0;
	/** When each call ended that the service may have counted. */
	readonly over = new TimeLog();
	readonly latencies = new Latencies();
	/** Whether the service limits polls separately. */
	arePollsSeparate = false;

	/** Whether the outcome says something about the limit of polls alone. */
	isOfPolls({ isPoll }: Call, outcome: End['outcome']): boolean {
		return outcome === 'rateLimited' && isPoll && this.arePollsSeparate;
	}

	/** Calls that ended within the last `ms` milliseconds, or are in flight. */
	recent(now: number, ms: number): number {
		return this.over.count(now - ms) + this.inFlight;
	}

	sent(call: Call): void {
		this.inFlight++;
		this.latencies.sent(call);
	}

	ended(call: Call, { outcome }: End, now: number): void {
		this.inFlight--;
		this.latencies.ended(call, outcome === 'succeeded', now);
		if (outcome !== 'notSent' && outcome !== 'rateLimited') this.over.add(now);
		this.over.forgetBefore(now - GIVE_UP_MS - MARGIN_MS);
	}
}
