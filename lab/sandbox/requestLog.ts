import type { FastifyRequest } from 'fastify';
import { operations } from './operations';

/** One request to the service, as it came and as it was answered. */
export interface RequestRecord {
	/** Arrival, epoch ms. */
	at: number;
	/** When the answer was sent, epoch ms; absent while there is none. */
	answeredAt?: number;
	method: string;
	/** Without the query. */
	path: string;
	/** Absent if the service has no such path. */
	operation?: string;
	query: Record<string, unknown>;
	/** With lower-case names, Authorization included. */
	headers: Record<string, string | string[] | undefined>;
	/** Parsed if it is JSON and says so, otherwise its text; undefined if there is none. */
	body: unknown;
	/** The API key, if it is one of an account. */
	account?: string;
	/** How the request departs from what the service takes, if it does. */
	violation?: string;
	/** HTTP status answered; absent if there was no answer. */
	status?: number;
	/** Credits taken by this request, whatever was answered. */
	cost: number;
}

/** The API key of an `Authorization: Bearer` header (docs/service.md, Addresses and key). */
export function bearerKey(request: FastifyRequest): string | undefined {
	return /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** @param operation the name in `operations`, if the service has the path */
export function recordOf(request: FastifyRequest, operation?: string): RequestRecord {
	return {
		at: Date.now(),
		method: request.method,
		path: request.url.split('?')[0] ?? '',
		operation,
		query: { ...(request.query as Record<string, unknown>) },
		headers: { ...request.headers },
		body: request.body ?? undefined,
		violation: violationOf(request, operation),
		cost: 0,
	};
}

function violationOf(request: FastifyRequest, operation?: string): string | undefined {
	if (operation === undefined) return `the service has no ${request.method} ${request.url}`;
	const { 'content-type': type = '', 'content-length': length = '0', ...headers } = request.headers;
	const hasBody = length !== '0' || headers['transfer-encoding'] !== undefined;
	const takesBody = operations[operation]?.body !== undefined;
	const found: string[] = [];
	if (bearerKey(request) === undefined) found.push('no Authorization: Bearer header');
	if (!takesBody && hasBody) found.push('the operation takes no body');
	if (takesBody && !type.startsWith('application/json')) {
		found.push('Content-Type is not application/json');
	}
	if (request.validationError) found.push(request.validationError.message);
	return found.length === 0 ? undefined : found.join('; ');
}
