import type { IWebhookFunctions } from 'n8n-workflow';
import { wake } from './clock';
import { hear, idsIn, type Heard } from './decide';
import { newRecord, type TriggerRecord } from './record';
import { idsOf, withoutSecrets, type IncomingRequest } from './notification';
import { identityOf, ownerOf, readPlan } from './plan';
import { Store, type LargeNotification } from './store';

/** What goes beyond this is kept in memory only, lest the static data grow: of a node, and of mere claims. */
const MAX_SAVED = 1_000_000;
const MAX_SAVED_CLAIMS = 100_000;
const MAX_SAVED_CLAIM = 2000;
const MAX_IN_MEMORY = 64_000_000;

/** The part of Express's request that we use; its types are no part of n8n-workflow. */
interface HttpRequest {
	method: string;
	rawBody?: unknown;
}

export function requestOf(context: IWebhookFunctions): IncomingRequest {
	const { method, rawBody } = context.getRequestObject() as unknown as HttpRequest;
	const body: unknown = context.getBodyData();
	const isEmpty =
		typeof body === 'object' ? Object.keys(body ?? {}).length === 0 : body === undefined;
	return {
		method,
		headers: context.getHeaderData(),
		query: context.getQueryData() as Record<string, unknown>,
		// A content type that n8n does not parse.
		body: isEmpty && Buffer.isBuffer(rawBody) ? rawBody.toString('utf8', 0, 100_000) : body,
	};
}

/**
 * Writes down that a scrape was heard of, and wakes the clock. Nothing is looked up or executed here, so
 * that the answer is quick, and is sent when n8n has saved what is written down.
 * @param token of the node's URL, if the request brought one
 */
export function receive(context: IWebhookFunctions, token?: string): Heard {
	const identity = identityOf(context);
	const store = new Store(context, identity);
	const owner = ownerOf(context);
	const plan = readPlan(context);
	const now = Date.now();
	const request = requestOf(context);
	const known = store.record?.owner === owner ? store.record : undefined;
	const record = known ?? unknownPast(owner, now);
	const ids = idsIn(record, idsOf(request), plan);
	const { heard, scrapes } = hear(record, ids, plan, now);
	if (scrapes.length > 0) {
		const raw = withoutSecrets(request, token);
		const size = sizeOf(raw);
		for (const scrape of scrapes) delete scrape.notification;
		let used = sizeOf(record.open);
		for (const scrape of scrapes) {
			const most = scrape.claimed
				? Math.min(MAX_SAVED_CLAIM, MAX_SAVED_CLAIMS - used)
				: MAX_SAVED - used;
			if (size <= most) {
				scrape.notification = raw;
				used += size;
			} else keep(store, scrape.id, { raw, size });
		}
	}
	if (known || scrapes.length > 0) store.save(record, now);
	if (heard === 'noted') wake(identity);
	return heard;
}

function sizeOf(value: unknown): number {
	return JSON.stringify(value).length;
}

/** The record of a node that may have started anything. The next activation by a person starts a scrape. */
function unknownPast(owner: string, now: number): TriggerRecord {
	const record = newRecord(owner, { id: '', at: 0, process: '' }, now);
	return { ...record, closed: true, gaps: [[0, now]] };
}

function keep({ memory: { notifications } }: Store, id: string, large: LargeNotification): void {
	notifications.delete(id);
	notifications.set(id, large);
	let used = [...notifications.values()].reduce((sum, { size }) => sum + size, 0);
	for (const [oldest, { size }] of notifications) {
		if (used <= MAX_IN_MEMORY) break;
		notifications.delete(oldest);
		used -= size;
	}
}
