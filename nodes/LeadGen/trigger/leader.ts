import { LeadGenError } from '../common/errors';
import { pause } from '../common/pause';
import { MINUTE_MS } from '../service/limits/policy';
import { POLL_GIVE_WAY_MS } from './completion.execution';
import { itemFor, type Purpose } from './execution';
import { PROCESS, type Leading } from './node';
import {
	asLeadGenError,
	endNotSeen,
	errorText,
	MISSING,
	NOT_ACTIVATED,
	NOT_REACHED,
} from './notices';
import { postToSelf, type Reply } from './ownUrl';
import { attemptAt } from './schedule';
import { findScrape, type FoundScrape } from './scrape';
import { scrapeOf, type Message, type Scrape } from './state';

const DAY_MS = 24 * 60 * MINUTE_MS;
/** The pause between two polls is a tenth of the age of the scrape, within these bounds. */
const [MIN_POLL_PAUSE_MS, MAX_POLL_PAUSE_MS] = [5000, 15 * MINUTE_MS];
/** A scrape is polled until it is a week old. */
const MAX_POLLED_AGE_MS = 7 * DAY_MS;
/** How long a status may be missing, and the own URL take no message, until that is reported. */
const [MISSING_MS, UNREACHED_MS] = [60 * MINUTE_MS, MINUTE_MS];
/** How long another process may take to save a start. */
const MAX_START_MS = 20 * MINUTE_MS;

const SLOW = new LeadGenError('it is not finished after a day', '');
const ASKS_ON =
	'The node asks for the status until a week after the start, and runs the workflow if it sees the end. Look for the scrape in the dashboard of your account.';

/** What polls know of a scrape: when to look at it next, its end, and since when the service gives no status. */
type Polled = { lookAt: number; found?: FoundScrape; missingSince?: number | undefined };

/**
 * Leads the work for a node, from its activation until n8n deactivates it or another main process leads. The leader
 * waits, so that the executions that it begins need not.
 */
export class Leader {
	private readonly polled = new Map<string, Polled>();
	private readonly closed = new AbortController();
	private readonly notifiedAt = new Map<string, number>();
	private postedAt = 0;
	/** Until when another process may save what this one does not know. */
	private newsUntil = 0;

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
		const { state } = this.node;
		while (!state.place && !this.isClosed) await this.wait(250);
		this.node.addresses = state.place?.addresses ?? [];
		// Otherwise n8n could repeat the activation as a new one after a crash.
		if (state.saved.activation !== state.asked) await this.saveActivation();
		if (this.isClosed) return;
		if (state.asked !== '') this.begin(state.asked);
		state.asked = '';
		if (attempt === undefined) this.notify(NOT_ACTIVATED);
		await this.poll();
	}

	/** Posts what the activation asks for, until the own URL takes it and the workflow is active. */
	private async saveActivation(): Promise<void> {
		const { state } = this.node;
		for (let pauseMs = 500; !this.isClosed; pauseMs = Math.min(1.5 * pauseMs, MINUTE_MS)) {
			const reply = await this.post({ activation: state.asked });
			if (reply?.isActive) return;
			await this.wait(pauseMs);
		}
	}

	/** A time of a cron expression that n8n registered for this activation, or for one that it refused. */
	due(time: Date): void {
		const attempt = attemptAt(time, this.schedule ?? '', this.node.context.getTimezone());
		if (attempt !== undefined) this.begin(attempt);
	}

	/** Begins a start. If something asks for it twice, the gate lets one through. */
	private begin(attempt: string): void {
		const { place, saved } = this.node.state;
		const { activation } = saved;
		if (!place || activation === undefined) {
			this.node.log('warn', 'a start was left out while n8n activated the node');
			return;
		}
		this.newsUntil = Math.max(this.newsUntil, Date.now() + MAX_START_MS);
		// A start may be due before the leader begins its work.
		this.node.addresses = place.addresses;
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
	 * Posts a message to the own URL, and learns what is saved. Says the activation again, because another node may have
	 * saved an old copy. Tells the user if the URL takes no message for too long.
	 * @returns undefined if it takes none
	 */
	private async post(message: Message = {}): Promise<Reply | undefined> {
		const { state } = this.node;
		try {
			const { activation } = state.saved;
			const reply = await postToSelf(this.node, { activation, ...message });
			// A user may also retry a start there.
			if (reply.process !== PROCESS) this.newsUntil = Infinity;
			this.notifiedAt.delete(NOT_REACHED);
			return reply;
		} catch (error) {
			const isLong = Date.now() - (state.unreachedSince ?? Infinity) >= UNREACHED_MS;
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
			const mayHaveNews = now < this.newsUntil || state.unreachedSince !== undefined;
			if (mayHaveNews && now - this.postedAt >= MINUTE_MS) await this.post();
			for (const scrape of state.saved.scrapes) {
				const polled = this.polled.get(scrape.attempt) ?? { lookAt: 0 };
				this.polled.set(scrape.attempt, polled);
				if (scrape.isDone) this.polled.delete(scrape.attempt);
				else if (now >= polled.lookAt) await this.look(scrape, polled);
			}
			await this.wait(1000);
		}
	}

	private async look(scrape: Scrape, polled: Polled): Promise<void> {
		const age = Date.now() - scrape.since;
		polled.lookAt = Date.now() + pauseBeforePollMs(age);
		if (polled.found) await this.complete(scrape, polled.found);
		else if (age > MAX_POLLED_AGE_MS) await this.post({ scrapes: [{ ...scrape, isDone: true }] });
		else await this.find(scrape, polled, age);
	}

	/** Asks for the status. Tells the user why the end is not seen, if that has lasted. */
	private async find({ scrapeId }: Scrape, polled: Polled, age: number): Promise<void> {
		let problem: unknown = MISSING;
		const found = await findScrape(this.node, scrapeId).catch((error: unknown) => {
			problem = error;
		});
		polled.missingSince = found ? undefined : (polled.missingSince ?? Date.now());
		const isMissing = Date.now() - (polled.missingSince ?? Infinity) >= MISSING_MS;
		if (found?.isFinished) {
			polled.found = found;
			// A notification may bring the leads.
			polled.lookAt = Date.now() + POLL_GIVE_WAY_MS;
		} else if (isMissing || (found && age > DAY_MS))
			this.notify(endNotSeen(scrapeId, found ? SLOW : problem, ASKS_ON));
	}

	/** Begins a completion, unless one began: here, or in the process that answers at the own URL. */
	private async complete({ attempt, scrapeId }: Scrape, found: FoundScrape): Promise<void> {
		const { state } = this.node;
		const reply = await this.post();
		const begun = [...state.begun, ...(reply?.begun ?? [])];
		// A save has begun another leader meanwhile.
		if (this.isClosed || begun.includes(attempt) || scrapeOf(state.saved, attempt)?.isDone) return;
		state.beginCompletion(attempt);
		this.emit({ completion: { attempt, scrapeId, notification: null, found } });
	}
}

/** How long to wait before the next poll of a scrape of this age. */
export function pauseBeforePollMs(ageMs: number): number {
	return Math.min(MAX_POLL_PAUSE_MS, Math.max(MIN_POLL_PAUSE_MS, ageMs / 10));
}
