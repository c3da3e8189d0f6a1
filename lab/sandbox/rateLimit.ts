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
	private readonly times = new Map<string, number[]>();
	private readonly buckets = new Map<string, { tokens: number; at: number }>();

	/** Counts one request of `key` at `now` (epoch ms); `limit` is per window, null is none. */
	check(settings: RateLimitSettings, key: string, limit: number | null, now: number): Verdict {
		if (!settings.enabled || limit === null) return { allowed: true, headers: {} };
		const count =
			settings.kind === 'tokenBucket'
				? this.takeToken(settings, key, limit, now)
				: this.countTime(settings, key, limit, now);
		return { allowed: count.allowed, headers: headersFor(settings, limit, count, now) };
	}

	forget(): void {
		this.times.clear();
		this.buckets.clear();
	}

	private countTime(settings: RateLimitSettings, key: string, limit: number, now: number): Count {
		const { windowMs, kind, countRefused } = settings;
		const windowStart = kind === 'fixed' ? now - (now % windowMs) : now - windowMs + 1;
		const times = (this.times.get(key) ?? []).filter((time) => time >= windowStart);
		const allowed = times.length < limit;
		if (allowed || countRefused) times.push(now);
		this.times.set(key, times);
		const oldest =
			kind === 'fixed' ? windowStart : (times[Math.max(times.length - limit, 0)] ?? now);
		return {
			allowed,
			remaining: Math.max(limit - times.length, 0),
			resetMs: oldest + windowMs - now,
		};
	}

	private takeToken(settings: RateLimitSettings, key: string, limit: number, now: number): Count {
		const bucket = this.buckets.get(key) ?? { tokens: limit, at: now };
		const perMs = limit / settings.windowMs;
		const tokens = Math.min(limit, bucket.tokens + (now - bucket.at) * perMs);
		const allowed = tokens >= 1;
		const left = allowed ? tokens - 1 : settings.countRefused ? 0 : tokens;
		this.buckets.set(key, { tokens: left, at: now });
		return {
			allowed,
			remaining: Math.floor(left),
			resetMs: Math.max((1 - left) / perMs, 0),
		};
	}
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
