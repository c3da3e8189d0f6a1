import { randomUUID } from 'crypto';
import type { FunctionsBase, ICredentialDataDecryptedObject } from 'n8n-workflow';
import type { NoticeText } from './notices';
import { leadsThatRan, NOTHING, type Saved } from './running';
import { fingerprint, type NodeIdentity, type Signer } from './signature';

/** Identifies this process of n8n while it runs. */
export const PROCESS = randomUUID();

export interface Access {
	credential: ICredentialDataDecryptedObject;
	signer: Signer;
}

/** In lower case, because some services change the case of a URL. */
export function newAttempt(kind: string): string {
	return `${kind}${randomUUID().replaceAll('-', '')}`;
}

/** Where a node is reached. */
export interface Urls {
	/** The production URL, as the outside sees it. */
	url: string;
	/** The addresses at which the node reaches itself, the likeliest first. */
	addresses: string[];
}

/** What a notification says of a scrape, or a poll. */
export interface Told {
	/** The attempt that started it, if the node started it. */
	attempt?: string;
	/** Missing if the answer to the start has not come yet. */
	scrapeId?: string | undefined;
	/** Identifies the leads of the notification; empty if it has none. */
	leads: string;
	/** Whether the notification says that the scrape is finished, or the status says so. */
	isFinal: boolean;
}

/** What this process knows about one node, beside what is saved. */
export class NodeMemory {
	/** The key of the node in the static data. A copied workflow has another one. */
	readonly key: string;
	saved: Saved = NOTHING;
	/** While the node is active here. */
	urls?: Urls;
	/** Whether this process has led the node in the mode that starts scrapes. */
	hasLed = false;
	/** When this process last stopped leading the node, in milliseconds since 1970. */
	closedAt = 0;
	/** The start that an activation by a user asks for, until its execution begins. */
	wanted?: string;
	/** Leads the work for the node, in the leading main process. */
	leader?: {
		/** Why n8n could not activate the node. */
		refusal?: unknown;
		due(expression: string, timeZone: string, time: Date): void;
		tell(notice: NoticeText): void;
		close(): void;
	};
	/** The notifications for which an execution began, and when, by a clock that is never set back. */
	private readonly begun = new Map<string, Told & { at: number }>();
	/** As the credential was read last. */
	access?: { id: string | undefined; readAt: number; read: Promise<Access> };

	constructor(
		readonly identity: NodeIdentity,
		instanceId: string,
	) {
		const { workflowId, nodeId } = identity;
		this.key = `leadGenTrigger ${fingerprint([workflowId, nodeId, instanceId])}`;
	}

	/**
	 * Whether a notification begins an execution: the first one for a scrape, the first one that says that it is finished,
	 * and each with other leads.
	 */
	isNew(told: Told): boolean {
		const { leads, isFinal } = told;
		const scrape = scrapeIn(told);
		const ran = leadsThatRan(this.saved, scrape);
		if (ran && (leads === '' || ran.includes(leads))) return false;
		const since = performance.now() - REPEATED_MS;
		const hasBegun = [...this.begun.values()].some((begun) => {
			if (begun.at <= since || scrapeIn(begun) !== scrape) return false;
			if (leads !== '') return begun.leads === leads;
			return !isFinal || begun.isFinal || begun.leads !== '';
		});
		if (!hasBegun) this.begin(told);
		return !hasBegun;
	}

	/** Records that an execution began for a notification, or still waits. */
	begin(told: Told): void {
		const name = JSON.stringify([scrapeIn(told), told.leads, told.isFinal]);
		this.begun.delete(name);
		this.begun.set(name, { ...told, at: performance.now() });
		const [oldest = ''] = this.begun.keys();
		if (this.begun.size > MAX_BEGUN) this.begun.delete(oldest);
	}
}

/** The name of a scrape in what is saved: the attempt that started it, otherwise its ID. */
function scrapeIn({ attempt, scrapeId = '' }: Pick<Told, 'attempt' | 'scrapeId'>): string {
	return attempt ?? scrapeId;
}

const MAX_BEGUN = 1000;
/** n8n may have failed to begin the execution, so a repetition counts again after this time. */
const REPEATED_MS = 10_000;

const nodes = new Map<string, NodeMemory>();

/** What this process knows about the node of a context. */
export function memoryOf(context: FunctionsBase): NodeMemory {
	const identity = { workflowId: context.getWorkflow().id ?? '', nodeId: context.getNode().id };
	const name = JSON.stringify([identity.workflowId, identity.nodeId]);
	const memory = nodes.get(name) ?? new NodeMemory(identity, context.getInstanceId());
	nodes.set(name, memory);
	return memory;
}

/** Something that only one file keeps of each node. */
export function perNode<T>(create: () => T): (memory: NodeMemory) => T {
	const all = new WeakMap<NodeMemory, T>();
	return (memory) => {
		const own = all.get(memory) ?? create();
		all.set(memory, own);
		return own;
	};
}
