import type { IExecuteFunctions } from 'n8n-workflow';
import { addHint } from './compatibility';
import { count } from './count';
import type { Totals } from './dryRun';
import type { Service } from './service/service';

/** The minimum time between two lines in n8n's log and in the browser's console. */
const EVERY_MS = 5000;

/** Users do not notice a shorter wait. */
const WORTH_SAYING_MS = 5000;

/** Shows the user the progress of a long run, and at its end the cost. */
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

	/** Reports at the end what the run paid for, what it did not have to pay for, and what held it up. */
	finish({ bought, saved, waitedMs, warnings }: Service): void {
		for (const message of warnings) this.hint(message, 'warning');
		const paid = sum(bought);
		const kinds = [...bought].map(([noun, number]) => count(number, noun)).join(', ');
		const facts = [
			paid > 0 && `${count(this.total, 'item')}, ${count(paid, 'paid call')}: ${kinds}.`,
			saved > 0 &&
				`${count(saved, 'result')} ${saved === 1 ? 'was' : 'were'} already known and cost nothing.`,
			waitedMs >= WORTH_SAYING_MS &&
				`The rate limit held up this run for ${String(Math.round(waitedMs / 1000))} seconds.`,
		].filter((fact) => fact !== false);
		if (facts.length > 0) this.hint(facts.join(' '), 'info');
	}

	/** Reports at the end of a dry run what a real run would pay for. */
	foresee({ new: paid, duplicate, remembered, mayFollow }: Totals): void {
		const known = duplicate + remembered;
		const facts = [
			`Dry run: nothing was sent. ${count(this.total, 'item')}, ${count(paid, 'paid call')}.`,
			mayFollow > 0 &&
				`Depending on the answers, up to ${count(mayFollow, 'paid call')} may follow.`,
			known > 0 && `${count(known, 'repeated call')} ${known === 1 ? 'costs' : 'cost'} nothing.`,
		].filter((fact) => fact !== false);
		this.hint(facts.join(' '), 'info');
	}

	private hint(message: string, type: 'info' | 'warning'): void {
		addHint(this.context, { message, type });
	}
}

/** The number of paid calls of a run, of every kind. */
export function sum(bought: Service['bought']): number {
	return [...bought.values()].reduce((all, number) => all + number, 0);
}
