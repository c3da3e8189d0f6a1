import type { ITriggerFunctions, ITriggerResponse, IWebhookFunctions } from 'n8n-workflow';
import { memoryOf, type NodeMemory } from './memory';
import { addressesOf, identityOf } from './plan';
import { Reconciler } from './reconciler';
import { finishStarts } from './start';

/** Implements `trigger()`: works for the node until n8n deactivates it or this process stops leading. */
export function startTimer(context: ITriggerFunctions): ITriggerResponse {
	const memory = memoryOf(identityOf(context));
	memory.isAsked ||= context.getActivationMode() === 'activate' && !memory.activeSince;
	delete memory.refusal;
	// The node may have another credential now.
	delete memory.access;
	const reconciler = new Reconciler(context, memory, context, memory.activeSince);
	memory.activeSince = Date.now();
	void reconciler.run();
	const closeFunction = async () => {
		reconciler.close();
		await finishStarts(context, memory);
	};
	return { closeFunction };
}

/** Makes sure that a reconciler works for the node in this process until nothing is left to do. */
export function follow(context: IWebhookFunctions, memory: NodeMemory): void {
	memory.addresses = addressesOf(context, memory.addresses);
	if (memory.reconciler) memory.reconciler.wake();
	else void new Reconciler(context, memory).run();
}
