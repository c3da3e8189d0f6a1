import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { LeadGenError } from '../common/errors';
import { without } from '../common/json';
import { nodeError } from '../common/nodeError';
import { booleanField, notForTools, textField, type Parameters } from '../common/parameters';
import type { Operation } from './operations/operation';

const PAID_CALLS = 'paidCalls';

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

export const includeCost = booleanField({
	displayName: 'Include Cost',
	name: 'includeCost',
	description: 'Whether to add the number of paid calls for the item, as "paidCalls"',
});

/** Makes the item that comes out for an incoming one: the result alone or with the incoming fields, flat or in a field. */
export class ItemOutput {
	private field = '';
	private isIncluded = false;
	private hasCost = false;

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
		this.hasCost = parameters.option(includeCost);
	}

	result(result: IDataObject, paidCalls: number): INodeExecutionData {
		const old = new Set([...this.namesOfResult, 'error']);
		return this.withInput({ ...inOrder(result), ...this.costOf(paidCalls) }, old);
	}

	/** For the plan of a dry run, which has no cost. */
	plan(plan: IDataObject): INodeExecutionData {
		return this.withInput(plan, new Set(['error']));
	}

	/**
	 * For an error: `error` says why, with `message`, `advice` and the facts. n8n moves the item to the error output. If
	 * `error` is its only key, n8n also adds the fields of the incoming item there (n8n 1.x has no other way that keeps the
	 * facts), but no files. With an `error` beside `json`, n8n would drop everything except the message. On the regular
	 * output, we add the incoming fields ourselves.
	 */
	failed(error: unknown, paidCalls: number): INodeExecutionData {
		const { context, index, input } = this;
		const { message, description } = nodeError(context, error, index);
		const facts = error instanceof LeadGenError ? error.details : {};
		const said = { ...facts, message, advice: description };
		const cost = this.costOf(paidCalls);
		const isOnErrorOutput = context.getNode().onError === 'continueErrorOutput';
		return {
			json: isOnErrorOutput
				? { error: { ...said, ...cost } }
				: { ...without(input.json, this.namesOfResult), error: said, ...cost },
			...(input.binary && { binary: input.binary }),
			pairedItem: { item: index },
		};
	}

	private costOf(paidCalls: number): IDataObject {
		return this.hasCost ? { [PAID_CALLS]: paidCalls } : {};
	}

	/** @param old the names of incoming fields to leave out */
	private withInput(result: IDataObject, old: ReadonlySet<string>): INodeExecutionData {
		const { field, input, index } = this;
		const json = field === '' ? result : { [field]: result };
		const pairedItem = { item: index };
		if (!this.isIncluded) return { json, pairedItem };
		return {
			json: { ...without(input.json, old), ...json },
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
		const names = new Set(this.field === '' ? [...Object.keys(output), PAID_CALLS] : [this.field]);
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
