import { randomUUID } from 'crypto';
import { isObject, jsonIn } from '../common/json';
import { idIn } from './notification';

/** A scrape that the node started, by its attempt, at a time by `Date.now()`. It is done when its completion has run. */
export type Scrape = { attempt: string; scrapeId: string; since: number; isDone: boolean };

/**
 * What the node remembers, in n8n's static data and in each process. `webhook()` writes it, because n8n saves static data
 * reliably nowhere else. Others save an old copy of static data now and then, so copies are united.
 */
export interface Saved {
	/** The attempt that a user asked for by activating the workflow, until its start is through; then empty. */
	activation?: string | undefined;
	scrapes: Scrape[];
}

/** What a node tells itself to save, over its own URL. `through` is the attempt of a start that is sent, or failed. */
export type Message = Partial<Saved> & { through?: string };

/** In lower case, because some services change the case of a URL. */
export function newAttempt(kind: string): string {
	return `${kind}${randomUUID().replaceAll('-', '')}`;
}

export const NOTHING: Saved = { scrapes: [] };

const ATTEMPT = /^[0-9a-z]{0,80}$/;
/** More than ever run at once. The last ones that are done are kept, because they may be notified again. */
const [MAX_RUNNING, MAX_DONE] = [1000, 200];

/** Reads what was written. Anyone can write static data, and send messages with the API key, so anything else is ignored. */
export function savedIn(value: unknown): Saved {
	const json = jsonIn(value);
	const { activation, scrapes } = isObject(json) ? json : {};
	return {
		...(isAttempt(activation) && { activation }),
		scrapes: Array.isArray(scrapes) ? (scrapes as unknown[]).filter(isScrape) : [],
	};
}

function isAttempt(value: unknown): value is string {
	return typeof value === 'string' && ATTEMPT.test(value);
}

function isScrape(value: unknown): value is Scrape {
	if (!isObject(value) || Object.keys(value).length !== 4) return false;
	const { attempt, scrapeId, since, isDone } = value;
	const isId = typeof scrapeId === 'string' && idIn(scrapeId) !== undefined;
	return isAttempt(attempt) && isId && Number.isFinite(since) && typeof isDone === 'boolean';
}

/**
 * What is saved after a message. A message cannot replace an activation, so that nobody can ask for another start with it.
 * @param isActive whether the workflow is active; a message of an activation may come after its deactivation
 */
export function saving(saved: Saved, message: Message, isActive: boolean): Saved {
	const { activation, scrapes } = savedIn(message);
	const asked = saved.activation ?? (isActive ? activation : undefined);
	const isThrough = asked !== undefined && asked === message.through;
	return united({ ...saved, activation: isThrough ? '' : asked }, scrapes);
}

/** Adds what another copy knows. A scrape that is done stays done. */
export function united(saved: Saved, others: Scrape[]): Saved {
	const all = new Map(saved.scrapes.map((scrape) => [scrape.attempt, scrape]));
	for (const scrape of others)
		if (!all.get(scrape.attempt)?.isDone) all.set(scrape.attempt, scrape);
	const scrapes = [...all.values()];
	const done = scrapes.filter(({ isDone }) => isDone).slice(-MAX_DONE);
	return {
		...saved,
		scrapes: [...done, ...scrapes.filter(({ isDone }) => !isDone).slice(-MAX_RUNNING)],
	};
}

export function scrapeOf({ scrapes }: Saved, attempt?: string): Scrape | undefined {
	return scrapes.find((scrape) => scrape.attempt === attempt);
}
