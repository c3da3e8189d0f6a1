import { randomUUID } from 'crypto';
import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import { readFilters } from '../common/filters';
import type { Parameters } from '../common/parameters';
import { ServiceError } from '../common/errors';
import { isFinished, isNotFound, pollRequest } from '../service/scrapeStatus';
import { Service } from '../service/service';
import type { TriggerNode } from './node';
import { isRefused } from './notices';
import { idIn } from './notification';

/** A start without an answer after this time has an unknown outcome. */
const START_TIMEOUT_MS = 2 * 60_000;
const READ_TIMEOUT_MS = 30_000;
/** Short, because a user waits for the activation. */
const MAX_CHECK_MS = 15_000;

/** The body of a start, without `webhookUrl`. @param maxLeads for a test run */
export function startBody(parameters: Parameters, maxLeads = Infinity): IDataObject {
	const filters = readFilters(parameters);
	return { filters: { ...filters, limit: Math.min(Number(filters.limit), maxLeads) } };
}

/**
 * Starts a scrape. Never returns the scrape of another start, even if both are alike.
 * @returns the answer of the service, with the ID as text
 * @throws ServiceError with the outcome of the start, as far as it is known
 */
export async function startScrape(
	{ context }: TriggerNode,
	credential: ICredentialDataDecryptedObject,
	body: IDataObject,
	signal?: AbortSignal,
): Promise<IDataObject & { scrapeId: string }> {
	const settings = { executionId: randomUUID(), signal };
	const service = new Service(context, credential, START_TIMEOUT_MS, settings);
	const data = await service.data({ kind: 'start', path: '/start', body });
	const scrapeId = idIn(data.scrapeId);
	if (scrapeId !== undefined) return { ...data, scrapeId };
	throw new ServiceError(
		'The service did not return the ID of the scrape',
		'Check the dashboard and the credits of your account before you start it again.',
		{ outcome: 'unknown' },
	);
}

/** @throws ServiceError if the account cannot start a scrape */
export async function checkAccount(node: TriggerNode): Promise<void> {
	const signal = AbortSignal.timeout(MAX_CHECK_MS);
	const { credential } = await node.access();
	const service = new Service(node.context, credential, READ_TIMEOUT_MS, { signal });
	const { credits } = await service.data({ kind: 'poll', path: '/credits' });
	if (credits === 0) {
		throw new ServiceError(
			'The account has no credits left',
			'No scrape was started. Add credits to the account or wait for its reset date, then publish or activate the workflow again.',
			{ outcome: 'refused', code: 'INSUFFICIENT_CREDITS' },
		);
	}
}

/** A scrape that the service knows. */
export interface FoundScrape {
	/** The ID as the service spells it. The service may accept other spellings. */
	id: string;
	data: IDataObject;
	isFinished: boolean;
}

/**
 * Requests the status of a scrape.
 * @returns undefined if the service does not know it; some services answer for any ID, without a status
 * @throws ServiceError if the service does not return it
 */
export async function findScrape(
	node: TriggerNode,
	scrapeId: string,
): Promise<FoundScrape | undefined> {
	const { credential } = await node.access();
	const service = new Service(node.context, credential, READ_TIMEOUT_MS);
	const data = await service.data(pollRequest(scrapeId)).catch(ifUnknown);
	if (typeof data?.status !== 'string' || data.status === '') return undefined;
	return { id: idIn(data.scrapeId) ?? scrapeId, data, isFinished: isFinished(data) };
}

/** How the service answers for an unknown scrape is not documented (docs/service.md). */
function ifUnknown(error: unknown): undefined {
	if (isRefused(error) && isNotFound(error)) return undefined;
	throw error;
}
