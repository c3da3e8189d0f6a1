import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredWorkflow, WorkflowNode } from '../../lab/playground/api';
import type { Role } from '../../lab/playground/queue';
import { API_KEY, LINE, node, quiet, until, use, uuid } from '../../lab/fixture/fixture';
import { QueueFixture } from '../../lab/fixture/queueFixture';

const fixture = new QueueFixture();
beforeAll(async () => {
	await fixture.open();
}, 300_000);
afterAll(async () => {
	await fixture.close();
});

const LONG = { job: { durationMs: 600_000 } };
const PATIENCE_MS = 60_000;

/** Says which process executes it. */
function executor(): WorkflowNode {
	const assignments = [
		{ id: uuid(), name: 'by', value: '={{ $env.PROCESS_ROLE }}', type: 'string' },
	];
	return node('Executor', 'n8n-nodes-base.set', {
		typeVersion: 3.4,
		parameters: { assignments: { assignments } },
		executeOnce: true,
	});
}

const VERIFY = { resource: 'email', operation: 'verify' };

/** Its execution lasts for two seconds. */
const SLOW = node('Wait', 'n8n-nodes-base.wait', {
	typeVersion: 1.1,
	parameters: { amount: 2, unit: 'seconds' },
});

async function activated(
	parameters: Record<string, unknown> = {},
	...others: WorkflowNode[]
): Promise<StoredWorkflow> {
	const content = fixture.content(fixture.trigger(parameters), executor(), ...others);
	const workflow = await fixture.api.createWorkflow(content);
	await fixture.api.activateWorkflow(workflow.id);
	return workflow;
}

/** Requests to start a scrape with the URL of a workflow. */
function startsOf(workflow: StoredWorkflow): number {
	return fixture.sandbox.requests.filter(({ operation, body }) => {
		const { webhookUrl } = (body ?? {}) as { webhookUrl?: string };
		return operation === 'startScrape' && webhookUrl?.startsWith(fixture.plainUrl(workflow));
	}).length;
}

function jobOf(workflow: StoredWorkflow) {
	const job = fixture.sandbox.jobs.find(({ webhookUrl }) =>
		webhookUrl?.startsWith(fixture.plainUrl(workflow)),
	);
	if (!job) throw new Error('It has no scrape');
	return job;
}

/** Ends the scrape of a workflow. Resolves when its trigger has learnt it. */
async function finishAndSee(workflow: StoredWorkflow): Promise<void> {
	const { scrapeId } = jobOf(workflow);
	const lookups = () =>
		fixture.sandbox.requests.filter(
			({ operation, query, answeredAt }) =>
				operation === 'getScrapeStatus' && query.scrapeId === scrapeId && answeredAt,
		).length;
	const before = lookups();
	fixture.sandbox.finish(scrapeId, 'completed');
	await until('it is known to be finished', () => lookups() > before, PATIENCE_MS);
}

/** The start of a scrape is an execution, and so is its completion. */
async function untilExecutions({ id }: StoredWorkflow, count: number): Promise<void> {
	const enough = async () => (await fixture.executions(id)).length >= count;
	await until(`${String(count)} executions`, enough, PATIENCE_MS);
}

async function untilRuns({ id }: StoredWorkflow, count: number): Promise<void> {
	const enough = async () => (await fixture.delivered(id, 'Executor')).length >= count;
	await until(`${String(count)} runs`, enough, PATIENCE_MS);
}

/** The processes that executed a workflow. */
async function executorsOf({ id }: StoredWorkflow): Promise<unknown[]> {
	const items = await fixture.delivered(id, 'Executor');
	return items.map(({ json }) => json.by);
}

function report(...lines: string[]): void {
	process.stdout.write(lines.map((line) => `n8n ${LINE}: ${line}\n`).join(''));
}

const ON_WORKER: unknown = expect.stringMatching(/^worker[12]$/);

it('starts a scrape once, and runs the workflow once on a worker, also when the notification is lost', async () => {
	await fixture.reset({ job: { durationMs: 3000 } });
	const notified = await activated();
	await until('its notification', () => fixture.sandbox.jobs[0]?.notifications[0]?.status === 200);
	fixture.sandbox.set({ notification: { times: 0 } });
	const lost = await activated();
	const scheduled = await activated({ schedule: 'cron', cronExpression: '*/15 * * * * *' });
	for (const workflow of [notified, lost]) await untilRuns(workflow, 1);
	await untilRuns(scheduled, 2);
	await fixture.api.deactivateWorkflow(scheduled.id);
	await quiet(4000);
	const onMain = fixture.plainUrl(lost).replace(fixture.webhookBase, fixture.queue.url('main'));
	expect((await fetch(onMain, { method: 'POST' })).status).toBe(404);
	for (const workflow of [notified, lost]) {
		expect(startsOf(workflow)).toBe(1);
		expect(await executorsOf(workflow)).toEqual([ON_WORKER]);
		const [item] = await fixture.delivered(workflow.id);
		const { scrapeId } = jobOf(workflow);
		expect(item?.json).toMatchObject({ scrapeId, status: 'completed', leadsFound: 10 });
		expect(item?.json.notification === null).toBe(workflow === lost);
	}
	const ids = (await fixture.delivered(scheduled.id)).map(({ json }) => json.scrapeId);
	expect(new Set(ids).size).toBe(ids.length);
	// What was started last is not finished.
	expect(startsOf(scheduled) - ids.length).toBeLessThanOrEqual(2);
});

it('brings a completion in though Redis takes no job when it comes', async () => {
	await fixture.reset(LONG);
	const workflow = await activated();
	await until('the start', () => startsOf(workflow) === 1);
	expect(await fixture.queue.redis('CONFIG SET maxmemory 1')).toBe('+OK');
	await quiet(2000);
	fixture.sandbox.finish(jobOf(workflow).scrapeId, 'completed');
	await untilExecutions(workflow, 2);
	await quiet(3000);
	expect(await executorsOf(workflow)).toEqual([]);
	expect(await fixture.queue.redis('CONFIG SET maxmemory 0')).toBe('+OK');
	await untilRuns(workflow, 1);
	await quiet(5000);
	expect(await executorsOf(workflow)).toEqual([ON_WORKER]);
	expect(startsOf(workflow)).toBe(1);
});

it('loses no completion and starts nothing twice while each process is killed in turn', async () => {
	await fixture.reset(LONG);
	const rounds: Array<{ victim: Role; delivered: StoredWorkflow; missed: StoredWorkflow }> = [];
	for (const victim of ['main', 'webhook1', 'worker1', 'worker2'] as const) {
		const [missed, delivered] = [await activated(), await activated()];
		for (const workflow of [missed, delivered]) {
			await until('the start', () => startsOf(workflow) === 1);
		}
		// The worst moment for the process that delivers; a worker has done its part by then.
		await finishAndSee(delivered);
		if (victim.startsWith('worker')) await untilRuns(delivered, 1);
		await fixture.queue.kill(victim);
		fixture.sandbox.finish(jobOf(missed).scrapeId, 'completed');
		await sleep(2000);
		await fixture.queue.start(victim);
		rounds.push({ victim, delivered, missed });
	}
	for (const { delivered, missed } of rounds) {
		await untilRuns(delivered, 1);
		await untilRuns(missed, 1);
	}
	await quiet(10_000);
	for (const { victim, delivered, missed } of rounds) {
		const runs = await executorsOf(delivered);
		report(`${victim} killed at a delivery: ${String(runs.length)} runs`);
		expect(runs).toEqual([ON_WORKER]);
		expect(await executorsOf(missed)).toEqual([ON_WORKER]);
		expect([startsOf(delivered), startsOf(missed)]).toEqual([1, 1]);
	}
}, 400_000);

/** Which main process leads instead of which. */
const TURNS = [
	['main', 'main2'],
	['main2', 'main'],
] as const;

interface Change {
	when: string;
	/** `between` is when a scrape finishes, the one of the workflow that it gives. */
	change: (leaving: Role, coming: Role, between: () => Promise<StoredWorkflow>) => Promise<void>;
}

/** The first main ends before the other one starts. */
function after(end: 'kill' | 'stop'): Change['change'] {
	return async (leaving, coming, between) => {
		await fixture.queue[end](leaving);
		await between();
		await fixture.queue.start(coming);
	};
}

const WITH_ONE_MAIN: Change[] = [
	{ when: 'the first is killed', change: after('kill') },
	{ when: 'the first is stopped', change: after('stop') },
];

const WITH_TWO_MAINS: Change[] = [
	{
		when: 'nobody leads for a while',
		change: async (leaving, coming, between) => {
			await fixture.queue.setRole(leaving, 'follower');
			// The process that receives its notification delivers it.
			await untilRuns(await between(), 1);
			await fixture.queue.setRole(coming, 'leader');
		},
	},
	{
		when: 'one follows the other at once',
		change: async (leaving, coming, between) => {
			await fixture.queue.setRole(leaving, 'follower');
			await fixture.queue.setRole(coming, 'leader');
			await between();
		},
	},
	{
		when: 'both lead for a while',
		change: async (leaving, coming, between) => {
			await fixture.queue.setRole(coming, 'leader');
			await between();
			await sleep(3000);
			await fixture.queue.setRole(leaving, 'follower');
		},
	},
];

async function leaderChanges({ when, change }: Change): Promise<void> {
	await fixture.reset(LONG);
	const workflows: StoredWorkflow[] = [];
	for (const [leaving, coming] of TURNS) {
		const four = [
			await activated({}, SLOW),
			await activated(),
			await activated(),
			await activated(),
		] as const;
		for (const workflow of four) await until('the start', () => startsOf(workflow) === 1);
		const [running, early, between, late] = four;
		fixture.sandbox.finish(jobOf(running).scrapeId, 'completed');
		await untilExecutions(running, 2);
		await finishAndSee(early);
		await change(leaving, coming, async () => {
			fixture.sandbox.finish(jobOf(between).scrapeId, 'completed');
			await until('its notification', () => jobOf(between).notifications[0]?.status === 200);
			return between;
		});
		fixture.sandbox.finish(jobOf(late).scrapeId, 'completed');
		await fixture.turnTo(coming);
		workflows.push(...four);
	}
	for (const workflow of workflows) await untilRuns(workflow, 1);
	await quiet(10_000);
	const runs: unknown[][] = [];
	for (const workflow of workflows) {
		runs.push(await executorsOf(workflow));
		expect(startsOf(workflow)).toBe(1);
		expect(await fixture.told(workflow.id)).toEqual([]);
	}
	const twice = runs.filter(({ length }) => length === 2).length;
	report(`when ${when}, ${String(twice)} of ${String(runs.length)} completions ran twice`);
	for (const each of runs) expect(each).toEqual([ON_WORKER]);
}

describe('starts nothing twice and delivers once when another main process leads, and back again:', () => {
	afterEach(async () => {
		await fixture.queue.start('main');
		await fixture.queue.setRole('main', 'leader');
		await fixture.turnTo('main');
	});

	describe('one at a time,', () => {
		afterEach(async () => {
			await fixture.queue.stop('main2');
		});

		it.each(WITH_ONE_MAIN)('$when', leaderChanges, 400_000);
	});

	describe('with two webhook processes, and two mains that live on,', () => {
		beforeAll(async () => {
			await fixture.queue.start('main2', true);
			await fixture.queue.start('webhook2');
		});
		afterEach(async () => {
			await fixture.queue.setRole('main2', 'follower');
		});
		afterAll(async () => {
			for (const role of ['main2', 'webhook2'] as const) await fixture.queue.stop(role);
		});

		it.each(WITH_TWO_MAINS)('$when', leaderChanges, 400_000);
	});
});

it('has a completion run again, or told as failed, if the worker is killed that executes it', async () => {
	// It does not get past the second node before the worker is killed.
	const faults = [
		{ kind: 'hang' as const, match: { operation: 'verifyEmail' as const, times: 1 } },
	];
	await fixture.reset({ faults });
	const slow = fixture.leadGen({ ...VERIFY, email: '={{ $json.by }}@acme.com' });
	const workflow = await fixture.api.createWorkflow(
		fixture.content(fixture.trigger(), executor(), slow),
	);
	await fixture.api.activateWorkflow(workflow.id);
	const verified = () =>
		fixture.sandbox.requests.flatMap(({ operation, body }) =>
			operation === 'verifyEmail' ? [(body as { email: string }).email] : [],
		);
	await until('a worker executes it', () => verified().length === 1, PATIENCE_MS);
	const victim = verified()[0]?.startsWith('worker1') ? 'worker1' : 'worker2';
	await fixture.queue.kill(victim);
	const isOver = async () =>
		(await fixture.executions(workflow.id)).every(({ status }) => /success|error/.test(status));
	await until('its execution is over', isOver, 120_000);
	// It comes last: had it been back at once, it would have marked the execution as crashed, for good.
	await fixture.queue.start(victim);
	await quiet(5000);
	const executions = await fixture.executions(workflow.id);
	report(`its execution ended with ${executions.map(({ status }) => status).join(', ')}`);
	expect(executions).toHaveLength(2);
	expect(startsOf(workflow)).toBe(1);
	if (LINE === '1') {
		// n8n 1 gives the execution to a worker once more.
		expect(await executorsOf(workflow)).toEqual([ON_WORKER]);
		expect(verified()).toHaveLength(2);
	} else {
		// n8n 2 never does so.
		const told = 'This execution failed to be processed too many times';
		expect(await fixture.told(workflow.id)).toEqual([expect.stringContaining(told)]);
		expect(verified()).toHaveLength(1);
	}
}, 200_000);

it('delivers once what two webhook processes are told at once, many times', async () => {
	await fixture.queue.start('webhook2');
	await fixture.reset({ ...LONG, notification: { times: 0 } });
	const listening = await activated({ mode: 'listen' });
	const workflows: StoredWorkflow[] = [];
	for (let count = 0; count < 8; count++) workflows.push(await activated());
	for (const workflow of workflows) await until('the start', () => startsOf(workflow) === 1);
	const targets: Array<{ scrapeId: string; url: string }> = [];
	for (const workflow of workflows) {
		const { scrapeId, webhookUrl = '' } = jobOf(workflow);
		targets.push({ scrapeId, url: webhookUrl });
	}
	for (let count = 0; count < 8; count++) {
		targets.push({ scrapeId: await fixture.startElsewhere(), url: fixture.plainUrl(listening) });
	}
	for (const { scrapeId } of targets) fixture.sandbox.finish(scrapeId, 'completed');
	let sent = 0;
	const tell = async (role: Role, { scrapeId, url }: (typeof targets)[number]) => {
		const to = url.replace(fixture.webhookBase, fixture.queue.url(role));
		const body = JSON.stringify({ scrapeId, status: 'completed' });
		const headers = { 'content-type': 'application/json' };
		// A busy n8n may not save a notification in time. The service then sends it again, as here.
		await until('the answer', async () => {
			const { status } = await fetch(to, { method: 'POST', headers, body });
			sent++;
			expect([200, 503]).toContain(status);
			return status === 200;
		});
	};
	const all = [listening, ...workflows];
	const runs = async () => {
		const lists = await Promise.all(all.map(({ id }) => fixture.delivered(id)));
		return lists.flat().length;
	};
	const begin = Date.now();
	// They go on while the scrapes are delivered, and after that.
	for (let more = 8; more > 0 && Date.now() - begin < PATIENCE_MS;) {
		const sendings = targets.flatMap((target) =>
			(['webhook1', 'webhook2'] as const).map((role) => tell(role, target)),
		);
		await Promise.all(sendings);
		if ((await runs()) >= targets.length) more--;
		await sleep(300);
	}
	await quiet(5000);
	const items = await Promise.all(all.map(({ id }) => fixture.delivered(id)));
	const ids = items.flat().map(({ json }) => json.scrapeId);
	const counts = targets.map(({ scrapeId }) => ids.filter((id) => id === scrapeId).length);
	report(
		`${String(sent)} notifications to two processes; their ${String(targets.length)} scrapes ran the workflow ${counts.join(' ')} times`,
	);
	expect(fixture.starts).toBe(16);
	expect(counts).toEqual(counts.map(() => 1));
}, 200_000);

it('verifies 2,000 addresses in four executions on two workers that share the limit of one account', async () => {
	await fixture.reset({
		accounts: { 'test-key': { plan: 'enterprise', credits: 10_000 } },
		rateLimit: { enabled: true, enterprisePerMinute: 1200, kind: 'sliding' },
		latencyMs: 20,
	});
	const plan = { plan: 'enterprise', requestsPerMinute: 1200 };
	const credential = await fixture.newCredential('Enterprise', API_KEY, plan);
	const path = uuid();
	const workflow = await fixture.api.createWorkflow(
		fixture.content(
			node('Webhook', 'n8n-nodes-base.webhook', {
				typeVersion: 2,
				webhookId: path,
				parameters: { httpMethod: 'POST', path },
			}),
			node('One item per address', 'n8n-nodes-base.splitOut', {
				parameters: {
					fieldToSplitOut: 'body.emails',
					options: { destinationFieldName: 'address' },
				},
			}),
			fixture.leadGen(
				{ ...VERIFY, email: '={{ $json.address }}' },
				{ credentials: use(credential) },
			),
			executor(),
		),
	);
	await fixture.api.activateWorkflow(workflow.id);
	await quiet(1000);
	const batches = [0, 1, 2, 3].map((batch) =>
		Array.from({ length: 500 }, (_, item) => `valid.${String(batch * 500 + item)}@acme.com`),
	);
	const begin = Date.now();
	await Promise.all(
		batches.map(async (emails) => {
			const answer = await fetch(`${fixture.webhookBase}/webhook/${path}`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ emails }),
			});
			expect(answer.status).toBe(200);
		}),
	);
	await until(
		'four executions',
		async () => (await fixture.executions(workflow.id)).length === 4,
		PATIENCE_MS,
	);
	const items = [];
	for (const { id } of await fixture.executions(workflow.id)) {
		const execution = await fixture.finished(id);
		const { status, error, advice } = execution ?? {};
		expect([status, error, advice]).toEqual(['success', undefined, undefined]);
		items.push(...(execution?.nodes.LeadGen?.outputs[0] ?? []));
	}
	const seconds = Math.round((Date.now() - begin) / 1000);
	const by = await executorsOf(workflow);
	const refused = fixture.sandbox.requests.filter(
		({ operation, status }) => operation === 'verifyEmail' && status === 429,
	).length;
	report(
		`2,000 addresses in ${String(seconds)} s on ${by.join(', ')}, ${String(refused)} answers were 429, ${String(10_000 - fixture.sandbox.credits())} credits`,
	);
	expect(items.map(({ json }) => json.email).sort()).toEqual(batches.flat().sort());
	expect(items.filter(({ json }) => json.status !== 'valid')).toEqual([]);
	expect(fixture.sandbox.credits()).toBe(8000);
	expect(fixture.count('verifyEmail')).toBe(2000 + refused);
	expect(new Set(by)).toEqual(new Set(['worker1', 'worker2']));
}, 300_000);
