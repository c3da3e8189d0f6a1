import { randomUUID } from 'crypto';
import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHookFunctions,
	ITriggerFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { Parameters } from '../common/parameters';
import { CREDENTIAL_TYPE } from '../service/credential';
import { NOTHING, savedIn, saving, united, type Message, type Saved } from './saved';
import { fingerprint, Signer } from './signature';
import { mode } from './triggerProperties';

export const PROCESS = randomUUID();

/** Reading a credential costs n8n 65 ms of processor time, so all nodes of the process share one reading. */
const ACCESS_MS = 60_000;
const readings = new Map<string, Reading>();
type Reading = { at: number; credential: Promise<ICredentialDataDecryptedObject> };

/** Longer than the pause between two looks at a status. n8n may not have been able to begin an execution. */
const [WAITING_MS, MAX_WAITING] = [10_000, 1000];

/** Where a node is reached: the production URL, as the outside sees it, and where it reaches itself, the likeliest first. */
export type Place = { url: string; addresses: string[] };

/** What this process knows of one node, beside what is saved. */
class Memory {
	saved: Saved = NOTHING;
	/** While the node is active here. The hooks of an activation know it. */
	place?: Place;
	/** Since this process deactivated the node. What is saved of its activation then comes too late. */
	isClosed = false;
	/** The attempt that an activation asks for, until its start begins. */
	wanted = '';
	/** Leads the work for the node, in the leading main process. */
	leader?: { due(expression: string, timeZone: string, time: Date): void; close(): void };
	/** The last check at the gate. */
	lastCheck: Promise<unknown> = Promise.resolve();
	/** When an execution of this process last waited for the end of a scrape, by its attempt or its ID. */
	private readonly waiting = new Map<string, number>();

	/** Records that an execution waits for the end of a scrape. */
	waits(name: string): void {
		this.waiting.set(name, performance.now());
		const [oldest = ''] = this.waiting.keys();
		if (this.waiting.size > MAX_WAITING) this.waiting.delete(oldest);
	}

	isWaiting(name: string): boolean {
		return performance.now() - (this.waiting.get(name) ?? -Infinity) < WAITING_MS;
	}
}

const memories = new Map<string, Memory>();
type Context = IExecuteFunctions | IHookFunctions | ITriggerFunctions | IWebhookFunctions;

/** The node as one call of n8n sees it: what n8n gives the call, and what this process knows of the node. */
export class TriggerNode<Given extends Context = Context> {
	/** Identifies the node, also when it is renamed. Two nodes of a workflow may have one ID, but never one URL. */
	readonly key: string;
	private readonly idKey: string;
	readonly memory: Memory;
	readonly parameters: Parameters;
	/** Where the node reaches itself, the likeliest address first. */
	addresses: string[] = [];

	constructor(readonly context: Given) {
		const { id, name, webhookId = name } = context.getNode();
		this.idKey = `leadGenTrigger ${fingerprint([context.getWorkflow().id, id])}`;
		this.key = `${this.idKey} ${fingerprint(webhookId)}`;
		this.memory = memories.get(this.key) ?? new Memory();
		memories.set(this.key, this.memory);
		this.parameters = new Parameters((path, ifMissing) =>
			'getInputData' in context
				? context.getNodeParameter(path, 0, ifMissing)
				: context.getNodeParameter(path, ifMissing),
		);
	}

	/** Whether the node starts no scrapes. @throws InputError if the mode is invalid */
	get isListening(): boolean {
		return this.parameters.get(mode) === 'listen';
	}

	get credentialId(): string {
		return this.context.getNode().credentials?.[CREDENTIAL_TYPE]?.id ?? this.key;
	}

	/** The credential, read at most so long ago, and its signer. @throws any error, if the node has no credential or key */
	async access(maxAgeMs = ACCESS_MS) {
		const at = performance.now();
		let reading = readings.get(this.credentialId);
		if (!reading || at - reading.at >= maxAgeMs) {
			reading = { at, credential: this.context.getCredentials(CREDENTIAL_TYPE) };
			readings.set(this.credentialId, reading);
			reading.credential.catch(this.forgetAccess.bind(this));
		}
		const credential = await reading.credential;
		return { credential, signer: new Signer(credential, this.key) };
	}

	/** The user may have changed the credential. */
	forgetAccess(): void {
		readings.delete(this.credentialId);
	}

	/** Whether the node ever saved anything, also before it got another URL. */
	get hasRecord(): boolean {
		return Object.keys(this.staticData).some((key) => key.startsWith(this.idKey));
	}

	/**
	 * Learns what is saved: fresh from the database in `webhook()` and in `trigger()`. While the node is active here, this
	 * process knows its activation better: others save old copies, and so does n8n 1 when another trigger lost its connection.
	 */
	read(): Saved {
		const { place, saved, isClosed } = this.memory;
		const read = savedIn(this.staticData[this.key]);
		const activation = isClosed ? undefined : ((place && saved.activation) ?? read.activation);
		return (this.memory.saved = united({ ...saved, activation }, read.scrapes));
	}

	/** Saves a message, and what this process knows. */
	write(message: Message): void {
		const isActive = this.context.getWorkflow().active && !this.memory.isClosed;
		this.save(saving(this.memory.saved, message, isActive));
	}

	/** Records that n8n deactivated the node: the next activation by a user is a new wish. */
	close(): void {
		delete this.memory.place;
		this.memory.isClosed = true;
		const saved = this.read();
		if (this.hasRecord) this.save(saved);
	}

	private get staticData() {
		return this.context.getWorkflowStaticData('global');
	}

	/** As text, because n8n watches each value of an object. Only what changed, because n8n saves static data as a whole. */
	private save(saved: Saved): void {
		this.memory.saved = saved;
		const text = JSON.stringify(saved);
		if (this.staticData[this.key] !== text) this.staticData[this.key] = text;
	}

	log(level: 'info' | 'warn' | 'error', text: string): void {
		this.context.logger[level](`LeadGen Trigger: ${text}`);
	}
}

export type Executing = TriggerNode<IExecuteFunctions>;
export type Hooked = TriggerNode<IHookFunctions>;
export type Leading = TriggerNode<ITriggerFunctions>;
export type Receiving = TriggerNode<IWebhookFunctions>;
