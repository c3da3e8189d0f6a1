/** A service that answers as a test wants it to, for what the sandbox does not imitate. */
import {
	createServer,
	type IncomingMessage,
	type OutgoingHttpHeaders,
	type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { runLeadGen, type NodeResult, type NodeRun } from './engine';
import { expectSame, get, keyOf, paired, post, type Call } from './service';

/** A request as it came, and when. */
export interface Received extends Call {
	query: Record<string, unknown>;
	at: number;
	authorization: string | undefined;
}

/** Text is sent as it is, and any other body as JSON. */
export interface Answer {
	body: unknown;
	status?: number;
	headers?: OutgoingHttpHeaders;
}

/** Gives no answer if it sends one itself. */
export type Responder = (
	request: Received,
	outgoing: ServerResponse,
) => Answer | undefined | Promise<Answer>;

/** An answer, and what the item of its row holds then: by default the verdict on its address. */
export type Case = [answer: Answer | Responder, outcome?: object];

/** By the names of the rows, or for the rows of `people`. */
type Each<T> = T[] | Record<string, T>;

export interface Row extends IDataObject {
	name: string;
}

/** An operation that makes one request for each row. */
export interface Action {
	operation: readonly [string, string];
	parameters: INodeParameters;
	callFor: (row: Row) => Call;
	/** Answers the requests that follow it. */
	next?: Responder;
}

export const FIND_BUSINESS: Action = {
	operation: ['email', 'findBusiness'],
	parameters: { firstName: '={{ $json.name }}', company: 'acme.com' },
	callFor: ({ name }) => post('/email/find', { firstName: name, company: 'acme.com' }),
};
export const FIND_PERSONAL: Action = {
	operation: ['email', 'findPersonal'],
	parameters: { firstName: '={{ $json.name }}' },
	callFor: ({ name }) => post('/email/personal', { firstName: name }),
};
export const ENRICH: Action = { ...FIND_BUSINESS, operation: ['email', 'enrich'] };
export const VERIFY: Action = {
	operation: ['email', 'verify'],
	parameters: { email: '={{ $json.name }}@acme.com' },
	callFor: ({ name }) => post('/email/verify', { email: `${name}@acme.com` }),
};
export const START: Action = {
	operation: ['scrape', 'start'],
	parameters: { limit: 5, filters: { jobTitles: ['={{ $json.name }}'] } },
	callFor: ({ name }) => post('/start', { filters: { limit: 5, jobTitles: [name] } }),
};
export const GET_STATUS: Action = {
	operation: ['scrape', 'getStatus'],
	parameters: { scrapeId: '={{ $json.name }}' },
	callFor: ({ name }) => get('/status', { scrapeId: name }),
};
export const WAIT: Action = { ...GET_STATUS, operation: ['scrape', 'wait'] };

/** The rows `p0`, `p1` and so on. */
export const people = (count: number): Row[] =>
	Array.from({ length: count }, (_, index) => ({ name: `p${String(index)}` }));

export const answer = (body: unknown, status?: number, headers?: OutgoingHttpHeaders): Answer => ({
	body,
	status,
	headers,
});

export const success = (data: unknown, status?: number): Answer =>
	answer({ success: true, data }, status);

export const failure = (code: string, status: number, message = 'That went wrong'): Answer =>
	answer({ success: false, error: { code, message } }, status);

/** A failure that is told in a text alone. */
export const saying = (error: string, status?: number): Answer =>
	answer({ success: false, error }, status);

const verdictOn = (email: unknown) => ({
	email,
	status: 'valid',
	deliverable: true,
	disposable: false,
	freeProvider: false,
});

export const verdictOf = ({ name }: Row) => verdictOn(`${name}@acme.com`);

/** Answers a verification, with `fields` in the verdict. */
export const verdictWith =
	(fields: object) =>
	({ body }: Received): Answer =>
		success({ ...verdictOn((body as IDataObject).email), ...fields });

export const verdict = verdictWith({});

/** The items of a verification: the error of a row if it has one, and its verdict otherwise. */
export function verified(rows: Row[], errorOf: (row: Row, index: number) => unknown = () => null) {
	return paired(
		rows.map((row, index) => {
			const error = errorOf(row, index);
			return error ? { ...row, error } : verdictOf(row);
		}),
	);
}

export const keepGoing = { onError: 'continueRegularOutput' } as const;
export const someText: unknown = expect.stringMatching(/\S/);
/** Advice for a paid call with an unknown outcome. */
export const mayBeDone: unknown = expect.stringContaining('may have done the work');

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
