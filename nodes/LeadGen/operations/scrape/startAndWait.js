'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.startAndWait = void 0;
const errors_1 = require('../../service/errors');
const getStatus_1 = require('./getStatus');
const start_1 = require('./start');
const wait_1 = require('./wait');
exports.startAndWait = {
	value: 'startAndWait',
	name: 'Start and Wait',
	action: 'Start a scrape and wait until it is finished',
	description:
		'Start collecting leads that match the filters, and wait until the scrape is completed',
	fields: start_1.start.fields,
	options: [...(start_1.start.options ?? []), ...wait_1.waitOptions],
	async run(parameters, service, signal) {
		const started = await service.data((0, start_1.startRequest)(parameters));
		const id = getStatus_1.scrapeId.read(started.scrapeId);
		if (id === '') {
			throw new errors_1.LeadGenError(
				'The service started a scrape, but did not say which',
				'Find it in the dashboard of your account rather than start it again.',
				started,
			);
		}
		const finished = await (0, wait_1.waitForScrape)(id, parameters, service, signal);
		return { ...started, ...finished };
	},
};
