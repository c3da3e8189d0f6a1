import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { runItems } from './items';
import { resources } from './operations';
import { buildOutputs } from './outputs';
import { buildProperties, buildSubtitle } from './properties';

/** Collects leads, reads the credit balance, and finds and verifies email addresses. */
export class LeadGen implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'LeadGen',
		name: 'leadGen',
		icon: { light: 'file:leadgen.svg', dark: 'file:leadgen.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: buildSubtitle(resources),
		description: 'Scrape leads, find and verify email addresses, check your credits',
		defaults: { name: 'LeadGen' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: buildOutputs(resources),
		credentials: [{ name: 'leadGenApi', required: true }],
		properties: buildProperties(resources),
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runItems(this);
	}
}
