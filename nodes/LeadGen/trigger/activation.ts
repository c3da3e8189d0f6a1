import { NodeOperationError, sleep, type IHookFunctions } from 'n8n-workflow';
import { InputError, LeadGenError, ServiceError } from '../service/errors';
import { baseUrlOf } from '../service/http';
import { withoutContent } from './content';
import { after } from './events';
import { memoryOf, nodesOf, readAccess, type NodeMemory } from './memory';
import { isReachable } from './ownUrl';
import { addressesOf, checkParameters, identityOf } from './plan';
import { checkAccount } from './scrape';
import { isRefused } from './status';
import { Store } from './store';

/**
 * Runs when n8n activates the node. Refuses what can only fail, in words for the person, and starts nothing:
 * n8n may call it again and again. It gives the timer the node's own address, which `trigger()` cannot know.
 * @throws NodeOperationError if no scrape can be started, or no completion received
 */
export async function open(context: IHookFunctions): Promise<void> {
	const memory = memoryOf(identityOf(context));
	try {
		// At a start of n8n there is nobody to tell, and completions must come in all the same.
		if (/^(activate|update)$/.test(context.getActivationMode())) await check(context, memory);
		memory.addresses = addressesOf(context, memory.addresses);
	} catch (error) {
		memory.refusal = error;
		throw asNodeError(context, error);
	}
	delete memory.refusal;
	memory.worker?.wake();
}

/** @throws LeadGenError if the node can only fail */
async function check(context: IHookFunctions, memory: NodeMemory): Promise<void> {
	const { mode, url } = checkParameters(context);
	if (context.getNode().alwaysOutputData === true) {
		throw new InputError(
			'Always Output Data',
			'must be off in the settings of this node',
			'If it is on, a completion that n8n delivers twice runs the workflow twice.',
		);
	}
	const { credential } = await readAccess(context, memory);
	if (!isReachable(url, baseUrlOf(credential))) {
		context.logger.warn(
			`LeadGen Trigger: the service cannot reach ${new URL(url).origin}, so its notifications get lost. Set WEBHOOK_URL to a public address.`,
		);
	}
	// n8n may activate again what is active, because another trigger of the workflow lost its connection.
	const isAsked = context.getActivationMode() === 'activate' && memory.isOff;
	if (mode === 'listen' || !isAsked) return;
	// n8n 2 calls a failing hook again after 1, 2, 4 and 8 seconds, while the timer runs already.
	if (memory.worker && isRefused(memory.refusal)) throw memory.refusal;
	await checkAccount(context).catch((error: unknown) => {
		if (!(error instanceof ServiceError) || error.outcome !== 'unknown') throw error;
		// It may work in a moment; the timer goes on trying.
		context.logger.warn(`LeadGen Trigger: ${error.message}`);
	});
}

export function asNodeError(context: IHookFunctions, error: unknown): NodeOperationError {
	if (!(error instanceof LeadGenError)) {
		const reason = error instanceof Error ? error : String(error);
		return new NodeOperationError(context.getNode(), reason);
	}
	// In some places n8n shows the message only, so that it must say what to do as well.
	return new NodeOperationError(context.getNode(), `${error.message}. ${error.advice}`, {
		description: error.advice,
	});
}

const OFF_MS = 60_000;

/**
 * Runs when the workflow is deactivated, and also before it is saved or published: n8n does not tell
 * which. So nothing is forgotten; what follows tells them apart.
 */
export function close(context: IHookFunctions): void {
	const memory = memoryOf(identityOf(context));
	delete memory.addresses;
	delete memory.activeSince;
	const store = new Store(context, memory);
	const { facts } = memory.state;
	// n8n also calls this when it could not activate the node, or another one of the workflow.
	const all = nodesOf(memory.identity.workflowId);
	if (facts.activation && all.every(({ refusal }) => refusal === undefined)) {
		const at = after(facts.activation, Date.now());
		facts.activation = { ...facts.activation, at, isClosed: true };
	}
	store.save();
	void releaseLater(memory);
}

/** A node that is not activated again within a minute is not being saved, but off. */
async function releaseLater(memory: NodeMemory): Promise<void> {
	await sleep(OFF_MS);
	// What is saved comes back with the next activation.
	if (!memory.isOff) return;
	memory.state = withoutContent(memory.state);
	delete memory.lastRead;
}
