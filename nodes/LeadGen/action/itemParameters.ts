import {
	NodeOperationError,
	type IExecuteFunctions,
	type INodeParameters,
	type NodeParameterValueType,
} from 'n8n-workflow';
import { isTool } from '../common/compatibility';
import { Parameters } from '../common/parameters';
import { show } from '../common/values';
import { resources } from './operations';
import type { Operation } from './operations/operation';

/** @throws NodeOperationError if the workflow names an operation that does not exist */
export function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const name = context.getNodeParameter('operation', 0);
	const operation = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === name);
	if (operation) return operation;
	throw new NodeOperationError(
		context.getNode(),
		`There is no operation ${show(name)} for the resource ${show(resource)}`,
		{ description: 'Choose a resource and an operation from the lists of the node.' },
	);
}

/** Reads the parameters of the node for each item. */
export class ItemParameters {
	/** The warnings that reading gave, each once. */
	readonly warnings = new Set<string>();
	/**
	 * The run of the node in its execution, also when n8n runs the node again. If the node is a tool of an AI agent, n8n
	 * counts each retry as another run, so this identifies nothing. Nodes that were copied as JSON may share an ID.
	 */
	readonly run: string;
	/** How often a loop has run the node before. */
	readonly runIndex: number;
	private readonly isTool: boolean;
	/** The paths of the parameters with an expression. All others are the same for all items. */
	private readonly changing: Set<string>;
	private readonly fixed = new Map<string, unknown>();

	constructor(private readonly context: IExecuteFunctions) {
		this.isTool = isTool(context);
		const { id, name, parameters } = context.getNode();
		// n8n is slow at telling this, so it is asked once.
		this.runIndex = this.isTool ? 0 : (context.getWorkflowDataProxy(0).$runIndex as number);
		this.run = this.isTool
			? ''
			: `${context.getExecutionId()} ${id} ${name} ${String(this.runIndex)}`;
		const { options, ...others } = parameters;
		const inOptions = Object.entries({ ...(options as INodeParameters | undefined) });
		const all = [
			...Object.entries(others),
			...inOptions.map(([option, value]) => [`options.${option}`, value] as const),
		];
		const changing = all.filter(([, value]) => JSON.stringify([value]).includes('"='));
		this.changing = new Set(changing.map(([path]) => path));
	}

	of(index: number): Parameters {
		const place = this.isTool ? '' : `${this.run} ${String(index)}`;
		const raw = (path: string, ifMissing?: NodeParameterValueType) =>
			this.read(path, index, ifMissing);
		return new Parameters(raw, place, this.isTool, (message) => void this.warnings.add(message));
	}

	/** n8n is slow at this, so a parameter without an expression is read once for all items. */
	private read(path: string, index: number, ifMissing?: NodeParameterValueType): unknown {
		if (this.fixed.has(path)) return this.fixed.get(path);
		const value: unknown = this.context.getNodeParameter(path, index, ifMissing);
		if (!this.changing.has(path)) this.fixed.set(path, value);
		return value;
	}
}
