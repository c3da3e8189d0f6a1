import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { saveWithExecution } from '../common/compatibility';
import { onAbort } from '../common/pause';
import { count, show } from '../common/values';
import { excerpt } from '../service/texts';
import type { ServiceRequest } from '../service/types';

/** The scrapes that all tries of a run started. They are paid for, so their IDs must not get lost. */
export class StartedScrapes {
	private readonly ids: string[] = [];
	private readonly forgetStop: () => void;

	/** n8n saves the execution at once when a user stops it, or when it takes too long. */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly stopButton: AbortSignal | undefined,
	) {
		this.forgetStop = onAbort(stopButton, this.saveIfStopped.bind(this));
	}

	/**
	 * Logs a start at once, because a run that n8n stops returns nothing.
	 * @param answer missing if the scrape may have been started
	 * @param isNew false if it was started before n8n ran the node again
	 */
	add({ place = '' }: ServiceRequest, answer: IDataObject | undefined, isNew: boolean): void {
		const id = answer && idOf(answer);
		if (id !== undefined) this.ids.push(id);
		if (isNew) {
			const { logger } = this.context;
			const [, item] = / (\d+)$/.exec(place) ?? [];
			const where = `${item === undefined ? '' : ` for item ${item}`} in execution ${this.context.getExecutionId()}`;
			const name = this.context.getNode().name;
			if (id === undefined) logger.warn(`${name}: the service may have started a scrape${where}`);
			else logger.info(`${name}: started scrape ${id}${where}`);
		}
		this.saveIfStopped();
	}

	/** A run with scrapes still saves them if n8n runs the node again and is stopped then. */
	end(): void {
		if (this.ids.length === 0) this.forgetStop();
	}

	/** What the user must know before running a failed node again; undefined if no scrape was started. */
	get remark(): string | undefined {
		if (this.ids.length === 0) return undefined;
		return `This run started ${count(this.ids.length, 'scrape')}: ${this.ids.join(', ')}. Before you run the workflow again, remove the items whose scrapes were started. Otherwise you pay for those scrapes again.`;
	}

	private saveIfStopped(): void {
		if (!this.stopButton?.aborted || this.ids.length === 0) return;
		saveWithExecution(this.context, 'scrapes_started', this.ids.join(' '));
	}
}

function idOf({ scrapeId, ...others }: IDataObject): string {
	return excerpt(typeof scrapeId === 'string' ? scrapeId : show(scrapeId ?? others));
}
