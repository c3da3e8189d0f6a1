import { sleep } from 'n8n-workflow';
import { settledOrAborted } from '../common/pause';
import { isRateRefusal } from '../service/retry';
import { itemFor, type Purpose } from './execution';
import type { Leading } from './node';
import { PROCESS } from './nodeMemory';
import {
	GIVE_UP,
	isRefused,
	missingScrape,
	noStatus,
	slowScrape,
	type NoticeText,
} from './notices';
import { isReachable, tell, type Reply } from './ownUrl';
import { leadsThatRan, merged, scrapeOf, type Change, type RunningScrape } from './running';
import type { Schedule } from './schedule';
import { findScrape } from './scrape';
import { POLL_WAIT_MS } from './waiting';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The pause between two polls: a share of the age of the scrape. */
const AGE_SHARE = 1 / 10;
const MIN_PAUSE_MS = 5 * SECOND_MS;
const MAX_PAUSE_MS = 15 * MINUTE_MS;
/** n8n may let an execution wait, or may not have been able to begin it, for example with a full disk. */
const QUEUED_MS = 5 * MINUTE_MS;
/** A start whose scrape is not known after this time failed, or its outcome is unknown. */
const START_MS = 20 * MINUTE_MS;
/** The service may not find a new scrape yet. */
const MISSING_MS = 10 * MINUTE_MS;

/** Leads the work for a node, from its activation until n8n deactivates it or another main process leads. */
export class Leader {
	refusal?: unknown;
	/** Whether another process answered at the own URL. */
	isElsewhere = false;
	/** The attempts whose start began here. */
	readonly started = new Set<string>();
	private readonly closed = new AbortController();
	/** When each notice was told. */
	private readonly toldAt = new Map<string, number>();

	constructor(
		readonly node: Leading,
		private readonly schedule: Schedule | undefined,
	) {
		// n8n does not end what an activation that failed has begun.
		node.memory.leader?.close();
		node.memory.leader = this;
	}

	get isClosed(): boolean {
		return this.closed.signal.aborted;
	}

	close(): void {
		const { memory } = this.node;
		this.closed.abort();
		memory.closedAt = Date.now();
		if (memory.leader === this) delete memory.leader;
	}

	/** Tells the own URL something, and learns what is saved. @throws NotReachedError if it does not answer */
	async ask(change: Change = {}): Promise<Reply> {
		const { memory } = this.node;
		const { saved, ...reply } = await tell(this.node, change);
		// Another node may have saved an old copy without the activation. Nothing is learnt after a deactivation.
		const { activation } = memory.saved;
		if (memory.urls) memory.saved = merged(memory.saved, { activation, ...saved });
		this.isElsewhere ||= reply.process !== PROCESS;
		return { saved, ...reply };
	}

	/** A time of the cron expression that n8n registered for this activation, or for one that it refused. */
	due(expression: string, timeZone: string, time: Date): void {
		const { schedule, node } = this;
		const isOwn = schedule?.expression === expression && node.context.getTimezone() === timeZone;
		// Two main processes that lead for a moment ask for the same attempt, and the gate lets one of them start.
		if (isOwn && schedule.isDue(time)) this.start(`s${schedule.roundDown(time).toString(36)}`);
	}

	/** Begins the execution that sends a start. */
	start(attempt: string): void {
		const { urls, saved } = this.node.memory;
		if (!urls || saved.activation === undefined) {
			// If this lasts, a failed execution tells it.
			const why = 'a start was due while the node could not save what it does';
			this.node.log('warn', `${why}, so it was left out`);
			return;
		}
		this.started.add(attempt);
		this.emit({ start: { attempt, url: urls.url } });
	}

	emit(purpose: Purpose): void {
		const { context, addresses } = this.node;
		if (!this.isClosed) context.emit([[itemFor(purpose, addresses)]]);
	}

	/** Tells the user something in a failed execution, once a day while it lasts. */
	tell(notice: NoticeText): void {
		const { message } = notice;
		if (Date.now() - (this.toldAt.get(message) ?? 0) < DAY_MS) return;
		this.toldAt.set(message, Date.now());
		this.node.log('error', `${message}. ${notice.advice}`);
		this.emit({ notice });
	}

	async wait(ms: number): Promise<void> {
		await settledOrAborted(sleep(ms), this.closed.signal);
	}
}

/** Follows each attempt until its scrape has run, or its start has failed. */
export async function follow(leader: Leader): Promise<void> {
	const { started } = leader;
	const { memory } = leader.node;
	const polled = new Set<string>();
	while (!leader.isClosed) {
		for (const attempt of [...started, ...memory.saved.running.map((each) => each.attempt)]) {
			if (polled.has(attempt)) continue;
			polled.add(attempt);
			// A scrape that was started earlier may have finished meanwhile.
			void poll(leader, attempt, started.has(attempt) ? MIN_PAUSE_MS : 0).then(() => {
				polled.delete(attempt);
				started.delete(attempt);
			});
		}
		await leader.wait(SECOND_MS);
	}
}

/** How long to wait before the next poll of a scrape of this age. */
export function pollPauseMs(ageMs: number): number {
	return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ageMs * AGE_SHARE));
}

async function poll(leader: Leader, attempt: string, firstPauseMs: number): Promise<void> {
	const { saved } = leader.node.memory;
	const begun = scrapeOf(saved, attempt)?.since ?? Date.now();
	for (let pauseMs = firstPauseMs; ;) {
		await leader.wait(pauseMs);
		if (leader.isClosed) return;
		const isOver = await look(leader, attempt, begun).catch((error: unknown) => {
			leader.node.log('warn', String(error));
		});
		if (isOver) return;
		pauseMs = pollPauseMs(Date.now() - begun);
	}
}

/** @returns whether there is nothing more to do for the attempt */
async function look(leader: Leader, attempt: string, begun: number): Promise<boolean> {
	const { memory } = leader.node;
	const isDone = () => leadsThatRan(memory.saved, attempt) !== undefined;
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
	if (age < GIVE_UP.ms) return false;
	await leader.ask({ done: [attempt, '', scrape.scrapeId] });
	return true;
}

async function check(leader: Leader, scrape: RunningScrape, age: number): Promise<void> {
	const { node } = leader;
	const { memory } = node;
	const { attempt, scrapeId: id } = scrape;
	const { credential } = await node.access();
	const found = await findScrape(node, id);
	if (found?.isFinished) {
		// The notification may bring the leads.
		if (isReachable(memory.urls?.url ?? '', credential)) await leader.wait(POLL_WAIT_MS);
		await leader.ask().catch(() => {});
		// Otherwise a notification ran the workflow.
		if (!scrapeOf(memory.saved, attempt)) return;
		const scrapes = [{ attempt, scrapeId: id, leads: '', isFinal: true }];
		leader.emit({ completion: { scrapes, notification: null } });
		await leader.wait(QUEUED_MS);
	} else if (found && age > DAY_MS) leader.tell(slowScrape(id));
	else if (!found && age > MISSING_MS) leader.tell(missingScrape(id));
}
