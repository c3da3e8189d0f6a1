import { sleep } from 'n8n-workflow';
import { settledOrAborted } from '../common/pause';
import { isRateRefusal } from '../service/retry';
import { POLL_GIVE_WAY_MS } from './completion';
import { itemFor, type Purpose } from './execution';
import { PROCESS, type Leading } from './node';
import { endNotSeen, GIVE_UP_MS, inWords, isRefused, MISSING, SLOW, type Notice } from './notices';
import { postToSelf } from './ownUrl';
import { scrapeOf, united, type Message } from './saved';
import { attemptAt } from './schedule';
import { findScrape } from './scrape';

const [MINUTE_MS, DAY_MS] = [60_000, 24 * 60 * 60_000];
/** The pause between two polls is a tenth of the age of the scrape, within these bounds. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [5000, 15 * MINUTE_MS];
/** n8n may let an execution wait, or may not have been able to begin it, for example with a full disk. */
const QUEUED_MS = 5 * MINUTE_MS;
/** A start whose scrape is not known after this time failed, or its outcome is unknown. */
const START_MS = 20 * MINUTE_MS;
/** The service may not find a new scrape yet. */
const MISSING_MS = 10 * MINUTE_MS;

/** An attempt whose scrape has not run: when it began, and when to look at it next, by `Date.now()`. */
type Followed = { since: number; lookAt: number; isFinished?: boolean };

/** Leads the work for a node, from its activation until n8n deactivates it or another main process leads. */
export class Leader {
	private readonly followed = new Map<string, Followed>();
	private readonly closed = new AbortController();
	private readonly notifiedAt = new Map<string, number>();
	private lastDue = '';
	/** When to ask what another process saved, if one answers at the own URL: a user may retry a start there. */
	private askAt = Infinity;

	constructor(
		readonly node: Leading,
		private readonly schedule: string | undefined,
	) {
		// n8n does not end what an activation that failed has begun.
		node.memory.leader?.close();
		node.memory.leader = this;
	}

	get isClosed(): boolean {
		return this.closed.signal.aborted;
	}

	close(): void {
		this.closed.abort();
		if (this.node.memory.leader === this) delete this.node.memory.leader;
	}

	/** Posts a message to the own URL, and learns what is saved. @throws NotReachedError if it does not answer */
	async post(message: Message = {}): Promise<{ isActive: boolean }> {
		const { memory } = this.node;
		const { saved, process, isActive } = await postToSelf(this.node, message);
		if (process !== PROCESS) this.askAt = Date.now() + MAX_PAUSE_MS;
		// Nothing is learnt after a deactivation, and another node may have saved an old copy without the activation.
		const all = united({ ...memory.saved, ...saved }, memory.saved.scrapes);
		if (!this.isClosed && memory.place) memory.saved = all;
		return { isActive };
	}

	/** A time of a cron expression that n8n registered for this activation, or for one that it refused. */
	due(expression: string, timeZone: string, time: Date): void {
		const isOwn = this.schedule === expression && this.node.context.getTimezone() === timeZone;
		const attempt = isOwn ? attemptAt(time, expression, timeZone) : undefined;
		// Two main processes that lead for a moment ask for the same attempt, and the gate lets one of them start.
		if (attempt === undefined || attempt <= this.lastDue) return;
		this.lastDue = attempt;
		this.start(attempt);
	}

	start(attempt: string): void {
		const { place, saved } = this.node.memory;
		const isReady = place && saved.activation !== undefined;
		if (!isReady) this.node.log('warn', 'a start was left out while n8n activated the node');
		if (!isReady) return;
		this.followed.set(attempt, { since: Date.now(), lookAt: Date.now() + MIN_PAUSE_MS });
		this.emit({ start: { attempt, url: place.url } });
	}

	/** Tells the user something in a failed execution, once a day while it lasts. */
	notify(notice: Notice): void {
		if (Date.now() - (this.notifiedAt.get(notice.message) ?? 0) < DAY_MS) return;
		this.notifiedAt.set(notice.message, Date.now());
		this.node.log('error', inWords(notice));
		this.emit({ notice });
	}

	async wait(ms: number): Promise<void> {
		await settledOrAborted(sleep(ms), this.closed.signal);
	}

	/** Polls each scrape until it has run, from now on until the leader is closed. */
	async poll(): Promise<void> {
		while (!this.isClosed) {
			const now = Date.now();
			if (now >= this.askAt) await this.post().catch(() => {});
			for (const { attempt, since, isDone } of this.node.memory.saved.scrapes)
				if (!isDone && !this.followed.has(attempt))
					this.followed.set(attempt, { since, lookAt: now });
			for (const [attempt, each] of this.followed) {
				if (now < each.lookAt) continue;
				each.lookAt = now + pollPauseMs(now - each.since);
				await this.look(attempt, each).catch((error: unknown) => {
					this.node.log('warn', String(error));
					this.notifyOf(attempt, error);
				});
			}
			await this.wait(1000);
		}
	}

	private async look(attempt: string, each: Followed): Promise<void> {
		const { memory } = this.node;
		// The execution that starts it may run in another process, and one that a notification began, too.
		if (!scrapeOf(memory.saved, attempt) || each.isFinished) await this.post();
		const scrape = scrapeOf(memory.saved, attempt);
		const age = Date.now() - each.since;
		if (scrape?.isDone || (!scrape && age > START_MS)) this.followed.delete(attempt);
		if (!scrape || scrape.isDone) return;
		const { scrapeId } = scrape;
		if (age > GIVE_UP_MS) await this.post({ scrapes: [{ ...scrape, isDone: true }] });
		const found = await findScrape(this.node, scrapeId);
		if (!found?.isFinished) this.notifyOf(attempt, found ? SLOW : MISSING);
		else if (each.isFinished) {
			each.lookAt = Date.now() + QUEUED_MS;
			this.emit({ completion: { attempt, scrapeId, notification: null } });
		} else {
			// A notification may bring the leads.
			each.lookAt = Date.now() + POLL_GIVE_WAY_MS;
			each.isFinished = true;
		}
	}

	/** Tells the user why the end of a scrape is not seen, if it has lasted. */
	private notifyOf(attempt: string, problem: unknown): void {
		const scrape = scrapeOf(this.node.memory.saved, attempt);
		// The service may be down for a while, but what it refuses lasts.
		const isRefusal = isRefused(problem) && !isRateRefusal(problem);
		const patience = problem === MISSING ? MISSING_MS : isRefusal ? 0 : DAY_MS;
		const isLong = scrape && Date.now() - scrape.since > patience;
		if (isLong) this.notify(endNotSeen(scrape.scrapeId, problem));
	}

	private emit(purpose: Purpose): void {
		if (!this.isClosed) this.node.context.emit([[itemFor(purpose, this.node.addresses)]]);
	}
}

/** How long to wait before the next poll of a scrape of this age. */
export function pollPauseMs(ageMs: number): number {
	return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ageMs / 10));
}
