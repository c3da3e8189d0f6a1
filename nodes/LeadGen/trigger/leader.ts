import { sleep, type ITriggerFunctions } from 'n8n-workflow';
import { settledOrAborted } from '../common/pause';
import { itemFor, type Purpose } from './execution';
import { newDelivery } from './gate';
import { PROCESS, type NodeMemory } from './nodeMemory';
import { NOT_ACTIVATED, textOf, UNREACHABLE, type NoticeText } from './notices';
import { isReachable, ownAddresses, tell, type Reply } from './ownUrl';
import type { Change } from './running';
import { MAX_PAUSE_MS, MIN_PAUSE_MS, poll } from './polling';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** While n8n gets ready, the node does not report an outage that is shorter than this. */
const PATIENCE_MS = 20 * SECOND_MS;

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
		readonly context: ITriggerFunctions,
		readonly memory: NodeMemory,
	) {
		// n8n does not end what an activation that failed has begun.
		memory.leader?.close();
		memory.leader = this;
	}

	get isClosed(): boolean {
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
	async ask(change: Change = {}): Promise<Reply> {
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

	private async poll(attempt: string, pauseMs: number): Promise<void> {
		if (this.polled.has(attempt)) return;
		this.polled.add(attempt);
		await poll(this, attempt, pauseMs);
		this.polled.delete(attempt);
	}

	emit(purpose: Purpose): void {
		if (!this.isClosed) this.context.emit([[itemFor(purpose)]]);
	}

	/** Tells the user something once, in a failed execution. */
	tell(notice: NoticeText): void {
		if (this.told.has(notice.message)) return;
		this.told.add(notice.message);
		this.context.logger.error(`LeadGen Trigger: ${notice.message}. ${notice.advice}`);
		this.emit({ notice });
	}

	async wait(ms: number): Promise<void> {
		await settledOrAborted(sleep(ms), this.closed.signal);
	}
}
