/**
 * Features of n8n that we use and that its oldest supported version, 1.123, lacks or does not name in its types. `npm
 * run typecheck` also compiles the nodes against its n8n-workflow.
 */
import { NodeOperationError, type IExecuteFunctions, type ITriggerFunctions } from 'n8n-workflow';
import type { IWorkflowSettings, NodeExecutionHint } from 'n8n-workflow';

/** In n8n 2. Part of a node's description: plain text in which n8n's AI workflow builder searches for nodes. */
export function forWorkflowBuilder(searchHint: string) {
	return { builderHint: { searchHint } };
}

/** Shows a hint beside the output of the node. */
export function addHint(context: IExecuteFunctions, hint: NodeExecutionHint): void {
	context.addExecutionHints({ ...hint, location: 'outputPane' });
}

/** The highlighted data of an execution. A tool of an AI agent has none. */
interface CustomData {
	get(name: string): string | undefined;
	set(name: string, value: string): void;
}

function customDataOf(context: IExecuteFunctions): CustomData | undefined {
	const { customData } = context.getWorkflowDataProxy(0).$execution as { customData?: CustomData };
	return customData;
}

/**
 * Saves a text with the execution, where the user finds it as its highlighted data. n8n keeps 250 characters, also of
 * an execution that it stops.
 */
export function saveWithExecution(context: IExecuteFunctions, name: string, text: string): void {
	customDataOf(context)?.set(name, text.length > 250 ? `${text.slice(0, 249)}…` : text);
}

/** Adds to a number in the highlighted data, which nodes of the execution share. */
export function addToExecution(context: IExecuteFunctions, name: string, number: number): void {
	const before = Number(customDataOf(context)?.get(name) ?? 0);
	saveWithExecution(context, name, String(before + number));
}

/**
 * Whether a node may return an empty output, which shows its hints, without running the next nodes. With the execution
 * order of n8n 0.x, a node with several inputs would run. Before n8n 1.123.50 and 2.5, only the workflow has the
 * settings.
 */
export function mayEndEmpty(context: IExecuteFunctions): boolean {
	const { getWorkflowSettings, workflow } = context as {
		getWorkflowSettings?: () => IWorkflowSettings;
		workflow?: { settings?: IWorkflowSettings };
	};
	const settings = getWorkflowSettings?.call(context) ?? workflow?.settings;
	return settings?.executionOrder === 'v1';
}

/**
 * What n8n knows of this process, which its types do not name. With several main processes, any of them may call the
 * hooks of a node, and one of them `trigger()`. A worker of queue mode only runs executions.
 */
export function instanceOf(context: object): { isMultiMain?: boolean; isWorker?: boolean } {
	return (context as { instanceSettings?: object }).instanceSettings ?? {};
}

/**
 * Registers a cron expression in the time zone of the workflow. Before n8n 2, n8n does not tell which time was due.
 * @throws NodeOperationError if n8n does not accept it
 */
export function registerCron(
	context: ITriggerFunctions,
	expression: string,
	onTick: (due: Date) => void,
): void {
	const helpers = context.helpers as { registerCron: (cron: unknown, tick: unknown) => unknown };
	try {
		helpers.registerCron({ expression }, (due = new Date()) => {
			onTick(due);
		});
	} catch (error) {
		throw new NodeOperationError(context.getNode(), error as Error);
	}
}

/**
 * Whether the node runs as a tool of an AI agent. `isToolExecution` exists in later versions of n8n 2. Before, and if
 * n8n runs a tool like any other node, only the name of its type shows this.
 */
export function isTool(context: IExecuteFunctions): boolean {
	const { isToolExecution } = context as { isToolExecution?: () => boolean };
	return isToolExecution?.call(context) === true || context.getNode().type.endsWith('Tool');
}
