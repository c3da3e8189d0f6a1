import { createRequire } from 'node:module';
import { Parameters } from '../nodes/LeadGen/common/parameters';
import { pauseBeforePollMs } from '../nodes/LeadGen/trigger/leader';
import { attemptAt, readSchedule } from '../nodes/LeadGen/trigger/schedule';

/** The cron of n8n-core. */
const { CronTime } = createRequire(require.resolve('n8n-core'))('cron') as typeof import('cron');

const HOUR_MS = 3_600_000;

type Values = Record<string, unknown>;

/** The cron expression of the parameters of a node. */
function expressionOf(values: Values): string {
	return readSchedule(new Parameters((name) => values[name])) ?? '';
}

const hourly = (triggerAtMinute: number) => ({ schedule: 'hourly', triggerAtMinute });
const at = (triggerAtHour: number, triggerAtMinute: number) => ({ triggerAtHour, triggerAtMinute });
const daily = (time: Values) => ({ schedule: 'daily', ...time });
const weekly = (triggerAtWeekday: string, time: Values) => ({
	...{ schedule: 'weekly', triggerAtWeekday },
	...time,
});
const monthly = (triggerAtDayOfMonth: number, time: Values) => ({
	...{ schedule: 'monthly', triggerAtDayOfMonth },
	...time,
});
const cron = (cronExpression: string) => ({ schedule: 'cron', cronExpression });

/** The times at which n8n's own cron fires, one after the other. */
function* firedTimes(expression: string, timeZone: string, after: string): Generator<Date> {
	const cron = new CronTime(expression, timeZone);
	for (let time = new Date(after); ;) {
		// As in n8n, which looks for the next time a moment after the last one.
		time = cron.getNextDateFrom(new Date(time.getTime() + 5), timeZone).toJSDate();
		yield time;
	}
}

/** When scrapes are started until a time. */
function startsUntil(end: Date, expression: string, timeZone: string, after: string): Date[] {
	const starts: Date[] = [];
	let last = '';
	for (const time of firedTimes(expression, timeZone, after)) {
		if (time >= end) return starts;
		const attempt = attemptAt(time, expression, timeZone);
		// As the leader does it.
		if (attempt === undefined || attempt <= last) continue;
		last = attempt;
		starts.push(time);
	}
	return starts;
}

test.each<[values: Values, timeZone: string, after: string, times: string[]]>([
	[hourly(5), 'Asia/Kolkata', '2026-01-01T00:00Z', ['2026-01-01T00:35', '2026-01-01T01:35']],
	[daily(at(9, 0)), 'Europe/Berlin', '2026-03-27T12:00Z', ['2026-03-28T08:00', '2026-03-29T07:00']],
	[weekly('1', at(0, 0)), 'UTC', '2026-03-06T12:00Z', ['2026-03-09T00:00', '2026-03-16T00:00']],
	[monthly(1, at(9, 0)), 'UTC', '2026-01-01T10:00Z', ['2026-02-01T09:00', '2026-03-01T09:00']],
	// A month without that day starts none.
	[monthly(31, at(9, 0)), 'UTC', '2026-02-01T00:00Z', ['2026-03-31T09:00', '2026-05-31T09:00']],
	[cron(' 0   9 * * 1-5 '), 'Europe/Berlin', '2026-03-06T12:00Z', ['2026-03-09T08:00']],
	[cron('0 0 * jan 7'), 'UTC', '2026-02-10T00:00Z', ['2027-01-03T00:00']],
	[cron('*/30 * * * * *'), 'UTC', '2026-02-10T00:00:50Z', ['2026-02-10T00:01', '2026-02-10T00:01']],
	[cron('@daily'), 'UTC', '2026-02-10T00:00:50Z', ['2026-02-11T00:00', '2026-02-12T00:00']],
])('%j in %s starts scrapes after %s at %j', (values, timeZone, after, times) => {
	const starts = firedTimes(expressionOf(values), timeZone, after);
	const seen = times.map(() => starts.next().value as Date);
	expect(seen.map((time) => time.toISOString().slice(0, 16))).toEqual(times);
	for (const time of seen) expect(attemptAt(time, expressionOf(values), timeZone)).toMatch(/^s2/);
});

describe.each([
	['Europe/Berlin', '2026-03-29', '2026-10-25'],
	['America/New_York', '2026-03-08', '2026-11-01'],
	['Australia/Sydney', '2026-10-04', '2026-04-05'],
	['Africa/Cairo', '2026-04-24', '2026-10-29'],
	['America/Santiago', '2026-09-06', '2026-04-04'],
])('in %s, whose clocks go forward on %s and back on %s', (timeZone, forward, back) => {
	const local = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' });

	/** The local hours of some days around a date, or those of a year. */
	function hoursAround(date: string, days: number): string[] {
		const from = new Date(date).getTime() - days * 12 * HOUR_MS;
		const times = Array.from({ length: days * 24 }, (_, hour) => from + hour * HOUR_MS);
		return [...new Set(times.map((time) => local.format(time).slice(0, 13)))];
	}

	/** The local dates or hours of all starts within whole local dates, none of which lies further from that of UTC. */
	function starts(values: Values, hours: string[], length: number): string[] {
		const [first = '', last = ''] = [hours[0]?.slice(0, 10), hours.at(-1)?.slice(0, 10)];
		const end = new Date(new Date(last).getTime() + 30 * HOUR_MS);
		const after = new Date(new Date(first).getTime() - 12 * HOUR_MS).toISOString();
		return startsUntil(end, expressionOf(values), timeZone, after)
			.map((time) => local.format(time).slice(0, length))
			.filter((time) => time.slice(0, 10) >= first && time.slice(0, 10) <= last);
	}

	const datesOf = (hours: string[]) => [...new Set(hours.map((hour) => hour.slice(0, 10)))];

	test.each([0, 2, 3, 23])(
		'a scrape is started once a date at %i:00 and 30 minutes later, daily, weekly, monthly and by cron',
		(hour) => {
			for (const [date, minute] of [forward, back].flatMap((each) =>
				[0, 30].map((at) => [each, at] as const),
			)) {
				const time = at(hour, minute);
				const hours = hoursAround(date, 3);
				const dates = datesOf(hours);
				expect(starts(daily(time), hours, 10)).toEqual(dates);
				const twice = starts(cron(`${String(minute)} ${String(hour)},12 * * *`), hours, 10);
				expect(twice).toEqual(dates.flatMap((each) => [each, each]));
				const weekday = String(new Date(date).getUTCDay());
				expect(starts(weekly(weekday, time), hours, 10)).toEqual([date]);
				expect(starts(monthly(Number(date.slice(-2)), time), hours, 10)).toEqual([date]);
			}
		},
	);

	test.each([0, 30])('a scrape is started once an hour at minute %i', (minute) => {
		for (const date of [forward, back]) {
			const hours = hoursAround(date, 3).filter((hour) => hour.startsWith(date));
			expect(starts(hourly(minute), hours, 13)).toEqual(hours);
		}
	});
});

test.each([
	['2026-07-01T07:00Z', '0 9 * * *', 's202607010540europeberlin'],
	['2026-07-01T07:00Z', '0 * * * *', 's202607010540europeberlin'],
	['2026-07-01T07:00:30Z', '*/30 * * * * *', 's20260701054030europeberlin'],
	// The second 2:00 of that date.
	['2026-10-25T01:00Z', '0 2 * * *', 's202610250120europeberlin'],
])(
	'the due time %s of %s has one attempt, a moment early, and late',
	(due, expression, attempt) => {
		const moments = expression.startsWith('*') ? [-400, -1, 0, 499] : [-400, -1, 0, 900, 59_000];
		const attempts = moments.map((ms) =>
			attemptAt(new Date(new Date(due).getTime() + ms), expression, 'Europe/Berlin'),
		);
		expect(new Set(attempts)).toEqual(new Set([attempt]));
	},
);

test('without a time zone, a due time is in that of the process', () => {
	const due = new Date(Date.UTC(2026, 9, 25, 1));
	expect(attemptAt(due, '0 1 * * *', '')).toMatch(/^s20261025\d{4}$/);
});

test.each([
	[monthly(32, at(0, 0)), 'Day of the Month must be a whole number from 1 to 31, but is 32'],
	[weekly('7', at(0, 0)), 'Day of the Week has no option "7"'],
	[{ schedule: 'yearly' }, 'How Often has no option "yearly"'],
])('%j is refused', (values, message) => {
	expect(() => expressionOf(values)).toThrow(message);
});

test('once is no schedule', () => {
	expect(expressionOf({ schedule: 'once' })).toBe('');
});

test.each([
	...['', '* * * *', '* * * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *'],
	...['5-1 * * * *', '*/0 * * * *', 'a * * * *', '* * * * 8'],
])('n8n refuses the cron expression "%s" at the activation', (expression) => {
	expect(() => new CronTime(expressionOf(cron(expression)), 'UTC')).toThrow();
});

test('a running scrape is polled each tenth of its age, from 5 seconds to 15 minutes', () => {
	const minutes = [0, 0.5, 1, 10, 60, 150, 24 * 60];
	const seconds = minutes.map((age) => pauseBeforePollMs(age * 60_000) / 1000);
	expect(seconds).toEqual([5, 5, 6, 60, 360, 900, 900]);
});
