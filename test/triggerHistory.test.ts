import fc from 'fast-check';
import { begin, clock, copies, loadCopies, QUIET } from './standIn/begin';
import { idOf, type Execution, type TriggerNode } from './standIn/node';
import { SETTING, thrown, type Setting, type World } from './standIn/world';

/**
 * Takes the trigger through random histories. A failure prints its history; `TRIGGER_HISTORY` takes it to be
 * lived through again, `TRIGGER_HISTORY_RUNS` how many there are, and `FAST_CHECK_SEED` others.
 */

const MINUTE = 60_000;
/** In 20 minutes: for the activation, and for each start. */
const MOST_OWN_CALLS = 10;
/** What the trigger calls of n8n all the time. Each can throw. */
const CALLS = [
	...['URL', 'credential', 'deduplication', 'logger', 'parameter'],
	...['request', 'request to the service', 'static data', 'time zone'],
];
const { TRIGGER_HISTORY, TRIGGER_HISTORY_PATH, TRIGGER_HISTORY_RUNS } = process.env;

beforeAll(loadCopies);

interface Event {
	/** When it happens: after so much time, or after so many calls of the trigger if they are finite. */
	wait: number;
	calls: number;
	what: keyof World['events'];
	pick: number;
	ms: number;
}

type History = Setting & { events: Event[] };

const ms = fc.oneof(fc.nat(500), fc.nat(10_000), fc.nat(10_000), fc.nat(3 * MINUTE));
const event: fc.Arbitrary<Event> = fc.record({
	wait: ms,
	// It is at its calls that a crash can do most.
	calls: fc.oneof(
		...[fc.constant(Infinity), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 90 })],
	),
	what: fc.constantFrom(
		...(['crash', 'crash', 'power', 'power', 'outage', 'outage', 'leader'] as const),
		...(['stop', 'activate', 'deactivate', 'save', 'change'] as const),
		...(['reconnect', 'writeBack', 'scrape'] as const),
	),
	pick: fc.nat(1000),
	ms,
});
const history = fc.record({ ...SETTING, events: fc.array(event, { maxLength: 10, size: 'max' }) });
const calm = fc.record({ ...SETTING, starts: fc.constant<[]>([]), faults: fc.constant<[]>([]) });

async function live({ events, ...setting }: History): Promise<World> {
	const here = begin(setting);
	for (const event of events) {
		const enough = here.calls + event.calls;
		await clock.pass(enough < Infinity ? MINUTE : event.wait, () => here.calls >= enough);
		here.events[event.what](event.pick, event.ms);
	}
	await clock.pass(10_000);
	await here.heal();
	// Completions may be under way when a person retries what a crash caught.
	await clock.pass(here.between(0, 5 * MINUTE));
	for (const node of here.nodes) node.retryCrashed();
	const healed = clock.now;
	const lost = () => here.nodes.flatMap((node) => missing(node, healed));
	for (let left = 24; left > 0; left--) {
		await clock.pass(5 * MINUTE);
		if (left <= 20 && lost().length === 0) break;
	}
	here.wrong.push(...lost(), ...here.nodes.flatMap(repeated), ...here.nodes.flatMap(foreign));
	return here;
}

/** What should have run the workflow, or have been told, and did not. */
function missing(node: TriggerNode, healed: number): string[] {
	const { executions, scrapes, sent, workflow } = node;
	const hasRun = (id: string) => executions.some((each) => idOf(each) === id && isThrough(each));
	const lost = scrapes.filter(({ id, finishedAt, isNotified }) => {
		const isDue = node.isKnown(id) || (isNotified && !workflow.hasWrittenBack);
		return finishedAt < healed && isDue && !hasRun(id);
	});
	const untold = sent.filter(({ attempt, at }) => {
		const ids = scrapes.filter((each) => each.attempt === attempt).map(({ id }) => id);
		const isTold = hasRun(`start ${attempt}`) || ids.some((id) => node.isKnown(id) || hasRun(id));
		return at < healed - 3 * MINUTE && node.isKnown(attempt) && !isTold;
	});
	return [
		...lost.map(({ id, isNotified }) => `${id} did not run; notified: ${String(isNotified)}`),
		...untold.map(({ attempt }) => `nothing was said of ${attempt}`),
	];
}

/** Whether it passed the gate. */
function isThrough({ result }: Execution): boolean {
	return result === 'passed' || result === 'failed';
}

/**
 * What passed the gate more than once, but for two at the same moment in two processes, as n8n's deduplication is not
 * atomic, and for what it could not check there.
 */
function repeated({ executions }: TriggerNode): string[] {
	const passed = executions.filter(isThrough);
	return passed.flatMap((each, index) => {
		const earlier = passed.slice(0, index).find((other) => idOf(other) === idOf(each));
		if (!earlier || idOf(each) === 'no delivery') return [];
		const has = (what: 'isBroken' | 'isUnchecked') => each[what] || earlier[what];
		const isElsewhere = each.process !== earlier.process;
		const isExcused =
			has('isBroken') || (isElsewhere && (has('isUnchecked') || each.from <= earlier.to));
		return isExcused ? [] : [`${idOf(each)} passed the gate twice`];
	});
}

/** What ran the workflow of one node, and belongs to another one. */
function foreign({ id, executions, scrapes }: TriggerNode): string[] {
	const own = new Set(scrapes.map((scrape) => scrape.id));
	const ids = executions.map(idOf).filter((each) => each.startsWith('scrape-') && !own.has(each));
	return ids.map((each) => `${each} ran the workflow of ${id}`);
}

test('Whatever happens, nothing is paid for twice, lost or delivered twice', async () => {
	const parse = (text: string) =>
		fc.constant(JSON.parse(text.replaceAll('null', '1e999')) as History);
	const property = fc.asyncProperty(
		TRIGGER_HISTORY === undefined ? history : parse(TRIGGER_HISTORY),
		async (given) => {
			const { wrong, log } = await live(given);
			if (wrong.length > 0) throw new Error([...wrong, ...log].join('\n'));
		},
	);
	await fc.assert(property, {
		numRuns: Number(TRIGGER_HISTORY_RUNS ?? 600),
		path: TRIGGER_HISTORY_PATH,
		endOnFailure: true,
	});
	const counts = [...thrown].sort().map(([what, count]) => `${what} ${String(count)}`);
	process.stdout.write(`Calls to n8n that threw: ${counts.join(', ')}\n`);
	if (TRIGGER_HISTORY === undefined)
		expect([...thrown.keys()]).toEqual(expect.arrayContaining(CALLS));
}, 7_200_000);

/** Histories that went wrong once. */
const KNOWN: Array<[what: string, history: History]> = [
	[
		'is saved when n8n stops just after it, beside another trigger of the workflow',
		{
			...{ ...QUIET, seed: 527392066, schedule: 'cron', second: 'sameWorkflow' },
			starts: ['notDone'],
			events: [
				{ wait: 295, calls: 81, what: 'save', pick: 690, ms: 4063 },
				{ wait: 415, calls: 36, what: 'stop', pick: 343, ms: 2261 },
			],
		},
	],
	[
		'is saved when one of two main processes stops seconds after it',
		{
			...{ ...QUIET, seed: 206487042, schedule: 'cron', second: 'sameWorkflow', topology: 'multi' },
			starts: ['rate', 'ok'],
			events: [{ wait: 3957, calls: Infinity, what: 'stop', pick: 216, ms: 4135 }],
		},
	],
	[
		'is saved when n8n stops in the moment in which it is sent',
		{
			...{ ...QUIET, seed: 2147483625, version: 1, starts: ['unconnected', 'rate', 'rate'] },
			events: [{ wait: 4158, calls: 50, what: 'stop', pick: 236, ms: 7457 }],
		},
	],
	[
		'is sent once though n8n could not activate another trigger of the workflow, and crashed',
		{
			...{ ...QUIET, seed: 1011331899, second: 'sameWorkflow', topology: 'multi' },
			starts: ['lost'],
			faults: [
				{ from: 2, count: 3 },
				{ from: 124, count: 1 },
				{ from: 163, count: 3 },
				{ from: 175, count: 4 },
			],
			events: [
				{ wait: 7262, calls: Infinity, what: 'leader', pick: 391, ms: 647 },
				{ wait: 472, calls: 18, what: 'crash', pick: 121, ms: 0 },
				{ wait: 66, calls: Infinity, what: 'save', pick: 398, ms: 11 },
				{ wait: 5224, calls: Infinity, what: 'crash', pick: 352, ms: 2989 },
			],
		},
	],
	[
		'is sent once for new filters, though two main processes lead for a moment and its answer is lost',
		{
			...{ ...QUIET, seed: 1200588026, schedule: 'cron', topology: 'multi', version: 1 },
			starts: ['slow', 'cut', 'ok'],
			events: [
				{ wait: 9988, calls: 86, what: 'save', pick: 31, ms: 255 },
				{ wait: 10, calls: 25, what: 'leader', pick: 311, ms: 9969 },
				{ wait: 6772, calls: 1, what: 'change', pick: 646, ms: 706 },
			],
		},
	],
];

test.each(KNOWN)('A start %s', async (_what, given) => {
	const { wrong, log } = await live(given);
	expect([...wrong, ...log]).toEqual(log);
});

test('What became of a start is saved though n8n takes no new requests', async () => {
	const here = begin({ ...QUIET, seed: 4, starts: ['slow'] });
	const [node] = here.nodes;
	const { sent, workflow } = node;
	await clock.pass(MINUTE, () => sent.length === 1);
	await clock.pass(100);
	here.fail('url', 10 * MINUTE);
	await clock.pass(5 * MINUTE, () => node.isKnown('scrape-0000'));
	await clock.pass(15_000);
	expect(here.log.filter((line) => line.includes('notification'))).toEqual([]);
	expect(sent).toHaveLength(1);
	expect(workflow.saved).toContain('scrape-0000');
});

test('Where nothing happens, the node works and seldom calls itself', async () => {
	const property = fc.asyncProperty(calm, async (setting) => {
		const here = begin(setting);
		await clock.pass(20 * MINUTE);
		for (const { ownCalls, sent } of here.nodes) {
			// Otherwise the histories would prove nothing.
			const isAlive = ownCalls > 0 && sent.length > 0 === (setting.mode === 'startScrape');
			const isCalm = ownCalls <= MOST_OWN_CALLS * (1 + sent.length);
			if (!isAlive || !isCalm) throw new Error([ownCalls, ...here.log].join('\n'));
		}
		expect(here.nodes.flatMap(foreign)).toEqual([]);
	});
	// Where other processes receive, too, each look at a scrape that ran for long once took a call.
	const long: Setting = { ...QUIET, seed: -469575914, topology: 'queue', version: 1 };
	await fc.assert(property, { numRuns: 50, examples: [[long]] });
});

test('A retry of an execution that a crash caught ends, if the completion ran the workflow since', async () => {
	const here = begin({ ...QUIET, seed: 4 });
	const [node] = here.nodes;
	const { executions } = node;
	const results = () => executions.map(({ result = 'crashed' }) => result);
	await clock.pass(20 * MINUTE, () => executions[0]?.process !== undefined);
	here.events.crash(0, 1000);
	await clock.pass(10 * MINUTE);
	expect(results()).toEqual(['crashed', 'passed']);
	node.retryCrashed();
	await clock.pass(MINUTE);
	expect(results()).toEqual(['crashed', 'passed', 'dropped']);
});

test('Each outage of the own URL is told once', async () => {
	const here = begin({ ...QUIET, schedule: 'cron' });
	const told: number[] = [];
	for (let outages = 0; outages < 2; outages++) {
		await clock.pass(6 * MINUTE);
		// A start is due in this time.
		here.fail('url', 8 * MINUTE);
		await clock.pass(8 * MINUTE);
		told.push(here.nodes[0].executions.filter(({ json }) => 'leadGenNotice' in json).length);
	}
	expect(told).toEqual([1, 2]);
});

test.each([1, 2] as const)(
	'After a top-up the next activation starts a scrape: n8n %i',
	async (version) => {
		const here = begin({ ...QUIET, version });
		here.service.credits = 0;
		await clock.pass(5000);
		expect(here.nodes[0].sent).toEqual([]);
		here.service.credits = 100;
		here.events.deactivate();
		await clock.pass(1000);
		here.events.activate();
		await clock.pass(5000);
		expect(here.nodes[0].sent).toHaveLength(1);
	},
);

test('What n8n is seen to have saved holds no start that was only planned since', async () => {
	const here = begin({ ...QUIET, schedule: 'cron' });
	const [node] = here.nodes;
	await clock.pass(MINUTE, () => node.isKnown('scrape-0000'));
	await clock.pass(20 * MINUTE, () => here.log.some((line) => line.includes('notification')));
	const { state, lastRead } = copies[0]?.memoryOf(node.identity) ?? {};
	const [start] = Object.values(state?.starts ?? {});
	if (!state || !start) throw new Error('No start is known');
	state.starts.later = { ...start, stage: 'planned' };
	start.stage = 'planned';
	const stages = Object.values(lastRead?.saved.starts ?? {}).map(({ stage }) => stage);
	expect(stages).toEqual(['started']);
});

test('A deactivated node keeps no content of notifications in memory', async () => {
	const here = begin({ ...QUIET, mode: 'listen' });
	const held = () => {
		const { state } = copies[0]?.memoryOf(here.nodes[0].identity) ?? {};
		return Object.values(state?.notifications ?? {}).map(({ raw }) => raw !== undefined);
	};
	await clock.pass(MINUTE);
	here.fail('lag', 60 * MINUTE);
	here.events.scrape(0);
	for (let left = 1200; left > 0 && held().length === 0; left--) await clock.pass(1000);
	expect(held()).toEqual([true]);
	here.events.deactivate();
	await clock.pass(2 * MINUTE);
	expect(held()).toEqual([false]);
});

test('Notifications that come at once are saved together, answered, and delivered once each', async () => {
	const here = begin({ ...QUIET, mode: 'listen' });
	const [node] = here.nodes;
	await clock.pass(5 * MINUTE);
	const { writes } = node.workflow;
	// Nothing else is saved as long as nothing is known of the scrapes.
	here.fail('status', MINUTE);
	here.service.burst(node, 200);
	await clock.pass(10_000);
	expect(node.scrapes.filter(({ isNotified }) => isNotified)).toHaveLength(200);
	expect(node.executions).toEqual([]);
	expect(node.workflow.writes - writes).toBeLessThanOrEqual(20);
	await clock.pass(5 * MINUTE);
	const delivered = node.executions.map((each) => `${idOf(each)} ${String(each.result)}`);
	expect(delivered.sort()).toEqual(node.scrapes.map(({ id }) => `${id} passed`).sort());
});
