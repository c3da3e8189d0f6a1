/**
 * What we use of n8n that its oldest supported version, 1.100, lacks. All else is in 1.100: `npm run
 * typecheck` compiles the nodes against its n8n-workflow, too.
 */
import * as n8n from 'n8n-workflow';
import type { IExecuteFunctions, IWorkflowSettings, NodeExecutionHint } from 'n8n-workflow';

/**
 * Since n8n 1.104. Lets a field of type `options` hold values that are not in its list. Before, the
 * editor marks such a value as not supported, and the node runs all the same.
 */
export const allowArbitraryValues = { allowArbitraryValues: true };

/** In n8n 2. Part of a node's description: plain text for n8n's AI workflow builder, which looks for nodes with it. */
export function forWorkflowBuilder(searchHint: string) {
	return { builderHint: { searchHint } };
}

/**
 * Shows a hint beside the output of the node.
 *
 * `addExecutionHints` is there for tools of an AI agent since n8n 1.119 or a little before. Before, a tool shows no hint.
 */
export function addHint(context: IExecuteFunctions, hint: NodeExecutionHint): void {
	const { addExecutionHints } = context as Partial<IExecuteFunctions>;
	addExecutionHints?.call(context, { ...hint, location: 'outputPane' });
}

type CancelledError = new (executionId: string) => Error;

/**
 * The error with which a node ends when a person has pressed Stop. n8n does not report it.
 *
 * `ManualExecutionCancelledError` is there since n8n 1.115. Before, n8n uses
 * `ExecutionCancelledError` for this, which since then needs a reason.
 */
export function cancelledError(): Error {
	const { ExecutionCancelledError, ManualExecutionCancelledError } = n8n as unknown as {
		ExecutionCancelledError: CancelledError;
		ManualExecutionCancelledError?: CancelledError;
	};
	return new (ManualExecutionCancelledError ?? ExecutionCancelledError)('');
}

/**
 * Whether n8n keeps the failed executions of the workflow, so that a person can retry them. A setting of the
 * instance is not seen.
 *
 * `getWorkflowSettings` is there since n8n 2.5, and in 1.x since 1.123.50 or a little before. Before, the
 * result is true.
 */
export function keepsFailedExecutions(context: IExecuteFunctions): boolean {
	const { getWorkflowSettings } = context as { getWorkflowSettings?: () => IWorkflowSettings };
	return getWorkflowSettings?.call(context).saveDataErrorExecution !== 'none';
}

/**
 * Whether the node runs as a tool of an AI agent. Where n8n runs a tool like any other node, the name of its
 * type alone tells.
 *
 * `isToolExecution` is there in later versions of n8n 2. Before, the name tells in all cases.
 */
export function isTool(context: IExecuteFunctions): boolean {
	const { isToolExecution } = context as { isToolExecution?: () => boolean };
	return isToolExecution?.call(context) === true || context.getNode().type.endsWith('Tool');
}
