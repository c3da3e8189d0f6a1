/** The one place that says what may be sent again. */
import { ServiceError } from '../common/errors';
import { meaningOf } from './answer';
import type { ServiceRequest } from './request';

/** Node.js error codes for a connection that was not made, but may be made later. */
export const NOT_CONNECTED = new Set(
	'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH'.split(' '),
);
/** These codes, and further ones of which the same is true if nothing was sent. */
const TEMPORARY = new Set([...NOT_CONNECTED, 'ETIMEDOUT', 'EADDRNOTAVAIL', 'EMFILE']);

/** The pauses before a read is sent again, in milliseconds. */
const READ_AGAIN_MS = [500, 1000, 2000];

/** Whether the service refused a call only for its rate (docs/service.md, Rate limits). */
export function isRateRefusal(error: unknown): boolean {
	const isRefused = error instanceof ServiceError && error.outcome === 'refused';
	return isRefused && meaningOf(error) === 'RATE_LIMIT_EXCEEDED';
}

/** Whether nothing was sent, for a temporary reason. Wrong addresses and certificates are not temporary. */
export function isUnsent({ outcome, code = '' }: ServiceError): boolean {
	return outcome === 'notSent' && TEMPORARY.has(code);
}

/** Whether a start may be sent again: it certainly started nothing, and may succeed later. */
export function mayStartAgain(error: unknown): boolean {
	return error instanceof ServiceError && (isUnsent(error) || isRateRefusal(error));
}

/**
 * Whether the service does not know the scrape, or a gateway says so in its place (docs/service.md, What is not known).
 */
export function isUnknownScrape(error: unknown): boolean {
	if (!(error instanceof ServiceError)) return false;
	const { code = '', outcome, httpStatus } = error;
	const isInvalid = code === 'INVALID_REQUEST' && outcome === 'refused';
	return isInvalid || code === 'NOT_FOUND' || httpStatus === 404;
}

/**
 * How long to wait before a failed call is sent again, in milliseconds; `undefined` if it must not be. With 0, the
 * limiter lets it wait until the service takes calls again.
 * @param tries the number of tries so far
 */
export function retryDelayMs(
	error: ServiceError,
	{ kind, permit }: ServiceRequest,
	tries: number,
): number | undefined {
	if (permit) return undefined;
	if (isRateRefusal(error)) return 0;
	// Whoever polls asks again.
	if (kind === 'poll') return undefined;
	if (isUnsent(error)) return 0;
	// The service may have done the work. A read costs nothing, but nothing protects a paid call from being charged twice.
	return kind === 'read' && error.outcome === 'unknown' ? READ_AGAIN_MS[tries - 1] : undefined;
}
