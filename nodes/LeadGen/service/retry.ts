import { isDocumented } from './envelope';
import type { ServiceError } from './errors';
import { mayConnectLater } from './networkErrors';
import { isFree, type ServiceRequest } from './types';

/** Tries of one call, the first one included. */
const MAX_TRIES = 4;
const FIRST_DELAY_MS = 500;
const SLOWEST_DELAY_MS = 10_000;
/** A service that answered before in this run may be back after a restart or a short outage. */
const LONGEST_OUTAGE_MS = 2 * 60_000;

/** Whether the service refused a call for its rate alone (docs/service.md, Rate limits). */
export function isRateRefusal({ code = '', httpStatus }: ServiceError): boolean {
	// With another documented code, HTTP 429 stands for something else, such as credits that are used up.
	return code === 'RATE_LIMIT_EXCEEDED' || (httpStatus === 429 && !isDocumented(code));
}

/**
 * How long to wait before a call is made again, `undefined` if it must not be. This is the whole policy,
 * but for refusals of the rate, which the limiter waits out.
 * @param tries how often it was made so far
 * @param downMs for how long the service cannot be reached that answered before in this run
 */
export function retryDelayMs(
	error: ServiceError,
	request: ServiceRequest,
	tries: number,
	downMs: number | undefined,
): number | undefined {
	// The service said no, and would say it again.
	if (error.outcome === 'refused') return undefined;
	// It cannot have done the work.
	const unsent = mayConnectLater(error);
	// It may have done it, but a read costs nothing.
	const free = error.outcome === 'unknown' && isFree(request);
	// Nothing protects a paid call from being paid twice, so it is not made again.
	if (!unsent && !free) return undefined;
	const isOutage = unsent && downMs !== undefined;
	if (isOutage ? downMs >= LONGEST_OUTAGE_MS : tries >= MAX_TRIES) return undefined;
	const delay = Math.min(SLOWEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1));
	const delayMs = delay * (0.75 + Math.random() / 2);
	// The answer would come too late to be of use.
	const isLate = Date.now() + delayMs >= (request.deadline ?? Infinity);
	return isLate ? undefined : delayMs;
}

/** Notices that the service cannot be reached any more. */
export class Outage {
	private hasAnswered = false;
	private since: number | undefined;

	answered(): void {
		this.hasAnswered = true;
		this.since = undefined;
	}

	notReached(): void {
		this.since ??= Date.now();
	}

	/** For how long it cannot be reached; `undefined` where it never answered. */
	get ms(): number | undefined {
		return this.hasAnswered ? Date.now() - (this.since ?? Date.now()) : undefined;
	}
}
