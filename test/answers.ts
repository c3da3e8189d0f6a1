/** What a service may answer. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { IDataObject } from 'n8n-workflow';
import { containing, including, paired, verdictOn } from './expected';
import type { Call } from './service';

export interface Row extends IDataObject {
	name: string;
}

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

/** Advice for a paid call with an unknown outcome. */
export const mayBeDone = containing('may have done the work');
/** An item whose error has these fields. */
export const failed = (fields: object) => ({ error: including(fields) });
export const titleIn = (body: unknown) =>
	(body as { filters: { jobTitles: string[] } }).filters.jobTitles[0] ?? '';
