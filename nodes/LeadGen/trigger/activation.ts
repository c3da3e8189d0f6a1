import { NodeOperationError, sleep, type IHookFunctions } from 'n8n-workflow';
import { InputError, LeadGenError, ServiceError } from '../service/errors';
import { baseUrlOf, CREDENTIAL_TYPE } from '../service/http';
import { isPrivate, ownAddresses } from './ownUrl';
import { withContent } from './content';
import { memoryOf, Store, type NodeMemory } from './memory';
import { checkParameters, identityOf, parametersOf } from './plan';
import * as field from './properties';
import { checkAccount } from './scrape';
import { Signer } from './signature';

/**
 * Runs when n8n activates the node. Refuses what can only fail, in words for the person, and starts nothing:
 * n8n may call it again and again. It gives the timer the node's own address, which `trigger()` cannot know.
 */
export async function open(context: IHookFunctions): Promise<void> {
	const activation = context.getActivationMode();
	const memory = memoryOf(identityOf(context));
	memory.isRefused = true;
	const url = context.getNodeWebhookUrl('default') ?? '';
	// At a start of n8n there is nobody to tell, and completions must come in all the same.
	if (activation === 'activate' || activation === 'update') await refuse(context, url);
	const internal = parametersOf(context).option(field.internalUrl);
	const hasWebhookId = context.getNode().webhookId !== undefined;
	memory.isRefused = false;
	memory.addresses = ownAddresses(url, internal, hasWebhookId);
	memory.wake?.();
}

/** @throws NodeOperationError if no scrape can be started, or no completion received */
async function refuse(context: IHookFunctions, url: string): Promise<void> {
	try {
		await check(context, url);
	} catch (error) {
		const isUnknown = error instanceof ServiceError && error.outcome === 'unknown';
		if (!isUnknown) throw asNodeError(context, error);
		// It may work in a moment; the timer goes on trying.
		context.logger.warn(`LeadGen Trigger: ${error.message}`);
	}
}

async function check(context: IHookFunctions, url: string): Promise<void> {
	const { mode } = checkParameters(context);
	if (context.getNode().alwaysOutputData === true) {
		throw new InputError(
			'Always Output Data',
			'must be off in the settings of this node',
			'With it, a completion that n8n delivers twice would run the workflow twice.',
		);
	}
	const credential = await context.getCredentials(CREDENTIAL_TYPE);
	// Refuses an empty API key.
	new Signer(credential, identityOf(context));
	const memory = memoryOf(identityOf(context));
	memory.isUnreachable = isPrivate(url) && !isPrivate(baseUrlOf(credential));
	if (memory.isUnreachable) {
		context.logger.warn(
			`LeadGen Trigger: the service cannot reach ${new URL(url).origin}, so its notifications get lost. Set WEBHOOK_URL to a public address.`,
		);
	}
	if (mode === 'listen' || context.getActivationMode() !== 'activate') return;
	await checkOnce(context, memory);
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

/** Asks the service whether the account can start anything, once for each activation. */
async function checkOnce(context: IHookFunctions, memory: NodeMemory): Promise<void> {
	// n8n 2 calls a failing hook again after 1, 2, 4 and 8 seconds, while the timer runs already.
	if (memory.wake && memory.refusal) throw memory.refusal;
	await checkAccount(context).catch((error: unknown) => {
		if (error instanceof ServiceError && error.outcome === 'refused') memory.refusal = error;
		throw error;
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
	const store = new Store(context, memory);
	const { activation } = store.state.facts;
	// n8n also calls this when it could not activate the node.
	if (activation && !memory.isRefused) {
		store.state.facts.activation = { ...activation, at: Date.now(), isClosed: true };
	}
	memory.isRefused = false;
	store.save();
	void releaseLater(memory);
}

/** A node that is not activated again within a minute is not being saved, but off. */
async function releaseLater(memory: NodeMemory): Promise<void> {
	await sleep(OFF_MS);
	// What is saved comes back with the next activation.
	if (!memory.addresses && memory.state) memory.state = withContent(memory.state, () => false);
}
