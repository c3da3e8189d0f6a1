import type { ITriggerFunctions } from 'n8n-workflow';
import { isRateRefusal } from '../service/retry';
import type { Purpose } from './execution';
import { newDelivery } from './gate';
import type { NodeMemory } from './nodeMemory';
import { isRefused, missingScrape, noStatus, slowScrape, type NoticeText } from './notices';
import { isReachable } from './ownUrl';
import { leadsOf, scrapeOf, type Change, type RunningScrape } from './running';
import { findScrape } from './scrape';
import { POLL_WAIT_MS } from './waiting';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The pause between two polls: a tenth of the age of the scrape. The longest one also paces other questions. */
export const MIN_PAUSE_MS = 5 * SECOND_MS;
export const MAX_PAUSE_MS = 15 * MINUTE_MS;
/** A start whose scrape is not known after this time failed, or its outcome is unknown. */
const START_MS = 20 * MINUTE_MS;
const GIVE_UP_MS = 7 * DAY_MS;
/** The service may not find a new scrape yet. */
const MISSING_MS = 10 * MINUTE_MS;

/** What polling needs of the leader. */
interface PollingLeader {
	readonly context: ITriggerFunctions;
	readonly memory: NodeMemory;
	readonly isClosed: boolean;
	wait(ms: number): Promise<void>;
	/** Learns what is saved. */
	ask(change?: Change): Promise<unknown>;
	emit(purpose: Purpose): void;
	tell(notice: NoticeText): void;
}

/** Follows an attempt until its scrape has run, or its start has failed. */
export async function poll(
	leader: PollingLeader,
	attempt: string,
	firstPauseMs: number,
): Promise<void> {
	const { saved } = leader.memory;
	const begun = scrapeOf(saved, attempt)?.since ?? Date.now();
	for (let pauseMs = firstPauseMs; ; pauseMs = pauseAfter(Date.now() - begun)) {
		await leader.wait(pauseMs);
		if (leader.isClosed) return;
		const isOver = await look(leader, attempt, begun).catch((error: unknown) => {
			leader.context.logger.warn(`LeadGen Trigger: ${String(error)}`);
		});
		if (isOver) return;
	}
}

function pauseAfter(age: number): number {
	return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, age / 10));
}

/** @returns whether there is nothing more to do for the attempt */
async function look(leader: PollingLeader, attempt: string, begun: number): Promise<boolean> {
	const { memory } = leader;
	const isDone = () => leadsOf(memory.saved, attempt) !== undefined;
	// The execution that starts it may run in another process.
	if (!scrapeOf(memory.saved, attempt) && !isDone()) await leader.ask();
	const scrape = scrapeOf(memory.saved, attempt);
	const age = Date.now() - begun;
	if (!scrape) return isDone() || age > START_MS;
	await check(leader, scrape, age).catch((error: unknown) => {
		// The service may be down for a while.
		const mayPass = !isRefused(error) || isRateRefusal(error);
		if (mayPass && age < DAY_MS) throw error;
		leader.tell(noStatus(scrape.scrapeId, error));
	});
	if (age < GIVE_UP_MS) return false;
	await leader.ask({ done: [attempt, '', scrape.scrapeId] });
	return true;
}

async function check(leader: PollingLeader, scrape: RunningScrape, age: number): Promise<void> {
	const { memory, context } = leader;
	const { scrapeId: id } = scrape;
	const { credential } = await memory.accessOf(context);
	const found = await findScrape(context, credential, id);
	if (found?.isFinished) {
		// The notification may bring the leads.
		const isNotified = isReachable(memory.url ?? '', credential);
		if (isNotified) await leader.wait(POLL_WAIT_MS);
		await complete(leader, scrape);
	} else if (found && age > DAY_MS) leader.tell(slowScrape(id));
	else if (!found && age > MISSING_MS) leader.tell(missingScrape(id));
}

/** Begins the execution of a completion, unless a notification began it. */
async function complete(
	leader: PollingLeader,
	{ attempt, scrapeId }: RunningScrape,
): Promise<void> {
	const { memory } = leader;
	await leader.ask().catch(() => {});
	if (!scrapeOf(memory.saved, attempt)) return;
	const { addresses = [] } = memory;
	const scrapes = [{ attempt, scrapeId, leads: '', isFinal: true, ...newDelivery() }];
	leader.emit({ completion: { scrapes, notification: null, addresses } });
	// If n8n limits how many executions run at once, it may wait.
	await leader.wait(MAX_PAUSE_MS);
}
