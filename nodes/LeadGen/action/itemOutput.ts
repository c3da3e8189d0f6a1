import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { LeadGenError } from '../common/errors';
import { without } from '../common/json';
import { nodeError } from '../common/nodeError';
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

	result(result: IDataObject): INodeExecutionData {
		return this.withInput(inOrder(result), this.namesOfResult);
	}

	/** For the plan of a dry run. It replaces no old result. */
	plan(plan: IDataObject): INodeExecutionData {
		return this.withInput(plan, new Set());
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
		return {
			json: isOnErrorOutput
				? { error: failure }
				: { ...without(input.json, this.namesOfResult), error: failure },
			...(input.binary && { binary: input.binary }),
			pairedItem: { item: index },
		};
	}

	/** @param old the names of incoming fields to leave out, beside `error` */
	private withInput(result: IDataObject, old: ReadonlySet<string>): INodeExecutionData {
		const { field, input, index } = this;
		const json = field === '' ? result : { [field]: result };
		const pairedItem = { item: index };
		if (!this.isIncluded) return { json, pairedItem };
		return {
			json: { ...without(input.json, new Set([...old, 'error'])), ...json },
			...(input.binary && { binary: input.binary }),
			pairedItem,
		};
	}

	/**
	 * The names that the fields of a result have in an item. An incoming field of such a name holds an old result, except
	 * one that the operation asks for, such as the address to verify.
	 */
	private get namesOfResult(): Set<string> {
		const { output, fields } = this.operation;
		const names = new Set(this.field === '' ? Object.keys(output) : [this.field]);
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
