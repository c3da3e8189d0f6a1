import { LeadGenError } from '../../../common/errors';
import type { Operation } from '../operation';
import { start } from './start.operation';
import { readWait, wait } from './wait.operation';

export const startAndWait: Operation = {
	...start,
	value: 'startAndWait',
	name: 'Start and Wait',
	action: 'Start scrape and wait',
	description:
		'Start a scrape that collects leads which match the filters, and wait until it is finished',
	output: { ...start.output, ...wait.output },
	options: [...start.options, ...wait.options],
	prepare(parameters) {
		const waitFor = readWait(parameters);
		const { request } = start.prepare(parameters);
		return {
			request,
			async run(service) {
				const started = await service.data(request);
				const { scrapeId } = started;
				const isId = typeof scrapeId === 'string' || typeof scrapeId === 'number';
				const id = isId ? String(scrapeId).trim() : '';
				if (id === '') {
					throw new LeadGenError(
						'The service started a scrape but did not return its ID',
						'Look for it in the dashboard of your account. If you start it again, you pay for it again.',
						started,
					);
				}
				return { ...started, ...(await waitFor(id, service)) };
			},
		};
	},
};
