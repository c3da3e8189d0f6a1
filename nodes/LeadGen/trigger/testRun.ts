import { sleep, type IDataObject, type IWebhookResponseData } from 'n8n-workflow';
import { show } from '../common/parameters';
import { InputError } from '../common/errors';
import { asNodeError } from './activation';
import { turn } from './listening';
import type { Hooked, Receiving, TriggerNode } from './node';
import { newAttempt, perNode } from './nodeMemory';
import { Notification } from './notification';
import { rawNotification, requestOf } from './request';
import { ownMessage, signed, tell, urlsOf } from './ownUrl';
import { testLimit, testScrapeId } from './triggerProperties';
import { findScrape, startBody, startScrape, type FoundScrape } from './scrape';
import { fingerprint } from './signature';

/** After two minutes, n8n stops listening. Before, the test run outputs what is known. */
const LISTENS_MS = 110_000;
const CHECK_MS = 2000;
/** How often to look after a notification: the status may lag behind. */
const MAX_LOOKS = 3;

/** The scrape of a test run. The next one takes it up if it took longer than n8n listens. */
interface TestScrape {
	/** Identifies its start. It is signed into the callback URL. */
	attempt: string;
	/** Identifies what was wanted, by its filters and the credential. */
	wish: string;
	/** Undefined if any scrape will do. */
	id?: string | undefined;
	/** It may arrive before the status is finished. */
	notification?: IDataObject;
}

/** An "Execute step" of a node. */
class TestRun {
	readonly since = Date.now();
	isOver = false;
	scrape: TestScrape = { attempt: newAttempt('test'), wish: '' };

	/** @param url the test URL; n8n ends a test and an activation with the same call, and only the URL differs */
	constructor(readonly url?: string) {}
}

/** The last test run of each node. After a restart, nothing is known about it. */
const lastOf = perNode(() => ({ test: new TestRun() }));

/** n8n begins to listen. Starts a small scrape, or none, depending on the options. */
export async function beginTest(node: Hooked): Promise<void> {
	const { context } = node;
	const last = lastOf(node.memory);
	const before = last.test;
	before.isOver = true;
	// Before anything can fail: n8n then ends this test, and must not end the active workflow.
	const test = (last.test = new TestRun(context.getNodeWebhookUrl('default') ?? ''));
	try {
		// Before the start, which costs credits: these throw if an option is invalid.
		const { url, addresses } = urlsOf(node);
		const body = startedBody(node);
		test.scrape.wish = fingerprint([body, node.credentialId]);
		// The credential may differ from that of the active workflow.
		const { credential, signer } = await node.access();
		const id = await namedScrape(node);
		node.known = addresses;
		// Without its own calls, the node would have no output. This one must not bring any, because n8n does not wait for it yet.
		if (body || id !== undefined) await tell(node, {}, Infinity);
		test.scrape.id = id;
		const isSame = before.scrape.id !== undefined && before.scrape.wish === test.scrape.wish;
		if (body && isSame) test.scrape = before.scrape;
		else if (body) {
			const webhookUrl = signer.callbackUrl(url, test.scrape.attempt);
			const started = await startScrape(node, credential, { ...body, webhookUrl });
			test.scrape.id = started.scrapeId;
		}
		if (test.scrape.id !== undefined) watch(node, test).catch(() => {});
	} catch (error) {
		// The next test may still need it.
		test.scrape = before.scrape;
		throw asNodeError(node, error);
	}
}

/** The body of the start that the options ask for; undefined if they ask for none. */
function startedBody({ parameters, isListening }: TriggerNode): IDataObject | undefined {
	const limit = parameters.option(testLimit);
	if (isListening || limit === 0) return undefined;
	return parameters.option(testScrapeId) === '' ? startBody(parameters, limit) : undefined;
}

async function namedScrape(node: TriggerNode): Promise<string | undefined> {
	const id = node.parameters.option(testScrapeId);
	if (id === '') return undefined;
	// If the service gives no answer now, it may give one later.
	const isUnknown = (await findScrape(node, id).catch(() => null)) === undefined;
	if (!isUnknown) return id;
	throw new InputError(
		"'Test Scrape ID'",
		`must be the ID of a scrape that the service can find, but is ${show(id)}`,
		'Copy the scrapeId of an earlier scrape of this account.',
	);
}

/** Ends the last test of the node. @returns false if this call does not end a test */
export function endTest({ context, memory }: Hooked): boolean {
	const { test } = lastOf(memory);
	if (test.url !== (context.getNodeWebhookUrl('default') ?? '')) return false;
	test.isOver = true;
	return true;
}

/** The notification may get lost, or may not reach n8n. So the node keeps calling its own test URL. */
async function watch(node: TriggerNode, test: TestRun): Promise<void> {
	while (Date.now() - test.since < LISTENS_MS + CHECK_MS && !test.isOver) {
		await tell(node, {}, Infinity).catch(() => {});
		await sleep(CHECK_MS);
	}
}

/** Handles a request to the test URL. n8n keeps listening until there is an output. */
export async function receiveTest(node: Receiving): Promise<IWebhookResponseData> {
	const { test } = lastOf(node.memory);
	const { scrape: wanted } = test;
	const { signer } = await node.access();
	const request = requestOf(node);
	const isOwn = ownMessage(request, signer) !== undefined;
	const isSigned = signer.attemptIn(request.text) === wanted.attempt;
	if (wanted.id !== undefined && !isOwn && !isSigned) {
		return { webhookResponse: { error: 'This URL takes the completion of one scrape only' } };
	}
	const answer = isOwn ? signed(request, {}, signer) : { received: true };
	if (!isOwn) wanted.notification = rawNotification(request, signer.signatureOf(wanted.attempt));
	const named = new Notification(request).named.slice(0, 5);
	const scrape = await firstFound(node, wanted.id === undefined ? named : [wanted.id], isOwn);
	const isLate = Date.now() - test.since > LISTENS_MS;
	if (scrape?.isFinished && !wanted.notification) await sleep(CHECK_MS);
	if (test.isOver || !scrape || !(scrape.isFinished || isLate)) {
		return { webhookResponse: answer };
	}
	test.isOver = true;
	// The next test starts a scrape of its own.
	if (scrape.isFinished) delete wanted.id;
	const hint = scrape.isFinished
		? undefined
		: `Scrape ${scrape.id} is not finished, and n8n listens for two minutes only. To continue without costs, select "Execute step" again, or set 'Test Scrape ID' in the options to ${scrape.id}.`;
	// As in a completion. The execution makes the output of it.
	const json = { ...scrape.data, notification: wanted.notification ?? null, hint };
	return { webhookResponse: answer, workflowData: [[{ json }]] };
}

/** The first of the scrapes that the service knows. Nobody asks again for one that the test run did not start. */
async function firstFound(
	node: TriggerNode,
	ids: string[],
	isOwn: boolean,
): Promise<FoundScrape | undefined> {
	let found: FoundScrape | undefined;
	for (let looks = isOwn ? MAX_LOOKS : 1; looks <= MAX_LOOKS && !found?.isFinished; looks++) {
		if (looks > 1 && !isOwn) await sleep(CHECK_MS);
		for (const id of ids) {
			// Strangers may call the URL, too.
			if (!isOwn) await turn(node);
			found = await findScrape(node, id).catch((error: unknown) => {
				node.log('warn', `the test scrape is not known: ${String(error)}`);
				return undefined;
			});
			if (found) break;
		}
	}
	return found;
}
