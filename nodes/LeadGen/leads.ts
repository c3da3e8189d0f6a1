import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { jsonIn } from './json';
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
const LEAD_NAMES = /^(lead|person|contact|profile|prospect)s?$|^people$/;
const LIST_NAMES = /^(results|records|items|rows|data)$/;

/**
 * The items that a finished scrape gives: one for the scrape, or one for each lead of its notification.
 * @param scrape the fields of the scrape, with the notification beside them
 */
export function outputItems(context: IExecuteFunctions, scrape: IDataObject): INodeExecutionData[] {
	const whole = [{ json: scrape, pairedItem: { item: 0 } }];
	const parameters = new Parameters((name) => context.getNodeParameter(name, 0));
	if (parameters.get(output) !== 'leads') return whole;
	const { scrapeId } = scrape;
	const body = jsonIn((scrape.notification as IDataObject | null)?.body);
	const path = parameters.option(leadsField);
	const leads = path === '' ? findLeads(body, scrapeId) : toList(valueAt(body, path));
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
	return leads.map((lead) => ({
		json: { scrapeId, ...(isObject(lead) ? lead : { lead }) },
		pairedItem: { item: 0 },
	}));
}

/** A list that may be the leads. */
interface Candidate {
	/** Whether it is in a part of the notification that has the ID of the scrape. */
	isOwn: boolean;
	name: string;
	list: unknown[];
}

/**
 * The list that is the leads, wherever it is: of several, one beside the ID of the scrape, else one that has a name
 * for it, else the longest.
 */
export function findLeads(body: unknown, scrapeId?: unknown): unknown[] | undefined {
	const found: Candidate[] = [];
	const queue = [{ isOwn: false, name: '', value: body, depth: 0 }];
	for (let seen = 0; seen < queue.length && seen < MAX_VALUES; seen++) {
		const { isOwn, name, value: raw, depth } = queue[seen] ?? { isOwn: false, name: '', depth: 0 };
		const value = jsonIn(raw);
		const isNamed = LEAD_NAMES.test(name);
		if (Array.isArray(value)) {
			const list = value.filter((each) => (isNamed ? isGiven(each) : isObject(each)));
			const isList = value.every((each) => isObject(each) || !isGiven(each)) || isNamed;
			if (isList && (list.length > 0 || isNamed)) found.push({ isOwn, name, list });
			if (!isNamed) queue.push(...parts(list, scrapeId, depth));
		} else if (isObject(value) && depth < MAX_DEPTH) {
			const isPart = isOwn || Object.values(value).includes(scrapeId);
			for (const [key, inner] of Object.entries(value)) {
				const inside = { isOwn: isPart, name: key.toLowerCase(), depth: depth + 1 };
				// XML has no lists: a single lead is no list there.
				const isSingle = isNamed && LEAD_NAMES.test(inside.name) && isObject(inner);
				queue.push({ ...inside, value: isSingle ? [inner] : inner });
			}
		}
	}
	const rank = ({ isOwn, name }: Candidate) =>
		4 * Number(isOwn) + 2 * Number(LEAD_NAMES.test(name)) + Number(LIST_NAMES.test(name));
	const [best] = found.sort((a, b) => rank(b) - rank(a) || b.list.length - a.list.length);
	// An empty one with its name says that there are none, whatever else is listed.
	return best && best.list.length > 0 ? best.list : undefined;
}

/** The element of a list that holds the leads: a notification may be a list, or tell of several scrapes. */
function parts(list: unknown[], scrapeId: unknown, depth: number) {
	const holders = list
		.filter(isObject)
		.filter((each) => Object.keys(each).some((name) => LEAD_NAMES.test(name.toLowerCase())));
	const own = holders.filter((each) => Object.values(each).includes(scrapeId));
	const chosen = own.length > 0 || depth > 0 ? own : holders;
	// Where several do, they are the leads, and what they hold is theirs.
	return chosen.length === 1
		? chosen.map((value) => ({ isOwn: false, name: '', value, depth: depth + 1 }))
		: [];
}

function isGiven(value: unknown): boolean {
	return value !== null && value !== undefined;
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
