import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { addHint } from '../common/compatibility';
import { choiceField, textField, type Parameters } from '../common/parameters';
import { isObject, listIn, meantBody } from './contents';
import type { LeadsFinder } from './leads';

export const output = choiceField(
	{
		displayName: 'Output',
		name: 'output',
		description: 'What the workflow gets when a scrape finishes',
	},
	[
		{
			name: 'One Item per Scrape',
			value: 'scrape',
			description: 'The status of the scrape, with the notification beside it',
		},
		{
			name: 'One Item per Lead',
			value: 'leads',
			description: 'For services that send the leads along with the notification',
		},
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

/**
 * The items for a finished scrape: one for the scrape, or one for each lead of its notification.
 * @param scrape the fields of the scrape, together with `notification`
 * @param find in the notification
 */
export function outputItems(
	context: IExecuteFunctions,
	parameters: Parameters,
	scrape: IDataObject,
	find: LeadsFinder,
): INodeExecutionData[] {
	const whole = [{ json: scrape, pairedItem: { item: 0 } }];
	if (parameters.get(output) !== 'leads') return whole;
	const { scrapeId } = scrape;
	const body = (scrape.notification as IDataObject | null)?.body;
	const path = parameters.option(leadsField);
	const leads = path === '' ? find(scrapeId) : listIn(valueAt(meantBody(body), path));
	// Without an item, the workflow would end silently.
	if (!leads || leads.length === 0) {
		addHint(context, {
			message:
				path === ''
					? 'The notification holds no leads, so the output is one item for the scrape.'
					: `The notification has no leads at "${path}", so the output is one item for the scrape. Check the option 'Leads Field'.`,
			type: 'warning',
		});
		return whole;
	}
	return leads.map((lead) => ({
		json: { scrapeId, ...(isObject(lead) ? lead : { lead }) },
		pairedItem: { item: 0 },
	}));
}

function valueAt(value: unknown, path: string): unknown {
	const names = path.split(/[[\].]+/).filter((name) => name !== '');
	return names.reduce<unknown>(
		(inner, name) =>
			isObject(inner) || Array.isArray(inner)
				? (inner as Record<string, unknown>)[name]
				: undefined,
		value,
	);
}
