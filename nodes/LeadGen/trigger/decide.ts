import type { Named } from './notification';
import {
	addGap,
	addNotice,
	addSkipped,
	isDelivered,
	MAX_CLAIMS,
	newRecord,
	settle,
	type Notice,
	type Scrape,
	type TriggerRecord,
	type Want,
} from './record';
import { fingerprint } from './secret';

/**
 * All decisions of the trigger: pure functions from the record, an event and the time to a changed record
 * and what is to be done. Nothing here waits, reads a clock or talks to anyone.
 */

/** The parameters of the node, as far as decisions hang on them. */
export interface Plan {
	mode: 'startScrape' | 'listen';
	events: readonly string[];
	/** Fingerprint of filters and limit. */
	filters: string;
	/** Fingerprint of the schedule and its time zone. */
	schedule: string;
	/** The first start by schedule after a time; undefined if there is none. */
	nextRun: (after: number) => number | undefined;
	/** Whether the service has no way to this n8n. */
	isUnreachable: boolean;
}

/** A knock of the clock: see clock.ts. */
export interface Knock {
	/** Activation that the clock belongs to, and when it began. */
	clock: string;
	at: number;
	/** The process that the clock runs in. */
	process: string;
	/** n8n's word for why it activated the node. */
	mode: string;
	/** Name of the next start. */
	attempt: string;
	/** `go` comes once per attempt; a start that is still open after it has an unknown outcome. */
	phase: 'plan' | 'go' | 'gone';
	/** What was handed to n8n, and has an execution by now. */
	confirmed: string[];
	/** What was handed to n8n a moment ago. */
	pending: string[];
	/** The clock is closed: it only says what was delivered. */
	isLast?: boolean;
}

export type Task =
	| { do: 'tell'; notice: Notice }
	| { do: 'check'; scrape: Scrape }
	/** Write the intent down and come back. */
	| { do: 'prepare'; attempt: string }
	/** Send the start that was written down. */
	| { do: 'start'; attempt: string }
	| { do: 'wait'; ms: number };

/** Without anything to do, the clock looks in this often: another process may have been notified. */
const IDLE_MS = 30_000;
const MINUTE_MS = 60_000;
const FIRST_CHECK_MS = 5_000;
const SLOWEST_CHECK_MS = 5 * MINUTE_MS;
/** However often a scrape is notified of, it takes no more lookups than the smallest plan can spare. */
const HEARD_AGAIN_MS = 3000;
/** Time for which a notification makes us look often, because the status may lag behind. */
const SLOWEST_HEARD_CHECK_MS = 30_000;
/** The notification gets so long to come, once the scrape is finished: it may hold what nothing else does. */
const GRACE_MS = 2000;
/** Another main process gets so long to say that what it handed to n8n is delivered. */
const HANDOVER_MS = 3000;
/** How far the clock of the service may differ from ours. */
const SKEW_MS = 5 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A scrape that runs for longer has come to nothing. A failed one has no time of its end (interface 2.2). */
const LONGEST_SCRAPE_MS = DAY_MS;
/** After this it is not looked up any more. */
const GIVEN_UP_MS = 7 * DAY_MS;
/** A scrape may be so new that the service does not find it, or a gateway may say so in its stead. */
const UNKNOWN_SCRAPE_MS = 10 * MINUTE_MS;
/** When a scrape that only a notification tells of, and that was not found, is looked up once more. */
const SECOND_LOOK_MS = 2 * MINUTE_MS;
/** The service could not answer for so long: what it was asked for makes room. */
const STALE_MS = 60 * MINUTE_MS;

export const GO_ON = 'To start a scrape, deactivate the workflow and activate it again.';

const UNREACHABLE = {
	message: 'The service has no way to this n8n, so that no completion will come in',
	advice:
		'The address of n8n is one that only this machine or network knows. Set WEBHOOK_URL to an address that can be reached from the internet, such as that of a tunnel, restart n8n, and hand out the new production URL. Or let this node start the scrapes: then it asks for their status itself.',
};

/**
 * A knock comes in: what it says of the activation, and of what was delivered.
 * @returns the record; undefined if the clock is not in charge any more
 */
export function arrive(
	known: TriggerRecord | undefined,
	knock: Knock,
	owner: string,
	plan: Plan,
	now: number,
): TriggerRecord | undefined {
	const ours = known?.owner === owner ? known : undefined;
	const isNewClock = ours?.clock.id !== knock.clock;
	const isSameProcess = ours?.clock.process === knock.process;
	if (ours && isNewClock && isSameProcess && knock.at < ours.clock.at) return undefined;
	const { clock: id, at, process } = knock;
	const record = ours ?? newRecord(owner, { id, at, process }, now);
	confirm(record, knock.confirmed, now);
	if (record.intent && (record.intent.id !== knock.attempt || knock.phase === 'gone')) {
		outcomeUnknown(record, now);
	}
	if (isNewClock) beginActivation(record, ours, knock, plan, now);
	fallDue(record, plan, now);
	return record;
}

/** n8n has what was handed to it. */
export function confirm(record: TriggerRecord, ids: readonly string[], now: number): void {
	for (const scrape of record.open.filter(({ id }) => ids.includes(id))) {
		settle(record, scrape.id, scrape.completedAt ?? now);
	}
	record.notices = record.notices.filter(({ id }) => !ids.includes(id));
}

function beginActivation(
	record: TriggerRecord,
	known: TriggerRecord | undefined,
	knock: Knock,
	plan: Plan,
	now: number,
): void {
	// A person activated it, unless n8n goes on with an activation that a crash cut short.
	const isAsked = knock.mode === 'activate' && (!known || known.closed === true);
	const isNewProcess = record.clock.process !== knock.process;
	if (known && isNewProcess) addGap(record, known.at, now);
	if (!known && !isAsked) addGap(record, 0, now);
	record.clock = { id: knock.clock, at: knock.at, process: knock.process };
	delete record.closed;
	if (plan.mode === 'listen') {
		if (isAsked && plan.isUnreachable) addNotice(record, UNREACHABLE, now);
		delete record.want;
		delete record.due;
		delete record.schedule;
		return;
	}
	if (!known && !isAsked) {
		addNotice(
			record,
			{
				message: 'No scrape was started, because it is not known whether one runs already',
				advice: `Nothing is written down for this node, though its workflow was active before: it was added to an active workflow, or what it had written down was lost. Completions are still received. Look into the dashboard of your account whether a scrape runs. ${GO_ON}`,
			},
			now,
		);
		record.filters = plan.filters;
	}
	// An old copy of the record looks the same as one of a start that was never sent.
	if (record.want && isNewProcess) outcomeUnknown(record, now);
	const isChanged = record.filters !== plan.filters;
	const mayStart = knock.mode === 'activate' || knock.mode === 'update';
	if (isAsked) record.want = { why: 'activation', at: now, filters: plan.filters };
	else if (mayStart && isChanged) record.want = { why: 'filters', at: now, filters: plan.filters };
	if (isAsked) delete record.schedule;
}

function fallDue(record: TriggerRecord, plan: Plan, now: number): void {
	if (plan.mode !== 'startScrape') return;
	// n8n 2.x does not activate the node anew when the time zone of the workflow changes.
	if (record.schedule !== plan.schedule) {
		record.schedule = plan.schedule;
		record.due = plan.nextRun(now);
	}
	if (record.due === undefined || record.due > now) return;
	const { due } = record;
	record.due = plan.nextRun(now);
	if (record.want || record.intent) addSkipped(record, due);
	else record.want = { why: 'schedule', at: now, due, filters: plan.filters };
}

/** A start was written down, and it will never be known here what became of it. */
function outcomeUnknown(record: TriggerRecord, now: number): void {
	const lost = record.intent ?? record.want;
	if (!lost) return;
	delete record.intent;
	delete record.want;
	record.filters = lost.filters;
	addGap(record, lost.at, now);
	const why = 'n8n stopped before the answer of the service was written down';
	addNotice(record, unknownOutcome(why), now);
}

export function unknownOutcome(why: string): Omit<Notice, 'id'> {
	return {
		message: 'It is not known whether a scrape was started',
		advice: `${why}. It may run, and may have been charged, so it was not started again. Look into the dashboard of your account, and at its credits. If it runs, its completion still starts the workflow, unless it came while n8n was down. ${GO_ON}`,
	};
}

/**
 * What is to be done next. To be called again until it is to wait, or something is handed to n8n.
 * @param claimsFrom when scrapes may be looked up that only a notification tells of
 */
export function nextTask(
	record: TriggerRecord,
	knock: Pick<Knock, 'pending' | 'attempt' | 'process'>,
	claimsFrom: number,
	now: number,
): Task {
	const checkAt = (scrape: Scrape) => nextCheck(scrape, claimsFrom);
	const elsewhere = [...record.notices, ...record.open].flatMap(({ id, handed }) => {
		if (!handed || handed.process === knock.process) return [];
		const age = now - handed.at;
		return age >= 0 && age < HANDOVER_MS ? [{ id, until: handed.at + HANDOVER_MS }] : [];
	});
	const isHanded = ({ id }: { id: string }) =>
		knock.pending.includes(id) || elsewhere.some((each) => each.id === id);
	const notice = record.notices.find((each) => !isHanded(each));
	if (notice) return { do: 'tell', notice };
	const open = record.open.filter((scrape) => !isHanded(scrape));
	const [due] = open
		.map((scrape) => ({ scrape, at: checkAt(scrape), claim: scrape.claimed ? 1 : 0 }))
		.filter(({ at }) => at <= now)
		.sort((a, b) => a.claim - b.claim || a.at - b.at || rank(a.scrape, now) - rank(b.scrape, now));
	if (due) return { do: 'check', scrape: due.scrape };
	if (record.intent) return { do: 'start', attempt: record.intent.id };
	const { want } = record;
	if (want && (want.retryAt ?? 0) <= now) {
		const blocking = open.filter((scrape) => blocks(scrape, want, now));
		const unseen = blocking.find(({ checked = 0 }) => checked < want.at);
		if (unseen) return { do: 'check', scrape: unseen };
		if (blocking.length === 0) return { do: 'prepare', attempt: knock.attempt };
	}
	const times = [
		...open.map(checkAt),
		...elsewhere.map(({ until }) => until),
		...(record.due === undefined ? [] : [record.due]),
		...(want?.retryAt === undefined || want.retryAt <= now ? [] : [want.retryAt]),
	];
	return { do: 'wait', ms: Math.max(0, Math.min(IDLE_MS, ...times.map((time) => time - now))) };
}

/**
 * Those that were never looked up come first. Many may be forged: by turns the newest of them and the oldest
 * go before the others, so that a real one waits neither for a flood to be worked off nor for it to end.
 */
function rank({ checked, at }: Scrape, now: number): number {
	if (checked !== undefined) return checked;
	return Math.floor(now / MINUTE_MS) % 2 === 0 ? -at : at - now;
}

/** A scrape that still runs is not started a second time beside itself. */
function blocks(scrape: Scrape, want: Want, now: number): boolean {
	const { at, claimed, missingSince = now } = scrape;
	if (claimed || now - missingSince >= UNKNOWN_SCRAPE_MS || isStuck(at, now)) return false;
	return want.why === 'schedule' || (want.why === 'activation' && scrape.filters === want.filters);
}

function isStuck(at: number, now: number): boolean {
	return now - at >= LONGEST_SCRAPE_MS;
}

/** When to look at the status of a scrape: soon after it started or was heard of, then less often. */
function nextCheck(
	{ at, checked, heard, claimed, completedAt, missingSince }: Scrape,
	claimsFrom: number,
): number {
	if (claimed) {
		const pause =
			missingSince === undefined
				? clamp((checked ?? 0) - at, 10_000, SLOWEST_CHECK_MS)
				: SECOND_LOOK_MS;
		return Math.max(claimsFrom, checked === undefined ? 0 : checked + pause);
	}
	if (checked === undefined) return heard === undefined ? at + FIRST_CHECK_MS : 0;
	const isNews = heard !== undefined && heard >= checked;
	if (completedAt !== undefined) return isNews ? 0 : checked + GRACE_MS;
	if (isNews) return checked + HEARD_AGAIN_MS;
	const regular = clamp((checked - at) / 4, FIRST_CHECK_MS, SLOWEST_CHECK_MS);
	const eager = heard === undefined ? Infinity : (checked - heard) / 2;
	const soon = clamp(eager, 1000, SLOWEST_HEARD_CHECK_MS);
	return checked + (heard === undefined ? regular : Math.min(regular, soon));
}

function clamp(value: number, least: number, most: number): number {
	return Math.min(most, Math.max(least, value));
}

/** A start that is wanted runs already: it is dropped. */
function stillRuns(record: TriggerRecord, scrape: Scrape, now: number): void {
	const { want } = record;
	if (!want || !blocks(scrape, want, now)) return;
	if (want.why === 'schedule') addSkipped(record, want.due ?? want.at);
	record.filters = want.filters;
	delete record.want;
}

/** The intent is written down; the request goes out when n8n has saved it. */
export function prepare(record: TriggerRecord, attempt: string): void {
	if (!record.want) return;
	record.intent = { ...record.want, id: attempt };
	record.filters = record.want.filters;
	delete record.want;
}

export function started(record: TriggerRecord, scrapeId: string, now: number): void {
	// Another process may have taken it for lost meanwhile.
	const filters = record.intent?.filters;
	delete record.intent;
	// Its notification may have come before the answer.
	const heard = record.open.find(({ id }) => id === scrapeId);
	if (!heard) record.open.push({ id: scrapeId, at: now, filters });
	else {
		heard.filters = filters;
		delete heard.claimed;
	}
}

/** Nothing was started, and it may be tried again. */
export function startLater(record: TriggerRecord, now: number): void {
	if (!record.intent) return;
	const { why, at, due, filters, tries = 0 } = record.intent;
	const delay = Math.min(10 * MINUTE_MS, 15_000 * 2 ** tries);
	record.want = { why, at, due, filters, tries: tries + 1, retryAt: now + delay };
	delete record.intent;
}

export function startFailed(
	record: TriggerRecord,
	notice: Omit<Notice, 'id'>,
	mayHaveStarted: boolean,
	now: number,
): void {
	if (mayHaveStarted && record.intent) addGap(record, record.intent.at, now);
	delete record.intent;
	addNotice(record, notice, now);
}

/** What a notification led to. */
export type Heard = 'noted' | 'known' | 'ignored' | 'full';

/**
 * A notification comes in. It proves nothing: it makes us look.
 * @param ids what may be a scrape ID in it, none if it says nothing
 * @returns the scrapes that it is about
 */
export function hear(
	record: TriggerRecord,
	ids: readonly string[],
	plan: Plan,
	now: number,
): { heard: Heard; scrapes: Scrape[] } {
	const named = record.open.filter(({ id }) => ids.includes(id));
	const isHint = ids.length === 0 && plan.mode === 'startScrape';
	const scrapes = isHint ? record.open.filter(({ claimed }) => !claimed) : named;
	for (const scrape of scrapes) scrape.heard = now;
	if (scrapes.length > 0) return { heard: 'noted', scrapes };
	if (ids.some((id) => isDelivered(record, id))) return { heard: 'known', scrapes };
	const mayBeOurs = plan.mode === 'listen' || record.gaps.length > 0 || record.intent !== undefined;
	if (!mayBeOurs || ids.length === 0) return { heard: 'ignored', scrapes };
	const claims = record.open.filter(({ claimed }) => claimed);
	if (claims.length + ids.length > MAX_CLAIMS) {
		// Those that the service does not find, or could not answer for long, make room.
		const stale = claims.filter(
			({ at, checked = 0, missingSince }) => missingSince !== undefined || checked - at > STALE_MS,
		);
		if (stale.length < ids.length) return { heard: 'full', scrapes };
		record.open = record.open.filter((scrape) => !stale.slice(0, ids.length).includes(scrape));
	}
	const claimed = fingerprint([ids, now]);
	const added = ids.map((id): Scrape => ({ id, at: now, heard: now, claimed }));
	record.open.push(...added);
	return { heard: 'noted', scrapes: added };
}

/**
 * What a notification is about: of all that it names, the open scrapes, or what has the name of a scrape ID.
 * Only a node that listens goes by the other names; elsewhere it then says nothing.
 */
export function idsIn(
	{ open }: TriggerRecord,
	{ likely, others }: Named,
	{ mode }: Plan,
): string[] {
	const known = [...likely, ...others].filter((id) => open.some((scrape) => scrape.id === id));
	if (known.length > 0) return known;
	return likely.length > 0 || mode === 'startScrape' ? likely : others;
}

/** What `GET /status` says of a scrape, as far as decisions hang on it. */
export interface Status {
	/** As the service spells it, which may take others for the same. */
	id?: string;
	/** Undefined if the service has no such scrape. */
	status: string | undefined;
	createdAt?: number;
	completedAt?: number;
}

/** What to do with a scrape whose status was looked up; of what does not get on, the person is told. */
export type Verdict = 'deliver' | 'drop' | 'keep' | 'missing' | 'stuck';

/** The status of a scrape was looked up. */
export function judge(
	record: TriggerRecord,
	scrape: Scrape,
	{ id, status, createdAt, completedAt }: Status,
	plan: Plan,
	now: number,
): Verdict {
	scrape.checked = now;
	if (status === undefined) {
		// A claim gets a second look: the first may have met a gateway while the service was restarted.
		if (scrape.claimed && scrape.missingSince !== undefined) return forget(record, scrape);
		scrape.missingSince ??= now;
		const missingMs = now - scrape.missingSince;
		if (missingMs >= DAY_MS) return forget(record, scrape);
		return missingMs < UNKNOWN_SCRAPE_MS ? 'keep' : tellOnce(scrape, 'missing');
	}
	delete scrape.missingSince;
	if (scrape.claimed) {
		const isNew =
			plan.mode === 'listen'
				? (completedAt ?? (createdAt ?? now) + LONGEST_SCRAPE_MS) > record.horizon
				: record.gaps.some(([from, to]) => isWithin(createdAt ?? now, from, to)) ||
					(record.intent !== undefined && (createdAt ?? now) > record.intent.at - SKEW_MS);
		const realId = id ?? scrape.id;
		const isSpelledAnew = realId !== scrape.id;
		const isKnown = isDelivered(record, realId) || record.open.some((each) => each.id === realId);
		if (!isNew || (isSpelledAnew && isKnown)) return forget(record, scrape);
		scrape.id = realId;
		// What else its notification named is something else.
		const { claimed } = scrape;
		delete scrape.claimed;
		record.open = record.open.filter((each) => each.claimed !== claimed);
	}
	if (status !== 'completed' && status !== 'failed') {
		stillRuns(record, scrape, now);
		if (now - scrape.at >= GIVEN_UP_MS) return forget(record, scrape);
		return isStuck(scrape.at, now) ? tellOnce(scrape, 'stuck') : 'keep';
	}
	const isNews = scrape.completedAt === undefined;
	scrape.completedAt = completedAt ?? now;
	if (!plan.events.includes(status)) {
		settle(record, scrape.id, scrape.completedAt);
		return 'drop';
	}
	return isNews && scrape.heard === undefined ? 'keep' : 'deliver';
}

/** The service did not say how a scrape is; what only a notification tells of is given up on some day. */
export function unanswered(record: TriggerRecord, scrape: Scrape, now: number): void {
	scrape.checked = now;
	if (scrape.claimed && now - scrape.at > DAY_MS) forget(record, scrape);
}

function tellOnce(scrape: Scrape, verdict: Verdict): Verdict {
	if (scrape.isTold) return 'keep';
	scrape.isTold = true;
	return verdict;
}

function isWithin(time: number, from: number, to: number): boolean {
	return time > from - SKEW_MS && time < to + SKEW_MS;
}

function forget(record: TriggerRecord, { id }: Scrape): 'drop' {
	record.open = record.open.filter((scrape) => scrape.id !== id);
	return 'drop';
}
