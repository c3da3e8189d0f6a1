import { textField } from '../../parameters';
import { InputError } from '../../service/errors';
import type { ServiceRequest } from '../../service/types';
import type { Parameters } from '../../parameters';
import { show } from '../../parameters';
import type { Operation } from '../operation';
import { filterFields, readFilters } from './filters';

const webhookUrl = textField(
	{
		displayName: 'Webhook URL',
		name: 'webhookUrl',
		placeholder: 'e.g. https://n8n.example.com/webhook/…',
		description:
			'Where the service reports that the scrape is complete: the production URL of a LeadGen Trigger node that listens, or {{ $execution.resumeUrl }} for a Wait node',
	},
	(text, displayName) => {
		if (!URL.canParse(text) || !/^https?:/i.test(text)) {
			throw new InputError(
				displayName,
				`must be a web address, and is ${show(text)}`,
				'Give a full address that the service can reach, or leave it empty.',
			);
		}
		return text;
	},
);

/** The request that starts a scrape (interface 4.1). */
export function startRequest(parameters: Parameters): ServiceRequest {
	const url = parameters.option(webhookUrl);
	return {
		kind: 'start',
		path: '/start',
		place: parameters.place,
		body: { filters: readFilters(parameters), ...(url && { webhookUrl: url }) },
	};
}

export const start: Operation = {
	value: 'start',
	name: 'Start',
	action: 'Start a scrape',
	description:
		'Start collecting leads that match the filters, and go on at once with the scrape ID and the estimated credits',
	paid: 'start',
	notice:
		'Each incoming item starts a scrape, which uses credits for up to as many leads as the limit says.',
	fields: filterFields,
	options: [webhookUrl],
	async run(parameters, service) {
		return await service.data(startRequest(parameters));
	},
};
