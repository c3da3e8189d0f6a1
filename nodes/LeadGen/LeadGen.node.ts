import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { forWorkflowBuilder } from './common/compatibility';
import { runItems } from './action/items';
import { resources } from './action/operations';
import { leadGenApiTest } from './service/credentialTest';
import { descriptionOf } from './action/properties';

const assembled = descriptionOf(resources);

/** Collects leads, reads the credit balance, and finds and verifies email addresses. */
export class LeadGen implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'LeadGen',
		name: 'leadGen',
		icon: { light: 'file:leadgen.svg', dark: 'file:leadgen.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: assembled.subtitle,
		description: 'Scrape leads, find and verify email addresses, and check your credits',
		defaults: { name: 'LeadGen' },
		usableAsTool: true,
		...forWorkflowBuilder(
			'Finds the business or personal email address of a person, verifies email addresses, starts scrapes that collect leads, and reads the credit balance. For a list of people, use Find and Verify with one item per person, without a loop. No operation returns the leads of a scrape: LeadGen Trigger receives them. Scrapes, lookups and verifications use credits.',
		),
		inputs: [NodeConnectionTypes.Main],
		outputs: assembled.outputs,
		credentials: [{ name: 'leadGenApi', required: true, testedBy: 'leadGenApiTest' }],
		properties: assembled.properties,
	};

	methods = { credentialTest: { leadGenApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runItems(this);
	}
}
