import { randomUUID } from 'crypto';
import type { ICredentialDataDecryptedObject, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { NotAttemptedError, ServiceError } from '../common/errors';
import { readFilters } from '../common/filters';
import type { Parameters } from '../common/parameters';
import { anySignal } from '../common/pause';
import { baseUrlOf } from '../service/account';
import { isFinished, isUnknownScrape, pollRequest } from '../service/scrapeStatus';
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
	const settings = { timeoutMs: START_TIMEOUT_MS, executionId: randomUUID() };
	const once = turn && sendingOnce(context as IExecuteFunctions, turn);
	const service = new Service(once?.context ?? context, credential, {
		...settings,
		signal: once?.signal,
	});
	const data = await service
		.data({ kind: 'start', path: '/start', body })
		.catch((error: unknown) => {
			throw (once?.thrown() ?? error) as Error;
		});
	const scrapeId = idIn(data.scrapeId);
	if (scrapeId !== undefined) return { ...data, scrapeId };
	const advice = 'Check the dashboard and the credits of your account before you start it again.';
	const message = 'The service did not return the ID of the scrape';
	throw new ServiceError(message, advice, { outcome: 'unknown' });
}

type SentBy = IExecuteFunctions['helpers']['httpRequestWithAuthentication'];

/** How a start is sent: asked when the rate limit lets it go whether it may be sent; and until when it may wait for that. */
export type Turn = { maySend: () => Promise<boolean>; signal: AbortSignal };

/** A context that sends a paid request once, if {@link Turn} allows it. Between two tries, the caller waits. */
function sendingOnce(context: IExecuteFunctions, { maySend, signal }: Turn) {
	const { helpers } = context;
	const isOver = new AbortController();
	let thrown: unknown;
	const httpRequestWithAuthentication: SentBy = async function (type, options, more) {
		const send = async (): Promise<unknown> =>
			await helpers.httpRequestWithAuthentication.call(this, type, options, more);
		if (options.method !== 'POST') return await send();
		const isAllowed = await maySend().catch((error: unknown) => {
			thrown = error;
		});
		if (isAllowed !== true) throw new Error('The start must not be sent');
		let reason = 'The service could not be reached';
		try {
			const answer = await send();
			reason = 'The service refused the start, because of too many requests';
			return answer;
		} finally {
			isOver.abort(new NotAttemptedError(reason, 'Check that the service is up.'));
		}
	};
	return {
		context: Object.create(context, {
			helpers: { value: { ...helpers, httpRequestWithAuthentication } },
		}) as IExecuteFunctions,
		signal: anySignal(signal, isOver.signal),
		thrown: () => thrown,
	};
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
	const service = new Service(node.context, credential, { timeoutMs: READ_TIMEOUT_MS });
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
	return { id: idIn(data.scrapeId) ?? scrapeId, data, isFinished: isFinished(data), account };
}
