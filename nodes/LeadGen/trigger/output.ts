import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { addHint } from '../common/compatibility';
import { isObject } from '../common/json';
import { choiceField, textField } from '../common/parameters';
import type { Executing } from './node';
import type { Notification } from './notification';

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
 * @param status the fields of the scrape, as the service returns them
 */
export function outputItems(
	{ context, parameters }: Executing,
	status: IDataObject,
	notification: Notification,
): INodeExecutionData[] {
	const json = { ...status, notification: notification.received } as IDataObject;
	const whole = [{ json, pairedItem: { item: 0 } }];
	if (parameters.get(output) !== 'leads') return whole;
	const { scrapeId } = status;
	const path = parameters.option(leadsField);
	const leads = path === '' ? notification.leadsOf(scrapeId) : notification.listAt(path);
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
		json: { scrapeId, ...(isObject(lead) ? lead : { lead }) } as IDataObject,
		pairedItem: { item: 0 },
	}));
}
