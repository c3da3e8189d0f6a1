import {
	sleep,
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type IHookFunctions,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { show } from '../common/parameters';
import { InputError } from '../common/errors';
import { asNodeError } from './activation';
import { turn } from './listening';
import { credentialIdOf, memoryOf, TestRun } from './nodeMemory';
import { contentsOf } from './contents';
import { idsIn, rawNotification } from './notification';
import { requestOf } from './request';
import { ownAddresses, ownMessage, tell } from './ownUrl';
import { internalUrl, mode, testLimit, testScrapeId } from './triggerProperties';
import { findScrape, parametersOf, startBody, startScrape, type FoundScrape } from './scrape';
import { fingerprint } from './signature';

/** After two minutes, n8n stops listening. Before, the test run outputs what is known. */
const LISTENS_MS = 110_000;
const CHECK_MS = 2000;
/** How often to look after a notification: the status may lag behind. */
const MAX_LOOKS = 3;

/** n8n begins to listen. Starts a small scrape, or none, depending on the options. */
export async function beginTest(context: IHookFunctions): Promise<void> {
	const url = context.getNodeWebhookUrl('default') ?? '';
	const memory = memoryOf(context);
	const before = memory.test;
	if (before) before.isOver = true;
	// Before anything can fail: n8n then ends this test, and must not end the active workflow.
	const test = (memory.test = new TestRun(url));
	try {
		// Before the start, which costs credits: these throw if an option is invalid.
		const parameters = parametersOf(context);
		const addresses = ownAddresses(url, parameters.option(internalUrl), context.getNode());
		const body = startedBody(context);
		const wish = fingerprint([body, credentialIdOf(context)]);
		// The credential may differ from that of the active workflow.
		const { credential, signer } = await memory.accessOf(context);
		const named = await namedScrape(context, credential);
		if (named !== undefined) test.scrapeId = named;
		else if (body && before?.scrapeId !== undefined && before.wish === wish) {
			// It took longer than n8n listens.
			takeUp(test, before);
		} else if (body) {
			test.wish = wish;
			const webhookUrl = signer.callbackUrl(url, test.attempt);
			({ scrapeId: test.scrapeId } = await startScrape(context, credential, {
				...body,
				webhookUrl,
			}));
		}
		if (test.scrapeId !== undefined) watch(context, test, addresses).catch(() => {});
	} catch (error) {
		// The next test may still need it.
		if (before && test.scrapeId === undefined) takeUp(test, before);
		throw asNodeError(context, error);
	}
}

function takeUp(test: TestRun, { scrapeId, wish, attempt, notification }: TestRun): void {
	Object.assign(test, { scrapeId, wish, attempt, notification });
}

/** The body of the start that the options ask for; undefined if they ask for none. */
function startedBody(context: IHookFunctions): IDataObject | undefined {
	const parameters = parametersOf(context);
	const limit = parameters.option(testLimit);
	if (parameters.get(mode) === 'listen' || limit === 0) return undefined;
	return parameters.option(testScrapeId) === '' ? startBody(parameters, limit) : undefined;
}

async function namedScrape(
	context: IHookFunctions,
	credential: ICredentialDataDecryptedObject,
): Promise<string | undefined> {
	const id = parametersOf(context).option(testScrapeId);
	if (id === '') return undefined;
	// If the service gives no answer now, it may give one later.
	const isUnknown = (await findScrape(context, credential, id).catch(() => null)) === undefined;
	if (!isUnknown) return id;
	throw new InputError(
		"'Test Scrape ID'",
		`must be the ID of a scrape that the service can find, but is ${show(id)}`,
		'Copy the scrapeId of an earlier scrape of this account.',
	);
}

/** Ends the last test of the node. @returns false if this call does not end a test */
export function endTest(context: IHookFunctions): boolean {
	const { test } = memoryOf(context);
	if (!test || test.url !== (context.getNodeWebhookUrl('default') ?? '')) return false;
	test.isOver = true;
	return true;
}

/** The notification may get lost, or may not reach n8n. So the node keeps calling its own test URL. */
async function watch(context: IHookFunctions, test: TestRun, addresses: string[]): Promise<void> {
	while (Date.now() - test.since < LISTENS_MS + CHECK_MS && !test.isOver) {
		await tell(context, addresses, {}, Infinity).catch(() => {});
		await sleep(CHECK_MS);
	}
}

/** Handles a request to the test URL. n8n keeps listening until there is an output. */
export async function receiveTest(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const memory = memoryOf(context);
	// After a restart, nothing is known about the test.
	const { test = new TestRun() } = memory;
	const { signer } = await memory.accessOf(context);
	const request = requestOf(context);
	const isOwn = ownMessage(context, signer) !== undefined;
	const { scrapeId } = test;
	const isSigned = signer.attemptIn(request.text) === test.attempt;
	if (scrapeId !== undefined && !isOwn && !isSigned) {
		return { webhookResponse: { error: 'This URL takes the completion of one scrape only' } };
	}
	if (!isOwn) test.notification = rawNotification(request, signer.signatureOf(test.attempt));
	const { likely, others } = idsIn(request.query, contentsOf(request.body));
	const named = (likely.length > 0 ? likely : others).slice(0, 5);
	const scrape = await firstFound(context, scrapeId === undefined ? named : [scrapeId], isOwn);
	const isLate = Date.now() - test.since > LISTENS_MS;
	if (scrape?.isFinished && !test.notification) await sleep(CHECK_MS);
	if (test.isOver || !scrape || !(scrape.isFinished || isLate)) {
		return { webhookResponse: { received: true } };
	}
	test.isOver = true;
	// The next test starts a scrape of its own.
	if (scrape.isFinished) delete test.scrapeId;
	const hint = scrape.isFinished
		? {}
		: {
				hint: `Scrape ${scrape.id} is not finished, and n8n listens for two minutes only. To continue without costs, select "Execute step" again, or set 'Test Scrape ID' in the options to ${scrape.id}.`,
			};
	// As in a completion. The execution makes the output of it.
	const json = { ...scrape.data, notification: test.notification ?? null, ...hint };
	return { webhookResponse: { received: true }, workflowData: [[{ json }]] };
}

/** The first of the scrapes that the service knows. Nobody asks again for one that the test run did not start. */
async function firstFound(
	context: IWebhookFunctions,
	ids: string[],
	isOwn: boolean,
): Promise<FoundScrape | undefined> {
	const memory = memoryOf(context);
	let found: FoundScrape | undefined;
	for (let looks = isOwn ? MAX_LOOKS : 1; looks <= MAX_LOOKS && !found?.isFinished; looks++) {
		if (looks > 1 && !isOwn) await sleep(CHECK_MS);
		for (const id of ids) {
			const access = await memory.accessOf(context);
			// Strangers may call the URL, too.
			if (!isOwn) await turn(memory, access);
			found = await findScrape(context, access.credential, id).catch((error: unknown) => {
				context.logger.warn(`LeadGen Trigger: the test scrape is not known: ${String(error)}`);
				return undefined;
			});
			if (found) break;
		}
	}
	return found;
}
