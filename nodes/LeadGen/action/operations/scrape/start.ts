import { show, textField, type Parameters } from '../../../common/parameters';
import { InputError } from '../../../common/errors';
import type { ServiceRequest } from '../../../service/types';
import type { Operation } from '../operation';
import { filterFields, hasFilter, readFilters } from '../../../common/filters';

const webhookUrl = textField(
	{
		displayName: 'Webhook URL',
		name: 'webhookUrl',
		placeholder: 'e.g. https://n8n.example.com/webhook/…',
		description:
			'Where the service reports that the scrape is finished: the production URL of a LeadGen Trigger node that only receives completions, or {{ $execution.resumeUrl }} for a Wait node',
	},
	(text, displayName) => {
		if (!URL.canParse(text) || !/^https?:/i.test(text)) {
			throw new InputError(
				displayName,
				`must be a URL, but is ${show(text)}`,
				'Enter a full URL that the service can reach, or leave it empty.',
			);
		}
		return text;
	},
);

/** The request that starts a scrape (docs/service.md, Operations). @throws InputError for invalid values */
export function startRequest(parameters: Parameters): ServiceRequest {
	const url = parameters.option(webhookUrl);
	const filters = readFilters(parameters);
	const isForAnyone = !hasFilter(filters);
	// A user sees the notice in the editor. A model that forgets the filters does not.
	if (isForAnyone && parameters.isTool) {
		throw new InputError(
			'Filters',
			'are empty, and an AI agent must set at least one of jobTitles, locations, industries and companySize',
			'A scrape without filters collects leads of any kind, and uses credits for them.',
		);
	}
	if (isForAnyone) {
		parameters.warn(
			'A scrape had no filters. It collects leads of any kind, up to the limit, and uses credits for them.',
		);
	}
	return {
		kind: 'start',
		noun: 'scrape',
		path: '/start',
		place: parameters.place,
		body: { filters, ...(url && { webhookUrl: url }) },
	};
}

export const start: Operation = {
	value: 'start',
	name: 'Start',
	action: 'Start scrape',
	description:
		'Start a scrape that collects leads which match the filters. Returns the scrape ID and the estimated credits at once.',
	paid: 'start',
	notice:
		'Each incoming item starts a separate scrape. A scrape uses credits for its leads, up to the limit.',
	toolNotice:
		"Each call starts a scrape, which uses credits for its leads, up to the limit. Set 'Limit' yourself, and let the model set at least one filter. Without a filter, the node starts no scrape.",
	fields: filterFields,
	options: [webhookUrl],
	output: { scrapeId: 'scr_9f2c', status: 'pending', estimatedCredits: 50 },
	prepare: (parameters) => ({ request: startRequest(parameters) }),
};
