import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../common/errors';
import { wordIn } from '../common/json';
import type { ServiceRequest } from './types';

/** The statuses that end a scrape (docs/service.md, Scrapes and their status). */
const ENDS = ['completed', 'failed'] as const;

/** The request for the status of a scrape (docs/service.md, Operations), for one that asks again and again. */
export function pollRequest(id: string): ServiceRequest {
	return { kind: 'poll', path: '/status', query: { scrapeId: id } };
}

/** How a scrape ended; undefined while it is running. */
export function endOf({ status }: IDataObject): (typeof ENDS)[number] | undefined {
	return ENDS.find((end) => end === wordIn(status));
}

/** Whether a scrape has ended, successfully or not. */
export function isFinished(scrape: IDataObject): boolean {
	return endOf(scrape) !== undefined;
}

/** Whether the service does not know the scrape, or a gateway says so in its place (docs/service.md, What is not known). */
export function isUnknownScrape(error: unknown): boolean {
	if (!(error instanceof ServiceError)) return false;
	const { code = '', outcome, httpStatus } = error;
	const isInvalid = code === 'INVALID_REQUEST' && outcome === 'refused';
	return isInvalid || code === 'NOT_FOUND' || httpStatus === 404;
}
