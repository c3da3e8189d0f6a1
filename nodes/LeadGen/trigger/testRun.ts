import {
	sleep,
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type IHookFunctions,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { isFinished } from '../operations/scrape/getStatus';
import { show } from '../parameters';
import { InputError } from '../service/errors';
import { asNodeError } from './activation';
import { memoryOf, readAccess, TestRun } from './memory';
import { copyWithout, idsOf, rawNotification, requestOf } from './notification';
import { ownMessage, sendMessage } from './ownUrl';
import { addressesOf, identityOf, parametersOf, readPlan } from './plan';
import { testLimit, testScrapeId } from './properties';
import { requestStatus, startBody, startScrape } from './scrape';
import type { Signer } from './signature';

/** After this time, n8n stops listening. */
const LISTENS_MS = 120_000;
const CHECK_MS = 2000;
const LOOKS = 3;
/** The attempt ID in the URL that the service gets for a test. */
const ATTEMPT = 'test';

/** n8n begins to listen. Starts a small scrape, or none, depending on the options. */
export async function beginTest(context: IHookFunctions): Promise<void> {
	const url = context.getNodeWebhookUrl('default') ?? '';
	const memory = memoryOf(identityOf(context));
	if (memory.test) memory.test.isOver = true;
	const test = (memory.test = new TestRun(url));
	try {
		// Before the start, which costs credits: this throws if the option is invalid.
		const addresses = addressesOf(context);
		// The credential may differ from that of the active workflow.
		const { credential, signer } = await readAccess(context, memory);
		test.scrapeId = await testScrape(context, credential, signer.callbackUrl(url, ATTEMPT));
		if (test.scrapeId !== undefined) watch(context, test, signer, addresses).catch(() => {});
	} catch (error) {
		throw asNodeError(context, error);
	}
}

/** The scrape to wait for, started if the options ask for it; undefined if any scrape will do. */
async function testScrape(
	context: IHookFunctions,
	credential: ICredentialDataDecryptedObject,
	webhookUrl: string,
): Promise<string | undefined> {
	const { mode } = readPlan(context);
	const parameters = parametersOf(context);
	const id = parameters.option(testScrapeId);
	if (id !== '') {
		const known = await requestStatus(context, credential, id).catch(() => undefined);
		if (!known || known.status !== undefined) return id;
		throw new InputError(
			'Test Scrape ID',
			`must be the ID of a scrape that the service can find, but is ${show(id)}`,
			'Copy the scrapeId of an earlier scrape of this account.',
		);
	}
	const limit = parameters.option(testLimit);
	if (mode === 'listen' || limit === 0) return undefined;
	return await startScrape(context, credential, { ...startBody(context, limit), webhookUrl });
}

/** Ends the last test of the node. @returns false if this call does not end a test */
export function endTest(context: IHookFunctions): boolean {
	const { test } = memoryOf(identityOf(context));
	if (!test || test.url !== (context.getNodeWebhookUrl('default') ?? '')) return false;
	test.isOver = true;
	return true;
}

/** The notification may get lost, or may not reach n8n. So the node keeps calling its own test URL. */
async function watch(
	context: IHookFunctions,
	test: TestRun,
	signer: Signer,
	addresses: string[],
): Promise<void> {
	for (const end = Date.now() + LISTENS_MS; Date.now() < end && !test.isOver;) {
		await sendMessage(context, addresses, signer, {});
		await sleep(CHECK_MS);
	}
}

/** Handles a request to the test URL. n8n keeps listening until there is an output. */
export async function receiveTest(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const memory = memoryOf(identityOf(context));
	// After a restart, nothing is known about the test.
	const { test = new TestRun() } = memory;
	const { credential, signer } = await readAccess(context, memory);
	const request = requestOf(context);
	const isOwn = ownMessage(context, signer) !== undefined;
	const { scrapeId } = test;
	if (scrapeId !== undefined && !isOwn && signer.attemptOf(request.query) !== ATTEMPT) {
		return { webhookResponse: { error: 'This URL takes the completion of one scrape only' } };
	}
	const { likely, others } = idsOf(request);
	const ids = scrapeId === undefined ? [...likely, ...others] : [scrapeId];
	if (!isOwn) test.notification = rawNotification(request);
	// The status may lag behind the notification, and the notification behind the status.
	for (let look = 1; look <= LOOKS; look++) {
		for (const id of ids) {
			const { data } = await requestStatus(context, credential, id).catch((error: unknown) => {
				if (!isOwn) throw error;
				context.logger.warn(`LeadGen Trigger: the test scrape is not known: ${String(error)}`);
				return { data: {} };
			});
			if (!isFinished(data)) continue;
			if (!test.notification) await sleep(CHECK_MS);
			if (test.isOver) continue;
			test.isOver = true;
			const output = { ...data, notification: test.notification ?? null };
			const json = copyWithout(signer.secretsOf(ATTEMPT), output) as IDataObject;
			return { webhookResponse: { leadGen: 2 }, workflowData: [[{ json }]] };
		}
		await sleep(CHECK_MS / 2);
	}
	return { webhookResponse: { leadGen: 2, finished: false } };
}
