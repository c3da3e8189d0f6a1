import { textField } from '../../../common/parameters';
import { pollRequest } from '../../../service/request';
import type { Operation } from '../operation';

export const scrapeId = textField(
	{
		displayName: 'Scrape ID',
		name: 'scrapeId',
		required: true,
		placeholder: 'e.g. scr_9f2c',
		description: 'The scrapeId that the operation Start returned',
	},
	undefined,
	'Enter the scrapeId that the operation Start returned.',
);

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
	prepare: (parameters) => ({
		request: { ...pollRequest(parameters.get(scrapeId)), kind: 'read' },
	}),
};
