import { isObject } from '../common/json';
import type { Entry } from './contents';

const MAX_DEPTH = 5;
/** Of how many elements the kind of a list is seen. */
const MAX_SEEN = 20;
/** Names of lists, in lower case: names for leads, general names, and names of lists that are never leads. */
const LEAD_NAMES = /^(lead|person|contact|profile|prospect)s?$|^people$/;
const LIST_NAMES = /^(results|records|items|rows|data)$/;
const OTHER_NAMES = /^(errors?|warnings?|issues?|logs?|events?|filters?)$/;

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
 * Searches the contents of a notification for leads at any depth.
 * @param isScrape whether an element of a list is a scrape, and no lead
 * @returns finds the leads of a scrape: the list beside its ID; otherwise a list with a name for leads, or the longest list
 */
export function leadsIn(
	entries: Entry[],
	isScrape: (element: unknown) => boolean,
): (scrapeId?: unknown) => unknown[] | undefined {
	const lists = candidates(entries, isScrape);
	const named = lists.filter(({ rank }) => rank > 0);
	const partsOf = partsIn(entries, lists);
	return (scrapeId) => {
		const parts = partsOf(idText(scrapeId));
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
function candidates(entries: Entry[], isScrape: (element: unknown) => boolean): Candidate[] {
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
		const isOfLeads = isNamed || (list.length > 0 && !list.slice(0, MAX_SEEN).some(isScrape));
		if (!isList || !isOfLeads) return [];
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
export function isInLead({ scope }: Entry): boolean {
	const list = scope.parent;
	return list !== undefined && (LEAD_NAMES.test(list.name) || isInLead(list));
}

/**
 * Finds the parts of a notification that name a scrape by its ID: whether each is of this scrape, or of another one. Anyone
 * may name many IDs in a large notification, so only the parts around lists are compared for each.
 */
function partsIn(
	entries: Entry[],
	lists: Candidate[],
): (id: string) => Map<Entry | undefined, boolean> {
	const around = above(lists.map(({ entry }) => entry));
	for (const { entry } of lists) around.add(entry);
	const near = entries.filter(
		({ parent, value }) => parent && around.has(parent) && typeof value !== 'object',
	);
	const ids = entries.map(({ value }) => idText(value));
	return (id) => {
		const parts = new Map<Entry | undefined, boolean>();
		if (id === '') return parts;
		const own = entries.filter((_, at) => ids[at] === id);
		const names = new Set(own.map(({ name }) => name).filter((name) => name !== ''));
		for (const { name, parent } of near) if (names.has(name)) parts.set(parent, false);
		for (const { name, parent } of own) if (name !== '' && parent) parts.set(parent, true);
		const isKey = ({ key, value }: Entry) => key === id && typeof value === 'object';
		const keyed = own.length === 0 ? entries.find(isKey) : undefined;
		for (const entry of keyed?.parent ? entries : []) {
			if (entry.parent === keyed?.parent) parts.set(entry, entry === keyed);
		}
		return parts;
	};
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
