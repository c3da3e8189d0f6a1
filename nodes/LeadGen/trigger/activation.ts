import { NodeOperationError, sleep, type IHookFunctions } from 'n8n-workflow';
import { InputError, LeadGenError, ServiceError } from '../service/errors';
import { isRateRefusal } from '../service/retry';
import { withoutContent } from './content';
import { after } from './events';
import { memoryOf, nodesOf, readAccess, type NodeMemory } from './memory';
import { textOf } from './notices';
import { addressesOf, identityOf, readPlan } from './plan';
import { checkAccount, startBody } from './scrape';
import { isRefused } from './status';
import { Store } from './store';

/**
 * Runs when n8n activates the node. Refuses an activation that can only fail, with a message for the user. Starts no
 * scrape, because n8n may call this repeatedly. Gives the timer the node's own address, which `trigger()` cannot know.
 * @throws NodeOperationError if the node cannot start a scrape or receive a completion
 */
export async function open(context: IHookFunctions): Promise<void> {
	const memory = memoryOf(identityOf(context));
	try {
		const addresses = addressesOf(context, memory.addresses);
		// When n8n starts, no user reads an error, and the node must receive completions in any case.
		if (/^(activate|update)$/.test(context.getActivationMode())) await check(context, memory);
		memory.addresses = addresses;
	} catch (error) {
		memory.refusal = error;
		throw asNodeError(context, error);
	}
	delete memory.refusal;
	memory.reconciler?.wake();
}

/** @throws LeadGenError if the node can only fail */
async function check(context: IHookFunctions, memory: NodeMemory): Promise<void> {
	const { mode } = readPlan(context);
	if (mode === 'startScrape') startBody(context);
	if (context.getNode().alwaysOutputData === true) {
		throw new InputError(
			'Always Output Data',
			'must be off in the settings of this node',
			'If it is on, a completion that n8n delivers twice runs the workflow twice.',
		);
	}
	// An empty API key cannot work.
	await readAccess(context, memory);
	// n8n may activate an active workflow again, because another trigger of the workflow lost its connection.
	const isAsked = context.getActivationMode() === 'activate' && memory.isOff;
	if (mode === 'listen' || !isAsked) return;
	// n8n 2 retries a failed hook after 1, 2, 4 and 8 seconds. The timer already runs then, so repeat the refusal.
	if (memory.reconciler && isRefused(memory.refusal)) throw memory.refusal;
	await checkAccount(context).catch((error: unknown) => {
		const mayPass =
			error instanceof ServiceError && (error.outcome === 'unknown' || isRateRefusal(error));
		if (error instanceof LeadGenError && !mayPass) throw error;
		// The request may succeed later. The timer keeps trying.
		context.logger.warn(`LeadGen Trigger: the balance is not known: ${String(error)}`);
	});
}

export function asNodeError(context: IHookFunctions, error: unknown): NodeOperationError {
	const { message, advice: description } = textOf(error);
	// In some places n8n shows only the message, so the message includes the advice.
	const text = [message, description].filter((part) => part !== '').join('. ');
	return new NodeOperationError(context.getNode(), text, { description });
}

const OFF_MS = 60_000;

/**
 * Runs when the workflow is deactivated, and also before it is saved or published. n8n does not say which of these it
 * is, so this deletes nothing that is saved. The next activation, or its absence, shows which it was.
 */
export function close(context: IHookFunctions): void {
	const memory = memoryOf(identityOf(context));
	delete memory.addresses;
	delete memory.activeSince;
	const store = new Store(context, memory);
	const { facts } = memory.state;
	// n8n also calls this if it could not activate this node or another node of the workflow.
	const all = nodesOf(memory.identity.workflowId);
	if (facts.activation && all.every(({ refusal }) => refusal === undefined)) {
		const at = after(facts.activation, Date.now());
		facts.activation = { ...facts.activation, at, isClosed: true };
	}
	store.save();
	void releaseLater(memory);
}

/** If n8n does not activate the node again within a minute, it did not just save the node but deactivated it. */
async function releaseLater(memory: NodeMemory): Promise<void> {
	await sleep(OFF_MS);
	// The next activation loads the saved content again.
	if (!memory.isOff) return;
	memory.state = withoutContent(memory.state);
	delete memory.lastRead;
}
