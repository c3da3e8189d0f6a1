import type { IDataObject, IWebhookResponseData } from 'n8n-workflow';
import { InputError, NotAttemptedError } from '../common/errors';
import { onAbort, pause, timeoutSignal } from '../common/pause';
import { show } from '../common/values';
import type { Hooked, Receiving, TriggerNode } from './node';
import { scrapeIdIn } from './notification';
import { answerTo, callSelf, messageIn, placeOf } from './ownUrl';
import { findScrape, startBody, startScrape } from './scrape';
import { testLimit, testScrapeId } from './properties';
import { newAttempt } from './state';
import { rawNotification, requestOf } from './webhook';

/** After two minutes, n8n stops listening. Before, the test run outputs what is known. */
const [LISTENS_MS, CHECK_MS] = [110_000, 2000];

/**
 * The last "Execute step" of each node, and its scrape. n8n ends it and an activation with the same call, and only the
 * URL differs. `begins` while it begins.
 */
type TestRun = {
	url: string;
	since: number;
	isOver?: boolean;
	begins?: Promise<void> | undefined;
	attempt: string;
	id?: string | undefined;
	notification?: IDataObject;
};
const tests = new Map<string, TestRun>();

const NOT_SENT = new NotAttemptedError(
	'No scrape was started, because n8n stopped listening before the rate limit let the request go',
	'Try it again in a minute.',
);

/**
 * n8n begins to listen. Starts a small scrape, or none, depending on the options. One at a time, because it costs
 * credits.
 */
export async function beginTest(node: Hooked): Promise<void> {
	const before = tests.get(node.key);
	if (before?.begins) {
		await before.begins;
		return;
	}
	if (before) before.isOver = true;
	const url = node.context.getNodeWebhookUrl('default') ?? '';
	const test: TestRun = { url, since: Date.now(), attempt: newAttempt('test') };
	// Before anything can fail: n8n then ends this test, and must not end the active workflow.
	tests.set(node.key, test);
	test.begins = beginScrape(node, test).finally(() => (test.begins = undefined));
	await test.begins;
	void watch(node, test);
}

async function beginScrape(node: Hooked, test: TestRun): Promise<void> {
	const { parameters, isListening } = node;
	const named = parameters.option(testScrapeId);
	const maxLeads = isListening || named !== '' ? 0 : parameters.option(testLimit);
	// Before the start, which costs credits: these throw if an option is invalid.
	const { url, addresses } = placeOf(node);
	const body = maxLeads === 0 ? undefined : startBody(parameters, maxLeads);
	const { credential, signer } = await node.access(0);
	// If the service gives no answer now, it may give one later.
	if (named !== '' && (await findScrape(node, named).catch(() => null)) === undefined) {
		const problem = `must be the ID of a scrape that the service can find, but is ${show(named)}`;
		const advice = 'Copy the scrapeId of an earlier scrape of this account.';
		throw new InputError("'Test Scrape ID'", problem, advice);
	}
	// Without its own calls, the node would have no output. This one must not bring any, because n8n does not wait for it
	// yet. Only a main process has the test URL.
	node.addresses = [...addresses, url];
	if (body || named !== '') await callSelf(node);
	if (named !== '') test.id = named;
	if (!body) return;
	const webhookUrl = signer.callbackUrl(url, test.attempt);
	// The rate limit may hold it up for longer.
	const late = new AbortController();
	onAbort(timeoutSignal(LISTENS_MS), () => {
		late.abort(NOT_SENT);
	});
	const permit = async () => {
		if (test.isOver) throw NOT_SENT;
		await Promise.resolve();
	};
	const turn = { permit, signal: late.signal };
	test.id = (await startScrape(node, credential, { ...body, webhookUrl }, turn)).scrapeId;
}

/** Ends the last test of the node. @returns false if this call does not end a test */
export function endTest(node: Hooked): boolean {
	const test = tests.get(node.key);
	if (test?.url !== (node.context.getNodeWebhookUrl('default') ?? '')) return false;
	test.isOver = true;
	return true;
}

/** The notification may get lost, or come before the status. So the node keeps calling its own test URL. */
async function watch(node: TriggerNode, test: TestRun): Promise<void> {
	while (test.id !== undefined && Date.now() - test.since < LISTENS_MS + CHECK_MS && !test.isOver) {
		await callSelf(node).catch(() => {});
		await pause(CHECK_MS, undefined);
	}
}

/** Handles a request to the test URL. n8n keeps listening until there is an output. */
export async function receiveTest(node: Receiving): Promise<IWebhookResponseData> {
	const test = tests.get(node.key);
	const { signer } = await node.access();
	const isOwn = messageIn(node, signer) !== undefined;
	const isSigned = signer.attemptIn(requestOf(node).originalUrl) === test?.attempt;
	if (!test || (test.id !== undefined && !isOwn && !isSigned))
		return { webhookResponse: { error: 'This URL takes the completion of one scrape only' } };
	const answer = isOwn ? answerTo(node, signer, {}) : { webhookResponse: { received: true } };
	if (!isOwn) test.notification = rawNotification(node);
	if (test.id === undefined) {
		test.id = scrapeIdIn(test.notification ?? {});
		node.addresses = placeOf(node).addresses;
		void watch(node, test);
	}
	if (test.id === undefined) return answer;
	const scrape = await findScrape(node, test.id).catch(() => undefined);
	const isLate = Date.now() - test.since > LISTENS_MS;
	if (scrape?.isFinished && !test.notification) await pause(CHECK_MS, undefined);
	if (test.isOver || !scrape || !(scrape.isFinished || isLate)) return answer;
	test.isOver = true;
	const hint = `Scrape ${scrape.id} is not finished, and n8n listens for two minutes only. To see its end without costs, set 'Test Scrape ID' in the options to ${scrape.id}.`;
	// As in a completion. The execution makes the output of it.
	const json = { ...scrape.data, notification: test.notification ?? null };
	return { ...answer, workflowData: [[{ json: scrape.isFinished ? json : { ...json, hint } }]] };
}
