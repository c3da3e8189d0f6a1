import type { Limit } from '../rateLimits';
import type { VirtualClock } from './clock';

/** How long answers take: always the same, or lognormal around a median. */
export type Latency = { ms: number; sigma?: number };

export interface ServiceSettings {
	/** None by default. */
	limits?: () => Limit[];
	/** 100 ms by default. */
	latency?: Latency;
	/** What answers say of the rate. */
	says?: 'retryAfter' | 'remaining';
	/** How long a request, and an answer, is on its way; up to 25 by default. */
	wayMs?: number;
	/** Whether a refusal takes as long as an answer; otherwise it takes the way there and back. */
	slowRefusals?: boolean;
	/** What goes wrong, besides the limits. */
	fault?: (() => Fault) | undefined;
	/** Whether that takes as long as an answer; otherwise it takes the way there and back. */
	slowFaults?: boolean;
	/** How many times as long an answer takes, by the number of calls in flight. */
	slowdown?: (inFlight: number) => number;
}

/** A call as it comes in. */
interface Arrival {
	/** The number of calls that came before it. */
	index: number;
	/** The number of calls that were taken before it. */
	taken: number;
	now: number;
	/** The number of calls that the service works at, without this one. */
	inFlight: number;
	/** From 0 to 1. */
	chance: number;
}

/**
 * Says what goes wrong with a call: `failed` is HTTP 502, `broken` a broken connection, `unreachable` sends nothing.
 */
export type Fault = (
	arrival: Arrival,
) => 'failed' | 'broken' | 'unreachable' | 'refused' | undefined;

const FAST: Latency = { ms: 100 };
/** The longest way from client to service, or back. */
const MAX_WAY_MS = 25;

export interface Said {
	outcome: 'accepted' | 'refused' | 'failed' | 'broken' | 'unreachable';
	retryAfterMs?: number;
	remaining?: number;
	resetMs?: number;
}

/** A service with any number of limits, all of which must take a call. */
export class SimulatedService {
	taken = 0;
	refused = 0;
	/** Calls whose outcome the client cannot know. */
	failed = 0;
	private inFlight = 0;
	private arrived = 0;
	private readonly limits: Limit[];
	private readonly fault: Fault;

	/** @param clock virtual, or that of the machine */
	constructor(
		private readonly clock: Pick<VirtualClock, 'now' | 'sleep' | 'random'>,
		private readonly settings: ServiceSettings,
	) {
		this.limits = settings.limits?.() ?? [];
		this.fault = settings.fault?.() ?? (() => undefined);
	}

	/** One exchange, as long as it takes. */
	async call(): Promise<Said> {
		const { clock, limits, settings } = this;
		const way = wayMs(settings);
		const usual = Math.max(2 * way, duration(settings, clock));
		await clock.sleep(way);
		const now = clock.now();
		const { inFlight, taken } = this;
		const index = this.arrived++;
		const chance = settings.fault ? clock.random() : 0;
		const fault = this.fault({ index, taken, now, inFlight, chance });
		const takes = usual * (settings.slowdown?.(inFlight) ?? 1);
		if (fault) {
			if (fault === 'refused') this.refused++;
			else if (fault !== 'unreachable') this.failed++;
			await clock.sleep(settings.slowFaults ? takes - way : way);
			return { outcome: fault, ...(fault === 'refused' && this.says(now, 1000)) };
		}
		const wait = Math.max(0, ...limits.map((limit) => limit.waitMs(now)));
		if (wait > 0) {
			this.refused++;
			for (const limit of limits) limit.refuse?.(now);
			await clock.sleep(settings.slowRefusals ? takes - way : way);
			return { outcome: 'refused', ...this.says(now, wait) };
		}
		this.taken++;
		const inside = Math.max(0, ...limits.map((limit) => limit.take(now)));
		// As middleware does it: when the call comes in.
		const said = this.says(now, wait);
		this.inFlight++;
		await clock.sleep(inside + takes - 2 * way);
		this.inFlight--;
		for (const limit of limits) limit.end?.();
		await clock.sleep(way);
		return { outcome: 'accepted', ...said };
	}

	private says(now: number, waitMs: number): Partial<Said> {
		const [limit] = this.limits;
		const { says } = this.settings;
		if (says === 'remaining' && limit?.left && limit.resetMs) {
			return { remaining: limit.left(now), resetMs: roundedUp(limit.resetMs(now)) };
		}
		const isKnown = says === 'retryAfter' && waitMs > 0 && waitMs < Infinity;
		return isKnown ? { retryAfterMs: roundedUp(waitMs) } : {};
	}
}

/** Services say seconds. */
const roundedUp = (ms: number) => Math.ceil(ms / 1000) * 1000;

/** How long the service takes for a call, in milliseconds. */
export function duration(
	{ latency = FAST }: ServiceSettings,
	clock: Pick<VirtualClock, 'random'>,
): number {
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
