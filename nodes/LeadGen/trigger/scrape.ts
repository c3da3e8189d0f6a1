import { randomUUID } from 'crypto';
import {
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type IHookFunctions,
	type ITriggerFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { wordIn } from '../json';
import { readFilters } from '../operations/scrape/filters';
import { isNotFound, statusRequest } from '../operations/scrape/getStatus';
import { ServiceError } from '../service/errors';
import { Service } from '../service/service';
import { cachedAccess, FRESH_MS, type NodeMemory } from './memory';
import { START_TIMEOUT_MS } from './events';
import { idIn } from './notification';
import { parametersOf } from './plan';
import type { Check } from './state';
import { isRefused, applyStatus, applyStatusError, type Found } from './status';

type Context = IHookFunctions | ITriggerFunctions | IWebhookFunctions;

const READ_TIMEOUT_MS = 30_000;
/** Short, because a user waits for the activation. */
const LONGEST_CHECK_MS = 15_000;

/** The body of a start, without `webhookUrl`. @param most the maximum number of leads */
export function startBody(
	context: IHookFunctions | IWebhookFunctions,
	most = Infinity,
): IDataObject {
	const filters = readFilters(parametersOf(context));
	return { filters: { ...filters, limit: Math.min(Number(filters.limit), most) } };
}

/**
 * Starts a scrape. Never returns the scrape of another start, even if both are alike.
 * @returns its ID
 * @throws ServiceError with the outcome of the start, as far as it is known
 */
export async function startScrape(
	context: Context,
	credential: ICredentialDataDecryptedObject,
	body: IDataObject,
): Promise<string> {
	const settings = { executionId: randomUUID() };
	const service = new Service(context, credential, START_TIMEOUT_MS, settings);
	const { scrapeId } = await service.data({ kind: 'start', path: '/start', body });
	const id = idIn(scrapeId);
	if (id !== undefined) return id;
	throw new ServiceError(
		'The service did not return the ID of the scrape',
		'Check the dashboard and the credits of your account before you start it again.',
		{ outcome: 'unknown' },
	);
}

/** @throws ServiceError if the account cannot start a scrape */
export async function checkAccount(context: Context): Promise<void> {
	const signal = AbortSignal.timeout(LONGEST_CHECK_MS);
	const service = await Service.connect(context, READ_TIMEOUT_MS, { signal });
	const { credits } = await service.data({ kind: 'poll', path: '/credits' });
	if (typeof credits === 'number' && credits <= 0) {
		throw new ServiceError(
			'The account has no credits left',
			'No scrape was started. Add credits to the account or wait for its reset date, then publish or activate the workflow again.',
			{ outcome: 'refused', code: 'INSUFFICIENT_CREDITS' },
		);
	}
}

/**
 * Requests the status of a scrape.
 * @param kind a poll leaves room in the rate limit for other calls
 * @throws ServiceError if the service does not return it
 */
export async function requestStatus(
	context: Context,
	credential: ICredentialDataDecryptedObject,
	scrapeId: string,
	kind: 'read' | 'poll' = 'poll',
): Promise<Found> {
	const service = new Service(context, credential, READ_TIMEOUT_MS);
	const data = await service.data({ ...statusRequest(scrapeId), kind }).catch((error: unknown) => {
		if (isUnknownScrape(error)) return undefined;
		throw error;
	});
	if (data === undefined) return { data: {} };
	return {
		data,
		id: idIn(data.scrapeId),
		status: wordIn(data.status) ?? '',
		createdAt: time(data.createdAt),
		completedAt: time(data.completedAt),
	};
}

/** How the service answers for an unknown scrape is not documented (docs/service.md). */
function isUnknownScrape(error: unknown): boolean {
	return isRefused(error) && (error.code === 'INVALID_REQUEST' || isNotFound(error));
}

/** The service returns times in UTC (docs/service.md), also if they name no time zone. */
export function time(value: unknown): number | undefined {
	const text = typeof value === 'string' ? value.trim() : '';
	const isZoned = /(z|utc|gmt|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes(':');
	const parsed = Date.parse(isZoned ? text : `${text}Z`);
	return Number.isNaN(parsed) ? undefined : parsed;
}

/** Looks up a scrape of the node, and records the answer. */
export async function checkStatus(context: Context, memory: NodeMemory, id: string): Promise<void> {
	const { checks, state: before } = memory;
	const last = checks.get(id);
	// A scrape whose notification arrived after the last status request is probably finished.
	const notifiedAt = before.notifications[before.scrapes[id]?.source ?? '']?.at ?? 0;
	const kind = notifiedAt > (last?.at ?? 0) ? 'read' : 'poll';
	const ask = async (maxAgeMs?: number) => {
		const { credential } = await cachedAccess(context, memory, maxAgeMs);
		return await requestStatus(context, credential, id, kind);
	};
	const found = await ask()
		.catch(async (error: unknown) => {
			// The user may have replaced the API key.
			if (isRefused(error) && error.httpStatus === 401) return await ask(FRESH_MS);
			throw error;
		})
		.catch((error: unknown) => ({ error }));
	const now = Date.now();
	// After a new activation, the plan is unknown until the next sync. Then the status is requested again.
	const { state, reply } = memory;
	const isAnswered = !('error' in found) && reply !== undefined;
	const check: Check = { ...checks.get(id), at: now, isAnswered };
	checks.set(id, check);
	if ('error' in found) {
		// The credential may have changed.
		delete memory.access;
		const said = `the status of ${id} is not known: ${String(found.error)}`;
		context.logger.warn(`LeadGen Trigger: ${said}`);
		applyStatusError(state, id, now, found.error);
	} else if (reply) {
		// A scrape that the service confirms gets the ID as the service spells it.
		const { id: realId = id } = found;
		if (!checks.has(realId)) checks.set(realId, check);
		applyStatus(state, id, found, check, reply.plan, now);
	}
}
