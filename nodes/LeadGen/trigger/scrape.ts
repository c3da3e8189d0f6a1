import { randomUUID } from 'crypto';
import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import { ServiceError } from '../common/errors';
import { readFilters } from '../common/filters';
import type { Parameters } from '../common/parameters';
import { baseUrlOf } from '../service/credential';
import { endOf, pollRequest, type ServiceRequest } from '../service/request';
import { isUnknownScrape } from '../service/retry';
import { NodeRun } from '../service/run';
import { Service } from '../service/service';
import type { TriggerNode } from './node';
import { idIn } from './notification';
import { isRefused } from './notices';
import { fingerprint } from './signature';

/** A start without an answer after two minutes has an unknown outcome. */
const [START_TIMEOUT_MS, READ_TIMEOUT_MS] = [120_000, 30_000];

/** The body of a start, without `webhookUrl`. @param maxLeads for a test run */
export function startBody(parameters: Parameters, maxLeads = Infinity): IDataObject {
	const filters = readFilters(parameters);
	return { filters: { ...filters, limit: Math.min(Number(filters.limit), maxLeads) } };
}

/** Who asks right before a start is sent whether it may be, and until when it may wait for that. */
export type Turn = Required<Pick<ServiceRequest, 'permit'>> & { signal: AbortSignal };

/**
 * Starts a scrape, and never returns that of another start.
 * @returns the answer of the service, with the ID as text @throws ServiceError with the outcome, as far as it is known
 */
export async function startScrape(
	{ context }: TriggerNode,
	credential: ICredentialDataDecryptedObject,
	body: IDataObject,
	turn?: Turn,
): Promise<IDataObject & { scrapeId: string }> {
	const settings = { timeoutMs: START_TIMEOUT_MS, executionId: randomUUID(), signal: turn?.signal };
	const service = new Service(new NodeRun(context, credential, settings));
	const start = { kind: 'start', path: '/start', body } as const;
	const data = await service.data(turn ? { ...start, permit: turn.permit } : start);
	const scrapeId = idIn(data.scrapeId);
	if (scrapeId !== undefined) return { ...data, scrapeId };
	const advice = 'Check the dashboard and the credits of your account before you start it again.';
	const message = 'The service did not return the ID of the scrape';
	throw new ServiceError(message, advice, { outcome: 'unknown' });
}

/** A scrape that the service knows, with the ID as the service spells it, and a hash that identifies the account. */
export type FoundScrape = { id: string; data: IDataObject; isFinished: boolean; account: string };

/**
 * Requests the status of a scrape. @throws ServiceError if the service does not return it
 * @returns undefined if the service does not know it; some services answer for any ID, without a status
 */
export async function findScrape(
	node: TriggerNode,
	scrapeId: string,
): Promise<FoundScrape | undefined> {
	const { credential } = await node.access();
	const service = new Service(
		new NodeRun(node.context, credential, { timeoutMs: READ_TIMEOUT_MS }),
	);
	const data = await service.data(pollRequest(scrapeId)).catch((error: unknown) => {
		if (!isRefused(error)) throw error;
		// How the service answers for an unknown scrape is not documented (docs/service.md).
		if (isUnknownScrape(error)) return undefined;
		// The user may have changed the key.
		node.forgetAccess();
		throw error;
	});
	if (typeof data?.status !== 'string' || data.status === '') return undefined;
	const account = fingerprint([baseUrlOf(credential), credential.apiKey]);
	return {
		id: idIn(data.scrapeId) ?? scrapeId,
		data,
		isFinished: endOf(data) !== undefined,
		account,
	};
}
