'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.start = void 0;
exports.startRequest = startRequest;
const parameters_1 = require('../../parameters');
const errors_1 = require('../../service/errors');
const parameters_2 = require('../../parameters');
const filters_1 = require('./filters');
const webhookUrl = (0, parameters_1.textField)(
	{
		displayName: 'Webhook URL',
		name: 'webhookUrl',
		placeholder: 'e.g. https://n8n.example.com/webhook/…',
		description:
			'Where the service reports that the scrape is complete: the production URL of a LeadGen Trigger node that listens, or {{ $execution.resumeUrl }} for a Wait node',
	},
	(text, displayName) => {
		if (!URL.canParse(text) || !/^https?:/i.test(text)) {
			throw new errors_1.InputError(
				displayName,
				`must be a web address, and is ${(0, parameters_2.show)(text)}`,
				'Give a full address that the service can reach, or leave it empty.',
			);
		}
		return text;
	},
);
/** The request that starts a scrape (interface 4.1). */
function startRequest(parameters) {
	const url = parameters.option(webhookUrl);
	return {
		kind: 'start',
		path: '/start',
		body: { filters: (0, filters_1.readFilters)(parameters), ...(url && { webhookUrl: url }) },
	};
}
exports.start = {
	value: 'start',
	name: 'Start',
	action: 'Start a scrape',
	description:
		'Start collecting leads that match the filters, and go on at once with the scrape ID and the estimated credits',
	fields: filters_1.filterFields,
	options: [webhookUrl],
	async run(parameters, service) {
		return await service.data(startRequest(parameters));
	},
};
