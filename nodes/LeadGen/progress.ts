import type { IExecuteFunctions } from 'n8n-workflow';
import type { Service } from './service/service';

/** A line in n8n's log and in the browser's console at most this often. */
const EVERY_MS = 5000;

/** Tells a person how far a long run is. */
export class Progress {
	private done = 0;
	private saidAt = Date.now();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly total: number,
	) {}

	itemDone(): void {
		this.done++;
		if (Date.now() - this.saidAt < EVERY_MS) return;
		this.saidAt = Date.now();
		const line = `${this.context.getNode().name}: ${String(this.done)} of ${String(this.total)} items done`;
		this.context.logger.info(line);
		this.context.sendMessageToUI(line);
	}

	/** Says at the end what the person did not have to pay for. */
	finish({ saved }: Pick<Service, 'saved'> = { saved: 0 }): void {
		if (saved === 0) return;
		this.context.addExecutionHints({
			message: `${String(saved)} paid calls were not needed, because the same was asked before.`,
			location: 'outputPane',
		});
	}
}
