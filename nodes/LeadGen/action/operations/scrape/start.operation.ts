import { noticeField, textField, type Parameters } from '../../../common/parameters';
import { mustBe } from '../../../common/values';
import { InputError } from '../../../common/errors';
import type { ServiceRequest } from '../../../service/request';
import type { Operation } from '../operation';
import { filterFields, hasFilter, readFilters } from '../../../common/filters';

const webhookUrl = textField(
	{
		displayName: 'Webhook URL',
		name: 'webhookUrl',
		placeholder: 'e.g. https://n8n.example.com/webhook/…',
		description:
			'Where to send the completion: the production URL of a LeadGen Trigger that only receives, or {{ $execution.resumeUrl }} for a Wait node',
	},
	(text, displayName) => {
		if (URL.canParse(text) && /^https?:/i.test(text)) return text;
		const advice = 'Enter a full URL that the service can reach, or leave it empty.';
		throw mustBe('a URL', text, displayName, advice);
	},
);

/** The request that starts a scrape (docs/service.md, Operations). @throws InputError for invalid values */
export function startRequest(parameters: Parameters): ServiceRequest {
	const url = parameters.option(webhookUrl);
	const filters = readFilters(parameters);
	// A model may forget the filters.
	if (parameters.isTool && !hasFilter(filters)) {
		throw new InputError(
			'Filters',
			'are empty, and an AI agent must set at least one of jobTitles, locations, industries and companySize',
			'A scrape without filters collects leads of any kind, and uses credits for them.',
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

const scrapeNotice = noticeField(
	'notice',
	"Each item starts a scrape, which uses credits for its leads, up to 'Limit'. Without a filter, it collects leads of any kind, and an AI agent can start none.",
);

export const start: Operation = {
	value: 'start',
	name: 'Start',
	action: 'Start scrape',
	description:
		'Start a scrape that collects leads which match the filters, and get its ID and the estimated credits',
	paid: 'start',
	fields: [scrapeNotice, ...filterFields],
	options: [webhookUrl],
	output: { scrapeId: 'scr_9f2c', status: 'pending', estimatedCredits: 50 },
	prepare: (parameters) => ({ request: startRequest(parameters) }),
};
