import fc from 'fast-check';
import type { IDataObject, IExecuteFunctions, INode, IWebhookFunctions } from 'n8n-workflow';
import {
	isNotificationSaved,
	richest,
	limitContent,
	toSave,
	toSend,
	type Content,
} from '../nodes/LeadGen/trigger/content';
import { deliveryItem } from '../nodes/LeadGen/trigger/delivery';
import {
	applyActivation,
	skipStart,
	planStart,
	recordScrape,
	recordFailedStart,
	applyTime,
} from '../nodes/LeadGen/trigger/events';
import { memoryOf, NodeMemory } from '../nodes/LeadGen/trigger/memory';
import { findLeads } from '../nodes/LeadGen/leads';
import { parseCron } from '../nodes/LeadGen/schedule/cron';
import { ServiceError } from '../nodes/LeadGen/service/errors';
import {
	copyWithout,
	idsOf,
	rawNotification,
	type IncomingRequest,
} from '../nodes/LeadGen/trigger/notification';
import { MAX_UNVERIFIED, applyNotification } from '../nodes/LeadGen/trigger/received';
import {
	defaultAddress,
	isPrivate,
	isReachable,
	ownAddresses,
	ownMessage,
	sendMessage,
} from '../nodes/LeadGen/trigger/ownUrl';
import type { Plan } from '../nodes/LeadGen/trigger/plan';
import { nextAction, type View } from '../nodes/LeadGen/trigger/planner';
import { PROCESS, PROCESS_SINCE } from '../nodes/LeadGen/trigger/process';
import { time } from '../nodes/LeadGen/trigger/scrape';
import { Signer } from '../nodes/LeadGen/trigger/signature';
import { prune } from '../nodes/LeadGen/trigger/prune';
import {
	addNotice,
	merge,
	markDone,
	newState,
	openScrapes,
	startIn,
	type Check,
	type Notification,
	type Start,
	type TriggerState,
} from '../nodes/LeadGen/trigger/state';
import { applyStatus, applyStatusError, type Found } from '../nodes/LeadGen/trigger/status';
import { fromRelease1 } from '../nodes/LeadGen/trigger/upgrade';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
/** When the tests begin. */
const T0 = 100 * DAY;

const plan: Plan = {
	mode: 'startScrape',
	events: ['completed', 'failed'],
	filters: 'filters 1',
	timeZone: 'UTC',
	url: 'https://n8n.example.com/webhook/1/leadgen',
};
const identity = { instanceId: 'n8n', workflowId: 'w1', nodeId: 'n1' };
const listen: Plan = { ...plan, mode: 'listen' };

/** What a process knows beside the state, where some of it matters. */
interface Memory {
	/** Something is to be saved. */
	isDirty?: boolean;
	checks?: Map<string, Check>;
	inFlight?: string[];
	/** Since when senders wait. */
	waiting?: number[];
}

function view(
	state: TriggerState,
	{ checks, inFlight = [], waiting = [], isDirty = false, ...fields }: Memory & Partial<View> = {},
): View {
	const memory = Object.assign(new NodeMemory(identity), {
		...{ syncedAt: Infinity, checks: checks ?? new Map<string, Check>() },
		state,
		inFlight: new Map(inFlight.map((name) => [name, Promise.resolve()])),
		waiting: waiting.map((since) => ({ since, source: '', answer: () => {} })),
	});
	if (!isDirty) memory.markWritten();
	return {
		memory,
		plan,
		isTimer: true,
		unverifiedPerMinute: 1000,
		...fields,
	};
}

function activation(mode: string, id = 'activation 1', activeSince?: number) {
	return { id, mode, isUnreachable: false, activeSince };
}

/** A node that was activated and whose first scrape runs. */
function running(): TriggerState {
	const state = newState('owner');
	applyActivation(state, activation('activate'), plan, T0);
	state.starts = {};
	start(state, 'attempt 1', 'scrape 1', T0);
	return state;
}

/** Why a start is wanted, if one is. */
function wanted(state: TriggerState): string | undefined {
	return startIn(state, 'wanted')?.[1].why;
}

function start(state: TriggerState, attempt: string, scrapeId: string, at: number): void {
	state.starts[attempt] = {
		id: attempt,
		why: 'activation',
		at,
		tries: 0,
		stage: 'planned',
		process: PROCESS,
		filters: 'filters 1',
	};
	recordScrape(state, attempt, scrapeId, at);
}

function scheduled(at: number): Start {
	return { stage: 'wanted', id: String(at), why: 'schedule', at, due: at, tries: 0 };
}

/** This process, or another one, received a notification. */
function note(state: TriggerState, source: string, at: number, process: string = PROCESS): void {
	state.notifications[source] = { at, size: 1, process };
}

/** What a notification brings. */
function content(at: number, fields: Partial<Content> = {}): Content {
	return { at, size: 1, process: PROCESS, raw: {}, ...fields };
}

/** A notification without a signature comes in. */
function hear(state: TriggerState, ids: string[], now: number) {
	const named = { likely: ids, others: [] };
	return applyNotification(state, undefined, named, 'listen', content(now));
}

/** What a notification without a signature is kept for. */
function sourceOf(...notification: Parameters<typeof hear>): string {
	return hear(...notification).source ?? '';
}

function checkAt(at: number): Check {
	return { at, isAnswered: true };
}

/** The status of a scrape is looked up. @returns the check, and whether the scrape is to be delivered */
function lookUp(
	state: TriggerState,
	id: string,
	found: Omit<Found, 'data'>,
	now: number,
	{ mode = listen, check = checkAt(now) } = {},
) {
	check.at = now;
	applyStatus(state, id, { data: { scrapeId: id }, ...found }, check, mode, now);
	return { check, isFinished: check.result !== undefined };
}

describe('an activation', () => {
	it('by a person wants a start, which is planned, sent when it is saved, and looked at', () => {
		const state = newState('owner');
		applyActivation(state, activation('activate'), plan, T0);
		const attempt = 'activation 1-0';
		// Saved together with the activation.
		expect(nextAction(view(state, { isDirty: true }), T0)).toEqual({ do: 'plan', attempt });
		planStart(state, attempt, plan, T0);
		// Until then another node of the workflow may erase it.
		expect(nextAction(view(state), T0)).toEqual({ do: 'wait', ms: 1000 });
		const now = T0 + 1000;
		expect(nextAction(view(state), now)).toEqual({ do: 'send', attempt });
		expect(nextAction(view(state, { inFlight: [attempt] }), now).do).toBe('wait');
		recordScrape(state, attempt, 'scrape 1', T0);
		expect(nextAction(view(state), T0)).toEqual({ do: 'wait', ms: 5000 });
		expect(nextAction(view(state), T0 + 5000)).toEqual({ do: 'check', id: 'scrape 1' });
	});

	it.each(['init', 'leadershipChange', 'update', 'activate'])(
		'that n8n makes by itself (%s) wants none',
		(mode) => {
			const state = running();
			applyActivation(state, activation(mode, 'activation 2'), plan, T0 + 1);
			expect([wanted(state), state.notices]).toEqual([undefined, {}]);
		},
	);

	it('by a person wants a start though n8n lost that it was closed, if it was on for a minute', () => {
		const state = running();
		if (state.facts.activation) state.facts.activation.isEstablished = true;
		applyActivation(state, activation('activate', 'activation 2'), plan, T0 + 1);
		expect(wanted(state)).toBe('activation');
	});

	it('wants none if n8n repeats it because another trigger of the workflow lost its connection', () => {
		const state = running();
		if (state.facts.activation) state.facts.activation.isEstablished = true;
		const repeated = activation('activate', 'activation 2', T0);
		applyActivation(state, repeated, plan, T0 + 1);
		expect(wanted(state)).toBeUndefined();
		if (state.facts.activation) state.facts.activation.isClosed = true;
		// It was closed before that, by a save.
		const later = activation('activate', 'activation 3', T0 + 2);
		const saved = structuredClone(state);
		applyActivation(saved, later, plan, T0 + 3);
		expect(wanted(saved)).toBeUndefined();
		// Another main process deactivated it since.
		applyActivation(state, repeated, plan, T0 + 3);
		expect(wanted(state)).toBe('activation');
	});

	it('at a start of n8n says that a start may be missing only if the node was closed before', () => {
		for (const [closedAt, notices] of [
			[PROCESS_SINCE - 1, 1],
			// n8n could not activate another trigger of the workflow, and tries again.
			[PROCESS_SINCE, 0],
		] as const) {
			const state = running();
			const known = state.facts.activation;
			if (known) state.facts.activation = { ...known, at: closedAt, isClosed: true };
			applyActivation(state, activation('init', 'activation 2'), plan, T0 + 1);
			expect(wanted(state)).toBeUndefined();
			expect(Object.keys(state.notices)).toHaveLength(notices);
		}
	});

	it('is one that n8n does not repeat when it was on for a minute', () => {
		const state = running();
		const isEstablished = (now: number) => {
			applyTime(state, plan, activation('activate'), now, now);
			return state.facts.activation?.isEstablished;
		};
		expect(isEstablished(T0 + 59_999)).toBeUndefined();
		expect(isEstablished(T0 + 60_000)).toBe(true);
	});

	it('by a person wants a start though an old copy overwrote that it was closed', () => {
		const state = running();
		const old = structuredClone(state);
		const known = state.facts.activation;
		if (known) state.facts.activation = { ...known, at: T0 + 10, isClosed: true };
		// A webhook process was in the middle of an answer.
		hear(old, ['scrape 2'], T0 + 20);
		for (const joined of [merge(state, old), merge(old, state)]) {
			applyActivation(joined, activation('activate', 'activation 2'), plan, T0 + 30);
			expect(wanted(joined)).toBe('activation');
		}
	});

	it('without a state starts only if a person made it, and says so otherwise', () => {
		for (const mode of ['init', 'update', 'leadershipChange']) {
			const state = newState('owner');
			applyActivation(state, activation(mode), plan, T0);
			expect(wanted(state)).toBeUndefined();
			expect(Object.values(state.notices)).toHaveLength(1);
		}
	});

	it('after a deactivation is left out while a scrape with the same filters runs', () => {
		const state = running();
		if (state.facts.activation) state.facts.activation.isClosed = true;
		applyActivation(state, activation('activate', 'activation 2'), plan, T0 + 100);
		expect(nextAction(view(state), T0 + 100)).toEqual({ do: 'check', id: 'scrape 1' });
		const { check } = lookUp(state, 'scrape 1', { status: 'processing' }, T0 + 200);
		const checks = new Map([['scrape 1', check]]);
		const attempt = 'activation 2-0';
		expect(nextAction(view(state, { checks }), T0 + 200)).toEqual({
			do: 'skip',
			id: 'scrape 1',
			attempt,
		});
		skipStart(state, { attempt, id: 'scrape 1' }, T0 + 200);
		expect(wanted(state)).toBeUndefined();
		expect(state.scrapes['scrape 1']?.skipped).toBeUndefined();
	});

	it('takes the place of starts that wait for another try', () => {
		const state = running();
		if (state.facts.activation) state.facts.activation.isClosed = true;
		// Two main processes may each want one.
		for (const id of ['one', 'other']) state.starts[id] = { ...scheduled(T0), id, tries: 1 };
		applyActivation(state, activation('activate', 'activation 2'), plan, T0 + 100);
		const stages = Object.values(state.starts).map(({ stage }) => stage);
		expect(stages).toEqual(['started', 'failed', 'failed', 'wanted']);
	});

	it('does not say that no start is known where one waits for another try', () => {
		const state = running();
		const known = state.facts.activation;
		if (known) state.facts.activation = { ...known, at: T0 - 2 * SECOND, isClosed: true };
		state.starts.again = { ...scheduled(T0), tries: 1 };
		applyActivation(state, activation('init', 'activation 2'), plan, T0 + 1);
		expect([wanted(state), state.notices]).toEqual(['schedule', {}]);
	});

	it('after the clock was set back takes the place of the one before, also of an old copy of it', () => {
		const ahead = newState('owner');
		applyActivation(ahead, activation('activate'), plan, T0 + DAY);
		applyTime(ahead, plan, activation('activate'), T0 + DAY + MINUTE, T0 + DAY + MINUTE);
		const daily = { ...plan, schedule: parseCron('0 9 * * *'), filters: 'filters 2' };
		const state = structuredClone(ahead);
		applyActivation(state, activation('update', 'activation 2'), daily, T0);
		applyTime(state, daily, activation('update', 'activation 2'), T0, T0);
		for (const joined of [merge(state, ahead), merge(ahead, state)]) {
			const { activation: known, schedule } = joined.facts;
			expect([known?.id, known?.filters]).toEqual(['activation 2', 'filters 2']);
			expect(schedule?.due).toBe(T0 + 9 * 60 * MINUTE);
		}
	});

	it('with changed filters wants one start', () => {
		const state = running();
		const changed = { ...plan, filters: 'filters 2' };
		for (const [id, after] of [
			['activation 2', 100],
			['activation 3', 200],
		] as const) {
			applyActivation(state, activation('update', id), changed, T0 + after);
			expect(wanted(state)).toBe('filters');
			expect(Object.keys(state.starts)).toEqual(['attempt 1', 'activation 2-0']);
		}
	});
});

describe('a start', () => {
	it('that another process planned is given up when that one is gone, or can wait for the answer no longer', () => {
		const state = running();
		start(state, 'attempt 2', 'scrape 2', T0);
		state.starts['attempt 3'] = {
			...scheduled(T0),
			stage: 'planned',
			process: 'process 2',
			filters: 'filters 1',
		};
		for (const id of ['scrape 1', 'scrape 2']) markDone(state, id, T0);
		expect(nextAction(view(state), T0)).toEqual({ do: 'wait', ms: 5000 });
		state.starts['attempt 3'].at = T0 + 5000;
		const at = (now: number) => {
			applyTime(state, plan, activation('activate'), now, now);
			const { message = '' } = state.notices['start attempt 3'] ?? {};
			return [nextAction(view(state), now).do, state.starts['attempt 3']?.stage, message];
		};
		expect(at(T0 + 19_999)).toEqual(['wait', 'planned', '']);
		const said = 'The node could not confirm whether a scrape was started';
		// Where another main process leads, the one before may live on.
		const later = T0 + 2 * MINUTE;
		applyTime(state, plan, activation('leadershipChange'), later, later);
		expect(state.notices).toEqual({});
		expect(at(T0 + 20_000)).toEqual(['deliver', 'unknown', said]);
	});

	it('that was not sent is wanted again, by the same name, unless another one is wanted since', () => {
		const error = new ServiceError('not sent', '', { outcome: 'notSent' });
		const state = running();
		markDone(state, 'scrape 1', T0);
		state.starts.first = scheduled(T0);
		planStart(state, 'first', plan, T0);
		const other = structuredClone(state);
		recordFailedStart(state, 'first', error, T0);
		expect(nextAction(view(state), T0 + 1)).toEqual({ do: 'wait', ms: 14_999 });
		const attempt = `${String(T0)}-1`;
		expect(nextAction(view(state), T0 + 15_000)).toEqual({ do: 'plan', attempt });
		expect(state.starts[attempt]).toEqual({ ...scheduled(T0), at: T0 + 15_000, tries: 1 });
		applyActivation(
			other,
			activation('activate', 'activation 2', T0 - 1),
			{ ...plan, filters: '2' },
			T0,
		);
		recordFailedStart(other, 'first', error, T0 + 1);
		expect(Object.keys(other.starts)).toEqual(['attempt 1', 'first', 'activation 2-0']);
	});

	it.each([
		['it was for a schedule that changed', { ...plan, schedule: parseCron('0 9 * * *') }, 1],
		['nothing changed', plan, 2],
	])('is wanted no more if %s', (_why, changed, expected) => {
		const state = newState('owner');
		applyTime(state, plan, activation('activate'), T0, T0);
		state.starts.first = scheduled(T0);
		state.starts.second = { ...scheduled(T0), due: undefined, why: 'filters' };
		applyTime(state, changed, activation('update'), T0, T0 + 1);
		const stages = Object.values(state.starts).map(({ stage }) => stage);
		expect(stages.filter((stage) => stage === 'wanted')).toHaveLength(expected);
	});

	it('that was not sent is left out where the node only listens now', () => {
		const state = running();
		const next = (
			stage: Start['stage'],
			{ process = PROCESS, inFlight = [] }: { process?: string; inFlight?: string[] } = {},
		) => {
			state.starts.first = { ...scheduled(T0), stage, process };
			return nextAction(
				view(state, { plan: listen, inFlight: [...inFlight, 'scrape 1'] }),
				T0 + DAY,
			);
		};
		const skipped = { do: 'skip', attempt: 'first' };
		expect([next('wanted'), next('planned')]).toEqual([skipped, skipped]);
		// It may have been sent.
		expect(next('planned', { process: 'process 2' })).toEqual({ do: 'wait', ms: 5000 });
		expect(next('planned', { inFlight: ['first'] }).do).toBe('wait');
		for (const stage of ['wanted', 'planned'] as const) {
			state.starts.first = { ...scheduled(T0), stage };
			skipStart(state, { attempt: 'first' }, T0);
			expect(nextAction(view(state, { inFlight: ['scrape 1'] }), T0 + DAY).do).toBe('wait');
		}
	});

	it('that is wanted after the clock was set back is not taken for an old one', () => {
		const state = running();
		for (let each = 1; each <= 30; each++)
			start(state, `a ${String(each)}`, `s ${String(each)}`, T0 + DAY + each);
		state.starts.new = scheduled(T0 + MINUTE);
		const { starts } = prune(state, T0 + MINUTE);
		expect([Object.keys(starts).length, starts.new?.stage]).toEqual([20, 'wanted']);
	});

	it('is tried again no more if its notification tells that it was sent after all', () => {
		const error = new ServiceError('slow down', '', { outcome: 'refused', httpStatus: 429 });
		const state = newState('owner');
		state.starts.first = scheduled(T0);
		state.starts.other = { ...scheduled(T0), stage: 'failed' };
		planStart(state, 'first', plan, T0);
		recordFailedStart(state, 'first', error, T0);
		expect(wanted(state)).toBe('schedule');
		recordScrape(state, 'first', 'scrape 1', T0 + SECOND);
		expect(wanted(state)).toBeUndefined();
	});

	it.each(['wanted', 'planned'] as const)(
		'that only an old copy calls %s is forgotten',
		(stage) => {
			const idle = running();
			idle.starts['old-1'] = { ...scheduled(T0), stage, tries: 1 };
			const state = structuredClone(idle);
			for (let each = 1; each <= 30; each++)
				start(state, `a ${String(each)}`, `s ${String(each)}`, T0 + each);
			state.starts['new-1'] = { ...scheduled(T0 + 40), tries: 1 };
			const left = Object.keys(prune(merge(prune(state, T0 + 40), idle), T0 + 40).starts);
			expect(left).toHaveLength(20);
			expect([left.includes('old-1'), left.includes('new-1')]).toEqual([false, true]);
		},
	);

	it('for changed filters is left out if another main process, or one planned before, just took them', () => {
		const now = T0 + 3 * MINUTE;
		const next = (at: number, stage: Start['stage'], filters = 'filters 1') => {
			const state = running();
			state.starts = { other: { ...scheduled(at), stage, filters } };
			state.starts.changed = { ...scheduled(T0 + MINUTE), due: undefined, why: 'filters' };
			const checks = new Map([['scrape 1', checkAt(now)]]);
			return nextAction(view(state, { checks }), now).do;
		};
		const lately = T0 + MINUTE - 19 * SECOND;
		for (const stage of ['unknown', 'started'] as const) expect(next(lately, stage)).toBe('skip');
		expect(next(lately - 2 * SECOND, 'started')).toBe('plan');
		expect([next(lately, 'failed'), next(lately, 'started', 'filters 2')]).toEqual([
			'plan',
			'plan',
		]);
	});

	it('is saved with what became of it, not while a look decides that', () => {
		const state = running();
		state.starts.second = scheduled(T0 + MINUTE);
		const next = (inFlight: string[], checks?: Map<string, Check>) =>
			nextAction(view(state, { inFlight, checks, isDirty: true }), T0 + MINUTE).do;
		expect([next(['scrape 1']), next([])]).toEqual(['wait', 'check']);
		const checks = new Map([['scrape 1', { at: T0 + MINUTE, isAnswered: false }]]);
		expect(next(['scrape 1'], checks)).toBe('sync');
	});

	it('is planned only after a look at what other processes did meanwhile', () => {
		const state = running();
		state.starts.again = { ...scheduled(T0 + MINUTE), tries: 1 };
		const { check } = lookUp(state, 'scrape 1', { status: 'completed' }, T0 + 2 * MINUTE);
		const checks = new Map([['scrape 1', check]]);
		const next = (syncedAt: number, known = checks) => {
			const at = view(state, { checks: known });
			at.memory.syncedAt = syncedAt;
			return nextAction(at, T0 + 2 * MINUTE).do;
		};
		// The scrape was looked at, and its end is not delivered before the start is planned.
		expect([next(T0 + 2 * MINUTE - 1), next(T0 + 2 * MINUTE)]).toEqual(['sync', 'plan']);
		// A clock that was set back keeps nothing waiting.
		const later = new Map([['scrape 1', { ...check, at: T0 + DAY }]]);
		expect(next(T0 + 2 * MINUTE, later)).toBe('plan');
		markDone(state, 'scrape 1', T0);
		const none = new Map<string, Check>();
		expect([next(T0 + MINUTE - 1, none), next(T0 + MINUTE, none)]).toEqual(['sync', 'plan']);
	});

	it('by schedule is left out while a scrape runs, and planned once it is finished', () => {
		const state = running();
		const want = (state.starts.second = scheduled(T0 + DAY / 2));
		const { check } = lookUp(state, 'scrape 1', { status: 'processing' }, want.at);
		const checks = new Map([['scrape 1', check]]);
		expect(nextAction(view(state, { checks }), want.at).do).toBe('skip');
		lookUp(state, 'scrape 1', { status: 'completed' }, want.at, { check });
		note(state, 'attempt 1', want.at);
		state.scrapes['scrape 1'] = {
			stage: 'delivering',
			at: want.at,
			since: T0,
			source: 'attempt 1',
		};
		expect(nextAction(view(state, { checks }), want.at).do).toBe('plan');
	});

	it('waits for the next look at a scrape whose status cannot be read', () => {
		const state = running();
		const want = (state.starts.second = scheduled(T0 + 1_000_000));
		const checks = new Map([['scrape 1', { at: want.at, isAnswered: false }]]);
		expect(nextAction(view(state, { checks }), want.at)).toEqual({
			do: 'wait',
			ms: 250_000,
		});
	});

	it.each([
		['0 9 * * *', 9, 33],
		['30 6 * * *', 6.5, 30.5],
		['0 0 1 * *', 20 * 24, 51 * 24],
	])(
		'by schedule (%s) that fell due while the node only listened is not made up for',
		(cron, firstHours, nextHours) => {
			const state = newState('owner');
			const scheduledPlan = { ...plan, schedule: parseCron(cron) };
			const HOUR = 60 * MINUTE;
			const save = (id: string, mode: string, changed: Plan, now: number) => {
				applyActivation(state, activation(mode, id), changed, now);
				applyTime(state, changed, activation(mode, id), now, now);
				const action = nextAction(view(state, { plan: changed }), now);
				if (action.do === 'skip') skipStart(state, action, now);
				return wanted(state);
			};
			expect(save('activation 1', 'activate', scheduledPlan, T0)).toBe('activation');
			expect(state.facts.schedule?.due).toBe(T0 + firstHours * HOUR);
			expect(save('activation 2', 'update', listen, T0 + MINUTE)).toBeUndefined();
			expect(state.facts.schedule?.due).toBeUndefined();
			// After the first time at which it would have been due, and before the second one.
			const now = T0 + (firstHours + 1) * HOUR;
			const before = now - 1;
			applyTime(state, listen, activation('update', 'activation 2'), before, before);
			expect(save('activation 3', 'update', scheduledPlan, now)).toBeUndefined();
			const due = T0 + nextHours * HOUR;
			const next = (time: number) => nextAction(view(state, { plan: scheduledPlan }), time);
			expect([now, due - 1].map((time) => next(time).do)).toEqual(['wait', 'wait']);
			// The time zone is read again.
			expect(next(due).do).toBe('sync');
			const fallsDue = (syncedAt: number) => {
				applyTime(state, scheduledPlan, activation('init'), syncedAt, due);
				return wanted(state);
			};
			expect([fallsDue(due - 1), fallsDue(due)]).toEqual([undefined, 'schedule']);
			expect(next(due)).toEqual({ do: 'plan', attempt: `${String(due)}-0` });
			expect(state.facts.schedule?.due).toBeGreaterThan(due);
		},
	);

	it('that could not be sent for an hour is told, once, and tried again', () => {
		const error = new ServiceError('The host was not found', 'Look.', { outcome: 'notSent' });
		const told = Array.from({ length: 14 }, (_, tries) => {
			const state = newState('owner');
			state.starts.attempt = { ...scheduled(T0), tries };
			planStart(state, 'attempt', plan, T0);
			recordFailedStart(state, 'attempt', error, T0);
			expect(wanted(state)).toBe('schedule');
			return Object.values(state.notices).map(({ message, advice }) => `${message}. ${advice}`);
		});
		const text =
			'No scrape could be started for an hour: The host was not found. Look. The node keeps trying, and starts one scrape as soon as it can.';
		expect(told).toEqual(told.map((_, tries) => (tries === 10 ? [text] : [])));
	});

	it.each([
		[429, undefined, true],
		[429, 'SLOW_DOWN', true],
		[429, 'RATE_LIMIT_EXCEEDED', true],
		[400, 'RATE_LIMIT_EXCEEDED', true],
		[429, 'INSUFFICIENT_CREDITS', false],
		[400, undefined, false],
	])(
		'that is refused for the rate is tried again: HTTP %i, code %s: %s',
		(httpStatus, code, isAgain) => {
			const error = new ServiceError('no', '', { outcome: 'refused', httpStatus, code });
			const results = [0, 1, 2, 9].map((tries) => {
				const state = newState('owner');
				state.starts.attempt = { ...scheduled(T0), tries };
				planStart(state, 'attempt', plan, T0);
				recordFailedStart(state, 'attempt', error, T0 + SECOND);
				const { at } = startIn(state, 'wanted')?.[1] ?? {};
				return [state.starts.attempt.stage, at, Object.keys(state.notices)];
			});
			const at = (seconds: number) => ['failed', T0 + SECOND + seconds * SECOND, []];
			expect(results).toEqual(
				isAgain
					? [at(15), at(30), at(60), at(600)]
					: new Array(4).fill(['failed', undefined, ['start attempt']]),
			);
		},
	);

	it('whose notification told which scrape it is does not fail, whatever its answer is', () => {
		const state = running();
		for (const [index, status] of ['processing', 'completed'].entries()) {
			const attempt = `early ${String(index)}`;
			const id = `scrape early ${String(index)}`;
			state.starts[attempt] = scheduled(T0 + index);
			planStart(state, attempt, plan, T0);
			const ids = { likely: [id], others: [] };
			applyNotification(state, attempt, ids, plan.mode, content(T0 + SECOND));
			lookUp(state, id, { id, status, createdAt: T0 }, T0 + SECOND, { mode: plan });
			expect(state.scrapes[id]?.stage).toBe('open');
			expect(state.starts[attempt]).toMatchObject({ stage: 'started', scrapeId: id });
			const before = structuredClone(state);
			for (const error of [
				new ServiceError('broken', '', { outcome: 'unknown', httpStatus: 200 }),
				new ServiceError('not sent', '', { outcome: 'notSent' }),
				new ServiceError('refused', '', { outcome: 'refused', httpStatus: 402 }),
				new ServiceError('rate', '', { outcome: 'refused', httpStatus: 429 }),
				new Error('another'),
			]) {
				recordFailedStart(state, attempt, error, T0 + MINUTE);
				expect(state).toEqual(before);
			}
		}
	});

	it('that brings the ID of an earlier scrape is told once, and keeps nothing open', () => {
		const state = newState('owner');
		for (const [index, id] of ['1', 'scrape 1'].entries()) {
			const attempt = `attempt ${id}`;
			start(state, `first ${id}`, id, T0);
			markDone(state, id, T0 + MINUTE);
			// The answer and the notification may both tell of the same scrape.
			recordScrape(state, `first ${id}`, id, T0 + MINUTE);
			expect(Object.keys(state.notices)).toHaveLength(index);
			start(state, attempt, id, T0 + DAY);
			recordScrape(state, attempt, id, T0 + DAY + 1);
			expect(state.starts[attempt]).toMatchObject({ stage: 'started', scrapeId: id });
			expect(state.scrapes[id]).toMatchObject({ stage: 'done', at: T0 + MINUTE });
		}
		expect(
			Object.entries(state.notices).map(([id, { stage, message }]) => [id, stage, message]),
		).toEqual([
			['start attempt 1', 'open', 'A new scrape has the ID of an earlier one: 1'],
			['start attempt scrape 1', 'open', 'A new scrape has the ID of an earlier one: scrape 1'],
		]);
	});

	it('by schedule waits a second, in which another main process may have planned the same', () => {
		const state = newState('owner');
		state.starts.due = {
			...scheduled(T0),
			stage: 'planned',
			process: PROCESS,
			filters: 'filters 1',
		};
		expect(nextAction(view(state), T0)).toEqual({ do: 'wait', ms: 1000 });
		expect(nextAction(view(state), T0 + 1000)).toEqual({ do: 'send', attempt: 'due' });
	});
});

describe('a notification', () => {
	it('with the signature of an attempt is about its scrape, whatever it names', () => {
		const state = running();
		start(state, 'attempt 2', 'scrape 2', T0);
		const about = (attempt: string, likely: string[]) =>
			applyNotification(state, attempt, { likely, others: [] }, plan.mode, content(T0));
		expect(about('attempt 1', ['scrape 2'])).toEqual({ outcome: 'noted', source: 'attempt 1' });
		expect(about('attempt 2', [])).toEqual({ outcome: 'noted', source: 'attempt 2' });
		markDone(state, 'scrape 2', T0);
		expect(about('attempt 2', [])).toEqual({ outcome: 'ignored' });
	});

	it('without a name is about the only scrape, and about none of several', () => {
		const state = running();
		const anonymous = () =>
			applyNotification(state, '', { likely: [], others: [] }, plan.mode, content(T0));
		expect(anonymous()).toEqual({ outcome: 'noted', source: 'attempt 1' });
		start(state, 'attempt 2', 'scrape 2', T0);
		expect(anonymous()).toEqual({ outcome: 'ignored' });
	});

	it('may come before the answer to the start', () => {
		const state = running();
		const known = { ...scheduled(T0), process: PROCESS, filters: 'filters 1' };
		state.starts.early = { ...known, stage: 'planned' };
		const named = { likely: ['scrape 2', 'event 1'], others: [] };
		const received = applyNotification(state, 'early', named, plan.mode, content(T0 + 100));
		expect(received).toEqual({ outcome: 'noted', source: 'early' });
		note(state, 'early', T0 + 100);
		expect(Object.keys(prune(state, T0 + 200).notifications)).toEqual(['early']);
		recordScrape(state, 'early', 'scrape 2', T0 + 200);
		expect(state.scrapes['scrape 2']?.source).toBe('early');
		expect(state.scrapes['event 1']?.stage).toBe('rejected');
	});

	it('tells which scrape it was, if the answer to the start was lost', () => {
		const state = running();
		const known = { ...scheduled(T0 + DAY), process: PROCESS, filters: 'filters 1' };
		state.starts.lost = { ...known, stage: 'unknown' };
		const named = { likely: ['scrape 1', 'scrape 2', 'event'], others: [] };
		markDone(state, 'scrape 1', T0);
		applyNotification(state, 'lost', named, plan.mode, content(T0 + DAY));
		expect(Object.keys(state.scrapes)).toEqual(['scrape 1', 'scrape 2', 'event']);
		const ids = { likely: ['scrape 2', 'event'], others: [] };
		applyNotification(state, 'lost', ids, plan.mode, content(T0 + DAY));
		const old = { status: 'completed', createdAt: T0 };
		expect(lookUp(state, 'event', old, T0 + DAY).isFinished).toBe(false);
		expect(state.scrapes.event?.stage).toBe('rejected');
		const real = { status: 'completed', createdAt: T0 + DAY };
		expect(lookUp(state, 'scrape 2', real, T0 + DAY).isFinished).toBe(true);
		expect(state.scrapes['scrape 2']?.stage).toBe('open');
		expect(state.starts.lost).toMatchObject({ stage: 'started', scrapeId: 'scrape 2' });
	});

	it('without a signature is ignored, unless the node listens', () => {
		const state = running();
		const named = { likely: ['scrape 2'], others: [] };
		expect(applyNotification(state, undefined, named, plan.mode, content(T0)).outcome).toBe(
			'ignored',
		);
		expect(applyNotification(state, '', named, plan.mode, content(T0)).outcome).toBe('noted');
		expect(hear(state, ['scrape 3'], T0).outcome).toBe('noted');
	});

	it('is known by an open scrape in it, whatever the name, and else by the names of scrape IDs', () => {
		const state = running();
		const about = (likely: string[], others: string[], mode = listen) => {
			applyNotification(state, '', { likely, others }, mode.mode, content(T0));
			return Object.keys(state.scrapes);
		};
		expect(about(['event 1'], ['scrape 1'])).toEqual(['scrape 1']);
		expect(about(['a'], ['b'])).toEqual(['scrape 1', 'a']);
		start(state, 'attempt 2', 'scrape 2', T0);
		expect(about([], ['c'])).toEqual(['scrape 1', 'a', 'scrape 2', 'c']);
		expect(about([], ['d'], plan)).toEqual(['scrape 1', 'a', 'scrape 2', 'c']);
	});

	it('of a completion that is older than what is remembered is refused where the node listens', () => {
		const state = newState('owner');
		state.facts.horizon.at = T0;
		hear(state, ['old'], T0 + 10);
		hear(state, ['new'], T0 + 11);
		const at = (completedAt: number) => ({ status: 'completed', completedAt });
		expect(lookUp(state, 'old', at(T0 - 1), T0 + 20).isFinished).toBe(false);
		expect(lookUp(state, 'new', at(T0 + 1), T0 + 20).isFinished).toBe(true);
	});

	it('of an old completion runs where the node listens only since then', () => {
		const state = newState('owner');
		const old: Array<[id: string, found: Omit<Found, 'data'>]> = [
			['an hour', { status: 'completed', completedAt: T0 - 60 * MINUTE }],
			['a month', { status: 'completed', completedAt: T0 - 30 * DAY }],
			['failed', { status: 'failed', createdAt: T0 - 30 * DAY }],
		];
		for (const [id, found] of old) {
			hear(state, [id], T0);
			expect(lookUp(state, id, { id, ...found }, T0 + 1).isFinished).toBe(true);
		}
		const open = openScrapes(prune(state, T0 + 2)).map(([id]) => id);
		expect(open).toEqual(['an hour', 'a month', 'failed']);
	});

	it('of a failure, which has no time, may be of a scrape that ran for a day', () => {
		const state = newState('owner');
		state.facts.horizon.at = T0;
		hear(state, ['old'], T0 + DAY);
		hear(state, ['long'], T0 + DAY + 1);
		const status = 'failed';
		expect(lookUp(state, 'old', { status, createdAt: T0 - DAY - 1 }, T0 + DAY).isFinished).toBe(
			false,
		);
		expect(lookUp(state, 'long', { status, createdAt: T0 - DAY + 1 }, T0 + DAY).isFinished).toBe(
			true,
		);
	});

	it('of a scrape that the service does not find is looked up for ten minutes, after new ones', () => {
		const state = newState('owner');
		hear(state, ['found late', 'forged'], T0);
		const checks = new Map<string, Check>();
		for (const id of ['found late', 'forged']) {
			checks.set(id, lookUp(state, id, {}, T0 + 100).check);
		}
		hear(state, ['new'], T0 + 20_000);
		for (const { source } of Object.values(state.scrapes)) note(state, source, T0);
		const at = T0 + 130_000;
		const next = view(state, { plan: listen, checks });
		expect(nextAction(next, at)).toEqual({ do: 'check', id: 'new' });
		const check = checks.get('found late');
		expect(lookUp(state, 'found late', { status: 'completed' }, at, { check }).isFinished).toBe(
			true,
		);
		expect(openScrapes(state).map(([id]) => id)).toEqual(['found late']);
		lookUp(state, 'forged', {}, at, { check: checks.get('forged') });
		expect(state.scrapes.forged?.stage).toBe('unverified');
		const late = T0 + 100 + 10 * MINUTE;
		lookUp(state, 'forged', {}, late, { check: checks.get('forged') });
		expect(state.scrapes.forged?.stage).toBe('rejected');
		expect(hear(state, ['forged'], late).outcome).toBe('full');
	});

	it('whose status the service refuses is told once, also if a hundred scrapes run', () => {
		let state = newState('owner');
		const ids = Array.from({ length: 100 }, (_, index) => `scrape ${String(index)}`);
		for (const id of ids) start(state, `attempt of ${id}`, id, T0);
		const error = new ServiceError('Invalid API key', 'Correct it.', { outcome: 'refused' });
		const told: string[] = [];
		for (let round = 1; round < 50; round++) {
			const now = T0 + round * MINUTE;
			for (const id of ids) applyStatusError(state, id, now, error);
			state = prune(state, now);
			const open = Object.entries(state.notices).filter(([, { stage }]) => stage === 'open');
			for (const [id] of open) {
				told.push(id);
				markDone(state, id, now);
			}
		}
		expect(told.sort()).toEqual(ids.map((id) => `status of ${id}`).sort());
	});

	it('of an ID for which the service names no status is one of no scrape, unless it names one later', () => {
		const state = running();
		hear(state, ['any 1', 'any 2', 'real'], T0);
		const ids = ['any 1', 'any 2', 'real'];
		const answer = { id: undefined, status: '' };
		const checks = ids.map((id) => lookUp(state, id, answer, T0 + 1).check);
		const stages = () => ids.map((id) => state.scrapes[id]?.stage);
		expect(stages()).toEqual(['unverified', 'unverified', 'unverified']);
		const at = T0 + 11 * MINUTE;
		for (const [index, id] of ids.entries()) {
			const found = id === 'real' ? { id, status: 'processing' } : answer;
			lookUp(state, id, found, at, { check: checks[index] });
		}
		expect(stages()).toEqual(['rejected', 'rejected', 'open']);
		// One that the node started is real, whatever is said of it.
		const { check } = lookUp(state, 'scrape 1', answer, at);
		expect([check.missingSince, state.scrapes['scrape 1']?.stage]).toEqual([undefined, 'open']);
	});

	it('comes in while a flood of forged ones lasts, and at once when it is over', () => {
		const state = newState('owner');
		const checks = new Map<string, Check>();
		const LOOKUPS = 20;
		let forged = 0;
		const come = (id: string, now: number) => {
			const { outcome, source = '' } = hear(state, [id], now);
			if (outcome === 'noted') note(state, source, now);
			return outcome;
		};
		/** Looks up what a minute allows. @returns what was looked up */
		const looks = (now: number): string[] =>
			Array.from({ length: LOOKUPS }, () => {
				const action = nextAction(view(state, { plan: listen, checks }), now);
				if (action.do !== 'check') throw new Error(`It is to ${action.do}`);
				const { id } = action;
				const known = checks.get(id);
				checks.set(id, lookUp(state, id, {}, now, known && { check: known }).check);
				return id;
			});
		while (forged < MAX_UNVERIFIED / 2) come(`forged ${String(forged++)}`, T0 + forged);
		come('during it', T0 + 300);
		let minutes = 0;
		for (let seen: string[] = []; !seen.includes('during it') && minutes < 100; minutes++) {
			const now = T0 + minutes * MINUTE + 400;
			while (come(`forged ${String(forged++)}`, now) !== 'full');
			seen = looks(now);
		}
		expect(minutes).toBeLessThanOrEqual(2 * (MAX_UNVERIFIED / LOOKUPS));
		const after = T0 + (minutes + 1) * MINUTE;
		come('after it', after);
		expect([...looks(after), ...looks(after + MINUTE)]).toContain('after it');
	});

	it('that names something else that others named is about its own scrape, with its own content', () => {
		const state = newState('owner');
		const bring = (ids: string[], at: number, size: number) =>
			applyNotification(
				state,
				undefined,
				{ likely: ids, others: [] },
				listen.mode,
				content(at, { size, raw: { ids } }),
			);
		const contentOf = (id: string) => state.notifications[state.scrapes[id]?.source ?? '']?.raw;
		bring(['nightly', 'scrape 1'], T0, 10);
		// Before the service was asked for any of these names.
		bring(['nightly', 'scrape 2'], T0 + 1, 20);
		const done = { status: 'completed', completedAt: T0 };
		expect(lookUp(state, 'scrape 1', { id: 'scrape 1', ...done }, T0 + 2).isFinished).toBe(true);
		// And after it.
		bring(['nightly', 'scrape 3'], T0 + 3, 5);
		for (const id of ['scrape 2', 'scrape 3']) {
			expect(lookUp(state, id, { id, ...done }, T0 + 4).isFinished).toBe(true);
		}
		expect(openScrapes(state).map(([id]) => id)).toEqual(['scrape 1', 'scrape 2', 'scrape 3']);
		expect(['scrape 1', 'scrape 2', 'scrape 3'].map(contentOf)).toEqual([
			{ ids: ['nightly', 'scrape 1'] },
			{ ids: ['nightly', 'scrape 2'] },
			{ ids: ['nightly', 'scrape 3'] },
		]);
		// What is no scrape is looked up for ten minutes. Then one that names nothing else is turned away.
		const { check } = lookUp(state, 'nightly', {}, T0 + 5);
		const at = T0 + 5 + 10 * MINUTE;
		lookUp(state, 'nightly', {}, at, { check });
		expect(hear(state, ['nightly'], at)).toEqual({ outcome: 'full' });
	});

	it('names what belongs to its scrape, such as leads, deeper than the scrape', () => {
		const state = newState('owner');
		const lists = {
			leads: { id: 'scrape 1', data: { list: [{ id: 'lead 1' }, { id: 'lead 2' }] } },
			scrapes: { scrapes: [{ id: 'scrape 2' }, { id: 'scrape 3' }] },
			event: { id: 'event', scrape: { id: 'scrape 4' } },
		};
		for (const body of Object.values(lists)) {
			const named = idsOf({ method: 'POST', headers: {}, query: {}, body });
			applyNotification(state, undefined, named, listen.mode, content(T0));
		}
		for (const id of ['scrape 1', 'scrape 2', 'scrape 3', 'scrape 4']) {
			lookUp(state, id, { id, status: 'completed', completedAt: T0 }, T0 + 1);
		}
		const stages = Object.entries(state.scrapes).map(([id, { stage }]) => `${id}: ${stage}`);
		expect(stages.sort()).toEqual([
			'event: unverified',
			'lead 1: rejected',
			'lead 2: rejected',
			'scrape 1: open',
			'scrape 2: open',
			'scrape 3: open',
			'scrape 4: open',
		]);
	});

	it('tells of several scrapes, some of which are known', () => {
		const state = running();
		markDone(state, 'done', T0);
		const ids = [
			'done',
			'scrape 1',
			...Array.from({ length: 8 }, (_, index) => `new ${String(index)}`),
		];
		expect(hear(state, ids, T0 + 1).outcome).toBe('noted');
		expect(state.scrapes['scrape 1']?.source).toBe('attempt 1');
		for (const id of ids.slice(2)) {
			const found = { id, status: 'completed', completedAt: T0 };
			expect(lookUp(state, id, found, T0 + 2).isFinished).toBe(true);
		}
		expect(openScrapes(state).map(([id]) => id)).toEqual(ids.slice(1));
		markDone(state, 'scrape 1', T0 + 3);
		expect(hear(state, ['done', 'scrape 1'], T0 + 4)).toEqual({ outcome: 'ignored' });
	});

	it('is put off when too many are waiting, and the state stays small', () => {
		const state = newState('owner');
		const outcomes = Array.from({ length: 1000 }, (_, index) =>
			hear(state, [`forged ${String(index)}`], T0 + index),
		);
		const noted = outcomes.filter(({ outcome }) => outcome === 'noted');
		expect(noted).toHaveLength(MAX_UNVERIFIED);
		expect(outcomes[999]?.outcome).toBe('full');
		// How much of the notifications is saved has its own limits.
		expect(JSON.stringify({ ...state, notifications: {} }).length).toBeLessThan(60_000);
	});

	it('that the service cannot answer for is looked at less often, and makes room after a day', () => {
		const state = newState('owner');
		const checks = new Map<string, Check>();
		for (let count = 0; count < MAX_UNVERIFIED; count++) {
			const id = `id ${String(count)}`;
			note(state, sourceOf(state, [id], T0), T0);
			checks.set(id, { at: T0, isAnswered: false });
		}
		const next = view(state, { plan: listen, checks });
		expect(nextAction(next, T0)).toEqual({ do: 'wait', ms: 10_000 });
		expect(hear(state, ['late'], T0).outcome).toBe('full');
		applyStatusError(state, 'id 1', T0 + DAY);
		expect(state.scrapes['id 1']?.stage).toBe('rejected');
		expect(hear(state, ['late'], T0 + DAY).outcome).toBe('noted');
	});

	it('that the service cannot answer for is told once a day for all of them, and rejected after a day', () => {
		const state = newState('owner');
		const error = new ServiceError('broken', 'Wait.', { outcome: 'unknown', httpStatus: 500 });
		const toldAt = (ids: string[], now: number) => {
			for (const id of ids) applyStatusError(state, id, now, error);
			const stages = ids.map((id) => state.scrapes[id]?.stage);
			return [Object.keys(state.notices), new Set(stages)];
		};
		const [first, second] = [
			['a', 'b', 'c'],
			['d', 'e'],
		] as const;
		hear(state, [...first], T0);
		hear(state, [...second], T0 + DAY);
		const unverified = new Set(['unverified']);
		const rejected = new Set(['rejected']);
		expect(toldAt([...first], T0 + DAY - 1)).toEqual([[], unverified]);
		expect(toldAt([...first], T0 + DAY)).toEqual([['status of notifications 101'], rejected]);
		expect(toldAt([...second], T0 + 2 * DAY - 1)).toEqual([
			['status of notifications 101'],
			unverified,
		]);
		const both = ['status of notifications 101', 'status of notifications 102'];
		expect(toldAt([...second], T0 + 2 * DAY)).toEqual([both, rejected]);
	});

	it('has some time to come when the scrape is seen to be finished before it', () => {
		const state = running();
		const { check } = lookUp(state, 'scrape 1', { status: 'completed' }, T0 + 5000);
		const checks = new Map([['scrape 1', check]]);
		expect(nextAction(view(state, { checks }), T0 + 5000)).toEqual({ do: 'wait', ms: 2000 });
		note(state, 'attempt 1', T0 + 5500);
		const deliver = { do: 'deliver', id: 'scrape 1' };
		expect(nextAction(view(state, { checks }), T0 + 5500)).toEqual(deliver);
	});

	it('again and again takes a look each three seconds, and goes before unverified ones', () => {
		const state = running();
		const checks = new Map([['scrape 1', { at: T0 + 100, isAnswered: true }]]);
		const source = sourceOf(state, ['forged'], T0);
		const next = (now: number) => {
			for (const each of ['attempt 1', source]) note(state, each, now);
			const action = nextAction(view(state, { checks }), now);
			return action.do === 'check' ? action.id : action.do;
		};
		expect([next(T0 + 300), next(T0 + 3099), next(T0 + 3100)]).toEqual([
			'forged',
			'forged',
			'scrape 1',
		]);
	});

	it('of unverified IDs takes its share of the lookups, unless they prove real', () => {
		const state = newState('owner');
		const checks = new Map<string, Check>();
		for (const id of ['a', 'b', 'c']) {
			note(state, sourceOf(state, [id], T0), T0);
			if (id !== 'c') checks.set(id, lookUp(state, id, {}, T0).check);
		}
		const next = (now: number) => {
			const fields = { plan: listen, checks, unverifiedPerMinute: 2 };
			return nextAction(view(state, fields), now);
		};
		expect(next(T0 + 100)).toEqual({ do: 'wait', ms: MINUTE - 100 });
		expect(next(T0 + MINUTE)).toEqual({ do: 'check', id: 'c' });
		lookUp(state, 'a', { status: 'processing' }, T0 + 200, { check: checks.get('a') });
		expect(next(T0 + 300)).toEqual({ do: 'check', id: 'c' });
	});

	it('to another process is left to that one for a minute', () => {
		const state = newState('owner');
		const source = sourceOf(state, ['scrape 1'], T0);
		note(state, source, T0, 'process 2');
		expect(nextAction(view(state, { plan: listen }), T0)).toEqual({ do: 'wait', ms: MINUTE });
		expect(nextAction(view(state, { plan: listen }), T0 + MINUTE).do).toBe('check');
	});

	it('that a process before this one received takes the same share of the lookups', () => {
		const state = newState('owner');
		for (const id of ['a', 'b', 'c']) note(state, sourceOf(state, [id], T0), T0, 'gone');
		const checks = new Map([
			['a', checkAt(T0 + MINUTE)],
			['b', checkAt(T0 + MINUTE)],
		]);
		const next = (unverifiedPerMinute: number) =>
			nextAction(view(state, { plan: listen, checks, unverifiedPerMinute }), T0 + MINUTE);
		expect(next(3)).toEqual({ do: 'check', id: 'c' });
		expect(next(2)).toEqual({ do: 'wait', ms: MINUTE });
	});

	it('is answered together with others, when n8n has saved them', () => {
		const state = newState('owner');
		const next = view(state, { plan: listen, waiting: [T0] });
		expect(nextAction(next, T0 + 100)).toEqual({ do: 'wait', ms: 200 });
		expect(nextAction(next, T0 + 300)).toEqual({ do: 'sync' });
	});

	it('that spells the ID in its own way is about the scrape that the service names', () => {
		const state = newState('owner');
		const done = { id: 'ab-1', status: 'completed', completedAt: T0 };
		const results = ['AB-1', '{ab-1}'].map((id) => {
			hear(state, [id], T0 + 100);
			return [lookUp(state, id, done, T0 + 200).isFinished, state.scrapes[id]?.stage];
		});
		expect(results).toEqual([
			[true, 'rejected'],
			[false, 'rejected'],
		]);
		expect(openScrapes(state).map(([id]) => id)).toEqual(['ab-1']);
		markDone(state, 'ab-1', T0);
		hear(state, ['Ab-1'], T0 + 400);
		expect(lookUp(state, 'Ab-1', done, T0 + 500).isFinished).toBe(false);
		expect(openScrapes(state)).toEqual([]);
	});
});

describe('a scrape', () => {
	it('is looked at less and less often while it runs', () => {
		const state = running();
		const check: Check = { at: T0, isAnswered: true };
		const checks = new Map([['scrape 1', check]]);
		const pauses = [0, 1, 4, 10, 60].map((minutes) => {
			check.at = T0 + minutes * MINUTE;
			const action = nextAction(view(state, { checks }), check.at);
			return action.do === 'wait' ? action.ms / SECOND : action.do;
		});
		expect(pauses).toEqual([5, 15, 60, 150, 300]);
	});

	it('that the service does not find is waited for, and the person is told after ten minutes', () => {
		const state = running();
		const check: Check = { at: T0, isAnswered: true };
		const at = (minutes: number, status?: string) => {
			lookUp(state, 'scrape 1', { status }, T0 + minutes * MINUTE, { check });
			return [Object.keys(state.notices).length, state.scrapes['scrape 1']?.stage];
		};
		expect(at(0)).toEqual([0, 'open']);
		expect(at(5, 'processing')).toEqual([0, 'open']);
		expect(at(10)).toEqual([0, 'open']);
		expect(at(19)).toEqual([0, 'open']);
		expect(at(20)).toEqual([1, 'open']);
		expect(at(21)).toEqual([1, 'open']);
		expect(at(7 * 24 * 60 - 1)).toEqual([1, 'open']);
		expect(at(7 * 24 * 60)).toEqual([1, 'done']);
	});

	it('that never ends holds nothing up after a day, is told once, and given up after a week', () => {
		const state = running();
		const check: Check = { at: T0, isAnswered: true };
		const at = (days: number) => {
			const now = T0 + days * DAY;
			lookUp(state, 'scrape 1', { status: 'cancelled' }, now, { check });
			state.starts.next = scheduled(now);
			const next = view(state, { checks: new Map([['scrape 1', check]]) });
			return [nextAction(next, now).do, Object.keys(state.notices).length];
		};
		expect(at(0.5)).toEqual(['skip', 0]);
		expect(at(1)).toEqual(['plan', 1]);
		markDone(state, 'stuck scrape 1', T0 + DAY);
		expect(at(2)).toEqual(['plan', 1]);
		expect(lookUp({ ...state }, 'scrape 1', { status: 'completed' }, T0 + 3 * DAY).isFinished).toBe(
			true,
		);
		expect(at(7)[0]).toBe('plan');
		expect(state.scrapes['scrape 1']?.stage).toBe('done');
	});

	it.each([
		[
			'at once if the service refuses to say it',
			{ outcome: 'refused', httpStatus: 403 } as const,
			[1, 1, 1, 1, 1, 1],
		],
		['after a day', { outcome: 'unknown', httpStatus: 500 } as const, [0, 0, 1, 1, 1, 1]],
		[
			'after a day if it is for the rate',
			{ outcome: 'refused', httpStatus: 429 } as const,
			[0, 0, 1, 1, 1, 1],
		],
		['after a day without a connection', { outcome: 'notSent' } as const, [0, 0, 1, 1, 1, 1]],
	])(
		'whose status cannot be had is told once, %s, and given up after a week',
		(_when, details, told) => {
			const state = running();
			start(state, 'attempt 2', 'scrape 2', T0 + DAY);
			const error = new ServiceError('No status', 'Wait.', details);
			const at = (id: string, since: number) =>
				[0, DAY - 1, DAY, 2 * DAY, 7 * DAY - 1, 7 * DAY].map((age) => {
					applyStatusError(state, id, since + age, error);
					const notices = Object.keys(state.notices).filter((each) => each === `status of ${id}`);
					return [notices.length, state.scrapes[id]?.stage];
				});
			const expected = told.map((count, index) => [count, index === 5 ? 'done' : 'open']);
			expect(at('scrape 1', T0)).toEqual(expected);
			expect(at('scrape 2', T0 + DAY)).toEqual(expected);
			expect(Object.values(state.notices)).toMatchObject([
				{ stage: 'open', message: 'No status' },
				{ stage: 'open', message: 'No status' },
			]);
		},
	);

	it('whose end was not chosen is done with', () => {
		const state = running();
		const chosen = { ...plan, events: ['completed'] };
		const { isFinished } = lookUp(state, 'scrape 1', { status: 'failed' }, T0, { mode: chosen });
		expect([isFinished, state.scrapes['scrape 1']?.stage]).toEqual([false, 'done']);
	});

	it('is handed to n8n again, later and later, until an execution begins', () => {
		const state = running();
		const { check } = lookUp(state, 'scrape 1', { status: 'completed' }, T0);
		const checks = new Map([['scrape 1', check]]);
		const waits = [1, 2, 3, 4].map((tries) => {
			const delivering = { stage: 'delivering' as const, at: T0 + MINUTE, tries };
			state.scrapes['scrape 1'] = { ...delivering, since: T0, source: 'attempt 1' };
			const action = nextAction(view(state, { checks }), T0 + MINUTE);
			return action.do === 'wait' ? action.ms / SECOND : action.do;
		});
		expect(waits).toEqual([20, 60, 180, 540]);
		markDone(state, 'scrape 1', T0);
		expect(nextAction(view(state, { checks }), T0 + DAY).do).toBe('wait');
	});

	it('is not handed to n8n again while executions begin that were handed to it before', () => {
		const state = running();
		const { check } = lookUp(state, 'scrape 1', { status: 'completed' }, T0);
		const checks = new Map([['scrape 1', check]]);
		const delivering = { stage: 'delivering' as const, at: T0, tries: 1 };
		state.scrapes['scrape 1'] = { ...delivering, since: T0, source: 'attempt 1' };
		const next = (lastBegunDeliveryAt: number, acknowledgedAt: number) => {
			const queue = view(state, { checks });
			Object.assign(queue.memory, { lastBegunDeliveryAt, acknowledgedAt });
			const action = nextAction(queue, T0 + 10 * MINUTE);
			return action.do === 'wait' ? action.ms / SECOND : action.do;
		};
		const lately = T0 + 10 * MINUTE - 5 * SECOND;
		expect([next(T0 - 1, lately), next(T0 - 1, T0 + 9 * MINUTE)]).toEqual([15, 'deliver']);
		// One that was handed over later has begun, so this one is not in a queue.
		expect(next(T0 + 1, lately)).toBe('deliver');
	});
});

describe('a delivery', () => {
	const credential = { baseUrl: 'https://service.example.com', apiKey: 'key' };
	const memory = memoryOf(identity);
	const signer = new Signer(credential, memory.identity);
	const deliver = (state: TriggerState, id: string, data: object, now: number) =>
		deliveryItem(
			Object.assign(memory, { state }),
			{ credential, signer },
			{ id, data: { ...data } },
			now,
		)?.json;

	it('that is repeated has the same key and output, with the starts that were left out', () => {
		const state = running();
		start(state, 'attempt 2', 'scrape 2', T0);
		state.starts.second = scheduled(T0 + SECOND);
		skipStart(state, { attempt: 'second', id: 'scrape 1' }, T0 + SECOND);
		const ids = ['scrape 1', 'scrape 2'];
		const at = (now: number) =>
			ids.map((scrapeId) => deliver(state, scrapeId, { scrapeId, createdAt: 'then' }, now));
		const first = at(T0 + MINUTE);
		expect(first).toMatchObject([
			{ scrapeId: 'scrape 1', notification: null, skippedStarts: ['1970-04-11T00:00:01.000Z'] },
			{ scrapeId: 'scrape 2', notification: null, leadGenDelivery: { id: 'scrape 2' } },
		]);
		expect(first[1]).not.toHaveProperty('skippedStarts');
		expect(at(T0 + MINUTE + SECOND)).toEqual([undefined, undefined]);
		const again = at(T0 + 2 * MINUTE).map((json) => withoutTime(json));
		expect(again).toEqual(first.map((json) => withoutTime(json)));
		const keys = first.map((json) => (json?.leadGenDelivery as { key: string }).key);
		expect(new Set(keys).size).toBe(2);
	});

	it('gives away no signature that the service repeats in the status or the notification', () => {
		const state = running();
		const webhookUrl = signer.callbackUrl('https://n8n.example.com/webhook/1', 'attempt 1');
		note(state, 'attempt 1', T0);
		Object.assign(state.notifications['attempt 1'] ?? {}, { raw: { body: { webhookUrl } } });
		const json = deliver(state, 'scrape 1', { webhookUrl }, T0);
		const hidden = 'https://n8n.example.com/webhook/1?attempt=attempt%201&signature=***';
		expect(json).toMatchObject({
			webhookUrl: hidden,
			notification: { body: { webhookUrl: hidden } },
		});
	});
});

/** A delivery but for when it is made. */
function withoutTime({ leadGenDelivery, ...json }: IDataObject = {}): object {
	return { ...json, ...(leadGenDelivery as object), at: 0, deliveredAt: 0 };
}

describe('the state', () => {
	it('stays small over 10,000 scrapes, each of them delivered once', () => {
		let state = newState('owner');
		let largest = 0;
		for (let number = 1; number <= 10_000; number++) {
			const [id, now] = [`scrape ${String(number)}`, T0 + number * SECOND];
			start(state, `attempt ${String(number)}`, id, now);
			const { isFinished } = lookUp(state, id, { status: 'completed', completedAt: now }, now);
			expect(isFinished).toBe(true);
			markDone(state, id, now);
			expect(hear(state, [id], now).outcome).toBe('ignored');
			if (number % 20 !== 0) continue;
			state = prune(state, now);
			largest = Math.max(largest, JSON.stringify(state).length);
		}
		expect(openScrapes(state)).toEqual([]);
		expect(largest).toBeLessThan(45_000);
		expect(state.scrapes['scrape 1']).toBeUndefined();
		expect(state.facts.horizon.at).toBeGreaterThan(T0 + 5000 * SECOND);
	});

	it('takes the completions of a large batch in any order, each once', () => {
		let state = newState('owner');
		const ids = Array.from({ length: 3000 }, (_, index) => `scrape ${String(index)}`);
		const [shuffled = []] = fc.sample(fc.shuffledSubarray(ids, { minLength: 3000 }), {
			numRuns: 1,
			seed: 7,
		});
		let delivered = 0;
		for (const [index, id] of shuffled.entries()) {
			const now = T0 + index * 100;
			hear(state, [id], now);
			// All within five minutes, and a tenth of them failed.
			const completedAt = T0 + Number(id.slice(7)) * 100;
			const isFailed = completedAt % 1000 === 0;
			const found = isFailed
				? { status: 'failed', createdAt: T0 - MINUTE }
				: { status: 'completed', completedAt };
			if (lookUp(state, id, found, now).isFinished) delivered++;
			markDone(state, id, completedAt);
			state = prune(state, now);
		}
		expect(delivered).toBe(3000);
	});

	it('is the same in whatever order copies are joined, and however often', () => {
		const base = running();
		const change = fc.constantFrom<(state: TriggerState, now: number) => void>(
			(state, now) => hear(state, [`id ${String(now % 7)}`], now),
			(state, now) => {
				lookUp(state, `id ${String(now % 7)}`, { status: 'processing' }, now);
			},
			(state, now) => {
				lookUp(state, `id ${String(now % 7)}`, {}, now, {
					check: { at: 0, isAnswered: true, missingSince: 1 },
				});
			},
			(state, now) => {
				markDone(state, 'scrape 1', now);
			},
			(state, now) => {
				start(state, `attempt ${String(now % 5)}`, `scrape ${String(now % 5)}`, now);
			},
			(state, now) => {
				addNotice(state, `notice ${String(now % 3)}`, { message: 'm', advice: 'a' }, now);
			},
			(state, now) => {
				applyActivation(state, activation('update', `activation ${String(now)}`), plan, now);
			},
			(state, now) => {
				state.notifications['attempt 1'] = { at: now, size: now % 11, process: 'p' };
			},
		);
		const copy = fc.array(change, { maxLength: 8 }).map((changes) => (from: number) => {
			const state = structuredClone(base);
			for (const [index, apply] of changes.entries()) apply(state, from + index * 3);
			return state;
		});
		const sorted = (state: TriggerState) =>
			JSON.stringify(state, (_key, value: unknown) =>
				typeof value === 'object' && value !== null && !Array.isArray(value)
					? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
					: value,
			);
		fc.assert(
			fc.property(copy, copy, copy, (first, second, third) => {
				const [a, b, c] = [first(T0), second(T0 + 1), third(T0 + 2)];
				const all = merge(merge(a, b), c);
				expect(sorted(merge(c, merge(b, a)))).toBe(sorted(all));
				expect(sorted(merge(all, b))).toBe(sorted(all));
				return true;
			}),
			{ numRuns: 1000 },
		);
	});

	it('keeps the largest of several notifications', () => {
		const state = running();
		const other = structuredClone(state);
		state.notifications['attempt 1'] = { at: T0, size: 100, process: 'p', raw: { leads: 1 } };
		other.notifications['attempt 1'] = { at: T0 + 1, size: 10, process: 'p', raw: { ping: 1 } };
		for (const joined of [merge(state, other), merge(other, state)]) {
			expect(joined.notifications['attempt 1']?.raw).toEqual({ leads: 1 });
		}
	});

	it('keeps the notification that holds most leads, though a larger one comes', () => {
		const notifications = [
			...[{ size: 100, leads: 2 }, { size: 900 }, { size: 900, leads: 0 }],
			...[
				{ size: 120, leads: 2 },
				{ size: 800, leads: 1 },
			],
		].map((fields, index) => content(T0 + index, { ...fields, raw: fields }));
		const orders = fc.shuffledSubarray(notifications, { minLength: notifications.length });
		const best = { size: 120, leads: 2, raw: { size: 120, leads: 2 } };
		fc.assert(
			fc.property(orders, (order) => {
				const inOne = order.reduce<Notification | undefined>(richest, undefined);
				// When one came in last is known, too.
				expect(inOne).toEqual({ ...best, process: PROCESS, at: order.at(-1)?.at });
				const [first = running(), ...others] = order.map((received) => {
					const state = running();
					state.notifications['attempt 1'] = received;
					return state;
				});
				expect(others.reduce(merge, first).notifications['attempt 1']).toMatchObject(best);
			}),
			{ numRuns: 50 },
		);
	});

	it('has saved a notification if what n8n has holds as many leads', () => {
		const saved = (kept: Partial<Content>, known: Partial<Content>) => {
			const [then, now] = [running(), running()];
			then.notifications['attempt 1'] = content(T0, kept);
			now.notifications['attempt 1'] = content(T0 + 1, known);
			return isNotificationSaved(now, then, 'attempt 1');
		};
		const [few, many] = [
			{ size: 900, leads: 1 },
			{ size: 100, leads: 2 },
		];
		expect([saved(few, few), saved(few, many), saved(many, few)]).toEqual([true, false, true]);
	});

	it('keeps no more content of notifications than all nodes together may hold', () => {
		const states = [1, 2, 3].map((number) => {
			const state = running();
			const raw = { leads: number };
			state.notifications['attempt 1'] = { at: T0 + number, size: 30_000_000, process: 'p', raw };
			return state;
		});
		limitContent(states);
		const kept = states.map(({ notifications }) => notifications['attempt 1']?.raw);
		expect(kept).toEqual([undefined, { leads: 2 }, { leads: 3 }]);
		const [, second = running()] = states;
		// It is too large to be saved, and gone when the scrape is done with.
		expect(toSave(second).notifications['attempt 1']).toEqual({
			...{ at: T0 + 2, size: 30_000_000, process: 'p' },
		});
		markDone(second, 'scrape 1', T0);
		expect(prune(second, T0).notifications).toEqual({});
	});

	it('takes content again that it has lost, and never less than it had', () => {
		const notification = (size: number, raw?: object) => ({
			...{ at: T0 + size, size, process: 'p' },
			...(raw && { raw }),
		});
		const sent = { ...notification(10, { leads: 1 }), raw: { leads: 1 } };
		expect(richest(undefined, sent)).toEqual(sent);
		expect(richest(notification(9, { ping: 1 }), sent)).toEqual(sent);
		expect(richest(notification(10), sent)).toEqual(sent);
		const kept = [notification(10, { first: 1 }), notification(11), notification(11, { more: 1 })];
		expect(kept.map((known) => richest(known, sent))).toEqual(
			kept.map((known) => ({ ...known, at: sent.at })),
		);
	});

	it('sends content where it may be missing, as much as one message may hold', () => {
		const state = running();
		const sizes = { small: 100, other: 2_000_000, large: 3_000_000, huge: 5_000_000 };
		for (const [source, size] of Object.entries(sizes)) {
			state.notifications[source] = { at: T0, size, process: 'p', raw: { source } };
		}
		state.notifications.foreign = { at: T0, size: 1, process: 'q', raw: { source: 'foreign' } };
		const sent = (needed?: string, isElsewhere = true) =>
			Object.entries(toSend(state, 'p', needed, isElsewhere).notifications).flatMap(
				([source, { raw }]) => (raw ? source : []),
			);
		expect(sent('large', false)).toEqual(['large']);
		expect(sent(undefined, false)).toEqual([]);
		expect(sent()).toEqual(['small', 'other']);
		expect(sent('large')).toEqual(['small', 'large']);
		expect(sent('huge')).toEqual([]);
	});

	it('saves little of what only strangers may have sent', () => {
		const state = running();
		note(state, 'attempt 1', T0);
		for (let number = 0; number < 100; number++) {
			const source = sourceOf(state, [`id ${String(number)}`], T0);
			const size = number === 0 ? 2001 : 2000;
			state.notifications[source] = { at: T0, size, process: 'p', raw: { number } };
		}
		const saved = Object.values(toSave(state).notifications).filter(({ raw }) => raw);
		expect(saved).toHaveLength(50);
		expect(saved[0]?.raw).toEqual({ number: 1 });
	});

	it('of 1.0.0 is taken over', () => {
		const record = {
			version: 7,
			at: T0,
			owner: 'owner',
			horizon: T0 - DAY,
			clock: { id: 'clock', at: T0, process: 'process' },
			filters: 'filters 1',
			schedule: 'schedule 1',
			due: T0 + DAY,
			intent: { id: 'attempt', why: 'schedule', at: T0, filters: 'filters 1' },
			open: [
				{ id: 'running', at: T0, filters: 'filters 1', heard: T0 + 1, notification: { body: 1 } },
				{ id: 'claimed', at: T0, heard: T0 + 2, claimed: 'group' },
			],
			notices: [{ id: 'notice 1', message: 'Something', advice: 'Do it' }],
			delivered: [['fingerprint', T0 - 1]],
			gaps: [],
			skipped: [T0 + 3],
		};
		const state = fromRelease1(record, T0 + 10);
		expect(state).toMatchObject({
			owner: 'owner',
			facts: {
				horizon: { at: T0 - DAY },
				activation: { filters: 'filters 1', isEstablished: true },
				schedule: { print: 'schedule 1', due: T0 + DAY },
			},
			scrapes: {
				running: { stage: 'open', since: T0, filters: 'filters 1', skipped: [T0 + 3] },
				claimed: { stage: 'unverified', source: 'group' },
				fingerprint: { stage: 'done', at: T0 - 1 },
			},
			notifications: { running: { at: T0 + 1, raw: { body: 1 } }, group: { at: T0 + 2, size: 0 } },
		});
		expect(Object.values(state?.notices ?? {}).map(({ message }) => message)).toEqual([
			'Something',
			'The node could not confirm whether a scrape was started',
		]);
		for (const other of [undefined, null, 'text', [], {}, { owner: 'owner' }]) {
			expect(fromRelease1(other, T0)).toBeUndefined();
		}
	});
});

describe('the list of leads', () => {
	it.each([
		[{ leads: [{ a: 1 }, { a: 2 }] }, 2],
		[{ data: { scrape: { id: 1 }, results: [{ a: 1 }] } }, 1],
		[[{ a: 1 }, { a: 2 }, { a: 3 }], 3],
		[{ sources: [{ s: 1 }, { s: 2 }, { s: 3 }], leads: [{ a: 1 }] }, 1],
		[{ unknown: [{ a: 1 }, { a: 2 }], tags: ['x', 'y', 'z'] }, 2],
		[{ data: [{ s: 1 }, { s: 2 }], leads: [{ a: 1 }] }, 1],
		[[{ event: 'done', leads: [{ a: 1 }, { a: 2 }] }], 2],
		[{ leads: [{ a: 1 }, null, { a: 2 }] }, 2],
		[{ leads: [{ a: 1, contacts: [{ c: 1 }, { c: 2 }] }] }, 1],
	])('is found in %j', (body, length) => {
		expect(findLeads(body)).toHaveLength(length);
	});

	it.each([
		['JSON in a field', { scrapeId: 'a', leads: '[{"a":1},{"a":2}]' }, [{ a: 1 }, { a: 2 }]],
		['JSON text', '{"scrapeId":"a","data":{"leads":[{"a":1},{"a":2}]}}', [{ a: 1 }, { a: 2 }]],
		['JSON in JSON', { payload: '{"leads":"[{\\"a\\":1}]"}' }, [{ a: 1 }]],
		[
			'a list of texts',
			{ leads: ['a@example.com', 'b@example.com'] },
			[...['a@example.com', 'b@example.com']],
		],
		['XML with one lead', { scrape: { leads: { lead: { a: 1, b: 2 } } } }, [{ a: 1, b: 2 }]],
		['XML with two leads', { leads: { lead: [{ a: 1 }, { a: 2 }] } }, [{ a: 1 }, { a: 2 }]],
		[
			'a list of messages',
			[{ type: 'event' }, { leads: [{ a: 1 }, { a: 2 }, { a: 3 }] }],
			[...[{ a: 1 }, { a: 2 }, { a: 3 }]],
		],
	])('is read from %s', (_what, body, expected) => {
		expect(findLeads(body)).toEqual(expected);
	});

	it('of one of several scrapes is the one beside its ID', () => {
		const leads = { a: [{ of: 'a' }], b: [{ of: 'b' }, { of: 'b' }, { of: 'b' }], c: ['c', 'c'] };
		const scrapes = Object.entries(leads).map(([scrapeId, list]) => ({ scrapeId, leads: list }));
		const bodies = [
			{ event: 'done', scrapes },
			scrapes,
			JSON.stringify({ data: { scrapes } }),
			{ scrapes: JSON.stringify(scrapes) },
			{ first: scrapes[0], second: { data: scrapes[1] }, third: [scrapes[2]] },
			{ scrapes: scrapes.map((data) => ({ data })) },
			{ scrapes: scrapes.map(({ scrapeId, ...data }) => ({ scrapeId, data })) },
			{
				scrapes: scrapes.map(({ scrapeId, ...data }) => ({ id: scrapeId.toUpperCase(), ...data })),
			},
			{ scrapes: Object.fromEntries(scrapes.map(({ scrapeId, ...data }) => [scrapeId, data])) },
		];
		for (const body of bodies) {
			const found = Object.keys(leads).map((id) => findLeads(body, id));
			expect(found).toEqual(Object.values(leads));
		}
	});

	it('is not that of another scrape', () => {
		const failed = { scrapeId: 'a', status: 'failed' };
		const other = { scrapeId: 'b', status: 'completed', leads: [{ of: 'b' }] };
		for (const body of [
			[failed, other],
			{ first: failed, second: other },
			{ jobs: [other, failed] },
		]) {
			expect(findLeads(body, 'a')).toBeUndefined();
			expect(findLeads(body, 'b')).toEqual(other.leads);
		}
		// An ID of something else beside it does not tell of another scrape.
		const beside = { scrape: { id: 'a' }, account: { id: 'c' }, leads: other.leads };
		expect(findLeads(beside, 'a')).toEqual(other.leads);
	});

	it('is not what single leads hold', () => {
		const contacts = [{ c: 1 }, { c: 2 }, { c: 3 }];
		const two = [
			{ a: 1, contacts },
			{ a: 2, contacts: [{ c: 4 }] },
		];
		const one = [{ a: 1, contacts }, { a: 2 }];
		for (const list of [two, one]) {
			for (const body of [{ data: list }, { scrapeId: 'a', results: list }, { leads: list }]) {
				expect(findLeads(body, 'a')).toEqual(list);
			}
		}
		expect(findLeads(two)).toEqual(two);
	});

	it.each([
		[undefined],
		[null],
		['text'],
		[{ scrapeId: 'a', leads: 5 }],
		[{ leads: [] }],
		[{ leads: [], warnings: [{ w: 1 }] }],
		[{ scrapeId: 'a', status: 'failed', errors: [{ message: 'no' }] }],
	])('is not there in %j', (body) => {
		expect(findLeads(body)).toBeUndefined();
	});
});

describe('a time of the service', () => {
	it.each([
		['2026-11-21T09:00:00Z'],
		['2026-11-21T09:00:00.000+00:00'],
		['2026-11-21T14:30:00+0530'],
		['2026-11-21T09:00:00'],
		['2026-11-21T09:00:00.000000'],
		['2026-11-21 09:00:00'],
		['2026-11-21 09:00:00 UTC'],
		['Sat, 21 Nov 2026 09:00:00 GMT'],
	])('is read as UTC where it says nothing else: %s', (text) => {
		expect(time(text)).toBe(Date.UTC(2026, 10, 21, 9));
	});

	it('may be missing', () => {
		expect([undefined, null, '', 'soon', 5].map(time)).toEqual(new Array(5).fill(undefined));
		expect(time('2026-11-21')).toBe(Date.UTC(2026, 10, 21));
	});
});

describe('scrape IDs', () => {
	function request(fields: Partial<IncomingRequest>): IncomingRequest {
		return { method: 'POST', headers: {}, query: {}, body: undefined, ...fields };
	}

	it.each([
		[{ body: { scrapeId: 'a1' } }],
		[{ body: { scrape_id: 'a1', id: 'other' } }],
		[{ body: { event: 'x', data: { scrapeId: 'a1', leads: [{ id: 'l1' }] } } }],
		[{ body: [{ payload: { scrape: { id: 'a1' } } }] }],
		[{ query: { scrapeId: 'a1', token: 't' } }],
		[{ body: 'scrapeId=a1&status=completed' }],
		[{ body: '{"scrapeId":"a1","status":"comp' }],
		[{ body: { id: 'a1' } }],
	])('are found in %j', (fields) => {
		expect(idsOf(request(fields)).likely[0]).toBe('a1');
	});

	it('are found in a plain text, numbers too', () => {
		expect(idsOf(request({ body: 'Scrape scrape_01ab completed' })).likely).toContain(
			'scrape_01ab',
		);
		expect(idsOf(request({ body: { scrapeId: 1234567 } })).likely).toEqual(['1234567']);
	});

	it.each([
		['a form', { body: { 'data[scrapeId]': 'a1', 'data[status]': 'completed' } }, ['a1']],
		[
			'a form of several',
			{ body: { 'scrapes[0][scrape_id]': 'a1', 'scrapes[1][scrape_id]': 'b', 'user[id]': '7' } },
			['a1', 'b'],
		],
		['a form with dots', { body: { 'data.scrape-id': 'a1', 'data.jobId': 'b2' } }, ['a1']],
		['JSON in a form', { body: { payload: '{"scrapeId":"a1"}' } }, ['a1']],
		['JSON in JSON text', { body: '{"payload":"{\\"data\\":{\\"scrapeId\\":\\"a\\"}}"}' }, ['a']],
		['JSON text', { body: '{"id":"abcdef","status":"completed"}' }, ['abcdef']],
		['JSON text with a number', { body: ' {"id":417,"status":"completed"}' }, ['417']],
		['JSON text with a list', { body: '[{"id":"ab"},{"id":"cd"}]' }, ['ab', 'cd']],
		['a list of texts', { body: { scrapeIds: ['a1', 'b'] } }, ['a1', 'b']],
		['a list of numbers', { body: { data: { scrape_ids: [41, 7] } } }, ['41', '7']],
		['a list under another name', { body: { jobs: ['a1', 'b'] } }, ['a1', 'b']],
		['a repeated query', { query: { scrapeId: ['a1', 'b'] } }, ['a1', 'b']],
		['what is repeated', { query: { id: 'a1' }, body: { id: ['b', 'a1'] } }, ['a1', 'b']],
	])('are these in %s', (_what, fields, expected) => {
		expect(idsOf(request(fields)).likely).toEqual(expected);
	});

	it('are found behind the leads of a JSON text', () => {
		const leads = Array.from({ length: 60 }, (_, index) => ({
			...{ email: `person${String(index)}@example.com`, title: 'Head of Sales and much else' },
		}));
		for (const scrapeId of ['scr_9f2c', 'abc', 7]) {
			const body = JSON.stringify({ leads, scrapeId });
			expect(idsOf(request({ body })).likely).toEqual([String(scrapeId)]);
		}
	});

	it('are up to a hundred where they are named so, and else five', () => {
		const ids = Array.from({ length: 120 }, (_, index) => `scrape ${String(index)}`);
		const likely = (name: string) => [
			idsOf(request({ body: { scrapes: ids.map((id) => ({ [name]: id })) } })).likely,
			idsOf(request({ body: JSON.stringify({ [`${name}s`]: ids }) })).likely,
			idsOf(request({ query: { [name]: ids } })).likely,
		];
		expect(likely('scrapeId')).toEqual(new Array(3).fill(ids.slice(0, 100)));
		expect(likely('id')).toEqual(new Array(3).fill(ids.slice(0, 5)));
	});

	it('are at most five, whatever comes in, and quickly so', () => {
		fc.assert(
			fc.property(fc.anything(), fc.dictionary(fc.string(), fc.string()), (body, query) => {
				const { likely, others } = idsOf(request({ body, query }));
				const isShort = (id: string) => id.length > 0 && id.length <= 200;
				return [likely, others].every((ids) => ids.length <= 5 && ids.every(isShort));
			}),
		);
		const begin = Date.now();
		idsOf(request({ body: Array.from({ length: 300_000 }, (_, id) => ({ id: { id } })) }));
		idsOf(request({ body: 'a1'.repeat(5_000_000) }));
		expect(Date.now() - begin).toBeLessThan(1000);
	});

	it('come without the headers and the query that hold secrets', () => {
		const raw = rawNotification({
			method: 'POST',
			headers: { authorization: 'Bearer x', cookie: 'y', 'x-event': 'z' },
			query: { attempt: '1', signature: 'SECRET', a: '1' },
			body: { webhookUrl: 'https://n8n.example.com/webhook/1/leadgen?signature=SECRET' },
		});
		expect(copyWithout(['SECRET'], raw)).toEqual({
			method: 'POST',
			headers: { 'x-event': 'z' },
			query: { a: '1' },
			body: { webhookUrl: 'https://n8n.example.com/webhook/1/leadgen?signature=***' },
		});
	});
});

describe('a signature', () => {
	const signer = new Signer({ apiKey: 'a' }, identity);
	const queryOf = (url: string) => Object.fromEntries(new URL(url).searchParams);
	const URL_OF_NODE = 'https://n8n.example.com/webhook/1/leadgen';

	it('is another for each key, workflow, node, attempt and purpose, and always the same', () => {
		const signers = [
			signer,
			new Signer({ apiKey: 'b' }, identity),
			new Signer({ apiKey: 'a' }, { ...identity, workflowId: 'w2' }),
			new Signer({ apiKey: 'a' }, { ...identity, nodeId: 'n2' }),
		];
		const all = signers.flatMap((each) => [...each.secretsOf('1'), ...each.secretsOf('2')]);
		expect(new Set(all).size).toBe(3 * signers.length);
		expect(new Signer({ apiKey: 'a\n' }, identity).secretsOf('1')).toEqual(signer.secretsOf('1'));
		expect(() => new Signer({ apiKey: ' ' }, identity)).toThrow('API Key');
	});

	it('proves the attempt of a URL, and nothing else does', () => {
		const url = signer.callbackUrl(URL_OF_NODE, 'attempt 1');
		expect(signer.attemptOf(queryOf(url))).toBe('attempt 1');
		expect(signer.attemptOf({ ...queryOf(url), attempt: 'attempt 2' })).toBeUndefined();
		expect(signer.attemptOf({ token: signer.secretsOf('')[1] })).toBe('');
		fc.assert(
			fc.property(fc.anything(), fc.anything(), (attempt, signature) => {
				return signer.attemptOf({ attempt, signature, token: signature }) === undefined;
			}),
		);
	});

	it('lets a message in that is not changed and not old', async () => {
		const clock = jest.spyOn(Date, 'now').mockReturnValue(T0);
		const sent: Array<{ headers: IDataObject; body: string }> = [];
		const httpRequest = (request: (typeof sent)[number]) => {
			sent.push(request);
			return '{"leadGen":2}';
		};
		const sender = { helpers: { httpRequest } } as unknown as IExecuteFunctions;
		await sendMessage(sender, [URL_OF_NODE], signer, { send: 'attempt 1' });
		const [{ headers, body } = { headers: {}, body: '' }] = sent;
		const received = (text: string, now: number) => {
			clock.mockReturnValue(now);
			const getBodyData = () => JSON.parse(text) as object;
			const receiver = { getBodyData, getHeaderData: () => headers };
			return ownMessage(receiver as unknown as IWebhookFunctions, signer);
		};
		expect(received(body, T0 + MINUTE)).toEqual({ send: 'attempt 1' });
		expect(received(body.replace('attempt 1', 'attempt 2'), T0)).toBeUndefined();
		expect(received(body, T0 + 6 * MINUTE)).toBeUndefined();
		expect(received(body.replace(String(T0), String(T0 + 1)), T0)).toBeUndefined();
		clock.mockRestore();
		fc.assert(fc.property(fc.anything(), (given) => !signer.isOwn(given, 'message')));
	});
});

describe('the own address', () => {
	it('is tried in public first, then inside, without what a proxy added', () => {
		expect(ownAddresses('https://n8n.example.com/app/webhook/id/leadgen', '', true)).toEqual([
			'https://n8n.example.com/app/webhook/id/leadgen',
			'http://127.0.0.1:5678/webhook/id/leadgen',
		]);
		expect(ownAddresses('https://x.io/webhook/id/node/leadgen', 'http://n8n:80', false)).toEqual([
			'http://n8n:80/webhook/id/node/leadgen',
		]);
	});

	it('is the default one where n8n does not tell it', () => {
		const at = (options: unknown) =>
			defaultAddress({ webhookId: 'id', parameters: { options } } as unknown as INode);
		expect(at(undefined)).toBe('http://127.0.0.1:5678/webhook/id/leadgen');
		expect(at({ internalUrl: 'http://n8n:80/' })).toBe('http://n8n:80/webhook/id/leadgen');
		expect(at({ internalUrl: '={{ $env.URL }}' })).toBe(at({}));
	});

	it.each([
		['http://localhost:5678/', true],
		['http://127.0.0.1/', true],
		['http://192.168.1.5/', true],
		['http://172.20.0.3/', true],
		['http://[::1]:5678/', true],
		['http://n8n:5678/', true],
		['https://n8n.example.com/', false],
		['http://172.32.0.1/', false],
		['http://8.8.8.8/', false],
	])('%s is private: %s', (url, expected) => {
		expect(isPrivate(url)).toBe(expected);
		expect(isReachable(url, 'https://service.example.com')).toBe(!expected);
		expect(isReachable(url, 'http://127.0.0.1')).toBe(true);
	});
});
