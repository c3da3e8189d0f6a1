import type { RawResponse } from '../types';
import { GIVE_UP_MS } from './clock';

/** What an answer says about the rate limit, if anything. Times are milliseconds from now. */
export interface RateInfo {
	/** The pause before the next request. */
	retryAfterMs?: number;
	/** Requests that are left until the reset. */
	remaining?: number;
	resetMs?: number;
}

/** If the header `Date` differs by more, points in time are by the clock of the service. The header has full seconds. */
const MAX_SKEW_MS = 5000;

/**
 * Reads `Retry-After` (seconds or a date), `RateLimit-Remaining` and `-Reset`, other spellings of these, and the
 * combined `RateLimit` header. The service guarantees none of them ("Rate limits" in docs/service.md), so all are
 * optional.
 * @param receivedAt milliseconds since 1970
 */
export function readRateHeaders(
	{ status, headers }: Pick<RawResponse, 'status' | 'headers'>,
	receivedAt: number,
): RateInfo {
	const text = (name: string) => {
		const value = headers[name];
		return typeof value === 'string' ? value.trim() : '';
	};
	const rate = (name: string) =>
		text(`ratelimit-${name}`) || text(`x-ratelimit-${name}`) || text(`x-rate-limit-${name}`);
	const sentAt = Date.parse(text('date'));
	const now = Math.abs(sentAt - receivedAt) > MAX_SKEW_MS ? sentAt : receivedAt;
	const combined = leastLeft(text('ratelimit'));
	const retryAfterMs = toCount(text('retry-after-ms')) ?? toDelay(text('retry-after'), now);
	return {
		// With HTTP 202, it says when the result will be ready.
		retryAfterMs: status === 202 ? undefined : retryAfterMs,
		remaining: toCount(rate('remaining') || combined.remaining),
		resetMs: toDelay(rate('reset-after') || rate('reset') || combined.reset, now),
	};
}

/** Reads the combined header, which may list several limits: the one with the fewest requests left counts. */
function leastLeft(header: string): { remaining: string; reset: string } {
	const limits = header.split(/,(?=[^,=]*;)/).map((limit) => {
		const part = (name: string) => new RegExp(`\\b${name}\\s*=\\s*(\\d+)`).exec(limit)?.[1] ?? '';
		return { remaining: part('remaining') || part('r'), reset: part('reset') || part('t') };
	});
	return limits.reduce((a, b) => (Number(b.remaining) < Number(a.remaining) ? b : a));
}

function toCount(text: string): number | undefined {
	return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** A number of seconds above this is a point in time since 1970, because as a delay it would be over thirty years. */
const EPOCH_SECONDS = 1e9;

/** Converts seconds, seconds or milliseconds since 1970, or a date to a delay in milliseconds. */
function toDelay(text: string, now: number): number | undefined {
	const seconds = Number(text);
	if (text === '' || seconds < 0 || seconds === Infinity) return undefined;
	if (Number.isNaN(seconds)) {
		// Times of the service are UTC (docs/service.md), also where they do not say so.
		const date = Date.parse(/\d[T ][\d:.]+$/.test(text) ? `${text}Z` : text);
		return Number.isNaN(date) ? undefined : Math.max(0, date - now);
	}
	if (seconds < EPOCH_SECONDS) return seconds * 1000;
	return Math.max(0, (seconds < EPOCH_SECONDS * 1000 ? seconds * 1000 : seconds) - now);
}

/** In how much time the service accepts calls again, if it says so. The reset of a limit that is not used up says nothing. */
export function backMs({ retryAfterMs, remaining, resetMs }: RateInfo = {}): number {
	return retryAfterMs ?? (remaining ? undefined : resetMs) ?? 0;
}

/**
 * How long to wait if the service names a time. If that is too long, a single call tries, and may end its run. Waiting
 * for a scrape goes on, because it is paid for.
 */
export function worthwhileMs(ms: number, isPatient: boolean): number {
	if (ms <= GIVE_UP_MS) return ms;
	return isPatient ? GIVE_UP_MS : 0;
}
