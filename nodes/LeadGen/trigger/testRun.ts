import { randomUUID } from 'crypto';
import {
	sleep,
	type IDataObject,
	type IHookFunctions,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { asNodeError } from './activation';
import { callOneself, KNOCK_HEADER, ownAddresses } from './address';
import { idsOf, withoutSecrets } from './notification';
import { checkParameters, identityOf, parametersOf } from './plan';
import { testLimit, testScrapeId } from './properties';
import { requestOf } from './receive';
import { lookUp, startScrape } from './scrape';
import { isSecret, secretFor, type NodeIdentity } from './secret';

/** n8n stops to listen then. */
const LISTENS_MS = 120_000;
const CHECK_MS = 2000;
/** The notification of the service gets so long to come before the example goes without one. */
const GRACE_MS = 1500;

/** One "Execute step". */
interface TestRun {
	/** The scrape that it waits for; none if any will do. */
	scrapeId: string | undefined;
	secret: string;
	isOver: boolean;
}

const runs = new Map<string, TestRun>();

/** By node: n8n ends a test with the same words as an activation, only the URL tells them apart. */
const testUrls = new Map<string, string>();

/** Whether a URL is the one that the node had in its last test. */
export function isTest(context: IHookFunctions, url: string): boolean {
	return testUrls.get(nameOf(identityOf(context))) === url;
}

function nameOf({ workflowId, nodeId }: NodeIdentity): string {
	return `${workflowId} ${nodeId}`;
}

/** Listening begins: starts a small scrape, or none, as the options say. */
export async function beginTest(context: IHookFunctions, url: string): Promise<void> {
	const identity = identityOf(context);
	testUrls.set(nameOf(identity), url);
	endTest(context);
	const credential = await context.getCredentials('leadGenApi');
	const secret = secretFor(credential, identity, 'test');
	const scrapeId = await testScrape(context, `${url}?token=${secret}`).catch((error: unknown) => {
		throw asNodeError(context, error);
	});
	const run: TestRun = { scrapeId, secret, isOver: false };
	runs.set(nameOf(identity), run);
	if (scrapeId !== undefined) void watch(context, run, scrapeId, url);
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
	return await startScrape(context, webhookUrl, randomUUID(), limit);
}

export function endTest(context: IHookFunctions): void {
	const name = nameOf(identityOf(context));
	const run = runs.get(name);
	if (run) run.isOver = true;
	runs.delete(name);
}

/** The notification may get lost, or have no way to this n8n: then we bring the example in ourselves. */
async function watch(
	context: IHookFunctions,
	run: TestRun,
	scrapeId: string,
	url: string,
): Promise<void> {
	const addresses = ownAddresses(url, '', context.getNode().webhookId !== undefined);
	for (const end = Date.now() + LISTENS_MS; Date.now() < end && !run.isOver;) {
		try {
			if (await isFinished(context, scrapeId)) {
				await sleep(GRACE_MS);
				for (const address of addresses) {
					if (hasEnded(run)) return;
					await callOneself(context, address, run.secret, { scrapeId }).catch(() => {});
				}
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

async function isFinished(context: IHookFunctions, scrapeId: string): Promise<boolean> {
	const { status } = await lookUp(context, scrapeId);
	return status.status === 'completed' || status.status === 'failed';
}

/** A request to the test URL comes in. n8n goes on listening until there is something to pass on. */
export async function receiveTest(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const identity = identityOf(context);
	const run = runs.get(nameOf(identity));
	const credential = await context.getCredentials('leadGenApi');
	const secret = secretFor(credential, identity, 'test');
	const request = requestOf(context);
	const isOwn = isSecret(request.headers[KNOCK_HEADER], secret);
	const isSent = isSecret(request.query.token, secret);
	const waitsFor = run?.scrapeId;
	if (waitsFor !== undefined && !isOwn && !isSent) return { webhookResponse: REFUSED };
	const { likely, others } = idsOf(request);
	const ids = waitsFor === undefined ? [...likely, ...others] : [waitsFor];
	const raw = isOwn ? null : withoutSecrets(request, secret);
	for (const id of ids) {
		const data = await finishedData(context, id);
		if (!data || run?.isOver) continue;
		if (run) run.isOver = true;
		const json: IDataObject = { ...data, notification: raw };
		return { webhookResponse: { received: true }, workflowData: [[{ json }]] };
	}
	return { webhookResponse: { received: true, finished: false } };
}

const REFUSED = { error: 'This URL takes the completion of one scrape only' };

async function finishedData(
	context: IWebhookFunctions,
	id: string,
): Promise<IDataObject | undefined> {
	const { data, status } = await lookUp(context, id);
	return status.status === 'completed' || status.status === 'failed' ? data : undefined;
}
