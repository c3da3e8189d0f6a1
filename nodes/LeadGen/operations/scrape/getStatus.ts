import { textField, type Parameters } from '../../parameters';
import { InputError, ServiceError } from '../../service/errors';
import type { ServiceRequest } from '../../service/types';
import type { Operation } from '../operation';

export const scrapeId = textField({
	displayName: 'Scrape ID',
	name: 'scrapeId',
	required: true,
	placeholder: 'e.g. {{ $json.scrapeId }}',
	description: 'The identifier that starting the scrape gave',
});

/** The scrape ID of an item. @throws InputError if it is empty */
export function readScrapeId(parameters: Parameters): string {
	const id = parameters.get(scrapeId);
	if (id === '') {
		throw new InputError(
			scrapeId.property.displayName,
			'is empty',
			'Give the scrapeId that the "Start" operation returned.',
		);
	}
	return id;
}

/** The request for the status of a scrape (interface 4.2). */
export function statusRequest(id: string): ServiceRequest {
	return { kind: 'read', path: '/status', query: { scrapeId: id } };
}

/** Whether the service does not find the scrape, or a gateway says so in its stead. */
export function isNotFound(error: unknown): boolean {
	return error instanceof ServiceError && (error.code === 'NOT_FOUND' || error.httpStatus === 404);
}

export const getStatus: Operation = {
	value: 'getStatus',
	name: 'Get Status',
	action: 'Get the status of a scrape',
	description: 'Get the status, progress, number of leads and credits used of a scrape',
	fields: [scrapeId],
	async run(parameters, service) {
		return await service.data(statusRequest(readScrapeId(parameters)));
	},
};
