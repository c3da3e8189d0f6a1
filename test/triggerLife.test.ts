import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import { InstanceSettings } from 'n8n-core';
import type { INode, INodeParameters } from 'n8n-workflow';
import { startSandbox, type Sandbox } from '../lab/sandbox/server';
import type { FaultRule, SettingsPatch } from '../lab/sandbox/settings';
import { matching } from './expected';
import { processed, useMiniN8n, type MiniN8n, type Processes } from './triggerEngine';
import { skip, sleep, until } from './virtualTime';

/* What the trigger does on n8n's engine, from an activation to a completion, by its executions and requests. */

const newMiniN8n = useMiniN8n();
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
let sandbox: Sandbox;
let apiKey: string;

beforeAll(async () => {
	sandbox = await startSandbox();
});
afterAll(async () => {
	await sandbox.close();
});
beforeEach(() => {
	apiKey = crypto.randomUUID();
	reset();
});
afterEach(() => {
	jest.restoreAllMocks();
});

/** Scrapes that finish when the test says so, and no notification but those that it sends. */
function reset(settings: SettingsPatch = {}): void {
	sandbox.reset({
		accounts: { [apiKey]: { plan: 'enterprise', credits: 100_000 } },
		job: { durationMs: 500 * HOUR_MS },
		notification: { times: 0, shape: 'leads' },
		...settings,
	});
}

type Fault = Omit<FaultRule, 'match'>;

/** Settings with which a path of the service answers otherwise. */
function answering(path: string, fault: Fault, times?: number): SettingsPatch {
	return { faults: [{ ...fault, match: { path, times } }] };
}

const RATE_LIMIT: Fault = { kind: 'envelope', code: 'RATE_LIMIT_EXCEEDED', status: 429 };
const NOT_FOUND: Fault = { kind: 'envelope', code: 'NOT_FOUND', status: 404 };
const INVALID: Fault = { kind: 'envelope', code: 'INVALID_REQUEST', status: 400 };
const AWAY: Fault = { kind: 'status', status: 502, body: 'Bad Gateway' };
const success = (data: object): Fault => ({
	...{ kind: 'status', status: 200 },
	body: JSON.stringify({ success: true, data }),
});
const statusAway = answering('/status', AWAY);
const LATE: Fault = { kind: 'late', delayMs: 5000 };
const slowStart = answering('/start', { ...LATE, delayMs: 100_000 });
const asUsual: SettingsPatch = { faults: [] };

const credentialWith = (key: string) => ({ baseUrl: sandbox.url, apiKey: key, plan: 'enterprise' });

async function n8nWith(
	parameters: INodeParameters = {},
	fields?: Partial<INode>,
	processes: Processes = 'one',
): Promise<MiniN8n> {
	return await newMiniN8n(processes, credentialWith(apiKey), { limit: 10, ...parameters }, fields);
}

async function activated(...given: Parameters<typeof n8nWith>): Promise<MiniN8n> {
	const n8n = await n8nWith(...given);
	await n8n.activate();
	return n8n;
}

/** Activates a node, and waits for its first scrape. */
async function started(...given: Parameters<typeof n8nWith>): Promise<MiniN8n> {
	const n8n = await activated(...given);
	await untilScrapes(n8n, 1);
	return n8n;
}

/** A node with a schedule that is active, and scrapes of its first due times. */
async function scheduled(count = 0, processes?: Processes): Promise<MiniN8n> {
	const n8n = await activated({ schedule: 'hourly' }, {}, processes);
	await quiet(2000);
	for (let hour = 0; hour < count; hour++) {
		due(n8n, hour);
		await untilScrapes(n8n, hour + 1);
	}
	return n8n;
}

function due(n8n: MiniN8n, hour: number): void {
	n8n.due(new Date(Date.UTC(2027, 0, 1, hour)));
}

/** Long enough for what should not happen. */
async function quiet(ms = 30_000): Promise<void> {
	await sleep(ms);
}

/** Lets time go by, in steps in which polls have their turn. */
async function pass(minutes: number, times = 1): Promise<void> {
	for (let time = 0; time < times; time++) {
		skip(minutes * MINUTE_MS);
		await quiet(4000);
	}
}

/** The requests to start a scrape. */
const starts = () => sandbox.requests.filter(({ operation }) => operation === 'startScrape');
const polls = () => sandbox.requests.filter(({ operation }) => operation === 'getScrapeStatus');
const idOf = (at: number) => sandbox.jobs[at]?.scrapeId ?? '';
const urlOf = (at: number) => sandbox.jobs[at]?.webhookUrl ?? '';
const finish = (at = 0) => {
	sandbox.finish(idOf(at), 'completed');
};
/** What the executions of an n8n are for, and how they ended. */
const kindsOf = ({ executions }: MiniN8n) =>
	executions.map(({ input, status }) => `${Object.keys(input)[0] ?? 'nothing'} ${status}`);
/** The items with which the workflow ran. */
const ranOf = ({ executions }: MiniN8n) => executions.flatMap(({ output }) => output);
const isOver = ({ executions }: MiniN8n) =>
	executions.every(({ status }) => status !== 'queued' && status !== 'running');

/** Waits until so many executions are over, and no other one runs. @param minutes within which this must be */
async function untilExecutions(n8n: MiniN8n, count: number, minutes = Infinity): Promise<void> {
	const since = Date.now();
	await until(() => n8n.executions.length === count && isOver(n8n), `${String(count)} executions`);
	expect(Date.now() - since).toBeLessThan(minutes * MINUTE_MS);
}

/** The same for scrapes. */
async function untilScrapes(n8n: MiniN8n, count: number): Promise<void> {
	await until(() => sandbox.jobs.length === count && isOver(n8n), `${String(count)} scrapes`);
}

/** Expects that polls of two hours begin nothing. @param count of executions until now */
async function expectNoMore(n8n: MiniN8n, count: number): Promise<void> {
	skip(2 * HOUR_MS);
	await quiet();
	expect(n8n.executions).toHaveLength(count);
}

/** Retries an execution, and waits for the end. */
async function retry(n8n: MiniN8n, at: number): Promise<void> {
	const { length } = n8n.executions;
	n8n.retry(at);
	await untilExecutions(n8n, length + 1);
}

/** @returns the HTTP status of the answer */
async function post(url: string, body: object | string, headers: Record<string, string> = {}) {
	const type = { 'content-type': 'application/json' };
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	const given = { method: 'POST', headers: { ...type, ...headers }, body: text };
	return (await fetch(url, given)).status;
}

/** Sends the notification of a scrape without its leads. */
async function notifyWithoutLeads(at: number): Promise<void> {
	sandbox.set({ notification: { shape: 'flat' } });
	await sandbox.notify(idOf(at));
}

describe('an activation', () => {
	test('starts one scrape, whose end runs the workflow once', async () => {
		const n8n = await started();
		await sandbox.notify(idOf(0));
		finish();
		await untilExecutions(n8n, 2);
		expect(starts().map(({ body }) => body)).toMatchObject([{ filters: { limit: 10 } }]);
		expect(kindsOf(n8n)).toEqual(['start success', 'completion success']);
		const [start, completion] = n8n.executions;
		expect(start?.output).toEqual([]);
		expect(start?.hints).toEqual([
			`Scrape ${idOf(0)} was started. It will use about 10 credits. When it finishes, the workflow runs in a separate execution, so this one has no output.`,
		]);
		expect(completion?.output).toMatchObject([
			{ scrapeId: idOf(0), status: 'completed', leadsFound: 10, notification: { method: 'POST' } },
		]);
		const labels = { leadgen: idOf(0), leadgen_event: 'completed' };
		expect(completion?.run?.data.resultData.metadata).toEqual(labels);
		// It is done: neither a repetition nor a poll begins anything.
		await sandbox.notify(idOf(0));
		await expectNoMore(n8n, 2);
	});

	test('of a schedule sends a start that is due as soon as n8n has started', async () => {
		const n8n = await scheduled();
		await n8n.restart();
		due(n8n, 1);
		await untilScrapes(n8n, 1);
		expect(kindsOf(n8n)).toEqual(['start success']);
	});

	test('starts nothing more in saves, and starts a scrape again after a deactivation', async () => {
		const n8n = await started();
		await n8n.saveWorkflow();
		n8n.node.name = 'Leads, please';
		await n8n.saveWorkflow();
		await quiet();
		expect(starts()).toHaveLength(1);
		// The end of a test run is not that of the workflow.
		n8n.parameters = { options: { testScrapeId: idOf(0) } };
		await n8n.executeStep();
		await n8n.reactivate();
		await until(() => sandbox.jobs.length === 2);
		await quiet();
		expect(starts()).toHaveLength(2);
	});

	test('of a schedule starts nothing; each due time starts one scrape', async () => {
		const n8n = await scheduled();
		expect(n8n.executions).toEqual([]);
		// A failed check of n8n's deduplication is repeated.
		processed.writeMs.push(Infinity);
		for (const [at, hour] of [1, 2, 1, 1].entries()) {
			due(n8n, hour);
			await untilExecutions(n8n, at + 1);
		}
		await n8n.saveWorkflow();
		await n8n.reactivate();
		await quiet();
		expect(starts()).toHaveLength(2);
		expect(kindsOf(n8n)).toEqual(new Array(4).fill('start success'));
		expect(n8n.executions[3]?.hints[0]).toMatch(/^Another execution sends this start|^This start/);
	});

	const reply = { saved: { activation: 'a1', scrapes: [] }, isActive: true, begun: [] };
	const unsigned = JSON.stringify({ text: JSON.stringify(reply) });
	test.each([
		['a proxy refuses its messages', 502, '', 'status code 502'],
		['nothing answers', -1, '', 'timeout of 60000ms'],
		['a proxy redirects them', 302, 'http://127.0.0.1:9/', 'status code 302'],
		['something else answers', 200, unsigned, 'else answers'],
	])('begins no start while %s, and tells that soon', async (_what, status, body, says) => {
		const n8n = await n8nWith();
		n8n.front = () => status;
		n8n.frontBody = body;
		await n8n.activate();
		// n8n may repeat it.
		await n8n.activate();
		await untilExecutions(n8n, 1, 3);
		expect(n8n.executions[0]?.error).toMatch(
			new RegExp(
				`^n8n cannot reach the webhook URL of this node\\. .*${n8n.productionUrl} .*${says}.* and http://127\\.0\\.0\\.1:5678/.*Internal URL`,
			),
		);
		expect(starts()).toEqual([]);
		n8n.front = undefined;
		await untilScrapes(n8n, 1);
		expect(kindsOf(n8n)).toEqual(['notice error', 'start success']);
	});

	test.each([true, false])('is reached at the Internal URL; webhookId: %j', async (isThere) => {
		const n8n = await n8nWith({}, isThere ? {} : { webhookId: undefined });
		n8n.publicUrl = 'http://127.0.0.1:9/';
		n8n.parameters = { options: { internalUrl: `${new URL(n8n.productionUrl).origin}/` } };
		await n8n.activate();
		await untilScrapes(n8n, 1);
		expect(urlOf(0)).toMatch(/^http:\/\/127\.0\.0\.1:9\/webhook\//);
	});

	test('waits until n8n has saved that the workflow is active', async () => {
		const n8n = await n8nWith();
		n8n.isPublished = false;
		await n8n.activate();
		await quiet();
		expect(n8n.executions).toEqual([]);
		n8n.isPublished = true;
		await untilScrapes(n8n, 1);
	});

	test('of a copy of the workflow starts a scrape, too', async () => {
		for (const count of [1, 2]) {
			const n8n = await activated({}, { id: 'the same' });
			await untilScrapes(n8n, count);
		}
	});

	test('uses the credential of the node, also beside another one of the same name', async () => {
		const keys = [apiKey, crypto.randomUUID()];
		const account = { plan: 'enterprise', credits: 100 };
		reset({ accounts: Object.fromEntries(keys.map((key) => [key, account])) });
		// At once, because all nodes share a reading of a credential for a minute.
		for (const key of keys) {
			const n8n = await newMiniN8n('one', credentialWith(key), { limit: 10 });
			await n8n.activate();
		}
		await until(() => sandbox.jobs.length === 2, 'two scrapes');
		await until(() => polls().length >= 4, 'four polls');
		// The service finds a scrape with the key that started it.
		expect(new Set(polls().map(({ status }) => status))).toEqual(new Set([200]));
	});

	test('is refused for what can only fail, until it is corrected', async () => {
		const n8n = await n8nWith({}, { alwaysOutputData: true });
		for (const mode of ['activate', 'update'] as const)
			await expect(n8n.activate(mode)).rejects.toThrow(
				"'Always Output Data' must be off in the settings. If it is on, a start runs the workflow",
			);
		// When n8n starts, the node receives completions in any case.
		await n8n.activate('init');
		await untilExecutions(n8n, 1);
		expect(n8n.executions[0]?.error).toContain('n8n does not know that this node was activated');
		const other = await n8nWith({ options: { internalUrl: 'localhost:5678' } });
		await expect(other.activate()).rejects.toThrow(/^Internal URL must be a web address/);
		other.parameters = {};
		other.credential = credentialWith('');
		await expect(other.activate()).rejects.toThrow('API Key in the credential is empty');
		other.credential = credentialWith(apiKey);
		await other.activate();
		await until(() => sandbox.jobs.length === 1);
	});
});

describe.each<Processes>(['one', 'workers'])('a poll (processes: %s)', (processes) => {
	test('begins nothing more while n8n has not run what it began, and again after an hour', async () => {
		const n8n = await scheduled(2, processes);
		n8n.slots = 0;
		for (const at of [0, 1]) finish(at);
		await until(() => n8n.executions.length === 4);
		skip(50 * MINUTE_MS);
		await quiet();
		expect(n8n.executions).toHaveLength(4);
		skip(20 * MINUTE_MS);
		await until(() => n8n.executions.length === 6);
		// What a poll saw needs no answer of the service.
		sandbox.set(statusAway);
		const before = polls().length;
		n8n.slots = 1;
		await until(() => isOver(n8n));
		expect(polls()).toHaveLength(before);
		// The second ones end at the gate, also if they are retried twice.
		for (const at of [4, 4]) await retry(n8n, at);
		expect(n8n.executions.map(({ output }) => output.length)).toEqual([0, 0, 1, 1, 0, 0, 0, 0]);
		expect(n8n.executions[4]?.hints).toEqual([
			`The workflow ran for scrape ${idOf(0)} before, in another execution.`,
		]);
	});

	test('begins nothing while a notification waits for a slot', async () => {
		const n8n = await started({}, {}, processes);
		n8n.slots = 0;
		await sandbox.notify(idOf(0));
		finish();
		skip(30 * MINUTE_MS);
		await quiet();
		expect(n8n.executions).toHaveLength(2);
		n8n.slots = 1;
		await until(() => isOver(n8n));
		expect(n8n.executions[1]?.output).toMatchObject([{ notification: { body: {} } }]);
		await expectNoMore(n8n, 2);
	});
});

describe('a poll', () => {
	test('leaves a notification its time', async () => {
		const n8n = await started();
		finish();
		await until(() => polls().length > 0);
		await quiet(7000);
		await sandbox.notify(idOf(0));
		await quiet();
		expect(n8n.executions).toHaveLength(2);
		expect(ranOf(n8n)).toMatchObject([{ notification: { method: 'POST' } }]);
	});

	test('runs the workflow once for a start that was retried in a worker', async () => {
		reset(answering('/start', NOT_FOUND, 1));
		const n8n = await activated({}, {}, 'workers');
		await untilExecutions(n8n, 1);
		await pass(60);
		await retry(n8n, 0);
		finish();
		await untilExecutions(n8n, 3);
		await expectNoMore(n8n, 3);
		expect(kindsOf(n8n)).toEqual(['start error', 'start success', 'completion success']);
		expect(ranOf(n8n)).toMatchObject([{ scrapeId: idOf(0), notification: null }]);
	});

	test.each<[string, Fault]>([
		['a page with 403', { kind: 'html', status: 403 }],
		['404', NOT_FOUND],
		['502', AWAY],
	])('tells %s only after an hour, from the first one on', async (_what, answer) => {
		const n8n = await started();
		await pass(300);
		sandbox.set(answering('/status', answer, 1));
		await pass(20, 3);
		sandbox.set(answering('/status', answer));
		await pass(20, 3);
		expect(n8n.executions).toHaveLength(1);
		await pass(20, 3);
		expect(kindsOf(n8n)).toEqual(['start success', 'notice error']);
		expect(n8n.executions[1]?.error).toContain(`does not see the end of scrape ${idOf(0)}`);
		// It is told once a day, and the end still runs the workflow.
		sandbox.set(asUsual);
		finish();
		skip(20 * MINUTE_MS);
		await untilExecutions(n8n, 3);
		expect(n8n.executions[2]?.output).toMatchObject([{ scrapeId: idOf(0) }]);
	});

	test('has as much patience with one that is older than a day', async () => {
		const n8n = await started();
		skip(23 * HOUR_MS);
		sandbox.set(answering('/status', AWAY));
		skip(2 * HOUR_MS);
		await quiet();
		await pass(20, 2);
		expect(n8n.executions).toHaveLength(1);
		await pass(20, 2);
		expect(kindsOf(n8n)).toEqual(['start success', 'notice error']);
		expect(n8n.executions[1]?.error).toContain('HTTP 502');
	});

	test('that ends while the workflow is saved runs it at once', async () => {
		const n8n = await started();
		skip(HOUR_MS);
		finish();
		await until(() => n8n.executions.length === 1 && polls().length > 0);
		let left = 1;
		n8n.front = () => {
			if (left-- > 0) void n8n.saveWorkflow();
			return undefined;
		};
		await untilExecutions(n8n, 2, 1);
		expect(ranOf(n8n)).toMatchObject([{ scrapeId: idOf(0) }]);
	});

	test.each([5, 6])('asks for a week, and tells after a day: %i more days', async (days) => {
		const n8n = await started();
		await pass(60, 23);
		expect(n8n.executions).toHaveLength(1);
		await pass(60, 3);
		expect(n8n.executions[1]?.error).toContain('it is not finished after a day');
		await pass(days * 24 * 60);
		finish();
		await pass(60, 3);
		expect(ranOf(n8n)).toHaveLength(days === 5 ? 1 : 0);
	});
});

describe('an own URL that breaks after the activation', () => {
	test('lets what finished run, sends no start, is told soon, and Retry starts the scrape', async () => {
		const n8n = await scheduled(1);
		skip(HOUR_MS);
		n8n.front = () => 403;
		finish();
		await untilExecutions(n8n, 2);
		expect(n8n.executions[1]?.output).toMatchObject([{ scrapeId: idOf(0), notification: null }]);
		await untilExecutions(n8n, 3, 3);
		expect(n8n.executions[2]?.error).toMatch(
			/^n8n cannot reach the webhook URL of this node\. .*status code 403/,
		);
		// A start that waited would hold a slot.
		skip(MINUTE_MS);
		due(n8n, 2);
		await untilExecutions(n8n, 4, 0.1);
		expect(starts()).toHaveLength(1);
		expect(n8n.executions[3]?.error).toMatch(
			/^No scrape was started: n8n cannot reach the webhook URL .* Then retry this execution/,
		);
		// What ran does not run again, and is saved when the URL is back.
		n8n.front = undefined;
		skip(3 * HOUR_MS);
		await quiet();
		await retry(n8n, 3);
		expect(sandbox.jobs).toHaveLength(2);
		await retry(n8n, 2);
		expect(n8n.executions.at(-1)?.hints[0]).toContain('only told you of a problem');
		expect(n8n.saved).toContain(`"scrapeId":"${idOf(0)}","since":`);
		expect(n8n.saved).toMatch(/"isDone":true}/);
		// A start waits for it, and n8n may start meanwhile.
		n8n.front = () => 403;
		await n8n.activate('init');
		finish(1);
		await until(() => ranOf(n8n).length === 2);
		due(n8n, 3);
		await quiet(MINUTE_MS);
		n8n.front = undefined;
		await until(() => sandbox.jobs.length === 3);
	});

	test('is left by Retry, if the user set Internal URL meanwhile', async () => {
		const n8n = await scheduled();
		n8n.front = ({ headers }) => (headers.host?.startsWith('localhost') ? 403 : undefined);
		const internalUrl = new URL(n8n.productionUrl).origin;
		n8n.publicUrl = `${internalUrl.replace('127.0.0.1', 'localhost')}/`;
		await n8n.restart();
		due(n8n, 1);
		await untilExecutions(n8n, 2);
		expect(kindsOf(n8n).toSorted()).toEqual(['notice error', 'start error']);
		n8n.parameters = { schedule: 'hourly', limit: 10, options: { internalUrl } };
		await n8n.saveWorkflow();
		await quiet(2000);
		await retry(n8n, kindsOf(n8n).indexOf('start error'));
		expect(sandbox.jobs).toHaveLength(1);
	});

	test('is not told of the next activation, if it broke before', async () => {
		const n8n = await started();
		n8n.front = () => 403;
		await sandbox.notify(idOf(0));
		finish();
		await untilExecutions(n8n, 2);
		await n8n.deactivate();
		skip(HOUR_MS);
		setTimeout(() => (n8n.front = undefined), 5000);
		await n8n.activate();
		await untilScrapes(n8n, 2);
		expect(kindsOf(n8n).filter((kind) => kind.startsWith('notice'))).toEqual([]);
	});

	test('holds the workflow up for a few seconds only', async () => {
		const n8n = await started();
		n8n.front = ({ headers }) => (headers['x-leadgen-signature'] ? -1 : undefined);
		finish();
		const since = Date.now();
		await sandbox.notify(idOf(0));
		await until(() => ranOf(n8n).length === 1);
		expect(Date.now() - since).toBeLessThan(MINUTE_MS / 2);
	});
});

test('a worker saves a start, also if the own URL takes it only after many seconds', async () => {
	jest.replaceProperty(Container.get(InstanceSettings), 'instanceType', 'worker');
	const n8n = await n8nWith({}, {}, 'workers');
	let left = 5;
	n8n.front = (_request, text) => (text.includes('scrapeId') && left-- > 0 ? 503 : undefined);
	await n8n.activate();
	await untilExecutions(n8n, 1);
	expect(n8n.saved).toContain(idOf(0));
});

test('with a slow database, two workers send a start once, and run the workflow once', async () => {
	const n8n = await scheduled(0, 'workers');
	n8n.slots = 0;
	for (let times = 0; times < 2; times++) due(n8n, 0);
	// Each reads the record before the other one has written it.
	processed.writeMs.push(2000, 8000);
	n8n.slots = Infinity;
	await until(() => isOver(n8n));
	expect(starts()).toHaveLength(1);
	n8n.slots = 0;
	finish();
	await until(() => n8n.executions.length === 3);
	skip(70 * MINUTE_MS);
	await until(() => n8n.executions.length === 4);
	processed.writeMs.push(1500, 40_000);
	n8n.slots = Infinity;
	await until(() => isOver(n8n));
	expect(ranOf(n8n)).toHaveLength(1);
});

test('a start is saved with its execution while the own URL is away, as when n8n stops', async () => {
	reset(slowStart);
	const n8n = await activated();
	await until(() => starts().length === 1);
	n8n.front = () => 503;
	await untilExecutions(n8n, 1);
	expect(n8n.executions[0]?.hints[0]).toMatch(/^Scrape .* was started.* n8n cannot reach/);
	expect(n8n.saved).toContain(idOf(0));
});

describe("a start that fails with n8n's Retry On Fail", () => {
	const retryOnFail = { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 };

	test.each<[what: string, fault: Fault, sent: number, error: string]>([
		['is sent again if it was refused', INVALID, 2, 'No scrape was started: The service says'],
		[
			'is not sent again if nobody knows',
			AWAY,
			1,
			'could not confirm whether a scrape was started',
		],
	])('%s, and fails', async (_what, fault, sent, error) => {
		reset(answering('/start', fault));
		const n8n = await activated({}, retryOnFail);
		await untilExecutions(n8n, 1);
		expect(kindsOf(n8n)).toEqual(['start error']);
		expect(n8n.executions[0]?.error).toContain(error);
		expect(starts()).toHaveLength(sent);
	});

	test('starts one scrape if the second try succeeds', async () => {
		reset(answering('/start', INVALID, 1));
		const n8n = await activated({}, retryOnFail);
		await untilScrapes(n8n, 1);
		expect(kindsOf(n8n)).toEqual(['start success']);
		await retry(n8n, 0);
		expect(starts()).toHaveLength(2);
	});
});

test('a start waits for an activation that another node overwrote in the webhook process', async () => {
	const n8n = await scheduled(0, 'workers');
	n8n.forget();
	due(n8n, 0);
	await untilScrapes(n8n, 1);
	expect(kindsOf(n8n)).toEqual(['start success']);
	expect(n8n.executions[0]?.hints[0]).toContain('was started');
});

describe('a start', () => {
	const NO_CREDITS: Fault = { kind: 'envelope', code: 'INSUFFICIENT_CREDITS', status: 402 };

	test('that is refused while the workflow is saved fails, and Retry starts the scrape', async () => {
		reset({ latencyMs: 4000, ...answering('/start', NO_CREDITS) });
		const n8n = await activated();
		await until(() => n8n.executions.length === 1);
		await quiet(1000);
		await n8n.saveWorkflow();
		await untilExecutions(n8n, 2);
		expect(kindsOf(n8n)).toEqual(['start error', 'start success']);
		reset();
		await retry(n8n, 0);
		expect(sandbox.jobs).toHaveLength(1);
	});

	test.each(['one', 'workers'] as const)(
		'that waits while the workflow is saved is sent once: %s',
		async (processes) => {
			for (let times = 0; times < 3; times++) {
				reset(answering('/start', RATE_LIMIT));
				const n8n = await activated({}, {}, processes);
				await until(() => starts().length === 2);
				await quiet(2000);
				await n8n.saveWorkflow();
				await quiet(8 * MINUTE_MS);
				sandbox.set(asUsual);
				await quiet(3 * MINUTE_MS);
				await until(() => isOver(n8n));
				expect(sandbox.jobs).toHaveLength(1);
				await n8n.deactivate();
			}
		},
	);

	test('is not asked for by a save after another node cleared the static data', async () => {
		const n8n = await started();
		finish();
		await untilExecutions(n8n, 2);
		n8n.forget();
		await n8n.saveWorkflow();
		await quiet();
		expect(starts()).toHaveLength(1);
	});

	test('can be retried although the database did not forget it at once', async () => {
		reset(answering('/start', NO_CREDITS));
		processed.writeMs.push(20, Infinity, Infinity);
		const n8n = await activated();
		await untilExecutions(n8n, 1);
		reset();
		await retry(n8n, 0);
		expect(sandbox.jobs).toHaveLength(1);
	});

	test('that a user retries while the workflow is not active says so', async () => {
		reset(answering('/start', NO_CREDITS));
		const n8n = await activated();
		await untilExecutions(n8n, 1);
		await n8n.deactivate();
		reset();
		await retry(n8n, 0);
		expect(n8n.executions[1]?.error).toBe(
			'No scrape was started: the workflow is not active. Publish it, which starts a scrape.',
		);
		expect(sandbox.jobs).toEqual([]);
	});

	test('that waits in a worker ends when the node is set to receive only', async () => {
		reset(answering('/start', RATE_LIMIT));
		const n8n = await activated({}, {}, 'workers');
		await until(() => starts().length === 2);
		n8n.node.parameters = { ...n8n.node.parameters, mode: 'listen' };
		await n8n.saveWorkflow();
		await untilExecutions(n8n, 1, 3);
		expect(kindsOf(n8n)).toEqual(['start success']);
	});

	test('in a worker waits for the own URL, also if it was away hours before', async () => {
		const n8n = await scheduled(0, 'workers');
		sandbox.set(answering('/start', INVALID, 1));
		n8n.front = (_request, text) => (text.includes('through') ? 503 : undefined);
		due(n8n, 0);
		await untilExecutions(n8n, 1);
		for (const hour of [1, 2]) {
			skip(HOUR_MS);
			await quiet();
			let left = hour - 1;
			n8n.front = () => (left-- > 0 ? 503 : undefined);
			due(n8n, hour);
			await untilExecutions(n8n, hour + 1);
		}
		expect(kindsOf(n8n)).toEqual(['start error', 'start success', 'start success']);
	});
});

test('The gate lets one notification through, although the database fails for a moment', async () => {
	const n8n = await started();
	n8n.slots = 0;
	finish();
	for (let times = 0; times < 2; times++) await sandbox.notify(idOf(0));
	processed.writeMs.push(20, 20, Infinity);
	n8n.slots = 2;
	await untilExecutions(n8n, 3);
	expect(ranOf(n8n)).toHaveLength(1);
});

test('Execute step sends nothing after n8n stopped listening', async () => {
	const headers = { 'ratelimit-remaining': '0', 'ratelimit-reset': '60' };
	reset(answering('/start', { ...RATE_LIMIT, headers }, 1));
	const n8n = await n8nWith();
	expect(await n8n.executeStep().catch(String)).toContain('RATE_LIMIT_EXCEEDED');
	// This one waits, so that the request would go out after n8n stopped listening.
	const step = n8n.executeStep().catch(String);
	await quiet(3000);
	await n8n.stopListening();
	expect(await step).toContain('n8n stopped listening');
	await quiet(3 * MINUTE_MS);
	expect(starts()).toHaveLength(1);
	expect(sandbox.jobs).toEqual([]);
});

describe('a start that waits for the rate limit', () => {
	/** Activates a node whose start is refused for the rate. */
	async function waiting(processes?: Processes): Promise<MiniN8n> {
		reset(answering('/start', RATE_LIMIT));
		const n8n = await activated({}, {}, processes);
		await until(() => starts().length === 2);
		await quiet(2000);
		return n8n;
	}

	/** The service takes starts again. */
	async function expectOneStart(n8n: MiniN8n): Promise<void> {
		reset();
		await untilScrapes(n8n, 1);
		skip(HOUR_MS);
		await quiet();
		expect(starts()).toHaveLength(1);
	}

	test('holds nothing, so that Retry starts the scrape after Stop', async () => {
		const n8n = await waiting();
		n8n.executions[0]?.stop();
		await until(() => isOver(n8n));
		reset();
		await quiet(2 * MINUTE_MS);
		expect(starts()).toEqual([]);
		await retry(n8n, 0);
		expect(kindsOf(n8n)).toEqual(['start canceled', 'start success']);
		expect(sandbox.jobs).toHaveLength(1);
		expect(n8n.executions[1]?.hints[0]).toContain(`Scrape ${idOf(0)} was started`);
	});

	test('is not sent if Stop comes while it asks whether it is still wanted', async () => {
		const n8n = await n8nWith();
		n8n.front = () => {
			n8n.executions[0]?.stop();
			return undefined;
		};
		await n8n.activate();
		await untilExecutions(n8n, 1);
		await quiet();
		expect(starts()).toEqual([]);
		n8n.front = undefined;
		await retry(n8n, 0);
		expect(starts()).toHaveLength(1);
	});

	test('ends when the workflow is unpublished; several activations start one scrape', async () => {
		const n8n = await waiting();
		for (let times = 0; times < 2; times++) {
			await n8n.deactivate();
			// At once, because it holds a slot.
			await quiet(100);
			expect(isOver(n8n)).toBe(true);
			await n8n.activate();
			await until(() => n8n.executions.length === times + 2);
			await quiet(2000);
		}
		await expectOneStart(n8n);
		const hints = n8n.executions.map((each) => each.hints[0] ?? '');
		expect(hints.filter((text) => text.includes('was unpublished before'))).toHaveLength(2);
		expect(kindsOf(n8n)).toEqual(['start success', 'start success', 'start success']);
	});

	test('in a worker is not sent after another activation', async () => {
		const n8n = await waiting('workers');
		await n8n.reactivate();
		await until(() => n8n.executions.length === 2);
		await quiet(2000);
		await expectOneStart(n8n);
		expect(n8n.executions[0]?.hints[0]).toContain('was unpublished before');
	});

	test('goes on for many minutes, also when the workflow is saved, and is sent once', async () => {
		const n8n = await waiting();
		await n8n.saveWorkflow();
		await until(() => n8n.executions.length === 2);
		await pass(12);
		await expectOneStart(n8n);
	});

	test('of a schedule goes on when the workflow is saved, and ends when it is unpublished', async () => {
		const n8n = await scheduled();
		sandbox.set(answering('/start', RATE_LIMIT));
		due(n8n, 1);
		await until(() => starts().length === 2);
		// As when another trigger of the workflow takes long.
		await n8n.deactivate();
		await quiet(15_000);
		await n8n.activate('update');
		await quiet(20_000);
		expect(isOver(n8n)).toBe(false);
		await expectOneStart(n8n);

		sandbox.set(answering('/start', RATE_LIMIT));
		due(n8n, 3);
		await until(() => starts().length === 2);
		await n8n.deactivate();
		await untilExecutions(n8n, 2, 1);
		expect(n8n.executions[1]?.hints[0]).toContain('was unpublished before');
	});
});

describe('a notification', () => {
	test.each<[what: string, settings: SettingsPatch, processes?: Processes]>([
		['is lost', {}],
		['comes before the answer to the start', { notification: { times: 1 }, ...slowStart }],
		['comes thirty times at once', { notification: { times: 30 } }],
		['names an awkward ID', { job: { durationMs: 50, scrapeIdStyle: 'awkward' } }],
		['tells of a failure', { job: { durationMs: 50, outcome: 'failed' } }],
		['comes thirty times at once to two workers', { notification: { times: 30 } }, 'workers'],
	])('that %s runs the workflow once, also if it comes again later', async (...given) => {
		const [, settings, processes] = given;
		reset({ job: { durationMs: 50 }, ...settings });
		// The others come while the first completion is recorded.
		processed.writeMs.push(20, 2000);
		const n8n = await activated({}, {}, processes);
		await until(() => ranOf(n8n).length > 0 && isOver(n8n));
		await sandbox.notify(idOf(0));
		skip(2 * HOUR_MS);
		await quiet();
		await until(() => isOver(n8n));
		const [{ scrapeId, outcome: status } = {}] = sandbox.jobs;
		expect(ranOf(n8n)).toMatchObject([{ scrapeId, status }]);
		expect(starts()).toHaveLength(1);
		expect(kindsOf(n8n).filter((kind) => kind.endsWith('error'))).toEqual([]);
	});

	test('of an event that was not chosen runs nothing, also when it is repeated', async () => {
		const n8n = await started({ events: ['failed'] });
		await sandbox.notify(idOf(0));
		finish();
		await untilExecutions(n8n, 2);
		expect(n8n.executions[1]?.hints).toEqual([
			`Scrape ${idOf(0)} is completed. The node does not run the workflow for this event.`,
		]);
		await sandbox.notify(idOf(0));
		await expectNoMore(n8n, 2);
		expect(ranOf(n8n)).toEqual([]);
	});

	test('is one item for each lead, or one item for the scrape if it holds none', async () => {
		const n8n = await started({ output: 'leads' });
		// Before the end, so that no poll can be faster on a busy machine.
		await sandbox.notify(idOf(0));
		finish();
		await until(() => ranOf(n8n).length === 10);
		const name: unknown = expect.any(String);
		const lead = { scrapeId: idOf(0), scrapeStatus: 'completed', name };
		expect(ranOf(n8n)).toMatchObject(new Array(10).fill(lead));
		await n8n.reactivate();
		await untilScrapes(n8n, 2);
		finish(1);
		await notifyWithoutLeads(1);
		await untilExecutions(n8n, 4);
		expect(ranOf(n8n)[10]).toMatchObject({ scrapeId: idOf(1), leadsFound: 10 });
		expect(n8n.executions[3]?.hints).toEqual([
			'The notification holds no leads, so the output is one item for the scrape.',
		]);
	});

	test('is in the output with the headers of the service, and no secret', async () => {
		const n8n = await started();
		const names = [
			...['authorization', 'Cookie', 'x-api-key', 'x-leadgen-signature', 'proxy-authorization'],
			...['accept', 'Accept-Encoding', 'via', 'forwarded', 'x-forwarded-for', 'x-real-ip'],
		];
		const secretOrTransport = Object.fromEntries(names.map((name) => [name, 'a']));
		const headers = { 'x-event': 'scrape.completed', 'x-signature': 'abc', 'idempotency-key': '1' };
		const given = { 'content-type': 'text/vcard', ...secretOrTransport, ...headers };
		await post(`${urlOf(0)}&id=1&LEADGEN=A.0`, 'Zoë', given);
		finish();
		await untilExecutions(n8n, 2);
		const notification = { method: 'POST', headers, query: { id: '1' }, body: 'Zoë' };
		expect(ranOf(n8n).map((item) => item.notification)).toEqual([notification]);
	});

	test.each([
		['with leads', true],
		['without leads', false],
	])('%s waits for the status, and one with leads goes first', async (_what, isSecond) => {
		const n8n = await started();
		if (isSecond) await notifyWithoutLeads(0);
		sandbox.set({ notification: { shape: 'leads' } });
		await sandbox.notify(idOf(0));
		if (!isSecond) await notifyWithoutLeads(0);
		await pass(9);
		finish();
		await untilExecutions(n8n, 3);
		expect(ranOf(n8n)).toMatchObject([{ notification: { body: { event: 'scrape.completed' } } }]);
	});

	test.each([
		['Retry runs the workflow with it', true],
		['a poll runs it without it after an hour', false],
	])('fails if the status is away for ten minutes, and %s', async (_what, isRetried) => {
		const n8n = await started({ output: 'leads' });
		sandbox.set(statusAway);
		finish();
		await sandbox.notify(idOf(0));
		await pass(8);
		expect(isOver(n8n)).toBe(false);
		await pass(3);
		await untilExecutions(n8n, 2);
		expect(n8n.executions[1]?.error).toMatch(
			new RegExp(
				`^The node does not see the end of scrape ${idOf(0)}: .*The notification is in the input`,
			),
		);
		sandbox.set(asUsual);
		// Polls leave the scrape to that.
		await pass(10, 3);
		expect(n8n.executions).toHaveLength(2);
		if (isRetried) await retry(n8n, 1);
		skip(2 * HOUR_MS);
		await untilExecutions(n8n, 3);
		expect(ranOf(n8n)).toHaveLength(isRetried ? 10 : 1);
		await retry(n8n, 1);
		expect(n8n.executions[3]?.output).toHaveLength(isRetried ? 10 : 0);
	});

	test('waits for ten minutes while the service cannot be reached', async () => {
		// No polls of the node read the credential meanwhile.
		const n8n = await activated({ mode: 'listen' });
		await startElsewhere(n8n.productionUrl);
		n8n.credential = { ...credentialWith(apiKey), baseUrl: 'http://127.0.0.1:9' };
		skip(2 * MINUTE_MS);
		await sandbox.notify(idOf(0));
		await pass(1, 8);
		expect(kindsOf(n8n)).toEqual(['completion running']);
		await pass(1, 4);
		expect(n8n.executions[0]?.error).toContain('could not be reached');
	});

	test('before the answer to the start keeps its leads for an hour, too', async () => {
		reset({ job: { durationMs: 50 }, notification: { times: 1, shape: 'leads' } });
		sandbox.set({ faults: [{ ...LATE, match: { path: '/start' } }, ...(statusAway.faults ?? [])] });
		const n8n = await activated({ output: 'leads' });
		await pass(11);
		await untilExecutions(n8n, 2);
		expect(kindsOf(n8n)).toEqual(['start success', 'completion error']);
		sandbox.set(asUsual);
		await pass(10, 3);
		expect(n8n.executions).toHaveLength(2);
		await retry(n8n, 1);
		expect(ranOf(n8n)).toHaveLength(10);
	});

	test.each<[string, Fault, mode?: string]>([
		['a page with HTTP 403', { kind: 'html', status: 403 }],
		['a refused key', { kind: 'envelope', code: 'UNAUTHORIZED', status: 401 }],
		['a page with HTTP 403, of a node that listens', { kind: 'html', status: 403 }, 'listen'],
		['HTTP 404, of a node that listens', NOT_FOUND, 'listen'],
	])('that waits for the status is not held up by one odd answer: %s', async (...given) => {
		const [, fault, mode = 'start'] = given;
		const n8n = await activated({ ...(mode === 'listen' && { mode }), output: 'leads' });
		if (mode === 'listen') await startElsewhere(n8n.productionUrl);
		await untilScrapes(n8n, 1);
		await sandbox.notify(idOf(0));
		await pass(3);
		sandbox.set(answering('/status', fault, 1));
		await quiet();
		finish();
		await until(() => isOver(n8n));
		expect(ranOf(n8n)).toHaveLength(sandbox.jobs[0]?.limit ?? 0);
		expect(ranOf(n8n)[0]).toMatchObject({ email: matching(/@/), scrapeId: idOf(0) });
	});

	test('without leads ends as a success if the status is away for ten minutes, and polls go on at once', async () => {
		const n8n = await started();
		sandbox.set(statusAway);
		finish();
		await notifyWithoutLeads(0);
		await pass(11);
		await untilExecutions(n8n, 2);
		expect(kindsOf(n8n)[1]).toMatch(/success$/);
		expect(n8n.executions[1]?.hints[0]).toMatch(/does not see the end .* The node asks again\.$/);
		sandbox.set(asUsual);
		await pass(10, 3);
		await untilExecutions(n8n, 3, 5);
		expect(ranOf(n8n)).toMatchObject([{ scrapeId: idOf(0), status: 'completed' }]);
	});
});

describe('a stranger', () => {
	test('begins nothing; a broken signature is logged, once a minute', async () => {
		const n8n = await started();
		const logged = jest.spyOn(Container.get(Logger), 'warn');
		const warnings = () => logged.mock.calls.filter(([text]) => text.includes('signature'));
		const own: Array<[object, Record<string, string>]> = [];
		n8n.front = ({ headers }, text) => {
			const signature = String(headers['x-leadgen-signature'] ?? '');
			if (signature) own.push([JSON.parse(text) as object, { 'x-leadgen-signature': signature }]);
			return undefined;
		};
		await n8n.saveWorkflow();
		await quiet(2000);
		n8n.front = undefined;
		const [message = [{}, {}] as const] = own;
		// The clocks of two machines may differ.
		skip(4 * MINUTE_MS);
		expect(await post(n8n.productionUrl, ...message)).toBe(200);
		skip(2 * MINUTE_MS);
		expect(await post(n8n.productionUrl, ...message)).toBe(403);
		const before = sandbox.requests.length;
		const body = { scrapeId: idOf(0), status: 'completed' };
		const signed = { 'x-leadgen-signature': '0'.repeat(64) };
		const forged = { message: JSON.stringify({ scrapes: [], sentAt: Date.now() }) };
		skip(2 * MINUTE_MS);
		expect(await post(n8n.productionUrl, body)).toBe(403);
		expect(await post(n8n.productionUrl, forged, signed)).toBe(403);
		expect(warnings()).toEqual([]);
		for (const times of [1, 2]) {
			for (const url of [urlOf(0).slice(0, -1), urlOf(0).replace(/=./, '=b')])
				expect(await post(url, body)).toBe(403);
			expect(warnings()).toHaveLength(times);
			skip(2 * MINUTE_MS);
		}
		expect(n8n.executions).toHaveLength(1);
		const others = sandbox.requests.slice(before);
		expect(others.filter(({ query }) => query.scrapeId !== idOf(0))).toEqual([]);
		// What n8n cannot judge now may be sent again.
		n8n.credential = credentialWith('');
		expect(await post(urlOf(0), body)).toBe(503);
	});
});

/** Starts a scrape as anyone does who has the API key. */
async function startElsewhere(webhookUrl: string): Promise<void> {
	const headers = { authorization: `Bearer ${apiKey}` };
	await post(`${sandbox.url}/start`, { filters: { limit: 1 }, webhookUrl }, headers);
}

describe('a node that listens', () => {
	test('runs once for a scrape that others started, and fails with advice for an unknown ID', async () => {
		const n8n = await activated({ mode: 'listen' });
		const { productionUrl: url } = n8n;
		await startElsewhere(url);
		finish();
		for (const times of [1, 2]) {
			await sandbox.notify(idOf(0));
			await untilExecutions(n8n, times);
		}
		expect(ranOf(n8n)).toMatchObject([{ scrapeId: idOf(0) }]);
		expect(await post(url, { event: 'ping' })).toBe(400);
		expect(await post(url, { scrapeId: 'forged' })).toBe(200);
		await untilExecutions(n8n, 3, 2);
		expect(n8n.executions[2]?.error).toMatch(
			/^The node does not see the end of scrape forged: .* Anyone who knows the URL/,
		);
		expect(starts()).toHaveLength(1);
		// A scrape of another account may have the same ID.
		sandbox.set(answering('/status', success({ scrapeId: idOf(0), status: 'COMPLETED' })));
		n8n.credential = credentialWith('another account');
		skip(2 * MINUTE_MS);
		await sandbox.notify(idOf(0));
		await untilExecutions(n8n, 4);
		expect(ranOf(n8n)).toHaveLength(2);
	});
});

describe('Execute step', () => {
	const testUrlOf = (n8n: MiniN8n) => n8n.productionUrl.replace('webhook', 'webhook-test');

	test('starts one scrape of five leads, also if it is selected three times at once', async () => {
		reset({ latencyMs: 200, job: { durationMs: MINUTE_MS } });
		const n8n = await n8nWith();
		n8n.front = () => 404;
		await expect(n8n.executeStep()).rejects.toThrow('n8n cannot reach the webhook URL');
		expect(starts()).toEqual([]);
		n8n.front = undefined;
		await Promise.all([n8n.executeStep(), n8n.executeStep(), n8n.executeStep()]);
		await untilExecutions(n8n, 1);
		expect(starts().map(({ body }) => body)).toMatchObject([{ filters: { limit: 5 } }]);
		expect(n8n.executions[0]?.output).toMatchObject([
			{ scrapeId: idOf(0), status: 'completed', notification: null },
		]);
	});

	test('waits a moment for the notification of an end that a poll saw', async () => {
		const n8n = await n8nWith();
		await n8n.executeStep();
		finish();
		const { length } = polls();
		await until(() => polls()[length]?.status === 200);
		await quiet(100);
		await sandbox.notify(idOf(0));
		await untilExecutions(n8n, 1);
		expect(ranOf(n8n)).toMatchObject([{ notification: { method: 'POST' } }]);
	});

	test('names the scrape that takes longer than n8n listens, and believes no stranger', async () => {
		const n8n = await n8nWith({ options: { internalUrl: sandbox.url } });
		await n8n.executeStep();
		await post(testUrlOf(n8n), { scrapeId: idOf(0), status: 'completed' });
		await untilExecutions(n8n, 1, 2);
		// The address that answered comes first from then on.
		expect(sandbox.requests.filter(({ operation }) => !operation)).toHaveLength(1);
		expect(n8n.executions[0]).toMatchObject({
			output: [{ scrapeId: idOf(0), status: 'pending', notification: null }],
			hints: [
				`Scrape ${idOf(0)} is not finished, and n8n listens for two minutes only. To see its end without costs, set 'Test Scrape ID' in the options to ${idOf(0)}.`,
			],
		});
	});

	test('takes a scrape that was named, or with a limit of 0 one that uses the test URL', async () => {
		const n8n = await n8nWith();
		await startElsewhere(testUrlOf(n8n));
		finish();
		n8n.parameters = { options: { testScrapeId: 'scr_unknown' } };
		for (const answers of [{}, answering('/status', success({ scrapeId: 'scr_unknown' }))]) {
			sandbox.set(answers);
			await expect(n8n.executeStep()).rejects.toThrow(
				"'Test Scrape ID' must be the ID of a scrape that the service can find",
			);
		}
		n8n.parameters = { options: { testScrapeId: idOf(0) } };
		sandbox.set(statusAway);
		await n8n.executeStep();
		sandbox.set(asUsual);
		await untilExecutions(n8n, 1);
		n8n.parameters = { options: { testLimit: 0 } };
		await n8n.executeStep();
		await sandbox.notify(idOf(0));
		await untilExecutions(n8n, 2);
		const [named, notified] = ranOf(n8n);
		expect(named).toMatchObject({ scrapeId: idOf(0), notification: null });
		expect(notified).toMatchObject({ scrapeId: idOf(0), notification: { method: 'POST' } });
		n8n.parameters = { mode: 'listen', output: 'leads', options: { leadsField: 'found' } };
		await n8n.executeStep();
		await post(testUrlOf(n8n), { scrapeId: idOf(0), found: ['ada@acme.com', { name: 'Bob' }] });
		await untilExecutions(n8n, 3);
		const ids = { scrapeId: idOf(0), scrapeStatus: 'completed' };
		expect(n8n.executions[2]?.output).toEqual([
			{ ...ids, lead: 'ada@acme.com' },
			{ ...ids, name: 'Bob' },
		]);
		expect(starts()).toHaveLength(1);
	});
});

describe('what a failed execution advises', () => {
	test('is about the fields of the node if the service refuses them, and Retry starts with another key', async () => {
		reset(answering('/start', INVALID));
		const n8n = await activated();
		await untilExecutions(n8n, 1);
		expect(n8n.executions[0]?.error).toMatch(
			/^No scrape was started: .* Check the fields of this node\. Then retry this execution/,
		);
		// It is not sent when n8n starts.
		await n8n.activate('init');
		await quiet();
		expect(n8n.executions).toHaveLength(1);
		apiKey = crypto.randomUUID();
		n8n.credential = credentialWith(apiKey);
		reset();
		// The second time as when all failed executions are retried.
		for (let times = 0; times < 2; times++) await retry(n8n, 0);
		expect(starts().map(({ account }) => account)).toEqual([apiKey]);
		expect(sandbox.jobs).toHaveLength(1);
	});

	test.each([
		['continueRegularOutput', []],
		[
			'continueErrorOutput',
			[{ error: { message: expect.stringContaining('was started') as string } }],
		],
	] as const)('runs nothing as if it were a scrape with On Error: %s', async (onError, errors) => {
		reset(answering('/start', NOT_FOUND));
		const n8n = await activated({}, { onError });
		await untilExecutions(n8n, 1);
		expect(kindsOf(n8n)).toEqual(['start success']);
		const [execution] = n8n.executions;
		expect(ranOf(n8n)).toEqual([]);
		const { runData } = execution?.run?.data.resultData ?? {};
		const [, failed] = runData?.['LeadGen Trigger']?.[0]?.data?.main ?? [];
		expect((failed ?? []).map(({ json }) => json)).toMatchObject(errors);
		expect(execution?.hints).toHaveLength(1 - errors.length);
	});

	test('is not about strangers if the URL was signed', async () => {
		const n8n = await started();
		sandbox.set(answering('/status', NOT_FOUND));
		expect(await post(urlOf(0), { leads: [{ name: 'Ada' }] })).toBe(200);
		await pass(11);
		await untilExecutions(n8n, 2);
		expect(n8n.executions[1]?.error).toMatch(
			new RegExp(
				`^The node does not see the end of scrape ${idOf(0)}: the service does not find it`,
			),
		);
		expect(n8n.executions[1]?.error).not.toContain('Anyone');
	});

	test('names what to check if the service does not say which scrape it started', async () => {
		reset(answering('/start', success({ status: 'pending' })));
		const n8n = await activated();
		await untilExecutions(n8n, 1);
		expect(n8n.executions[0]?.error).toMatch(
			/^The node could not confirm whether a scrape was started\. The service did not return the ID/,
		);
	});

	test('names what to check if the outcome of a start is unknown, which nothing repeats, and its end runs the workflow', async () => {
		reset({
			notification: { shape: 'leads', times: 1 },
			...answering('/start', { kind: 'resetAfterWork' }),
		});
		const n8n = await activated();
		await untilExecutions(n8n, 1);
		sandbox.set(asUsual);
		for (let times = 0; times < 2; times++) await retry(n8n, 0);
		expect(starts()).toHaveLength(1);
		for (const { error } of n8n.executions)
			expect(error).toContain('could not confirm whether a scrape was started');
		finish();
		await until(() => ranOf(n8n).length === 1);
		expect(ranOf(n8n)).toMatchObject([{ scrapeId: idOf(0), status: 'completed' }]);
	});
});
