import type { IDataObject } from 'n8n-workflow';
import { isObject, isText, wordIn } from '../common/json';
import type { ServiceError } from '../common/errors';
import { errorOf, filled, redirected, unfinished, unreadable, withoutData } from './failures';
import { parseLoosely } from './looseJson';
import { isFree, type RawResponse, type ServiceRequest } from './types';

/** Words for a lookup that goes on, and fields that tell where its result will be. */
const UNFINISHED =
	/^(in_?(progress|queue)|not_?(finished|ready)|pending|processing|queued|running|scheduled|started|submitted|waiting)$/;
/** The service took the request; or the mailbox takes mail. */
const ACCEPTED = /^(accepted|created)$/;
const RESULT_PLACE = /^(job|task)_?id$|^(poll|status|result)_?ur[il]$/i;

/** The `data` of a call, which is `null` if the service returns `"data": null`; or why there is none. */
export type Answer = { data: IDataObject | null } | { error: ServiceError };

/**
 * Reads an answer: the `data` of a success envelope (docs/service.md, The envelope) with every field that the service
 * sent; or an error for an error envelope with any HTTP status, and for anything that is not an envelope.
 */
export function readEnvelope(response: RawResponse, request: ServiceRequest): Answer {
	const { status } = response;
	if (status >= 300 && status < 400) return { error: redirected(response, request) };
	const envelope = parseLoosely(response.text);
	if (!isObject(envelope)) return { error: unreadable(response, request) };
	const { error } = envelope;
	const data = inText(envelope.data);
	if (isError({ ...envelope, data })) {
		// The status of a failed scrape may come as an error.
		const isStatus = status < 400 && isFree(request) && isObject(data);
		return isStatus && wordIn(data.status) === 'failed'
			? { data: { error, ...data } }
			: { error: errorOf(envelope, status, request) };
	}
	if (status >= 400) return { error: unreadable(response, request) };
	if (data !== null && !isObject(data)) return { error: withoutData(request, envelope) };
	// What says that the lookup goes on may be beside the data.
	const beside = filled({ ...envelope, success: undefined, data: undefined, error: undefined });
	const whole = { ...beside, ...data };
	const places = beside ? [data ?? {}, whole] : [data ?? {}];
	const goesOn = places.some((fields) => isUnfinished(fields, status, request));
	return goesOn ? { error: unfinished(whole, status, request) } : { data };
}

/** Whether the service accepted a lookup and has no result yet, neither an address nor that it found none. */
function isUnfinished(
	data: IDataObject,
	httpStatus: number,
	{ kind, body }: ServiceRequest,
): boolean {
	// A verification repeats the address.
	if (kind !== 'lookup' || (data.email && !body?.email)) return false;
	const word = wordIn(data.status ?? data.state);
	if (word !== undefined && !ACCEPTED.test(word)) return UNFINISHED.test(word);
	if (data.found === false) return false;
	const goesOn = Object.keys(data).some((name) => RESULT_PLACE.test(name));
	return httpStatus === 202 || (goesOn && !('email' in data));
}

/** A success may contain an error beside its data, or an empty error if nothing was found. */
function isError({ success, data, error, message }: Record<string, unknown>): boolean {
	const said = typeof success === 'boolean' ? String(success) : wordIn(success);
	if (said === 'false') return true;
	const isSuccess = said === 'true';
	if (isObject(data)) return !isSuccess && isObject(error);
	if (isObject(error)) {
		return !isSuccess || data === undefined || [error.code, error.message].some(Boolean);
	}
	return isText(error) || (success === undefined && isText(message));
}

/** An object that comes as a JSON text. */
function inText(value: IDataObject[string]): unknown {
	const object = typeof value === 'string' && /^\s*{/.test(value) ? parseLoosely(value) : undefined;
	return object ?? value;
}
