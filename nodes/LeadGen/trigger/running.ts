import type { IDataObject } from 'n8n-workflow';
import { isObject, jsonIn } from '../common/json';
import { listIn } from './contents';

/** A scrape that the node started and whose completion has not run yet. */
export interface RunningScrape {
	attempt: string;
	scrapeId: string;
	/** When it was started, in milliseconds since 1970. */
	since: number;
}

/**
 * What the node remembers, in n8n's static data and in each process. `webhook()` writes it, because n8n saves static data
 * reliably nowhere else. Others save an old copy of static data now and then, so copies are merged.
 */
export interface Saved {
	/**
	 * Missing while the workflow is not active. The attempt that a user asked for by activating it, until its start is
	 * through; then empty.
	 */
	activation?: string | undefined;
	running: RunningScrape[];
	/** The last scrapes that ran: the attempt, otherwise the scrape ID; what identifies all leads that ran; the scrape ID. */
	done: Array<[scrape: string, leads: string, scrapeId: string]>;
}

const MAX_DONE = 200;

export const NOTHING: Saved = { running: [], done: [] };

/** Reads what the static data of the workflow holds of a node. Anyone can write there, so anything else is ignored. */
export function readSaved(staticData: IDataObject, key: string): Saved {
	const { activation, running, done } = (jsonIn(staticData[key]) ?? {}) as IDataObject;
	return {
		...(typeof activation === 'string' && { activation }),
		running: (listIn(running) ?? []).filter(isRunning),
		done: (listIn(done) ?? []).filter(isDone),
	};
}

function isRunning(value: unknown): value is RunningScrape {
	const { attempt, scrapeId, since } = isObject(value) ? value : {};
	return typeof attempt === 'string' && typeof scrapeId === 'string' && typeof since === 'number';
}

function isDone(value: unknown): value is Saved['done'][number] {
	return (
		Array.isArray(value) && value.length === 3 && value.every((each) => typeof each === 'string')
	);
}

/** What an execution of the node, or its leader, has to save. */
export interface Change {
	/** The attempt of an activation by a user. */
	activation?: string | undefined;
	/** A scrape was started. */
	started?: RunningScrape;
	/** An attempt that failed. */
	failed?: string;
	/** The workflow ran for a scrape. */
	done?: Saved['done'][number];
}

export function changed(saved: Saved, { started, failed, done, ...change }: Change): Saved {
	const activation = change.activation ?? saved.activation;
	const isThrough = activation !== undefined && [started?.attempt, failed].includes(activation);
	return merged(saved, {
		activation: isThrough ? '' : activation,
		running: started ? [started] : [],
		done: done ? [done] : [],
	});
}

/**
 * As text, because n8n watches each value of an object, which makes reading slow. Writes only what changed, because n8n
 * saves the static data of a workflow as a whole.
 */
export function writeSaved(staticData: IDataObject, key: string, saved: Saved): void {
	const text = JSON.stringify(saved);
	if (staticData[key] !== text) staticData[key] = text;
}

/** What two copies know together, with the activation of the second. */
export function merged(known: Saved, read: Saved): Saved {
	const done = new Map(known.done.map((each) => [each[0], each]));
	for (const [scrape, leads, scrapeId] of read.done) {
		const before = done.get(scrape)?.[1] ?? leads;
		done.set(scrape, [scrape, before === leads ? leads : union(before, leads), scrapeId]);
	}
	const running = new Map(
		[...known.running, ...read.running].map((scrape) => [scrape.attempt, scrape]),
	);
	return {
		...(read.activation !== undefined && { activation: read.activation }),
		running: [...running.values()].filter(({ attempt }) => !done.has(attempt)),
		done: [...done.values()].slice(-MAX_DONE),
	};
}

function union(...words: string[]): string {
	const all = new Set(words.flatMap((each) => each.split(' ')));
	return [...all].join(' ').trim();
}

export function scrapeOf({ running }: Saved, attempt: string): RunningScrape | undefined {
	return running.find((scrape) => scrape.attempt === attempt);
}

/** The scrape ID of an attempt, also after it ran. */
export function scrapeIdOf({ running, done }: Saved, attempt: string): string | undefined {
	const [, , scrapeId] = done.find(([each]) => each === attempt) ?? [];
	return running.find((scrape) => scrape.attempt === attempt)?.scrapeId ?? scrapeId;
}

/** What identifies each of the leads with which a scrape ran; undefined if it has not run. */
export function leadsThatRan({ done }: Saved, scrape: string): string[] | undefined {
	return done.find(([each]) => each === scrape)?.[1].split(' ');
}
