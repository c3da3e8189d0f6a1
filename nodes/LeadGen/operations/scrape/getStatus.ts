import type { IDataObject } from 'n8n-workflow';
import { wordIn } from '../../json';
import { textField, type Parameters } from '../../parameters';
import { InputError, ServiceError } from '../../service/errors';
import type { ServiceRequest } from '../../service/types';
import type { Operation } from '../operation';

export const scrapeId = textField({
	displayName: 'Scrape ID',
	name: 'scrapeId',
	required: true,
	placeholder: 'e.g. scr_9f2c',
	description: 'The scrapeId that the operation Start returned',
});

/** The scrape ID of an item. @throws InputError if it is empty */
export function readScrapeId(parameters: Parameters): string {
	const id = parameters.get(scrapeId);
	if (id === '') {
		throw new InputError(
			scrapeId.property.displayName,
			'is empty',
			'Enter the scrapeId that the operation Start returned.',
		);
	}
	return id;
}

/** The request for the status of a scrape (docs/service.md, Operations). */
export function statusRequest(id: string): ServiceRequest {
	return { kind: 'read', path: '/status', query: { scrapeId: id } };
}

/** Whether a scrape has ended, successfully or not (docs/service.md, Scrapes and their status). */
export function isFinished({ status }: IDataObject): boolean {
	return ['completed', 'failed'].includes(wordIn(status) ?? '');
}

/** Whether the service does not find the scrape, or a gateway says so in its place. */
export function isNotFound(error: unknown): boolean {
	return error instanceof ServiceError && (error.code === 'NOT_FOUND' || error.httpStatus === 404);
}

export const getStatus: Operation = {
	value: 'getStatus',
	name: 'Get Status',
	action: 'Get scrape status',
	description:
		'Get the status of a scrape, with its progress, the number of leads and the credits used',
	fields: [scrapeId],
	output: {
		scrapeId: 'scr_9f2c',
		status: 'completed',
		progress: 100,
		leadsFound: 50,
		creditsUsed: 50,
		createdAt: '2026-11-21T09:00:00.000Z',
		completedAt: '2026-11-21T09:02:10.000Z',
	},
	async run(parameters, service) {
		return await service.data(statusRequest(readScrapeId(parameters)));
	},
};
