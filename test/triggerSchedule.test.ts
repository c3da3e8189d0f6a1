import { createRequire } from 'node:module';
import { Parameters } from '../nodes/LeadGen/common/parameters';
import { pollPauseMs } from '../nodes/LeadGen/trigger/leader';
import { readSchedule } from '../nodes/LeadGen/trigger/schedule';

/** The cron of n8n-core. */
const { CronTime } = createRequire(require.resolve('n8n-core'))('cron') as typeof import('cron');

function read(values: Record<string, unknown>, timeZone: string) {
	return readSchedule(new Parameters((name) => values[name]), timeZone);
}

/** When n8n would start scrapes. */
function dueTimes(values: Record<string, unknown>, timeZone: string, after: string, count: number) {
	const schedule = read(values, timeZone);
	const cron = new CronTime(schedule?.expression ?? '', timeZone);
	const due: string[] = [];
	for (let time = new Date(after); due.length < count;) {
		time = cron.getNextDateFrom(time, timeZone).toJSDate();
		if (schedule?.isDue(time)) due.push(time.toISOString().slice(0, 16));
		expect(schedule?.roundDown(new Date(time.getTime() + 999))).toBe(time.getTime() / 1000);
	}
	return due;
}

/** The parameters that a text names, such as `monthly 31 9:00` or `cron 0 9 * * *`. */
function valuesOf(text: string): Record<string, unknown> {
	const [schedule, ...rest] = text.split(' ');
	if (schedule === 'cron') return { schedule, cronExpression: rest.join(' ') };
	const [hour, minute] = (rest.pop() ?? '').split(':').map(Number);
	const day = { triggerAtDayOfMonth: Number(rest[0]), triggerAtWeekday: rest[0] };
	return { schedule, triggerAtHour: hour, triggerAtMinute: minute, ...day };
}

test.each([
	'hourly 0:05 in Asia/Kolkata after 2026-01-01T00:00Z: 2026-01-01T00:35 2026-01-01T01:35',
	'daily 9:00 in Europe/Berlin after 2026-03-27T12:00Z: 2026-03-28T08:00 2026-03-29T07:00',
	'weekly 1 0:00 in UTC after 2026-03-06T12:00Z: 2026-03-09T00:00 2026-03-16T00:00',
	'monthly 1 9:00 in UTC after 2026-01-01T09:00Z: 2026-02-01T09:00 2026-03-01T09:00',
	'monthly 29 9:00 in UTC after 2027-12-30T00:00Z: 2028-01-29T09:00 2028-02-29T09:00 2028-03-29T09:00',
	'monthly 31 9:00 in UTC after 2026-01-01T00:00Z: 2026-01-31T09:00 2026-02-28T09:00 2026-03-31T09:00 2026-04-30T09:00',
	// The date in UTC is another one.
	'monthly 31 0:00 in Pacific/Kiritimati after 2026-01-31T12:00Z: 2026-02-27T10:00 2026-03-30T10:00',
	'monthly 31 23:59 in America/Los_Angeles after 2026-02-01T12:00Z: 2026-03-01T07:59 2026-04-01T06:59',
	'monthly 30 0:00 in Asia/Kolkata after 2026-02-01T00:00Z: 2026-02-27T18:30 2026-03-29T18:30',
	// The last day of this September had 25 hours.
	'monthly 31 0:30 in Africa/Cairo after 2010-09-01T00:00Z: 2010-09-29T21:30 2010-10-30T22:30',
	'cron  0   9 * * 1-5  in Europe/Berlin after 2026-03-06T12:00Z: 2026-03-09T08:00',
	'cron 0 0 * jan 7 in UTC after 2026-02-10T00:00Z: 2027-01-03T00:00',
	'cron */30 * * * * * in UTC after 2026-02-10T00:00:50Z: 2026-02-10T00:01 2026-02-10T00:01 2026-02-10T00:02',
])('is due: %s', (row) => {
	const [, values = '', timeZone = '', after = '', times = ''] =
		/^(.*) in (.*) after (.*Z): (.*)$/.exec(row) ?? [];
	const expected = times.split(' ');
	expect(dueTimes(valuesOf(values), timeZone, after, expected.length)).toEqual(expected);
});

test.each([
	['monthly 32 0:00', 'UTC', 'Day of the Month must be a whole number from 1 to 31, but is 32'],
	['weekly 7 0:00', 'UTC', 'Day of the Week has no option "7"'],
	['yearly 0:00', 'UTC', 'How Often has no option "yearly"'],
])('%s in %j is refused', (values, timeZone, message) => {
	expect(() => read(valuesOf(values), timeZone)).toThrow(message);
	expect(read({ schedule: 'once' }, timeZone)).toBeUndefined();
});

test.each(
	'|* * * *|* * * * * * *|60 * * * *|* 24 * * *|* * 0 * *|* * * 13 *|5-1 * * * *|*/0 * * * *|a * * * *|* * * * 8'.split(
		'|',
	),
)('n8n refuses %s at the activation', (text) => {
	const { expression = '' } = read(valuesOf(`cron ${text}`), 'UTC') ?? {};
	expect(() => new CronTime(expression, 'UTC')).toThrow();
});

test('n8n refuses a time zone that does not exist', () => {
	const { expression = '' } = read(valuesOf('monthly 31 9:00'), 'Mars/Olympus') ?? {};
	expect(() => new CronTime(expression, 'Mars/Olympus')).toThrow('Invalid timezone');
});

test('a running scrape is polled each tenth of its age, from 5 seconds to 15 minutes', () => {
	const minutes = [0, 0.5, 1, 10, 60, 150, 24 * 60];
	const seconds = minutes.map((age) => pollPauseMs(age * 60_000) / 1000);
	expect(seconds).toEqual([5, 5, 6, 60, 360, 900, 900]);
});
