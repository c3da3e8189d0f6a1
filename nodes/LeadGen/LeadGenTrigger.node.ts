import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type IHookFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type ITriggerFunctions,
	type ITriggerResponse,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { activate, lead } from './trigger/activation';
import { execute } from './trigger/execution';
import { TriggerNode } from './trigger/node';
import { asLeadGenError, errorText } from './trigger/notices';
import { properties } from './trigger/properties';
import { beginTest, endTest, receiveTest } from './trigger/testRun';
import { handleRequest } from './trigger/webhook';
import { forWorkflowBuilder } from './common/compatibility';
import { operationError } from './common/errors';
import { leadGenApiTest } from './service/credentialTest';

/**
 * Starts scrapes, and runs the workflow once for each finished scrape. See docs/architecture.md.
 *
 * - `trigger()` begins an execution for each start, and one for each completion whose notification got lost.
 * - `webhook()` begins an execution for each notification, and saves which scrapes are running.
 * - `execute()` runs first in each execution: it sends the start, or lets one completion of each scrape through.
 */
export class LeadGenTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'LeadGen Trigger',
		name: 'leadGenTrigger',
		icon: { light: 'file:leadgen.svg', dark: 'file:leadgen.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["mode"] === "listen" ? "Receive completions" : "Start scrapes" }}',
		// The node creator shows this description for both nodes.
		description:
			'Scrape leads, find and verify email addresses, and run workflows when scrapes finish',
		eventTriggerDescription: 'Waiting up to two minutes for a scrape to finish',
		triggerPanel: {
			header: 'Get an example of a finished scrape',
			executionsHelp: {
				inactive:
					'<b>While you build the workflow</b>, click <i>Execute step</i>. In the mode "Start Scrapes and Run When They Finish", this starts a scrape of at most 5 leads (see \'Test Limit\' in the options), which costs credits, and waits up to two minutes for its completion. In the mode "Run When Other Scrapes Finish", it waits for a completion at the test URL. To get an example at once and for free, set <i>Test Scrape ID</i> in the options to an earlier scrape.<br /><br /><b>Once you publish or activate the workflow</b>, it runs whenever a scrape finishes.',
				active:
					'<b>This workflow is active</b>: it runs whenever a scrape finishes. The <a data-key="executions">executions list</a> shows the runs.<br /><br />While you change it, click <i>Execute step</i> to get an example. In the mode "Start Scrapes and Run When They Finish", this starts a scrape of at most 5 leads (see \'Test Limit\' in the options), which costs credits.',
			},
			activationHint:
				'When you are done, publish or activate the workflow. It then runs whenever a scrape finishes.',
		},
		activationMessage:
			'The workflow now runs whenever a scrape finishes. If "How Often" is Once, the node starts a scrape now. With a schedule, it starts the first one when it is due.',
		defaults: { name: 'LeadGen Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'leadGenApi', required: true, testedBy: 'leadGenApiTest' }],
		...forWorkflowBuilder(
			'Runs a workflow when a scrape of leads is finished. Either it starts the scrapes itself, once or on a schedule, which uses credits, or it only receives the completions of scrapes that a LeadGen node starts with the production URL of this trigger as its Webhook URL. Gives one item per scrape, or one per lead if the service sends the leads.',
		),
		// n8n runs the hooks once for each HTTP method of a webhook, so only the webhook with a single method has hooks.
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: '',
				path: 'leadgen',
				// If the node starts the scrapes, it gives the service a URL with a secret itself.
				ndvHideUrl:
					'={{ $parameter["mode"] !== "listen" && $parameter["options"]?.["testLimit"] !== 0 }}',
			},
			{
				name: 'setup',
				httpMethod: 'GET,PUT,PATCH',
				responseMode: 'onReceived',
				responseData: '',
				path: 'leadgen',
				ndvHideUrl: true,
			},
		],
		properties,
	};

	methods = { credentialTest: { leadGenApiTest } };

	webhookMethods = {
		default: {
			/** The node registers nothing at the service, so there is nothing to find. */
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return await Promise.resolve(false);
			},
			async create(this: IHookFunctions): Promise<boolean> {
				const node = new TriggerNode(this);
				try {
					await (this.getMode() === 'manual' ? beginTest(node) : activate(node));
				} catch (error) {
					const { advice } = asLeadGenError(error);
					throw operationError(this.getNode(), errorText(error), advice);
				}
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				const node = new TriggerNode(this);
				if (!endTest(node)) node.state.close(node);
				return await Promise.resolve(true);
			},
		},
	};

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return await Promise.resolve(lead(new TriggerNode(this)));
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const node = new TriggerNode(this);
		return await (this.getMode() === 'manual' ? receiveTest(node) : handleRequest(node));
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][] | null> {
		return await execute(new TriggerNode(this));
	}
}
