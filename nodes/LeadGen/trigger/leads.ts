import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { addHint } from '../compatibility';
import { choiceField, textField, type Parameters } from '../parameters';
import { entriesOf, isObject, listIn, meantBody, type Entry } from './contents';

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
/** Names of lists, in lower case: names for leads, general names, and names of lists that are never leads. */
const LEAD_NAMES = /^(lead|person|contact|profile|prospect)s?$|^people$/;
const LIST_NAMES = /^(results|records|items|rows|data)$/;
const OTHER_NAMES = /^(errors?|warnings?|issues?|logs?|events?|filters?)$/;

/**
 * The items for a finished scrape: one for the scrape, or one for each lead of its notification.
 * @param scrape the fields of the scrape, together with `notification`
 */
export function outputItems(
	context: IExecuteFunctions,
	parameters: Parameters,
	scrape: IDataObject,
): INodeExecutionData[] {
	const whole = [{ json: scrape, pairedItem: { item: 0 } }];
	if (parameters.get(output) !== 'leads') return whole;
	const { scrapeId } = scrape;
	const body = meantBody((scrape.notification as IDataObject | null)?.body, '');
	const path = parameters.option(leadsField);
	const leads = path === '' ? findLeads(body, scrapeId) : listIn(valueAt(body, path));
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

/**
 * Finds the list of leads at any depth: a list with a name for leads, otherwise the longest list.
 * @param body as `meantBody` returns it
 * @param scrapeId of the scrape, if the notification may name several
 */
export function findLeads(body: unknown, scrapeId?: unknown): unknown[] | undefined {
	const entries = entriesOf(body);
	const isOwn = ownPartOf(entries, idText(scrapeId));
	const rank = ({ name }: Entry) =>
		2 * Number(LEAD_NAMES.test(name)) + Number(LIST_NAMES.test(name));
	const [best] = candidates(entries)
		.filter(({ entry }) => isOwn(entry))
		.sort((a, b) => rank(b.entry) - rank(a.entry) || b.list.length - a.list.length);
	// An empty list with a name for leads says that there are none, whatever other lists there are.
	return best && best.list.length > 0 ? best.list : undefined;
}

/** The lists that may contain the leads, except those inside other lists. */
function candidates(entries: Entry[]): Array<{ entry: Entry; list: unknown[] }> {
	const message = onlyMessage(entries);
	return entries.flatMap((entry) => {
		const { name, value, depth, parent } = entry;
		const isNamed = LEAD_NAMES.test(name);
		const isHidden = entry.isInList && (!message || !isInside(entry, message));
		if (depth > MAX_DEPTH || isHidden || OTHER_NAMES.test(name)) return [];
		// XML has no lists, so a single lead is not a list there.
		const isSingle = isNamed && LEAD_NAMES.test(parent?.name ?? '') && isObject(value);
		const all = isSingle ? [value] : listIn(value);
		if (!all) return [];
		const list = all.filter((each) => (isNamed ? isGiven(each) : isObject(each)));
		const isList = isNamed || all.every((each) => isObject(each) || !isGiven(each));
		return isList && (list.length > 0 || isNamed) ? [{ entry, list }] : [];
	});
}

/** The one element of a list of messages that contains leads. If several do, the elements are leads themselves. */
function onlyMessage([root, ...entries]: Entry[]): Entry | undefined {
	const list = root && listIn(root.value);
	if (!list) return undefined;
	const isHolder = ({ parent, value }: Entry) =>
		parent === root &&
		isObject(value) &&
		Object.keys(value).some((name) => LEAD_NAMES.test(name.toLowerCase()));
	const holders = entries.filter(isHolder);
	return holders.length === 1 ? holders[0] : undefined;
}

/** Whether an entry is inside a message of a list, and in no list of it. */
function isInside(entry: Entry, message: Entry): boolean {
	let above = entry.parent;
	while (above && above !== message && !listIn(above.value)) above = above.parent;
	return above === message;
}

/** Tells which entries belong to a scrape, if the notification has parts for several ones with an ID in each. */
function ownPartOf(entries: Entry[], id: string): (entry: Entry) => boolean {
	if (id === '') return () => true;
	const named = entries.filter(({ value }) => idText(value) === id).map(({ name }) => name);
	const names = new Set(named.filter((name) => name !== ''));
	const keyed = entries.find(({ name, value }) => name === id && typeof value === 'object');
	const ownerOf = new Map<Entry, boolean>();
	for (const entry of entries) {
		const { name, value, parent } = entry;
		if (parent && names.has(name) && typeof value !== 'object') {
			ownerOf.set(parent, idText(value) === id || ownerOf.get(parent) === true);
		}
		if (keyed?.parent && parent === keyed.parent) ownerOf.set(entry, entry === keyed);
	}
	return (entry) => {
		let above: Entry | undefined = entry;
		while (above && !ownerOf.has(above)) above = above.parent;
		return above === undefined || ownerOf.get(above) === true;
	};
}

/** In lower case, because the service may spell an ID differently. */
function idText(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : '';
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
