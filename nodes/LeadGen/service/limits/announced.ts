import { isText } from '../../common/json';
import type { RawResponse } from '../answer';
import { MAX_UNANSWERED_MS, type Call, type End, type Policy, type RateInfo } from './policy';
import type { Traffic } from './traffic';

/**
 * If the header `Date` differs by more, points in time are by the clock of the service. The header has full seconds.
 */
const MAX_SKEW_MS = 5000;
/** A number of seconds above this is a point in time since 1970, because as a delay it would be over thirty years. */
const EPOCH_SECONDS = 1e9;

/**
 * Reads `Retry-After` (seconds or a date), and `RateLimit-Remaining` and `-Reset`, also with `X-`. The service
 * guarantees none of them ("Rate limits" in docs/service.md), so all are optional.
 * @param receivedAt milliseconds since 1970
 */
export function readRateHeaders({ headers }: RawResponse, receivedAt: number): RateInfo {
	const text = (name: string) => {
		const value = headers[name];
		return isText(value) ? value.trim() : '';
	};
	const rate = (name: string) => text(`ratelimit-${name}`) || text(`x-ratelimit-${name}`);
	const sentAt = Date.parse(text('date'));
	const now = Math.abs(sentAt - receivedAt) > MAX_SKEW_MS ? sentAt : receivedAt;
	const remaining = rate('remaining');
	return {
		retryAfterMs: toDelay(text('retry-after'), now),
		remaining: /^\d{1,15}$/.test(remaining) ? Number(remaining) : undefined,
		resetMs: toDelay(rate('reset-after') || rate('reset'), now),
	};
}

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

/**
 * When the service accepts calls again, in milliseconds; 0 if it does not say so. Only a limit that is used up counts.
 */
export function backMs({ retryAfterMs, remaining, resetMs }: RateInfo = {}): number {
	return retryAfterMs ?? (remaining ? undefined : resetMs) ?? 0;
}

/** How long to wait if the service names a time. If that is too long, a single call tries, which may end its run. */
export function boundedWaitMs(ms: number | undefined, { isPoll }: Call): number {
	if (ms === undefined) return 0;
	if (ms <= MAX_UNANSWERED_MS) return ms;
	// Waiting for a scrape goes on, because it is paid for.
	return isPoll ? MAX_UNANSWERED_MS : 0;
}

/** Keeps to the number of requests that are left, as the service says. */
export class Announced implements Policy {
	/** Requests that are left until then, less those that were sent since. */
	private left = Infinity;
	private until = 0;
	/** Answers to calls that were sent earlier say nothing new. */
	private since = -Infinity;

	constructor(private readonly traffic: Traffic) {}

	waitMs(now: number): number {
		return this.left > 0 ? 0 : Math.max(0, this.until - now);
	}

	sent(): void {
		this.left--;
	}

	ended(call: Call, { outcome, rateInfo }: End, now: number): void {
		if (outcome === 'notSent' || outcome === 'cancelled') this.left++;
		if (!rateInfo || call.sentAt < this.since) return;
		this.since = call.sentAt;
		const { retryAfterMs, remaining, resetMs } = rateInfo;
		// When a service comes back is up to the brake of the path.
		if (outcome === 'unknown' && retryAfterMs) return;
		if (remaining === undefined || resetMs === undefined || resetMs <= now - call.sentAt) {
			// The service may have counted the call when it came in: then this window is over.
			this.set(Infinity, now);
		} else {
			// The answer may not count the calls that were sent later.
			const left = remaining - (this.traffic.total - call.before - 1);
			const untilMs =
				left > 0 ? Math.min(resetMs, MAX_UNANSWERED_MS) : boundedWaitMs(resetMs, call);
			this.set(left, now + untilMs);
		}
	}

	private set(left: number, until: number): void {
		this.left = left;
		this.until = until;
	}
}
