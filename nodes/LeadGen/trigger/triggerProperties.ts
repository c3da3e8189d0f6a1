import type { INodeProperties } from 'n8n-workflow';
import { filterFields } from '../common/filters';
import { choicesField, numberField, show, textField, type Field } from '../common/parameters';
import { mode } from './node';
import { scheduleFields } from './schedule';
import { InputError } from '../common/errors';
import { leadsField, output } from './output';

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

export const testLimit = numberField(
	{
		displayName: 'Test Limit',
		name: 'testLimit',
		typeOptions: { minValue: 0 },
		default: 5,
		displayOptions: { show: { '/mode': ['startScrape'] } },
		description:
			'Max number of leads of the scrape that "Execute step" starts, which costs credits. With 0, "Execute step" starts no scrape and waits for one that is started with the test URL.',
	},
	{ whole: true },
);

export const testScrapeId = textField({
	displayName: 'Test Scrape ID',
	name: 'testScrapeId',
	placeholder: 'e.g. scr_9f2c',
	description:
		'The scrapeId of an earlier scrape. "Execute step" waits for this scrape instead of starting one. A finished scrape gives you the example at once and costs nothing.',
});

export const internalUrl = textField(
	{
		displayName: 'Internal URL',
		name: 'internalUrl',
		placeholder: 'e.g. http://127.0.0.1:5678',
		description:
			'The address that n8n can use to reach itself. The node calls its own production URL. Set this if n8n cannot reach its own public address.',
	},
	(text, displayName) => {
		if (URL.canParse(text) && /^https?:/i.test(text)) return text.replace(/\/+$/, '');
		throw new InputError(
			displayName,
			`must be a web address, but is ${show(text)}`,
			'Enter an address such as http://127.0.0.1:5678, or leave it empty.',
		);
	},
);

/** Shows a property only in the mode that starts scrapes. */
function forStarts({ property }: Field): INodeProperties {
	const show = { mode: ['startScrape'], ...property.displayOptions?.show };
	return { ...property, displayOptions: { ...property.displayOptions, show } };
}

function notice(
	name: string,
	displayName: string,
	show: Record<string, string[]>,
): INodeProperties {
	return { displayName, name, type: 'notice', default: '', displayOptions: { show } };
}

export const properties: INodeProperties[] = [
	mode.property,
	notice(
		'startNotice',
		'Each scrape costs credits. The node starts a scrape when you publish or activate the workflow, and each time the schedule is due. Changed filters apply to the next start. "Execute step" also starts one, of at most 5 leads (see \'Test Limit\' in the options). If the service cannot reach n8n, for example on localhost, the node asks for the status itself. This is free, but no leads arrive.',
		{ mode: ['startScrape'] },
	),
	notice(
		'listenNotice',
		'This mode starts no scrapes and costs no credits. Open "Webhook URLs" above, and copy the production URL into the option \'Webhook URL\' of the LeadGen node that starts the scrapes. The workflow runs when one of them finishes. The service must be able to reach this n8n: if it runs on localhost, set WEBHOOK_URL to a public address.',
		{ mode: ['listen'] },
	),
	...filterFields.map(forStarts),
	...scheduleFields.map(forStarts),
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
