import type { End } from '../../nodes/LeadGen/service/limits/policy';
import { Limiter, type Run } from '../../nodes/LeadGen/service/limits/limiter';
import { VirtualClock } from './clock';
import { NotAttemptedError } from '../../nodes/LeadGen/common/errors';
import { CPU_MS, Processor, USUAL_STALL_MS } from './processor';
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
	/** Whether the processes do other things as well, as n8n does. */
	isBusy?: boolean;
	/** The longest of these in milliseconds; 200 by default. */
	stallMs?: number;
	/** After this time, a call counts as lost; never by default. */
	timeoutMs?: number;
	/** What the process takes of the processor for a call, in milliseconds; 4 by default. */
	cpuMs?: number;
	seed?: number;
}

export interface Result {
	seconds: number;
	refused: number;
	noCredits: number;
	/** Calls that were taken, and not answered in time. */
	lost: number;
	/** Calls that failed, and may have been paid for. */
	unclear: number;
	/** Calls that were not sent, or could not be. */
	notSent: number;
	/** Runs that ended because the service refused everything. */
	givenUp: number;
	/** When each call was taken, in seconds. */
	taken: number[];
	/** By process and run, the end of each call in seconds. */
	ends: number[][][];
}

const MAX_MS = 100 * 3_600_000;

/** The node makes all calls of a scenario, each until it is not refused, or its run is given up. */
export async function simulate(scenario: Scenario): Promise<Result> {
	const { calls, processes = 1, laterMs = 0, runs = 1, seed = 1 } = scenario;
	const { isBusy = false, stallMs = USUAL_STALL_MS, cpuMs } = scenario;
	const clock = new VirtualClock(seed);
	const service = new SimulatedService(clock, scenario);
	const ends: number[][][] = [];
	const each = Math.ceil(calls / processes / runs);
	const count = { lost: 0, notSent: 0, givenUp: 0 };
	const all = Array.from({ length: processes }, async (_, process) => {
		const processor = new Processor(clock, isBusy ? stallMs : 0, cpuMs);
		const call = caller(processor, clock, service, scenario, count);
		ends[process] = Array.from({ length: runs }, () => []);
		if (laterMs > 0) await clock.sleep(process * laterMs);
		const jobs = Array.from({ length: runs }, (_, run) =>
			Array.from({ length: each }, async () => {
				const outcome = await call(run);
				if (outcome === 'accepted') ends[process]?.[run]?.push(clock.now() / 1000);
			}),
		);
		await Promise.all(jobs.flat());
	});
	await clock.runUntil(Promise.all(all), MAX_MS);
	return {
		seconds: clock.now() / 1000,
		refused: service.refused,
		noCredits: service.noCredits,
		...count,
		unclear: service.failed.length + count.lost,
		taken: service.taken.map((ms) => ms / 1000),
		ends,
	};
}

const OUTCOMES = {
	accepted: 'succeeded',
	refused: 'rateLimited',
	noCredits: 'refused',
	failed: 'unknown',
	broken: 'unknown',
	unreachable: 'notSent',
} as const satisfies Record<Said['outcome'], End['outcome']>;

/** What the node allows for an answer by default. */
const TIMEOUT_MS = 300_000;

/** @returns what makes one call of a run when its turn has come, with the limiter of the node */
function caller(
	processor: Processor,
	clock: VirtualClock,
	service: SimulatedService,
	{ perMinute = Infinity, runs = 1, timeoutMs }: Scenario,
	count: Pick<Result, 'lost' | 'notSent' | 'givenUp'>,
): (run: number) => Promise<Said['outcome'] | 'lost' | 'givenUp'> {
	const limiter = new Limiter(processor);
	limiter.perMinute = perMinute;
	const all = Array.from({ length: runs }, () => {
		const end = new AbortController();
		const run: Run = { inFlight: 0, waitedMs: 0 };
		return { run, end };
	});
	let halted = false;
	const exchange = async () => {
		const exchanging = processor.exchange(service);
		if (timeoutMs === undefined) return await exchanging;
		return await Promise.race([exchanging, clock.sleep(timeoutMs)]);
	};
	const info = { path: '/email/find', isPoll: false, timeoutMs: timeoutMs ?? TIMEOUT_MS };
	return async (index) => {
		const { run, end } = all[index] ?? {};
		if (!run || !end) throw new Error('There is no such run');
		for (;;) {
			const call = await limiter.turn(run, info, end.signal).catch(() => undefined);
			if (!call) {
				count.notSent++;
				return 'givenUp';
			}
			if (halted) {
				limiter.end(run, call, { outcome: 'cancelled' });
				return 'noCredits';
			}
			const said = await exchange();
			if (!said) {
				count.lost++;
				limiter.end(run, call, { outcome: 'unknown' });
				return 'lost';
			}
			const outcome = OUTCOMES[said.outcome];
			const isAnswered = said.outcome !== 'broken' && said.outcome !== 'unreachable';
			const goesOn = limiter.end(run, call, { outcome, rateInfo: isAnswered ? said : undefined });
			if (!goesOn && !end.signal.aborted) {
				count.givenUp++;
				end.abort(new NotAttemptedError('Given up', ''));
			}
			if (said.outcome === 'noCredits') halted = true;
			if (said.outcome !== 'refused' && said.outcome !== 'unreachable') return said.outcome;
		}
	};
}

/** The seconds below which no client can be that takes the same of the processor: it knows all limits. */
export function bound(scenario: Scenario): number {
	const { calls, processes = 1, seed } = scenario;
	const way = wayMs(scenario);
	const all = scenario.limits();
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
		now += (scenario.cpuMs ?? CPU_MS) / processes;
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
