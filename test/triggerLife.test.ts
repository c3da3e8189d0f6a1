import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import type { INode, INodeParameters } from 'n8n-workflow';
import { startSandbox, type Sandbox } from '../lab/sandbox/server';
import type { SettingsPatch } from '../lab/sandbox/settings';
import { useMiniN8n, type MiniN8n } from './triggerEngine';
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

async function n8nWith(
	parameters: INodeParameters = {},
	fields?: Partial<INode>,
): Promise<MiniN8n> {
	const credential = { baseUrl: sandbox.url, apiKey, plan: 'enterprise' };
	return await newMiniN8n(credential, { limit: 10, ...parameters }, fields);
}

/** Long enough for what should not happen. */
async function quiet(ms = 30_000): Promise<void> {
	await sleep(ms);
}

/** The requests to start a scrape. */
const starts = () => sandbox.requests.filter(({ operation }) => operation === 'startScrape');
const polls = () => sandbox.requests.filter(({ operation }) => operation === 'getScrapeStatus');
const idOf = (at: number) => sandbox.jobs[at]?.scrapeId ?? '';
/** What the executions of an n8n are for, and how they ended. */
const kindsOf = ({ executions }: MiniN8n) =>
	executions.map(({ input, status }) => `${Object.keys(input)[0] ?? 'nothing'} ${status}`);
const isOver = ({ executions }: MiniN8n) =>
	executions.every(({ status }) => status !== 'queued' && status !== 'running');

/** The items with which the workflow ran. */
const ranOf = ({ executions }: MiniN8n) => executions.flatMap(({ output }) => output);

/** @returns the HTTP status of the answer */
async function post(url: string, body: object, headers: Record<string, string> = {}) {
	const type = { 'content-type': 'application/json' };
	const given = { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) };
	return (await fetch(url, given)).status;
}

/** Activates a node, and waits for its first scrape. */
async function started(parameters?: INodeParameters): Promise<MiniN8n> {
	const n8n = await n8nWith(parameters);
	await n8n.activate();
	await until(() => sandbox.jobs.length === 1 && isOver(n8n));
	return n8n;
}

/** Sends the notification of a scrape without its leads. */
async function notifyWithoutLeads(at: number): Promise<void> {
	sandbox.set({ notification: { shape: 'flat' } });
	await sandbox.notify(idOf(at));
}

const RATE_LIMIT = { kind: 'envelope', code: 'RATE_LIMIT_EXCEEDED', status: 429 } as const;
const refused = { faults: [{ ...RATE_LIMIT, match: { path: '/start' } }] };
const AWAY = { kind: 'status', status: 502, body: 'Bad Gateway' } as const;
const statusAway = { faults: [{ ...AWAY, match: { path: '/status' } }] };

describe('an activation', () => {
	test('starts one scrape, whose end runs the workflow once', async () => {
		const n8n = await started();
		await sandbox.notify(idOf(0));
		sandbox.finish(idOf(0), 'completed');
		await until(() => n8n.executions.length === 2 && isOver(n8n));
		expect(starts().map(({ body }) => (body as { filters: object }).filters)).toEqual([
			{ limit: 10 },
		]);
		expect(kindsOf(n8n)).toEqual(['start success', 'completion success']);
		const [start, completion] = n8n.executions;
		expect(start?.output).toEqual([]);
		expect(start?.hints).toEqual([
			`Scrape ${idOf(0)} was started. It will use about 10 credits. When it finishes, the workflow runs in a separate execution, so this one has no output.`,
		]);
		expect(completion?.output).toMatchObject([
			{ scrapeId: idOf(0), status: 'completed', leadsFound: 10, notification: { method: 'POST' } },
		]);
		// It is done: neither a repetition nor a poll begins anything.
		await sandbox.notify(idOf(0));
		skip(2 * HOUR_MS);
		await quiet();
		expect(n8n.executions).toHaveLength(2);
	});

	test('starts nothing more in saves, and starts a scrape again after a deactivation', async () => {
		const n8n = await started();
		await n8n.saveWorkflow();
		await n8n.saveWorkflow();
		await quiet();
		expect(starts()).toHaveLength(1);
		await n8n.deactivate();
		await n8n.activate();
		await until(() => sandbox.jobs.length === 2);
		await quiet();
		expect(starts()).toHaveLength(2);
	});

	test('of a schedule starts nothing; each due time starts one scrape', async () => {
		const n8n = await n8nWith({ schedule: 'daily' });
		await n8n.activate();
		await quiet();
		expect(n8n.executions).toEqual([]);
		for (const day of [1, 1, 2]) n8n.due(new Date(Date.UTC(2027, 0, day, 14)));
		await until(() => sandbox.jobs.length === 2 && isOver(n8n));
		await n8n.saveWorkflow();
		await n8n.deactivate();
		await n8n.activate();
		await quiet();
		expect(starts()).toHaveLength(2);
		expect(kindsOf(n8n)).toEqual(['start success', 'start success']);
	});

	const reply = { saved: { activation: 'a1', scrapes: [] }, isActive: true, begun: [] };
	test.each([
		['a proxy refuses its messages', 502, ''],
		['something else answers them', 200, JSON.stringify({ text: JSON.stringify(reply) })],
	])('begins no start while %s, and tells that within a minute', async (_what, status, body) => {
		const n8n = await n8nWith();
		n8n.front = () => status;
		n8n.frontBody = body;
		await n8n.activate();
		const since = Date.now();
		await until(() => n8n.executions.length === 1 && isOver(n8n));
		expect(Date.now() - since).toBeLessThan(MINUTE_MS);
		expect(kindsOf(n8n)).toEqual(['notice error']);
		expect(starts()).toEqual([]);
		n8n.front = undefined;
		await until(() => sandbox.jobs.length === 1 && isOver(n8n));
		expect(kindsOf(n8n)).toEqual(['notice error', 'start success']);
	});

	test('is refused with Always Output Data', async () => {
		const n8n = await n8nWith({}, { alwaysOutputData: true });
		await expect(n8n.activate()).rejects.toThrow("'Always Output Data' must be off");
	});
});

describe('a poll', () => {
	/** A node with scrapes that finish together, while their notifications are lost. */
	async function withLostNotifications(count: number): Promise<MiniN8n> {
		const n8n = await n8nWith({ schedule: 'hourly' });
		await n8n.activate();
		for (let hour = 0; hour < count; hour++) {
			n8n.due(new Date(Date.UTC(2027, 0, 1, hour)));
			await until(() => sandbox.jobs.length === hour + 1);
		}
		await until(() => isOver(n8n));
		return n8n;
	}

	test('runs each of eight scrapes once, where one execution may run at once', async () => {
		const n8n = await withLostNotifications(8);
		n8n.slots = 1;
		for (const { scrapeId } of sandbox.jobs) sandbox.finish(scrapeId, 'completed');
		const since = Date.now();
		await until(() => n8n.executions.length === 16 && isOver(n8n));
		expect(Date.now() - since).toBeLessThan(2 * MINUTE_MS);
		skip(3 * HOUR_MS);
		await quiet();
		const ran = n8n.executions.slice(8).map(({ output }) => output.map(({ scrapeId }) => scrapeId));
		expect(ran.sort()).toEqual(sandbox.jobs.map(({ scrapeId }) => [scrapeId]).sort());
		expect(n8n.executions).toHaveLength(16);
	});

	test('begins nothing more while n8n has not run what it began, and again after an hour', async () => {
		const n8n = await withLostNotifications(2);
		n8n.slots = 0;
		for (const { scrapeId } of sandbox.jobs) sandbox.finish(scrapeId, 'completed');
		await until(() => n8n.executions.length === 4);
		skip(50 * MINUTE_MS);
		await quiet();
		expect(n8n.executions).toHaveLength(4);
		skip(20 * MINUTE_MS);
		await until(() => n8n.executions.length === 6);
		n8n.slots = 1;
		await until(() => isOver(n8n));
		// The second ones end at the gate.
		expect(n8n.executions.map(({ output }) => output.length)).toEqual([0, 0, 1, 1, 0, 0]);
		expect(n8n.executions[4]?.hints).toEqual([
			`The workflow ran for scrape ${idOf(0)} before, in another execution.`,
		]);
	});

	test('begins nothing while the execution of a notification waits for a slot', async () => {
		const n8n = await started();
		n8n.slots = 0;
		await sandbox.notify(idOf(0));
		sandbox.finish(idOf(0), 'completed');
		skip(30 * MINUTE_MS);
		await quiet();
		expect(n8n.executions).toHaveLength(2);
		n8n.slots = 1;
		await until(() => isOver(n8n));
		expect(n8n.executions[1]?.output).toMatchObject([{ notification: { body: {} } }]);
		skip(2 * HOUR_MS);
		await quiet();
		expect(n8n.executions).toHaveLength(2);
	});

	test('needs no answer of the service to run what it saw', async () => {
		const n8n = await started();
		n8n.slots = 0;
		sandbox.finish(idOf(0), 'completed');
		await until(() => n8n.executions.length === 2);
		sandbox.set(statusAway);
		const before = polls().length;
		n8n.slots = 1;
		await until(() => isOver(n8n));
		expect(n8n.executions[1]?.output).toMatchObject([{ scrapeId: idOf(0), notification: null }]);
		expect(polls()).toHaveLength(before);
	});

	test.each([
		['a page with 403', { kind: 'html', status: 403 }],
		['404', { kind: 'envelope', code: 'NOT_FOUND', status: 404 }],
	] as const)('tells %s only after ten minutes, from the first one on', async (_what, answer) => {
		const n8n = await started();
		skip(5 * HOUR_MS);
		await quiet();
		const once = { ...answer, match: { path: '/status', times: 1 } };
		sandbox.set({ faults: [once] });
		for (let times = 0; times < 3; times++) {
			skip(20 * MINUTE_MS);
			await quiet(4000);
		}
		expect(n8n.executions).toHaveLength(1);
		sandbox.set({ faults: [{ ...answer, match: { path: '/status' } }] });
		for (let times = 0; times < 3; times++) {
			skip(20 * MINUTE_MS);
			await quiet(4000);
		}
		expect(kindsOf(n8n)).toEqual(['start success', 'notice error']);
		expect(n8n.executions[1]?.error).toContain(`does not see the end of scrape ${idOf(0)}`);
		// It is told once a day, and the end still runs the workflow.
		sandbox.set({ faults: [] });
		sandbox.finish(idOf(0), 'completed');
		skip(20 * MINUTE_MS);
		await until(() => n8n.executions.length === 3 && isOver(n8n));
		expect(n8n.executions[2]?.output).toMatchObject([{ scrapeId: idOf(0) }]);
	});
});

describe('an own URL that breaks after the activation', () => {
	test('lets what finished run, begins no start, is told within minutes, and Retry starts the scrape', async () => {
		const n8n = await n8nWith({ schedule: 'hourly' });
		await n8n.activate();
		n8n.due(new Date(Date.UTC(2027, 0, 1, 1)));
		await until(() => sandbox.jobs.length === 1 && isOver(n8n));
		n8n.front = () => 403;
		sandbox.finish(idOf(0), 'completed');
		await until(() => n8n.executions.length === 2 && isOver(n8n));
		expect(n8n.executions[1]?.output).toMatchObject([{ scrapeId: idOf(0), notification: null }]);
		const since = Date.now();
		await until(() => n8n.executions.length === 3 && isOver(n8n));
		expect(Date.now() - since).toBeLessThan(5 * MINUTE_MS);
		expect(n8n.executions[2]?.error).toMatch(
			/^n8n cannot reach the webhook URL of this node\. .*in front of n8n answers HTTP 403/,
		);
		n8n.due(new Date(Date.UTC(2027, 0, 1, 2)));
		await until(() => n8n.executions.length === 4 && isOver(n8n));
		expect(starts()).toHaveLength(1);
		const [, , , failed] = n8n.executions;
		expect(failed?.error).toMatch(
			/^No scrape was started: n8n cannot reach the webhook URL .* Then retry this execution/,
		);
		// What ran does not run again, and is saved when the URL is back.
		n8n.front = undefined;
		skip(3 * HOUR_MS);
		await quiet();
		if (failed) n8n.retry(failed);
		await until(() => n8n.executions.length === 5 && isOver(n8n));
		expect(sandbox.jobs).toHaveLength(2);
		expect(n8n.saved).toContain(`"scrapeId":"${idOf(0)}","since":`);
		expect(n8n.saved).toMatch(/"isDone":true}/);
	});
});

describe('a start that waits for the rate limit', () => {
	/** Activates a node whose start is refused for the rate. */
	async function waiting(): Promise<MiniN8n> {
		reset(refused);
		const n8n = await n8nWith();
		await n8n.activate();
		await until(() => starts().length === 2);
		await quiet(2000);
		return n8n;
	}

	test('holds nothing, so that Retry starts the scrape after Stop', async () => {
		const n8n = await waiting();
		const [start] = n8n.executions;
		start?.stop();
		await until(() => isOver(n8n));
		reset();
		await quiet(2 * MINUTE_MS);
		expect(starts()).toEqual([]);
		expect(start?.status).toBe('canceled');
		if (start) n8n.retryInput(start);
		await until(() => n8n.executions.length === 2 && isOver(n8n));
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
		await until(() => n8n.executions.length === 1 && isOver(n8n));
		await quiet();
		expect(starts()).toEqual([]);
		n8n.front = undefined;
		const [start] = n8n.executions;
		if (start) n8n.retryInput(start);
		await until(() => n8n.executions.length === 2 && isOver(n8n));
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
		reset();
		await until(() => sandbox.jobs.length === 1 && isOver(n8n));
		skip(HOUR_MS);
		await quiet();
		expect(starts()).toHaveLength(1);
		const hints = n8n.executions.map((each) => each.hints[0] ?? '');
		expect(hints.filter((text) => text.includes('was unpublished before'))).toHaveLength(2);
		expect(n8n.executions.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
	});

	test('goes on when the workflow is saved, and is sent once', async () => {
		const n8n = await waiting();
		await n8n.saveWorkflow();
		await until(() => n8n.executions.length === 2);
		await quiet(2000);
		reset();
		await until(() => sandbox.jobs.length === 1 && isOver(n8n));
		skip(HOUR_MS);
		await quiet();
		expect(starts()).toHaveLength(1);
	});
});

describe('a notification', () => {
	test.each<[what: string, settings: SettingsPatch]>([
		['is lost', {}],
		[
			'comes before the answer to the start',
			{
				notification: { times: 1 },
				faults: [{ kind: 'late', delayMs: 500, match: { path: '/start' } }],
			},
		],
		['comes thirty times at once', { notification: { times: 30 } }],
		['names an awkward ID', { job: { durationMs: 50, scrapeIdStyle: 'awkward' } }],
		['tells of a failure', { job: { durationMs: 50, outcome: 'failed' } }],
	])('that %s runs the workflow once, also if it comes again later', async (_what, settings) => {
		reset({ job: { durationMs: 50 }, ...settings });
		const n8n = await n8nWith();
		await n8n.activate();
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
		sandbox.finish(idOf(0), 'completed');
		await until(() => n8n.executions.length === 2 && isOver(n8n));
		expect(n8n.executions[1]?.hints).toEqual([
			`Scrape ${idOf(0)} is completed. The node does not run the workflow for this event.`,
		]);
		await sandbox.notify(idOf(0));
		skip(2 * HOUR_MS);
		await quiet();
		expect(n8n.executions).toHaveLength(2);
		expect(ranOf(n8n)).toEqual([]);
	});

	test('is one item for each lead, or one item for the scrape if it holds none', async () => {
		const n8n = await started({ output: 'leads' });
		// Before the end, so that no poll can be faster on a busy machine.
		await sandbox.notify(idOf(0));
		sandbox.finish(idOf(0), 'completed');
		await until(() => ranOf(n8n).length === 10);
		const name: unknown = expect.any(String);
		const lead = { scrapeId: idOf(0), scrapeStatus: 'completed', name };
		expect(ranOf(n8n)).toMatchObject(new Array(10).fill(lead));
		await n8n.deactivate();
		await n8n.activate();
		await until(() => sandbox.jobs.length === 2 && isOver(n8n));
		sandbox.finish(idOf(1), 'completed');
		await notifyWithoutLeads(1);
		await until(() => ranOf(n8n).length === 11);
		expect(ranOf(n8n)[10]).toMatchObject({ scrapeId: idOf(1), leadsFound: 10 });
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
		await quiet();
		sandbox.finish(idOf(0), 'completed');
		await until(() => n8n.executions.length === 3 && isOver(n8n));
		const ran = n8n.executions.flatMap(({ output }) => output);
		expect(ran).toMatchObject([{ notification: { body: { event: 'scrape.completed' } } }]);
	});

	test('with leads fails if the status is away for ten minutes, and Retry runs the workflow with them', async () => {
		const n8n = await started({ output: 'leads' });
		sandbox.set(statusAway);
		sandbox.finish(idOf(0), 'completed');
		await sandbox.notify(idOf(0));
		await quiet(4000);
		skip(11 * MINUTE_MS);
		await until(() => isOver(n8n));
		expect(n8n.executions).toHaveLength(2);
		const [, failed] = n8n.executions;
		expect(failed?.error).toMatch(
			new RegExp(
				`^The node does not see the end of scrape ${idOf(0)}: .*Its leads are in the input`,
			),
		);
		sandbox.set({ faults: [] });
		// Polls leave the scrape to that.
		skip(30 * MINUTE_MS);
		await quiet();
		expect(n8n.executions).toHaveLength(2);
		if (failed) n8n.retry(failed);
		await until(() => n8n.executions.length === 3 && isOver(n8n));
		expect(n8n.executions[2]?.output).toHaveLength(10);
		skip(3 * HOUR_MS);
		await quiet();
		expect(n8n.executions).toHaveLength(3);
	});

	test('with leads that nobody retries runs the workflow without them after an hour', async () => {
		const n8n = await started();
		sandbox.finish(idOf(0), 'completed');
		sandbox.set(statusAway);
		await sandbox.notify(idOf(0));
		await quiet(4000);
		skip(11 * MINUTE_MS);
		await until(() => isOver(n8n));
		sandbox.set({ faults: [] });
		skip(61 * MINUTE_MS);
		await until(() => n8n.executions.length === 3 && isOver(n8n));
		expect(n8n.executions[2]?.output).toMatchObject([{ notification: null }]);
		const [, failed] = n8n.executions;
		if (failed) n8n.retry(failed);
		await until(() => n8n.executions.length === 4 && isOver(n8n));
		expect(n8n.executions[3]).toMatchObject({ status: 'success', output: [] });
	});

	test('without leads ends as a success if the status is away, and a poll runs the workflow', async () => {
		const n8n = await started();
		sandbox.finish(idOf(0), 'completed');
		sandbox.set(statusAway);
		await notifyWithoutLeads(0);
		await quiet(4000);
		skip(11 * MINUTE_MS);
		await until(() => isOver(n8n));
		expect(kindsOf(n8n)).toEqual(['start success', 'completion success']);
		sandbox.set({ faults: [] });
		skip(2 * MINUTE_MS);
		await until(() => n8n.executions.length === 3 && isOver(n8n));
		expect(n8n.executions[2]?.output).toMatchObject([{ scrapeId: idOf(0), notification: null }]);
	});
});

describe('a stranger', () => {
	test('begins nothing; a broken signature is logged, once a minute', async () => {
		const n8n = await started();
		const logged = jest.spyOn(Container.get(Logger), 'warn');
		const warnings = () => logged.mock.calls.filter(([text]) => text.includes('signature'));
		const before = sandbox.requests.length;
		const { webhookUrl = '' } = sandbox.jobs[0] ?? {};
		const body = { scrapeId: idOf(0), status: 'completed' };
		const signed = { 'x-leadgen-signature': '0'.repeat(64) };
		const message = JSON.stringify({ scrapes: [], sentAt: Date.now() });
		skip(2 * MINUTE_MS);
		expect(await post(n8n.productionUrl, body)).toBe(403);
		expect(await post(n8n.productionUrl, { message }, signed)).toBe(403);
		expect(warnings()).toEqual([]);
		for (const times of [1, 2]) {
			for (const url of [webhookUrl.slice(0, -1), webhookUrl.replace(/=./, '=b')])
				expect(await post(url, body)).toBe(403);
			expect(warnings()).toHaveLength(times);
			skip(2 * MINUTE_MS);
		}
		expect(n8n.executions).toHaveLength(1);
		const others = sandbox.requests.slice(before);
		expect(others.filter(({ query }) => query.scrapeId !== idOf(0))).toEqual([]);
	});
});

describe('a node that listens', () => {
	test('runs once for a scrape that others started, and fails with advice for an unknown ID', async () => {
		const n8n = await n8nWith({ mode: 'listen' });
		await n8n.activate();
		const { productionUrl: url } = n8n;
		await fetch(`${sandbox.url}/start`, {
			method: 'POST',
			headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
			body: JSON.stringify({ filters: { limit: 1 }, webhookUrl: url }),
		});
		sandbox.finish(idOf(0), 'completed');
		for (const times of [1, 2]) {
			await sandbox.notify(idOf(0));
			await until(() => n8n.executions.length === times && isOver(n8n));
		}
		expect(ranOf(n8n)).toMatchObject([{ scrapeId: idOf(0) }]);
		expect(await post(url, { event: 'ping' })).toBe(400);
		expect(await post(url, { scrapeId: 'forged' })).toBe(200);
		await until(() => n8n.executions.length === 3 && isOver(n8n));
		expect(n8n.executions[2]?.error).toMatch(
			/^The node does not see the end of scrape forged: .* Anyone who knows the URL/,
		);
		expect(starts()).toHaveLength(1);
	});
});

describe('Execute step', () => {
	test('starts one scrape of five leads, also if it is selected three times at once', async () => {
		reset({ latencyMs: 200, job: { durationMs: MINUTE_MS } });
		const n8n = await n8nWith();
		await Promise.all([n8n.executeStep(), n8n.executeStep(), n8n.executeStep()]);
		await until(() => n8n.executions.length === 1 && isOver(n8n));
		expect(starts().map(({ body }) => body)).toMatchObject([{ filters: { limit: 5 } }]);
		expect(n8n.executions[0]?.output).toMatchObject([
			{ scrapeId: idOf(0), status: 'completed', notification: null },
		]);
	});

	test('names the scrape that takes longer than n8n listens', async () => {
		const n8n = await n8nWith();
		await n8n.executeStep();
		await until(() => n8n.executions.length === 1 && isOver(n8n));
		expect(n8n.executions[0]).toMatchObject({
			output: [{ scrapeId: idOf(0), status: 'pending' }],
			hints: [
				`Scrape ${idOf(0)} is not finished, and n8n listens for two minutes only. To see its end without costs, set 'Test Scrape ID' in the options to ${idOf(0)}.`,
			],
		});
	});
});

describe('what a failed execution advises', () => {
	test('is about the filters of the node if the service refuses them', async () => {
		const code = { kind: 'envelope', code: 'INVALID_REQUEST', status: 400 } as const;
		reset({ faults: [{ ...code, match: { path: '/start' } }] });
		const n8n = await n8nWith();
		await n8n.activate();
		await until(() => n8n.executions.length === 1 && isOver(n8n));
		expect(n8n.executions[0]?.error).toMatch(
			/^No scrape was started: .* Check the filters and 'Limit' of this node\. Then retry this execution/,
		);
		reset();
		// The second time as when all failed executions are retried.
		const [failed] = n8n.executions;
		for (const times of [2, 3]) {
			if (failed) n8n.retry(failed);
			await until(() => n8n.executions.length === times && isOver(n8n));
		}
		expect(starts()).toHaveLength(1);
	});

	test('is not about strangers if the URL was signed', async () => {
		const n8n = await started();
		const { webhookUrl = '' } = sandbox.jobs[0] ?? {};
		sandbox.set({ faults: [{ kind: 'envelope', code: 'NOT_FOUND', match: { path: '/status' } }] });
		expect(await post(webhookUrl, { leads: [{ name: 'Ada' }] })).toBe(200);
		await quiet(2000);
		skip(11 * MINUTE_MS);
		await until(() => isOver(n8n));
		expect(n8n.executions[1]?.error).toMatch(
			new RegExp(
				`^The node does not see the end of scrape ${idOf(0)}: the service does not find it`,
			),
		);
		expect(n8n.executions[1]?.error).not.toContain('Anyone');
	});

	test('names what to check if the outcome of a start is unknown, which nothing repeats, and its end runs the workflow', async () => {
		reset({
			notification: { shape: 'leads', times: 1 },
			faults: [{ kind: 'resetAfterWork', match: { path: '/start' } }],
		});
		const n8n = await n8nWith();
		await n8n.activate();
		await until(() => n8n.executions.length === 1 && isOver(n8n));
		const [failed] = n8n.executions;
		sandbox.set({ faults: [] });
		for (let times = 0; times < 2; times++) if (failed) n8n.retry(failed);
		await until(() => n8n.executions.length === 3 && isOver(n8n));
		expect(starts()).toHaveLength(1);
		for (const { error } of n8n.executions)
			expect(error).toContain('could not confirm whether a scrape was started');
		sandbox.finish(idOf(0), 'completed');
		await until(() => ranOf(n8n).length === 1);
		expect(ranOf(n8n)).toMatchObject([{ scrapeId: idOf(0), status: 'completed' }]);
	});
});
