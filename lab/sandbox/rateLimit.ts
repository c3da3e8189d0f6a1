import { sliding, type Limit } from '../rateLimits';
import type { RateLimitSettings } from './settings';

/** Requests per minute by plan (docs/service.md, Rate limits). */
const PLANS = new Map([
	['starter', 60],
	['pro', 300],
]);

/** Counts the requests of the last minute by API key. */
export class RateLimiter {
	private readonly limits = new Map<string, Limit>();

	/**
	 * Counts one request of `key` at `now` (epoch ms), if it is allowed.
	 * @returns in how many milliseconds it is allowed; 0 if it is now
	 */
	check(settings: RateLimitSettings, plan: string, key: string, now: number): number {
		const perMinute = settings.perMinute ?? PLANS.get(plan) ?? Infinity;
		if (perMinute === Infinity) return 0;
		const limit = this.limits.get(key) ?? sliding(perMinute, 60_000);
		this.limits.set(key, limit);
		const waitMs = limit.waitMs(now);
		if (waitMs <= 0) limit.take(now);
		return Math.max(waitMs, 0);
	}

	forget(): void {
		this.limits.clear();
	}
}
