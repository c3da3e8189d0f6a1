/** Operations that make one request for each row, with an answer of the tests. */
import type { INodeParameters } from 'n8n-workflow';
import { success, type Responder, type Row } from './answers';
import * as operations from './given';
import { get, post, type Call } from './service';

export interface Action {
	operation: operations.Operation;
	parameters: INodeParameters;
	callFor: (row: Row) => Call;
	/** Answers the requests that follow it. */
	next?: Responder;
}

export const FIND_BUSINESS: Action = {
	operation: operations.FIND,
	parameters: { firstName: '={{ $json.name }}', company: 'acme.com' },
	callFor: ({ name }) => post('/email/find', { firstName: name, company: 'acme.com' }),
};
export const FIND_PERSONAL: Action = {
	operation: operations.PERSONAL,
	parameters: { firstName: '={{ $json.name }}' },
	callFor: ({ name }) => post('/email/personal', { firstName: name }),
};
export const ENRICH: Action = { ...FIND_BUSINESS, operation: operations.ENRICH };
export const VERIFY: Action = {
	operation: operations.VERIFY,
	parameters: { email: '={{ $json.name }}@acme.com' },
	callFor: ({ name }) => post('/email/verify', { email: `${name}@acme.com` }),
};
export const START: Action = {
	operation: operations.START,
	parameters: { limit: 5, filters: { jobTitles: ['={{ $json.name }}'] } },
	callFor: ({ name }) => post('/start', { filters: { limit: 5, jobTitles: [name] } }),
};
export const GET_STATUS: Action = {
	operation: operations.STATUS,
	parameters: { scrapeId: '={{ $json.name }}' },
	callFor: ({ name }) => get('/status', { scrapeId: name }),
};
export const WAIT: Action = { ...GET_STATUS, operation: operations.WAIT };
/** With a service that says `completed` for each scrape that it started. */
export const START_AND_WAIT: Action = {
	...START,
	operation: operations.START_AND_WAIT,
	next: ({ query }) => success({ scrapeId: query.scrapeId, status: 'completed', progress: 100 }),
};
export const FINDERS = [FIND_BUSINESS, FIND_PERSONAL, ENRICH];

/** The rows `p0`, `p1` and so on. */
export const people = (count: number): Row[] =>
	Array.from({ length: count }, (_, index) => ({ name: `p${String(index)}` }));
