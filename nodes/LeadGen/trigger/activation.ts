import { NodeOperationError, type IHookFunctions } from 'n8n-workflow';
import { LeadGenError, ServiceError } from '../service/errors';
import { baseUrlOf } from '../service/http';
import { isPrivate, ownAddresses } from './address';
import { setAddresses } from './clock';
import { checkParameters, identityOf, parametersOf } from './plan';
import * as field from './properties';
import { checkAccount } from './scrape';
import { fingerprint } from './secret';
import { Store } from './store';

/**
 * Runs when n8n activates the node. Refuses what can only fail, in words for the person, and starts
 * nothing: n8n may call it again and again. It hands the node's address to the clock, which `trigger()`
 * cannot know.
 */
export async function open(context: IHookFunctions, url: string): Promise<void> {
	const activation = context.getActivationMode();
	const identity = identityOf(context);
	// At a start of n8n there is nobody to tell, and completions must come in all the same.
	if (activation === 'activate' || activation === 'update') await refuse(context, url);
	const internal = parametersOf(context).option(field.internalUrl);
	const hasWebhookId = context.getNode().webhookId !== undefined;
	setAddresses(identity, ownAddresses(url, internal, hasWebhookId));
}

/** @throws NodeOperationError if no scrape can be started, or no completion received */
async function refuse(context: IHookFunctions, url: string): Promise<void> {
	const error = await check(context, url).then(
		() => undefined,
		(reason: unknown) => reason,
	);
	if (error === undefined) return;
	if (error instanceof ServiceError && error.outcome === 'unknown') {
		// It may work in a moment; the clock goes on trying.
		context.logger.warn(`LeadGen Trigger: ${error.message}`);
		return;
	}
	throw asNodeError(context, error);
}

async function check(context: IHookFunctions, url: string): Promise<void> {
	const { mode } = checkParameters(context);
	const credential = await context.getCredentials('leadGenApi');
	if (isPrivate(url) && !isPrivate(baseUrlOf(credential))) {
		context.logger.warn(
			`LeadGen Trigger: the service cannot reach ${new URL(url).origin}, so its notifications get lost. Set WEBHOOK_URL to a public address.`,
		);
	}
	if (mode === 'listen' || context.getActivationMode() !== 'activate') return;
	await once(fingerprint([identityOf(context), credential]), async () => {
		await checkAccount(context);
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

/** n8n 2.x calls a failing hook again after 1, 2, 4 and 8 seconds. */
const SAME_FOR_MS = 60_000;
const MAX_REFUSALS = 100;
const refusals = new Map<string, { error: ServiceError; at: number }>();

/** Asks the service; the same refusal within a minute is given again without a call. */
async function once(name: string, ask: () => Promise<void>): Promise<void> {
	const last = refusals.get(name);
	if (last && Date.now() - last.at < SAME_FOR_MS) throw last.error;
	refusals.delete(name);
	await ask().catch((error: unknown) => {
		if (error instanceof ServiceError && error.outcome === 'refused') {
			refusals.set(name, { error, at: Date.now() });
			for (const oldest of refusals.keys()) {
				if (refusals.size <= MAX_REFUSALS) break;
				refusals.delete(oldest);
			}
		}
		throw error;
	});
}

/**
 * Runs when the workflow is deactivated, and also before it is saved or published: n8n does not tell
 * which. So nothing is forgotten; what follows tells them apart.
 */
export function close(context: IHookFunctions): void {
	const identity = identityOf(context);
	setAddresses(identity, undefined);
	const store = new Store(context, identity);
	const { record } = store;
	if (!record) return;
	record.closed = true;
	store.save(record, Date.now());
}
