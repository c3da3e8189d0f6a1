/** What tests expect of items. */
import type { IDataObject } from 'n8n-workflow';

/** What a finder gives for an address. */
export function found(
	email: string,
	confidence: number,
	confidenceLevel: string,
	sources?: string[],
) {
	return { found: true, email, confidence, confidenceLevel, ...(sources && { sources }) };
}

/** What the service says of an address. */
export function verdictOn(email: unknown, status = 'valid', more: object = {}) {
	const flags = { deliverable: status === 'valid', disposable: false, freeProvider: false };
	return { email, status, ...flags, ...more };
}

export const someText: unknown = expect.stringMatching(/\S/);
export const including = (fields: object) => expect.objectContaining(fields) as object;
export const containing = (text: string): unknown => expect.stringContaining(text);

export function errorOf(item: { json: IDataObject } | undefined): IDataObject | undefined {
	return item?.json.error as IDataObject | undefined;
}

/** The items of a result, one for each of `jsons`, paired with the item of the same place. */
export function paired(jsons: object[]) {
	return jsons.map((json, item) => ({ json, pairedItem: { item } }));
}
