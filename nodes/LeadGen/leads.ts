import {
	jsonParse,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { choiceField, Parameters, textField } from './parameters';

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
		'Where the body of the notification holds the list of leads. Leave it empty to find the list automatically.',
});

const MAX_DEPTH = 5;
const MAX_VALUES = 2000;
/** Names that a list of leads may have, as compared in lower case: those that say what they hold, and others. */
const LEAD_NAMES = /^(leads|people|contacts|profiles|prospects|persons)$/;
const LIST_NAMES = /^(results|records|items|rows|data)$/;

/**
 * The items that a finished scrape gives: one for the scrape, or one for each lead of its notification.
 * @param scrape the fields of the scrape, with the notification beside them
 */
export function outputItems(context: IExecuteFunctions, scrape: IDataObject): INodeExecutionData[] {
	const whole = [{ json: scrape, pairedItem: { item: 0 } }];
	const parameters = new Parameters((name) => context.getNodeParameter(name, 0));
	if (parameters.get(output) !== 'leads') return whole;
	const body = parsed((scrape.notification as IDataObject | null)?.body);
	const path = parameters.option(leadsField);
	const leads = path === '' ? findLeads(body) : toList(valueAt(body, path));
	// Without an item the workflow would end without a word.
	if (!leads || leads.length === 0) {
		context.addExecutionHints({
			message:
				path === ''
					? 'The notification holds no leads, so the output is one item for the scrape.'
					: `The notification has no leads at "${path}", so the output is one item for the scrape. Check the option "Leads Field".`,
			type: 'warning',
			location: 'outputPane',
		});
		return whole;
	}
	const { scrapeId } = scrape;
	return leads.map((lead) => ({
		json: { scrapeId, ...(isObject(lead) ? lead : { lead }) },
		pairedItem: { item: 0 },
	}));
}

/** The list of objects that is the leads, wherever it is: by its name if one has it, else the longest one. */
export function findLeads(body: unknown): unknown[] | undefined {
	const found: Array<{ name: string; list: unknown[] }> = [];
	const queue: Array<{ name: string; value: unknown; depth: number }> = [
		{ name: '', value: body, depth: 0 },
	];
	for (let seen = 0; seen < queue.length && seen < MAX_VALUES; seen++) {
		const { name, value, depth } = queue[seen] ?? { name: '', value: undefined, depth: 0 };
		if (Array.isArray(value)) {
			const list = value.filter(isObject);
			const isList = value.every((each) => isObject(each) || each === null);
			if (isList && (list.length > 0 || LEAD_NAMES.test(name.toLowerCase()))) {
				found.push({ name, list });
			}
			// A notification may be a list of one.
			if (depth === 0 && list.length === 1) queue.push({ name, value: list[0], depth: 1 });
			continue;
		}
		if (!isObject(value) || depth === MAX_DEPTH) continue;
		for (const [key, inner] of Object.entries(value)) {
			queue.push({ name: key, value: inner, depth: depth + 1 });
		}
	}
	const rank = ({ name }: { name: string }) =>
		2 * Number(LEAD_NAMES.test(name.toLowerCase())) + Number(LIST_NAMES.test(name.toLowerCase()));
	const [best] = found.sort((a, b) => rank(b) - rank(a) || b.list.length - a.list.length);
	// An empty one with its name says that there are none, whatever else is listed.
	return best && best.list.length > 0 ? best.list : undefined;
}

/** The body is text where its content type does not say that it is JSON. */
function parsed(body: unknown): unknown {
	return typeof body === 'string' ? jsonParse(body, { fallbackValue: body }) : body;
}

function valueAt(value: unknown, path: string): unknown {
	const names = path
		.replace(/\[(\d+)\]/g, '.$1')
		.split('.')
		.filter((name) => name !== '');
	return names.reduce<unknown>(
		(inner, name) =>
			isObject(inner) || Array.isArray(inner)
				? (inner as Record<string, unknown>)[name]
				: undefined,
		value,
	);
}

function toList(value: unknown): unknown[] | undefined {
	return Array.isArray(value) ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
