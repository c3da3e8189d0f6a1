import { NodeOperationError, type IExecuteFunctions } from 'n8n-workflow';
import { isTool } from '../common/compatibility';
import { Parameters } from '../common/parameters';
import { show } from '../common/values';
import { resources } from './operations';
import type { Operation } from './operations/operation';

/** What n8n itself offers as a resource and as an operation of each node whose credential the HTTP Request node can use. */
const CUSTOM_API_CALL = '__CUSTOM_API_CALL__';

/** @throws NodeOperationError if the workflow names an operation that does not exist */
export function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const name = context.getNodeParameter('operation', 0, CUSTOM_API_CALL);
	const operation = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === name);
	if (operation) return operation;
	if (name === CUSTOM_API_CALL) {
		throw new NodeOperationError(context.getNode(), 'This node makes no custom API calls', {
			description:
				'For another call of the service, use the HTTP Request node with Predefined Credential Type > LeadGen API.',
		});
	}
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

	constructor(private readonly context: IExecuteFunctions) {
		this.isTool = isTool(context);
		const { id, name } = context.getNode();
		this.runIndex = this.isTool ? 0 : (context.getWorkflowDataProxy(0).$runIndex as number);
		const run = `${context.getExecutionId()} ${id} ${name} ${String(this.runIndex)}`;
		this.run = this.isTool ? '' : run;
	}

	of(index: number): Parameters {
		return new Parameters(
			(path, ifMissing) => this.context.getNodeParameter(path, index, ifMissing),
			this.run && `${this.run} ${String(index)}`,
			this.isTool,
			(message) => void this.warnings.add(message),
		);
	}
}
