import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { readFilters } from '../operations/scrape/filters';
import { isNotFound, statusRequest } from '../operations/scrape/getStatus';
import { ServiceError } from '../service/errors';
import { Service } from '../service/service';
import type { Status } from './decide';
import { parametersOf } from './plan';

type Context = IHookFunctions | IWebhookFunctions;

/** A start that takes longer has an unknown outcome. */
const START_TIMEOUT_MS = 120_000;
const READ_TIMEOUT_MS = 30_000;

/**
 * Starts a scrape that reports to `webhookUrl`.
 * @param name makes it a start of its own, however alike it is to another
 * @returns its ID; undefined if the service does not say
 */
export async function startScrape(
	context: Context,
	webhookUrl: string,
	name: string,
	most = Infinity,
): Promise<string | undefined> {
	const filters = readFilters(parametersOf(context));
	const body = {
		filters: { ...filters, limit: Math.min(Number(filters.limit), most) },
		webhookUrl,
	};
	const service = await Service.connect(context, START_TIMEOUT_MS, { executionId: name });
	return idIn(await service.data({ kind: 'start', path: '/start', body, place: name }));
}

function idIn({ scrapeId }: IDataObject): string | undefined {
	if (typeof scrapeId === 'number') return String(scrapeId);
	return typeof scrapeId === 'string' && scrapeId !== '' ? scrapeId : undefined;
}

/** @throws ServiceError if the account can start nothing */
export async function checkAccount(context: Context): Promise<void> {
	const service = await Service.connect(context, READ_TIMEOUT_MS);
	const { credits } = await service.data({ kind: 'poll', path: '/credits' });
	if (typeof credits === 'number' && credits <= 0) {
		throw new ServiceError(
			'The account has no credits left',
			'No scrape was started. Add credits to the account or wait for its reset date, then activate the workflow again.',
			{ outcome: 'refused', code: 'INSUFFICIENT_CREDITS' },
		);
	}
}

/** What the service says of a scrape: all its fields, and what decisions hang on. */
export async function lookUp(
	context: Context,
	scrapeId: string,
): Promise<{ data: IDataObject; status: Status }> {
	const service = await Service.connect(context, READ_TIMEOUT_MS);
	const data = await service
		.data({ ...statusRequest(scrapeId), kind: 'poll' })
		.catch((error: unknown) => {
			if (isUnknownScrape(error)) return undefined;
			throw error;
		});
	if (data === undefined) return { data: {}, status: { status: undefined } };
	const status = typeof data.status === 'string' ? data.status : 'processing';
	return {
		data,
		status: {
			id: idIn(data),
			status,
			createdAt: time(data.createdAt),
			completedAt: time(data.completedAt),
		},
	};
}

/** The interface does not show how the service says that it has no such scrape. */
function isUnknownScrape(error: unknown): boolean {
	if (!(error instanceof ServiceError) || error.outcome !== 'refused') return false;
	return error.code === 'INVALID_REQUEST' || isNotFound(error);
}

/** The times of the service are UTC (interface 2.2), also where they do not say so. */
export function time(value: unknown): number | undefined {
	const text = typeof value === 'string' ? value.trim() : '';
	const isZoned = /(z|utc|gmt|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes(':');
	const parsed = Date.parse(isZoned ? text : `${text}Z`);
	return Number.isNaN(parsed) ? undefined : parsed;
}
