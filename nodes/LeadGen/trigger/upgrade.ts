import { unknownOutcome } from './notices';
import { addNotice, markDone, newState, openScrapes, type TriggerState } from './state';

/** The part of the static data of 1.0.0 that is converted. */
interface Release1 {
	owner: string;
	horizon: number;
	closed?: true;
	clock: { id: string; at: number };
	filters?: string;
	schedule?: string;
	due?: number;
	want?: { at: number; filters: string };
	intent?: { at: number; filters: string };
	open: Array<{
		id: string;
		at: number;
		filters?: string;
		claimed?: string;
		heard?: number;
		notification?: object;
	}>;
	notices: Array<{ id: string; message: string; advice: string }>;
	delivered: Array<[fingerprint: string, completedAt: number]>;
	skipped?: number[];
}

/** Converts a record of 1.0.0. @returns undefined if the value is not such a record */
export function fromRelease1(value: unknown, now: number): TriggerState | undefined {
	if (!isRelease1(value)) return undefined;
	const { owner, horizon, clock, closed, filters = '', schedule: print, due } = value;
	const state = newState(owner);
	const { at, id } = clock;
	const isOver = closed ? { isClosed: closed } : { isEstablished: true as const };
	state.facts = {
		horizon: { at: horizon },
		activation: { id, at, filters, ...isOver },
		...(print !== undefined && { schedule: { print, at, ...(due !== undefined && { due }) } }),
	};
	for (const [key, completedAt] of value.delivered) markDone(state, key, completedAt);
	for (const scrape of value.open) {
		const { id: key, at: since, filters: own, claimed, heard, notification: raw } = scrape;
		const source = claimed ?? key;
		const stage = claimed === undefined ? 'open' : 'unverified';
		const wanted = own === undefined ? {} : { filters: own };
		state.scrapes[key] = { stage, at: since, since, source, ...wanted };
		if (heard === undefined) continue;
		const size = raw ? JSON.stringify(raw).length : 0;
		state.notifications[source] = { at: heard, size, process: '', ...(raw && { raw }) };
	}
	const [running] = openScrapes(state);
	if (running && value.skipped) running[1].skipped = [...value.skipped];
	for (const { id: key, ...text } of value.notices) addNotice(state, key, text, now);
	const lost = value.intent ?? value.want;
	const why = 'n8n stopped before it had saved the answer of the service';
	if (lost) addNotice(state, `start ${String(lost.at)}`, unknownOutcome(why), now);
	return state;
}

function isRelease1(value: unknown): value is Release1 {
	if (typeof value !== 'object' || value === null) return false;
	const record = value as Partial<Release1>;
	return (
		typeof record.owner === 'string' &&
		typeof record.horizon === 'number' &&
		typeof record.clock?.at === 'number' &&
		[record.open, record.notices, record.delivered].every(Array.isArray)
	);
}
