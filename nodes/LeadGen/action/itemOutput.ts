import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { LeadGenError, nodeError } from '../common/errors';
import { without } from '../common/json';
import { booleanField, notForTools, textField, type Parameters } from '../common/parameters';
import type { Operation } from './operations/operation';

export const includeInput = booleanField({
	displayName: 'Include Other Input Fields',
	name: 'includeInput',
	displayOptions: notForTools,
	description:
		'Whether to pass on the fields of the incoming item too. A field of the result replaces one of the same name.',
});

export const resultField = textField({
	displayName: 'Put Output in Field',
	name: 'resultField',
	displayOptions: notForTools,
	placeholder: 'e.g. leadgen',
	description: 'The name of a field for the whole result, which avoids name clashes',
});

/** Makes the item that comes out for an incoming one: the result alone or with the incoming fields, flat or in a field. */
export class ItemOutput {
	private field = '';
	private isIncluded = false;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: Operation,
		private readonly input: INodeExecutionData,
		private readonly index: number,
	) {}

	/** Reads the options. Until then, only a failed item can come out. @throws InputError if one is invalid */
	configure(parameters: Parameters): void {
		this.field = parameters.option(resultField);
		this.isIncluded = parameters.option(includeInput);
	}

	/** @param isPlan whether it is the plan of a dry run, which replaces no old result */
	result(result: IDataObject, isPlan: boolean): INodeExecutionData {
		const json = this.field === '' ? inOrder(result) : { [this.field]: inOrder(result) };
		if (!this.isIncluded) return { json, pairedItem: { item: this.index } };
		const old = isPlan ? new Set(['error']) : this.namesOfResult;
		return this.withFiles({ ...without(this.input.json, old), ...json });
	}

	/**
	 * For an error: `error` says why, with `message`, `advice` and the facts. n8n moves the item to the error output. If
	 * `error` is its only key, n8n also adds the fields of the incoming item there (n8n 1.x has no other way that keeps the
	 * facts), but no files. With an `error` beside `json`, n8n would drop everything except the message. On the regular
	 * output, we add the incoming fields ourselves.
	 */
	failed(error: unknown): INodeExecutionData {
		const { context, index, input } = this;
		const { message, description } = nodeError(context, error, index);
		const facts = error instanceof LeadGenError ? error.details : {};
		const failure = { ...facts, message, advice: description };
		const isOnErrorOutput = context.getNode().onError === 'continueErrorOutput';
		const kept = isOnErrorOutput ? {} : without(input.json, this.namesOfResult);
		return this.withFiles({ ...kept, error: failure });
	}

	private withFiles(json: IDataObject): INodeExecutionData {
		const { binary } = this.input;
		return { json, ...(binary && { binary }), pairedItem: { item: this.index } };
	}

	/**
	 * The names that the fields of a result have in an item. An incoming field of such a name holds an old result, except
	 * one that the operation asks for, such as the address to verify.
	 */
	private get namesOfResult(): Set<string> {
		const { output, fields } = this.operation;
		const names = new Set(['error', ...(this.field === '' ? Object.keys(output) : [this.field])]);
		for (const { property } of fields) names.delete(property.name);
		return names;
	}
}

/** With the fields first for which users look. */
function inOrder(result: IDataObject): IDataObject {
	if (!('email' in result)) return result;
	const first = ['email', 'status', 'confidence'].filter((name) => name in result);
	return { ...Object.fromEntries(first.map((name) => [name, result[name]])), ...result };
}
