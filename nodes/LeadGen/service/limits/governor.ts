import type { Clock } from './clock';
import { InFlight } from './inFlight';
import { Learned } from './learned';
import type { Call, CallInfo, End, Policy } from './policy';
import { Polls } from './polls';
import { Published } from './published';
import { Quota } from './quota';
import { Traffic } from './traffic';

/** Decides when the next call of an account may be sent: when no policy holds it back. */
export class Governor {
	readonly traffic = new Traffic();
	private readonly learned: Learned;
	private readonly policies: readonly Policy[];

	constructor(private readonly clock: Clock) {
		const { traffic } = this;
		this.learned = new Learned(traffic, clock);
		this.policies = [
			new Published(traffic),
			new Quota(traffic),
			new Polls(traffic, () => this.knownPerMinute),
			this.learned,
			new InFlight(traffic),
		];
	}

	/** Requests per minute, as far as known; `Infinity` if no limit is known. */
	get knownPerMinute(): number {
		return Math.min(this.traffic.perMinute, this.learned.perMinute);
	}

	/** How long the next call has to wait, in milliseconds; `Infinity` means until another call ends. */
	waitMs(isPoll: boolean): number {
		const now = this.clock.now();
		return Math.max(...this.policies.map((policy) => policy.waitMs(now, isPoll)));
	}

	/** Records that a call is sent now. */
	send({ path, isPoll = false }: CallInfo): Call {
		const { inFlight: inFlightAtSend } = this.traffic;
		const call: Call = { path, isPoll, sentAt: this.clock.now(), inFlightAtSend };
		for (const policy of this.policies) policy.sent?.(call);
		this.traffic.sent(call);
		return call;
	}

	/** Records how a call ended. */
	end(call: Call, end: End): void {
		const now = this.clock.now();
		this.traffic.ended(call, end, now);
		for (const policy of this.policies) policy.ended?.(call, end, now);
	}
}
