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
/** Names that a list of leads may have, as compared in lower case. */
const LEAD_NAMES =
	/^(leads|results|people|contacts|profiles|prospects|persons|records|items|rows|data)$/;

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
	if (!leads) {
		context.addExecutionHints({
			message:
				path === ''
					? 'The notification holds no list of leads, so the output is one item for the scrape.'
					: `The notification has no list at "${path}", so the output is one item for the scrape. Check the option "Leads Field".`,
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
	const found: Array<{ name: string; list: unknown[]; depth: number }> = [];
	const queue: Array<{ name: string; value: unknown; depth: number }> = [
		{ name: '', value: body, depth: 0 },
	];
	for (let seen = 0; seen < queue.length && seen < MAX_VALUES; seen++) {
		const { name, value, depth } = queue[seen] ?? { name: '', value: undefined, depth: 0 };
		if (Array.isArray(value)) {
			if (value.length > 0 && value.every(isObject)) found.push({ name, list: value, depth });
			continue;
		}
		if (!isObject(value) || depth === MAX_DEPTH) continue;
		for (const [key, inner] of Object.entries(value)) {
			queue.push({ name: key, value: inner, depth: depth + 1 });
		}
	}
	const isNamed = ({ name }: { name: string }) => LEAD_NAMES.test(name.toLowerCase());
	const [best] = found.sort(
		(a, b) => Number(isNamed(b)) - Number(isNamed(a)) || b.list.length - a.list.length,
	);
	return best?.list;
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
