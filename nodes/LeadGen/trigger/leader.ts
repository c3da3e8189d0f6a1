import { randomUUID } from 'crypto';
import {
	NodeOperationError,
	sleep,
	type ITriggerFunctions,
	type ITriggerResponse,
} from 'n8n-workflow';
import { mayReportSaveAsActivation, registerCron } from '../compatibility';
import { readSchedule, type Schedule } from '../schedule/schedule';
import { itemFor, type Purpose } from './execution';
import { newDelivery } from './gate';
import { memoryOf, PROCESS, type NodeMemory } from './memory';
import { NOT_ACTIVATED, textOf, UNREACHABLE, type NoticeText } from './notices';
import { isReachable, ownAddresses, tell, type Message, type Reply } from './ownUrl';
import { MIN_PAUSE_MS, poll } from './polling';
import { mode } from './properties';
import { merged, readSaved } from './running';
import { parametersOf } from './scrape';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** While n8n gets ready, the node does not report an outage that is shorter than this. */
const PATIENCE_MS = 20 * SECOND_MS;
/** A save deactivates and activates the workflow within this time. */
const SAVE_MS = 2 * SECOND_MS;
/** How often to ask for retried starts, where another process answers at the own URL. */
const ASK_MS = 15 * MINUTE_MS;

/**
 * Implements `trigger()`, which n8n calls in the leading main process: registers the schedule, begins the starts, and
 * polls the running scrapes.
 * @throws NodeOperationError if n8n does not accept the schedule
 */
export function lead(context: ITriggerFunctions): ITriggerResponse {
	const memory = memoryOf(context);
	// Fresh from the database here, and never again in this context.
	const saved = readSaved(context.getWorkflowStaticData('global'), memory.key);
	memory.saved = merged(memory.saved, saved);
	const isSave = mayReportSaveAsActivation(context) && Date.now() - memory.closedAt < SAVE_MS;
	const isAsked = context.getActivationMode() === 'activate' && !isSave;
	// n8n repeats an activation on its own after a crash, or when another trigger lost its connection. It does not call
	// `delete` before, so the activation is still saved.
	memory.wanted ??= saved.activation ?? (isAsked ? newAttempt() : undefined);
	const leader = new Leader(context, memory);
	const parameters = parametersOf(context);
	if (parameters.get(mode) === 'listen') void leader.listen();
	else {
		const schedule = readSchedule(parameters, context.getTimezone());
		if (schedule) register(context, schedule, leader);
		void leader.run(saved.activation);
	}
	const closeFunction = async () => {
		leader.close();
		await Promise.resolve();
	};
	return { closeFunction };
}

/** In lower case, because some services change the case of a URL. */
function newAttempt(): string {
	return `a${randomUUID().replaceAll('-', '')}`;
}

function register(context: ITriggerFunctions, schedule: Schedule, leader: Leader): void {
	try {
		registerCron(context, schedule.expression, (due) => {
			// Two main processes that lead for a moment ask for the same attempt, and the gate lets one of them start.
			if (schedule.isDue(due)) leader.start(`s${schedule.roundDown(due).toString(36)}`);
		});
	} catch (error) {
		throw new NodeOperationError(
			context.getNode(),
			`n8n does not accept the schedule "${schedule.expression}": ${textOf(error).message}`,
			{ description: "Check 'How Often', and the time zone in the settings of the workflow." },
		);
	}
}

export class Leader {
	isClosed = false;
	/** Whether the own URL has answered, so that the ID of a scrape can be saved. */
	private isReady = false;
	/** Whether another process answered there. */
	private isElsewhere = false;
	private resolveClosed = () => {};
	private readonly closed = new Promise<void>((resolve) => (this.resolveClosed = resolve));
	private readonly polled = new Set<string>();
	private readonly told = new Set<string>();

	constructor(
		readonly context: ITriggerFunctions,
		readonly memory: NodeMemory,
	) {
		memory.leader = this;
	}

	close(): void {
		this.isClosed = true;
		this.memory.closedAt = Date.now();
		if (this.memory.leader === this) delete this.memory.leader;
		this.resolveClosed();
	}

	/** The mode that only listens starts nothing, and polls nothing. */
	async listen(): Promise<void> {
		const { memory } = this;
		const isAsked = memory.wanted !== undefined;
		delete memory.wanted;
		await this.untilActive();
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
		for (const { attempt } of memory.saved.running) void this.poll(attempt, 0);
		// Another process may save the ID of a start that a user retries.
		while (this.isElsewhere) {
			await this.wait(ASK_MS);
			if (this.isClosed) return;
			await this.ask().catch(() => {});
			this.follow();
		}
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
	async ask(message: Message = {}): Promise<Reply> {
		const { memory, context } = this;
		const { signer } = await memory.accessOf(context);
		const reply = await tell(context, memory.addresses ?? [], signer, message);
		memory.saved = merged(memory.saved, reply.saved);
		this.isElsewhere = reply.process !== PROCESS;
		return reply;
	}

	/** Begins the execution that sends a start. */
	start(attempt: string): void {
		const { url, addresses } = this.memory;
		if (!this.isReady || url === undefined || addresses === undefined) {
			const why = 'a start was due while the node could not save what it does';
			this.context.logger.warn(`LeadGen Trigger: ${why}, so it was left out`);
			return;
		}
		this.emit({ start: { attempt, url, addresses, ...newDelivery() } });
		void this.poll(attempt, MIN_PAUSE_MS);
	}

	follow(): void {
		for (const { attempt } of this.memory.saved.running) void this.poll(attempt, MIN_PAUSE_MS);
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
		await Promise.race([sleep(ms), this.closed]);
	}
}
