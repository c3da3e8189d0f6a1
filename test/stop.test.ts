/** What a run leaves behind that a person or n8n stops. */
import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import { onAbort, pause, takeTurns } from '../nodes/LeadGen/common/pause';
import { START, START_AND_WAIT, VERIFY, keepGoing } from './given';
import { until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

/** The lines of n8n's log. */
let lines: string[];

beforeEach(() => {
	lines = [];
	const log = (line: string) => void lines.push(line);
	const logger = Container.get(Logger);
	jest.spyOn(logger, 'info').mockImplementation(log);
	jest.spyOn(logger, 'warn').mockImplementation(log);
});
afterEach(() => {
	jest.restoreAllMocks();
});

const many = (count: number) => Array.from({ length: count }, (_, index) => ({ index }));

test('A run that is stopped says which scrapes it started: with the execution, and in the log', async () => {
	sandbox.set({ latencyMs: 20, job: { durationMs: 600_000 } });
	const areStarted = () => sandbox.jobs.length >= 30;
	const executionId = '4711';
	const run = await service.runUntil(areStarted, START, { limit: 1 }, many(1000), { executionId });

	// The calls in flight go on.
	await until(() => lines.length === sandbox.jobs.length);
	const all = sandbox.jobs.map(({ scrapeId }) => scrapeId);
	expect(all.length).toBeLessThan(500);
	const said = /^LeadGen: started scrape (\S+) for item \d+ in execution 4711$/;
	const logged = lines.map((line) => said.exec(line)?.[1]);
	expect(logged.toSorted()).toEqual(all.toSorted());
	const { metadata = {} } = run.data.resultData;
	await until(() => 'paid_calls' in metadata);
	const { scrapes_started: saved = '', ...others } = metadata;
	expect(others).toEqual({ paid_calls: String(all.length) });
	// n8n keeps 250 characters. The log has all.
	expect(saved).toHaveLength(250);
	const savedIds = saved.replace(/\S*…$/, '').trim().split(' ');
	expect(all).toEqual(expect.arrayContaining(savedIds));
	expect(savedIds.length).toBeGreaterThan(3);
});

test.each([
	['poll', { path: '/status', times: 1 }],
	['start', { path: '/start', bodyIncludes: '"limit":6', times: 1 }],
])(
	'The scrapes of all tries are saved when n8n runs the node again after a refused %s',
	async (_, match) => {
		sandbox.set({
			job: { durationMs: 600_000 },
			faults: [{ kind: 'envelope', code: 'PAUSED', status: 400, match }],
		});
		const polls = () => sandbox.requests.filter(({ path }) => path === '/status');
		const parameters = { limit: '={{ $json.index + 5 }}', options: { pollInterval: 1 } };
		const isTriedAgain = () => polls().length >= 5;
		const run = await service.runUntil(isTriedAgain, START_AND_WAIT, parameters, many(2), {
			retryOnFail: true,
		});
		expect(sandbox.jobs).toHaveLength(2);
		const { metadata = {} } = run.data.resultData;
		const ids = sandbox.jobs.map(({ scrapeId }) => scrapeId);
		expect(metadata.scrapes_started?.split(' ').toSorted()).toEqual(ids.toSorted());
		await until(() => metadata.paid_calls === '2');
	},
);

test('A start without an answer is in the log', async () => {
	sandbox.set({ faults: [{ kind: 'resetAfterWork', match: { bodyIncludes: '"limit":2' } }] });
	await service.run(START, { limit: '={{ $json.index + 1 }}' }, many(2), {
		...keepGoing,
		executionId: '4712',
	});
	expect(lines.filter((line) => line.includes('scrape'))).toEqual([
		expect.stringMatching(/started scrape \S+ for item 0 in execution 4712/),
		expect.stringContaining('may have started a scrape for item 1 in execution 4712'),
	]);
});

test('The signal that stops a run has one listener for all that wait for it, and none when nothing does', async () => {
	const stop = new AbortController();
	const { signal } = stop;
	const heard: number[] = [];
	const forgets = [1, 2, 3].map((each) => onAbort(signal, () => heard.push(each)));
	const pauses = Promise.allSettled(many(50).map(() => pause(60_000, signal)));
	expect(getEventListeners(signal, 'abort')).toHaveLength(1);
	forgets[1]?.();
	stop.abort();
	expect(heard).toEqual([1, 3]);
	expect((await pauses).every(({ status }) => status === 'rejected')).toBe(true);
	for (const forget of forgets) forget();
	expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('An answer leaves no listener behind', async () => {
	const heard = jest.spyOn(AbortSignal.prototype, 'addEventListener');
	sandbox.set({ job: { durationMs: 5000 } });
	await service.run(START_AND_WAIT, { limit: 1, options: { pollInterval: 1 } }, many(3));
	const signals = (heard.mock.contexts as AbortSignal[]).filter(({ aborted }) => !aborted);
	expect(signals.length).toBeGreaterThan(9);
	expect(signals.flatMap((each) => getEventListeners(each, 'abort'))).toEqual([]);
});

test('Work in turns lets the process do other things in between, and goes on in its order', async () => {
	const turn = takeTurns(() => 1);
	const done: Array<number | string> = [];
	const others = setInterval(() => done.push('other'), 1);
	const parts = [...Array(20).keys()];
	await Promise.all(
		parts.map(async (part) => {
			await turn();
			done.push(part);
			// By then, the timer is due.
			const end = performance.now() + 3;
			while (performance.now() < end);
		}),
	);
	clearInterval(others);
	expect(done.filter((each) => each !== 'other')).toEqual(parts);
	expect(done.join()).toMatch(/((other,)+(\d+,){4}){4}/);
});

describe('Lookups that are in flight when a run is stopped', () => {
	const parameters = { email: '=a{{ $json.index }}@acme.com' };
	const sent = () => sandbox.requests.map(({ body }) => (body as { email: string }).email);
	const answered = () => sandbox.requests.filter(({ answeredAt }) => answeredAt);

	/** Runs so many again, and expects that each was sent once, and is paid for once. */
	async function expectOnceAfterRetry(count: number) {
		const { items } = await service.run(VERIFY, parameters, many(count));
		const addresses = many(count).map(({ index }) => `a${String(index)}@acme.com`);
		expect(items.map(({ json }) => json.email)).toEqual(addresses);
		expect(sent().toSorted()).toEqual(addresses.toSorted());
		expect(sandbox.credits()).toBe(100_000 - count);
	}

	test('are paid for once: Retry sends none of them again, and none is sent after Stop', async () => {
		sandbox.set({ latencyMs: 1000 });
		// The sandbox takes one connection in each round of the event loop, so that requests come late.
		let begun = 0;
		const count = () => {
			begun++;
			// At most 1,000 are in flight, so some of the others wait, however fast the machine is.
			if (begun === 300) sandbox.set({ latencyMs: 60_000 });
		};
		subscribe('http.client.request.start', count);
		let begunBefore = 0;
		const isHalfDone = () => {
			begunBefore = begun;
			return answered().length >= 50 && sent().length >= 400;
		};
		await service.runUntil(isHalfDone, VERIFY, parameters, many(1500));
		await until(() => answered().length === begun);
		unsubscribe('http.client.request.start', count);
		// What n8n prepares at this moment is sent.
		expect(begun - begunBefore).toBeLessThan(10);
		expect(sent().length).toBeLessThan(1500);

		await expectOnceAfterRetry(1500);
	});

	test('are waited for by a Retry that begins before their answers', async () => {
		sandbox.set({ latencyMs: 1000 });
		await service.runUntil(() => sent().length >= 15, VERIFY, parameters, many(50));
		await expectOnceAfterRetry(50);
	});
});
