import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { addHint, saveWithExecution } from '../common/compatibility';
import { count } from '../common/count';
import type { Totals } from './dryRun';
import { wordIn } from '../common/json';
import { show } from '../common/parameters';
import { onAbort, pause } from '../common/pause';
import type { Service } from '../service/service';
import type { ServiceRequest } from '../service/types';

/** The time between two lines in n8n's log and in the browser's console: in the first minute, and later. */
const EVERY_MS = 5000;
const LATER_EVERY_MS = 15_000;

/** Users do not notice a shorter wait. */
const WORTH_SAYING_MS = 5000;

/** What became of the items of a run. */
export interface Outcomes {
	/** The result for each item; undefined for failed items. */
	results: ReadonlyArray<IDataObject | undefined>;
	/** How many of the failed items nothing was sent for, because the run had ended. */
	notAttempted: number;
}

/** Shows the user the progress of a long run, the scrapes that it starts, and at its end what it brought and cost. */
export class Progress {
	private done = 0;
	private readonly began = Date.now();
	private readonly over = new AbortController();
	private readonly scrapes: string[] = [];
	/** Scrapes that may have been started. */
	private unclear = 0;
	private isStopped = false;
	private forgetStop = () => {};
	/** Once it is connected. */
	service: Service | undefined;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly total: number,
	) {
		void this.sayRegularly();
	}

	itemDone(): void {
		this.done++;
	}

	/** n8n saves the execution at once when a user stops it, or when it takes too long. */
	watch(stopButton: AbortSignal | undefined): void {
		this.forgetStop = onAbort(stopButton, () => {
			this.isStopped = true;
			if (this.scrapes.length > 0) this.saveScrapes();
		});
	}

	/** Ends the lines. The scrapes of this run are also saved if n8n runs the node again and is stopped then. */
	end(): void {
		this.over.abort();
		if (this.scrapes.length === 0) this.forgetStop();
	}

	private async sayRegularly(): Promise<void> {
		try {
			for (;;) {
				const isEarly = Date.now() - this.began < 60_000;
				await pause(isEarly ? EVERY_MS : LATER_EVERY_MS, this.over.signal);
				const left = this.secondsLeft();
				this.say(
					`${String(this.done)} of ${String(this.total)} items done${left === undefined ? '' : `, about ${left} left`}`,
				);
			}
		} catch {
			// The run is over.
		}
	}

	private say(text: string): void {
		const line = `${this.context.getNode().name}: ${text}`;
		this.context.logger.info(line);
		this.context.sendMessageToUI(line);
	}

	/** As long as the items so far took, and not less than the rate limit allows. */
	private secondsLeft(): string | undefined {
		if (this.done === 0 || !this.service) return undefined;
		const { bought, account } = this.service;
		const itemsLeft = this.total - this.done;
		const byTime = ((Date.now() - this.began) / this.done) * itemsLeft;
		const calls = (sum(bought) / this.done) * itemsLeft;
		const byRate = (calls / account.limiter.knownPerMinute) * 60_000;
		const seconds = Math.ceil(Math.max(byTime, byRate) / 1000);
		return seconds < 100 ? `${String(seconds)} s` : `${String(Math.ceil(seconds / 60))} min`;
	}

	/**
	 * Logs a start at once, because a run that n8n stops returns nothing.
	 * @param answer missing if the scrape may have been started
	 */
	scrapeStarted({ place = '' }: ServiceRequest, answer?: IDataObject): void {
		const item = / (\d+)$/.exec(place)?.[1];
		const where = `${item === undefined ? '' : ` for item ${item}`} in execution ${this.context.getExecutionId()}`;
		const { name } = this.context.getNode();
		if (!answer) {
			this.unclear++;
			this.context.logger.warn(`${name}: the service may have started a scrape${where}`);
			return;
		}
		const { scrapeId } = answer;
		const id = typeof scrapeId === 'string' ? scrapeId : show(scrapeId ?? answer);
		this.scrapes.push(id);
		this.context.logger.info(`${name}: started scrape ${id}${where}`);
		if (this.isStopped) this.saveScrapes();
	}

	/** Says which scrapes a stopped run started, since its output is lost. */
	private saveScrapes(): void {
		saveWithExecution(this.context, 'scrapes_started', this.scrapes);
	}

	/** Reports the scrapes of a stopped run when its last calls have ended. */
	sayScrapes(): void {
		if (this.scrapes.length + this.unclear === 0) return;
		const unclear = this.unclear > 0 ? ` ${String(this.unclear)} more may have been started.` : '';
		const ids = this.scrapes.length > 0 ? `: ${this.scrapes.join(', ')}` : '';
		this.say(`stopped. It started ${count(this.scrapes.length, 'scrape')}${ids}.${unclear}`);
	}

	/** Reports at the end what the run brought, what it paid for, and what held it up. */
	finish({ bought, saved, unclear, waitedMs, account }: Service, outcomes: Outcomes): void {
		const ms = Date.now() - this.began;
		const paid = sum(bought);
		const kinds = [...bought].map(([noun, number]) => count(number, noun)).join(', ');
		const heldUp =
			waitedMs >= WORTH_SAYING_MS ? `, ${seconds(waitedMs)} of them held up by the rate limit` : '';
		const { balance } = account;
		// There is no element for failed items.
		const failed = this.total - outcomes.results.filter(Boolean).length;
		const facts = [
			[count(this.total, 'item'), outcomesOf(outcomes, failed)].filter(Boolean).join(': '),
			paid > 0 ? `${count(paid, 'paid call')} (${kinds})` : 'no paid calls',
			unclear > 0 && `${count(unclear, 'call')} without an answer may have been paid for`,
			saved > 0 && `${String(saved)} remembered`,
			ms >= WORTH_SAYING_MS && `${seconds(ms)}${heldUp}`,
			balance &&
				balance.at >= this.began &&
				`balance ${count(balance.credits, 'credit')} when last read`,
		].filter((fact) => typeof fact === 'string');
		this.hint(facts.join(' · '), failed > 0 ? 'warning' : 'info');
	}

	/** Reports at the end of a dry run what a real run would pay for. */
	foresee({ new: paid, duplicate, remembered, mayFollow }: Totals, failed: number): void {
		const known = duplicate + remembered;
		const perMinute = this.service?.account.limiter.perMinute ?? Infinity;
		const minutes = Math.floor(Math.max(0, paid + mayFollow - 1) / perMinute);
		const facts = [
			`Dry run: nothing was sent. ${count(this.total, 'item')}, ${count(paid, 'paid call')}.`,
			mayFollow > 0 &&
				`Depending on the answers, up to ${count(mayFollow, 'paid call')} may follow.`,
			known > 0 && `${count(known, 'repeated call')} ${known === 1 ? 'costs' : 'cost'} nothing.`,
			failed > 0 && `${count(failed, 'item')} failed.`,
			perMinute < Infinity &&
				paid + mayFollow > 0 &&
				`With ${String(perMinute)} requests per minute, this takes ${minutes === 0 ? 'less than a minute' : `up to ${count(minutes, 'minute')} and the time of the answers`}.`,
		].filter((fact) => typeof fact === 'string');
		this.hint(facts.join(' '), failed > 0 ? 'warning' : 'info');
	}

	hint(message: string, type: 'info' | 'warning'): void {
		addHint(this.context, { message, type });
	}
}

/** How many items had each outcome, the most frequent first, such as `317 valid, 98 not found, 4 failed`. */
function outcomesOf({ results, notAttempted }: Outcomes, failed: number): string {
	const counts = new Map<string, number>();
	for (const result of results) {
		const outcome = result && outcomeOf(result);
		if (outcome !== undefined) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
	}
	const sorted = [...counts].sort(([, a], [, b]) => b - a);
	const all = [...sorted, ['failed', failed - notAttempted], ['not sent', notAttempted]] as const;
	return all
		.filter(([, number]) => number > 0)
		.map(([outcome, number]) => `${String(number)} ${outcome}`)
		.join(', ');
}

/** The outcome of an item in a word or two; undefined for a result without one, such as a balance. */
function outcomeOf({ found, status, rejected }: IDataObject): string | undefined {
	if (found === false) {
		const [last] = Array.isArray(rejected) ? (rejected as IDataObject[]).slice(-1) : [];
		return last ? `${word(last.outcome)} and not accepted` : 'not found';
	}
	if (status === null) return 'not verified';
	// Not the item: this result was wanted.
	if (wordIn(status) === 'failed') return 'with a failed scrape';
	return status === undefined ? (found ? 'found' : undefined) : word(status);
}

function word(value: unknown): string {
	return (wordIn(value) ?? 'unknown').replaceAll('_', '-');
}

function seconds(ms: number): string {
	return `${String(Math.round(ms / 1000))} s`;
}

/** The number of paid calls of a run, of every kind. */
export function sum(bought: Service['bought']): number {
	return [...bought.values()].reduce((all, number) => all + number, 0);
}
