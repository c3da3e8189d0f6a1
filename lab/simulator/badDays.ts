import { sliding, type Limit } from '../rateLimits';
import type { Fault } from './service';
import type { Scenario } from './simulate';

/** What a run may cost on a bad day of the service. */
export interface Price {
	/** The greatest number of calls whose outcome is not known. */
	unclear?: number;
	/** The greatest time in relation to a service that does not fail. */
	ofCalm?: number;
	/** The greatest time in relation to the bound. */
	ofBound?: number;
	refused?: number;
}

const none = () => [];
const always =
	(fault: Fault): (() => Fault) =>
	() =>
		fault;
const singly = (share: number) => always(({ chance }) => (chance < share ? 'failed' : undefined));

/** Fails for so long from the moment on when so many calls have been taken. */
function outage(after: number, ms: number, kind: ReturnType<Fault> = 'failed'): () => Fault {
	return () => {
		let end: number | undefined;
		return ({ taken, now }) => {
			if (taken >= after) end ??= now + ms;
			return end !== undefined && now < end ? kind : undefined;
		};
	};
}

const breaksAbove = (most: number) =>
	always(({ inFlight }) => (inFlight >= most ? 'broken' : undefined));
const eachRefused = (nth: number) =>
	always(({ index }) => (index % nth === nth - 1 ? 'refused' : undefined));

/** One limit until so many calls are taken, another one from then on. */
function rising(before: Limit, count: number, after: Limit): Limit {
	let taken = 0;
	return {
		waitMs: (now) => (taken < count ? before : after).waitMs(now),
		take(now) {
			taken++;
			return before.take(now) + after.take(now);
		},
	};
}

/** What a service does on a bad day, and what runs may lose by it. */
export const badDays: Record<string, Scenario & { price: Price }> = Object.fromEntries(
	(
		[
			{
				about: '502 for good after 600 of 2,500 calls',
				...{ calls: 2500, fault: outage(600, Infinity), price: { unclear: 150 } },
			},
			{
				about: '502 for good after 600 of 2,500 calls, as slow as answers',
				...{ calls: 2500, fault: outage(600, Infinity), slowFaults: true },
				price: { unclear: 150 },
			},
			{
				about: '502 for good after 600 of 2,500 calls, answers take 2 s',
				...{ calls: 2500, fault: outage(600, Infinity), latency: { ms: 2000 } },
				price: { unclear: 150 },
			},
			{
				about: '503 for 20 s after 400 of 1,500 calls',
				...{ calls: 1500, fault: outage(400, 20_000), price: { unclear: 150 } },
			},
			{
				about: '503 for 20 s after 400 of 1,500 calls, as slow as answers',
				...{ calls: 1500, fault: outage(400, 20_000), slowFaults: true, price: { unclear: 150 } },
			},
			{
				about: '503 for 20 s after 400 of 1,500 calls, answers take 2 s',
				...{ calls: 1500, fault: outage(400, 20_000), latency: { ms: 2000 } },
				price: { unclear: 150 },
			},
			{
				about: '502 for 0.1 s after 500 of 2,000 calls',
				...{ calls: 2000, fault: outage(500, 100), price: { unclear: 60, ofCalm: 1.5 } },
			},
			{
				about: 'unreachable for 30 s after 300 of 1,000 calls',
				...{ calls: 1000, fault: outage(300, 30_000, 'unreachable'), price: { unclear: 0 } },
			},
			{
				about: '502 from the first call on',
				...{ calls: 1000, fault: outage(0, Infinity), price: { unclear: 100 } },
			},
			{
				about: '502 from the first call on, as slow as answers of 2 s',
				...{ calls: 1000, fault: outage(0, Infinity), latency: { ms: 2000 }, slowFaults: true },
				price: { unclear: 100 },
			},
			{
				about: '502 for 10 s from the first call on',
				...{ calls: 1000, fault: outage(0, 10_000), price: { unclear: 100 } },
			},
			{
				about: 'unreachable from the first call on',
				...{ calls: 100, fault: outage(0, Infinity, 'unreachable'), price: { unclear: 0 } },
			},
			...[20, 150, 250].map((most) => ({
				about: `connections break beyond ${String(most)} at once, answers take 2.5 s`,
				...{ calls: 1200, fault: breaksAbove(most), latency: { ms: 2500 } },
				price: { unclear: 180 },
			})),
			{
				about: 'connections break beyond 20 at once',
				...{ calls: 1200, fault: breaksAbove(20), price: { unclear: 180 } },
			},
			{
				about: 'throughput falls beyond 50 at once, breaks after 30 s',
				...{ calls: 1200, latency: { ms: 1000 }, timeoutMs: 30_000 },
				slowdown: (inFlight: number) => Math.max(1, (inFlight / 50) ** 1.5),
				// Until the first calls time out, nothing shows that there are too many.
				price: { unclear: 250 },
			},
			...[60, 60.5].map((after) => ({
				about: `Pro, 25 s of 502 after 60 of 200 rows${after > 60 ? ', as slow as answers' : ''}`,
				...{ calls: 200, perMinute: 300, fault: outage(Math.floor(after), 25_000) },
				slowFaults: after > 60,
				// Of calls in flight for 100 ms, 25 fail before anybody knows.
				price: { unclear: after > 60 ? 40 : 25 },
			})),
			...[0.01, 0.02, 0.05].flatMap((share) =>
				[100, 2000].map((ms) => ({
					about: `${String(share * 100)} % fail at random, answers take ${String(ms)} ms`,
					...{ calls: 2000, fault: singly(share), latency: { ms } },
					price: { ofCalm: share < 0.05 ? 1.2 : 1.5 },
				})),
			),
			{
				about: '5 % fail at random, as slow as answers',
				...{ calls: 2000, fault: singly(0.05), slowFaults: true, price: { ofCalm: 1.5 } },
			},
			...([undefined, 'retryAfter'] as const).flatMap((says) =>
				[
					{ nth: 25, calls: 800, ofCalm: 2 },
					{ nth: 10, calls: 1000, ofCalm: 1.5 },
				].flatMap(({ nth, calls, ofCalm }) =>
					[false, true].map((slowFaults) => ({
						about: `each ${String(nth)}th call is refused${says ? ', Retry-After: 1' : ''}${slowFaults ? ', as slow as answers' : ''}`,
						...{ calls, fault: eachRefused(nth), says, slowFaults, price: { ofCalm } },
					})),
				),
			),
			...[false, true].map((slowRefusals) => ({
				about: `5 in any second, 20 after 100 of 400 calls${slowRefusals ? ', refused as slowly as answered' : ''}`,
				...{ calls: 400, limits: () => [rising(sliding(5, 1000), 100, sliding(20, 1000))] },
				...{ slowRefusals, price: { ofBound: 1.3 } },
			})),
			...[8, 12].flatMap((cpuMs) =>
				[false, true].flatMap((isBusy) =>
					[
						{
							perMinute: 6000,
							limits: () => [sliding(100, 1000)],
							calls: 1000,
							kind: '100 in any second under 6,000 a minute',
						},
						{ limits: () => [sliding(50, 10_000)], calls: 150, kind: '50 in any 10 s' },
						{ limits: () => [sliding(1200, 60_000)], calls: 1500, kind: '1,200 in any minute' },
					].map(({ kind, ...more }) => ({
						about: `${kind}, ${String(cpuMs)} ms of the processor for a call${isBusy ? ', busy' : ''}`,
						...more,
						...{ cpuMs, isBusy, slowRefusals: true, price: { ofBound: 1.15, refused: 60 } },
					})),
				),
			),
		] as Array<Omit<Scenario, 'limits'> & Partial<Pick<Scenario, 'limits'>> & { price: Price }>
	).map((each) => [each.about, { limits: none, ...each }]),
);
