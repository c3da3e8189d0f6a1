import { LeadGenError } from '../common/errors';
import { pause } from '../common/pause';
import { MINUTE_MS } from '../service/limits/policy';
import { isRateRefusal } from '../service/retry';
import { POLL_GIVE_WAY_MS } from './completion.execution';
import { itemFor, type Purpose } from './execution';
import { PROCESS, type Leading } from './node';
import {
	asLeadGenError,
	endNotSeen,
	errorText,
	isRefused,
	MISSING,
	NOT_ACTIVATED,
	NOT_REACHED,
} from './notices';
import { postToSelf, type Reply } from './ownUrl';
import { attemptAt } from './schedule';
import { findScrape } from './scrape';
import { scrapeOf, type Message } from './state';

const DAY_MS = 24 * 60 * MINUTE_MS;
/** The pause between two polls is a tenth of the age of the scrape, within these bounds. */
const [MIN_POLL_PAUSE_MS, MAX_POLL_PAUSE_MS] = [5000, 15 * MINUTE_MS];
/** A scrape is polled until it is a week old. */
const MAX_POLLED_AGE_MS = 7 * DAY_MS;
/** A start whose scrape is not known after this time failed, or its outcome is unknown. */
const MAX_START_MS = 20 * MINUTE_MS;
/** How long a status that the service refuses or does not find, and one that it cannot give, is not reported. */
const [REFUSED_MS, AWAY_MS] = [10 * MINUTE_MS, DAY_MS];
/** How long the own URL may take no message until that is reported, while n8n gets ready, and later. */
const [GETTING_READY_MS, UNREACHED_MS] = [20_000, 3 * MINUTE_MS];
/** How long a start waits for the own URL. Then its execution says why it sends nothing. */
const START_WAIT_MS = MINUTE_MS;
/** The pauses between messages: if the own URL takes none, and if another process may have saved something. */
const [UNREACHED_PAUSE_MS, OTHER_PROCESS_PAUSE_MS] = [20_000, MINUTE_MS];

const SLOW = new LeadGenError('it is not finished after a day', '');
const ASKS_ON =
	'The node asks for the status until a week after the start, and runs the workflow if it sees the end. Look for the scrape in the dashboard of your account.';

/**
 * An attempt whose scrape has not run: since when, when to look at it next, since when the service gives no status, and how
 * often a poll began its completion, by `Date.now()`.
 */
type Followed = {
	since: number;
	lookAt: number;
	isFinished?: boolean;
	oddSince?: number | undefined;
	begun: number;
};

/**
 * Leads the work for a node, from its activation until n8n deactivates it or another main process leads. The leader waits,
 * so that the executions that it begins need not.
 */
export class Leader {
	private readonly followed = new Map<string, Followed>();
	private readonly closed = new AbortController();
	private readonly notifiedAt = new Map<string, number>();
	private lastDue = '';
	private postedAt = 0;
	/** Whether another process answers at the own URL: a user may retry a start there. */
	private isElsewhere = false;

	constructor(
		private readonly node: Leading,
		private readonly schedule: string | undefined,
	) {
		// n8n does not end what an activation that failed has begun.
		node.state.leader?.close();
		node.state.leader = this;
	}

	close(): void {
		this.closed.abort();
		if (this.node.state.leader === this) delete this.node.state.leader;
	}

	private get isClosed(): boolean {
		return this.closed.signal.aborted;
	}

	private async wait(ms: number): Promise<void> {
		await pause(ms, this.closed.signal).catch(() => {});
	}

	/** Starts what the activation asks for, then polls each scrape until it has run. @param attempt as in `open()` */
	async run(attempt: string | undefined): Promise<void> {
		const { state, context } = this.node;
		while (!state.place && !this.isClosed) await this.wait(250);
		this.node.addresses = state.place?.addresses ?? [];
		const isRestart = /^(init|leadershipChange)$/.test(context.getActivationMode());
		// If the start of the activation is through, there is nothing to save.
		const isSaved = isRestart && attempt === '' && state.saved.activation === '';
		// Otherwise n8n could repeat the activation as a new one after a crash.
		if (!isSaved) {
			const message = { activation: state.asked };
			await this.postUntilActive(message, Infinity, GETTING_READY_MS);
		}
		if (this.isClosed) return;
		if (state.asked !== '') this.begin(state.asked);
		state.asked = '';
		if (attempt === undefined) this.notify(NOT_ACTIVATED);
		await this.poll();
	}

	/** Posts a message until the own URL takes it and the workflow is active, at most so long. */
	private async postUntilActive(message: Message, maxMs: number, patienceMs?: number) {
		const since = Date.now();
		while (!this.isClosed) {
			const reply = await this.post(message, patienceMs);
			const ms = Date.now() - since;
			if (reply?.isActive || ms >= maxMs) return;
			await this.wait(Math.min(500 + ms / 3, MINUTE_MS));
		}
	}

	/** A time of a cron expression that n8n registered for this activation, or for one that it refused. */
	due(expression: string, time: Date): void {
		if (expression !== this.schedule) return;
		const attempt = attemptAt(time, expression, this.node.context.getTimezone());
		// Two main processes that lead for a moment ask for the same attempt, and the gate lets one of them start.
		if (attempt === undefined || attempt <= this.lastDue) return;
		this.lastDue = attempt;
		// The execution says why it sends nothing, if its own message fails, too.
		void this.postUntilActive({}, START_WAIT_MS).then(this.begin.bind(this, attempt));
	}

	private begin(attempt: string): void {
		const { place, saved } = this.node.state;
		const { activation } = saved;
		const isReady = place && activation !== undefined;
		if (!isReady) this.node.log('warn', 'a start was left out while n8n activated the node');
		if (!isReady || this.isClosed) return;
		const now = Date.now();
		this.followed.set(attempt, { since: now, lookAt: now + MIN_POLL_PAUSE_MS, begun: 0 });
		this.emit({ start: { attempt, activation, url: place.url } });
	}

	/** Tells the user something in a failed execution, once a day while it lasts. */
	private notify(error: LeadGenError): void {
		const { message, advice } = error;
		if (Date.now() - (this.notifiedAt.get(message) ?? -Infinity) < DAY_MS) return;
		this.notifiedAt.set(message, Date.now());
		this.node.log('error', errorText(error));
		this.emit({ notice: { message, advice } });
	}

	private emit(purpose: Purpose): void {
		if (!this.isClosed) this.node.context.emit([[itemFor(purpose, this.node.addresses)]]);
	}

	/**
	 * Posts a message to the own URL, and learns what is saved. Tells the user if the URL takes none for too long.
	 * @returns undefined if it takes none
	 */
	private async post(message: Message = {}, patienceMs = UNREACHED_MS): Promise<Reply | undefined> {
		const { state } = this.node;
		try {
			const reply = await postToSelf(this.node, message);
			this.isElsewhere = reply.process !== PROCESS;
			this.notifiedAt.delete(NOT_REACHED);
			return reply;
		} catch (error) {
			this.node.log('warn', errorText(error));
			const isLong = Date.now() - (state.unreachedSince ?? Infinity) >= patienceMs;
			if (isLong) this.notify(asLeadGenError(error));
			return undefined;
		} finally {
			this.postedAt = Date.now();
		}
	}

	private async poll(): Promise<void> {
		const { state } = this.node;
		while (!this.isClosed) {
			const now = Date.now();
			const otherMs = this.isElsewhere ? OTHER_PROCESS_PAUSE_MS : Infinity;
			const pauseMs = state.unreachedSince === undefined ? otherMs : UNREACHED_PAUSE_MS;
			if (now - this.postedAt >= pauseMs) await this.post();
			for (const { attempt, since, isDone } of state.saved.scrapes)
				if (!isDone && !this.followed.has(attempt))
					this.followed.set(attempt, { since, lookAt: now, begun: 0 });
			for (const [attempt, each] of this.followed) {
				const { leftUntil = 0 } = scrapeOf(state.saved, attempt) ?? {};
				const isLater = now < Math.max(each.lookAt, leftUntil);
				if (isLater || state.begun.includes(attempt)) continue;
				each.lookAt = now + pauseBeforePollMs(now - each.since);
				await this.look(attempt, each).catch(this.notSeen.bind(this, attempt, each));
			}
			await this.wait(1000);
		}
	}

	private async look(attempt: string, each: Followed): Promise<void> {
		const { state } = this.node;
		// The execution that starts it may run in another process, and one that a notification began, too.
		const isAsked = !scrapeOf(state.saved, attempt) || each.isFinished;
		const reply = isAsked ? await this.post() : undefined;
		const scrape = scrapeOf(state.saved, attempt);
		const age = Date.now() - each.since;
		if (scrape?.isDone || (!scrape && age > MAX_START_MS)) this.followed.delete(attempt);
		if (!scrape || scrape.isDone || reply?.begun.includes(attempt)) return;
		const { scrapeId } = scrape;
		if (age > MAX_POLLED_AGE_MS) await this.post({ scrapes: [{ ...scrape, isDone: true }] });
		const found = await findScrape(this.node, scrapeId);
		if (!found) throw MISSING;
		each.oddSince = undefined;
		if (!found.isFinished) {
			if (age > DAY_MS) this.notify(endNotSeen(scrapeId, SLOW, ASKS_ON));
		} else if (each.isFinished) {
			state.beginCompletion(attempt, each.begun++);
			this.emit({ completion: { attempt, scrapeId, notification: null, found } });
		} else {
			// A notification may bring the leads.
			each.lookAt = Date.now() + POLL_GIVE_WAY_MS;
			each.isFinished = true;
		}
	}

	/** Tells the user why the end of a scrape is not seen, if it has lasted. */
	private notSeen(attempt: string, each: Followed, problem: unknown): void {
		this.node.log('warn', String(problem));
		each.oddSince ??= Date.now();
		// The service may be down for a while, but what it refuses lasts.
		const isRefusal = problem === MISSING || (isRefused(problem) && !isRateRefusal(problem));
		const scrape = scrapeOf(this.node.state.saved, attempt);
		const isLong = Date.now() - each.oddSince >= (isRefusal ? REFUSED_MS : AWAY_MS);
		if (scrape && isLong) this.notify(endNotSeen(scrape.scrapeId, problem, ASKS_ON));
	}
}

/** How long to wait before the next poll of a scrape of this age. */
export function pauseBeforePollMs(ageMs: number): number {
	return Math.min(MAX_POLL_PAUSE_MS, Math.max(MIN_POLL_PAUSE_MS, ageMs / 10));
}
