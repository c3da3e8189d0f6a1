import { isObject } from '../common/json';
import { entriesOf, keysOf, listIn, meantBody, valueAt, type Entry } from './contents';
import { isInLead, leadsIn } from './leads';
import type { Told } from './nodeMemory';
import { fingerprint, PARAMETER } from './signature';

const SCRAPE_ID = /^scrape(job|task|run)?u{0,2}ids?$/;
/**
 * Names of fields that may contain a scrape ID, in lower case, without dashes and underscores: names of a scrape ID,
 * names that fit one, and names of any identifier.
 */
const NAMES = [SCRAPE_ID, /^(id|uuid|jobid|scrape|job)s?$/, /ids?$/];
const MAX_IDS = 5;
/** One notification may name many scrapes. */
const MAX_EXACT_IDS = 100;
const MAX_ID_LENGTH = 200;
const MAX_TEXT = 4000;

/** Names of fields that say how a scrape is, and words for its end. */
const STATUS_NAMES = /(status|state|event|type)$/;
const FINAL_WORDS = /\b(complet(ed?|ion)|finished|done|succeeded|failed|failure)\b/i;
/** Where a new word begins in a name such as `scrape_completed` or `scrapeCompleted`. */
const WORD_BREAK = /_|(?<=[a-z])(?=[A-Z])/g;

/**
 * A notification of the service. Neither its shape nor its method is known (docs/service.md, "The completion
 * notification"), so this searches the query, the body at any depth, and text.
 */
export class Notification {
	private readonly contents: Entry[];
	private readonly entries: Entry[];
	private found?: ReturnType<typeof idsIn>;
	private find?: ReturnType<typeof leadsIn>;
	private isFinal?: boolean;
	/** Many scrapes may share a long list. */
	private readonly keys = new Map<unknown, string>([[undefined, '']]);

	/** @param received `null` if a poll saw the end of a scrape, and no notification came */
	constructor(readonly received: { query?: object; body?: unknown } | null) {
		const { query = {}, body } = received ?? {};
		this.contents = entriesOf(meantBody(body));
		this.entries = [...entriesOf(query), ...this.contents];
	}

	/** Possible scrape IDs: those whose name fits a scrape ID best, otherwise those with the name of another identifier. */
	get ids(): ReturnType<typeof idsIn> {
		return (this.found ??= idsIn(this.entries));
	}

	/** The likeliest of them. */
	get named(): string[] {
		const { likely, others } = this.ids;
		return likely.length > 0 ? likely : others;
	}

	/** The leads of a scrape, if it holds any. */
	leadsOf(scrapeId?: unknown): unknown[] | undefined {
		this.find ??= leadsIn(this.contents, isScrape);
		return this.find(scrapeId);
	}

	/** What it says of a scrape: what identifies its leads, empty without leads, and whether a scrape is finished. */
	saysOf(scrapeId?: string): Pick<Told, 'leads' | 'isFinal'> {
		const list = this.leadsOf(scrapeId);
		const leads = this.keys.get(list) ?? fingerprint(list);
		this.keys.set(list, leads);
		this.isFinal ??= this.entries.some(saysFinished);
		return { leads, isFinal: this.isFinal };
	}

	/** The list at a path of the body, such as `data.leads`. */
	listAt(path: string): unknown[] | undefined {
		return listIn(valueAt(this.contents[0]?.value, path));
	}
}

function idsIn(entries: Entry[]): { likely: string[]; others: string[] } {
	const found = NAMES.map(() => new Set<string>());
	for (const entry of entries) {
		const { name, value, depth } = entry;
		if (depth === 0 && typeof value === 'string')
			for (const id of idsInText(value)) found[1]?.add(id);
		const plain = plainName(name);
		const kind = NAMES.findIndex((each) => each.test(plain));
		const id = kind < 0 || name === PARAMETER ? undefined : idIn(value);
		const isOfLead = kind > 0 && isInLead(entry);
		if (id !== undefined && !isOfLead) found[kind]?.add(id);
	}
	const [exact = [], likely = [], others = []] = found.map((ids) => [...ids]);
	return {
		likely: exact.length > 0 ? exact.slice(0, MAX_EXACT_IDS) : likely.slice(0, MAX_IDS),
		others: others.slice(0, MAX_IDS),
	};
}

/** Whether an element of a list says itself that a scrape is finished. */
function isScrape(element: unknown): boolean {
	if (!isObject(element)) return false;
	const fields = keysOf(element).map((key) => ({
		name: key.toLowerCase(),
		value: element[key],
		depth: 1,
	}));
	return fields.some(({ name }) => SCRAPE_ID.test(plainName(name))) && fields.some(saysFinished);
}

/** Such as `completed`, `scrape_failed`, or in a text. */
function saysFinished({ name, value, depth }: Pick<Entry, 'name' | 'value' | 'depth'>): boolean {
	const isStatus = depth === 0 || STATUS_NAMES.test(plainName(name));
	if (!isStatus || typeof value !== 'string') return false;
	return FINAL_WORDS.test(value.slice(0, MAX_TEXT).replace(WORD_BREAK, ' '));
}

/** The last part of a name. A form names nested fields `data[scrapeId]` or `data.scrapeId`. */
function plainName(name: string): string {
	const parts = name
		.slice(-MAX_ID_LENGTH)
		.split(/[[\].]+/)
		.filter((part) => part !== '');
	return (parts.at(-1) ?? '').replace(/[-_]/g, '');
}

/** A scrape ID, also if it is a number. Text that could forge a line of a log or a link is none. */
export function idIn(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	const isId =
		typeof text === 'string' &&
		text !== '' &&
		text.length <= MAX_ID_LENGTH &&
		!/[\p{C}\p{Zl}\p{Zp}<>]/u.test(text);
	return isId ? text : undefined;
}

/** Values that the text names as a scrape ID; if there are none, words that contain a digit. */
function idsInText(text: string): string[] {
	const start = text.slice(0, MAX_TEXT);
	const named = start.matchAll(/scrape_?id"?\s*[:=]\s*"?([^"\s,;&}]+)/gi);
	const ids = [...named].flatMap(([, id]) => idIn(id) ?? []);
	const words = start.match(/[\w-]{4,200}/g) ?? [];
	return ids.length > 0 ? ids : words.filter((word) => /\d/.test(word));
}
