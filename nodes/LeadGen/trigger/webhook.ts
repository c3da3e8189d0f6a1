import type {
	ICredentialDataDecryptedObject,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { accountOf } from '../service/account';
import { baseUrlOf } from '../service/http';
import { isPrivate, KNOCK_HEADER } from './address';
import type { Knock } from './decide';
import { answerKnock, type Scene } from './knock';
import { identityOf, ownerOf, readPlan } from './plan';
import { receive } from './receive';
import { isSecret, secretFor } from './secret';
import { Store } from './store';

/** How soon the clock looks whether what was wrong was put right. */
const PROBLEM_MS = 30_000;

/**
 * A request to the production URL comes in: a knock of our own clock, a notification, or a stranger. Fails
 * for nobody: n8n would make a failed execution of each request.
 */
export async function answerRequest(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { [KNOCK_HEADER]: givenKnock } = context.getHeaderData();
	const { token: givenToken } = context.getQueryData() as Record<string, unknown>;
	let isKnock = false;
	try {
		const isListening = context.getNodeParameter('mode') === 'listen';
		// n8n takes its time to decrypt a credential; who brings no secret needs none.
		if (givenKnock === undefined && givenToken === undefined) {
			return isListening ? take(context) : refuse(context);
		}
		const credential = await context.getCredentials('leadGenApi');
		const identity = identityOf(context);
		const token = secretFor(credential, identity, 'notification');
		isKnock = isSecret(givenKnock, secretFor(credential, identity, 'knock'));
		if (isKnock) return await answerClock(context, credential, token);
		return isListening || isSecret(givenToken, token) ? take(context, token) : refuse(context);
	} catch (error) {
		const problem = error instanceof Error ? error.message : String(error);
		context.logger.warn(`LeadGen Trigger: a request could not be answered: ${problem}`);
		return isKnock ? { webhookResponse: { again: PROBLEM_MS, problem } } : notNow(context);
	}
}

async function answerClock(
	context: IWebhookFunctions,
	credential: ICredentialDataDecryptedObject,
	token: string,
): Promise<IWebhookResponseData> {
	const url = context.getNodeWebhookUrl('default') ?? '';
	const scene: Scene = {
		context,
		store: new Store(context, identityOf(context)),
		owner: ownerOf(context),
		plan: {
			...readPlan(context),
			isUnreachable: isPrivate(url) && !isPrivate(baseUrlOf(credential)),
		},
		webhookUrl: `${url}?token=${token}`,
		perMinute: accountOf(credential).limiter.perMinute,
	};
	const knock = context.getBodyData() as unknown as Knock;
	return { webhookResponse: await answerKnock(scene, knock) };
}

/** A notification is let in. */
function take(context: IWebhookFunctions, token?: string): IWebhookResponseData {
	const heard = receive(context, token);
	return heard === 'full' ? notNow(context) : { webhookResponse: { received: true } };
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
