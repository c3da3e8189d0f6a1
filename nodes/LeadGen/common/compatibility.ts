/**
 * Features of n8n that we use and that its oldest supported version, 1.100, lacks. Everything else is in 1.100: `npm
 * run typecheck` also compiles the nodes against its n8n-workflow.
 */
import * as n8n from 'n8n-workflow';
import type {
	IExecuteFunctions,
	ITriggerFunctions,
	IWorkflowSettings,
	NodeExecutionHint,
} from 'n8n-workflow';

/**
 * Since n8n 1.104. Allows values of a field of type `options` that are not in its list. Earlier editors mark such a
 * value as not supported, but the node runs anyway.
 */
export const allowArbitraryValues = { allowArbitraryValues: true };

/** In n8n 2. Part of a node's description: plain text in which n8n's AI workflow builder searches for nodes. */
export function forWorkflowBuilder(searchHint: string) {
	return { builderHint: { searchHint } };
}

/**
 * Shows a hint beside the output of the node.
 *
 * `addExecutionHints` exists for tools of an AI agent since n8n 1.119 or slightly earlier. Before, a tool shows no
 * hint.
 */
export function addHint(context: IExecuteFunctions, hint: NodeExecutionHint): void {
	const { addExecutionHints } = context as Partial<IExecuteFunctions>;
	addExecutionHints?.call(context, { ...hint, location: 'outputPane' });
}

/** n8n keeps this much with an execution. */
const MAX_SAVED_LENGTH = 250;
const MAX_SAVED_VALUES = 8;

/**
 * Saves texts with the execution, where the user finds them as its highlighted data. n8n keeps them also if it stops the
 * node: then they must be saved in the moment in which it aborts the signal.
 */
export function saveWithExecution(context: IExecuteFunctions, name: string, texts: string[]): void {
	const { customData } = context.getWorkflowDataProxy(0).$execution as {
		customData?: { set: (name: string, value: string) => void };
	};
	const lines = [''];
	for (const text of texts) {
		const line = lines.at(-1) ?? '';
		if (line !== '' && line.length + text.length >= MAX_SAVED_LENGTH) lines.push(text);
		else lines[lines.length - 1] = `${line} ${text}`.trim();
	}
	const isTooMuch = lines.length > MAX_SAVED_VALUES;
	if (isTooMuch) lines.splice(MAX_SAVED_VALUES - 1, Infinity, 'More are in the log of n8n.');
	lines.forEach((line, index) => {
		customData?.set(index === 0 ? name : `${name}_${String(index + 1)}`, line);
	});
}

type CancelledError = new (executionId: string) => Error;

/**
 * The error with which a node ends when the user has pressed Stop. n8n does not report it.
 *
 * `ManualExecutionCancelledError` exists since n8n 1.115. Before, n8n uses `ExecutionCancelledError` for this, which
 * requires a reason since then.
 */
export function cancelledError(): Error {
	const { ExecutionCancelledError, ManualExecutionCancelledError } = n8n as unknown as {
		ExecutionCancelledError: CancelledError;
		ManualExecutionCancelledError?: CancelledError;
	};
	return new (ManualExecutionCancelledError ?? ExecutionCancelledError)('');
}

/**
 * Whether a node may return an empty output, which shows its hints, without running the next nodes. With the execution
 * order of n8n 0.x, a node with several inputs would run.
 *
 * `getWorkflowSettings` exists since n8n 2.5, and in 1.x since 1.123.50 or slightly earlier. Before, the settings are
 * only in the workflow of the context.
 */
export function mayEndEmpty(context: IExecuteFunctions): boolean {
	const { getWorkflowSettings, workflow } = context as {
		getWorkflowSettings?: () => IWorkflowSettings;
		workflow?: { settings?: IWorkflowSettings };
	};
	const settings = getWorkflowSettings?.call(context) ?? workflow?.settings;
	return settings?.executionOrder === 'v1';
}

/** Whether n8n runs several main processes. Any of them may call the hooks of a node, and one of them `trigger()`. */
export function hasSeveralMains(context: object): boolean {
	return instanceSettingsOf(context).isMultiMain === true;
}

/** Whether this process is a worker of queue mode, which only runs executions. */
export function isWorker(context: object): boolean {
	return instanceSettingsOf(context).isWorker === true;
}

/** What n8n knows of this process. Its types do not name it. */
function instanceSettingsOf(context: object): { isMultiMain?: boolean; isWorker?: boolean } {
	return (context as { instanceSettings?: object }).instanceSettings ?? {};
}

type RegisterCron = (cron: unknown, onTick: (due?: Date) => void) => unknown;

/**
 * Registers a cron expression in the time zone of the workflow.
 *
 * Before n8n 1.104 or so, `registerCron` takes the expression alone, and throws for anything else. Before n8n 2, it does
 * not tell which time was due.
 * @throws any error of n8n, if it does not accept the expression
 */
export function registerCron(
	context: ITriggerFunctions,
	expression: string,
	onTick: (due: Date) => void,
): void {
	const { helpers } = context as unknown as { helpers: { registerCron: RegisterCron } };
	const tick = (due?: Date) => {
		onTick(due instanceof Date ? due : new Date());
	};
	try {
		helpers.registerCron({ expression }, tick);
	} catch (error) {
		try {
			helpers.registerCron(expression, tick);
		} catch (another) {
			// The other way to call it fails for its type alone.
			throw another instanceof TypeError ? error : another;
		}
	}
}

/**
 * Whether the node runs as a tool of an AI agent. If n8n runs a tool like any other node, only the name of its type
 * shows this.
 *
 * `isToolExecution` exists in later versions of n8n 2. Before, the name always shows it.
 */
export function isTool(context: IExecuteFunctions): boolean {
	const { isToolExecution } = context as { isToolExecution?: () => boolean };
	return isToolExecution?.call(context) === true || context.getNode().type.endsWith('Tool');
}
