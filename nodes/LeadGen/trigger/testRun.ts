import { randomUUID } from 'crypto';
import {
	sleep,
	type IDataObject,
	type IHookFunctions,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { isFinished } from '../operations/scrape/getStatus';
import { CREDENTIAL_TYPE } from '../service/http';
import { asNodeError } from './activation';
import { memoryOf } from './memory';
import { copyWithout, idsOf, rawNotification, requestOf } from './notification';
import { sendMessage, SIGNATURE_HEADER } from './ownUrl';
import { addressesOf, checkParameters, identityOf, parametersOf } from './plan';
import { testLimit, testScrapeId } from './properties';
import { lookUp, startBody, startScrape } from './scrape';
import { Signer } from './signature';

/** n8n stops to listen then. */
const LISTENS_MS = 120_000;
const CHECK_MS = 2000;
/** The notification of the service gets so long to come before the example goes without one. */
const GRACE_MS = 1500;
/** Names the URL that the service gets for a test. */
const ATTEMPT = 'test';

/** The last "Execute step" of a node. */
export interface TestRun {
	/** n8n ends a test with the same words as an activation; only the URL tells them apart. */
	url: string;
	/** The scrape that it waits for; none if any will do. */
	scrapeId?: string;
	isOver: boolean;
}

/** Whether a URL is the one that the node had in its last test. */
export function isTest(context: IHookFunctions, url: string): boolean {
	return memoryOf(identityOf(context)).test?.url === url;
}

/** Listening begins: starts a small scrape, or none, as the options say. */
export async function beginTest(context: IHookFunctions): Promise<void> {
	const url = context.getNodeWebhookUrl('default') ?? '';
	const memory = memoryOf(identityOf(context));
	endTest(context);
	const test: TestRun = { url, isOver: false };
	memory.test = test;
	const signer = await signerOf(context);
	const scrapeId = await testScrape(context, signer.callbackUrl(url, ATTEMPT)).catch(
		(error: unknown) => {
			throw asNodeError(context, error);
		},
	);
	if (scrapeId === undefined) return;
	test.scrapeId = scrapeId;
	void watch(context, test, scrapeId, signer);
}

async function signerOf(context: IHookFunctions | IWebhookFunctions): Promise<Signer> {
	return new Signer(await context.getCredentials(CREDENTIAL_TYPE), identityOf(context));
}

/** The scrape to wait for, started if the options ask for that; none if any will do. */
async function testScrape(
	context: IHookFunctions,
	webhookUrl: string,
): Promise<string | undefined> {
	const { mode } = checkParameters(context);
	const parameters = parametersOf(context);
	const id = parameters.option(testScrapeId);
	if (id !== '') return id;
	const limit = parameters.option(testLimit);
	if (mode === 'listen' || limit === 0) return undefined;
	return await startScrape(context, { ...startBody(context, limit), webhookUrl }, randomUUID());
}

export function endTest(context: IHookFunctions): void {
	const { test } = memoryOf(identityOf(context));
	if (test) test.isOver = true;
}

/** The notification may get lost, or n8n cannot be reached: then we bring the example in ourselves. */
async function watch(
	context: IHookFunctions,
	test: TestRun,
	scrapeId: string,
	signer: Signer,
): Promise<void> {
	const addresses = addressesOf(context);
	for (const end = Date.now() + LISTENS_MS; Date.now() < end && !test.isOver;) {
		try {
			if (await finishedData(context, scrapeId)) {
				await sleep(GRACE_MS);
				if (!hasEnded(test)) await sendMessage(context, addresses, signer, { scrapeId });
			}
		} catch (error) {
			context.logger.warn(`LeadGen Trigger: the test scrape is not known: ${String(error)}`);
		}
		await sleep(CHECK_MS);
	}
}

/** Changes while we wait. */
function hasEnded({ isOver }: TestRun): boolean {
	return isOver;
}

/** A request to the test URL comes in. n8n goes on listening until there is something to pass on. */
export async function receiveTest(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { test } = memoryOf(identityOf(context));
	const signer = await signerOf(context);
	const request = requestOf(context);
	const message: unknown = (context.getBodyData() as IDataObject | undefined)?.message;
	const isOwn = signer.isOwn(request.headers[SIGNATURE_HEADER], message, Date.now());
	const waitsFor = test?.scrapeId;
	if (waitsFor !== undefined && !isOwn && signer.attemptOf(request.query) !== ATTEMPT) {
		return { webhookResponse: { error: 'This URL takes the completion of one scrape only' } };
	}
	const { likely, others } = idsOf(request);
	const ids = waitsFor === undefined ? [...likely, ...others] : [waitsFor];
	const raw = isOwn ? null : rawNotification(request);
	for (const id of ids) {
		const data = await finishedData(context, id);
		if (!data || test?.isOver) continue;
		if (test) test.isOver = true;
		const output = { ...data, notification: raw };
		const json = copyWithout(signer.secretsOf(ATTEMPT), output) as IDataObject;
		return { webhookResponse: { leadGen: 2 }, workflowData: [[{ json }]] };
	}
	return { webhookResponse: { leadGen: 2, finished: false } };
}

/** The status of a scrape once it is finished. */
async function finishedData(
	context: IHookFunctions | IWebhookFunctions,
	id: string,
): Promise<IDataObject | undefined> {
	const found = await lookUp(context, await context.getCredentials(CREDENTIAL_TYPE), id);
	return isFinished(found.data) ? found.data : undefined;
}
