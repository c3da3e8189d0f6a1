import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { addHint } from './compatibility';
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
		'The path to the list of leads in the body of the notification. Leave empty to find the list automatically.',
});

const MAX_DEPTH = 5;
const MAX_VALUES = 2000;
/** Names of lists, in lower case: names for leads, general names, and names of lists that are never leads. */
const LEAD_NAMES = /^(lead|person|contact|profile|prospect)s?$|^people$/;
const LIST_NAMES = /^(results|records|items|rows|data)$/;
const OTHER_NAMES = /^(errors?|warnings?|issues?|logs?|events?|filters?)$/;

/**
 * The items for a finished scrape: one for the scrape, or one for each lead of its notification.
 * @param scrape the fields of the scrape, together with `notification`
 */
export function outputItems(context: IExecuteFunctions, scrape: IDataObject): INodeExecutionData[] {
	const whole = [{ json: scrape, pairedItem: { item: 0 } }];
	const parameters = new Parameters((name, ifMissing) =>
		context.getNodeParameter(name, 0, ifMissing),
	);
	if (parameters.get(output) !== 'leads') return whole;
	const { scrapeId } = scrape;
	const body = jsonIn((scrape.notification as IDataObject | null)?.body);
	const path = parameters.option(leadsField);
	const leads = path === '' ? findLeads(body, scrapeId) : toList(valueAt(body, path));
	// Without an item, the workflow would end silently.
	if (!leads || leads.length === 0) {
		addHint(context, {
			message:
				path === ''
					? 'The notification holds no leads, so the output is one item for the scrape.'
					: `The notification has no leads at "${path}", so the output is one item for the scrape. Check the option "Leads Field".`,
			type: 'warning',
		});
		return whole;
	}
	return leads.map((lead) => ({
		json: { scrapeId, ...(isObject(lead) ? lead : { lead }) },
		pairedItem: { item: 0 },
	}));
}

/** A list that may contain the leads. */
interface Candidate {
	name: string;
	list: unknown[];
}

/**
 * Finds the list of leads at any depth: a list with a name for leads, otherwise the longest list.
 * @param scrapeId of the scrape, if the notification may name several
 */
export function findLeads(body: unknown, scrapeId?: unknown): unknown[] | undefined {
	const id = idText(scrapeId);
	const own = id === '' ? [] : partsOf(body, id);
	if (own.length === 0 && id !== '' && isBesideOthers(body, id)) return undefined;
	const [part] = own.length === 1 ? own : [body];
	const rank = ({ name }: Candidate) =>
		2 * Number(LEAD_NAMES.test(name)) + Number(LIST_NAMES.test(name));
	const [best] = listsIn(part).sort((a, b) => rank(b) - rank(a) || b.list.length - a.list.length);
	// An empty list with a name for leads says that there are none, whatever other lists there are.
	return best && best.list.length > 0 ? best.list : undefined;
}

/** The parts of a notification that contain the ID of a scrape, and leads. Parts of a lead do not count. */
function partsOf(value: unknown, id: string, name = '', depth = 0): unknown[] {
	const inner = jsonIn(value);
	if (depth > MAX_DEPTH || typeof inner !== 'object' || inner === null) return [];
	const isOwn = [name, ...(Object.values(inner) as unknown[])].some((each) => idText(each) === id);
	if (isOwn && isObject(inner) && holdsLeads(inner)) return [inner];
	if (Array.isArray(inner) && LEAD_NAMES.test(name.toLowerCase())) return [];
	return Object.entries(inner)
		.slice(0, MAX_VALUES)
		.flatMap(([key, each]) => partsOf(each, id, Array.isArray(inner) ? '' : key, depth + 1));
}

/** Whether a scrape has its own part without leads, beside the part of another scrape that has leads. */
function isBesideOthers(value: unknown, id: string, depth = 0): boolean {
	const inner = jsonIn(value);
	if (depth > MAX_DEPTH || typeof inner !== 'object' || inner === null) return false;
	const values = Object.values(inner).slice(0, MAX_VALUES) as unknown[];
	const parts = values.map(jsonIn).filter(isObject);
	const isOther = (name: string) =>
		parts.some((part) => !['', id].includes(idText(part[name])) && holdsLeads(part));
	const names = parts.flatMap((part) =>
		Object.keys(part).filter((name) => idText(part[name]) === id),
	);
	return names.some(isOther) || values.some((each) => isBesideOthers(each, id, depth + 1));
}

function holdsLeads(part: object): boolean {
	return listsIn(part).some(({ name }) => LEAD_NAMES.test(name));
}

/** In lower case, because the service may spell an ID differently. */
function idText(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : '';
}

/** The lists in an object at any depth, except those inside other lists. */
function listsIn(body: unknown): Candidate[] {
	const found: Candidate[] = [];
	const queue = [{ name: '', value: body, depth: 0 }];
	for (let seen = 0; seen < queue.length && seen < MAX_VALUES; seen++) {
		const { name = '', value: raw, depth = 0 } = queue[seen] ?? {};
		const value = jsonIn(raw);
		const isNamed = LEAD_NAMES.test(name);
		if (Array.isArray(value)) {
			const list = value.filter((each) => (isNamed ? isGiven(each) : isObject(each)));
			const isList = isNamed || value.every((each) => isObject(each) || !isGiven(each));
			if (isList && !OTHER_NAMES.test(name) && (list.length > 0 || isNamed))
				found.push({ name, list });
			const message = depth === 0 ? messageIn(list) : undefined;
			if (message) queue.push({ name: '', value: message, depth: 1 });
		} else if (isObject(value) && depth < MAX_DEPTH) {
			for (const [key, inner] of Object.entries(value)) {
				const inside = key.toLowerCase();
				// XML has no lists, so a single lead is not a list there.
				const isSingle = isNamed && LEAD_NAMES.test(inside) && isObject(inner);
				queue.push({ name: inside, value: isSingle ? [inner] : inner, depth: depth + 1 });
			}
		}
	}
	return found;
}

/** The one element of a list that contains leads. If several elements do, the elements are leads themselves. */
function messageIn(list: unknown[]): unknown {
	const holders = list
		.filter(isObject)
		.filter((each) => Object.keys(each).some((name) => LEAD_NAMES.test(name.toLowerCase())));
	return holders.length === 1 ? holders[0] : undefined;
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
