import { randomUUID } from 'crypto';
import type {
	IDataObject,
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookFunctions,
} from 'n8n-workflow';
import { memoryOf, type NodeMemory } from './memory';
import { cannotWork, NOT_REACHED } from './notices';
import { identityOf } from './plan';
import { Reconciler } from './reconciler';
import { finishStarts } from './start';

/** For so long it is only a matter of n8n getting ready. */
const PATIENCE_MS = 20_000;
/** The workflow may have been deactivated. */
const GIVES_UP_MS = 5 * 60_000;

/** What `trigger()` does: it works for the node from now on, until n8n deactivates it or stops leading. */
export function startTimer(context: ITriggerFunctions): ITriggerResponse {
	const memory = memoryOf(identityOf(context));
	const mode = context.getActivationMode();
	memory.isAsked ||= mode === 'activate';
	delete memory.refusal;
	// The node may have another credential now.
	delete memory.access;
	const activation = { id: randomUUID(), mode, at: Date.now() };
	/** Tells the person, in a failed execution that cannot come in over the node's URL. */
	const onOutage = (problem: string, isNotReached: boolean) => {
		const { message, advice } = isNotReached ? NOT_REACHED : cannotWork(problem);
		context.logger.error(`LeadGen Trigger: ${message}. ${advice}`);
		const json: IDataObject = { leadGenNotice: { message, advice } };
		context.emit([[{ json }]]);
	};
	const reconciler = new Reconciler(
		context,
		memory,
		{ afterMs: PATIENCE_MS, onOutage },
		activation,
	);
	void reconciler.run();
	const closeFunction = async () => {
		reconciler.close();
		await finishStarts(context, memory);
	};
	return { closeFunction };
}

/** Sees to it that something works for the node in this process, until nothing is left to do. */
export function follow(context: IWebhookFunctions, memory: NodeMemory, addresses: string[]): void {
	memory.addresses ??= addresses;
	if (memory.wake) {
		memory.wake();
		return;
	}
	const onOutage = (problem: string) => {
		context.logger.error(
			`LeadGen Trigger: completions cannot be delivered by this process: ${problem}`,
		);
		reconciler.close();
	};
	const reconciler = new Reconciler(context, memory, { afterMs: GIVES_UP_MS, onOutage });
	void reconciler.run();
}
