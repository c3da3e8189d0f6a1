import { textField, type Parameters } from '../../../common/parameters';
import { InputError } from '../../../common/errors';
import { statusRequest } from '../../../service/scrapeStatus';
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
	prepare(parameters) {
		const request = statusRequest(readScrapeId(parameters));
		return { run: async (service) => await service.data(request) };
	},
};
