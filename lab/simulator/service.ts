import type { Limit } from '../rateLimits';
import type { VirtualClock } from './clock';

/** How long answers take: always the same, or lognormal around a median. */
export type Latency = { ms: number; sigma?: number };

export interface ServiceSettings {
	limits: () => Limit[];
	/** 100 ms by default. */
	latency?: Latency;
	/** What answers say of the rate. */
	says?: keyof typeof RETRY_AFTER | 'remaining';
	/** How long a request, and an answer, is on its way; up to 25 by default. */
	wayMs?: number;
	/** Whether a refusal takes as long as an answer; otherwise it takes the way there and back. */
	slowRefusals?: boolean;
	/** Credits of the account; `undefined` is as many as anyone wants. */
	credits?: number;
}

/** What `Retry-After` says about a wait; services round it up to seconds, and some are wrong. */
const RETRY_AFTER = {
	retryAfter: (ms: number) => Math.ceil(ms / 1000) * 1000,
	/** Milliseconds in place of seconds. */
	retryAfterMilliseconds: (ms: number) => ms * 1000,
};

const FAST: Latency = { ms: 100 };
/** The longest way from client to service, or back. */
const MAX_WAY_MS = 25;

export interface Said {
	outcome: 'accepted' | 'refused' | 'noCredits';
	retryAfterMs?: number;
	remaining?: number;
	resetMs?: number;
}

/** A service with any number of limits, all of which must take a call. */
export class SimulatedService {
	/** When each call was taken. */
	readonly taken: number[] = [];
	refused = 0;
	noCredits = 0;
	private readonly limits: Limit[];

	constructor(
		private readonly clock: VirtualClock,
		private readonly settings: ServiceSettings,
	) {
		this.limits = settings.limits();
	}

	/** One exchange, as long as it takes. */
	async call(): Promise<Said> {
		const { clock, limits, settings } = this;
		const way = wayMs(settings);
		const takes = Math.max(2 * way, duration(settings, clock));
		await clock.sleep(way);
		const now = clock.now();
		const wait = Math.max(0, ...limits.map((limit) => limit.waitMs(now)));
		if (wait > 0) {
			this.refused++;
			for (const limit of limits) limit.refuse?.(now);
			await clock.sleep(settings.slowRefusals ? takes - way : way);
			return { outcome: 'refused', ...this.says(now, wait) };
		}
		const { credits = Infinity } = settings;
		if (this.taken.length >= credits) {
			this.noCredits++;
			await clock.sleep(takes - way);
			return { outcome: 'noCredits' };
		}
		this.taken.push(now);
		const inside = Math.max(0, ...limits.map((limit) => limit.take(now)));
		await clock.sleep(inside + takes - 2 * way);
		for (const limit of limits) limit.end?.();
		const said = this.says(now, wait);
		await clock.sleep(way);
		return { outcome: 'accepted', ...said };
	}

	private says(now: number, waitMs: number): Partial<Said> {
		const [limit] = this.limits;
		const { says } = this.settings;
		if (says === 'remaining' && limit?.left && limit.resetMs) {
			const resetMs = RETRY_AFTER.retryAfter(limit.resetMs(now));
			return { remaining: limit.left(now), resetMs };
		}
		const isKnown = says !== undefined && waitMs > 0 && waitMs < Infinity;
		return isKnown && says !== 'remaining' ? { retryAfterMs: RETRY_AFTER[says](waitMs) } : {};
	}
}

/** How long the service takes for a call, in milliseconds. */
export function duration({ latency = FAST }: ServiceSettings, clock: VirtualClock): number {
	const { ms, sigma } = latency;
	if (sigma === undefined) return ms;
	const [one, other] = [clock.random(), clock.random()];
	// A normal number from two even ones (Box-Muller).
	const normal = Math.sqrt(-2 * Math.log(1 - one)) * Math.cos(2 * Math.PI * other);
	return ms * Math.exp(sigma * normal);
}

/** How long a request, and an answer, is on its way. */
export function wayMs({ wayMs, latency = FAST }: ServiceSettings): number {
	return wayMs ?? Math.min(MAX_WAY_MS, latency.ms / 4);
}
