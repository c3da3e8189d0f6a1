'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.LeadGen = void 0;
const n8n_workflow_1 = require('n8n-workflow');
const items_1 = require('./items');
const operations_1 = require('./operations');
const properties_1 = require('./properties');
/** Collects leads, reads the credit balance, and finds and verifies email addresses. */
class LeadGen {
	description = {
		displayName: 'LeadGen',
		name: 'leadGen',
		icon: { light: 'file:leadgen.svg', dark: 'file:leadgen.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: (0, properties_1.buildSubtitle)(operations_1.resources),
		description: 'Scrape leads, find and verify email addresses, check your credits',
		defaults: { name: 'LeadGen' },
		usableAsTool: true,
		inputs: [n8n_workflow_1.NodeConnectionTypes.Main],
		outputs: [n8n_workflow_1.NodeConnectionTypes.Main],
		credentials: [{ name: 'leadGenApi', required: true }],
		properties: (0, properties_1.buildProperties)(operations_1.resources),
	};
	async execute() {
		return await (0, items_1.runItems)(this);
	}
}
exports.LeadGen = LeadGen;
