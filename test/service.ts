import { inspect } from 'node:util';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { Sandbox } from '../lab/sandbox/server';
import { runLeadGen, type NodeResult, type NodeRun } from './engine';
import type { Operation } from './given';

/** How every key begins; no other text in a run resembles it. */
export const SECRET = 'sk-secret-4711';

/** A request as the service got it; `undefined` fields are those that were not sent. */
export interface Call {
	method: string;
	path: string;
	query?: Record<string, unknown>;
	body?: unknown;
}

export const get = (path: string, query: Record<string, unknown> = {}): Call => ({
	method: 'GET',
	path,
	query,
});

export const post = (path: string, body: unknown): Call => ({
	method: 'POST',
	path,
	query: {},
	body,
});

/** What an operation is run with. */
type RunOf = [
	operation: Operation,
	parameters: INodeParameters,
	items: IDataObject[],
	options?: Partial<NodeRun>,
];

/**
 * One sandbox for the tests of a file, as new before each. After each test all requests must have been
 * within the contract and must have held the key in their Authorization header, and nowhere else.
 */
export function useService() {
	const sandbox = new Sandbox({});
	let badInput = false;
	// An account of its own for each test, since results are remembered by account.
	let accounts = 0;
	const apiKey = () => `${SECRET}-${String(accounts)}`;
	let executions = 0;

	beforeAll(async () => {
		await sandbox.listen();
	});
	beforeEach(() => {
		badInput = false;
		accounts += 1;
		sandbox.reset({
			accounts: { [apiKey()]: { plan: 'enterprise', credits: 100_000 } },
		});
	});
	afterEach(() => {
		jest.restoreAllMocks();
		const violations = sandbox.requests.flatMap(({ violation = [] }) => violation);
		if (badInput) expect(violations).not.toEqual([]);
		else expect(violations).toEqual([]);
		for (const { headers, body, query, path } of sandbox.requests) {
			const { authorization, ...others } = headers;
			expect(JSON.stringify([others, body, query, path])).not.toContain(SECRET);
			expect(authorization).toMatch(/^Bearer \S+$/);
		}
	});
	afterAll(async () => {
		await sandbox.close();
	});

	return {
		sandbox,

		/** Says that the test is about requests that the service has to refuse. */
		expectViolations(): void {
			badInput = true;
		},

		/** Runs an operation with the account of the sandbox. */
		async run(
			[resource, operation]: Operation,
			parameters: INodeParameters,
			items: IDataObject[],
			options: Partial<NodeRun> = {},
		): Promise<NodeResult> {
			return await runLeadGen({
				baseUrl: sandbox.url,
				parameters: { resource, operation, ...parameters },
				items,
				executionId: String((executions += 1)),
				...options,
				// A plan without a limit, so that nothing waits.
				credential: {
					apiKey: apiKey(),
					plan: 'enterprise',
					requestsPerMinute: 0,
					...options.credential,
				},
			});
		},

		/** Runs an operation until `when`, and then presses Stop. @returns the run that was stopped */
		async runUntil(when: () => boolean, ...given: RunOf): Promise<NodeResult['run']> {
			const [operation, parameters, items, options] = given;
			let stop = () => {};
			const onStart = (press: () => void) => (stop = press);
			const running = this.run(operation, parameters, items, { ...options, onStart });
			await until(when);
			stop();
			const { run } = await running;
			expect(run.status).toBe('canceled');
			return run;
		},

		/** Starts a scrape without the node. */
		async startJob(filters: object = {}): Promise<string> {
			const response = await fetch(`${sandbox.url}/start`, {
				method: 'POST',
				headers: {
					authorization: `Bearer ${apiKey()}`,
					'content-type': 'application/json',
				},
				body: JSON.stringify({ filters }),
			});
			const { data } = (await response.json()) as {
				data: { scrapeId: string };
			};
			return data.scrapeId;
		},

		/** Requests so far, by default all of them, in no particular order. */
		expectCalls(calls: Call[], path?: string): void {
			const sent = sandbox.requests.filter((each) => path === undefined || each.path === path);
			expectSame(sent, calls);
		},
	};
}

/** Resolves as soon as `condition` is true; the time limit of the test ends a wait in vain. */
export async function until(condition: () => boolean): Promise<void> {
	while (!condition()) await sleep(5);
}

export async function sleep(ms: number): Promise<void> {
	await new Promise((resolve) => setTimeout(resolve, ms));
}

/** The same text for the same request. */
export function keyOf({ method, path, query, body }: Call): string {
	return inspect({ method, path, query, body }, { sorted: true, depth: Infinity });
}

/** Compares requests in any order, since those of several items are in flight together. */
export function expectSame(requests: Call[], calls: Call[]): void {
	const sorted = (of: Call[]) =>
		of
			.map(({ method, path, query, body }) => ({ method, path, query, body }))
			.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
	expect(sorted(requests)).toEqual(sorted(calls));
}
