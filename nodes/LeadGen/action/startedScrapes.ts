import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { saveWithExecution } from '../common/compatibility';
import { count } from '../common/values';
import { onAbort } from '../common/pause';
import { show } from '../common/parameters';
import { excerpt } from '../service/texts';
import type { ServiceRequest } from '../service/types';
import { say } from './progress';

/** The maximum number of scrapes that an error names. */
const MAX_SHOWN = 1000;

/** The scrapes that a run started, and those of earlier tries of the same run. They are paid for, so their IDs must not get lost. */
export class StartedScrapes {
	/** The answers of the service. */
	private readonly started: IDataObject[] = [];
	/** How many others may have been started. */
	private unclear = 0;
	private readonly forgetStop: () => void;

	/** n8n saves the execution at once when a user stops it, or when it takes too long. */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly stopButton: AbortSignal | undefined,
	) {
		this.forgetStop = onAbort(stopButton, () => {
			this.saveIfStopped();
		});
	}

	/**
	 * Logs a start at once, because a run that n8n stops returns nothing.
	 * @param answer missing if the scrape may have been started
	 * @param isNew false if it was started before n8n ran the node again
	 */
	add({ place = '' }: ServiceRequest, answer: IDataObject | undefined, isNew: boolean): void {
		const { logger } = this.context;
		const item = / (\d+)$/.exec(place)?.[1];
		const where = `${item === undefined ? '' : ` for item ${item}`} in execution ${this.context.getExecutionId()}`;
		const { name } = this.context.getNode();
		if (answer) this.started.push(answer);
		else this.unclear++;
		if (isNew && answer) logger.info(`${name}: started scrape ${idOf(answer)}${where}`);
		if (isNew && !answer) logger.warn(`${name}: the service may have started a scrape${where}`);
		this.saveIfStopped();
	}

	/** The output of a stopped run is lost. */
	private saveIfStopped(): void {
		if (!this.stopButton?.aborted || this.started.length === 0) return;
		saveWithExecution(this.context, 'scrapes_started', this.started.map(idOf));
	}

	/** Names the scrapes of a stopped run. Those of any other are also saved if n8n runs the node again and is stopped then. */
	end(): void {
		const { started, unclear } = this;
		if (started.length === 0) this.forgetStop();
		if (!this.stopButton?.aborted || started.length + unclear === 0) return;
		const others = unclear > 0 ? ` ${String(unclear)} more may have been started.` : '';
		const ids = started.length > 0 ? `: ${started.map(idOf).join(', ')}` : '';
		say(this.context, `stopped. It started ${count(started.length, 'scrape')}${ids}.${others}`);
	}

	/** What the user must know before running a failed node again; undefined if no scrape was started. */
	get remark(): string | undefined {
		const { started } = this;
		if (started.length === 0) return undefined;
		const ids = started
			.slice(0, MAX_SHOWN)
			.map((answer) => excerpt(show(answer.scrapeId ?? answer)));
		const more = started.length > MAX_SHOWN ? ' …' : '';
		return `This run started ${count(started.length, 'scrape')}: ${ids.join(', ')}${more}. Before you run the workflow again, remove the items whose scrapes were started. Otherwise you pay for those scrapes again.`;
	}
}

function idOf(answer: IDataObject): string {
	const { scrapeId } = answer;
	return excerpt(typeof scrapeId === 'string' ? scrapeId : show(scrapeId ?? answer));
}
