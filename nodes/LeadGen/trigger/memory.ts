import { randomUUID } from 'crypto';
import {
	deepCopy,
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type IHookFunctions,
	type ITriggerFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { accountOf, type Account } from '../service/account';
import { CREDENTIAL_TYPE } from '../service/http';
import { limitContent, toSave, withContent } from './content';
import { ownerOf } from './plan';
import { fingerprint, Signer, type NodeIdentity } from './signature';
import { isDoneWith, join, markDone, newState, prune, type TriggerState } from './state';
import type { Check } from './status';
import type { SyncReply } from './sync';
import type { TestRun } from './testRun';
import { fromRelease1 } from './upgrade';

/** Names this process of n8n, as long as it runs. */
export const PROCESS = randomUUID();

/** What this process knows of one node, beside what n8n saves. */
export class NodeMemory {
	constructor(readonly identity: NodeIdentity) {}

	state?: TriggerState;
	/** The state changed since it was last sent to the node's own URL. */
	isDirty = false;
	/** What came back from there, and when it was asked for. */
	reply?: SyncReply;
	syncedAt = 0;
	/** Made of the credential, which is read again after a call that failed: it may have changed. */
	access?: Access;
	reading?: Promise<Access>;
	/** Where the node reaches itself, the one that answered last first. */
	addresses?: string[];
	/** A person activated the node, and that was not taken into account yet. */
	isAsked = false;
	/** Why the node could not be activated, until it can. */
	refusal?: unknown;
	/** Of the saved state: those that hold nothing that is not in `state`. */
	readonly versions = new Set<string>();
	/** When an execution last began. */
	acknowledgedAt = 0;
	/** Of the deliveries whose execution began, when the last one was handed to n8n. */
	begunUpTo = 0;
	/** When a notification was last written down by its own request. */
	writtenAt = 0;
	/** By scrape ID. */
	readonly checks = new Map<string, Check>();
	/** Scrape IDs that are looked up, and attempts that are sent; the latter resolve to whether the outcome is seen to be saved. */
	readonly busy = new Map<string, Promise<unknown>>();
	/** Answers to notifications that wait until n8n has saved them. */
	waiting: Waiting[] = [];
	/** n8n stops, and takes no new requests. */
	isStopping = false;
	/** Wakes what works for this node in this process; undefined if nothing does. */
	wake?: () => void;
	/** The last check of the deduplication. */
	deduplication: Promise<unknown> = Promise.resolve();
	/** The last "Execute step". */
	test?: TestRun;

	/** Adds what somebody else knows. */
	take(known: TriggerState): void {
		const state = (this.state = prune(this.state ? join(this.state, known) : known, Date.now()));
		for (const id of this.checks.keys()) {
			if (isDoneWith(state.scrapes[id])) this.checks.delete(id);
		}
	}
}

export interface Access {
	readAt: number;
	credential: ICredentialDataDecryptedObject;
	signer: Signer;
	account: Account;
}

/** Where a person may just have changed the credential, it is not older than this. */
export const FRESH_MS = 2000;

export interface Waiting {
	since: number;
	source: string;
	/** The request itself wrote the notification down. */
	isWritten: boolean;
	answer: (isSaved: boolean) => void;
}

/** The one registry of this process. */
const nodes = new Map<string, NodeMemory>();

export function memoryOf(identity: NodeIdentity): NodeMemory {
	const name = JSON.stringify([identity.workflowId, identity.nodeId]);
	const memory = nodes.get(name) ?? new NodeMemory(identity);
	nodes.set(name, memory);
	return memory;
}

/** The triggers of a workflow that this process knows. */
export function nodesOf(workflowId: string): NodeMemory[] {
	return [...nodes.values()].filter(({ identity }) => identity.workflowId === workflowId);
}

/**
 * The account of the node. n8n takes a tenth of a second of processor time to read a credential, so it is kept.
 * @param maxAgeMs it is read again if it is older
 */
export async function accessTo(
	context: Pick<ITriggerFunctions, 'getCredentials'>,
	memory: NodeMemory,
	maxAgeMs = Infinity,
): Promise<Access> {
	const { access } = memory;
	if (access && Date.now() - access.readAt <= maxAgeMs) return access;
	// Hundreds of requests may come at once.
	memory.reading ??= readAccess(context, memory).finally(() => delete memory.reading);
	return await memory.reading;
}

async function readAccess(
	context: Pick<ITriggerFunctions, 'getCredentials'>,
	memory: NodeMemory,
): Promise<Access> {
	const readAt = Date.now();
	const credential = await context.getCredentials(CREDENTIAL_TYPE);
	const signer = new Signer(credential, memory.identity);
	return (memory.access = { readAt, credential, signer, account: accountOf(credential) });
}

/** Changes the state, to be saved by the next call to the node's own URL. */
export function change(memory: NodeMemory, apply: (state: TriggerState) => void): void {
	const { state } = memory;
	if (!state) return;
	const print = () => fingerprint(withContent(state, () => false));
	const before = print();
	apply(state);
	memory.isDirty ||= print() !== before;
}

/** An execution began for a scrape or a notice. @param at when the scrape was completed */
export function acknowledged(memory: NodeMemory, id: string, at: number): void {
	change(memory, (state) => {
		const { stage, at: deliveredAt = 0 } = state.notices[id] ?? state.scrapes[id] ?? {};
		if (stage === 'delivering') memory.begunUpTo = Math.max(memory.begunUpTo, deliveredAt);
		markDone(state, id, at);
	});
	memory.acknowledgedAt = Date.now();
	memory.wake?.();
}

const MAX_VERSIONS = 100;

/**
 * The state of a node, in n8n's static data and in this process. The static data is the workflow's and keyed
 * by node ID, because that of a node is keyed by its name and lost when it is renamed.
 */
export class Store {
	private readonly owner: string;
	private readonly data: IDataObject;
	/** As n8n had saved it when the call came in. n8n watches each value of it, so that reading takes time. */
	private readonly saved: TriggerState | undefined;

	constructor(
		context: IHookFunctions | IWebhookFunctions,
		readonly memory: NodeMemory,
	) {
		this.owner = ownerOf(context);
		this.data = context.getWorkflowStaticData('global');
		this.saved = this.load(memory, this.owner);
	}

	/** What is known now; a new state if nothing is. */
	get state(): TriggerState {
		return (this.memory.state ??= newState(this.owner, Date.now()));
	}

	/** Adds what n8n has saved of a node, if that is news. @returns it */
	private load(memory: NodeMemory, owner: string): TriggerState | undefined {
		const saved = read(this.data[keyOf(memory)], owner);
		// Hundreds of notifications may come at once, and most find what this process itself wrote.
		if (saved && !(memory.state && memory.versions.has(saved.version ?? ''))) {
			memory.take(deepCopy(saved));
			knows(memory, saved.version);
		}
		return saved;
	}

	/** Adds what somebody else knows of this node. */
	take(known: TriggerState): void {
		if (known.owner === this.owner) this.memory.take(deepCopy(known));
	}

	/** Whether n8n had saved that a process planned this attempt to start a scrape. */
	hasPlanned(attempt: string, process: string | undefined): boolean {
		const start = this.saved?.starts[attempt];
		return start?.stage === 'planned' && start.process === process;
	}

	/** Whether n8n had saved a notification, and none that says more came in since. */
	hasSaved(source: string): boolean {
		const known = this.state.notifications[source];
		return !known || known.size <= (this.saved?.notifications[source]?.size ?? -1);
	}

	/**
	 * Writes the state to the static data, which n8n saves when the call is answered. n8n saves static data as a
	 * whole, so nodes that save at the same moment undo what the others saved: that is written again, too.
	 * @returns whether the state was not saved already
	 */
	save(): boolean {
		const { memory } = this;
		memory.state = prune(this.state, Date.now());
		const isForgotten = limitContent([...nodes.values()].flatMap(({ state }) => state ?? []));
		// What is saved may hold what was forgotten.
		if (isForgotten) for (const { versions } of nodes.values()) versions.clear();
		for (const other of nodesOf(memory.identity.workflowId)) {
			if (other === memory || !other.state || other.versions.size === 0) continue;
			this.load(other, other.state.owner);
			this.write(other, other.state);
		}
		return this.write(memory, memory.state);
	}

	/** @returns whether it was not written already */
	private write(memory: NodeMemory, state: TriggerState): boolean {
		const known = { ...toSave(state), version: undefined };
		const version = fingerprint(known);
		const key = keyOf(memory);
		knows(memory, version);
		if ((this.data[key] as { version?: string } | undefined)?.version === version) return false;
		this.data[key] = { ...deepCopy(known), version };
		return true;
	}
}

function keyOf({ identity }: NodeMemory): string {
	return `leadGenTrigger ${identity.nodeId}`;
}

/** A version of the saved state holds nothing that is news to this process. */
function knows({ versions }: NodeMemory, version: string | undefined): void {
	if (version !== undefined) versions.add(version);
	const [oldest = ''] = versions;
	if (versions.size > MAX_VERSIONS) versions.delete(oldest);
}

/** Static data can be written by anyone: what is no state of this node counts for nothing. */
function read(value: unknown, owner: string): TriggerState | undefined {
	const known = value as Partial<TriggerState> | null | undefined;
	const parts = [known?.facts, known?.starts, known?.scrapes, known?.notifications, known?.notices];
	const isState = known?.format === 2 && parts.every((part) => part && !Array.isArray(part));
	const state = isState ? (known as TriggerState) : fromRelease1(value, Date.now());
	return state?.owner === owner ? state : undefined;
}
