'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.getStatus = exports.scrapeId = void 0;
exports.readScrapeId = readScrapeId;
exports.statusRequest = statusRequest;
const parameters_1 = require('../../parameters');
const errors_1 = require('../../service/errors');
exports.scrapeId = (0, parameters_1.textField)({
	displayName: 'Scrape ID',
	name: 'scrapeId',
	required: true,
	placeholder: 'e.g. {{ $json.scrapeId }}',
	description: 'The identifier that starting the scrape gave',
});
/** The scrape ID of an item. @throws InputError if it is empty */
function readScrapeId(parameters) {
	const id = parameters.get(exports.scrapeId);
	if (id === '') {
		throw new errors_1.InputError(
			exports.scrapeId.property.displayName,
			'is empty',
			'Give the scrapeId that the "Start" operation returned.',
		);
	}
	return id;
}
/** The request for the status of a scrape (interface 4.2). */
function statusRequest(id) {
	return { kind: 'read', path: '/status', query: { scrapeId: id } };
}
exports.getStatus = {
	value: 'getStatus',
	name: 'Get Status',
	action: 'Get the status of a scrape',
	description: 'Get the status, progress, number of leads and credits used of a scrape',
	fields: [exports.scrapeId],
	async run(parameters, service) {
		return await service.data(statusRequest(readScrapeId(parameters)));
	},
};
