'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.wait = exports.waitOptions = void 0;
exports.waitForScrape = waitForScrape;
const n8n_workflow_1 = require('n8n-workflow');
const parameters_1 = require('../../parameters');
const errors_1 = require('../../service/errors');
const getStatus_1 = require('./getStatus');
const pollInterval = (0, parameters_1.numberField)(
	{
		displayName: 'Poll Interval (Seconds)',
		name: 'pollInterval',
		typeOptions: { minValue: 1 },
		default: 5,
		description: 'How long to pause between two looks at the status',
	},
	// The editor asks for a second at least; an expression may give less.
	{ minimum: 0 },
);
const timeout = (0, parameters_1.numberField)(
	{
		displayName: 'Timeout (Minutes)',
		name: 'timeout',
		typeOptions: { minValue: 0 },
		default: 60,
		description:
			'How long to wait at most; 0 waits without an end. The scrape goes on at the service and can be waited for again.',
	},
	{ minimum: 0 },
);
const failedAsResult = (0, parameters_1.booleanField)({
	displayName: 'Return Failed Scrapes',
	name: 'failedAsResult',
	default: false,
	description: 'Whether a scrape that failed is a result like any other. Otherwise it is an error.',
});
exports.waitOptions = [failedAsResult, pollInterval, timeout];
/**
 * Asks for the status until it is `completed` or `failed` (interface 3).
 * @returns the fields of the last status
 * @throws LeadGenError with the last status as details, if the scrape failed or time ran out
 */
async function waitForScrape(id, parameters, service, signal) {
	const intervalMs = parameters.option(pollInterval) * 1000;
	const minutes = parameters.option(timeout);
	const deadline = minutes === 0 ? Infinity : Date.now() + minutes * 60_000;
	for (;;) {
		const status = await service.data((0, getStatus_1.statusRequest)(id)).catch((error) => {
			// Whatever breaks the wait, the scrape is paid for and its identifier must not get lost.
			throw error instanceof errors_1.LeadGenError
				? error.add(
						{ scrapeId: id },
						`The scrape ${id} goes on: use "Wait Until Finished" with this scrape ID.`,
					)
				: error;
		});
		if (status.status === 'completed') return status;
		if (status.status === 'failed') {
			if (parameters.option(failedAsResult)) return status;
			throw new errors_1.LeadGenError(
				`Scrape ${id} failed`,
				'What the service says of it is in the details. Start a new scrape if you still want the leads.',
				status,
			);
		}
		if (Date.now() + intervalMs > deadline) {
			throw new errors_1.LeadGenError(
				`Scrape ${id} did not finish within ${minutes} minutes`,
				`Its status is ${String(status.status)}, its progress ${String(status.progress)}. It goes on at the service: run "Wait Until Finished" with this scrape ID to go on waiting, rather than start it again.`,
				status,
			);
		}
		await (0, n8n_workflow_1.sleepWithAbort)(intervalMs, signal);
	}
}
exports.wait = {
	value: 'wait',
	name: 'Wait Until Finished',
	action: 'Wait until a scrape is finished',
	description: 'Wait until a scrape that was started before is completed, and get its final status',
	fields: [getStatus_1.scrapeId],
	options: exports.waitOptions,
	async run(parameters, service, signal) {
		return await waitForScrape(
			(0, getStatus_1.readScrapeId)(parameters),
			parameters,
			service,
			signal,
		);
	},
};
