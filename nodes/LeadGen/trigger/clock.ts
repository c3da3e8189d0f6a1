import { randomUUID } from 'crypto';
import { sleep, type IDataObject, type IRun, type ITriggerFunctions } from 'n8n-workflow';
import { callOneself } from './address';
import type { Knock } from './decide';
import { fingerprint, secretFor, type NodeIdentity } from './secret';
import { PROCESS } from './store';

/** What is to be handed to n8n as an execution: the completion of a scrape by its ID, or a notice. */
export interface Emit {
	id: string;
	json: IDataObject;
}

/** What `webhook()` answers to a knock. */
export interface KnockAnswer {
	/** When to knock again, in milliseconds. */
	again: number;
	/** This start is written down, and is sent at the next knock. */
	planned?: string;
	/** This start is over and done with. */
	attempted?: string;
	emit?: Emit;
	/** Another activation is in charge. */
	stop?: boolean;
	/** Why the node can do nothing. */
	problem?: string;
	/** Which state of the record n8n had saved when the knock came. None if nothing was done. */
	saved?: string;
}

/** After this n8n has written an execution down, however long it runs, if it can write at all. */
const CONFIRM_AFTER_MS = 500;
/** What n8n could not write down is handed over again. */
const RENEW_AFTER_MS = 2000;
/** A sleep is cut up, so that no timer is left behind when the node is closed. */
const SLICE_MS = 1000;
const SLOWEST_RETRY_MS = 30_000;
/** For so long it is only a matter of n8n getting ready. */
const PATIENCE_MS = 20_000;

/** For so long a clock that was closed tries to have written down what it handed over. */
const GOODBYE_MS = 2000;

/** Far more than finish while one process still has older data. */
const MOST_DELIVERED = 1000;

/** What was handed to n8n. */
interface Handed {
	at: number;
	/** See `nameOf`. */
	name: string;
	/** Whether its execution is over, or was refused by n8n. */
	end?: 'over' | 'refused';
	/** What n8n had saved before. n8n saves what comes with it first, and 1.x does not say that it failed to run it. */
	before: string;
	/** Whether n8n has saved anything since then. */
	isSaved?: boolean;
}

/** What the clock of a node remembers in this process, also when the node is activated anew. */
interface ClockMemory {
	/** Set by the hooks of the activation, which alone know them. */
	addresses?: string[];
	attempt: string;
	phase: Knock['phase'];
	handed: Map<string, Handed>;
	/** Names of what is written down as delivered. Of two webhook processes one may overwrite that with older data. */
	delivered: Set<string>;
	/** What n8n failed to begin, and how many executions it kept of that. */
	refused: Map<string, number>;
	/** A person activated the node, and no knock has said so yet. */
	isAsked: boolean;
	clock?: Clock;
}

const memories = new Map<string, ClockMemory>();
let lastBegin = 0;

function memoryOf({ workflowId, nodeId }: NodeIdentity): ClockMemory {
	const name = `${workflowId} ${nodeId}`;
	const memory = memories.get(name) ?? newMemory();
	memories.set(name, memory);
	return memory;
}

function newMemory(): ClockMemory {
	return {
		attempt: randomUUID(),
		phase: 'plan',
		handed: new Map(),
		delivered: new Set(),
		refused: new Map(),
		isAsked: false,
	};
}

/** The hooks hand the node's own addresses to its clock, which starts to knock then. */
export function setAddresses(identity: NodeIdentity, addresses: string[] | undefined): void {
	memoryOf(identity).addresses = addresses;
}

/** Makes the clock knock at once, if it runs in this process. */
export function wake(identity: NodeIdentity): void {
	memoryOf(identity).clock?.wake();
}

/** An item that the node turns into an error, so that a failed execution tells the person. */
export function noticeItem(message: string, advice: string): IDataObject {
	return { leadGenNotice: { message, advice } };
}

/**
 * `trigger()` is nothing but this clock: it knocks at the node's own production URL, where `webhook()`
 * decides, and hands to n8n what `webhook()` wants executed.
 */
export class Clock {
	private readonly id = randomUUID();
	private readonly at: number;
	private readonly memory: ClockMemory;
	private isClosed = false;
	private isWoken = false;
	private wakeUp = () => {};
	private failingSince: number | undefined;
	private isTold = false;
	/** Why no knock can be sent. */
	private problem: string | undefined;

	constructor(
		private readonly context: ITriggerFunctions,
		private readonly identity: NodeIdentity,
	) {
		// Two clocks of one millisecond must not both believe to be the newer one.
		lastBegin = Math.max(Date.now(), lastBegin + 1);
		this.at = lastBegin;
		this.memory = memoryOf(identity);
		this.memory.clock = this;
		// n8n 2.x calls it an update when a refused activation is published again.
		this.memory.isAsked ||= context.getActivationMode() === 'activate';
	}

	wake(): void {
		this.isWoken = true;
		this.wakeUp();
	}

	/** n8n 1.x does not bear that closing takes a moment, when it stops leading and leads again at once. */
	close(): void {
		this.isClosed = true;
		this.wakeUp();
	}

	/** Knocks until it is closed. Never fails. */
	async run(): Promise<void> {
		let failures = 0;
		while (!this.isClosed) {
			const answer = await this.tryKnock();
			const problem = answer?.problem ?? this.problem;
			if (answer === undefined || problem !== undefined) {
				this.complain(problem);
				await this.rest(Math.min(SLOWEST_RETRY_MS, 200 * 1.5 ** failures++));
				continue;
			}
			failures = 0;
			this.failingSince = undefined;
			if (answer.stop) return;
			await this.rest(this.take(answer));
		}
		await this.sayGoodbye();
	}

	/**
	 * Another main process may go on, and would hand over again what is not written down. A newer clock of this
	 * process does that itself.
	 */
	private async sayGoodbye(): Promise<void> {
		const { memory } = this;
		const end = Date.now() + GOODBYE_MS;
		while (memory.clock === this && memory.handed.size > 0 && Date.now() < end) {
			await sleep(CONFIRM_AFTER_MS / 2);
			if ((await this.tryKnock()) === undefined) return;
		}
	}

	private async tryKnock(): Promise<KnockAnswer | undefined> {
		const { addresses } = this.memory;
		if (!addresses) return undefined;
		try {
			return await this.knock(addresses);
		} catch (error) {
			// The credential cannot be read.
			this.problem = error instanceof Error ? error.message : String(error);
			return undefined;
		}
	}

	private async knock(addresses: string[]): Promise<KnockAnswer | undefined> {
		const isLast = this.isClosed;
		const credential = await this.context.getCredentials('leadGenApi');
		this.problem = undefined;
		const secret = secretFor(credential, this.identity, 'knock');
		for (const address of addresses) {
			if (this.isClosed !== isLast) return undefined;
			const answer = await this.send(address, secret, isLast).catch((error: unknown) => {
				this.context.logger.debug('LeadGen Trigger: an address does not answer', {
					address,
					error: String(error),
				});
			});
			if (!isAnswer(answer)) continue;
			// The next time this address comes first.
			this.memory.addresses = [address, ...addresses.filter((other) => other !== address)];
			return answer;
		}
		return undefined;
	}

	private async send(address: string, secret: string, isLast: boolean): Promise<unknown> {
		const { memory } = this;
		const confirmed = this.takeStock();
		const knock: Knock = {
			clock: this.id,
			at: this.at,
			process: PROCESS,
			mode: this.activationMode(),
			attempt: memory.attempt,
			phase: memory.phase,
			confirmed,
			pending: [...memory.handed.keys()],
			isLast,
		};
		// If no answer comes, nobody knows whether the start went out.
		if (!isLast && memory.phase === 'go') memory.phase = 'gone';
		const answer = await callOneself(this.context, address, secret, knock);
		if (isAnswer(answer)) {
			// Without it, the webhook was busy and did nothing.
			const { saved } = answer;
			if (saved !== undefined) {
				for (const id of confirmed) this.settle(id);
				if (!isLast) memory.isAsked = false;
				for (const handed of memory.handed.values()) {
					handed.isSaved ||= saved !== handed.before;
					// Where nothing could be saved, no execution could be written down either.
					if (!handed.isSaved) handed.end ??= 'refused';
				}
			}
		}
		return answer;
	}

	/** A person's wish counts until a knock has brought it, and not again where the record is lost. */
	private activationMode(): string {
		if (this.memory.isAsked) return 'activate';
		const mode = this.context.getActivationMode();
		return mode === 'activate' ? 'init' : mode;
	}

	/** Forgets what n8n did not run. @returns what it runs, or did */
	private takeStock(): string[] {
		const { handed } = this.memory;
		const confirmed: string[] = [];
		for (const [id, { at, end, isSaved }] of handed) {
			const age = Date.now() - at;
			if (end === 'over') confirmed.push(id);
			else if (end === 'refused' && age >= RENEW_AFTER_MS) handed.delete(id);
			else if (end === undefined && isSaved && age >= CONFIRM_AFTER_MS) confirmed.push(id);
		}
		return confirmed;
	}

	/** @returns how long to rest */
	private take({ again, planned, attempted, emit, saved = '' }: KnockAnswer): number {
		const { memory } = this;
		if (planned === memory.attempt) memory.phase = 'go';
		if (attempted === memory.attempt) {
			memory.attempt = randomUUID();
			memory.phase = 'plan';
		}
		if (emit) this.hand(emit, saved);
		return memory.handed.size === 0 ? again : Math.min(again, CONFIRM_AFTER_MS);
	}

	private settle(id: string): void {
		const { handed, delivered, refused } = this.memory;
		const name = handed.get(id)?.name;
		if (name === undefined) return;
		handed.delete(id);
		refused.delete(id);
		delivered.add(name);
		for (const oldest of delivered) {
			if (delivered.size <= MOST_DELIVERED) break;
			delivered.delete(oldest);
		}
	}

	private hand(emit: Emit, before: string): void {
		const { context, memory } = this;
		const { id, json } = emit;
		const name = this.nameOf(emit);
		// What was delivered before is only to be written down once more.
		if (memory.delivered.has(name)) {
			memory.handed.set(id, { at: 0, name, before, end: 'over' });
			return;
		}
		if (this.isClosed) return;
		const handed: Handed = { at: Date.now(), name, before };
		memory.handed.set(id, handed);
		const over = () => {
			handed.end = 'over';
			// It need not be brought in again, so that is written down at once.
			memory.clock?.wake();
		};
		const { refused } = memory;
		const again = (broken: number) => {
			handed.end = 'refused';
			refused.set(id, (refused.get(id) ?? 0) + broken);
		};
		const done = context.helpers.createDeferredPromise<IRun>();
		done.promise.then(
			(run?: IRun) => {
				// After a refusal, all that n8n has under this name is the execution that it failed to begin.
				if (run === undefined && refused.has(id)) again(1);
				else over();
			},
			(error: unknown) => {
				if (hasBegun(error)) over();
				else again(0);
			},
		);
		context.emit([[{ json }]], undefined, done, name);
	}

	/**
	 * n8n 2.x runs nothing twice under one name, also after a crash: what it had begun and not ended, it shows as
	 * failed, to be retried. Where the workflow keeps no failed executions, that would be lost; twice is better.
	 */
	private nameOf({ id, json }: Emit): string {
		const { workflowId, nodeId } = this.identity;
		const isKept = this.context.getWorkflowSettings().saveDataErrorExecution !== 'none';
		// Another account may have given the same ID.
		const scrape = [id, json.createdAt, this.memory.refused.get(id) ?? 0];
		return `leadgen ${fingerprint([workflowId, nodeId, ...scrape, isKept ? '' : PROCESS])}`;
	}

	/** Says it where a person sees it, once. */
	private complain(problem: string | undefined): void {
		if (this.isClosed || !this.memory.addresses) return;
		this.failingSince ??= Date.now();
		if (this.isTold || Date.now() - this.failingSince < PATIENCE_MS) return;
		this.isTold = true;
		const message =
			problem === undefined
				? 'n8n cannot reach the production URL of this node'
				: `The node can neither start scrapes nor deliver completions: ${problem}`;
		const advice =
			problem === undefined
				? 'The node calls it to start scrapes and to deliver their completions; it goes on trying. Set the option "Internal URL" to the address under which n8n reaches itself, such as http://127.0.0.1:5678.'
				: 'It goes on trying. Put it right, and publish or activate the workflow again.';
		this.context.logger.error(`LeadGen Trigger: ${message}. ${advice}`);
		this.context.emit([[{ json: noticeItem(message, advice) }]]);
	}

	private async rest(ms: number): Promise<void> {
		const end = Date.now() + ms;
		const woken = new Promise<void>((resolve) => (this.wakeUp = resolve));
		while (!this.isClosed && !this.isWoken && Date.now() < end) {
			await Promise.race([sleep(Math.min(SLICE_MS, end - Date.now())), woken]);
		}
		this.isWoken = false;
	}
}

/** Whether n8n had an execution that it refused, or that was stopped: it is in the list of executions. */
function hasBegun(error: unknown): boolean {
	return error instanceof Error && /ExecutionNotFound|Cancelled/.test(error.constructor.name);
}

function isAnswer(value: unknown): value is KnockAnswer {
	return typeof value === 'object' && value !== null && 'again' in value;
}
