import { sleep, type ITriggerFunctions } from 'n8n-workflow';
import { settledOrAborted } from '../common/pause';
import { itemFor, type Purpose } from './execution';
import { PROCESS, type NodeMemory } from './nodeMemory';
import type { NoticeText } from './notices';
import { tell, type Reply } from './ownUrl';
import type { Change } from './running';
import type { Schedule } from './schedule';

/** Leads the work for a node, from its activation until n8n deactivates it or another main process leads. */
export class Leader {
	refusal?: unknown;
	/** Whether another process answered at the own URL. */
	isElsewhere = false;
	/** The attempts whose start began here. */
	readonly started = new Set<string>();
	private readonly closed = new AbortController();
	private readonly told = new Set<string>();

	constructor(
		readonly context: ITriggerFunctions,
		readonly memory: NodeMemory,
		private readonly schedule: Schedule | undefined,
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
	}

	/** Tells the own URL something, and learns what is saved. @throws NotReachedError if it does not answer */
	async ask(change: Change = {}): Promise<Reply> {
		const { memory, context } = this;
		const { saved, ...reply } = await tell(context, memory.urls?.addresses ?? [], change);
		// Another node may have saved an old copy without the activation.
		memory.learn({ activation: memory.saved.activation, ...saved });
		this.isElsewhere = reply.process !== PROCESS;
		return { saved, ...reply };
	}

	/** A time of the cron expression that n8n registered for this activation, or for one that it refused. */
	due(expression: string, timeZone: string, time: Date): void {
		const { schedule, context } = this;
		const isOwn = schedule?.expression === expression && context.getTimezone() === timeZone;
		// Two main processes that lead for a moment ask for the same attempt, and the gate lets one of them start.
		if (isOwn && schedule.isDue(time)) this.start(`s${schedule.roundDown(time).toString(36)}`);
	}

	/** Begins the execution that sends a start. */
	start(attempt: string): void {
		const { urls, saved } = this.memory;
		if (!urls || saved.activation === undefined) {
			// If this lasts, a failed execution tells it.
			const why = 'a start was due while the node could not save what it does';
			this.context.logger.warn(`LeadGen Trigger: ${why}, so it was left out`);
			return;
		}
		this.started.add(attempt);
		this.emit({ start: { attempt, ...urls } });
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
