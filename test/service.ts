import { inspect } from 'node:util';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { Sandbox } from '../lab/sandbox/server';
import { runLeadGen, type NodeResult, type NodeRun } from './engine';
import { paired, verdictOf } from './expected';
import { sleep, until, useVirtualTime } from './virtualTime';
import {
	keepGoing,
	rowsOf,
	type Answer,
	type Call,
	type Operation,
	type Responder,
	type Row,
	type RowOperation,
} from './given';

export { sleep, until };

/** How every key begins; no other text in a run resembles it. */
export const SECRET = 'sk-secret-4711';

/** An answer, and what the item of its row holds then: by default the verdict on its address. */
export type Case = [answer: Answer | Responder, outcome?: object];

/**
 * The sandbox for the tests of a file, as new before each, with an account of its own for each test, since results are
 * remembered by account. Its plan is also that of the credential: `enterprise` has no limit.
 */
export function useService({ plan }: { plan: string }) {
	useVirtualTime();
	const sandbox = new Sandbox({});
	let accounts = 0;
	/** With characters that addresses write in other ways. */
	const apiKey = () => `${SECRET}-${String(accounts)}/+&<x>`;
	let executions = 0;

	beforeAll(async () => {
		await sandbox.listen();
	});
	beforeEach(() => {
		accounts += 1;
		sandbox.reset({ accounts: { [apiKey()]: { plan, credits: 100_000 } } });
	});
	afterAll(async () => {
		await sandbox.close();
	});

	/** From now on in a test, answers what the sandbox does not imitate. */
	function answerWith(given: Answer | Responder): void {
		sandbox.respond = async (request, response) => {
			const own = await (typeof given === 'function' ? given(request, response) : given);
			if (!own) return undefined;
			const { body, status = 200, headers } = own;
			request.status = status;
			const isText = typeof body === 'string';
			return {
				status,
				headers: { ...(!isText && { 'content-type': 'application/json' }), ...headers },
				body: isText ? body : JSON.stringify(body),
			};
		};
	}

	/** Runs an operation with the account of the test. */
	async function run(
		[resource, operation]: Operation,
		parameters: INodeParameters,
		items: IDataObject[],
		options: Partial<NodeRun> = {},
	): Promise<NodeResult> {
		let isOver = false;
		const running = runLeadGen({
			baseUrl: sandbox.url,
			parameters: { resource, operation, ...parameters },
			items,
			executionId: String((executions += 1)),
			...options,
			credential: { apiKey: apiKey(), plan, requestsPerMinute: 0, ...options.credential },
		}).finally(() => (isOver = true));
		await until(() => isOver, 'the run is over');
		return await running;
	}

	/** Runs an operation until `when`, and then presses Stop. @returns the run that was stopped */
	async function runUntil(
		when: () => boolean,
		...[operation, parameters, items, options]: Parameters<typeof run>
	): Promise<NodeResult['run']> {
		let stop = () => {};
		const onStart = (press: () => void) => (stop = press);
		const running = run(operation, parameters, items, { ...options, onStart });
		await until(when);
		stop();
		const result = await running;
		expect(result.run.status).toBe('canceled');
		return result.run;
	}

	async function runRows(
		{ operation, parameters }: RowOperation,
		rows: Row[],
		options: INodeParameters = {},
		more: Partial<NodeRun> = keepGoing,
	): Promise<NodeResult> {
		return await run(operation, { ...parameters, options }, rows, more);
	}

	/**
	 * Runs an operation with a row for each answer, and expects that each row is asked for once. All are in flight at the
	 * first answer.
	 */
	async function runEach(
		action: RowOperation,
		answers: Array<Answer | Responder>,
		...more: [options?: INodeParameters, more?: Partial<NodeRun>]
	) {
		const rows = rowsOf(answers.length);
		const calls = rows.map(action.callFor);
		const keys = calls.map(keyOf);
		answerWith(async (request, response) => {
			// An answer may end the run.
			await until(() => sandbox.requests.length >= rows.length);
			const own = answers[keys.indexOf(keyOf(request))] ?? action.next;
			if (!own) throw new Error(`Nobody expects the request ${keyOf(request)}`);
			return typeof own === 'function' ? await own(request, response) : own;
		});
		const result = await runRows(action, rows, ...more);
		expectCalls(calls, action.next && calls[0]?.path);
		return { ...result, rows };
	}

	/** The same, and expects an item for each row: its result, or its fields with `error` beside them. */
	async function expectEach(action: RowOperation, cases: Case[], options?: INodeParameters) {
		const answers = cases.map(([own]) => own);
		const result = await runEach(action, answers, options);
		const jsons = result.rows.map((row, index) => {
			const outcome = cases[index]?.[1] ?? verdictOf(row);
			return 'error' in outcome ? { ...row, ...outcome } : outcome;
		});
		expect(result.items).toEqual(paired(jsons));
		return result;
	}

	/** Requests so far, by default all of them; in any order, since those of several items are in flight together. */
	function expectCalls(calls: Call[], path?: string): void {
		const sorted = (of: Call[]) =>
			of
				.map(({ method, path, query, body }) => ({ method, path, query, body }))
				.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
		const sent = sandbox.requests.filter((each) => path === undefined || each.path === path);
		expect(sorted(sent)).toEqual(sorted(calls));
	}

	return {
		sandbox,
		apiKey,
		answerWith,
		run,
		runUntil,
		runRows,
		runEach,
		expectEach,
		expectCalls,
	};
}

/** The same text for the same request. */
export function keyOf({ method, path, query, body }: Call): string {
	return inspect({ method, path, query, body }, { sorted: true, depth: Infinity });
}
