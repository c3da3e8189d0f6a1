import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { LeadGenError, ServiceError } from '../service/errors';
import { noticeItem, type KnockAnswer } from './clock';
import {
	arrive,
	confirm,
	GO_ON,
	judge,
	nextTask,
	prepare,
	started,
	startFailed,
	startLater,
	unanswered,
	unknownOutcome,
	type Knock,
	type Plan,
} from './decide';
import { addNotice, type Scrape, type TriggerRecord } from './record';
import { lookUp, startScrape } from './scrape';
import type { Store } from './store';

/** What a knock needs to know beside the record. */
export interface Scene {
	context: IWebhookFunctions;
	store: Store;
	plan: Plan;
	/** See `ownerOf`. */
	owner: string;
	/** Where the service is to report to. */
	webhookUrl: string;
	/** Requests per minute that the account may make, as far as is known. */
	perMinute: number;
}

/** So that n8n's answer does not keep the clock waiting. */
const MOST_CHECKS = 10;
/** A third of the account's requests is for scrapes that only a notification tells of, in vain. */
const CLAIMS_SHARE = 1 / 3;
/** Where the limit is not known or there is none: a third of the smallest plan. */
const FEWEST_CLAIMS = 20;
const MINUTE_MS = 60_000;
/** How often a free call without an answer is repeated: see retry.ts. */
const REPEATS = 3;
const BUSY_MS = 300;

/** Does what is due, one thing at a time. One knock at a time is answered for each node. */
export async function answerKnock(scene: Scene, knock: Knock): Promise<KnockAnswer> {
	const { memory, saved } = scene.store;
	const name = saved ? `${String(saved.version)} at ${String(saved.at)}` : '';
	if (knock.isLast) return { ...takeLeave(scene, knock), saved: name };
	if (memory.busy) return notYet(knock, BUSY_MS);
	memory.busy = true;
	try {
		const answer = await work(scene, knock);
		return { ...answer, saved: name };
	} finally {
		memory.busy = false;
	}
}

/** Of a clock that was closed only counts what was delivered: another one may be in charge. */
function takeLeave({ store, owner }: Scene, { confirmed }: Knock): KnockAnswer {
	const { record } = store;
	if (record?.owner === owner) {
		confirm(record, confirmed, Date.now());
		store.save(record, Date.now());
	}
	return { again: 0 };
}

/** The clock is to come back; a start that it wanted sent was not. */
function notYet({ phase, attempt }: Knock, again: number): KnockAnswer {
	return { again, planned: phase === 'go' ? attempt : undefined };
}

async function work(scene: Scene, knock: Knock): Promise<KnockAnswer> {
	const { store, plan, owner } = scene;
	const record = arrive(store.record, knock, owner, plan, Date.now());
	if (record === undefined) return { again: 0, stop: true };
	store.save(record, Date.now());
	// n8n saves when this is answered: until then a crash would bring the same in again.
	if (knock.confirmed.length > 0) return notYet(knock, 0);
	// The answer to it got lost. What comes next is another start, and needs another name.
	if (knock.phase === 'gone') return { again: 0, attempted: knock.attempt };
	let answer: KnockAnswer | undefined;
	for (let checks = 0; !answer; checks++) {
		answer = checks < MOST_CHECKS ? await step(scene, knock) : notYet(knock, 0);
		if (store.record) store.save(store.record, Date.now());
	}
	return answer;
}

/** @returns undefined if there may be more to do */
async function step(scene: Scene, knock: Knock): Promise<KnockAnswer | undefined> {
	const { record } = scene.store;
	if (!record) return { again: 0 };
	const task = nextTask(record, knock, claimsFrom(scene, Date.now()), Date.now());
	switch (task.do) {
		case 'wait':
			return notYet(knock, task.ms);
		case 'tell': {
			// Something new to save comes with all that is handed over: see clock.ts.
			task.notice.handed = { at: Date.now(), process: knock.process };
			const { id, message, advice } = task.notice;
			scene.context.logger.warn(`LeadGen Trigger: ${message}. ${advice}`);
			return { ...notYet(knock, 0), emit: { id, json: noticeItem(message, advice) } };
		}
		case 'prepare':
			prepare(record, task.attempt);
			return { again: 0, planned: task.attempt };
		case 'start':
			// It must be saved before it is sent: else a crash could make us send it again.
			if (knock.phase !== 'go' || scene.store.saved?.intent?.id !== task.attempt) {
				return { again: BUSY_MS, planned: task.attempt };
			}
			await start(scene, task.attempt);
			return { again: 0, attempted: task.attempt };
		case 'check':
			return await check(scene, knock, task.scrape);
	}
}

/** When the next scrape may be looked up that only a notification tells of. */
function claimsFrom({ store: { memory }, perMinute }: Scene, now: number): number {
	memory.lookups = memory.lookups.filter(({ at }) => at > now - MINUTE_MS);
	const most = perMinute < Infinity ? Math.max(1, perMinute * CLAIMS_SHARE) : FEWEST_CLAIMS;
	const oldest = memory.lookups[memory.lookups.length - Math.floor(most)];
	return oldest === undefined ? 0 : oldest.at + MINUTE_MS;
}

async function start(scene: Scene, attempt: string): Promise<void> {
	const { context, store, webhookUrl } = scene;
	const after = (change: (record: TriggerRecord) => void) => {
		if (store.record) change(store.record);
	};
	try {
		const scrapeId = await startScrape(context, webhookUrl, attempt);
		after((record) => {
			if (scrapeId !== undefined) started(record, scrapeId, Date.now());
			else {
				const notice = unknownOutcome('The service answered without an identifier of the scrape');
				startFailed(record, notice, true, Date.now());
			}
		});
	} catch (error) {
		context.logger.warn(`LeadGen Trigger: the start failed: ${String(error)}`);
		after((record) => {
			failStart(record, error, Date.now());
		});
	}
}

function failStart(record: TriggerRecord, error: unknown, now: number): void {
	const isService = error instanceof ServiceError;
	if (isService && (error.outcome === 'notSent' || error.code === 'RATE_LIMIT_EXCEEDED')) {
		startLater(record, now);
	} else if (isService && error.outcome === 'unknown') {
		startFailed(record, unknownOutcome(error.message), true, now);
	} else {
		const advice = error instanceof LeadGenError ? error.advice : '';
		const message = error instanceof Error ? error.message : String(error);
		const notice = { message: `No scrape was started: ${message}`, advice: `${advice} ${GO_ON}` };
		startFailed(record, notice, false, now);
	}
}

async function check(
	scene: Scene,
	knock: Knock,
	{ id, claimed }: Scrape,
): Promise<KnockAnswer | undefined> {
	const { context, store, plan } = scene;
	if (claimed) store.memory.lookups.push({ at: Date.now(), claimed });
	const found = await lookUp(context, id).catch((error: unknown) => {
		checkFailed(scene, id, error);
	});
	const { record } = store;
	const scrape = record?.open.find((each) => each.id === id);
	if (!record || !scrape || !found) return undefined;
	const verdict = judge(record, scrape, found.status, plan, Date.now());
	// The service may spell the ID in another way.
	const large = store.memory.notifications.get(id);
	if (large) store.memory.notifications.set(scrape.id, large);
	// Of those that are real there are no more than somebody paid for.
	if (claimed && !scrape.claimed) {
		store.memory.lookups = store.memory.lookups.filter((each) => each.claimed !== claimed);
	}
	if (verdict === 'deliver') {
		scrape.handed = { at: Date.now(), process: knock.process };
		const json = outputOf(store, record, scrape, found.data);
		return { ...notYet(knock, 0), emit: { id: scrape.id, json } };
	}
	if (verdict === 'missing') addNotice(record, missingScrape(id), Date.now());
	if (verdict === 'stuck') addNotice(record, stuckScrape(id, found.status.status), Date.now());
	return undefined;
}

function missingScrape(id: string) {
	return {
		message: `The service does not find the scrape ${id} any more`,
		advice: `It is asked for its status for a day, and if it is found, its completion comes in. Look for it in the dashboard of your account. ${GO_ON}`,
	};
}

function stuckScrape(id: string, status = '') {
	return {
		message: `The scrape ${id} is not finished after a day`,
		advice: `Its status is "${status}". If it is finished within a week from its start, its completion comes in. From now on it holds up no other start. Look for it in the dashboard of your account.`,
	};
}

/** The service did not say how the scrape is; it is asked again. */
function checkFailed({ context, store }: Scene, id: string, error: unknown): void {
	const { record } = store;
	const scrape = record?.open.find((each) => each.id === id);
	if (!record || !scrape) return;
	unanswered(record, scrape, Date.now());
	const isRefused = error instanceof ServiceError && error.outcome === 'refused';
	context.logger.warn(`LeadGen Trigger: the status of scrape ${id} is not known: ${String(error)}`);
	if (!record.open.includes(scrape)) return;
	// The lookup was repeated, and counts as often.
	if (scrape.claimed && !isRefused) {
		const repeat = { at: Date.now(), claimed: scrape.claimed };
		store.memory.lookups.push(...new Array<typeof repeat>(REPEATS).fill(repeat));
	}
	if (!isRefused || error.code === 'RATE_LIMIT_EXCEEDED') return;
	// Of those that anyone may claim, one says it for all.
	const isSaid = scrape.claimed ? record.open.some(({ isTold }) => isTold) : scrape.isTold;
	if (isSaid) return;
	scrape.isTold = true;
	const { message, advice } = error;
	const goesOn = `The status of scrape ${id} is asked for again until it is known.`;
	addNotice(record, { message, advice: `${advice} ${goesOn}` }, Date.now());
}

/** The truth as the service gives it, with the notification beside it; null if none came. */
function outputOf(
	{ memory }: Store,
	record: TriggerRecord,
	{ id, notification }: Scrape,
	data: IDataObject,
): IDataObject {
	const raw = memory.notifications.get(id)?.raw ?? notification ?? null;
	const skipped = record.skipped?.map((time) => new Date(time).toISOString());
	delete record.skipped;
	return { ...data, notification: raw, ...(skipped && { skippedStarts: skipped }) };
}
