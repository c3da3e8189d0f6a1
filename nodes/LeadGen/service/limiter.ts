import { ManualExecutionCancelledError, sleep } from 'n8n-workflow';
import type { RateNews } from './rateHeaders';
import { TimeLog } from './timeLog';

/** Limits are written per minute (interface 8). */
const MINUTE_MS = 60_000;

/** Clocks and timers are not exact, so a window is kept a little longer than it is. */
const MARGIN_MS = 5;

/** Pauses after refusals that name no time: the first one, and the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** From here on, the number of calls under way is no longer held back after a refusal. */
const MOST_BURST = 64;

/** Windows that are worth a guess even if their end is named. */
const SHORT_MS = 10_000;

/** What is tried with each window that passes without a refusal. */
const GROWTH = 2;

/** Without a single success for this long, more patience does not help, and no longer pause is kept. */
const HOPELESS_MS = 10 * MINUTE_MS;

/** The calls of one run of a node. */
export interface Run {
	inFlight: number;
	/** How long the limit held up the run, in milliseconds. */
	waitedMs: number;
	/** How many calls of the run may be under way at once. */
	cap: () => number;
	signal: AbortSignal | undefined;
	/** Since when every call of the run was refused. */
	refusedSince?: number;
}

/** The calls of a run that wait, the next one first. */
interface Line {
	run: Run;
	calls: Array<() => void>;
}

/**
 * Decides when a call of an account may be sent. All nodes and executions in the process share it, and
 * take turns: a single lookup does not wait for the thousands of another run.
 *
 * - Up to the limit, calls go out at once; then each waits until one of them is a minute old. The minute
 *   counts from the answer, since the service may have counted the call at any time until then: so the
 *   limit is kept whether the service counts in fixed or sliding windows or has a token bucket.
 * - If the answers say how many requests are left, that counts instead.
 * - A refusal pauses all calls: for the time it names, or for a growing one. Then a single call goes
 *   ahead, and each that is let through makes room for one more.
 * - Where refusals name no time, or a short one, we keep to the number of calls that the service took in
 *   the time until it let one through again, and to some more with each such time that passes without a
 *   refusal.
 */
export class Limiter {
	/** Calls per minute; `Infinity` where there is nothing to keep but what the answers say. */
	perMinute = Infinity;

	/** By run; the one that waits for its turn for longest comes first. */
	private readonly lines: Line[] = [];
	private waiting = 0;
	private pumping = false;
	private wake: () => void = () => {};

	private inFlight = 0;
	/** When each call of the last minute was over. */
	private readonly calls = new TimeLog();

	/** What the last answer said is left, and until when; `left` shrinks with each call that is sent. */
	private told: { left: number; until: number } | undefined;
	private pausedUntil = 0;
	private refusedAt = 0;
	/** Pauses without a success between them. */
	private refusals = 0;
	/** Whether the last refusal said how long to wait. */
	private isNamed = false;
	/** Calls that may be under way at once, after a refusal. */
	private burst = Infinity;
	/** When the service last took a call. */
	private tookAt = 0;
	/** When the service last let us go on. */
	private goingSince = 0;
	private learned: { limit: number; ms: number; growAt: number } | undefined;

	/** @param now milliseconds since 1970 */
	constructor(private readonly now: () => number = Date.now) {}

	/** Calls sent within the last minute, under way, or waiting. */
	get demand(): number {
		this.calls.forgetBefore(this.now() - MINUTE_MS);
		return this.calls.size + this.inFlight + this.waiting;
	}

	/**
	 * Waits for the turn of a call. The caller says `answered`, `refused` or `failed` when it is over.
	 * @param first whether it goes before the calls that wait already
	 * @throws ManualExecutionCancelledError when a person presses Stop
	 */
	async turn(run: Run, first = false): Promise<void> {
		if (run.signal?.aborted) throw new ManualExecutionCancelledError('');
		await new Promise<void>((resolve, reject) => {
			const stop = () => {
				this.leave(run, go);
				reject(new ManualExecutionCancelledError(''));
			};
			const go = () => {
				run.signal?.removeEventListener('abort', stop);
				resolve();
			};
			run.signal?.addEventListener('abort', stop);
			this.queue(run, go, first);
			void this.pump();
		});
	}

	private queue(run: Run, go: () => void, first: boolean): void {
		this.waiting++;
		// The last one: what goes first has a line of its own, and the run must not get a second turn for it.
		const line = this.lines.findLast((each) => each.run === run);
		if (first) this.lines.unshift({ run, calls: [go] });
		else if (line) line.calls.push(go);
		else this.lines.push({ run, calls: [go] });
	}

	private leave(run: Run, go: () => void): void {
		const at = this.lines.findIndex((line) => line.run === run && line.calls.includes(go));
		const { calls = [] } = this.lines[at] ?? {};
		calls.splice(calls.indexOf(go), 1);
		if (calls.length === 0) this.lines.splice(at, 1);
		this.waiting--;
	}

	/** A call that was sent at `sentAt` was answered, and not refused for its rate. */
	answered(run: Run, sentAt: number, news: RateNews): void {
		const now = this.release(run);
		this.calls.add(now);
		this.hear(news, now);
		if (sentAt < this.refusedAt) return;
		this.tookAt = now;
		this.burst = this.burst < MOST_BURST ? this.burst + 1 : Infinity;
		if (this.refusals > 0) this.learn(now);
	}

	/** A call got no answer. @param counted whether the service may have counted it */
	failed(run: Run, counted: boolean): void {
		const now = this.release(run);
		if (counted) this.calls.add(now);
	}

	/**
	 * A call was refused for its rate (interface 7, `RATE_LIMIT_EXCEEDED`).
	 * @returns whether it makes sense to try again
	 */
	refused(run: Run, news: RateNews): boolean {
		const now = this.release(run);
		this.hear(news, now);
		this.refusedAt = now;
		const { refusedSince = 0 } = run;
		run.refusedSince = refusedSince > this.tookAt ? refusedSince : now;

		// The refusals of calls that were under way together are one.
		const isNew = now >= this.pausedUntil;
		if (isNew) this.refusals++;
		// A time that is over already says nothing.
		const named = (news.retryAfterMs ?? news.resetMs) || undefined;
		this.isNamed = named !== undefined;
		this.burst = 1;
		const growing = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.refusals - 1));
		if (named !== undefined)
			this.pausedUntil = Math.max(
				this.pausedUntil,
				now + Math.min(named, HOPELESS_MS) + jitter(100),
			);
		else if (isNew) this.pausedUntil = now + growing * 0.75 + jitter(growing / 2);
		return now - run.refusedSince < HOPELESS_MS;
	}

	private release(run: Run): number {
		run.inFlight--;
		this.inFlight--;
		this.wake();
		return this.now();
	}

	private hear({ remaining, resetMs }: RateNews, now: number): void {
		this.told =
			remaining === undefined || resetMs === undefined
				? undefined
				: // The calls under way may not be counted in it yet.
					{
						left: remaining - this.inFlight,
						until: now + Math.min(resetMs, HOPELESS_MS) + MARGIN_MS,
					};
	}

	/** The first success after a refusal shows what the service takes: this many calls in this time. */
	private learn(now: number): void {
		this.calls.forgetBefore(now - MINUTE_MS);
		const taken = this.calls.since(this.goingSince).slice(0, -1);
		const ms = Math.max(1, now - (taken[0] ?? this.goingSince));
		// A long window that names its end needs no guess; a short one is better not run into each time.
		const isUseful = ms <= (this.isNamed ? SHORT_MS : MINUTE_MS);
		// What the service took in the last minute is the least that it takes in a minute.
		const inMinute = this.calls.size - 1;
		const isLess = taken.length / ms < inMinute / MINUTE_MS;
		const seen = isLess ? { limit: inMinute, ms: MINUTE_MS } : { limit: taken.length, ms };
		this.learned = isUseful
			? { limit: Math.max(1, seen.limit), ms: seen.ms, growAt: now + seen.ms }
			: undefined;
		this.goingSince = now;
		this.refusals = 0;
	}

	private grow(now: number): void {
		const { learned } = this;
		if (!learned || this.refusals > 0 || now < learned.growAt) return;
		learned.limit = Math.ceil(learned.limit * GROWTH);
		learned.growAt = now + learned.ms;
		if (learned.limit / learned.ms >= this.perMinute / MINUTE_MS) this.learned = undefined;
	}

	/** How long the next call has to wait; `Infinity` means until another call is over. */
	private waitMs(now: number): number {
		if (now < this.pausedUntil) return this.pausedUntil - now;
		if (this.inFlight >= this.burst) return Infinity;
		if (this.told) {
			if (now >= this.told.until) this.told = { left: 1, until: Infinity };
			if (this.told.left > 0) return 0;
			if (this.told.until < Infinity || this.inFlight > 0) return this.told.until - now;
			this.told = undefined;
		}
		this.grow(now);
		return Math.max(
			this.windowWaitMs(this.perMinute, MINUTE_MS, now),
			this.learned ? this.windowWaitMs(this.learned.limit, this.learned.ms, now) : 0,
		);
	}

	/** How long until there are fewer than `limit` calls within the last `ms` milliseconds. */
	private windowWaitMs(limit: number, ms: number, now: number): number {
		const free = limit - this.inFlight;
		if (free <= 0) return Infinity;
		const oldest = free === Infinity ? undefined : this.calls.fromEnd(free);
		return oldest === undefined ? 0 : Math.max(0, oldest + ms + MARGIN_MS - now);
	}

	/** Sends the waiting calls, one by one, as soon as each may go. */
	private async pump(): Promise<void> {
		if (this.pumping) {
			this.wake();
			return;
		}
		this.pumping = true;
		while (this.lines.length > 0) {
			const now = this.now();
			this.calls.forgetBefore(now - MINUTE_MS - MARGIN_MS);
			const next = this.lines.findIndex(({ run }) => run.inFlight < run.cap());
			const wait = next === -1 ? Infinity : this.waitMs(now);
			if (wait > 0) {
				await this.sleepUntilWoken(wait);
				const held = this.lines[next];
				if (held) held.run.waitedMs += this.now() - now;
				continue;
			}
			const [line] = this.lines.splice(next, 1);
			const go = line?.calls.shift();
			if (!line || !go) continue;
			if (line.calls.length > 0) this.lines.push(line);
			this.waiting--;
			line.run.inFlight++;
			this.inFlight++;
			if (this.told) this.told.left--;
			go();
		}
		this.pumping = false;
	}

	private async sleepUntilWoken(ms: number): Promise<void> {
		const woken = new Promise<void>((resolve) => (this.wake = resolve));
		// In slices, so that no timer of a minute is left behind.
		await Promise.race(ms === Infinity ? [woken] : [woken, sleep(Math.min(ms, 1000))]);
	}
}

/** A random part of `ms`, so that several processes on one account do not go on at the same moment. */
function jitter(ms: number): number {
	return Math.random() * ms;
}
