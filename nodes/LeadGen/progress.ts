import type { IExecuteFunctions } from 'n8n-workflow';
import type { Service } from './service/service';

/** A line in n8n's log and in the browser's console at most this often. */
const EVERY_MS = 5000;

/** A person does not notice a shorter wait. */
const WORTH_SAYING_MS = 5000;

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

	/** Says at the end what the run paid for, what it did not have to pay for, and what held it up. */
	finish(service: Pick<Service, 'bought' | 'saved' | 'waitedMs'> | undefined): void {
		const { bought = 0, saved = 0, waitedMs = 0 } = service ?? {};
		const facts = [
			bought > 0 && `${count(bought, 'paid call')} answered.`,
			saved > 0 && `${count(saved, 'paid call')} not needed, because the same was asked before.`,
			waitedMs >= WORTH_SAYING_MS &&
				`The rate limit held up this run for ${String(Math.round(waitedMs / 1000))} seconds.`,
		].filter((fact) => fact !== false);
		if (facts.length === 0) return;
		this.context.addExecutionHints({
			message: facts.join(' '),
			type: 'info',
			location: 'outputPane',
		});
	}
}

function count(number: number, noun: string): string {
	return number === 1 ? `1 ${noun} was` : `${String(number)} ${noun}s were`;
}
