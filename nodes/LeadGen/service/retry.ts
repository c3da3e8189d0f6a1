import { isDocumented } from './codes';
import type { ServiceError } from '../common/errors';
import { mayConnectLater } from './networkErrors';
import { isFree, type ServiceRequest } from './types';

/** The maximum number of tries of a call, including the first one. */
const MAX_TRIES = 4;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
/** A service that answered before in this run may come back within this time, after a restart or a short outage. */
const MAX_OUTAGE_MS = 2 * 60_000;

/** Whether the service refused a call only for its rate (docs/service.md, Rate limits). */
export function isRateRefusal({ code = '', httpStatus }: ServiceError): boolean {
	// With another documented code, HTTP 429 means something else, such as no credits left.
	return code === 'RATE_LIMIT_EXCEEDED' || (httpStatus === 429 && !isDocumented(code));
}

/**
 * How long to wait before a retry; `undefined` if the call must not be retried. Beside this, the limiter waits out rate
 * refusals, and a wait for a scrape goes on polling through an outage (`action/operations/scrape/wait.ts`).
 * @param tries the number of tries so far
 * @param downMs how long a service that answered before in this run has been unreachable
 */
export function retryDelayMs(
	error: ServiceError,
	request: ServiceRequest,
	tries: number,
	downMs: number | undefined,
): number | undefined {
	// The service refused the call, and would refuse it again.
	if (error.outcome === 'refused') return undefined;
	// The service cannot have done the work.
	const unsent = mayConnectLater(error);
	// The service may have done the work, but a read costs nothing.
	const free = error.outcome === 'unknown' && isFree(request);
	// Nothing protects a paid call from being charged twice, so it is not retried.
	if (!unsent && !free) return undefined;
	const isOutage = unsent && downMs !== undefined;
	if (isOutage ? downMs >= MAX_OUTAGE_MS : tries >= MAX_TRIES) return undefined;
	const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1));
	const delayMs = delay * (0.75 + Math.random() / 2);
	// The answer would arrive too late to be useful.
	const isLate = Date.now() + delayMs >= (request.deadline ?? Infinity);
	return isLate ? undefined : delayMs;
}

/** Measures how long the service has been unreachable. */
export class Outage {
	private hasAnswered = false;
	private since: number | undefined;

	answered(): void {
		this.hasAnswered = true;
		this.since = undefined;
	}

	notReached(): void {
		this.since ??= performance.now();
	}

	/** How long the service has been unreachable; `undefined` if it never answered. */
	get ms(): number | undefined {
		const now = performance.now();
		return this.hasAnswered ? now - (this.since ?? now) : undefined;
	}
}
