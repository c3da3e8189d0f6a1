import { fixed, sliding, type Limit } from '../rateLimits';
import type { RateLimitSettings } from './settings';

/** Requests per minute by plan (docs/service.md, Rate limits); an enterprise account's is "custom". */
export function limitOf(settings: RateLimitSettings, plan: string): number | null {
	if (plan === 'starter') return 60;
	if (plan === 'pro') return 300;
	return plan === 'enterprise' ? settings.enterprisePerMinute : null;
}

/** Counts requests per API key against a limit, by the kind of window that the settings ask for. */
export class RateLimiter {
	private readonly limits = new Map<string, Limit>();

	/**
	 * Counts one request of `key` at `now` (epoch ms); `perWindow` is null for no limit.
	 * @returns whether it is allowed, and the headers of the answer, whatever that says
	 */
	check(settings: RateLimitSettings, key: string, perWindow: number | null, now: number) {
		if (!settings.enabled || perWindow === null) return { allowed: true, headers: {} };
		const { kind, windowMs } = settings;
		const made = kind === 'fixed' ? fixed(perWindow, windowMs, 0) : sliding(perWindow, windowMs);
		const limit = this.limits.get(key) ?? made;
		this.limits.set(key, limit);
		const allowed = limit.waitMs(now) <= 0;
		if (allowed) limit.take(now);
		// Until a request is free again, or the window ends.
		const seconds = String(Math.ceil(Math.max(limit.resetMs?.(now) ?? 0, 0) / 1000));
		const headers: Record<string, string> = {};
		if (settings.headers === 'retryAfterSeconds' && !allowed) headers['Retry-After'] = seconds;
		if (settings.headers === 'ratelimit') {
			headers['RateLimit-Limit'] = String(perWindow);
			headers['RateLimit-Remaining'] = String(Math.max(limit.left?.(now) ?? 0, 0));
			headers['RateLimit-Reset'] = seconds;
		}
		return { allowed, headers };
	}

	forget(): void {
		this.limits.clear();
	}
}
