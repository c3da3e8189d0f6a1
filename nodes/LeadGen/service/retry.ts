import type { ServiceError } from './errors';
import { isFree, type ServiceRequest } from './types';

/** Tries of one call, the first one included. */
const MAX_TRIES = 4;
const FIRST_DELAY_MS = 500;

/** TLS and address mistakes do not go away; these may. */
const PASSING = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Whether the service refused a call for its rate alone (interface 7 and 8). */
export function isRateRefusal(error: ServiceError): boolean {
	return error.code === 'RATE_LIMIT_EXCEEDED' || error.httpStatus === 429;
}

/**
 * How long to wait before a call is made again, `undefined` if it must not be. This is the whole policy,
 * but for refusals of the rate, which the limiter waits out.
 * @param tries how often it was made so far
 */
export function retryDelayMs(
	error: ServiceError,
	request: ServiceRequest,
	tries: number,
): number | undefined {
	if (tries >= MAX_TRIES) return undefined;
	// The service said no, and would say it again.
	if (error.outcome === 'refused') return undefined;
	// It cannot have done the work.
	const unsent = error.outcome === 'notSent' && PASSING.has(error.code ?? '');
	// It may have done it, but a read costs nothing.
	const free = error.outcome === 'unknown' && isFree(request);
	// Nothing protects a paid call from being paid twice, so it is not made again.
	if (!unsent && !free) return undefined;
	return FIRST_DELAY_MS * 2 ** (tries - 1) * (0.75 + Math.random() / 2);
}
