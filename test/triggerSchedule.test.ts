import { createRequire } from 'node:module';
import { Parameters } from '../nodes/LeadGen/common/parameters';
import { pauseBeforePollMs } from '../nodes/LeadGen/trigger/leader';
import { attemptAt, readSchedule } from '../nodes/LeadGen/trigger/schedule';

/** The cron of n8n-core. */
const { CronTime } = createRequire(require.resolve('n8n-core'))('cron') as typeof import('cron');

const HOUR_MS = 3_600_000;

/** The cron expression of parameters that a text names, such as `monthly 31 9:00` or `cron 0 9 * * *`. */
function expressionOf(text: string): string {
	const [schedule, ...rest] = text.split(' ');
	const cronExpression = rest.join(' ');
	const [hour, minute] = (rest.at(-1) ?? '').split(':').map(Number);
	const values: Record<string, unknown> = {
		...{ schedule, cronExpression, triggerAtHour: hour, triggerAtMinute: minute },
		...{ triggerAtDayOfMonth: Number(rest[0]), triggerAtWeekday: rest[0] },
	};
	return readSchedule(new Parameters((name) => values[name])) ?? '';
}

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

test.each([
	'hourly 0:05 in Asia/Kolkata after 2026-01-01T00:00Z: 2026-01-01T00:35 2026-01-01T01:35',
	'daily 9:00 in Europe/Berlin after 2026-03-27T12:00Z: 2026-03-28T08:00 2026-03-29T07:00',
	'weekly 1 0:00 in UTC after 2026-03-06T12:00Z: 2026-03-09T00:00 2026-03-16T00:00',
	'monthly 1 9:00 in UTC after 2026-01-01T10:00Z: 2026-02-01T09:00 2026-03-01T09:00',
	'monthly 31 9:00 in UTC after 2026-01-01T00:00Z: 2026-01-31T09:00 2026-03-31T09:00 2026-05-31T09:00',
	'cron  0   9 * * 1-5  in Europe/Berlin after 2026-03-06T12:00Z: 2026-03-09T08:00',
	'cron 0 0 * jan 7 in UTC after 2026-02-10T00:00Z: 2027-01-03T00:00',
	'cron */30 * * * * * in UTC after 2026-02-10T00:00:50Z: 2026-02-10T00:01 2026-02-10T00:01 2026-02-10T00:02',
	'cron @daily in UTC after 2026-02-10T00:00:50Z: 2026-02-11T00:00 2026-02-12T00:00',
])('a scrape is started: %s', (row) => {
	const [, text = '', timeZone = '', after = '', times = ''] =
		/^(.*) in (.*) after (.*Z): (.*)$/.exec(row) ?? [];
	const expected = times.split(' ');
	const end = new Date(`${expected.at(-1) ?? ''}:01Z`);
	const starts = startsUntil(end, expressionOf(text), timeZone, after);
	expect(starts.map((time) => time.toISOString().slice(0, 16))).toEqual(expected);
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

	/** The local dates or hours of all starts within whole local dates. */
	function starts(text: string, hours: string[], length: number): string[] {
		const [first = '', last = ''] = [hours[0]?.slice(0, 10), hours.at(-1)?.slice(0, 10)];
		const end = new Date(new Date(last).getTime() + 36 * HOUR_MS);
		const after = new Date(new Date(first).getTime() - 24 * HOUR_MS).toISOString();
		return startsUntil(end, expressionOf(text), timeZone, after)
			.map((time) => local.format(time).slice(0, length))
			.filter((time) => time.slice(0, 10) >= first && time.slice(0, 10) <= last);
	}

	const datesOf = (hours: string[]) => [...new Set(hours.map((hour) => hour.slice(0, 10)))];

	test.each(['0:00', '0:30', '2:00', '2:30', '3:00', '3:30', '23:30'])(
		'a scrape is started once a date at %s, daily, weekly, monthly and by cron',
		(time) => {
			const [hour = '', minute = ''] = time.split(':');
			for (const date of [forward, back]) {
				const hours = hoursAround(date, 4);
				const dates = datesOf(hours);
				expect(starts(`daily ${time}`, hours, 10)).toEqual(dates);
				const twice = starts(`cron ${minute} ${hour},12 * * *`, hours, 10);
				expect(twice).toEqual(dates.flatMap((each) => [each, each]));
				const weekday = new Date(date).getUTCDay();
				expect(starts(`weekly ${String(weekday)} ${time}`, hours, 10)).toEqual([date]);
				expect(starts(`monthly ${date.slice(-2)} ${time}`, hours, 10)).toEqual([date]);
			}
		},
	);

	test.each(['0:00', '0:30'])('a scrape is started once an hour at the minute of %s', (time) => {
		for (const date of [forward, back]) {
			const hours = hoursAround(date, 3).filter((hour) => hour.startsWith(date));
			expect(starts(`hourly ${time}`, hours, 13)).toEqual(hours);
		}
	});
});

test('a due time has the same attempt a moment early, late, and in another process', () => {
	const at = Date.UTC(2026, 9, 25, 1);
	const attempts = [-1, 0, 900, 59_000].map((ms) =>
		attemptAt(new Date(at + ms), '0 2 * * *', 'Europe/Berlin'),
	);
	expect(attempts).toEqual(new Array(4).fill('s202610250120europeberlin'));
	expect(attemptAt(new Date(at), '0 1 * * *', '')).toMatch(/^s20261025\d{4}$/);
});

test.each([
	['monthly 32 0:00', 'Day of the Month must be a whole number from 1 to 31, but is 32'],
	['weekly 7 0:00', 'Day of the Week has no option "7"'],
	['yearly 0:00', 'How Often has no option "yearly"'],
])('%s is refused', (text, message) => {
	expect(() => expressionOf(text)).toThrow(message);
	expect(expressionOf('once')).toBe('');
});

test.each(
	'|* * * *|* * * * * * *|60 * * * *|* 24 * * *|* * 0 * *|* * * 13 *|5-1 * * * *|*/0 * * * *|a * * * *|* * * * 8'.split(
		'|',
	),
)('n8n refuses %s at the activation', (text) => {
	expect(() => new CronTime(expressionOf(`cron ${text}`), 'UTC')).toThrow();
});

test('a running scrape is polled each tenth of its age, from 5 seconds to 15 minutes', () => {
	const minutes = [0, 0.5, 1, 10, 60, 150, 24 * 60];
	const seconds = minutes.map((age) => pauseBeforePollMs(age * 60_000) / 1000);
	expect(seconds).toEqual([5, 5, 6, 60, 360, 900, 900]);
});
