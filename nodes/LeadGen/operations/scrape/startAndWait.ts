import { LeadGenError } from '../../service/errors';
import type { Operation } from '../operation';
import { scrapeId } from './getStatus';
import { start, startRequest } from './start';
import { readWaitSettings, waitForScrape, waitOptions } from './wait';

export const startAndWait: Operation = {
	value: 'startAndWait',
	name: 'Start and Wait',
	action: 'Start a scrape and wait for it',
	description:
		'Start collecting leads that match the filters, and wait until the scrape is completed',
	paid: 'start',
	notice: start.notice,
	fields: start.fields,
	options: [...(start.options ?? []), ...waitOptions],
	async run(parameters, service, signal) {
		// Read before anything is paid for, since it may be wrong.
		const settings = readWaitSettings(parameters);
		const started = await service.data(startRequest(parameters));
		const id = scrapeId.read(started.scrapeId);
		if (id === '') {
			throw new LeadGenError(
				'The service started a scrape, but did not say which',
				'Find it in the dashboard of your account rather than start it again.',
				started,
			);
		}
		const finished = await waitForScrape(id, settings, service, signal, true);
		return { ...started, ...finished };
	},
};
