import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import type { INodeParameters } from 'n8n-workflow';
import { until, useService } from './service';

const service = useService();
const { sandbox } = service;

/** The lines of n8n's log. */
let lines: string[] = [];

beforeEach(() => {
	lines = [];
	const logger = Container.get(Logger);
	const log = (line: string) => void lines.push(line);
	jest.spyOn(logger, 'info').mockImplementation(log);
	jest.spyOn(logger, 'warn').mockImplementation(log);
});
afterEach(() => {
	jest.restoreAllMocks();
});

describe.each(['start', 'startAndWait'])('A run of %s that a person or n8n stops', (operation) => {
	/** Presses Stop once so many scrapes were started. */
	async function stopAfter(scrapes: number, latencyMs: number, options: INodeParameters) {
		sandbox.set({ latencyMs, job: { durationMs: 600_000, scrapeIdStyle: 'uuid' } });
		let stop = () => {};
		const running = service.run(
			['scrape', operation],
			{ limit: 1, options },
			Array.from({ length: 300 }, (_, index) => ({ index })),
			{ executionId: '4711', onStart: (press) => (stop = press) },
		);
		await until(() => sandbox.jobs.length >= scrapes);
		stop();
		return (await running).run;
	}

	test('says which scrapes it started: with the execution, and in the log', async () => {
		const run = await stopAfter(30, 20, { parallel: 5 });

		expect(run.status).toBe('canceled');
		await until(() => lines.some((line) => line.includes('stopped. It started')));
		const all = sandbox.jobs.map(({ scrapeId }) => scrapeId);
		expect(all.length).toBeLessThan(60);
		const text = lines.join('\n');
		const started = all.filter((id) =>
			new RegExp(`LeadGen: started scrape ${id} for item \\d+ in execution 4711`).test(text),
		);
		// n8n cuts the calls in flight.
		const unclear = lines.filter((line) =>
			/the service may have started a scrape for item \d+ in execution 4711/.test(line),
		).length;
		expect(started.length + unclear).toBeGreaterThanOrEqual(all.length);
		expect(unclear).toBeLessThanOrEqual(5);
		expect(lines.at(-1)).toBe(
			`LeadGen: stopped. It started ${String(started.length)} scrapes: ${started.join(', ')}. ${String(unclear)} more may have been started.`,
		);
		const saved = Object.entries(run.data.resultData.metadata ?? {});
		expect(saved.map(([name]) => name.replace(/_\d+$/, ''))).toEqual(
			saved.map(() => 'scrapes_started'),
		);
		const ids = saved.flatMap(([, text]) => text.split(' '));
		expect(started).toEqual(expect.arrayContaining(ids));
		expect(ids.length).toBeGreaterThanOrEqual(started.length - 5);
	});

	test('names as many as n8n keeps, and the log', async () => {
		const run = await stopAfter(150, 5, {});
		const saved = Object.values(run.data.resultData.metadata ?? {});
		expect(saved).toHaveLength(8);
		expect(saved.at(-1)).toBe('More are in the log of n8n.');
		for (const text of saved) expect(text.length).toBeLessThanOrEqual(255);
	});
});

test('A start without an answer is in the log, and nothing is saved with a run that ends', async () => {
	sandbox.set({ faults: [{ kind: 'resetAfterWork', match: { bodyIncludes: '"limit":2' } }] });
	const { run } = await service.run(
		['scrape', 'start'],
		{ limit: '={{ $json.limit }}' },
		[{ limit: 1 }, { limit: 2 }],
		{ executionId: '4712', onError: 'continueRegularOutput' },
	);
	expect(run.data.resultData.metadata).toBeUndefined();
	expect(lines.filter((line) => line.includes('scrape'))).toEqual([
		expect.stringMatching(/started scrape \S+ for item 0 in execution 4712/),
		expect.stringContaining('may have started a scrape for item 1 in execution 4712'),
	]);
});
