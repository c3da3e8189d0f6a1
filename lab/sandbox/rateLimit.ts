import { fixed, sliding, tokenBucket, type Limit } from '../rateLimits';
import type { RateLimitSettings } from './settings';

export interface Verdict {
	allowed: boolean;
	/** Headers for the answer, whatever it says. */
	headers: Record<string, string>;
}

/** Requests per minute by plan (docs/service.md, Rate limits); an enterprise account's is "custom". */
export function limitOf(settings: RateLimitSettings, plan: string): number | null {
	if (settings.perMinute !== null) return settings.perMinute;
	if (plan === 'starter') return 60;
	if (plan === 'pro') return 300;
	return plan === 'enterprise' ? settings.enterprisePerMinute : null;
}

/** Counts requests per API key against a limit, by the kind of window that the settings ask for. */
export class RateLimiter {
	private readonly limits = new Map<string, Limit>();

	/** Counts one request of `key` at `now` (epoch ms); `perWindow` is null for no limit. */
	check(settings: RateLimitSettings, key: string, perWindow: number | null, now: number): Verdict {
		if (!settings.enabled || perWindow === null) return { allowed: true, headers: {} };
		const { kind, windowMs } = settings;
		const name = JSON.stringify([key, kind, perWindow, windowMs]);
		const limit = this.limits.get(name) ?? limitBy(settings, perWindow);
		this.limits.set(name, limit);
		const allowed = limit.waitMs(now) <= 0;
		if (allowed) limit.take(now);
		const remaining = Math.max(limit.left?.(now) ?? 0, 0);
		const resetMs = Math.max(limit.resetMs?.(now) ?? 0, 0);
		return {
			allowed,
			headers: headersFor(settings, perWindow, { allowed, remaining, resetMs }, now),
		};
	}

	forget(): void {
		this.limits.clear();
	}
}

function limitBy({ kind, windowMs }: RateLimitSettings, perWindow: number): Limit {
	if (kind === 'fixed') return fixed(perWindow, windowMs, 0);
	if (kind === 'sliding') return sliding(perWindow, windowMs);
	return tokenBucket(perWindow, (1000 * perWindow) / windowMs);
}

interface Count {
	allowed: boolean;
	remaining: number;
	/** Until a request is free again, or the window ends. */
	resetMs: number;
}

function headersFor(
	{ headers: style }: RateLimitSettings,
	limit: number,
	{ allowed, remaining, resetMs }: Count,
	now: number,
): Record<string, string> {
	const resetSeconds = Math.ceil(resetMs / 1000);
	const resetAt = Math.ceil((now + resetMs) / 1000);
	if (style === 'ratelimit' || style === 'xRatelimit') {
		const prefix = style === 'ratelimit' ? 'RateLimit' : 'X-RateLimit';
		return {
			[`${prefix}-Limit`]: String(limit),
			[`${prefix}-Remaining`]: String(remaining),
			[`${prefix}-Reset`]: String(style === 'ratelimit' ? resetSeconds : resetAt),
		};
	}
	if (allowed || style === 'none') return {};
	const date = new Date(resetAt * 1000).toUTCString();
	return { 'Retry-After': style === 'retryAfterDate' ? date : String(resetSeconds) };
}
