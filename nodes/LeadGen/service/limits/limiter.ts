import { throwIfStopped } from '../../pause';
import type { Call, End } from './call';
import { systemClock, type Clock } from './clock';
import { Governor } from './governor';
import { HOPELESS_MS } from './pause';

/** A timer is left behind for no longer than this. */
const SLICE_MS = 1000;
/** Without a known limit, one call goes out in a millisecond; where the process was busy for longer, at most so many together. */
const MOST_TOGETHER = 5;

/** The calls of one run of a node. */
export interface Run {
	inFlight: number;
	/** How long the limit held up the run, in milliseconds. */
	waitedMs: number;
	/** How many calls of the run may be under way at once. */
	cap: number;
	signal: AbortSignal | undefined;
	/** By path: since when every call of the run was refused. */
	refusedSince?: Map<string, number>;
}

/** The calls of a run that wait, the next one first; polls have a line of their own. */
interface Line {
	run: Run;
	isPoll: boolean;
	calls: Turn[];
}

/** What the governor and the queue must know of a call. */
interface What {
	path: string;
	/** Whether it looks at the status of a scrape. */
	isPoll?: boolean;
	isFirst?: boolean;
}

interface Turn extends What {
	go: (call: Call) => void;
}

/**
 * Lets the calls of an account go out, when the governor says so. All nodes and executions in the process
 * share it, and take turns: a single lookup does not wait for the thousands of another run.
 */
export class Limiter {
	private readonly governor: Governor;
	/** By run; the one that waits for its turn for longest comes first. */
	private readonly lines: Line[] = [];
	private waiting = 0;
	private pumping = false;
	private wake: () => void = () => {};

	constructor(private readonly clock: Clock = systemClock) {
		this.governor = new Governor(clock);
	}

	/** Calls per minute; `Infinity` where there is nothing to keep but what the answers say. */
	get perMinute(): number {
		return this.governor.perMinute;
	}

	set perMinute(perMinute: number) {
		this.governor.perMinute = perMinute;
	}

	/** The same, with what refusals taught. */
	get knownPerMinute(): number {
		return this.governor.knownPerMinute;
	}

	/** Calls sent within the last minute, under way, or waiting. */
	get demand(): number {
		return this.governor.recent + this.waiting;
	}

	/**
	 * Waits for the turn of a call. The caller says how it ended.
	 * @param what `isFirst`: whether it goes before the calls that wait already
	 * @throws as `throwIfStopped` does, when the run is stopped
	 */
	async turn(run: Run, what: What): Promise<Call> {
		for (;;) {
			throwIfStopped(run.signal);
			const call = await this.turnOrStop(run, what);
			if (call) return call;
		}
	}

	/** A call of a run is over. @returns whether it makes sense to go on */
	end(run: Run, call: Call, end: End): boolean {
		run.inFlight--;
		this.governor.end(call, end);
		this.wake();
		// A service may limit each of its operations by itself.
		const refusedSince = (run.refusedSince ??= new Map<string, number>());
		if (end.outcome === 'taken') refusedSince.delete(call.path);
		if (end.outcome !== 'refused') return true;
		const now = this.clock.now();
		const since = refusedSince.get(call.path) ?? now;
		refusedSince.set(call.path, since);
		return now - since < HOPELESS_MS;
	}

	/** No further call would bring anything for now. */
	startOver(): void {
		this.governor.startOver();
	}

	private async turnOrStop(run: Run, what: What): Promise<Call | undefined> {
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

	/** @returns what takes the call out of its line again */
	private queue(run: Run, turn: Turn): () => void {
		this.waiting++;
		const { isPoll = false, isFirst } = turn;
		// The last one: what goes first has a line of its own, and the run must not get a second turn for it.
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

	/** Sends the waiting calls, as soon as each may go. */
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
			// With all runs at their cap, a call that is over wakes the queue.
			const heldMs = isPollWaiting && polls > 0 ? polls : Infinity;
			const wait = next >= 0 ? this.governor.waitMs() : heldMs;
			if (wait <= 0) {
				this.letGo(next);
				if (--together > 0) continue;
				// Answers are read in between: a refusal among them may say that no more should go out.
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
