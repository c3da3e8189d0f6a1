import { randomUUID } from 'crypto';
import { sleep, type ITriggerFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { accountOf } from '../service/account';
import { baseUrlOf } from '../service/http';
import { applyActivation, skipStart, planStart, applyTime } from './events';
import { cachedAccess, inBackground, type Access, type NodeMemory } from './memory';
import { cannotWork, NOT_REACHED, textOf } from './notices';
import { defaultAddress, isReachable, sendMessage } from './ownUrl';
import type { Plan } from './plan';
import { nextAction, type Action } from './planner';
import { PROCESS } from './process';
import { checkStatus } from './scrape';
import { beginStart } from './start';
import { answerSenders, isCredentialGone, NotReachedError, sync } from './sync';

const SLOWEST_RETRY_MS = 30_000;
const PAUSE_MS = 300;
const SLICE_MS = 5000;
/** Unverified IDs use up to a third of the account's rate limit, or of the smallest plan's if the limit is unknown. */
const UNVERIFIED_SHARE = 1 / 3;
const FEWEST_UNVERIFIED = 20;

/** While n8n gets ready, the node does not report an outage that is shorter than this. */
const PATIENCE_MS = 20_000;
/** After an outage this long, a process without the timer gives up: the workflow may have been deactivated. */
const GIVES_UP_MS = 5 * 60_000;

/**
 * Brings the scrapes of one node to their end, one action at a time, as the planner decides. Two reconcilers in two
 * processes can work for one node at once: their states are merged in the static data.
 */
export class Reconciler {
	/** Identifies the activation in which this process runs the timer. */
	private readonly id = randomUUID();
	private readonly since = Date.now();
	private isClosed = false;
	private isWakeRequested = false;
	private resolveWait = () => {};
	private isActivated = false;
	/** The current outage; undefined while the node works. */
	private outage: { since: number; isReported: boolean } | undefined;

	/**
	 * @param timer the context of `trigger()`; without it, the reconciler ends when nothing is left to do
	 * @param activeSince when n8n called `trigger()` before in this process, if it has not deactivated the node since
	 */
	constructor(
		private readonly context: ITriggerFunctions | IWebhookFunctions,
		private readonly memory: NodeMemory,
		private readonly timer?: ITriggerFunctions,
		private readonly activeSince?: number,
	) {
		// If n8n could not activate another trigger of the workflow, it may not have closed the previous reconciler.
		memory.reconciler?.close();
		memory.reconciler = this;
		delete memory.reply;
	}

	close(): void {
		this.isClosed = true;
		if (this.memory.reconciler === this) delete this.memory.reconciler;
		this.wake();
	}

	wake(): void {
		this.isWakeRequested = true;
		this.resolveWait();
	}

	/** Waits for `ms` milliseconds or until it is woken. Sleeps in slices, so that no long timer is left behind. */
	private async waitUntilWoken(ms: number): Promise<void> {
		const end = Date.now() + ms;
		const rung = new Promise<void>((resolve) => (this.resolveWait = resolve));
		while (!this.isWakeRequested && Date.now() < end) {
			await Promise.race([sleep(Math.min(SLICE_MS, end - Date.now())), rung]);
		}
		this.isWakeRequested = false;
	}

	/** Works until it is closed. Never throws: it reports errors and tries again. */
	async run(): Promise<void> {
		const { memory } = this;
		for (let failures = 0; !this.isClosed;) {
			try {
				await this.step();
				failures = 0;
			} catch (error) {
				await this.failed(error, failures++);
			}
		}
		// Save what was delivered, so that the process that continues does not deliver it again.
		if (memory.isDirty) await sync(this.context, memory).catch(() => {});
	}

	/** Reports a lasting outage once, and waits before the next try. */
	private async failed(error: unknown, failures: number): Promise<void> {
		const { memory, timer } = this;
		delete memory.access;
		// Without the credential, nothing can confirm a save. A notification that its request wrote then counts as saved.
		answerSenders(memory, ({ isWritten }) => isWritten && isCredentialGone(error));
		const outage = (this.outage ??= { since: Date.now(), isReported: false });
		if (!outage.isReported && Date.now() - outage.since >= (timer ? PATIENCE_MS : GIVES_UP_MS)) {
			outage.isReported = true;
			try {
				this.reportOutage(error);
			} catch {
				// Continue even if the report fails.
			}
		}
		const longest = memory.waiting.length > 0 ? PAUSE_MS : SLOWEST_RETRY_MS;
		await this.waitUntilWoken(Math.min(longest, 200 * 1.5 ** failures));
	}

	private reportOutage(error: unknown): void {
		const { context, timer } = this;
		const { message: problem } = textOf(error);
		if (!timer) {
			this.close();
			const said = 'completions cannot be delivered by this process';
			context.logger.error(`LeadGen Trigger: ${said}: ${problem}`);
			return;
		}
		const { message, advice } =
			error instanceof NotReachedError ? NOT_REACHED : cannotWork(problem);
		context.logger.error(`LeadGen Trigger: ${message}. ${advice}`);
		// This report does not need the node's own URL.
		timer.emit([[{ json: { leadGenNotice: { message, advice } } }]]);
	}

	private async step(): Promise<void> {
		const { memory, context } = this;
		// The hooks of the activation provide the addresses.
		if (memory.isOff) {
			await this.waitUntilWoken(PAUSE_MS);
			// Before n8n 1.115, n8n runs no hooks when a main process becomes the leader.
			const isLate = Date.now() - this.since >= PATIENCE_MS;
			if (isLate && this.timer?.getActivationMode() === 'leadershipChange') {
				memory.addresses ??= [defaultAddress(context.getNode())];
			}
		} else {
			const access = await cachedAccess(context, memory);
			const { reply } = memory;
			if (!reply) await sync(context, memory);
			else if (reply.isActive) await this.act(reply.plan, access);
			else await this.pause();
		}
		// Only a sync shows that the own URL answers again.
		if (this.outage && memory.syncedAt >= this.outage.since) this.outage = undefined;
	}

	/**
	 * Waits while the workflow is not active: n8n could not activate it after `trigger()`, and did not close the timer.
	 */
	private async pause(): Promise<void> {
		if (!this.timer) this.close();
		await this.waitUntilWoken(SLOWEST_RETRY_MS);
		if (!this.isClosed) await sync(this.context, this.memory);
	}

	private async act(plan: Plan, access: Access): Promise<void> {
		const { memory } = this;
		const now = Date.now();
		this.update(plan, access, now);
		const { perMinute } = accountOf(access.credential).limiter;
		const share = Math.max(1, Math.floor(perMinute * UNVERIFIED_SHARE));
		const view = {
			memory,
			plan,
			isTimer: this.timer !== undefined,
			unverifiedPerMinute: share < Infinity ? share : FEWEST_UNVERIFIED,
		};
		await this.do(nextAction(view, now), plan, access);
	}

	/** Applies the changes that the activation and the time cause. */
	private update(plan: Plan, { credential }: Access, now: number): void {
		const { id, timer, memory, activeSince } = this;
		const { state } = memory;
		if (!timer) return;
		if (!this.isActivated) {
			this.isActivated = true;
			// n8n 2 reports an update when a user publishes again after a refused activation.
			const mode = memory.isAsked ? 'activate' : timer.getActivationMode();
			memory.isAsked = false;
			const isUnreachable = !isReachable(plan.url, baseUrlOf(credential));
			const activation = { id, mode, isUnreachable, activeSince };
			applyActivation(state, activation, plan, now);
		}
		const mode = timer.getActivationMode();
		applyTime(state, plan, { id, mode }, memory.syncedAt, now);
	}

	private async do(action: Action, plan: Plan, access: Access): Promise<void> {
		const { memory, context } = this;
		const { state } = memory;
		const now = Date.now();
		switch (action.do) {
			case 'sync':
				await sync(context, memory);
				if (memory.waiting.length > 0) await this.waitUntilWoken(PAUSE_MS);
				return;
			case 'deliver': {
				const { id } = action;
				const { result } = memory.checks.get(id) ?? {};
				const { isDelivered } = await sync(context, memory, { id, ...result });
				if (!isDelivered) await this.waitUntilWoken(PAUSE_MS);
				return;
			}
			case 'check':
				inBackground(context, memory, action.id, checkStatus(context, memory, action.id));
				return;
			case 'plan':
				planStart(state, action.attempt, plan, now);
				return;
			case 'skip':
				skipStart(state, action, now);
				return;
			case 'send':
				await this.send(action.attempt, access);
				return;
			case 'wait': {
				if (!this.timer && memory.isIdle) this.close();
				if (this.outage) {
					await sync(context, memory);
					this.outage = undefined;
				} else await this.waitUntilWoken(action.ms);
			}
		}
	}

	/** Sends a start in a request to the own URL if this process answers there, otherwise from here. */
	private async send(attempt: string, { signer }: Access): Promise<void> {
		const { memory, context } = this;
		const reply = await sync(context, memory);
		const { addresses = [] } = memory;
		const isElsewhere = ({ process }: { process?: string }) => process !== PROCESS;
		const begin = async () => {
			const answer = isElsewhere(reply)
				? reply
				: await sendMessage(context, addresses, signer, { send: attempt });
			if (answer && isElsewhere(answer) && !this.isClosed) {
				beginStart(context, memory, attempt, reply.saved, reply);
			}
		};
		// n8n 1.100 also answers if the workflow is not active.
		if (!this.isClosed && reply.isActive) void begin().catch(() => {});
		await this.waitUntilWoken(PAUSE_MS);
	}
}
