import { latencyOf } from '../sandbox/latency';
import { defaultSettings } from '../sandbox/settings';
import type { Plan } from './case';

/** As in life: half of the answers take less than a second, a few take very long. */
const SCATTERED = { medianMs: 1000, sigma: 1 };
const SCATTERED_CALLS = 1000;

function slowestMs(): number {
	const { seed } = defaultSettings();
	const all = Array.from({ length: SCATTERED_CALLS }, (_, call) =>
		latencyOf(SCATTERED, seed, call + 1),
	);
	return Math.max(...all);
}

/** Services that limit in other ways than the plans say, and that say nothing of it. */
export function limitCases(rounds: number): Plan[] {
	const both: Plan['variants'] = [
		['leadgen', rounds],
		['http', rounds],
	];
	const of = (rows: number) => ({ items: rows, distinct: rows, variants: both });
	return [
		{
			title: 'A: no limit, answers take 2 s',
			about: 'An Enterprise account, nothing set in the credential.',
			...of(1000),
			aim: { ofHttp: 1, refused: 0 },
			boundMs: 2000,
			bound: '2 s, if calls took no processor time',
			task: { plan: 'enterprise', service: { latencyMs: 2000 } },
		},
		{
			title: 'A2: no limit, answers take 8 s',
			about: 'An Enterprise account, nothing set in the credential.',
			...of(500),
			aim: { ofHttp: 1, refused: 0 },
			boundMs: 8000,
			bound: '8 s, if calls took no processor time',
			task: { plan: 'enterprise', service: { latencyMs: 8000 } },
		},
		{
			title: 'B: 300 a minute, enforced as 5 in any second',
			about: 'A Pro account. 100 ms until each answer and each refusal.',
			...of(150),
			aim: { ofBound: 1.1, refused: 60 },
			boundMs: 29_100,
			bound: '⌊149 / 5⌋ × 1 s + 100 ms',
			task: {
				plan: 'pro',
				service: {
					latencyMs: 100,
					rateLimit: { kind: 'sliding', perMinute: 5, windowMs: 1000 },
				},
			},
		},
		{
			title: 'C: 6,000 a minute, enforced as 100 in any second',
			about: 'An Enterprise account, 6,000 set in the credential. 100 ms until each answer.',
			...of(1000),
			aim: { ofBound: 1.1, refused: 200 },
			boundMs: 9100,
			bound: '⌊999 / 100⌋ × 1 s + 100 ms',
			task: {
				plan: 'enterprise',
				credential: { plan: 'enterprise', requestsPerMinute: 6000 },
				service: {
					latencyMs: 100,
					rateLimit: { kind: 'sliding', perMinute: 100, windowMs: 1000 },
				},
			},
		},
		{
			title: 'D: 60 in any minute, found out by the node',
			about: 'A Starter account, and a credential that detects the plan. 100 ms until each answer.',
			...of(90),
			aim: { ofBound: 1.02, refused: 0 },
			boundMs: 60_100,
			bound: '⌊89 / 60⌋ × 60 s + 100 ms',
			task: {
				plan: 'starter',
				credential: { plan: 'auto', requestsPerMinute: 0 },
				service: { latencyMs: 100, rateLimit: { kind: 'sliding' } },
			},
		},
		{
			title: 'E: a token bucket of 10 that gains 5 a second',
			about: 'A Pro account. 100 ms until each answer.',
			...of(150),
			aim: { ofBound: 1.1, refused: 60 },
			boundMs: 28_100,
			bound: '(150 − 10) / 5 s + 100 ms',
			task: {
				plan: 'pro',
				service: {
					latencyMs: 100,
					rateLimit: { kind: 'tokenBucket', perMinute: 10, windowMs: 2000 },
				},
			},
		},
		{
			title: 'F: ten calls in flight at most',
			about:
				'An Enterprise account, nothing set. 200 ms until each answer, none until a refusal. The node does not learn a number of calls in flight; _Parallel Requests_ sets it.',
			...of(300),
			aim: { ofBound: 1.35, refused: 60 },
			boundMs: 6000,
			bound: '300 / 10 × 200 ms',
			task: {
				plan: 'enterprise',
				service: { latencyMs: 200, rateLimit: { maxInFlight: 10, refusalMs: 0 } },
			},
		},
		{
			title: 'G: 1,200 in any minute',
			about: 'An Enterprise account, nothing set. 100 ms until each answer.',
			...of(1500),
			aim: { ofBound: 1.05, refused: 75 },
			boundMs: 60_100,
			bound: '⌊1,499 / 1,200⌋ × 60 s + 100 ms',
			task: {
				plan: 'enterprise',
				service: {
					latencyMs: 100,
					rateLimit: { kind: 'sliding', enterprisePerMinute: 1200 },
				},
			},
		},
		{
			title: 'M: no limit, lognormal answers around 1 s',
			about: 'An Enterprise account, nothing set in the credential.',
			...of(SCATTERED_CALLS),
			aim: { ofHttp: 1, refused: 0 },
			boundMs: slowestMs(),
			bound: 'the slowest answer, if calls took no processor time',
			task: { plan: 'enterprise', service: { latencyMs: SCATTERED } },
		},
		{
			title: 'Credits for 50 of 300 rows',
			about: 'An Enterprise account with 50 credits. 100 ms until each answer.',
			...of(300),
			bought: 50,
			aim: { vain: 64 },
			boundMs: 100,
			bound: '100 ms, if calls took no processor time',
			task: { plan: 'enterprise', credits: 50, service: { latencyMs: 100 } },
		},
	];
}
