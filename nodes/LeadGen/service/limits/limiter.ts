import { onAbort, throwIfStopped } from '../../common/pause';
import { Learned } from './learned';
import { GIVE_UP_MS, isAccepted, MINUTE_MS, systemClock } from './policy';
import type { Call, CallInfo, Clock, End, Policy } from './policy';
import { Published } from './published';
import { maxPolls, Quota } from './quota';
import { backMs, Told } from './told';
import { Traffic } from './traffic';

/** After so many answers without a refusal, few calls are in vain if several go out before answers are read. */
const MANY_ANSWERS = 100;
/** No timer is left behind for longer than this. */
const MAX_TIMER_MS = 1000;

/** The calls of one run of a node. */
export interface Run {
	inFlight: number;
	/** How long the rate limit held up the run, in milliseconds. */
	waitedMs: number;
	/** By path: since when the service has turned away every call of the run. */
	turnedAwaySince?: Map<string, number>;
}

/** The waiting calls of a run to one path, the next one first. */
interface Line extends Required<CallInfo> {
	run: Run;
	/** Each gets the call when it may be sent, or nothing when nobody wants it any more. */
	waiting: Set<(call?: Call) => void>;
}

/**
 * Lets each call of an account go out when no policy holds it back. All nodes and executions in the process share it and
 * take turns: a single lookup does not wait for the thousands of another run.
 */
export class Limiter {
	private readonly traffic = new Traffic();
	private readonly learned: Learned;
	private readonly policies: readonly Policy[];
	/** The run that has waited longest for its turn comes first. */
	private lines: Line[] = [];
	private pumping = false;
	private wake: () => void = () => {};

	constructor(private readonly clock: Clock = systemClock) {
		const { traffic } = this;
		const polls = new Quota(({ isPoll }) => (isPoll ? maxPolls(this.knownPerMinute) : Infinity));
		this.learned = new Learned(traffic, clock);
		this.policies = [traffic, new Published(traffic), new Told(traffic), polls, this.learned];
	}

	/** Calls per minute; `Infinity` if only the answers of the service limit the calls. */
	get perMinute(): number {
		return this.traffic.perMinute;
	}

	set perMinute(perMinute: number) {
		this.traffic.perMinute = perMinute;
	}

	/** The same, including what refusals taught. */
	get knownPerMinute(): number {
		return Math.min(this.perMinute, this.learned.perMinute);
	}

	/** Calls that ended within the last minute, are in flight, or wait. */
	get demand(): number {
		const waiting = this.lines.reduce((sum, line) => sum + line.waiting.size, 0);
		return this.traffic.recent(this.clock.now(), MINUTE_MS) + waiting;
	}

	/**
	 * Waits for the turn of a call. The caller must report how the call ended.
	 * @throws like `throwIfStopped` when the signal is aborted
	 */
	async turn(run: Run, info: CallInfo, signal?: AbortSignal): Promise<Call> {
		throwIfStopped(signal);
		const line = this.lineOf(run, info);
		let forget = () => {};
		const call = await new Promise<Call | undefined>((go) => {
			line.waiting.add(go);
			forget = onAbort(signal, () => {
				this.leave(line, go);
				go(undefined);
			});
			void this.pump();
		});
		forget();
		return call ?? (await this.turn(run, info, signal));
	}

	/**
	 * Records the end of a call. The next call goes out in a later task, so that the caller can act on the answer before.
	 * @returns whether it makes sense to continue
	 */
	end(run: Run, call: Call, end: End): boolean {
		run.inFlight--;
		const now = this.clock.now();
		for (const policy of this.policies) policy.ended?.(call, end, now);
		this.wake();
		const { outcome, rateInfo } = end;
		if (outcome === 'notSent') return false;
		const isClosed = outcome === 'unknown' && !call.isPoll && Boolean(rateInfo?.retryAfterMs);
		if (outcome !== 'rateLimited' && !isClosed) {
			// A success shows that waiting makes sense, also to the runs that wait.
			const runs = [run, ...this.lines.map((line) => line.run)];
			if (isAccepted(end)) for (const each of runs) each.turnedAwaySince?.delete(call.path);
			return true;
		}
		// A service may limit each of its operations separately.
		const turnedAwaySince = (run.turnedAwaySince ??= new Map<string, number>());
		const since = turnedAwaySince.get(call.path) ?? now;
		turnedAwaySince.set(call.path, since);
		// By mistake, a long time may be milliseconds, and a refused call costs nothing. A scrape that is waited for is paid.
		const refusedMs = isClosed ? Infinity : now - (this.learned.pause?.since ?? now);
		const isPatient = call.isPoll || refusedMs < MINUTE_MS;
		return now - since < GIVE_UP_MS && (isPatient || backMs(rateInfo) <= GIVE_UP_MS);
	}

	private lineOf(run: Run, { path, isPoll = false, timeoutMs = GIVE_UP_MS }: CallInfo): Line {
		const isSame = (line: Line) => line.run === run && line.path === path && line.isPoll === isPoll;
		const known = this.lines.find(isSame);
		if (known) return known;
		const line: Line = { run, path, isPoll, timeoutMs, waiting: new Set() };
		this.lines.push(line);
		return line;
	}

	private leave(line: Line, go: (call?: Call) => void): void {
		line.waiting.delete(go);
		if (line.waiting.size === 0) this.lines = this.lines.filter((each) => each !== line);
	}

	/** Sends each waiting call as soon as it may go. */
	private async pump(): Promise<void> {
		this.wake();
		if (this.pumping) return;
		this.pumping = true;
		for (let sent = 1; this.lines.length > 0; sent++) {
			const waitMs = this.sendNext();
			// Answers are read in between: one of them may stop further calls. Once many have shown no limit, that is rare.
			const { total, inFlight } = this.traffic;
			const atOnce = this.learned.perMinute === Infinity && total - inFlight > MANY_ANSWERS ? 4 : 1;
			if (waitMs > 0) await this.sleepUntilWoken(waitMs);
			else if (sent % atOnce === 0) await this.clock.nextTask();
		}
		this.pumping = false;
	}

	/** Sends the next call that may go. @returns how long it has to wait, if none may go */
	private sendNext(): number {
		const now = this.clock.now();
		// If all runs are at their cap, the end of a call wakes the queue.
		let waitMs = Infinity;
		for (const line of this.lines) {
			waitMs = Math.min(waitMs, Math.max(...this.policies.map((each) => each.waitMs(now, line))));
			if (waitMs > 0) continue;
			this.letGo(line);
			break;
		}
		return waitMs;
	}

	private letGo(line: Line): void {
		const { run, path, isPoll, timeoutMs, waiting } = line;
		const [go = () => {}] = waiting;
		const others = this.lines.filter((each) => each.run === run && each !== line);
		this.lines = [...this.lines.filter((each) => each.run !== run), ...others, line];
		this.leave(line, go);
		run.inFlight++;
		const { total: before } = this.traffic;
		const call: Call = { path, isPoll, timeoutMs, sentAt: this.clock.now(), before };
		for (const policy of this.policies) policy.sent?.(call);
		go(call);
	}

	private async sleepUntilWoken(ms: number): Promise<void> {
		const began = this.clock.now();
		const held = this.lines[0]?.run;
		const woken = new Promise<void>((resolve) => (this.wake = resolve));
		await Promise.race([woken, this.clock.sleep(Math.min(ms, MAX_TIMER_MS))]);
		// Without this moment, many calls come a little too early.
		await this.clock.sleep(0);
		if (held) held.waitedMs += this.clock.now() - began;
	}
}
