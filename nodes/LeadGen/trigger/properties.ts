import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../common/errors';
import { filterFields } from '../common/filters';
import {
	choiceField,
	choicesField,
	noticeField,
	numberField,
	textField,
	type Field,
} from '../common/parameters';
import { show } from '../common/values';
import { scheduleFields } from './schedule';

export const mode = choiceField(
	{ displayName: 'Mode', name: 'mode' },
	[
		{ name: 'Start Scrapes and Run When They Finish', value: 'startScrape' },
		{ name: 'Run When Other Scrapes Finish', value: 'listen' },
	],
	'startScrape',
);

export const events = choicesField(
	{
		displayName: 'Events',
		name: 'events',
		noDataExpression: true,
		required: true,
		description: 'Which outcomes of a scrape run the workflow',
	},
	[
		{ name: 'Scrape Completed', value: 'completed' },
		{ name: 'Scrape Failed', value: 'failed' },
	],
	['completed', 'failed'],
);

export const output = choiceField(
	{
		displayName: 'Output',
		name: 'output',
		description:
			'What the workflow gets when a scrape finishes. Leads need a service that sends them along with the notification.',
	},
	[
		{ name: 'One Item per Scrape', value: 'scrape' },
		{ name: 'One Item per Lead', value: 'leads' },
	],
	'scrape',
);

export const leadsField = textField({
	displayName: 'Leads Field',
	name: 'leadsField',
	placeholder: 'e.g. data.leads',
	displayOptions: { show: { '/output': ['leads'] } },
	description:
		'The path to the list of leads in the body of the notification. Leave empty to find the list automatically.',
});

export const testLimit = numberField(
	{
		displayName: 'Test Limit',
		name: 'testLimit',
		typeOptions: { minValue: 0 },
		default: 5,
		displayOptions: { show: { '/mode': ['startScrape'] } },
		description:
			'Max number of leads of the scrape that "Execute step" starts. With 0, it starts none, and waits for one that uses the test URL.',
	},
	{ whole: true },
);

export const testScrapeId = textField({
	displayName: 'Test Scrape ID',
	name: 'testScrapeId',
	placeholder: 'e.g. scr_9f2c',
	description:
		'An earlier scrape that "Execute step" outputs instead of starting one. If it is finished, this is immediate and free.',
});

export const internalUrl = textField(
	{
		displayName: 'Internal URL',
		name: 'internalUrl',
		placeholder: 'e.g. http://127.0.0.1:5678',
		description:
			'The address at which n8n reaches itself. Set it if n8n cannot reach its own public address, which the node calls.',
	},
	(text, displayName) => {
		if (URL.canParse(text) && /^https?:/i.test(text)) return text.replace(/\/+$/, '');
		const advice = 'Enter an address such as http://127.0.0.1:5678, or leave it empty.';
		throw new InputError(displayName, `must be a web address, but is ${show(text)}`, advice);
	},
);

/** Shows a property only in the mode that starts scrapes. */
function forStarts({ property }: Field): INodeProperties {
	const show = { mode: ['startScrape'], ...property.displayOptions?.show };
	return { ...property, displayOptions: { ...property.displayOptions, show } };
}

function notice(mode: string, displayName: string): INodeProperties {
	return noticeField(`${mode}Notice`, displayName, { show: { mode: [mode] } }).property;
}

export const properties: INodeProperties[] = [
	mode.property,
	notice(
		'startScrape',
		'Each scrape costs credits. With "Once", publishing the workflow starts one. A schedule starts none then, but one at each due time. "Execute step" starts one with at most 5 leads. On localhost no leads arrive.',
	),
	notice(
		'listen',
		"Copy the production URL above into the option 'Webhook URL' of the LeadGen node that starts scrapes. The service must reach it.",
	),
	...[...filterFields, ...scheduleFields].map(forStarts),
	events.property,
	output.property,
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [internalUrl.property, leadsField.property, testLimit.property, testScrapeId.property],
	},
];
