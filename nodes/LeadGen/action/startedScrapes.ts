import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { saveWithExecution } from '../common/compatibility';
import { show } from '../common/values';
import { excerpt } from '../service/texts';
import type { ServiceRequest } from '../service/types';

/** The scrapes that a run started. They are paid for, so their IDs must not get lost. */
export class StartedScrapes {
	readonly ids: string[] = [];

	constructor(private readonly context: IExecuteFunctions) {}

	/**
	 * Logs a start and saves it with the execution at once, because a run that n8n stops returns nothing.
	 * @param answer missing if the scrape may have been started
	 * @param isNew false if it was started before n8n ran the node again
	 */
	add({ place = '' }: ServiceRequest, answer: IDataObject | undefined, isNew: boolean): void {
		const { context, ids } = this;
		const id = answer && idOf(answer);
		if (id !== undefined) {
			ids.push(id);
			saveWithExecution(context, 'scrapes_started', ids.join(' '));
		}
		if (!isNew) return;
		const started =
			id === undefined ? 'the service may have started a scrape' : `started scrape ${id}`;
		// A tool has no place, and its calls have no items.
		const item = place === '' ? '' : ` for item ${place.replace(/.* /, '')}`;
		const line = `${context.getNode().name}: ${started}${item} in execution ${context.getExecutionId()}`;
		if (id === undefined) context.logger.warn(line);
		else context.logger.info(line);
	}
}

function idOf({ scrapeId, ...others }: IDataObject): string {
	return excerpt(typeof scrapeId === 'string' ? scrapeId : show(scrapeId ?? others));
}
