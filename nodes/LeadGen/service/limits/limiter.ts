import type { ServiceError } from '../../common/errors';
import { onAbort, throwIfStopped } from '../../common/pause';
import type { ServiceRequest } from '../request';
import { Announced, backMs } from './announced';
import { Brake } from './brake';
import { Learned } from './learned';
import { isAnswered, MAX_UNANSWERED_MS, MINUTE_MS, systemClock } from './policy';
import type { Call, CallInfo, Clock, End, Policy } from './policy';
import { maxPolls, Quota } from './quota';
import { MEMORY, Traffic } from './traffic';

/** After so many answers without a refusal, few calls are in vain if several go out before answers are read. */
const MANY_ANSWERS = 100;
/**
 * If no call can be sent, and the account never had an answer, its base URL may be wrong. A run ends after this time.
 */
const MAX_UNREACHABLE_MS = 8000;
/** After so long without calls to a path, a run has all its patience. Until then, it has what the last run left. */
const IDLE_MS = 2 * MINUTE_MS;
/** No timer is left behind for longer than this. */
const MAX_TIMER_MS = 1000;

/** The calls of one run of a node. */
export interface Run {
	inFlight: number;
	/** How long the rate limit held up the run, in milliseconds. */
	waitedMs: number;
	/** When it wanted to make its first call. */
	beganAt?: number;
	/** Ends it, because it makes no sense to wait for the answer to such a request. */
	giveUp?: (request: ServiceRequest, error: ServiceError, backMs: number) => void;
}

/** What is known of a path, because a service may limit or fail in one of its operations only. */
interface Path {
	readonly brake: Brake;
	/** All that may hold back a call to it. */
	readonly policies: readonly Policy[];
	/** Since when no call is answered, and the last end. */
	unanswered: { since: number; endedAt: number } | undefined;
}

/** The waiting calls of a run to one path, the next one first. */
interface Line extends Required<CallInfo> {
	run: Run;
	/** Each gets the call when it may be sent, or nothing when nobody wants it any more. */
	waiting: Set<(call?: Call) => void>;
}

/**
 * Lets each call of an account go out when no policy holds it back. All nodes and executions in the process share it
 * and take turns. So a single lookup does not wait for all calls of a large run, but it may wait for a minute if those
 * have used up the limit.
 */
export class Limiter {
	/** Calls per minute; `Infinity` if only the answers of the service limit the calls. */
	perMinute = Infinity;
	private readonly account = new Quota(
		() => true,
		() => this.perMinute,
	);
	private readonly quotas = [
		this.account,
		new Quota(
			({ isPoll }) => isPoll,
			() => maxPolls(this.knownPerMinute),
		),
	];
	private readonly traffic = new Traffic(this.account.counted);
	private readonly announced = new Announced(this.traffic);
	private readonly learned: Learned;
	private readonly policies: readonly Policy[];
	private readonly paths = new Map<string, Path>();
	/** Calls in flight that may still fail or be refused, the oldest first. */
	private readonly undecided = new Set<Call>();
	/** How long the slowest of the last failures and refusals took; 0 before the first. */
	private failureMs = 0;
	/** The run that has waited longest for its turn comes first. */
	private lines: Line[] = [];
	private pumping = false;
	private wake: () => void = () => {};

	constructor(private readonly clock: Clock = systemClock) {
		const { traffic } = this;
		this.learned = new Learned(traffic, clock, () => this.perMinute);
		this.policies = [traffic, ...this.quotas, this.announced, this.learned];
	}

	/** How many calls per minute may go to a path, as far as quotas limit them. */
	perMinuteTo(path: string): number {
		const call = { path, isPoll: false };
		return Math.min(
			...this.quotas.map((quota) => (quota.isFor(call) ? quota.perMinute() : Infinity)),
		);
	}

	/** The same as `perMinute`, including what refusals taught. */
	get knownPerMinute(): number {
		return Math.min(this.perMinute, this.learned.perMinute);
	}

	/**
	 * How many calls to make before answers are read: one of them may stop further calls. Once many have shown no limit,
	 * that is rare, and several at once are faster.
	 */
	get atOnce(): number {
		const { total, inFlight } = this.traffic;
		return this.learned.perMinute === Infinity && total - inFlight > MANY_ANSWERS ? 4 : 1;
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
		const now = this.clock.now();
		run.beganAt ??= now;
		const known = this.known(info);
		const { endedAt = now } = known.unanswered ?? {};
		const isIdle = now - endedAt > IDLE_MS && !this.lines.some(({ path }) => path === info.path);
		// Nobody had a call to make, so nothing is known of that time.
		if (isIdle) known.unanswered = undefined;
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
		const known = this.known(call);
		for (const policy of known.policies) policy.ended?.(call, end, now);
		const isUndecided = this.undecided.delete(call);
		this.wake();
		if (end.outcome === 'cancelled') return true;
		if (isAnswered(end)) {
			if (isUndecided) this.passed(call, now);
			known.unanswered = undefined;
			return true;
		}
		this.failureMs = Math.max(now - call.sentAt, MEMORY * this.failureMs);
		const { since } = known.unanswered ?? { since: now };
		known.unanswered = { since, endedAt: now };
		// A scrape that is waited for is paid, so each run has the patience for it.
		const sinceThen = call.isPoll ? Math.max(since, run.beganAt ?? since) : since;
		return now - sinceThen < this.patienceMs(call, end);
	}

	/**
	 * The runs with calls that wait for a path. If one of them waits in vain, so do the others. Of those that wait for
	 * scrapes, only those that had all their patience.
	 */
	runsTo(path: string, isPoll: boolean): Run[] {
		const latest = isPoll ? this.clock.now() - MAX_UNANSWERED_MS : Infinity;
		return this.lines
			.filter((line) => line.path === path && line.isPoll === isPoll)
			.flatMap(({ run }) => ((run.beganAt ?? 0) <= latest ? run : []));
	}

	private known({ path }: CallInfo): Path {
		const known = this.paths.get(path);
		if (known) return known;
		const brake = new Brake(this.traffic, this.clock);
		const created = { brake, policies: [...this.policies, brake], unanswered: undefined };
		this.paths.set(path, created);
		return created;
	}

	/** For how long it makes sense to wait for an answer. */
	private patienceMs(call: Call, { outcome, rateInfo }: End): number {
		if (outcome === 'notSent' && !this.traffic.hasAnswered) return MAX_UNREACHABLE_MS;
		return call.isPoll || backMs(rateInfo) <= MAX_UNANSWERED_MS ? MAX_UNANSWERED_MS : 0;
	}

	private passed(call: Call, now: number): void {
		this.undecided.delete(call);
		for (const policy of this.known(call).policies) policy.passed?.(call, now);
	}

	private lineOf(run: Run, info: CallInfo): Line {
		const { path, isPoll = false, timeoutMs = MAX_UNANSWERED_MS, hasBegun = false } = info;
		const same = this.lines.find(
			(line) =>
				line.run === run &&
				line.path === path &&
				line.isPoll === isPoll &&
				line.hasBegun === hasBegun,
		);
		if (same) return same;
		const line: Line = { run, path, isPoll, timeoutMs, hasBegun, waiting: new Set() };
		const first = hasBegun ? this.lines.findIndex((each) => each.run === run) : -1;
		this.lines.splice(first < 0 ? this.lines.length : first, 0, line);
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
			if (waitMs > 0) await this.sleepUntilWoken(waitMs);
			else if (sent % this.atOnce === 0) await this.clock.nextTask();
		}
		this.pumping = false;
	}

	/** Sends the next call that may go. @returns how long it has to wait, if none may go */
	private sendNext(): number {
		const now = this.clock.now();
		// Failures come about as fast as the last ones. So a slow call will be answered.
		for (const call of this.undecided) {
			if (this.failureMs === 0 || now - call.sentAt < 2 * this.failureMs) break;
			this.passed(call, now);
		}
		let waitMs = Infinity;
		for (const line of this.lines) {
			const waits = this.known(line).policies.map((each) => each.waitMs(now, line));
			waitMs = Math.min(waitMs, Math.max(...waits));
			if (waitMs > 0) continue;
			this.letGo(line);
			break;
		}
		return waitMs;
	}

	private letGo(line: Line): void {
		const { run, waiting, ...info } = line;
		const [go = () => {}] = waiting;
		// It is the turn of the other runs, and then of the other lines of this run, those of items that began first.
		const own = this.lines.filter((each) => each.run === run && each !== line).concat(line);
		this.lines = [
			...this.lines.filter((each) => each.run !== run),
			...own.filter(({ hasBegun }) => hasBegun),
			...own.filter(({ hasBegun }) => !hasBegun),
		];
		this.leave(line, go);
		run.inFlight++;
		const { total, inFlight } = this.traffic;
		const call = { ...info, sentAt: this.clock.now(), before: total, inFlight: inFlight + 1 };
		this.undecided.add(call);
		for (const policy of this.known(call).policies) policy.sent?.(call);
		go(call);
	}

	private async sleepUntilWoken(ms: number): Promise<void> {
		const began = this.clock.now();
		const [first] = this.lines;
		const held = first && this.known(first).brake.isOn ? undefined : first?.run;
		const woken = new Promise<void>((resolve) => (this.wake = resolve));
		await Promise.race([woken, this.clock.sleep(Math.min(ms, MAX_TIMER_MS))]);
		// Without this moment, many calls come a little too early.
		await this.clock.sleep(0);
		if (held) held.waitedMs += this.clock.now() - began;
	}
}
