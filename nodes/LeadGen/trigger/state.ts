import { randomUUID } from 'crypto';
import { jsonParse, type IDataObject, type WorkflowActivateMode } from 'n8n-workflow';

// The state of a node: what n8n saves of it, and what this process knows. All other files ask this one.

/**
 * A scrape that the node started, by its attempt, at a time by `Date.now()`. It is done when its completion has run.
 */
export type Scrape = { attempt: string; scrapeId: string; since: number; isDone: boolean };

/**
 * What is saved, in n8n's static data. `webhook()` writes it, because n8n saves static data reliably nowhere else.
 * Others save an old copy of static data now and then, so copies are united.
 */
export interface Saved {
	/**
	 * While the node is active: the attempt that a user asked for by activating it, until its start is through; then
	 * empty.
	 */
	activation?: string | undefined;
	scrapes: Scrape[];
}

/** What a node tells itself to save, over its own URL. `through` is the attempt of a start that is sent, or failed. */
export type Message = Partial<Saved> & { through?: string | undefined };

/**
 * Where a node is reached: the production URL, as the outside sees it, and where it reaches itself, the likeliest
 * first.
 */
export type Place = { url: string; addresses: string[] };

/** What a call of n8n gives: its static data, and whether n8n says that the workflow is active. */
type Given = { readonly staticData: IDataObject; readonly isActiveInN8n: boolean };

/** In lower case, because some services change the case of a URL. */
export function newAttempt(kind: string): string {
	return `${kind}${randomUUID().replaceAll('-', '')}`;
}

/** What is known of the activation: `isNew` if the node never saved anything. */
type Activation = { asked: string; isNew: boolean } & Record<
	'interrupted' | 'saved',
	string | undefined
>;

/**
 * What each call of n8n makes of the attempt for which the node starts a scrape once: it asks for its start, and empty
 * text for none. `delete` clears it, and leaves it as `interrupted`. What n8n repeats has the same attempt.
 */
const ATTEMPTS: Record<string, (known: Activation) => string | undefined> = {
	/**
	 * A user activates the node: a new wish. n8n repeats this after a crash, and when another trigger loses its
	 * connection.
	 */
	activate: ({ asked, saved }) => asked || (saved ?? newAttempt('a')),
	/** A user saves the workflow; `delete` came just before. That asks for nothing more, unless the node is new. */
	update: ({ asked, interrupted, saved, isNew }) =>
		asked || (interrupted ?? saved ?? (isNew ? newAttempt('a') : '')),
	/** n8n starts, or another main process led. If nothing is saved, nobody knows what the user asked for. */
	init: ({ saved }) => saved,
};

/** The last ones that are done are kept, because they may be notified again. */
const MAX_DONE = 200;
/**
 * How long polls leave a scrape to a completion that began: n8n may let it wait for a slot. If it has the leads and
 * failed, a user may retry it.
 */
const BEGUN_MS = 60 * 60_000;

/** If nobody asked the own URL for so long, it may have been there. */
const FORGET_MS = 5 * 60_000;

/** The state of one node in this process. */
export class NodeState {
	/** As far as this process knows. */
	saved: Saved = { scrapes: [] };
	/** While the node is active here. The hooks of an activation know it. */
	place?: Place;
	/** The attempt that an activation asks for, until its start begins. */
	asked = '';
	/** Leads the work for the node, in the leading main process. */
	leader?: { due(time: Date): void; close(): void };
	/** Since when the own URL takes no message. */
	unreachedSince: number | undefined;
	private unreachedAt = -Infinity;
	/** The attempt of which n8n's `delete` came before it was through: for a save, or a deactivation. */
	private interrupted: string | undefined;
	/** Aborted by `delete`. What is saved of an activation then comes too late. */
	private closed = new AbortController();
	/** The completions that began here, by their attempts, and until when n8n may still run them. */
	private readonly begunUntil = new Map<string, number>();
	private lastCheck: Promise<unknown> = Promise.resolve();

	/** @param key identifies the node */
	constructor(private readonly key: string) {}

	/** Aborted when n8n deactivates the node in this process. */
	get signal(): AbortSignal {
		return this.closed.signal;
	}

	isActive({ isActiveInN8n }: Given): boolean {
		return isActiveInN8n && !this.signal.aborted;
	}

	/**
	 * `trigger()`: n8n activates the node, and this process leads. @param isOnce whether an activation asks for a start
	 * @returns the attempt to start, empty for none, and undefined if nobody knows
	 */
	open(given: Given, mode: WorkflowActivateMode, isOnce: boolean): string | undefined {
		if (mode === 'leadershipChange') this.reopen();
		// Fresh from the database here, and never again in this context.
		const { activation } = this.read(given);
		this.reopen();
		const { asked, interrupted } = this;
		const isNew = given.staticData[this.key] === undefined;
		const known = { asked, interrupted, saved: activation, isNew };
		const attempt = isOnce ? (ATTEMPTS[mode] ?? ATTEMPTS.init)?.(known) : '';
		this.asked = attempt ?? '';
		this.interrupted = undefined;
		this.unreachedSince = undefined;
		return attempt;
	}

	/** The hook `create`. If it failed, n8n 2 calls `delete`, and tries it again, but not `trigger()`. */
	activated(place: Place): void {
		if (this.leader) this.reopen();
		this.place = place;
	}

	private reopen(): void {
		if (this.signal.aborted) this.closed = new AbortController();
	}

	/** The hook `delete`: a user deactivates the node, or saves it. */
	close(given: Given): void {
		const { activation = this.interrupted, scrapes } = this.read(given);
		this.interrupted = activation;
		this.saved = { scrapes };
		delete this.place;
		this.closed.abort();
		if (given.staticData[this.key] !== undefined) this.save(given);
	}

	/**
	 * Learns what is saved: fresh from the database in `webhook()` and in `trigger()`. While the node is active here, this
	 * process knows its activation better: others save old copies, and so does n8n 1 when another trigger lost its
	 * connection.
	 */
	read({ staticData }: Given): Saved {
		const { place, saved } = this;
		const text: unknown = staticData[this.key];
		const read = jsonParse<Saved>(String(text), { fallbackValue: { scrapes: [] } });
		const known = (place && saved.activation) ?? read.activation;
		const activation = this.signal.aborted ? undefined : known;
		return (this.saved = united({ ...saved, activation }, read.scrapes));
	}

	/** Saves a message, and what this process knows. n8n keeps it reliably only in `webhook()`. */
	write(given: Given, message: Message): void {
		this.read(given);
		this.apply(message, this.isActive(given));
		this.save(given);
	}

	/**
	 * As text, because n8n watches each value of an object. Only what changed, because n8n saves static data as a whole.
	 */
	private save({ staticData }: Given): void {
		const text = JSON.stringify(this.saved);
		if (staticData[this.key] !== text) staticData[this.key] = text;
	}

	/**
	 * A message cannot replace an activation, so that nobody can ask for another start with it. That of an activation may
	 * come after its deactivation.
	 */
	private apply({ activation, through, scrapes = [] }: Message, isActive: boolean): void {
		const asked = this.saved.activation ?? (isActive ? activation : undefined);
		const isThrough = asked !== undefined && asked === through;
		this.saved = united({ ...this.saved, activation: isThrough ? '' : asked }, scrapes);
		// The message of its start may come after its notification.
		for (const { attempt } of scrapes) if (attempt !== through) this.begunUntil.delete(attempt);
	}

	/** The own URL took a message. @param saved what it says that is saved @param signal as when the message was sent */
	reached(saved: Saved, signal: AbortSignal): void {
		this.unreachedSince = undefined;
		// After a deactivation, a late reply may tell of an activation that is over.
		if (!this.place || signal.aborted) return;
		// Another node may have saved an old copy without the activation.
		this.saved = united({ ...this.saved, ...saved }, this.saved.scrapes);
	}

	/**
	 * The own URL did not take a message. This process acts on it all the same, and saves it with the next one that it
	 * takes; but not an activation, which must be saved first.
	 */
	notReached(message: Message): void {
		const now = Date.now();
		// A worker does not hear that others reached it meanwhile.
		const isLongAgo = now - this.unreachedAt > FORGET_MS;
		this.unreachedSince = isLongAgo ? now : (this.unreachedSince ?? now);
		this.unreachedAt = now;
		this.apply(message, false);
	}

	/** A completion begins here. */
	beginCompletion(attempt: string): void {
		this.begunUntil.set(attempt, Date.now() + BEGUN_MS);
	}

	/** The attempts whose completions began here, and which n8n has not run. */
	get begun(): string[] {
		const now = Date.now();
		return [...this.begunUntil].flatMap(([attempt, until]) => (now < until ? attempt : []));
	}

	/** Checks at the gate take turns. */
	async inTurn<T>(check: () => Promise<T>): Promise<T> {
		const mine = this.lastCheck.then(check);
		this.lastCheck = mine.catch(() => {});
		return await mine;
	}
}

/** Adds what another copy knows. A scrape that is done stays done. */
export function united(saved: Saved, others: Scrape[]): Saved {
	const all = new Map(saved.scrapes.map((scrape) => [scrape.attempt, scrape]));
	for (const other of others)
		if (other.isDone || !all.has(other.attempt)) all.set(other.attempt, other);
	const scrapes = [...all.values()];
	const done = scrapes.filter(({ isDone }) => isDone).slice(-MAX_DONE);
	return { ...saved, scrapes: [...done, ...scrapes.filter(({ isDone }) => !isDone)] };
}

export function scrapeOf({ scrapes }: Saved, attempt?: string): Scrape | undefined {
	return scrapes.find((scrape) => scrape.attempt === attempt);
}
