import { sleep, type ITriggerFunctions } from 'n8n-workflow';
import { settledOrAborted } from '../common/pause';
import { isRateRefusal } from '../service/retry';
import { itemFor, type Purpose } from './execution';
import { newDelivery } from './gate';
import { PROCESS, type NodeMemory } from './nodeMemory';
import {
	isRefused,
	missingScrape,
	noStatus,
	NOT_ACTIVATED,
	slowScrape,
	textOf,
	UNREACHABLE,
	type NoticeText,
} from './notices';
import { isReachable, ownAddresses, tell, type Reply } from './ownUrl';
import { leadsOf, scrapeOf, type Change, type RunningScrape } from './running';
import { findScrape } from './scrape';
import { POLL_WAIT_MS } from './waiting';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** While n8n gets ready, the node does not report an outage that is shorter than this. */
const PATIENCE_MS = 20 * SECOND_MS;
/** The pause between two polls: a tenth of the age of the scrape. The longest one also paces other questions. */
const MIN_PAUSE_MS = 5 * SECOND_MS;
const MAX_PAUSE_MS = 15 * MINUTE_MS;
/** A start whose scrape is not known after this time failed, or its outcome is unknown. */
const START_MS = 20 * MINUTE_MS;
const GIVE_UP_MS = 7 * DAY_MS;
/** The service may not find a new scrape yet. */
const MISSING_MS = 10 * MINUTE_MS;

/** Leads the work for a node, from its activation until n8n deactivates it or another main process leads. */
export class Leader {
	/** Whether the own URL has answered, so that the ID of a scrape can be saved. */
	private isReady = false;
	/** Whether another process answered there. */
	private isElsewhere = false;
	private readonly closed = new AbortController();
	private readonly polled = new Set<string>();
	private readonly told = new Set<string>();

	constructor(
		private readonly context: ITriggerFunctions,
		private readonly memory: NodeMemory,
	) {
		// n8n does not end what an activation that failed has begun.
		memory.leader?.close();
		memory.leader = this;
	}

	private get isClosed(): boolean {
		return this.closed.signal.aborted;
	}

	close(): void {
		this.closed.abort();
		this.memory.closedAt = Date.now();
		if (this.memory.leader === this) delete this.memory.leader;
		// A user who activates the workflow again may have corrected it.
		delete this.memory.refusal;
	}

	/** The mode that only listens starts nothing. It polls what the node started before. */
	async listen(): Promise<void> {
		const { memory } = this;
		const isAsked = memory.wanted !== undefined;
		delete memory.wanted;
		await this.untilActive();
		this.follow(0);
		const { url } = memory;
		if (!isAsked || this.isClosed || url === undefined) return;
		const { credential } = await memory.accessOf(this.context);
		if (!isReachable(url, credential)) this.tell(UNREACHABLE);
	}

	/** @param activation as it is saved */
	async run(activation: string | undefined): Promise<void> {
		const { memory, context } = this;
		await this.untilActive();
		const isRestart = /^(init|leadershipChange)$/.test(context.getActivationMode());
		// If the start of the activation is through, there is nothing to save.
		this.isReady = (isRestart && activation === '') || (await this.reach());
		if (!this.isReady) return;
		const { wanted } = memory;
		delete memory.wanted;
		if (wanted) this.start(wanted);
		if (isRestart && activation === undefined) this.tell(NOT_ACTIVATED);
		// These may have finished while n8n was down.
		this.follow(0);
		// Another process may save the ID of a start meanwhile, or of one that a user retries.
		if (isRestart) await this.learn();
		while (this.isElsewhere && !this.isClosed) {
			await this.wait(MAX_PAUSE_MS);
			await this.learn();
		}
	}

	private async learn(): Promise<void> {
		if (!this.isClosed) await this.ask().catch(() => {});
		if (!this.isClosed) this.follow();
	}

	/** Waits for the hooks of the activation, which know the URL of the node. */
	private async untilActive(): Promise<void> {
		const { memory, context } = this;
		for (const since = Date.now(); !this.isClosed && memory.addresses === undefined;) {
			await this.wait(SECOND_MS / 4);
			// Before n8n 1.115, n8n runs no hooks when a main process becomes the leader.
			const isLate = Date.now() - since >= PATIENCE_MS;
			if (isLate && context.getActivationMode() === 'leadershipChange') {
				memory.addresses = ownAddresses(undefined, '', context.getNode());
				[memory.url] = memory.addresses;
			}
		}
	}

	/** Has the activation saved before its start begins: otherwise n8n could repeat it as a new one after a crash. */
	private async reach(): Promise<boolean> {
		const { memory } = this;
		const since = Date.now();
		for (
			let pauseMs = SECOND_MS / 2;
			!this.isClosed;
			pauseMs = Math.min(1.5 * pauseMs, MINUTE_MS)
		) {
			try {
				const activation = memory.wanted ?? memory.saved.activation ?? '';
				if ((await this.ask({ activation })).isActive) return !this.isClosed;
			} catch (error) {
				if (Date.now() - since >= PATIENCE_MS) this.tell(textOf(error));
			}
			await this.wait(pauseMs);
		}
		return false;
	}

	/** Tells the own URL something, and learns what is saved. @throws NotReachedError if it does not answer */
	private async ask(change: Change = {}): Promise<Reply> {
		const { memory, context } = this;
		const reply = await tell(context, memory.addresses ?? [], change);
		memory.learn(reply.saved);
		this.isElsewhere = reply.process !== PROCESS;
		return reply;
	}

	/** Begins the execution that sends a start. */
	start(attempt: string): void {
		const { url, addresses } = this.memory;
		if (!this.isReady || url === undefined || addresses === undefined) {
			// If this lasts, a failed execution tells it.
			const why = 'a start was due while the node could not save what it does';
			this.context.logger.warn(`LeadGen Trigger: ${why}, so it was left out`);
			return;
		}
		this.emit({ start: { attempt, url, addresses, ...newDelivery() } });
		void this.poll(attempt, MIN_PAUSE_MS);
	}

	/** Polls the running scrapes. */
	follow(pauseMs = MIN_PAUSE_MS): void {
		for (const { attempt } of this.memory.saved.running) void this.poll(attempt, pauseMs);
	}

	/** Follows an attempt until its scrape has run, or its start has failed. */
	private async poll(attempt: string, firstPauseMs: number): Promise<void> {
		if (this.polled.has(attempt)) return;
		this.polled.add(attempt);
		const begun = scrapeOf(this.memory.saved, attempt)?.since ?? Date.now();
		let isOver = false;
		for (let pauseMs = firstPauseMs; !isOver; pauseMs = pauseAfter(Date.now() - begun)) {
			await this.wait(pauseMs);
			if (this.isClosed) return;
			isOver = await this.look(attempt, begun).catch((error: unknown) => {
				this.context.logger.warn(`LeadGen Trigger: ${String(error)}`);
				return false;
			});
		}
		this.polled.delete(attempt);
	}

	/** @returns whether there is nothing more to do for the attempt */
	private async look(attempt: string, begun: number): Promise<boolean> {
		const { memory } = this;
		const isDone = () => leadsOf(memory.saved, attempt) !== undefined;
		// The execution that starts it may run in another process.
		if (!scrapeOf(memory.saved, attempt) && !isDone()) await this.ask();
		const scrape = scrapeOf(memory.saved, attempt);
		const age = Date.now() - begun;
		if (!scrape) return isDone() || age > START_MS;
		await this.check(scrape, age).catch((error: unknown) => {
			// The service may be down for a while.
			const mayPass = !isRefused(error) || isRateRefusal(error);
			if (mayPass && age < DAY_MS) throw error;
			this.tell(noStatus(scrape.scrapeId, error));
		});
		if (age < GIVE_UP_MS) return false;
		await this.ask({ done: [attempt, '', scrape.scrapeId] });
		return true;
	}

	private async check(scrape: RunningScrape, age: number): Promise<void> {
		const { memory, context } = this;
		const { scrapeId: id } = scrape;
		const { credential } = await memory.accessOf(context);
		const found = await findScrape(context, credential, id);
		if (found?.isFinished) {
			// The notification may bring the leads.
			if (isReachable(memory.url ?? '', credential)) await this.wait(POLL_WAIT_MS);
			await this.complete(scrape);
		} else if (found && age > DAY_MS) this.tell(slowScrape(id));
		else if (!found && age > MISSING_MS) this.tell(missingScrape(id));
	}

	/** Begins the execution of a completion, unless a notification began it. */
	private async complete({ attempt, scrapeId }: RunningScrape): Promise<void> {
		const { memory } = this;
		await this.ask().catch(() => {});
		if (!scrapeOf(memory.saved, attempt)) return;
		const { addresses = [] } = memory;
		const scrapes = [{ attempt, scrapeId, leads: '', isFinal: true, ...newDelivery() }];
		this.emit({ completion: { scrapes, notification: null, addresses } });
		// If n8n limits how many executions run at once, it may wait.
		await this.wait(MAX_PAUSE_MS);
	}

	private emit(purpose: Purpose): void {
		if (!this.isClosed) this.context.emit([[itemFor(purpose)]]);
	}

	/** Tells the user something once, in a failed execution. */
	tell(notice: NoticeText): void {
		if (this.told.has(notice.message)) return;
		this.told.add(notice.message);
		this.context.logger.error(`LeadGen Trigger: ${notice.message}. ${notice.advice}`);
		this.emit({ notice });
	}

	private async wait(ms: number): Promise<void> {
		await settledOrAborted(sleep(ms), this.closed.signal);
	}
}

function pauseAfter(age: number): number {
	return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, age / 10));
}
