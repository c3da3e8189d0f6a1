import type { ICredentialDataDecryptedObject, IDataObject, ITriggerFunctions } from 'n8n-workflow';
import { CREDENTIAL_TYPE } from '../service/http';
import type { Saved } from './content';
import { fingerprint, Signer, type NodeIdentity } from './signature';
import { prune } from './prune';
import type { SyncReply } from './messages';
import { isDoneWith, join, markDone, newState, type Check, type TriggerState } from './state';

/** What this process knows of one node, beside what n8n saves. */
export class NodeMemory {
	/** What is known now. */
	state: TriggerState;
	/** The state as n8n was last given it to save. */
	private written: string;
	/** What came back from the node's own URL, and when it was asked for. */
	reply?: SyncReply;
	syncedAt = 0;
	/** Made of the credential, which is read again after a call that failed: it may have changed. */
	access?: { readAt: number; read: Promise<Access> };
	/** Where the node reaches itself, the one that answered last first. */
	addresses?: string[];
	/** A person activated the node, and that was not taken into account yet. */
	isAsked = false;
	/** When this process activated the node last, if n8n did not deactivate it here since. */
	activeSince?: number;
	/** Why the node could not be activated, until it can. */
	refusal?: unknown;
	/** The saved state, as it was last read or written: it holds nothing that is not in `state`. */
	lastRead?: { value: unknown; saved: Saved };
	/** When an execution last began. */
	acknowledgedAt = 0;
	/** Of the deliveries whose execution began, when the last one was handed to n8n. */
	lastBegunDeliveryAt = 0;
	/** When a notification was last written down by its own request. */
	writtenAt = 0;
	/** By scrape ID. */
	readonly checks = new Map<string, Check>();
	/** Scrape IDs that are looked up, and attempts that are sent. */
	readonly inFlight = new Map<string, Promise<unknown>>();
	/** Answers to notifications that wait until n8n has saved them. */
	waiting: Waiting[] = [];
	/** What works for this node in this process; undefined if nothing does. */
	worker?: { wake(): void; close(): void };
	/** The deliveries that passed the gate in this process, by idempotency key. */
	readonly passed = new Map<string, string>();
	/** The last check of the deduplication. */
	deduplication: Promise<unknown> = Promise.resolve();
	/** The last "Execute step". */
	test?: TestRun;

	constructor(readonly identity: NodeIdentity) {
		const { workflowId, nodeId, instanceId } = identity;
		this.state = newState(fingerprint([workflowId, nodeId, instanceId]));
		this.written = this.text;
	}

	/** Adds what somebody else knows, who also sees to it that it is saved. */
	take(known: TriggerState): void {
		const { isDirty } = this;
		this.state = prune(join(this.state, known), Date.now());
		if (!isDirty) this.wrote();
		for (const id of this.checks.keys()) {
			if (isDoneWith(this.state.scrapes[id])) this.checks.delete(id);
		}
	}

	/** n8n deactivated the node in this process, or has not activated it yet. */
	get isOff(): boolean {
		return this.addresses === undefined;
	}

	/** Nothing is left to do for what came in here. */
	get isIdle(): boolean {
		const { state, inFlight, waiting, isDirty } = this;
		const isLeft = Object.values(state.scrapes).some(
			({ stage, source }) => stage !== 'done' && state.notifications[source] !== undefined,
		);
		return !isLeft && !isDirty && inFlight.size === 0 && waiting.length === 0;
	}

	/** Whether the state changed since n8n was given it to save. */
	get isDirty(): boolean {
		return this.text !== this.written;
	}

	/** n8n was given the state to save. @param text as it was then */
	wrote(text = this.text): void {
		this.written = text;
	}

	/** The state as text, without what need not be saved: that a notification came again. */
	get text(): string {
		const { notifications, ...others } = this.state;
		const contents = Object.entries(notifications);
		const sizes = contents.map(([source, { size, leads }]) => [source, size, leads]);
		return JSON.stringify([others, sizes]);
	}
}

/** The last "Execute step" of a node. */
export class TestRun {
	/** The scrape that it waits for; none if any will do. */
	scrapeId?: string;
	/** The notification of that scrape, which may come before its status says that it is finished. */
	notification?: IDataObject;
	/** That scrape is finished, so that its notification may be on its way. */
	isFinished = false;
	isOver = false;

	/** @param url n8n ends a test with the same words as an activation; only the URL tells them apart */
	constructor(readonly url?: string) {}
}

export interface Access {
	credential: ICredentialDataDecryptedObject;
	signer: Signer;
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
 * The account of the node. n8n takes a tenth of a second of processor time to read a credential, so it is kept.
 * @param maxAgeMs it is read again if it is older
 */
export async function accessTo(
	context: Pick<ITriggerFunctions, 'getCredentials'>,
	memory: NodeMemory,
	maxAgeMs = Infinity,
): Promise<Access> {
	const now = Date.now();
	if (!memory.access || now - memory.access.readAt > maxAgeMs) {
		// Hundreds of requests may come at once.
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

/** Does something beside what comes next. @param name what it is about */
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
		memory.worker?.wake();
	};
	memory.inFlight.set(name, safe);
	safe.then(free, free).catch(() => {});
}

/** An execution began for a scrape or a notice. @param at when the scrape was completed */
export function acknowledged(memory: NodeMemory, id: string, at: number): void {
	const { state } = memory;
	const { stage, at: deliveredAt = 0 } = state.notices[id] ?? state.scrapes[id] ?? {};
	if (stage === 'delivering')
		memory.lastBegunDeliveryAt = Math.max(memory.lastBegunDeliveryAt, deliveredAt);
	markDone(state, id, at);
	memory.acknowledgedAt = Date.now();
	memory.worker?.wake();
}
