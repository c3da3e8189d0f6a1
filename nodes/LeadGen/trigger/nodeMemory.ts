import { randomUUID } from 'crypto';
import type { FunctionsBase, ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import { CREDENTIAL_TYPE } from '../service/http';
import type { NoticeText } from './notices';
import type { Schedule } from './schedule';
import { changed, leadsOf, merged, NOTHING, readSaved, writeSaved } from './running';
import type { Change, Saved } from './running';
import { fingerprint, Signer, type NodeIdentity } from './signature';

/** Identifies this process of n8n while it runs. */
export const PROCESS = randomUUID();

export interface Access {
	credential: ICredentialDataDecryptedObject;
	signer: Signer;
}

/** The last "Execute step" of a node. */
export class TestRun {
	readonly since = Date.now();
	/** The scrape that it waits for; undefined if any scrape will do. */
	scrapeId?: string;
	/** The notification of that scrape. It may arrive before the status is finished. */
	notification?: IDataObject;
	/** Identifies the scrape that it wants, by its filters and the credential. */
	wish = '';
	/** Identifies its start. It is signed into the callback URL. */
	attempt = newAttempt('test');
	isOver = false;

	/** @param url the test URL; n8n ends a test and an activation with the same call, and only the URL differs */
	constructor(readonly url?: string) {}
}

/** In lower case, because some services change the case of a URL. */
export function newAttempt(kind: string): string {
	return `${kind}${randomUUID().replaceAll('-', '')}`;
}

/** What a notification says of a scrape. */
export interface Told {
	/** The attempt that started it, otherwise its ID. */
	scrape: string;
	/** Identifies its leads; empty without leads. */
	leads: string;
	/** Whether it says that the scrape is finished. */
	isFinal: boolean;
}

/** What this process knows about one node, beside what is saved. */
export class NodeMemory {
	/** The key of the node in the static data. A copied workflow has another one. */
	private readonly key: string;
	saved: Saved = NOTHING;
	/** The production URL, and the addresses at which the node reaches itself; while the node is active here. */
	url?: string;
	addresses?: string[];
	/** Whether n8n has called `delete` here since the last activation. */
	isDeactivated = false;
	/** Whether n8n repeated the last activation on its own. */
	isRepeated = false;
	/** Whether the node only listened when this process last led it. */
	isListening = false;
	/** When this process last stopped leading the node, in milliseconds since 1970. */
	closedAt = 0;
	/** Why n8n could not activate the node; undefined as soon as it can. */
	refusal?: unknown;
	/** The start that an activation by a user asks for, until its execution begins. */
	wanted?: string;
	/** Leads the work for the node, in the leading main process. */
	leader?: {
		follow(): void;
		start(attempt: string): void;
		tell(notice: NoticeText): void;
		close(): void;
	};
	/** The schedule of the last activation here. n8n may keep the one of an activation that it refused. */
	schedule?: Schedule & { timeZone: string };
	/** The notifications for which an execution began, and when, by a clock that is never set back. */
	private readonly begun = new Map<string, Told & { at: number }>();
	/** Looks at scrapes that strangers may have named: their times, and how much waits for them. */
	readonly lookups: { times: number[]; last: Promise<unknown>; count: number; bytes: number } = {
		times: [],
		last: Promise.resolve(),
		count: 0,
		bytes: 0,
	};
	/** The last deduplication check, for which the next one waits. */
	deduplication: Promise<unknown> = Promise.resolve();
	/** When a callback URL that was changed on its way was last reported. */
	warnedAt = 0;
	test?: TestRun;
	private access?: { id: string | undefined; readAt: number; read: Promise<Access> };

	constructor(
		private readonly identity: NodeIdentity,
		instanceId: string,
	) {
		const { workflowId, nodeId } = identity;
		this.key = `leadGenTrigger ${fingerprint([workflowId, nodeId, instanceId])}`;
	}

	/** Learns what the static data of the workflow holds: fresh from the database in `webhook()` and in `trigger()`. */
	read(staticData: IDataObject): Saved {
		return this.learn(readSaved(staticData, this.key));
	}

	learn(saved: Saved): Saved {
		return (this.saved = merged(this.saved, saved));
	}

	/** Saves a change, and what this process knows: another node may have saved an old copy. */
	write(staticData: IDataObject, change: Change = {}): void {
		this.saved = changed(this.saved, change);
		writeSaved(staticData, this.key, this.saved);
	}

	/**
	 * Whether a notification begins an execution: the first one for a scrape, the first one that says that it is finished,
	 * and each with other leads.
	 */
	isNew(told: Told): boolean {
		const { scrape, leads } = told;
		const ran = leadsOf(this.saved, scrape);
		const isOver = ran !== undefined && (leads === '' || leads === ran);
		if (isOver || this.hasBegun(told)) return false;
		this.begin(told);
		return true;
	}

	/** Whether an execution began lately for a notification that holds as much. */
	private hasBegun({ scrape, leads, isFinal }: Told): boolean {
		const since = performance.now() - REPEATED_MS;
		return [...this.begun.values()].some((begun) => {
			if (begun.at <= since || begun.scrape !== scrape) return false;
			if (leads !== '') return begun.leads === leads;
			return !isFinal || begun.isFinal || begun.leads !== '';
		});
	}

	/** Records that an execution began for a notification, or still waits. */
	begin({ scrape, leads, isFinal }: Told): void {
		const name = JSON.stringify([scrape, leads, isFinal]);
		this.begun.delete(name);
		this.begun.set(name, { scrape, leads, isFinal, at: performance.now() });
		const [oldest = ''] = this.begun.keys();
		if (this.begun.size > MAX_BEGUN) this.begun.delete(oldest);
	}

	/**
	 * The credential of the node, and its signer. Reading a credential costs n8n a tenth of a second of processor time, so
	 * calls of the same moment share one.
	 * @throws InputError if the API key is empty
	 */
	async accessOf(
		context: Pick<FunctionsBase, 'getCredentials' | 'getNode'>,
		maxAgeMs = ACCESS_MS,
	): Promise<Access> {
		const now = performance.now();
		// A test run may use another credential than the active workflow.
		const id = credentialIdOf(context);
		if (!this.access || this.access.id !== id || now - this.access.readAt >= maxAgeMs) {
			const read = context
				.getCredentials(CREDENTIAL_TYPE)
				.then((credential) => ({ credential, signer: new Signer(credential, this.identity) }));
			this.access = { id, readAt: now, read };
		}
		return await this.access.read;
	}
}

/** The ID of the credential that a node uses. */
export function credentialIdOf(context: Pick<FunctionsBase, 'getNode'>): string | undefined {
	return context.getNode().credentials?.[CREDENTIAL_TYPE]?.id ?? undefined;
}

const MAX_BEGUN = 1000;
/** n8n may have failed to begin the execution, so a repetition counts again after this time. */
const REPEATED_MS = 60_000;
/** The user may change the credential at any time. */
const ACCESS_MS = 2000;

const nodes = new Map<string, NodeMemory>();

type Named = Pick<FunctionsBase, 'getInstanceId' | 'getWorkflow' | 'getNode'>;

/** What this process knows about the node of a context. */
export function memoryOf(context: Named): NodeMemory {
	const identity = { workflowId: context.getWorkflow().id ?? '', nodeId: context.getNode().id };
	const name = JSON.stringify([identity.workflowId, identity.nodeId]);
	const memory = nodes.get(name) ?? new NodeMemory(identity, context.getInstanceId());
	nodes.set(name, memory);
	return memory;
}
