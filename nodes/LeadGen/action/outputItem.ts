import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { Parameters } from '../common/parameters';
import { includeCost, includeInput, resultField } from './properties';

/** Makes an item of a result, or of the plan of a dry run, which has no cost. */
export type ToItem = (result: IDataObject, paidCalls?: number) => INodeExecutionData;

/**
 * Reads how a result becomes an item: alone or with the incoming fields, flat or in a field.
 * @throws InputError before anything is paid for
 */
export function readOutput(
	parameters: Parameters,
	input: INodeExecutionData,
	item: number,
): ToItem {
	const field = parameters.option(resultField);
	const isIncluded = parameters.option(includeInput);
	const hasCost = parameters.option(includeCost);
	return (result, paidCalls) => {
		const isCostShown = hasCost && paidCalls !== undefined;
		const ordered = { ...inOrder(result), ...(isCostShown && { paidCalls }) };
		const json = field === '' ? ordered : { [field]: ordered };
		return isIncluded
			? {
					json: { ...input.json, ...json },
					...(input.binary && { binary: input.binary }),
					pairedItem: { item },
				}
			: { json, pairedItem: { item } };
	};
}

/** With the fields first for which users look. */
function inOrder(result: IDataObject): IDataObject {
	if (!('email' in result)) return result;
	const first = ['email', 'status', 'confidence'].filter((name) => name in result);
	return { ...Object.fromEntries(first.map((name) => [name, result[name]])), ...result };
}
