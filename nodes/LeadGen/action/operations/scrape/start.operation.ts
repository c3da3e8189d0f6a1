import { noticeField, textField, type Parameters } from '../../../common/parameters';
import { mustBe } from '../../../common/values';
import type { ServiceRequest } from '../../../service/request';
import type { Operation } from '../operation';
import { filterFields, readFilters } from '../../../common/filters';

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

const scrapeNotice = noticeField(
	'notice',
	"Each item starts a scrape, which uses credits for its leads, up to 'Limit'. Without a filter, it collects leads of any kind, and an AI agent can start none.",
);

export const start = {
	value: 'start',
	name: 'Start',
	action: 'Start scrape',
	description:
		'Start a scrape that collects leads which match the filters, and get its ID and the estimated credits',
	paid: 'start',
	fields: [scrapeNotice, ...filterFields],
	options: [webhookUrl],
	output: { scrapeId: 'scr_9f2c', status: 'pending', estimatedCredits: 50 },
	/** The request that starts a scrape (docs/service.md, Operations). */
	prepare(parameters: Parameters): { request: ServiceRequest } {
		const url = parameters.option(webhookUrl);
		const filters = readFilters(parameters);
		const body = { filters, ...(url && { webhookUrl: url }) };
		return {
			request: { kind: 'start', noun: 'scrape', path: '/start', place: parameters.place, body },
		};
	},
} satisfies Operation;
