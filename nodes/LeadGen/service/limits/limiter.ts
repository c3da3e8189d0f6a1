import { throwIfStopped } from '../../pause';
import type { Call, End } from './call';
import { systemClock, type Clock } from './clock';
import { Governor } from './governor';
import { backMs, GIVE_UP_MS, shortened } from './pause';

/** No timer is left behind for longer than this. */
const SLICE_MS = 1000;
/**
 * Without a known limit, one call goes out per millisecond. After the process was busy for longer, at most this many go
 * out together.
 */
const MOST_TOGETHER = 5;

/** The calls of one run of a node. */
export interface Run {
	inFlight: number;
	/** How long the rate limit held up the run, in milliseconds. */
	waitedMs: number;
	/** How many calls of the run may be in flight at once. */
	cap: number;
	signal: AbortSignal | undefined;
	/** By path: since when the service has turned away every call of the run. */
	turnedAwaySince?: Map<string, number>;
}

/** The waiting calls of a run, the next one first. Polls have their own line. */
interface Line {
	run: Run;
	isPoll: boolean;
	calls: QueuedCall[];
}

/** What the governor and the queue need to know about a call. */
interface CallInfo {
	path: string;
	/** Whether it requests the status of a scrape. */
	isPoll?: boolean;
	isFirst?: boolean;
}

interface QueuedCall extends CallInfo {
	go: (call: Call) => void;
}

/**
 * Lets the calls of an account go out when the governor allows it. All nodes and executions in the process share it and
 * take turns: a single lookup does not wait for the thousands of another run.
 */
export class Limiter {
	private readonly governor: Governor;
	/** The lines of the runs. The one that has waited longest for its turn comes first. */
	private readonly lines: Line[] = [];
	private waiting = 0;
	private pumping = false;
	private wake: () => void = () => {};

	constructor(private readonly clock: Clock = systemClock) {
		this.governor = new Governor(clock);
	}

	/** Calls per minute; `Infinity` if only the answers of the service limit the calls. */
	get perMinute(): number {
		return this.governor.perMinute;
	}

	set perMinute(perMinute: number) {
		this.governor.perMinute = perMinute;
	}

	/** The same, including what refusals taught. */
	get knownPerMinute(): number {
		return this.governor.knownPerMinute;
	}

	/** Calls that ended within the last minute, are in flight, or wait. */
	get demand(): number {
		return this.governor.recent + this.waiting;
	}

	/**
	 * Waits for the turn of a call. The caller must report how the call ended.
	 * @param what `isFirst`: whether it goes before the calls that already wait
	 * @throws like `throwIfStopped` when the run is stopped
	 */
	async turn(run: Run, what: CallInfo): Promise<Call> {
		for (;;) {
			throwIfStopped(run.signal);
			const call = await this.turnOrStop(run, what);
			if (call) return call;
		}
	}

	/** Records the end of a call. @returns whether it makes sense to continue */
	end(run: Run, call: Call, { rateInfo: given = {}, ...end }: End): boolean {
		run.inFlight--;
		const { outcome, isFailed = false } = end;
		const { isPoll } = call;
		// Waiting for a scrape that is paid for does not end at once because a poll is told to come back late.
		const rateInfo = isPoll ? shortened(given) : given;
		this.governor.end(call, { ...end, rateInfo });
		this.wake();
		const isClosed = isFailed && !isPoll && Boolean(rateInfo.retryAfterMs);
		const isTurnedAway = outcome === 'refused' || isClosed;
		// A service may limit each of its operations separately.
		const turnedAwaySince = (run.turnedAwaySince ??= new Map<string, number>());
		if (outcome === 'accepted' && !isTurnedAway) turnedAwaySince.delete(call.path);
		if (!isTurnedAway) return true;
		const now = this.clock.now();
		const since = turnedAwaySince.get(call.path) ?? now;
		turnedAwaySince.set(call.path, since);
		return now - since < GIVE_UP_MS && backMs(rateInfo) <= GIVE_UP_MS;
	}

	/** Begins again with few calls, because further calls cannot succeed for now. */
	startOver(): void {
		this.governor.startOver();
	}

	private async turnOrStop(run: Run, what: CallInfo): Promise<Call | undefined> {
		let stop = () => {};
		const call = await new Promise<Call | undefined>((go) => {
			const leave = this.queue(run, { ...what, go });
			stop = () => {
				leave();
				go(undefined);
			};
			run.signal?.addEventListener('abort', stop);
			void this.pump();
		});
		run.signal?.removeEventListener('abort', stop);
		return call;
	}

	/** @returns a function that removes the call from its line */
	private queue(run: Run, turn: QueuedCall): () => void {
		this.waiting++;
		const { isPoll = false, isFirst } = turn;
		// Use the last line: a call that goes first has its own line, which must not give the run a second turn.
		const known = this.lines.findLast((each) => each.run === run && each.isPoll === isPoll);
		const line = isFirst || !known ? { run, isPoll, calls: [] } : known;
		line.calls.push(turn);
		if (isFirst) this.lines.unshift(line);
		else if (!known) this.lines.push(line);
		return () => {
			this.waiting--;
			line.calls.splice(line.calls.indexOf(turn), 1);
			if (line.calls.length === 0) this.lines.splice(this.lines.indexOf(line), 1);
		};
	}

	/** Sends each waiting call as soon as it may go. */
	private async pump(): Promise<void> {
		if (this.pumping) {
			this.wake();
			return;
		}
		this.pumping = true;
		let together = 1;
		while (this.lines.length > 0) {
			const polls = this.governor.pollWaitMs();
			const next = this.lines.findIndex(
				({ run, isPoll }) => run.inFlight < run.cap && (!isPoll || polls <= 0),
			);
			const isPollWaiting = this.lines.some(({ isPoll }) => isPoll);
			// If all runs are at their cap, the end of a call wakes the queue.
			const heldMs = isPollWaiting && polls > 0 ? polls : Infinity;
			const wait = next >= 0 ? this.governor.waitMs() : heldMs;
			if (wait <= 0) {
				this.letGo(next);
				if (--together > 0) continue;
				// Read answers in between: a refusal among them may stop further calls.
				const began = this.clock.now();
				await this.clock.sleep(0);
				const isFree = this.knownPerMinute === Infinity;
				together = isFree ? Math.min(MOST_TOGETHER, this.clock.now() - began) : 1;
			} else await this.sleepUntilWoken(wait, this.lines[next]?.run);
		}
		this.pumping = false;
	}

	private letGo(next: number): void {
		const [line] = this.lines.splice(next, 1);
		const turn = line?.calls.shift();
		if (!line || !turn) return;
		if (line.calls.length > 0) this.lines.push(line);
		this.waiting--;
		line.run.inFlight++;
		turn.go(this.governor.send(turn.path, line.isPoll));
	}

	private async sleepUntilWoken(ms: number, held: Run | undefined): Promise<void> {
		const began = this.clock.now();
		const woken = new Promise<void>((resolve) => (this.wake = resolve));
		await Promise.race(
			ms === Infinity ? [woken] : [woken, this.clock.sleep(Math.min(ms, SLICE_MS))],
		);
		if (held) held.waitedMs += this.clock.now() - began;
	}
}
