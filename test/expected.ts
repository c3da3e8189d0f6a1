/** What tests expect of items. */
import type { IDataObject } from 'n8n-workflow';

/** What a finder gives for an address. */
export function found(
	email: string,
	confidence: number,
	confidenceLevel: string,
	sources?: string[],
) {
	const paid = { paidCalls: 1 };
	return { found: true, email, confidence, confidenceLevel, ...(sources && { sources }), ...paid };
}

/** What the service says of an address. */
export function verdictOn(email: unknown, status = 'valid', more: object = {}) {
	const flags = { deliverable: status === 'valid', disposable: false, freeProvider: false };
	return { email, status, ...flags, ...more };
}

/** The result for the address of a row. */
export const verdictOf = ({ name }: { name: string }, paidCalls = 1) => ({
	...verdictOn(`${name}@acme.com`),
	paidCalls,
});

export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
export const someText = matching(/\S/);
export const including = (fields: object) => expect.objectContaining(fields) as object;
export const containing = (text: string): unknown => expect.stringContaining(text);

/** An item whose error has these fields. */
export const failed = (fields: object) => ({ error: including(fields) });
/** Advice for a paid call with an unknown outcome. */
export const mayBeDone = containing('may have done the work');

export function errorOf(item: { json: IDataObject } | undefined): IDataObject | undefined {
	return item?.json.error as IDataObject | undefined;
}

/** The items of a result, one for each of `jsons`, paired with the item of the same place. */
export function paired(jsons: object[]) {
	return jsons.map((json, item) => ({ json, pairedItem: { item } }));
}

/** The items of rows that were verified: the error of a row if it has one, and its verdict otherwise. */
export function verified<Row extends { name: string }>(
	rows: Row[],
	errorAt: (row: Row, index: number) => unknown = () => undefined,
) {
	return paired(
		rows.map((row, index) => {
			const error = errorAt(row, index);
			return error ? { ...row, error } : verdictOf(row);
		}),
	);
}
