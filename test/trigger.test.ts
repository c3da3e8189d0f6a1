import fc from 'fast-check';
import {
	arrive,
	hear,
	idsIn,
	judge,
	nextTask,
	prepare,
	started,
	startFailed,
	startLater,
	unknownOutcome,
	type Knock,
	type Plan,
} from '../nodes/LeadGen/trigger/decide';
import { isPrivate, ownAddresses } from '../nodes/LeadGen/trigger/address';
import { idsOf, withoutSecrets, type IncomingRequest } from '../nodes/LeadGen/trigger/notification';
import {
	addGap,
	addNotice,
	isDelivered,
	MAX_CLAIMS,
	settle,
	type TriggerRecord,
} from '../nodes/LeadGen/trigger/record';
import { time } from '../nodes/LeadGen/trigger/scrape';
import { isSecret, secretFor } from '../nodes/LeadGen/trigger/secret';
import { merge, PROCESS } from '../nodes/LeadGen/trigger/store';

const DAY = 24 * 3_600_000;

const plan: Plan = {
	mode: 'startScrape',
	events: ['completed', 'failed'],
	filters: 'filters 1',
	schedule: 'never',
	nextRun: () => undefined,
	isUnreachable: false,
};

const listen: Plan = { ...plan, mode: 'listen' };

function knock(fields: Partial<Knock> = {}): Knock {
	return {
		clock: 'clock 1',
		at: 1,
		process: 'process 1',
		mode: 'activate',
		attempt: 'attempt 1',
		phase: 'plan',
		confirmed: [],
		pending: [],
		...fields,
	};
}

function arrived(known: TriggerRecord | undefined, fields: Partial<Knock> = {}, now = 1_000_000) {
	const record = arrive(known, knock(fields), 'owner', plan, now);
	if (!record) throw new Error('The clock is not in charge');
	return record;
}

/** A record after the first start, with a scrape that runs. */
function running(): TriggerRecord {
	const record = arrived(undefined);
	prepare(record, 'attempt 1');
	started(record, 'scrape 1', 1_000_000);
	return record;
}

describe('an activation', () => {
	it('by a person wants a start, which is prepared and then sent', () => {
		const record = arrived(undefined);
		expect(nextTask(record, knock(), 0, 1_000_000)).toEqual({
			do: 'prepare',
			attempt: 'attempt 1',
		});
		prepare(record, 'attempt 1');
		expect(nextTask(record, knock(), 0, 1_000_000)).toEqual({ do: 'start', attempt: 'attempt 1' });
		started(record, 'scrape 1', 1_000_000);
		expect(nextTask(record, knock(), 0, 1_000_000)).toEqual({ do: 'wait', ms: 5000 });
	});

	it.each(['init', 'leadershipChange', 'update', 'activate'])(
		'that n8n makes by itself (%s) wants none',
		(mode) => {
			const record = arrived(running(), { clock: 'clock 2', at: 2, process: 'process 2', mode });
			expect(record.want).toBeUndefined();
			expect(record.notices).toEqual([]);
		},
	);

	it('without a record starts only if a person made it, and says so otherwise', () => {
		for (const mode of ['init', 'update', 'leadershipChange']) {
			const record = arrived(undefined, { mode });
			expect(record.want).toBeUndefined();
			expect(record.notices).toHaveLength(1);
		}
	});

	it('with the record of another workflow begins anew', () => {
		const other = { ...running(), owner: 'another' };
		const record = arrived(other, { clock: 'clock 2', at: 2 });
		expect(record.want?.why).toBe('activation');
		expect(record.open).toEqual([]);
	});

	it('after a deactivation waits for a scrape with the same filters that still runs', () => {
		const record = arrived({ ...running(), closed: true }, { clock: 'clock 2', at: 2 }, 1_000_100);
		const task = nextTask(record, knock(), 0, 1_000_100);
		expect(task).toMatchObject({ do: 'check', scrape: { id: 'scrape 1' } });
		const [scrape] = record.open;
		if (!scrape) throw new Error('There is no scrape');
		expect(judge(record, scrape, { status: 'processing' }, plan, 1_000_200)).toBe('keep');
		expect(record.want).toBeUndefined();
	});

	it('with changed filters starts once', () => {
		const changed = { ...plan, filters: 'filters 2' };
		const update = knock({ clock: 'clock 2', at: 2, mode: 'update' });
		const record = arrive(running(), update, 'owner', changed, 1_000_100);
		expect(record?.want?.why).toBe('filters');
		prepare(record ?? running(), 'attempt 2');
		const again = knock({ clock: 'clock 3', at: 3, mode: 'update', attempt: 'attempt 2' });
		expect(arrive(record, again, 'owner', changed, 1_000_200)?.want).toBeUndefined();
	});

	it('takes over from an older one in the same process', () => {
		const record = arrived(running(), { clock: 'clock 2', at: 2, mode: 'update' });
		expect(arrive(record, knock(), 'owner', plan, 1_000_100)).toBeUndefined();
	});
});

describe('a start', () => {
	it('whose outcome is not known is told once and never repeated', () => {
		for (const phase of ['plan', 'gone'] as const) {
			const record = arrived(undefined);
			prepare(record, 'attempt 1');
			const attempt = phase === 'plan' ? 'of another process' : 'attempt 1';
			const after = arrived(record, { attempt, phase });
			expect(after.intent).toBeUndefined();
			expect(after.want).toBeUndefined();
			expect(after.notices.map(({ message }) => message)).toEqual([
				'It is not known whether a scrape was started',
			]);
			expect(after.gaps).toHaveLength(1);
			const told = arrived(after, { attempt: 'next', confirmed: [after.notices[0]?.id ?? ''] });
			expect(nextTask(told, knock({ attempt: 'next' }), 0, 1_000_000).do).toBe('wait');
		}
	});

	it('that was never sent is wanted again, later and later', () => {
		const record = arrived(undefined);
		const delays = [0, 1, 2, 3, 4, 5, 6].map(() => {
			prepare(record, 'attempt 1');
			startLater(record, 0);
			return record.want?.retryAt;
		});
		expect(delays).toEqual([15, 30, 60, 120, 240, 480, 600].map((seconds) => seconds * 1000));
	});

	it('that is due by schedule is left out while a scrape runs, and made up for once', () => {
		const daily = { ...plan, nextRun: (after: number) => after + DAY };
		const record = running();
		record.due = 500;
		arrive(record, knock({ attempt: 'attempt 2' }), 'owner', daily, 10_000_000);
		expect(record.want).toMatchObject({ why: 'schedule', due: 500 });
		expect(record.due).toBe(10_000_000 + DAY);
		const [scrape] = record.open;
		if (!scrape) throw new Error('There is no scrape');
		judge(record, scrape, { status: 'processing' }, daily, 10_000_000);
		expect(record.want).toBeUndefined();
		expect(record.skipped).toEqual([500]);
	});

	it('waits for the next look at a scrape whose status cannot be read', () => {
		const record = running();
		record.want = { why: 'schedule', at: 2_000_000, filters: 'filters 1' };
		const [scrape] = record.open;
		if (!scrape) throw new Error('There is no scrape');
		scrape.checked = 2_000_000;
		expect(nextTask(record, knock(), 0, 2_000_000)).toEqual({ do: 'wait', ms: 30_000 });
	});

	it('falls due anew when the schedule or its time zone changes without an activation', () => {
		const due = (after: number) => ({ nextRun: () => after });
		const record = running();
		const daily = { ...plan, schedule: 'in UTC', ...due(2_000_000) };
		arrive(record, knock(), 'owner', daily, 1_000_000);
		expect(record.due).toBe(2_000_000);
		const moved = { ...plan, schedule: 'in New York', ...due(3_000_000) };
		arrive(record, knock(), 'owner', moved, 2_500_000);
		expect([record.due, record.want]).toEqual([3_000_000, undefined]);
	});

	it('is never sent twice, whatever happens in whatever order', () => {
		const event = fc.constantFrom<Happening>(
			...(['knock', 'save', 'leader', 'crash', 'crash while sending', 'lost answer'] as const),
			...(['old copy', 'finish'] as const),
		);
		fc.assert(
			fc.property(fc.array(event, { maxLength: 60 }), (events) => sentIn(events) <= 1),
			{ numRuns: 3000 },
		);
		// The model does send one.
		expect(sentIn(['knock', 'knock'])).toBe(1);
		expect(sentIn(['knock', 'crash while sending', 'knock', 'crash', 'knock'])).toBe(1);
		expect(sentIn(['knock', 'crash', 'knock', 'knock', 'knock'])).toBe(0);
	});
});

type Happening =
	| 'knock'
	| 'save'
	| 'leader'
	| 'crash'
	| 'crash while sending'
	| 'lost answer'
	| 'old copy'
	| 'finish';

/** How many starts are sent for one activation, as n8n, the clock and `webhook()` play together. */
function sentIn(events: readonly Happening[]): number {
	let saved: TriggerRecord | undefined;
	let memory: TriggerRecord | undefined;
	let clock = knock();
	let sent = 0;
	const old: TriggerRecord[] = [];
	events.forEach((what, index) => {
		const now = 1_000_000 + index * 1000;
		const crash = () => {
			memory = undefined;
			const attempt = `attempt after crash ${String(index)}`;
			const process = `process after crash ${String(index)}`;
			clock = knock({ clock: process, at: now, process, mode: 'init', attempt });
		};
		if (what === 'crash') crash();
		if (what === 'save') clock = { ...clock, clock: String(now), at: now, mode: 'update' };
		if (what === 'leader')
			clock = { ...clock, clock: String(now), at: now, mode: 'leadershipChange' };
		// A Code node writes back what it read before, as long as we run and hold the truth.
		if (what === 'old copy' && memory) saved = structuredClone(old[index % old.length]);

		const known = memory ?? structuredClone(saved);
		const record = arrive(known, clock, 'owner', plan, now);
		if (!record) throw new Error('The clock is not in charge');
		const task = nextTask(record, clock, 0, now);
		const { phase, attempt } = clock;
		if (phase === 'go') clock = { ...clock, phase: 'gone' };
		if (task.do === 'tell') record.notices = [];
		if (task.do === 'prepare') prepare(record, attempt);
		const isReady = phase === 'go' && saved?.intent?.id === attempt;
		if (task.do === 'prepare' || (task.do === 'start' && !isReady)) {
			clock = { ...clock, phase: 'go' };
		} else if (task.do === 'start') {
			sent++;
			if (what === 'crash while sending') {
				crash();
				return;
			}
			if (what === 'lost answer') startFailed(record, unknownOutcome('It broke'), true, now);
			else started(record, `scrape ${String(sent)}`, now);
			clock = { ...clock, attempt: `attempt ${String(now)}`, phase: 'plan' };
		}
		if (what === 'finish') for (const { id } of [...record.open]) settle(record, id, now);
		memory = record;
		saved = structuredClone(record);
		old.push(structuredClone(record));
	});
	return sent;
}

it('keeps the ID of a scrape though another process took its start for lost', () => {
	const record = arrived(undefined);
	prepare(record, 'attempt 1');
	arrive(record, knock({ attempt: 'attempt 2' }), 'owner', plan, 1_000_100);
	expect(record.intent).toBeUndefined();
	started(record, 'scrape 1', 1_000_200);
	expect(record.open.map(({ id }) => id)).toEqual(['scrape 1']);
});

describe('a notification', () => {
	it('of our own scrape, or one that says nothing, makes us look at once', () => {
		for (const ids of [['scrape 1'], []]) {
			const record = running();
			expect(nextTask(record, knock(), 0, 1_000_100).do).toBe('wait');
			expect(hear(record, ids, plan, 1_000_100).heard).toBe('noted');
			expect(nextTask(record, knock(), 0, 1_000_100).do).toBe('check');
		}
	});

	it('of another scrape is ignored, unless a start may have been lost at that time', () => {
		const record = running();
		expect(hear(record, ['scrape 2'], plan, 2_000_000).heard).toBe('ignored');
		addGap(record, 3_000_000, 3_000_100);
		expect(hear(record, ['scrape 2', 'scrape 3'], plan, 3_000_200).heard).toBe('noted');
		const [, old, lost] = record.open;
		if (!old || !lost) throw new Error('They were not noted');
		const status = 'completed';
		expect(judge(record, old, { status, createdAt: 2_000_000 }, plan, 3_000_300)).toBe('drop');
		expect(judge(record, lost, { status, createdAt: 3_000_050 }, plan, 3_000_300)).toBe('deliver');
	});

	it('of a completion that is older than what is remembered is refused where we listen', () => {
		const record = arrived(undefined);
		record.horizon = 500;
		hear(record, ['old', 'new'], listen, 1_000_100);
		const [old, fresh] = record.open;
		if (!old || !fresh) throw new Error('They were not noted');
		const at = (completedAt: number) => ({ status: 'completed', completedAt });
		expect(judge(record, old, at(400), listen, 1_000_200)).toBe('drop');
		expect(judge(record, fresh, at(600), listen, 1_000_200)).toBe('deliver');
	});

	it('of a failure, which has no time, may be of a scrape that ran long', () => {
		const record = arrived(undefined);
		record.horizon = 2 * DAY;
		hear(record, ['old', 'long'], listen, 3 * DAY);
		const [old, long] = record.open;
		if (!old || !long) throw new Error('They were not noted');
		const status = 'failed';
		expect(judge(record, old, { status, createdAt: DAY - 1 }, listen, 3 * DAY)).toBe('drop');
		expect(judge(record, long, { status, createdAt: DAY + 1 }, listen, 3 * DAY)).toBe('deliver');
	});

	it('of a scrape that the service does not find is looked up once more, after new ones', () => {
		const record = arrived(undefined, {}, 1_000_000);
		delete record.want;
		hear(record, ['found late', 'forged'], listen, 1_000_000);
		const [late, forged] = record.open;
		if (!late || !forged) throw new Error('They were not noted');
		const missing = { status: undefined };
		expect(judge(record, late, missing, listen, 1_000_100)).toBe('keep');
		expect(judge(record, forged, missing, listen, 1_000_200)).toBe('keep');
		hear(record, ['newer'], listen, 1_010_000);
		hear(record, ['new'], listen, 1_020_000);
		const from = 1_130_000;
		const next = nextTask(record, knock(), from, from);
		expect(next).toMatchObject({ do: 'check', scrape: { id: 'new' } });
		const done = { status: 'completed', completedAt: 1_000_000 };
		expect(judge(record, late, done, listen, from)).toBe('deliver');
		expect(judge(record, forged, missing, listen, from)).toBe('drop');
		expect(record.open.map(({ id }) => id)).toEqual(['found late', 'newer', 'new']);
	});

	it('comes in while a flood of forged ones lasts, and at once when it is over', () => {
		const record = arrived(undefined);
		delete record.want;
		const LOOKUPS = 20;
		let forged = 0;
		const flood = (now: number) => {
			while (hear(record, [`forged ${String(forged++)}`], listen, now).heard !== 'full');
		};
		/** Looks up what a minute allows. @returns what was looked up */
		const lookUp = (now: number): string[] =>
			Array.from({ length: LOOKUPS }, () => {
				const task = nextTask(record, knock(), 0, now);
				if (task.do !== 'check') throw new Error(`It is to ${task.do}`);
				judge(record, task.scrape, { status: undefined }, listen, now);
				return task.scrape.id;
			});
		const MINUTE = 60_000;
		while (forged < MAX_CLAIMS / 2) hear(record, [`forged ${String(forged++)}`], listen, forged);
		hear(record, ['during it'], listen, 300);
		let minutes = 0;
		for (let seen: string[] = []; !seen.includes('during it') && minutes < 100; minutes++) {
			flood(minutes * MINUTE + 400);
			seen = lookUp(minutes * MINUTE + 400);
		}
		expect(minutes).toBeLessThanOrEqual(2 * (MAX_CLAIMS / LOOKUPS));
		const after = (minutes + 1) * MINUTE;
		hear(record, ['after it'], listen, after);
		expect([...lookUp(after), ...lookUp(after + MINUTE)]).toContain('after it');
	});

	it('of a scrape that the service does not find makes room for others', () => {
		const record = arrived(undefined);
		for (let count = 0; count < MAX_CLAIMS; count++)
			hear(record, [`id ${String(count)}`], listen, 1_000_000);
		for (const scrape of [...record.open])
			judge(record, scrape, { status: undefined }, listen, 1_000_100);
		expect(hear(record, ['real'], listen, 1_000_200).heard).toBe('noted');
		expect(record.open).toHaveLength(MAX_CLAIMS);
	});

	it('has some time to come when the scrape is seen to be finished before it', () => {
		const record = running();
		const [scrape] = record.open;
		if (!scrape) throw new Error('There is no scrape');
		const done = { status: 'completed', completedAt: 1_005_000 };
		expect(judge(record, scrape, done, plan, 1_005_000)).toBe('keep');
		expect(nextTask(record, knock(), 0, 1_005_000)).toEqual({ do: 'wait', ms: 2000 });
		hear(record, ['scrape 1'], plan, 1_005_500);
		expect(nextTask(record, knock(), 0, 1_005_500).do).toBe('check');
		expect(judge(record, scrape, done, plan, 1_005_500)).toBe('deliver');
	});

	it('that one main process has handed to n8n is left to it when another one takes over, for three seconds', () => {
		const record = running();
		const [scrape] = record.open;
		if (!scrape) throw new Error('There is no scrape');
		hear(record, [scrape.id], plan, 1_005_000);
		addNotice(record, { message: 'Something', advice: '' }, 1_005_000);
		const handed = { at: 1_005_000, process: 'process 1' };
		scrape.handed = handed;
		for (const notice of record.notices) notice.handed = handed;
		const other = knock({ clock: 'clock 2', at: 2, process: 'process 2' });
		expect(nextTask(record, other, 0, 1_005_100)).toEqual({ do: 'wait', ms: 2900 });
		expect(nextTask(record, knock(), 0, 1_005_100)).toMatchObject({ do: 'tell' });
		expect(nextTask(record, other, 0, 1_008_000)).toMatchObject({ do: 'tell' });
		record.notices = [];
		expect(nextTask(record, other, 0, 1_008_000)).toEqual({ do: 'check', scrape });
		// The time was put right meanwhile.
		expect(nextTask(record, other, 0, 1_004_000)).toEqual({ do: 'check', scrape });
	});

	it('of a scrape that is known goes before claims, and again and again takes a look each three seconds', () => {
		const record = arrived(undefined, {}, 1_000_000);
		delete record.want;
		hear(record, ['known'], listen, 1_000_000);
		const [known] = record.open;
		if (!known) throw new Error('It was not noted');
		judge(record, known, { status: 'processing', createdAt: 999_000 }, listen, 1_000_100);
		hear(record, ['forged', 'known'], listen, 1_000_200);
		hear(record, ['forged'], listen, 1_000_200);
		const next = (now: number) => {
			const task = nextTask(record, knock(), 0, now);
			return task.do === 'check' ? task.scrape.id : task.do;
		};
		expect([next(1_000_300), next(1_003_099), next(1_003_100)]).toEqual([
			'forged',
			'forged',
			'known',
		]);
	});

	it('that the service cannot answer for is looked at less often, and makes room after a while', () => {
		const record = arrived(undefined, {}, 1_000_000);
		delete record.want;
		for (let count = 0; count < MAX_CLAIMS; count++)
			hear(record, [`id ${String(count)}`], listen, 1_000_000);
		for (const scrape of record.open) scrape.checked = 1_000_000;
		expect(nextTask(record, knock(), 0, 1_000_000)).toEqual({ do: 'wait', ms: 10_000 });
		expect(hear(record, ['late'], listen, 1_000_000).heard).toBe('full');
		for (const scrape of record.open) scrape.checked = 5_000_000;
		expect(hear(record, ['late'], listen, 5_000_000).heard).toBe('noted');
		expect(record.open).toHaveLength(MAX_CLAIMS);
	});

	it('is waited for while the service does not find the scrape, ten minutes from the first time on', () => {
		const record = running();
		const [scrape] = record.open;
		if (!scrape) throw new Error('There is no scrape');
		const missing = { status: undefined };
		expect(judge(record, scrape, missing, plan, 9_000_000)).toBe('keep');
		expect(judge(record, scrape, { status: 'processing' }, plan, 9_300_000)).toBe('keep');
		expect(judge(record, scrape, missing, plan, 9_900_000)).toBe('keep');
		expect(judge(record, scrape, missing, plan, 10_499_000)).toBe('keep');
		expect(judge(record, scrape, missing, plan, 10_500_000)).toBe('missing');
		expect(judge(record, scrape, missing, plan, 10_600_000)).toBe('keep');
		expect(judge(record, scrape, { status: 'processing' }, plan, 10_700_000)).toBe('keep');
		expect(judge(record, scrape, missing, plan, 10_800_000)).toBe('keep');
		expect(judge(record, scrape, missing, plan, 10_800_000 + DAY)).toBe('drop');
		expect(record.open).toEqual([]);
	});

	it('may come before the answer to the start', () => {
		const record = arrived(undefined);
		prepare(record, 'attempt 1');
		expect(hear(record, ['scrape 1', 'event 1'], plan, 1_000_100).heard).toBe('noted');
		started(record, 'scrape 1', 1_000_200);
		const [scrape, event] = record.open;
		expect(nextTask(record, knock(), 0, 1_000_200)).toEqual({ do: 'check', scrape });
		if (!scrape || !event) throw new Error('They were not noted');
		const done = { status: 'completed', createdAt: 1, completedAt: 2 };
		expect(judge(record, scrape, done, plan, 1_000_300)).toBe('deliver');
		arrive(record, knock({ confirmed: ['scrape 1'] }), 'owner', plan, 1_000_400);
		expect(judge(record, event, { status: undefined }, plan, 1_000_500)).toBe('keep');
		expect(judge(record, event, { status: undefined }, plan, 1_200_500)).toBe('drop');
		expect(record.open).toEqual([]);
	});

	it('that names more than the scrape is done with when the scrape is found', () => {
		const record = arrived(undefined);
		hear(record, ['event 1', 'scrape 1', 'lead 1'], listen, 1_000_100);
		hear(record, ['event 2'], listen, 1_000_200);
		const [event, scrape] = record.open;
		if (!event || !scrape) throw new Error('They were not noted');
		expect(judge(record, event, { status: undefined }, listen, 1_000_300)).toBe('keep');
		const done = { status: 'completed', completedAt: 1_000_000 };
		expect(judge(record, scrape, done, listen, 1_000_400)).toBe('deliver');
		expect(record.open.map(({ id }) => id)).toEqual(['scrape 1', 'event 2']);
	});

	it('that spells the ID in its own way is about the scrape that the service names', () => {
		const record = arrived(undefined);
		const done = { id: 'ab-1', status: 'completed', completedAt: 1_000_000 };
		const verdicts = ['AB-1', '{ab-1}'].map((id) => {
			const { scrapes } = hear(record, [id], listen, 1_000_100);
			const [scrape] = scrapes;
			return scrape && judge(record, scrape, done, listen, 1_000_200);
		});
		expect(verdicts).toEqual(['deliver', 'drop']);
		expect(record.open.map(({ id }) => id)).toEqual(['ab-1']);
		arrive(record, knock({ confirmed: ['ab-1'] }), 'owner', listen, 1_000_300);
		const { scrapes } = hear(record, ['Ab-1'], listen, 1_000_400);
		expect(scrapes.map((scrape) => judge(record, scrape, done, listen, 1_000_500))).toEqual([
			'drop',
		]);
		expect(record.open).toEqual([]);
	});

	it('is known by an open scrape in it, whatever the name, and else by the names of scrape IDs', () => {
		const record = running();
		const named = { likely: ['event 1'], others: ['scrape 1'] };
		expect(idsIn(record, named, plan)).toEqual(['scrape 1']);
		expect(idsIn(record, { likely: ['a'], others: ['b'] }, listen)).toEqual(['a']);
		expect(idsIn(record, { likely: [], others: ['b'] }, listen)).toEqual(['b']);
		expect(idsIn(record, { likely: [], others: ['b'] }, plan)).toEqual([]);
	});

	it('is put off when too many are waiting, and the record stays small', () => {
		const record = arrived(undefined);
		const heard = Array.from({ length: 1000 }, (_, index) =>
			hear(record, [`forged ${String(index)}`], listen, 1_000_100),
		);
		expect(heard.filter((each) => each.heard === 'noted')).toHaveLength(MAX_CLAIMS);
		expect(heard[999]?.heard).toBe('full');
		expect(JSON.stringify(record).length).toBeLessThan(60_000);
	});
});

describe('the record', () => {
	it('stays small over 10,000 scrapes, each of them delivered once', () => {
		const record = running();
		let largest = 0;
		let delivered = 0;
		for (let number = 1; number <= 10_000; number++) {
			const id = `scrape ${String(number)}`;
			const now = 1_000_000 + number * 1000;
			if (number > 1) {
				record.want = { why: 'schedule', at: now, filters: 'filters 1' };
				prepare(record, id);
				started(record, id, now);
			}
			const scrape = record.open.find((each) => each.id === id);
			if (!scrape) throw new Error('It was not started');
			scrape.heard = now;
			const verdict = judge(record, scrape, { status: 'completed', completedAt: now }, plan, now);
			if (verdict === 'deliver') delivered++;
			arrive(record, knock({ confirmed: [id], attempt: 'next' }), 'owner', plan, now);
			expect(hear(record, [id], { ...plan, mode: 'listen' }, now).heard).toBe('known');
			largest = Math.max(largest, JSON.stringify(record).length);
		}
		expect(delivered).toBe(10_000);
		expect(record.open).toEqual([]);
		expect(largest).toBeLessThan(40_000);
		expect(isDelivered(record, 'scrape 1')).toBe(false);
		expect(record.horizon).toBeGreaterThan(1_000_000 + 5000 * 1000);
	});

	it('takes the completions of a large batch in any order, each once', () => {
		const record = arrived(undefined);
		delete record.want;
		const ids = Array.from({ length: 3000 }, (_, index) => `scrape ${String(index)}`);
		const shuffled = fc.sample(fc.shuffledSubarray(ids, { minLength: 3000 }), {
			numRuns: 1,
			seed: 7,
		})[0];
		let delivered = 0;
		for (const [index, id] of (shuffled ?? []).entries()) {
			const now = 9_000_000 + index * 100;
			hear(record, [id], listen, now);
			const scrape = record.open.find((each) => each.id === id);
			if (!scrape) throw new Error('It was not noted');
			// All within five minutes, and a tenth of them failed.
			const completedAt = 9_000_000 + Number(id.slice(7)) * 100;
			const isFailed = completedAt % 1000 === 0;
			const status = isFailed
				? { status: 'failed', createdAt: 8_000_000 }
				: { status: 'completed', completedAt };
			if (judge(record, scrape, status, listen, now) === 'deliver') delivered++;
			arrive(record, knock({ confirmed: [id] }), 'owner', listen, now);
		}
		expect(delivered).toBe(3000);
	});

	it.each([
		['newer', 2],
		['as new', 1],
		['older', 0],
	])('takes over what another process heard, though its copy is %s', (_, version) => {
		const now = Date.now();
		const mine: TriggerRecord = { ...arrived(undefined, {}, now), version: 1, writer: PROCESS };
		hear(mine, ['heard here'], listen, now);
		const other = { ...structuredClone(mine), version, writer: 'another process', open: [] };
		hear(other, ['heard there'], listen, now);
		hear(other, ['heard long ago'], listen, now - 120_000);
		const all = ['heard here', 'heard there', ...(version > 1 ? ['heard long ago'] : [])];
		expect(
			merge(mine, other)
				?.open.map(({ id }) => id)
				.sort(),
		).toEqual(all.sort());
	});

	it('takes nothing from an old copy of its own, nor what it delivered from that of another', () => {
		const old: TriggerRecord = { ...arrived(undefined), version: 1, writer: PROCESS };
		hear(old, ['heard'], listen, Date.now());
		const forgotten: TriggerRecord = { ...structuredClone(old), version: 2, open: [] };
		expect(merge(forgotten, old)?.open).toEqual([]);
		const delivered = { ...structuredClone(old), version: 2 };
		settle(delivered, 'heard', Date.now());
		expect(merge(delivered, { ...old, writer: 'another process' })?.open).toEqual([]);
	});

	it.each([
		['older', 0],
		['newer', 2],
	])('takes over what another process knows as delivered, though its copy is %s', (_, version) => {
		const now = Date.now();
		const mine: TriggerRecord = { ...arrived(undefined, {}, now), version: 1, writer: PROCESS };
		hear(mine, ['both', 'mine', 'theirs', 'open'], listen, now);
		settle(mine, 'both', now);
		const other = { ...structuredClone(mine), version, writer: 'another process' };
		settle(mine, 'mine', now);
		settle(other, 'theirs', now);
		const merged = merge(mine, other);
		expect(merged?.open.map(({ id }) => id)).toEqual(['open']);
		expect(merged?.delivered).toHaveLength(3);
	});

	it('counts what was changed later of two copies that have the same version', () => {
		const mine: TriggerRecord = { ...running(), version: 1, writer: PROCESS };
		mine.intent = { id: 'attempt 2', why: 'schedule', at: mine.at, filters: '' };
		const later = { ...running(), version: 1, at: mine.at + 1, writer: 'another process' };
		expect(merge(mine, later)?.intent).toBeUndefined();
		expect(merge(mine, { ...later, at: mine.at - 1 })?.intent).toEqual(mine.intent);
	});

	it('is not held up for good by a scrape that never ends, and the person is told once', () => {
		const record = running();
		const [scrape] = record.open;
		if (!scrape) throw new Error('There is no scrape');
		const status = { status: 'cancelled' };
		const start = 1_000_000;
		const due = (now: number) => {
			record.want = { why: 'schedule', at: now, filters: 'filters 1' };
			const verdict = judge(record, scrape, status, plan, now);
			return [verdict, nextTask(record, knock(), 0, now).do, 'want' in record];
		};
		expect(due(start + DAY / 2)).toEqual(['keep', 'wait', false]);
		expect(due(start + DAY)).toEqual(['stuck', 'prepare', true]);
		expect(due(start + 2 * DAY)).toEqual(['keep', 'prepare', true]);
		const done = { status: 'completed', completedAt: start + 3 * DAY };
		expect(judge(record, { ...scrape, heard: start }, done, plan, start + 3 * DAY)).toBe('deliver');
		expect(due(start + 7 * DAY)[0]).toBe('drop');
		expect(record.open).toEqual([]);
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

	it('come without the secret in the output, wherever it was', () => {
		const raw = withoutSecrets(
			{
				method: 'POST',
				headers: { authorization: 'Bearer x', cookie: 'y', 'x-event': 'z' },
				query: { token: 'SECRET', a: '1' },
				body: { webhookUrl: 'https://n8n.example.com/webhook/1/leadgen?token=SECRET' },
			},
			'SECRET',
		);
		expect(raw).toEqual({
			method: 'POST',
			headers: { 'x-event': 'z' },
			query: { a: '1' },
			body: { webhookUrl: 'https://n8n.example.com/webhook/1/leadgen?token=***' },
		});
	});
});

describe('the secret', () => {
	const identity = { workflowId: 'w1', nodeId: 'n1' };

	it('is another for each key, workflow, node and purpose, and always the same', () => {
		const secrets = [
			secretFor({ apiKey: 'a' }, identity, 'notification'),
			secretFor({ apiKey: 'b' }, identity, 'notification'),
			secretFor({ apiKey: 'a' }, { ...identity, workflowId: 'w2' }, 'notification'),
			secretFor({ apiKey: 'a' }, { ...identity, nodeId: 'n2' }, 'notification'),
			secretFor({ apiKey: 'a' }, identity, 'knock'),
		];
		expect(new Set(secrets).size).toBe(secrets.length);
		expect(secrets[0]).toBe(secretFor({ apiKey: 'a\n' }, identity, 'notification'));
		expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/);
	});

	it('is recognised, and nothing else is, of whatever type and length', () => {
		const secret = secretFor({ apiKey: 'a' }, identity, 'notification');
		expect(isSecret(secret, secret)).toBe(true);
		fc.assert(fc.property(fc.anything(), (given) => given === secret || !isSecret(given, secret)));
		for (const given of [secret.slice(1), `${secret}0`, secret.toUpperCase(), [secret]]) {
			expect(isSecret(given, secret)).toBe(false);
		}
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
	});
});
