import type {
	IExecuteFunctions,
	IHookFunctions,
	ITriggerFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { choiceField, Parameters } from '../common/parameters';
import { memoryOf, type Access, type NodeMemory } from './nodeMemory';
import type { Change, Saved } from './running';

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

	/** @throws InputError if the API key is empty */
	async access(maxAgeMs?: number): Promise<Access> {
		return await this.memory.accessOf(this.context, maxAgeMs);
	}

	/** Learns what is saved: fresh from the database in `webhook()` and in `trigger()`. */
	read(): Saved {
		return this.memory.read(this.context);
	}

	write(change?: Change): void {
		this.memory.write(this.context, change);
	}

	log(level: 'debug' | 'info' | 'warn' | 'error', text: string): void {
		this.context.logger[level](`LeadGen Trigger: ${text}`);
	}
}

export type Executing = TriggerNode<IExecuteFunctions>;
export type Hooked = TriggerNode<IHookFunctions>;
export type Leading = TriggerNode<ITriggerFunctions>;
export type Receiving = TriggerNode<IWebhookFunctions>;
