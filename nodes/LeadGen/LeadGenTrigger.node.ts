import {
	NodeConnectionTypes,
	NodeOperationError,
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
import { close, open } from './trigger/activation';
import { PATH } from './trigger/address';
import { Clock } from './trigger/clock';
import { identityOf } from './trigger/plan';
import { properties } from './trigger/properties';
import { beginTest, endTest, isTest, receiveTest } from './trigger/testRun';
import { answerRequest } from './trigger/webhook';

/**
 * Starts scrapes, and runs the workflow once for each one that is finished. How, and why so:
 *
 * - `webhook()` alone decides and writes down (webhook.ts, decide.ts, record.ts). n8n saves what it writes
 *   before it answers; what `trigger()` writes is lost or overwrites newer data, and what the hooks write
 *   is saved too late. So `trigger()` is a clock (clock.ts) that only calls the node's own URL.
 * - A start is written down, and sent at the next call, when n8n has saved that. If a crash leaves one
 *   behind without its outcome, it is not sent again, and the person is told.
 * - A notification is written down and answered; the next knock of the clock looks the status up. So
 *   nothing that a notification says needs to be trusted, and one that gets lost costs only time: the
 *   clock looks at the status of each scrape anyhow.
 * - The clock hands a finished scrape to n8n, and has it written down as delivered when its execution is
 *   over, or half a second later. After a crash in between it is handed over again: n8n 2.x knows it by its
 *   name and runs it once, n8n 1.x runs it twice rather than never.
 *   A process that lives on when another one leads says what it delivered, and is waited for.
 * - The secret in the URL is derived from the API key (secret.ts), and the record is keyed by the id of the
 *   node: both outlive a rename, and the secret even the loss of the record.
 */
export class LeadGenTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'LeadGen Trigger',
		name: 'leadGenTrigger',
		icon: { light: 'file:leadgen.svg', dark: 'file:leadgen.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle:
			'={{ $parameter["mode"] === "listen" ? "receive completions" : "start a scrape: " + $parameter["schedule"] }}',
		// The node creator shows this one for both nodes.
		description:
			'Scrape leads, find and verify email addresses, and start workflows when a scrape is finished',
		eventTriggerDescription: 'Waiting for a scrape to finish, for two minutes at most',
		triggerPanel: {
			header: 'Get an example of a finished scrape',
			executionsHelp: {
				inactive:
					'<b>While you build the workflow</b>, click <i>Execute step</i>. In the mode that starts scrapes, it starts one of 5 leads at most (see Test Limit), which costs credits, and shows its completion; otherwise it waits for one at the test URL. It waits for two minutes. For an example at once and for free, give the ID of an earlier scrape as <i>Test Scrape ID</i> in the options.<br /><br /><b>Once the workflow is published or active</b>, it runs whenever a scrape is finished.',
				active:
					'<b>This workflow is on</b>: it runs whenever a scrape is finished. You find the runs in the <a data-key="executions">executions list</a>.<br /><br />While you change it, click <i>Execute step</i> for an example. In the mode that starts scrapes, it starts one of 5 leads at most (see Test Limit), which costs credits.',
			},
			activationHint:
				'Once you are done, publish or activate the workflow: from then on it runs whenever a scrape is finished.',
		},
		activationMessage:
			'The workflow now runs whenever a scrape is finished. If the node starts scrapes itself, the first one is started now.',
		defaults: { name: 'LeadGen Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'leadGenApi', required: true }],
		// n8n runs the hooks once for each method of a description, so that the second one has none.
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: '',
				path: PATH,
				// Where the node starts the scrapes, it gives the service a URL with a secret itself.
				ndvHideUrl:
					'={{ $parameter["mode"] !== "listen" && $parameter["options"]?.["testLimit"] !== 0 }}',
			},
			{
				name: 'setup',
				httpMethod: 'GET,PUT,PATCH',
				responseMode: 'onReceived',
				responseData: '',
				path: PATH,
				ndvHideUrl: true,
			},
		],
		properties,
	};

	webhookMethods = {
		default: {
			/** Nothing is registered at the service, so that there is nothing to find there. */
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return await Promise.resolve(false);
			},
			async create(this: IHookFunctions): Promise<boolean> {
				const url = this.getNodeWebhookUrl('default') ?? '';
				await (this.getMode() === 'manual' ? beginTest(this, url) : open(this, url));
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				const url = this.getNodeWebhookUrl('default') ?? '';
				if (isTest(this, url)) endTest(this);
				else close(this);
				return await Promise.resolve(true);
			},
		},
	};

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		const clock = new Clock(this, identityOf(this));
		void clock.run();
		const closeFunction = async () => {
			clock.close();
			await Promise.resolve();
		};
		return await Promise.resolve({ closeFunction });
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await (this.getMode() === 'manual' ? receiveTest(this) : answerRequest(this));
	}

	/** Passes on what came in. In a test n8n would otherwise call `trigger()` with it, and wait for ever. */
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const items = this.getInputData();
		const notice = items[0]?.json.leadGenNotice;
		if (typeof notice === 'object' && notice !== null && 'message' in notice) {
			const { message, advice } = notice as { message: string; advice: string };
			throw new NodeOperationError(this.getNode(), message, { description: advice });
		}
		return await Promise.resolve([items]);
	}
}
