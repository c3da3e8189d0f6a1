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
	const body = (scrape.notification as IDataObject | null)?.body;
	const path = parameters.option(leadsField);
	const leads = path === '' ? leadsIn(body)(scrapeId) : listIn(valueAt(meantBody(body), path));
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

/** A list that may contain the leads. */
interface Candidate {
	entry: Entry;
	list: unknown[];
	/** How well its name fits. */
	rank: number;
	/** Whether it is in no other list. */
	isOpen: boolean;
}

/**
 * Searches a notification for leads at any depth.
 * @returns finds the leads of a scrape: the list beside its ID; otherwise a list with a name for leads, or the longest list
 */
export function leadsIn(body: unknown): (scrapeId?: unknown) => unknown[] | undefined {
	const entries = entriesOf(meantBody(body));
	const ids = entries.map(({ value }) => idText(value));
	const lists = candidates(entries);
	const named = lists.filter(({ rank }) => rank > 0);
	return (scrapeId) => {
		const parts = partsOf(entries, ids, idText(scrapeId));
		const partOf = ({ entry }: Candidate) => {
			let part: Entry | undefined = entry;
			while (part && !parts.has(part)) part = part === entry.scope ? undefined : part.parent;
			return part;
		};
		const isOwn = (list: Candidate) => parts.get(partOf(list));
		const own = named.filter((list) => isOwn(list) === true);
		if (new Set(own.map(partOf)).size === 1) return given(own[0]);
		// A list that holds this scrape beside the leads of another one is a list of scrapes.
		const others = named.filter((list) => isOwn(list) === false).map(({ entry }) => entry);
		const aroundBoth = [[...parts.keys()].filter((part) => parts.get(part)), others].map(above);
		const isOfScrapes = ({ entry }: Candidate) => aroundBoth.every((each) => each.has(entry));
		return given(lists.find((each) => each.isOpen && isOwn(each) !== false && !isOfScrapes(each)));
	};
}

/** An empty list with a name for leads says that there are none, whatever other lists there are. */
function given(found: Candidate | undefined): unknown[] | undefined {
	return found && found.list.length > 0 ? found.list : undefined;
}

/** The lists that may contain leads, the likeliest first. */
function candidates(entries: Entry[]): Candidate[] {
	const message = onlyMessage(entries);
	const found = entries.flatMap((entry) => {
		const { name, value, depth, parent, scope } = entry;
		if (depth > MAX_DEPTH || OTHER_NAMES.test(name) || isInLead(entry)) return [];
		const isNamed = LEAD_NAMES.test(name);
		// XML has no lists, so a single lead is not a list there.
		const isSingle = isNamed && LEAD_NAMES.test(parent?.name ?? '') && isObject(value);
		const all = isSingle ? [value] : entry.list;
		if (!all) return [];
		const list = all.filter((each) => (isNamed ? isGiven(each) : isObject(each)));
		const isList = isNamed || all.every((each) => isObject(each) || !isGiven(each));
		if (!isList || (list.length === 0 && !isNamed)) return [];
		const rank = isNamed ? 2 : Number(LIST_NAMES.test(name));
		const isOpen = scope === entries[0] || scope === message;
		return [{ entry: isSingle && parent ? parent : entry, list, rank, isOpen }];
	});
	return found.sort((a, b) => b.rank - a.rank || b.list.length - a.list.length);
}

/** The one element of a list of messages that contains leads. If several do, the elements are leads themselves. */
function onlyMessage([root, ...entries]: Entry[]): Entry | undefined {
	if (!root?.list) return undefined;
	const named = entries.filter(
		({ name, parent }) => LEAD_NAMES.test(name) && parent?.parent === root,
	);
	const [holder, another] = new Set(named.map(({ parent }) => parent));
	return another ? undefined : holder;
}

/** Whether an entry is inside an element of a list of leads. */
function isInLead({ scope }: Entry): boolean {
	const list = scope.parent;
	return list !== undefined && (LEAD_NAMES.test(list.name) || isInLead(list));
}

/** The parts of a notification that name a scrape by its ID: whether each is of this scrape, or of another one. */
function partsOf(entries: Entry[], ids: string[], id: string): Map<Entry | undefined, boolean> {
	const parts = new Map<Entry | undefined, boolean>();
	if (id === '') return parts;
	const names = new Set(entries.filter((_, at) => ids[at] === id).map(({ name }) => name));
	const isKey = ({ key, value }: Entry) => key === id && typeof value === 'object';
	const keyed = names.size === 0 ? entries.find(isKey) : undefined;
	entries.forEach((entry, at) => {
		const { name, value, parent } = entry;
		if (name !== '' && parent && names.has(name) && typeof value !== 'object') {
			parts.set(parent, ids[at] === id || parts.get(parent) === true);
		}
		if (keyed?.parent && parent === keyed.parent) parts.set(entry, entry === keyed);
	});
	return parts;
}

/** All that is around some entries. */
function above(entries: Array<Entry | undefined>): Set<Entry> {
	const found = new Set<Entry>();
	for (const entry of entries) {
		for (let each = entry?.parent; each && !found.has(each); each = each.parent) found.add(each);
	}
	return found;
}

/** In lower case, because the service may spell an ID differently. */
function idText(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : '';
}

function isGiven(value: unknown): boolean {
	return value !== null && value !== undefined;
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
