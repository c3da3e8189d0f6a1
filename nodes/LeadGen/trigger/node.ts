import type {
	IExecuteFunctions,
	IHookFunctions,
	ITriggerFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { choiceField, Parameters } from '../common/parameters';
import { hasSeveralMains } from '../common/compatibility';
import { CREDENTIAL_TYPE } from '../service/http';
import { memoryOf, type Access, type NodeMemory } from './nodeMemory';
import { changed, merged, readSaved, writeSaved, type Change, type Saved } from './running';
import { Signer } from './signature';

/** The user may change the credential at any time. */
const ACCESS_MS = 2000;

export const mode = choiceField(
	{ displayName: 'Mode', name: 'mode' },
	[
		{
			name: 'Start a Scrape and Receive Its Completion',
			value: 'startScrape',
			description:
				'Start a scrape when you publish or activate the workflow. The workflow runs when the scrape finishes.',
		},
		{
			name: 'Only Receive Completions',
			value: 'listen',
			description: 'Run the workflow when a scrape that was started elsewhere finishes',
		},
	],
	'startScrape',
);

type Context = IExecuteFunctions | IHookFunctions | ITriggerFunctions | IWebhookFunctions;

/** The node as one call of n8n sees it: what n8n gives the call, and what this process knows of the node. */
export class TriggerNode<Given extends Context = Context> {
	readonly memory: NodeMemory;
	/** In an execution those of its first item. */
	readonly parameters: Parameters;

	/** Where the node reaches itself in this call, if not where this process has it active. */
	known?: string[];

	constructor(readonly context: Given) {
		this.memory = memoryOf(context);
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

	/** Where the node reaches itself, the likeliest address first; empty if nobody knows. */
	get addresses(): string[] {
		return this.known ?? this.memory.urls?.addresses ?? [];
	}

	/** The ID of the credential that the node uses. */
	get credentialId(): string | undefined {
		return this.context.getNode().credentials?.[CREDENTIAL_TYPE]?.id ?? undefined;
	}

	/**
	 * The credential of the node, and its signer. Reading a credential costs n8n a tenth of a second of processor time, so
	 * calls of the same moment share one.
	 * @throws InputError if the API key is empty
	 */
	async access(maxAgeMs = ACCESS_MS): Promise<Access> {
		const { context, memory } = this;
		const now = performance.now();
		// A test run may use another credential than the active workflow.
		const id = this.credentialId;
		if (!memory.access || memory.access.id !== id || now - memory.access.readAt >= maxAgeMs) {
			const read = context
				.getCredentials(CREDENTIAL_TYPE)
				.then((credential) => ({ credential, signer: new Signer(credential, memory.identity) }));
			memory.access = { id, readAt: now, read };
			// Otherwise a call that takes an access of any age would fail from then on.
			read.catch(() => {
				if (memory.access?.read === read) delete memory.access;
			});
		}
		return await memory.access.read;
	}

	/**
	 * Whether this process knows each activation and deactivation itself, because no other one led the node meanwhile. Then
	 * what is saved does not count: other nodes save old copies, and so does n8n 1 when another trigger lost its connection.
	 */
	private get knowsActivation(): boolean {
		const { leader, hasLed } = this.memory;
		return leader !== undefined || (hasLed && !hasSeveralMains(this.context));
	}

	/** Learns what is saved: fresh from the database in `webhook()` and in `trigger()`. */
	read(): Saved {
		const { memory, context } = this;
		const read = readSaved(context.getWorkflowStaticData('global'), memory.key);
		const { activation } = this.knowsActivation ? memory.saved : read;
		return (memory.saved = merged(memory.saved, { ...read, activation }));
	}

	/** Saves a change, and what this process knows: another node may have saved an old copy. */
	write(change: Change = {}): void {
		const { memory, context } = this;
		// A message of an activation may come after its deactivation.
		const isLate = !memory.urls && this.knowsActivation;
		memory.saved = changed(memory.saved, isLate ? { ...change, activation: undefined } : change);
		writeSaved(context.getWorkflowStaticData('global'), memory.key, memory.saved);
	}

	log(level: 'debug' | 'info' | 'warn' | 'error', text: string): void {
		this.context.logger[level](`LeadGen Trigger: ${text}`);
	}
}

export type Executing = TriggerNode<IExecuteFunctions>;
export type Hooked = TriggerNode<IHookFunctions>;
export type Leading = TriggerNode<ITriggerFunctions>;
export type Receiving = TriggerNode<IWebhookFunctions>;
