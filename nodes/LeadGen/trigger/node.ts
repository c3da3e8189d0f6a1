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
import { mode } from './properties';
import { fingerprint, Signer } from './signature';
import { NodeState } from './state';

export const PROCESS = randomUUID();

/** Reading a credential costs n8n 65 ms of processor time, so all nodes of the process share one reading. */
const ACCESS_MS = 60_000;
const readings = new Map<string, Reading>();
type Reading = { at: number; credential: Promise<ICredentialDataDecryptedObject> };

const states = new Map<string, NodeState>();

type Context = IExecuteFunctions | IHookFunctions | ITriggerFunctions | IWebhookFunctions;

/** The node as one call of n8n sees it. */
export class TriggerNode<Given extends Context = Context> {
	/** Identifies the node, also when it is renamed. */
	readonly key: string;
	readonly state: NodeState;
	readonly parameters: Parameters;
	/** Where the node reaches itself, the likeliest address first. */
	addresses: string[] = [];

	constructor(readonly context: Given) {
		this.key = `leadGenTrigger ${fingerprint([context.getWorkflow().id, context.getNode().id])}`;
		this.state = states.get(this.key) ?? new NodeState(this.key);
		states.set(this.key, this.state);
		this.parameters = new Parameters((path, ifMissing) =>
			'getInputData' in context
				? context.getNodeParameter(path, 0, ifMissing)
				: context.getNodeParameter(path, ifMissing),
		);
	}

	get staticData() {
		return this.context.getWorkflowStaticData('global');
	}

	get isActiveInN8n(): boolean {
		return this.context.getWorkflow().active;
	}

	/** Whether the node starts no scrapes. @throws InputError if the mode is invalid */
	get isListening(): boolean {
		return this.parameters.get(mode) === 'listen';
	}

	private get credentialId(): string {
		return this.context.getNode().credentials?.[CREDENTIAL_TYPE]?.id ?? this.key;
	}

	/**
	 * The credential, read at most so long ago, and its signer.
	 * @throws any error, if the node has no credential or key
	 */
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

	log(level: 'info' | 'warn' | 'error', text: string): void {
		this.context.logger[level](`LeadGen Trigger: ${text}`);
	}
}

export type Executing = TriggerNode<IExecuteFunctions>;
export type Hooked = TriggerNode<IHookFunctions>;
export type Leading = TriggerNode<ITriggerFunctions>;
export type Receiving = TriggerNode<IWebhookFunctions>;
