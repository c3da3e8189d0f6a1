import type {
	ICredentialDataDecryptedObject,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { accountOf } from '../service/account';
import { baseUrlOf } from '../service/http';
import { isPrivate, KNOCK_HEADER } from './address';
import type { Knock } from './decide';
import { answerKnock } from './knock';
import { identityOf, ownerOf, readPlan } from './plan';
import { receive } from './receive';
import { isSecret, secretFor, type NodeIdentity } from './secret';
import { Store } from './store';

/** How soon the clock looks whether what was wrong was put right. */
const PROBLEM_MS = 30_000;

/**
 * A request to the production URL comes in: a knock of our own clock, a notification, or a stranger. Fails
 * for nobody: n8n would make a failed execution of each request.
 */
export async function answerRequest(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	let isKnock = false;
	try {
		const identity = identityOf(context);
		const credential = await context.getCredentials('leadGenApi');
		const knockSecret = secretFor(credential, identity, 'knock');
		isKnock = isSecret(context.getHeaderData()[KNOCK_HEADER], knockSecret);
		return await answerTo(context, identity, credential, isKnock);
	} catch (error) {
		const problem = error instanceof Error ? error.message : String(error);
		context.logger.warn(`LeadGen Trigger: a request could not be answered: ${problem}`);
		return isKnock ? { webhookResponse: { again: PROBLEM_MS, problem } } : notNow(context);
	}
}

async function answerTo(
	context: IWebhookFunctions,
	identity: NodeIdentity,
	credential: ICredentialDataDecryptedObject,
	isKnock: boolean,
): Promise<IWebhookResponseData> {
	const token = secretFor(credential, identity, 'notification');
	const isService = isSecret((context.getQueryData() as Record<string, unknown>).token, token);
	const isListening = context.getNodeParameter('mode') === 'listen';
	if (!isKnock && !isService && !isListening) return refuse(context);

	const url = context.getNodeWebhookUrl('default') ?? '';
	const store = new Store(context, identity);
	const owner = ownerOf(context);
	const plan = {
		...readPlan(context),
		isUnreachable: isPrivate(url) && !isPrivate(baseUrlOf(credential)),
	};
	if (isKnock) {
		const { perMinute } = accountOf(credential).limiter;
		const webhookUrl = `${url}?token=${token}`;
		const scene = { context, store, plan, owner, webhookUrl, perMinute };
		const knock = context.getBodyData() as unknown as Knock;
		return { webhookResponse: await answerKnock(scene, knock) };
	}
	const heard = receive(context, store, { identity, plan, owner, token });
	if (heard === 'full') return notNow(context);
	return { webhookResponse: { received: true } };
}

/** Says the same to everyone, and nothing is read, looked up or run. */
function refuse(context: IWebhookFunctions): IWebhookResponseData {
	return answer(context, 403, 'This URL is for the service only');
}

/** The service may try again; what was not written down must not be said to have been received. */
function notNow(context: IWebhookFunctions): IWebhookResponseData {
	return answer(context, 503, 'Try again later');
}

/** The part of Express's response that we use; its types are no part of n8n-workflow. */
interface HttpResponse {
	status(code: number): { json(body: object): void };
}

function answer(context: IWebhookFunctions, code: number, error: string): IWebhookResponseData {
	const response = context.getResponseObject() as unknown as HttpResponse;
	response.status(code).json({ error });
	return { noWebhookResponse: true };
}
