/** Runs of many items: what is paid for, what is sent again, and what ends a run. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { FaultRule } from '../lab/sandbox/settings';
import { hintsOf, type NodeResult, type NodeRun } from './engine';
import { containing, errorOf, including, paired } from './expected';
import {
	ENRICH,
	FIND,
	START,
	START_AND_WAIT,
	VERIFY_ROWS,
	get,
	keepGoing,
	people as peopleOf,
	person,
	rowsOf,
	verdict,
} from './given';
import { sleep, until, useService } from './service';

const service = useService({ plan: 'enterprise' });
const { sandbox } = service;

const continueError = { onError: 'continueErrorOutput' } as const;

/** Finds the business address of each of the people. */
async function find(people: IDataObject[], options: INodeParameters = {}, more?: Partial<NodeRun>) {
	return await service.run(FIND, { ...person, options }, people, more);
}

/** Starts a scrape with each of the limits. */
async function start(limits: number[], parameters: INodeParameters, more?: Partial<NodeRun>) {
	const items = limits.map((limit) => ({ limit }));
	return await service.run(START, { limit: '={{ $json.limit }}', ...parameters }, items, more);
}

/** `count` people whom the sandbox finds, each another one. */
function people(count: number) {
	return peopleOf(...persons(...Array(count).keys()).map((name) => `${name} High`));
}

/** The people that were asked for, in order of their names. */
function firstNames(): string[] {
	return sandbox.requests.map(({ body }) => (body as { firstName: string }).firstName).toSorted();
}

/** The limits of the scrapes that were started, in order. */
function startedLimits() {
	return sandbox.jobs.map(({ limit }) => limit).toSorted((a, b) => a - b);
}

function spent(): number {
	return 100_000 - sandbox.credits();
}

function emails({ items }: NodeResult): unknown[] {
	return items.map(({ json }) => json.email);
}

const times = (count: number, value: unknown) => new Array<unknown>(count).fill(value);
const anyEmails = (count: number) => times(count, expect.any(String));
const persons = (...numbers: number[]) => numbers.map((number) => `Person${String(number)}`);

/** The errors of the items on both outputs. */
function errors({ items, errorItems }: NodeResult): IDataObject[] {
	return [...items, ...errorItems].map(errorOf).filter((error) => error !== undefined);
}

describe('what is asked twice', () => {
	it('is paid for once, whatever the case and the spaces', async () => {
		const rows: Array<[first: string, last: string, company: string, paidCalls: number]> = [
			['Ann', 'High', 'acme.com', 1],
			['Bob', 'High', 'acme.com', 1],
			['ANN', 'high', 'acme.com', 0],
			[' Ann ', 'High', 'https://www.ACME.com/team', 0],
			['Ann Marie', 'High', 'acme.com', 1],
			['ann  marie', 'HIGH', 'acme.com', 0],
			['Cy', 'Nobody', 'acme.com', 1],
			['cy', 'nobody', 'acme.com', 0],
			['Kim', '', 'acme.com', 1],
			['', 'Kim', 'acme.com', 1],
		];
		const { items } = await find(rows.map(([first, last, company]) => ({ first, last, company })));
		expect(firstNames()).toEqual(['Ann', 'Ann Marie', 'Bob', 'Cy', 'Kim', undefined]);
		expect(items).toMatchObject(paired(rows.map(([, , , paidCalls]) => ({ paidCalls }))));
		const results = items.map(({ json }) => ({ ...json, paidCalls: undefined }));
		const [ann, bob, ann2, ann3, marie, marie2, cy, cy2] = results as IDataObject[];
		expect([ann2, ann3, marie2, cy2]).toEqual([ann, ann, marie, cy]);
		// Each item gets a copy of its own.
		expect(ann2?.sources).not.toBe(ann?.sources);
		expect(new Set([ann, bob, marie].map((json) => json?.email)).size).toBe(3);
		expect(cy).toEqual({ found: false, email: null });
		expect(spent()).toBe(5);
	});

	it('is known to later executions for a while, to no other account, and not if nothing is remembered', async () => {
		const first = await find(people(3));
		expect(emails(await find(people(4)))).toEqual([...emails(first), ...anyEmails(1)]);
		expect(sandbox.requests).toHaveLength(4);

		await find(people(3), { rememberMinutes: 0 });
		expect(sandbox.requests).toHaveLength(7);

		sandbox.set({ accounts: { other: { plan: 'pro', credits: 10 } } });
		await find(people(3), {}, { credential: { apiKey: 'other' } });
		await find(people(3));
		expect(sandbox.requests).toHaveLength(10);
	});
});

describe('when n8n runs the node again', () => {
	const retryOnFail = true;

	it('buys only what is missing', async () => {
		const match = { bodyIncludes: 'Person2', times: 1 };
		sandbox.set({ faults: [{ kind: 'status', match, status: 500 }] });
		expect(emails(await find(people(5), {}, { retryOnFail }))).toEqual(anyEmails(5));
		expect(firstNames()).toEqual(persons(0, 1, 2, 2, 3, 4));
		expect(spent()).toBe(5);
	});

	it('starts no scrape again that may have been started, whatever an expression gives this time', async () => {
		// All are in flight when one breaks.
		const match = { bodyIncludes: '"limit":6' };
		sandbox.set({ latencyMs: 200, faults: [{ kind: 'resetAfterWork', match }] });
		const options = { webhookUrl: '=https://n8n.example/{{ Math.random() }}' };
		const { error } = await start([5, 6, 7], { options }, { retryOnFail });
		expect(startedLimits()).toEqual([5, 6, 7]);
		expect(error).toMatchObject({
			description: containing('may have done the work'),
			context: { itemIndex: 1 },
		});
	});

	it('knows its starts and results, also if another execution of the workflow ran meanwhile', async () => {
		sandbox.set({ faults: [{ kind: 'envelope', code: 'FORBIDDEN', match: { path: '/status' } }] });
		const waitIn = async (executionId: string) => {
			const parameters = { limit: '={{ $json.limit }}', options: { pollInterval: 1 } };
			const limits = [{ limit: 5 }, { limit: 6 }];
			return await service.run(START_AND_WAIT, parameters, limits, { executionId });
		};
		expect((await waitIn('a')).error).toBeDefined();
		sandbox.set({ faults: [] });
		await waitIn('b');
		await waitIn('a');
		expect(startedLimits()).toEqual([5, 5, 6, 6]);

		for (const executionId of ['c', 'c', 'd', 'd']) {
			await find(people(2), { rememberMinutes: 0 }, { executionId });
		}
		expect(sandbox.requests.filter(({ path }) => path === '/email/find')).toHaveLength(4);
	});
});

describe('an error that stops the node', () => {
	const refusal = { code: 'INVALID_REQUEST', match: { bodyIncludes: 'Person2' } };
	it.each([
		[
			'the lookups that were bought',
			refusal,
			15,
			'This run paid for 2 results. If you run the workflow again within 15 minutes, you do not pay for the same results again. If it is later, raise Remember Results (Minutes) first.',
		],
		[
			'lookups that are not remembered',
			refusal,
			0,
			'Before you run the workflow again, remove the items that already have a result. Otherwise you pay for them again.',
		],
		[
			'calls in flight',
			{ code: 'DOWN', status: 503 },
			15,
			'3 calls without an answer may have been paid for.',
		],
	])('says what becomes of %s', async (_what, fault, rememberMinutes, said) => {
		// All are in flight when one fails.
		sandbox.set({ latencyMs: 200, faults: [{ kind: 'envelope', ...fault }] });
		const { error } = await find(people(3), { rememberMinutes });
		expect(sandbox.requests).toHaveLength(3);
		expect(error?.description).toContain(said);
	});
});

it('waits for the scrapes that are paid for when the credits run out', async () => {
	const code = 'INSUFFICIENT_CREDITS';
	const match = { bodyIncludes: 'CFO' };
	const fault = { kind: 'envelope' as const, code, status: 402, match };
	sandbox.set({ job: { durationMs: 1500 }, faults: [fault] });
	const filters = { jobTitles: ['={{ $json.title }}'] };
	const parameters = { filters, limit: 1, options: { pollInterval: 0.2 } };
	const items = [{ title: 'CTO' }, { title: 'CFO' }];
	const result = await service.run(START_AND_WAIT, parameters, items, keepGoing);
	expect(result.items[0]?.json).toMatchObject({ status: 'completed' });
	expect(errorOf(result.items[1])).toMatchObject({ code });
});

describe('a service that goes down in the middle of a run', () => {
	/** Calls for 150 people. The service goes down when a hundred of them have arrived, and comes back after `wait`. */
	async function runThroughOutage(
		more: Partial<NodeRun>,
		wait: (running: Promise<NodeResult>) => Promise<unknown>,
	) {
		sandbox.set({ latencyMs: 20 });
		// A hundred are in flight at no time, and the next ones follow after a minute.
		const credential = { plan: 'enterprise', requestsPerMinute: 100 };
		const running = find(people(150), {}, { ...more, credential });
		await until(() => sandbox.requests.length >= 100);
		await sandbox.goDown();
		await wait(running);
		await sandbox.comeBack();
		return await running;
	}

	it('is waited for, and nothing is asked or paid for twice', async () => {
		// Until more than a minute has passed, and some calls could not be sent.
		const result = await runThroughOutage({}, () => sleep(90_000));
		expect(emails(result)).toEqual(anyEmails(150));
		expect(firstNames()).toEqual(persons(...Array(150).keys()).toSorted());
		expect(spent()).toBe(150);
	});

	it('is given up after ten minutes', async () => {
		const result = await runThroughOutage(keepGoing, (running) => running);
		expect([sandbox.requests.length, spent()]).toEqual([100, 100]);
		expect(errors(result)).toEqual(times(50, including({ outcome: 'notSent' })));
		// The service held up the run, not its rate limit.
		expect(hintsOf(result)[0]?.[0]?.message).not.toMatch(/\d{3} s waiting/);
	});
});

it('reads an item for each call that goes out, so that few calls are in vain if one is refused', async () => {
	let read = 0;
	const rows = rowsOf(300).map(({ name }) =>
		Object.defineProperty({ name }, 'name', { enumerable: true, get: () => (read++, name) }),
	);
	const readAt: number[] = [];
	service.answerWith((request) => {
		readAt.push(read);
		return verdict(request);
	});
	const { items } = await service.runRows(VERIFY_ROWS, rows);
	expect(items).toMatchObject(paired(rows.map(() => ({ deliverable: true }))));
	expect(readAt[0]).toBeLessThan(10);
	expect(readAt[50]).toBeLessThan(100);
});

it('finishes people whose addresses were bought before, before it buys others', async () => {
	await find(people(5));
	sandbox.requests = [];
	// Ten calls go out within a second. The first ones do before the others are read.
	const credential = { plan: 'enterprise', requestsPerMinute: 10 };
	await service.run(ENRICH, person, people(12).toReversed(), { credential });
	expect(sandbox.requests).toHaveLength(7 + 12);
	const first = sandbox.requests.slice(0, 9).map(({ body }) => JSON.stringify(body).toLowerCase());
	const isOfBought = (text: string) => /"[^"]*person[0-4]\b[^"]*@/.test(text);
	expect(first.filter(isOfBought)).toHaveLength(5);
});

it('asks for the plan once in large runs, and not in a small one', async () => {
	const auto = { credential: { plan: 'auto' } };
	sandbox.set({ accounts: { [service.apiKey()]: { plan: 'pro', credits: 100_000 } } });
	await find(people(20), {}, auto);
	service.expectCalls([], '/credits');
	await find(people(150), {}, auto);
	const others = people(100).map((each) => ({ ...each, company: 'globex.com' }));
	await find(others, {}, auto);
	service.expectCalls([get('/credits')], '/credits');
	expect(sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
	expect(spent()).toBe(250);
});

it('costs a person who runs a call without an answer again one more call', async () => {
	sandbox.set({ faults: [{ kind: 'resetAfterWork', match: { bodyIncludes: 'Person1' } }] });
	const result = await find(people(3), {}, continueError);
	expect(errors(result)).toEqual([including({ outcome: 'unknown' })]);
	sandbox.set({ faults: [] });
	expect(emails(await find(people(3)))).toEqual(anyEmails(3));
	expect(firstNames()).toEqual(persons(0, 1, 1, 2));
	expect(spent()).toBe(4);
});

describe('a credential with an expression', () => {
	it('is read for all items as for the first, whatever those between it and the last one have', async () => {
		const keyed = people(3).map((one, index) => ({
			...one,
			key: index === 1 ? 'other' : service.apiKey(),
			url: sandbox.url,
		}));
		const credential = { apiKey: '={{ $json.key }}', baseUrl: '={{ $json.url }}' };
		expect(emails(await find(keyed, {}, { credential }))).toEqual(anyEmails(3));
		expect(spent()).toBe(3);
	});

	it.each([
		['key', { apiKey: '={{ $json.id === 2 ? "other" : "first" }}' }],
		['base URL', { baseUrl: '=http://127.0.0.1/{{ $json.id }}' }],
	])('is refused for all items if the last one has another %s', async (_, credential) => {
		const list = people(3).map((one, id) => ({ ...one, id }));
		const error = {
			message: 'LeadGen credential names another account for the last item than for the first one',
			advice: containing('one LeadGen node for each account'),
			field: 'LeadGen credential',
			outcome: 'notSent',
			paidCalls: 0,
		};
		const { items } = await find(list, {}, { ...keepGoing, credential });
		expect(items).toEqual(paired(list.map((one) => ({ ...one, error }))));
		const stopped = await find(list, {}, { credential });
		expect(stopped.error).toMatchObject({ message: error.message, description: error.advice });
		service.expectCalls([]);
	});
});

const reached = (max: number) => `Not sent: the node reached Maximum Paid Calls (${String(max)})`;

describe('Maximum Paid Calls', () => {
	it('counts each call over MCP alone', async () => {
		const overMcp = { ...keepGoing, executionId: '', isTool: true };
		for (const one of people(2)) await find([one], { maxPaidCalls: 1 }, overMcp);
		expect(spent()).toBe(2);
	});

	const named = (last: string, count: number) =>
		people(count).map((one, index) => ({ ...one, last, company: `acme${String(index)}.com` }));
	const enrich = async (list: IDataObject[], maxPaidCalls: number, more?: Partial<NodeRun>) =>
		await service.run(ENRICH, { ...person, options: { maxPaidCalls } }, list, more);

	it('is reached exactly, and the other items are not sent', async () => {
		const max = 25;
		const result = await find(people(60), { maxPaidCalls: max }, continueError);
		expect(firstNames()).toEqual(persons(...Array(max).keys()).toSorted());
		expect(emails(result)).toEqual(anyEmails(max));
		expect(errors(result)).toEqual(times(60 - max, including({ message: reached(max) })));
	});

	it('gets back what a row did not need', async () => {
		const list = [...named('Nobody', 30), ...named('Sure', 30)];
		const { items, errorItems } = await enrich(list, 50, continueError);
		expect(items.map(({ json }) => json.found)).toEqual([...times(30, false), ...times(10, true)]);
		expect(errorItems).toHaveLength(20);
		expect(sandbox.requests).toHaveLength(50);
	});

	it.each<[string, maxPaidCalls: number, FaultRule[], found: number, outcomes: unknown[]]>([
		[
			'what may have been paid for',
			6,
			[
				{ kind: 'envelope', code: 'INVALID_REQUEST', match: { nth: [2, 5] } },
				{ kind: 'status', status: 503, match: { nth: [7] } },
			],
			5,
			['refused', 'refused', 'unknown', ...times(4, 'notSent')],
		],
		[
			'the next item',
			1,
			[{ kind: 'envelope', code: 'INVALID_REQUEST', match: { nth: [1] } }],
			1,
			['refused', ...times(10, 'notSent')],
		],
	])('counts %s in place of a call that was refused', async (...row) => {
		const [, maxPaidCalls, faults, found, outcomes] = row;
		sandbox.set({ faults });
		const result = await find(people(12), { maxPaidCalls }, continueError);
		expect(emails(result)).toEqual(anyEmails(found));
		expect(errors(result).map(({ outcome }) => outcome)).toEqual(outcomes);
		const notSent = outcomes.filter((outcome) => outcome === 'notSent');
		expect(sandbox.requests).toHaveLength(12 - notSent.length);
	});

	it('leaves what is known already for free', async () => {
		await enrich(named('Sure', 10), 20);
		const { items, errorItems } = await enrich(named('Sure', 14), 5, continueError);
		expect(items.map(({ json }) => json.status)).toEqual(times(12, 'valid'));
		expect(errorItems.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 12 }, { item: 13 }]);
		expect(sandbox.requests).toHaveLength(24);
	});

	it('counts for all tries of a run, and says once what was paid for', async () => {
		const { error } = await find(people(30), { maxPaidCalls: 10 }, { retryOnFail: true });
		expect(error?.message).toBe(reached(10));
		expect(error?.description).toBe(
			'It has made 10 paid calls in this execution, and this item may need 1. To continue, raise this limit in the options. If you run the workflow again within 15 minutes, you do not pay for the same results again. If it is later, raise Remember Results (Minutes) first.',
		);
		expect(spent()).toBe(10);
	});

	it('ends with Stop, also for rows that wait for those before them', async () => {
		sandbox.set({ latencyMs: 200 });
		const parameters = { ...person, options: { maxPaidCalls: 4 } };
		const areSent = () => sandbox.requests.length >= 2;
		await service.runUntil(areSent, ENRICH, parameters, named('Sure', 9));
		await sleep(600);
		expect(sandbox.requests).toHaveLength(2);
	});
});

it('says in a dry run what would be paid for, and sends nothing', async () => {
	await find(people(1));
	const list = [...people(3), { first: 'person1', last: 'high', company: 'acme.com' }];
	const withEmpty = await find([...list, { first: '', last: '' }], { dryRun: true });
	expect(withEmpty.error?.message).toBe('First Name and Last Name are both empty');
	const { items } = await find(list, { dryRun: true });
	// A mistake in the expression of the option.
	const slip = await find(list, { dryRun: '={{ $json.dry }}' });
	expect(slip.error?.message).toContain('Dry Run');
	expect(sandbox.requests).toHaveLength(1);
	const requests = list.map(({ first: firstName, last: lastName, company }) => {
		return { dryRun: true, path: '/email/find', request: { firstName, lastName, company } };
	});
	const calls = ['remembered', 'new', 'new', 'duplicate'];
	expect(items).toEqual(
		paired(requests.map((plan, item) => ({ ...plan, call: calls[item], mayFollow: 0 }))),
	);
});

describe('a loop that gives the items one by one', () => {
	const inLoop = { ...keepGoing, isInLoop: true };
	const maxPaidCalls = 3;

	it('keeps Maximum Paid Calls once for the execution', async () => {
		const { run } = await find(people(12), { maxPaidCalls }, inLoop);
		const tasks = run.data.resultData.runData.LeadGen ?? [];
		const items = tasks.flatMap(({ data }) => (data?.main ?? []).flatMap((each) => each ?? []));
		const messages = items.map((item) => errorOf(item)?.message);
		expect(messages).toEqual([...times(3, undefined), ...times(9, reached(3))]);
		expect(spent()).toBe(3);
	});

	it('is like several calls of an AI agent, also at the same time', async () => {
		// Each execution has its own maximum.
		const calls = people(12).map(async (one, index) => {
			const agent = { ...keepGoing, executionId: `agent ${String(index % 2)}`, isTool: true };
			await find([one], { maxPaidCalls }, agent);
		});
		await Promise.all(calls);
		expect(spent()).toBe(6);
	});

	it('is said to be unnecessary from the second item on', async () => {
		const said = (result: NodeResult) =>
			hintsOf(result).map((hints) =>
				hints.some(({ message }) => message.includes('needs no Loop Over Items node')),
			);
		expect(said(await find(people(3), {}, { isInLoop: true }))).toEqual([false, true, true]);
		expect(said(await find(people(3)))).toEqual([false]);
		expect(said(await start([1, 1], {}, { isInLoop: true }))).toEqual([false, false]);
	});
});
