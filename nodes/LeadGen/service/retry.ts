/** The one place that says what may be sent again. */
import { ServiceError } from '../common/errors';
import { meaningOf } from './answer';
import { isUnknownScrape } from './scrapeStatus';
import { isFree, type ServiceRequest } from './types';

/** Node.js error codes for a connection that was not made, but may be made later. */
export const NOT_CONNECTED = new Set(
	'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH'.split(' '),
);
/** These codes, and further ones of which the same is true if nothing was sent. */
const TEMPORARY = new Set([...NOT_CONNECTED, 'ETIMEDOUT', 'EADDRNOTAVAIL', 'EMFILE']);

/** The maximum number of tries of a call, including the first one. */
const MAX_TRIES = 4;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
/** A service that answered before in this run may come back within this time, after a restart. */
const MAX_OUTAGE_MS = 2 * 60_000;

/** Whether the service refused a call only for its rate (docs/service.md, Rate limits). The limiter waits this out. */
export function isRateRefusal(error: ServiceError): boolean {
	return error.outcome === 'refused' && meaningOf(error) === 'RATE_LIMIT_EXCEEDED';
}

/** Whether nothing was sent, for a temporary reason. Wrong addresses and certificates are not temporary. */
export function isUnsent({ outcome, code = '' }: ServiceError): boolean {
	return outcome === 'notSent' && TEMPORARY.has(code);
}

/** Whether a start may be sent again: it certainly started nothing, and may succeed later. */
export function mayStartAgain(error: unknown): boolean {
	return error instanceof ServiceError && (isUnsent(error) || isRateRefusal(error));
}

/** Whether to go on asking for the status of a scrape. A new scrape may not be found yet. */
export function mayPollAgain(error: unknown): boolean {
	return error instanceof ServiceError && (error.outcome !== 'refused' || isUnknownScrape(error));
}

/**
 * How long to wait before a call is sent again; `undefined` if it must not be.
 * @param tries the number of tries so far
 * @param failingMs how long ago the first one failed, if the service answered in this run; undefined if it did not
 */
export function retryDelayMs(
	error: ServiceError,
	request: ServiceRequest,
	tries: number,
	failingMs: number | undefined,
): number | undefined {
	// The service may have done the work. A read costs nothing, but nothing protects a paid call from being charged twice.
	const isFreeAgain = error.outcome === 'unknown' && isFree(request);
	const unsent = isUnsent(error);
	if (!unsent && !isFreeAgain) return undefined;
	const isOutage = unsent && failingMs !== undefined;
	if (isOutage ? failingMs >= MAX_OUTAGE_MS : tries >= MAX_TRIES) return undefined;
	const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1));
	return delay * (0.75 + Math.random() / 2);
}
