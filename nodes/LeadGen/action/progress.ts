import type { IExecuteFunctions } from 'n8n-workflow';
import { pause } from '../common/pause';
import type { Accounts } from './accounts';

/** The time between two lines in n8n's log and in the browser's console: in the first minute, and later. */
const EVERY_MS = 5000;
const LATER_EVERY_MS = 15_000;

/** Says every few seconds in a long run how many items are done, and how long the rest takes. */
export class Progress {
	readonly began = Date.now();
	private done = 0;
	private readonly over = new AbortController();

	/** @param accounts undefined if none could be read */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly total: number,
		private readonly accounts: Accounts | undefined,
	) {
		// It ends with the run.
		this.sayRegularly().catch(() => {});
	}

	itemDone(): void {
		this.done++;
	}

	end(): void {
		this.over.abort();
	}

	private async sayRegularly(): Promise<never> {
		for (;;) {
			const isEarly = Date.now() - this.began < 60_000;
			await pause(isEarly ? EVERY_MS : LATER_EVERY_MS, this.over.signal);
			const done = `${String(this.done)} of ${String(this.total)} items done`;
			const left = this.timeLeft();
			say(this.context, left === undefined ? done : `${done}, about ${left} left`);
		}
	}

	/** As long as the items so far took, and not less than the rate limit allows. */
	private timeLeft(): string | undefined {
		const services = this.accounts?.all ?? [];
		if (this.done === 0 || services.length === 0) return undefined;
		const itemsLeft = this.total - this.done;
		const byTime = ((Date.now() - this.began) / this.done) * itemsLeft;
		const byRate = services.map(({ purchases, run }) => {
			const calls = (purchases.total / this.done) * itemsLeft;
			return (calls / run.account.limiter.knownPerMinute) * 60_000;
		});
		const seconds = Math.ceil(Math.max(byTime, ...byRate) / 1000);
		return seconds < 100 ? `${String(seconds)} s` : `${String(Math.ceil(seconds / 60))} min`;
	}
}

/** Shows a line in n8n's log and in the console of the browser. */
export function say(context: IExecuteFunctions, text: string): void {
	const line = `${context.getNode().name}: ${text}`;
	context.logger.info(line);
	context.sendMessageToUI(line);
}
