/** A service that answers as a test wants it to, for what the sandbox does not imitate. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { Action } from './actions';
import {
	failure,
	verdictOf,
	type Answer,
	type Case,
	type Received,
	type Responder,
} from './answers';
import { runLeadGen, type NodeResult, type NodeRun } from './engine';
import { paired } from './expected';
import { keepGoing } from './given';
import { expectSame, keyOf, type Call } from './service';

/** By the names of the rows, or for the rows of `people`. */
type Each<T> = T[] | Record<string, T>;

/** One such service for the tests of a file. Each request must have held the key. */
export function useOtherService() {
	const received: Received[] = [];
	const runs: Array<Promise<NodeResult>> = [];
	const stops: Array<() => void> = [];
	let respond: Responder = () => undefined;
	let baseUrl = '';
	// An account of its own for each test, since the node remembers by account.
	let accounts = 0;
	const apiKey = () => `sk-other/4711+${String(accounts)}"&<x>`;

	const server = createServer((incoming, outgoing) => {
		let text = '';
		incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
		incoming.on('end', () => {
			void reply(incoming, text, outgoing);
		});
	});

	async function reply(incoming: IncomingMessage, text: string, outgoing: ServerResponse) {
		const { pathname, searchParams } = new URL(incoming.url ?? '', baseUrl);
		const request: Received = {
			method: incoming.method ?? '',
			path: pathname,
			query: Object.fromEntries(searchParams),
			body: text === '' ? undefined : (JSON.parse(text) as unknown),
			at: Date.now(),
			authorization: incoming.headers.authorization,
		};
		received.push(request);
		const answered = await respond(request, outgoing);
		if (!answered) return;
		const { body, status = 200, headers } = answered;
		const isText = typeof body === 'string';
		const type = isText ? {} : { 'content-type': 'application/json' };
		outgoing.writeHead(status, { ...type, ...headers });
		outgoing.end(isText ? body : JSON.stringify(body));
	}

	/** Ends all runs as a user does. */
	function stop(): void {
		for (const each of stops) each();
	}

	beforeAll(async () => {
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
	});
	beforeEach(() => {
		for (const list of [received, runs, stops]) list.length = 0;
		accounts += 1;
	});
	afterEach(async () => {
		stop();
		await Promise.allSettled(runs);
		jest.restoreAllMocks();
		const keys = received.map(({ authorization }) => authorization);
		expect(keys).toEqual(received.map(() => `Bearer ${apiKey()}`));
	});
	afterAll(() => {
		server.close();
		server.closeAllConnections();
	});

	function answerWith(answers: Answer | Responder): void {
		respond = typeof answers === 'function' ? answers : () => answers;
	}

	async function run(
		{ operation: [resource, operation], parameters }: Action,
		rows: IDataObject[],
		options: INodeParameters = {},
		nodeRun: Partial<NodeRun> = keepGoing,
	): Promise<NodeResult> {
		const running = runLeadGen({
			baseUrl,
			parameters: { resource, operation, ...parameters, options },
			items: rows,
			...nodeRun,
			credential: {
				apiKey: apiKey(),
				plan: 'enterprise',
				requestsPerMinute: 0,
				...nodeRun.credential,
			},
			onStart: (stopRun) => stops.push(stopRun),
		});
		runs.push(running);
		return await running;
	}

	function expectCalls(calls: Call[], requests = received): void {
		expectSame(requests, calls);
	}

	/** Runs an operation with a row for each answer, and expects that each row is asked for once. */
	async function runEach(
		action: Action,
		answers: Each<Answer | Responder>,
		options?: INodeParameters,
		nodeRun?: Partial<NodeRun>,
	) {
		const rows = Object.keys(answers).map((key) => ({ name: /^\d/.test(key) ? `p${key}` : key }));
		const calls = rows.map(action.callFor);
		const keys = calls.map(keyOf);
		const each = Object.values(answers);
		answerWith((request, outgoing) => {
			const own = each[keys.indexOf(keyOf(request))] ?? action.next ?? failure('UNEXPECTED', 500);
			return typeof own === 'function' ? own(request, outgoing) : own;
		});
		const result = await run(action, rows, options, nodeRun);
		const paths = calls.map(({ path }) => path);
		const isFirst = ({ path }: Received) => !action.next || paths.includes(path);
		expectCalls(calls, received.filter(isFirst));
		return { ...result, rows };
	}

	/** The same, and expects an item for each row: its result, or its fields with `error` beside them. */
	async function expectEach(action: Action, cases: Each<Case>, options?: INodeParameters) {
		const answers = Object.entries(cases).map(([key, [own]]) => [key, own] as const);
		const result = await runEach(action, Object.fromEntries(answers), options);
		const outcomes = Object.values(cases).map(([, outcome]) => outcome);
		const jsons = result.rows.map((row, index) => {
			const outcome = outcomes[index] ?? verdictOf(row);
			return 'error' in outcome ? { ...row, ...outcome } : outcome;
		});
		expect(result.items).toEqual(paired(jsons));
		return result;
	}

	return { received, apiKey, answerWith, run, runEach, expectEach, stop, expectCalls };
}
