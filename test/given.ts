/** What tests run the node with, what it sends then, and what a service may answer. */
import type { ServerResponse } from 'node:http';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { RequestRecord } from '../lab/sandbox/requestLog';
import { verdictOn } from './expected';

/** A request as the service gets it; `undefined` fields are those that were not sent. */
export interface Call {
	method: string;
	path: string;
	query?: Record<string, unknown>;
	body?: unknown;
}

export function get(path: string, query: Record<string, unknown> = {}): Call {
	return { method: 'GET', path, query };
}

export function post(path: string, body: unknown): Call {
	return { method: 'POST', path, query: {}, body };
}

/** The operations of the node. */
export const BALANCE = ['credit', 'get'] as const;
export const FIND = ['email', 'findBusiness'] as const;
export const PERSONAL = ['email', 'findPersonal'] as const;
export const ENRICH = ['email', 'enrich'] as const;
export const VERIFY = ['email', 'verify'] as const;
export const START = ['scrape', 'start'] as const;
export const STATUS = ['scrape', 'getStatus'] as const;
export const WAIT = ['scrape', 'wait'] as const;
export const START_AND_WAIT = ['scrape', 'startAndWait'] as const;
export type Operation = readonly [resource: string, operation: string];

/** A failed item goes to the regular output. */
export const keepGoing = { onError: 'continueRegularOutput' } as const;

/** A person from the fields of the item. Fields that the item lacks are empty. */
export const person = {
	firstName: '={{ $json.first }}',
	lastName: '={{ $json.last }}',
	company: '={{ $json.company }}',
	linkedinUrl: '={{ $json.profile }}',
};

/** People by first and last name, all of one company. */
export function people(...names: string[]) {
	return names.map((name) => {
		const [first = '', last = ''] = name.split(' ');
		return { first, last, company: 'acme.com' };
	});
}

/** An item of the operations below. */
export interface Row extends IDataObject {
	name: string;
}

/** The rows `p0`, `p1` and so on. */
export const rowsOf = (count: number): Row[] =>
	Array.from({ length: count }, (_, index) => ({ name: `p${String(index)}` }));

/** An operation that makes one request for each row. */
export interface RowOperation {
	operation: Operation;
	parameters: INodeParameters;
	callFor: (row: Row) => Call;
	/** Answers the requests that follow it. */
	next?: Responder;
}

const name = '={{ $json.name }}';
export const FIND_ROWS: RowOperation = {
	operation: FIND,
	parameters: { firstName: name, lastName: 'Sure', company: 'acme.com' },
	callFor: (row) =>
		post('/email/find', { firstName: row.name, lastName: 'Sure', company: 'acme.com' }),
};
export const PERSONAL_ROWS: RowOperation = {
	operation: PERSONAL,
	parameters: { firstName: name, lastName: 'Sure' },
	callFor: (row) => post('/email/personal', { firstName: row.name, lastName: 'Sure' }),
};
export const ENRICH_ROWS: RowOperation = { ...FIND_ROWS, operation: ENRICH };
export const VERIFY_ROWS: RowOperation = {
	operation: VERIFY,
	parameters: { email: `${name}@acme.com` },
	callFor: (row) => post('/email/verify', { email: `${row.name}@acme.com` }),
};
export const START_ROWS: RowOperation = {
	operation: START,
	parameters: { limit: 5, filters: { jobTitles: [name] } },
	callFor: (row) => post('/start', { filters: { limit: 5, jobTitles: [row.name] } }),
};
export const STATUS_ROWS: RowOperation = {
	operation: STATUS,
	parameters: { scrapeId: name },
	callFor: (row) => get('/status', { scrapeId: row.name }),
};
export const WAIT_ROWS: RowOperation = { ...STATUS_ROWS, operation: WAIT };
/** With a service that says `completed` for each scrape that it started. */
export const START_AND_WAIT_ROWS: RowOperation = {
	...START_ROWS,
	operation: START_AND_WAIT,
	next: ({ query }) => success({ scrapeId: query.scrapeId, status: 'completed', progress: 100 }),
};

/** Text is sent as it is, and any other body as JSON. */
export interface Answer {
	body: unknown;
	status?: number;
	headers?: Record<string, string>;
}

/** Gives no answer if it sends one itself. */
export type Responder = (
	request: RequestRecord,
	response: ServerResponse,
) => Answer | undefined | Promise<Answer | undefined>;

/** Lets a request wait until it is given up. */
export const silence: Responder = () => undefined;

export function answer(body: unknown, status?: number, headers?: Answer['headers']): Answer {
	return { body, status, headers };
}

export const success = (data: unknown, status?: number): Answer =>
	answer({ success: true, data }, status);

export const failure = (code: string, status: number, message = 'That went wrong'): Answer =>
	answer({ success: false, error: { code, message } }, status);

/** Answers a verification, with `fields` in the verdict. */
export const verdictWith =
	(fields: object) =>
	({ body }: RequestRecord): Answer =>
		success({ ...verdictOn((body as IDataObject).email), ...fields });

export const verdict = verdictWith({});

/** The title that a start asks for. */
export const titleIn = ({ body }: RequestRecord) =>
	(body as { filters: { jobTitles: string[] } }).filters.jobTitles[0] ?? '';
