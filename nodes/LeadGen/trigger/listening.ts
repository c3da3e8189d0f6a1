import { sleep } from 'n8n-workflow';
import type { ServiceError } from '../common/errors';
import { accountOf } from '../service/account';
import { isDocumented } from '../service/codes';
import type { TriggerNode } from './node';
import { perNode } from './nodeMemory';
import { cannotVerify, isRefused } from './notices';
import { findScrape, type FoundScrape } from './scrape';

/** Verifies scrapes that anyone may have named, where the node only listens. */

const MINUTE_MS = 60_000;
/** Strangers may use up to a third of the rate limit of the account, or of the smallest plan if it is not known. */
const SHARE = 1 / 3;
const MIN_PER_MINUTE = 20;
/** Between two looks n8n can do something else. */
const MIN_GAP_MS = 20;
/** What may wait: n8n 2 keeps some megabytes for each request. The sender must send the rest again. */
const MAX_WAITING = 100;
const MAX_WAITING_BYTES = 8_000_000;
/** The pauses before the looks at an ID: the notification may be faster than the status. */
const AGAIN_MS = [0, 10_000, MINUTE_MS, 5 * MINUTE_MS];
/** How long an answer that cannot be had is asked for. */
const PATIENCE_MS = 60 * MINUTE_MS;
const MAX_PAUSE_MS = 2 * MINUTE_MS;
/** To save an active workflow, n8n deactivates it for a moment. */
const SAVE_MS = 5000;
/** Looks at scrapes that strangers may have named: their times, and how much waits for them. */
const lookupsOf = perNode(() => ({
	times: [] as number[],
	last: Promise.resolve(),
	count: 0,
	bytes: 0,
}));

/** Whether a notification of this size can wait until its IDs are verified. */
export function hasRoom(node: TriggerNode, named: string[], size: number): boolean {
	const { count, bytes } = lookupsOf(node.memory);
	const isSmall = count + named.length <= MAX_WAITING && bytes + size <= MAX_WAITING_BYTES;
	return isSmall || count === 0;
}

/**
 * Which of the IDs in a notification are scrapes of the account.
 * @param size of the notification in bytes, which stays in memory meanwhile
 * @returns the ID of each as the service spells it, by the ID that was named
 */
export async function knownScrapes(
	node: TriggerNode,
	named: string[],
	size: number,
): Promise<Map<string, string>> {
	const { memory } = node;
	const lookups = lookupsOf(memory);
	lookups.count += named.length;
	lookups.bytes += size;
	const ids = new Map<string, string>();
	// Only a main process knows this. Another one may have deactivated the workflow here when a user saved it.
	const wasActive = memory.urls !== undefined;
	const isActive = () => memory.urls !== undefined || !wasActive;
	for (const pauseMs of AGAIN_MS) {
		await sleep(pauseMs);
		const open = named.filter((id) => !ids.has(id));
		const looks = open.map(async (id) => {
			const scrape = await look(node, id, isActive);
			if (scrape) ids.set(id, scrape.id);
		});
		await Promise.all(looks);
		// A name may have been that of something else. In a flood, there is no room to ask for each ID again.
		const isEnough = ids.size > 0 && pauseMs > 0;
		const isFull = lookups.count > MAX_WAITING / 2;
		if (isEnough || isFull || ids.size === named.length || !isActive()) break;
	}
	lookups.count -= named.length;
	lookups.bytes -= size;
	if (ids.size < named.length) {
		node.log('debug', 'a notification names IDs that the service does not know');
	}
	return ids;
}

/** Looks until there is an answer. @returns undefined if the service does not know the scrape, or gives no answer */
async function look(
	node: TriggerNode,
	id: string,
	isActive: () => boolean,
): Promise<FoundScrape | undefined> {
	const end = Date.now() + PATIENCE_MS;
	for (let pauseMs = 1000; ; pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)) {
		try {
			await turn(node);
			if (!isActive()) await sleep(SAVE_MS);
			return isActive() ? await findScrape(node, id) : undefined;
		} catch (error) {
			node.memory.leader?.tell(cannotVerify(error));
			// At the level of debugging, because strangers could fill the log.
			node.log('debug', `a notification is not verified: ${String(error)}`);
			// Some services answer so for an ID that they do not know.
			if (isRefused(error) && !mayPass(error)) return undefined;
			if (Date.now() > end) {
				node.log('warn', 'a notification could not be verified for an hour');
				return undefined;
			}
			await sleep(pauseMs);
		}
	}
}

/** Whether the refusal is about the account and not about the scrape. The user may solve the problem. */
function mayPass({ code = '', httpStatus = 0 }: ServiceError): boolean {
	return isDocumented(code) || [401, 402, 429].includes(httpStatus);
}

/** Waits until a look is within the share of the rate limit. Those that wait take turns. */
export async function turn(node: TriggerNode): Promise<void> {
	const { credential } = await node.access();
	const lookups = lookupsOf(node.memory);
	const perMinute = Math.floor(accountOf(credential).limiter.perMinute * SHARE);
	const most = perMinute < Infinity ? Math.max(1, perMinute) : MIN_PER_MINUTE;
	const mine = lookups.last.then(async () => {
		const earlier = lookups.times.at(-most) ?? -Infinity;
		// A clock that is set back must not hold up the looks.
		const waitMs = earlier + MINUTE_MS - performance.now();
		await sleep(Math.max(MIN_GAP_MS, waitMs));
		lookups.times = [...lookups.times, performance.now()].slice(-most);
	});
	lookups.last = mine;
	await mine;
}
