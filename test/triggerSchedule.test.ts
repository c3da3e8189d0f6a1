import { createRequire } from 'node:module';
import { Parameters } from '../nodes/LeadGen/common/parameters';
import { pauseBeforePollMs } from '../nodes/LeadGen/trigger/leader';
import { attemptAt, readSchedule, scheduleFields } from '../nodes/LeadGen/trigger/schedule';

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
	[cron('5/35 9-10 * * *'), 'UTC', '2026-02-10T09:10Z', ['2026-02-10T09:40', '2026-02-10T10:05']],
	[cron('5/35 9-10 * * *'), 'UTC', '2026-02-10T10:00Z', ['2026-02-10T10:05', '2026-02-10T10:40']],
	[cron('@daily'), 'UTC', '2026-02-10T00:00:50Z', ['2026-02-11T00:00', '2026-02-12T00:00']],
])('%j in %s starts scrapes after %s at %j', (values, timeZone, after, times) => {
	const starts = firedTimes(expressionOf(values), timeZone, after);
	const seen = times.map(() => starts.next().value as Date);
	expect(seen.map((time) => time.toISOString().slice(0, 16))).toEqual(times);
	const attempts = seen.map((time) => attemptAt(time, expressionOf(values), timeZone));
	for (const attempt of attempts) expect(attempt).toMatch(/^s2/);
	expect(new Set(attempts).size).toBe(times.length);
});

test('a weekly scrape is started on the chosen day', () => {
	const field = scheduleFields.find(({ property }) => property.name === 'triggerAtWeekday');
	const options = (field?.property.options ?? []) as Array<{ name: string; value: string }>;
	const days = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' });
	const names = options.map(({ value }) => {
		const expression = expressionOf(weekly(value, at(9, 0)));
		return days.format(firedTimes(expression, 'UTC', '2026-03-06T12:00Z').next().value as Date);
	});
	expect(names).toEqual(options.map(({ name }) => name));
	expect(names).toHaveLength(7);
});

describe.each([
	['Europe/Berlin', '2026-03-29', '2026-10-25'],
	['America/New_York', '2026-03-08', '2026-11-01'],
	['Australia/Sydney', '2026-10-04', '2026-04-05'],
	['Africa/Cairo', '2026-04-24', '2026-10-29'],
	['America/Santiago', '2026-09-06', '2026-04-04'],
])('in %s, whose clocks go forward on %s and back on %s', (timeZone, forward, back) => {
	const local = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' });

	/** The local dates, or the hours of those, on which scrapes start, within a day of a date. */
	function starts(values: Values, date: string, [first, , last]: string[], length = 10): string[] {
		const all: string[] = [];
		const attempts = new Set<unknown>([undefined]);
		const after = new Date(new Date(date).getTime() - 60 * HOUR_MS).toISOString();
		for (const time of firedTimes(expressionOf(values), timeZone, after)) {
			const text = local.format(time);
			if (text.slice(0, 10) > String(last)) return all;
			const attempt = attemptAt(time, expressionOf(values), timeZone);
			if (attempts.has(attempt)) continue;
			attempts.add(attempt);
			if (text >= String(first)) all.push(text.slice(0, length));
		}
		return all;
	}

	const around = (date: string) =>
		[-24, 0, 24].map((hours) =>
			new Date(new Date(date).getTime() + hours * HOUR_MS).toISOString().slice(0, 10),
		);

	test.each([0, 2, 3, 23])(
		'a scrape is started once a date at %i:00 and 30 minutes later, daily, weekly, monthly and by cron',
		(hour) => {
			for (const date of [forward, back]) {
				for (const minute of [0, 30]) {
					const [time, dates] = [at(hour, minute), around(date)];
					expect(starts(daily(time), date, dates)).toEqual(dates);
					const twice = cron(`${String(minute)} ${String(hour)},12 * * *`);
					expect(starts(twice, date, dates)).toEqual(dates.flatMap((each) => [each, each]));
					const weekday = String(new Date(date).getUTCDay());
					expect(starts(weekly(weekday, time), date, dates)).toEqual([date]);
					expect(starts(monthly(Number(date.slice(-2)), time), date, dates)).toEqual([date]);
				}
			}
		},
	);

	test.each([0, 30])('a scrape is started once an hour at minute %i', (minute) => {
		for (const date of [forward, back]) {
			const times = Array.from({ length: 72 }, (_, hour) =>
				local.format(new Date(date).getTime() + (hour - 24) * HOUR_MS).slice(0, 13),
			);
			const hours = [...new Set(times.filter((time) => time.startsWith(date)))];
			expect(starts(hourly(minute), date, [date, '', date], 13)).toEqual(hours);
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
