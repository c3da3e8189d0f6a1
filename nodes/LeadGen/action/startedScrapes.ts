import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { saveWithExecution } from '../common/compatibility';
import { onAbort } from '../common/pause';
import { count, show } from '../common/values';
import { excerpt } from '../service/texts';
import type { ServiceRequest } from '../service/types';
import { say } from './progress';

/** The scrapes that all tries of a run started. They are paid for, so their IDs must not get lost. */
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
		this.forgetStop = onAbort(stopButton, this.saveIfStopped.bind(this));
	}

	/**
	 * Logs a start at once, because a run that n8n stops returns nothing.
	 * @param answer missing if the scrape may have been started
	 * @param isNew false if it was started before n8n ran the node again
	 */
	add({ place = '' }: ServiceRequest, answer: IDataObject | undefined, isNew: boolean): void {
		const [, item] = / (\d+)$/.exec(place) ?? [];
		const where = `${item === undefined ? '' : ` for item ${item}`} in execution ${this.context.getExecutionId()}`;
		const what = answer
			? `started scrape ${idOf(answer)}`
			: 'the service may have started a scrape';
		if (answer) this.started.push(answer);
		else this.unclear++;
		const line = `${this.context.getNode().name}: ${what}${where}`;
		if (isNew) this.context.logger[answer ? 'info' : 'warn'](line);
		this.saveIfStopped();
	}

	/** Names the scrapes of a stopped run. Those of any other are also saved if n8n runs the node again and is stopped then. */
	end(): void {
		const { started, unclear } = this;
		if (started.length === 0) this.forgetStop();
		if (!this.stopButton?.aborted || started.length + unclear === 0) return;
		const ids = started.length > 0 ? `: ${started.map(idOf).join(', ')}` : '';
		const others = unclear > 0 ? ` ${String(unclear)} more may have been started.` : '';
		say(this.context, `stopped. It started ${count(started.length, 'scrape')}${ids}.${others}`);
	}

	/** What the user must know before running a failed node again; undefined if no scrape was started. */
	get remark(): string | undefined {
		if (this.started.length === 0) return undefined;
		const ids = this.started.map((answer) => excerpt(show(answer.scrapeId ?? answer))).join(', ');
		return `This run started ${count(this.started.length, 'scrape')}: ${ids}. Before you run the workflow again, remove the items whose scrapes were started. Otherwise you pay for those scrapes again.`;
	}

	/** The output of a stopped run is lost. */
	private saveIfStopped(): void {
		if (!this.stopButton?.aborted || this.started.length === 0) return;
		saveWithExecution(this.context, 'scrapes_started', this.started.map(idOf));
	}
}

function idOf({ scrapeId, ...others }: IDataObject): string {
	return excerpt(typeof scrapeId === 'string' ? scrapeId : show(scrapeId ?? others));
}
