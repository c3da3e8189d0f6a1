import type { End } from '../../nodes/LeadGen/service/limits/policy';
import { Limiter, type Run } from '../../nodes/LeadGen/service/limits/limiter';
import { VirtualClock } from './clock';
import { CPU_MS, Processor } from './processor';
import { duration, SimulatedService, wayMs, type Said, type ServiceSettings } from './service';

export interface Scenario extends ServiceSettings {
	/** What the service is like. */
	about: string;
	calls: number;
	/** The limit that is set or published. */
	perMinute?: number;
	/** Processes on the account, each with a limiter of its own. */
	processes?: number;
	/** How much later than the one before each process begins. */
	laterMs?: number;
	/** Runs in each process, which begin together and have equally many calls. */
	runs?: number;
	/** How long other things may take that the processes do as well, as n8n does; 0 if they do none. */
	stallMs?: number;
	/** After this time, a call counts as lost; never by default. */
	timeoutMs?: number;
	/** What the process takes of the processor for a call, in milliseconds; 4 by default. */
	cpuMs?: number;
	seed?: number;
}

export interface Result {
	seconds: number;
	/** Calls that were taken. */
	taken: number;
	refused: number;
	/** Calls that were taken, and not answered in time. */
	lost: number;
	/** Calls that failed, and may have been paid for. */
	unclear: number;
	/** Calls that were not sent, or could not be. */
	notSent: number;
}

const MAX_MS = 100 * 3_600_000;
/** What the node allows for an answer by default. */
const TIMEOUT_MS = 300_000;

const OUTCOMES = {
	accepted: 'succeeded',
	refused: 'rateLimited',
	failed: 'unknown',
	broken: 'unknown',
	unreachable: 'notSent',
} as const satisfies Record<Said['outcome'], End['outcome']>;

/** The limiter of the node makes all calls of a scenario, each until it is not refused, or its run is given up. */
export async function simulate(scenario: Scenario): Promise<Result> {
	const { calls, perMinute = Infinity, processes = 1, laterMs = 0, runs = 1 } = scenario;
	const { stallMs, timeoutMs, cpuMs, seed } = scenario;
	const clock = new VirtualClock(seed);
	const service = new SimulatedService(clock, scenario);
	const info = { path: '/email/find', timeoutMs: timeoutMs ?? TIMEOUT_MS };
	let [lost, notSent] = [0, 0];

	const inTime = async (exchanging: Promise<Said>) =>
		await (timeoutMs ? Promise.race([exchanging, clock.sleep(timeoutMs)]) : exchanging);
	const makeCall = async (
		processor: Processor,
		limiter: Limiter,
		run: Run,
		end: AbortController,
	) => {
		for (;;) {
			const call = await limiter.turn(run, info, end.signal).catch(() => undefined);
			if (!call) {
				notSent++;
				return;
			}
			const said = await inTime(processor.exchange(service));
			if (!said) lost++;
			const outcome = said ? OUTCOMES[said.outcome] : 'unknown';
			const isAnswered = said?.outcome !== 'broken' && said?.outcome !== 'unreachable';
			const rateInfo = said && isAnswered ? said : undefined;
			if (!limiter.end(run, call, { outcome, rateInfo })) end.abort();
			if (outcome === 'succeeded' || outcome === 'unknown') return;
		}
	};
	const runProcess = async (process: number) => {
		const processor = new Processor(clock, stallMs, cpuMs);
		const limiter = new Limiter(processor);
		limiter.perMinute = perMinute;
		if (laterMs > 0) await clock.sleep(process * laterMs);
		const each = Math.ceil(calls / processes / runs);
		const jobs = Array.from({ length: runs }, () => {
			const run: Run = { inFlight: 0, waitedMs: 0 };
			const end = new AbortController();
			return Array.from({ length: each }, () => makeCall(processor, limiter, run, end));
		});
		await Promise.all(jobs.flat());
	};

	await clock.runUntil(Promise.all([...Array(processes).keys()].map(runProcess)), MAX_MS);
	const { taken, refused, failed } = service;
	return { seconds: clock.now() / 1000, taken, refused, lost, unclear: failed + lost, notSent };
}

/** Simulates a scenario so many times. `ofBound` is the time in relation to the bound. */
export async function simulateAll(scenario: Scenario, times: number) {
	const results: Array<Result & { ofBound: number }> = [];
	for (let seed = 1; seed <= times; seed++) {
		const result = await simulate({ ...scenario, seed });
		results.push({ ...result, ofBound: result.seconds / bound({ ...scenario, seed }) });
	}
	return results;
}

export const average = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length;

/** The seconds below which no client can be that takes the same of the processor: it knows all limits. */
function bound(scenario: Scenario): number {
	const { calls, processes = 1, limits = () => [], cpuMs = CPU_MS, seed } = scenario;
	const way = wayMs(scenario);
	const all = limits();
	const chance = new VirtualClock(seed);
	/** When each call is over. */
	const inFlight: number[] = [];
	let [now, last] = [0, 0];
	/** Ends the call that is over first, if that is by now, or if nothing else can go on. */
	const endOne = (isByNow: boolean): boolean => {
		const first = Math.min(...inFlight);
		if (inFlight.length === 0 || (isByNow && first > now)) return false;
		now = Math.max(now, first);
		inFlight.splice(inFlight.indexOf(first), 1);
		for (const limit of all) limit.end?.();
		return true;
	};
	for (let call = 0; call < calls; call++) {
		now += cpuMs / processes;
		for (;;) {
			while (endOne(true));
			const wait = Math.max(0, ...all.map((limit) => limit.waitMs(now)));
			if (wait <= 0) break;
			if (wait < Infinity) now += wait;
			else endOne(false);
		}
		const inside = Math.max(0, ...all.map((limit) => limit.take(now)));
		const over = now + inside + duration(scenario, chance) - 2 * way;
		inFlight.push(over);
		last = Math.max(last, over + 2 * way);
	}
	return last / 1000;
}
