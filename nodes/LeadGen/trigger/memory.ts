import type { ICredentialDataDecryptedObject, IDataObject, ITriggerFunctions } from 'n8n-workflow';
import { CREDENTIAL_TYPE } from '../service/http';
import type { Saved } from './content';
import { fingerprint, Signer, type NodeIdentity } from './signature';
import { prune } from './prune';
import type { SyncReply } from './messages';
import { isFinal, merge, markDone, newState, type Check, type TriggerState } from './state';

/** What this process knows about one node: the state, and data that is never saved. */
export class NodeMemory {
	/** The state as this process knows it now. */
	state: TriggerState;
	/** The text of the state when n8n last received it to save. */
	private written: string;
	/** The last reply from the node's own URL, and when it was requested. */
	reply?: SyncReply;
	syncedAt = 0;
	/** Derived from the credential. Read again after a failed call, because the credential may have changed. */
	access?: { readAt: number; read: Promise<Access> };
	/** The addresses at which the node reaches itself. The address that answered last comes first. */
	addresses?: string[];
	/** A user activated the node, and the timer has not handled this yet. */
	isAsked = false;
	/** When this process last activated the node; undefined if n8n has deactivated the node here since. */
	activeSince?: number;
	/** Why n8n could not activate the node; undefined as soon as it can. */
	refusal?: unknown;
	/** The saved state as it was last read or written. `state` includes all of it. */
	lastRead?: { value: unknown; saved: Saved };
	/** When this process last learned that an execution began. */
	acknowledgedAt = 0;
	/** When the latest delivery whose execution began was handed to n8n. */
	lastBegunDeliveryAt = 0;
	/** When the request of a notification last wrote to the static data. */
	writtenAt = 0;
	/** The last status check of each scrape, by scrape ID. */
	readonly checks = new Map<string, Check>();
	/** Status requests by scrape ID, and starts by attempt ID. */
	readonly inFlight = new Map<string, Promise<unknown>>();
	/** Senders of notifications that get their answer when n8n has saved the notification. */
	waiting: Waiting[] = [];
	/** The reconciler of this node in this process; undefined if none runs. */
	reconciler?: { wake(): void; close(): void };
	/** The deliveries that the gate let through in this process, by idempotency key. */
	readonly passed = new Map<string, string>();
	/** The last deduplication check, for which the next one waits. */
	deduplication: Promise<unknown> = Promise.resolve();
	/** The last "Execute step". */
	test?: TestRun;

	constructor(readonly identity: NodeIdentity) {
		const { workflowId, nodeId, instanceId } = identity;
		this.state = newState(fingerprint([workflowId, nodeId, instanceId]));
		this.written = this.text;
	}

	/** Merges a state from elsewhere. Its sender saves it, so it does not count as a change to save. */
	merge(known: TriggerState): void {
		const { isDirty } = this;
		this.state = prune(merge(this.state, known), Date.now());
		if (!isDirty) this.markWritten();
		for (const id of this.checks.keys()) {
			if (isFinal(this.state.scrapes[id])) this.checks.delete(id);
		}
	}

	/** Whether n8n has deactivated the node in this process, or has not activated it yet. */
	get isOff(): boolean {
		return this.addresses === undefined;
	}

	/** Whether nothing is left to do: no notification to handle, no change to save, nothing in flight. */
	get isIdle(): boolean {
		const { state, inFlight, waiting, isDirty } = this;
		const isLeft = Object.values(state.scrapes).some(
			({ stage, source }) => stage !== 'done' && state.notifications[source] !== undefined,
		);
		return !isLeft && !isDirty && inFlight.size === 0 && waiting.length === 0;
	}

	/** Whether the state has changed since n8n last received it to save. */
	get isDirty(): boolean {
		return this.text !== this.written;
	}

	/** Records that n8n received the state to save. @param text the text of the state at that time */
	markWritten(text = this.text): void {
		this.written = text;
	}

	/** The state as text, to detect changes. A repeated notification is no change that must be saved. */
	get text(): string {
		const { notifications, ...others } = this.state;
		const contents = Object.entries(notifications);
		const sizes = contents.map(([source, { size, leads }]) => [source, size, leads]);
		return JSON.stringify([others, sizes]);
	}
}

/** The last "Execute step" of a node. */
export class TestRun {
	/** The scrape that it waits for; undefined if any scrape will do. */
	scrapeId?: string;
	/** The notification of that scrape. It may arrive before the status is finished. */
	notification?: IDataObject;
	isOver = false;

	/** @param url the test URL; n8n ends a test and an activation with the same call, and only the URL differs */
	constructor(readonly url?: string) {}
}

export interface Access {
	credential: ICredentialDataDecryptedObject;
	signer: Signer;
}

/** The maximum age of the credential when the user may just have changed it. */
export const FRESH_MS = 2000;

export interface Waiting {
	since: number;
	source: string;
	/** Whether the request itself wrote the notification to the static data. */
	isWritten: boolean;
	answer: (isSaved: boolean) => void;
}

/** All nodes that this process knows, by workflow ID and node ID. */
export const nodes = new Map<string, NodeMemory>();

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
 * The credential of the node, and its signer. Reading a credential costs n8n a tenth of a second of processor time, so
 * it is cached.
 * @param maxAgeMs reads the credential again if the cached one is older
 */
export async function cachedAccess(
	context: Pick<ITriggerFunctions, 'getCredentials'>,
	memory: NodeMemory,
	maxAgeMs = Infinity,
): Promise<Access> {
	const now = Date.now();
	if (!memory.access || now - memory.access.readAt > maxAgeMs) {
		// Hundreds of requests may arrive at once. They share one read.
		memory.access = { readAt: now, read: readAccess(context, memory) };
	}
	return await memory.access.read;
}

/** @throws InputError if the API key is empty */
export async function readAccess(
	context: Pick<ITriggerFunctions, 'getCredentials'>,
	{ identity }: NodeMemory,
): Promise<Access> {
	const credential = await context.getCredentials(CREDENTIAL_TYPE);
	return { credential, signer: new Signer(credential, identity) };
}

/** Runs a task in the background. @param name the scrape ID or attempt ID of the task */
export function inBackground(
	{ logger }: Pick<ITriggerFunctions, 'logger'>,
	memory: NodeMemory,
	name: string,
	task: Promise<unknown>,
): void {
	const safe = task.catch((error: unknown) => {
		logger.warn(`LeadGen Trigger: ${String(error)}`);
	});
	const free = () => {
		memory.inFlight.delete(name);
		memory.reconciler?.wake();
	};
	memory.inFlight.set(name, safe);
	safe.then(free, free).catch(() => {});
}

/** Records that an execution began for a scrape or a notice. @param at when the scrape was completed */
export function acknowledged(memory: NodeMemory, id: string, at: number): void {
	const { state } = memory;
	const { stage, at: deliveredAt = 0 } = state.notices[id] ?? state.scrapes[id] ?? {};
	if (stage === 'delivering')
		memory.lastBegunDeliveryAt = Math.max(memory.lastBegunDeliveryAt, deliveredAt);
	markDone(state, id, at);
	memory.acknowledgedAt = Date.now();
	memory.reconciler?.wake();
}
