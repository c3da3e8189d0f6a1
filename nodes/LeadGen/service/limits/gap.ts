import type { Call, Policy } from './policy';
import type { Traffic } from './traffic';

/** The calls of a minute take this long at least, so that few are in vain if somebody else uses the account. */
const BURST_MS = 1180;

/** Keeps a gap between calls of a burst. It leaves out waits below a millisecond, because a timer takes longer. */
export class Gap implements Policy {
	private sentAt = -Infinity;

	constructor(private readonly traffic: Traffic) {}

	waitMs(now: number): number {
		return Math.max(0, Math.floor(this.sentAt + BURST_MS / this.traffic.perMinute - now));
	}

	sent({ sentAt }: Call): void {
		this.sentAt = sentAt;
	}
}
