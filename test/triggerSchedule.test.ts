import { createRequire } from 'node:module';
import { Parameters } from '../nodes/LeadGen/parameters';
import { readSchedule } from '../nodes/LeadGen/schedule/schedule';

/** The cron of n8n-core. */
interface Cron {
	CronTime: new (
		expression: string,
		timeZone: string,
	) => {
		getNextDateFrom(start: Date, timeZone: string): { toJSDate(): Date };
	};
}
const { CronTime } = createRequire(require.resolve('n8n-core'))('cron') as Cron;

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

const at = (hour: number, minute: number) => ({ triggerAtHour: hour, triggerAtMinute: minute });
const monthly = (day: number, hour: number, minute = 0) => ({
	schedule: 'monthly',
	triggerAtDayOfMonth: day,
	...at(hour, minute),
});
const cron = (cronExpression: string) => ({ schedule: 'cron', cronExpression });

test.each<[object, string, string, string[]]>([
	[
		{ schedule: 'hourly', triggerAtMinute: 5 },
		'Asia/Kolkata',
		'2026-01-01T00:00Z',
		['2026-01-01T00:35', '2026-01-01T01:35'],
	],
	[
		{ schedule: 'daily', ...at(9, 30) },
		'UTC',
		'2026-03-01T09:30Z',
		['2026-03-02T09:30', '2026-03-03T09:30'],
	],
	[
		{ schedule: 'daily', ...at(9, 0) },
		'Europe/Berlin',
		'2026-03-27T12:00Z',
		['2026-03-28T08:00', '2026-03-29T07:00'],
	],
	[
		{ schedule: 'weekly', triggerAtWeekday: '1', ...at(0, 0) },
		'UTC',
		'2026-03-06T12:00Z',
		['2026-03-09T00:00', '2026-03-16T00:00'],
	],
	[
		{ schedule: 'weekly', triggerAtWeekday: '0', ...at(23, 59) },
		'UTC',
		'2026-03-06T12:00Z',
		['2026-03-08T23:59'],
	],
	[monthly(1, 9), 'UTC', '2026-01-01T09:00Z', ['2026-02-01T09:00', '2026-03-01T09:00']],
	[monthly(28, 9), 'UTC', '2026-02-01T00:00Z', ['2026-02-28T09:00', '2026-03-28T09:00']],
	[
		monthly(29, 9),
		'UTC',
		'2027-12-30T00:00Z',
		['2028-01-29T09:00', '2028-02-29T09:00', '2028-03-29T09:00'],
	],
	[
		monthly(30, 9),
		'UTC',
		'2027-01-01T00:00Z',
		['2027-01-30T09:00', '2027-02-28T09:00', '2027-03-30T09:00'],
	],
	[
		monthly(31, 9),
		'UTC',
		'2026-01-01T00:00Z',
		['2026-01-31T09:00', '2026-02-28T09:00', '2026-03-31T09:00', '2026-04-30T09:00'],
	],
	// The date in UTC is another one.
	[
		monthly(31, 0),
		'Pacific/Kiritimati',
		'2026-01-31T12:00Z',
		['2026-02-27T10:00', '2026-03-30T10:00'],
	],
	[
		monthly(31, 23, 59),
		'America/Los_Angeles',
		'2026-02-01T12:00Z',
		['2026-03-01T07:59', '2026-04-01T06:59'],
	],
	[monthly(30, 0), 'Asia/Kolkata', '2026-02-01T00:00Z', ['2026-02-27T18:30', '2026-03-29T18:30']],
	// A day of 25 hours is the last one of the month.
	[
		monthly(31, 0, 30),
		'Africa/Cairo',
		'2010-09-01T00:00Z',
		['2010-09-29T21:30', '2010-10-30T22:30'],
	],
	[cron(' 0  9 * * 1-5 '), 'Europe/Berlin', '2026-03-06T12:00Z', ['2026-03-09T08:00']],
	[cron('30 0 1 jan *'), 'America/New_York', '2026-01-02T00:00Z', ['2027-01-01T05:30']],
	[cron('0 0 29 2 *'), 'UTC', '2026-01-01T00:00Z', ['2028-02-29T00:00']],
	[cron('0 0 * * 7'), 'UTC', '2026-02-10T00:00Z', ['2026-02-15T00:00']],
	[cron('*/20 * * * * *'), 'UTC', '2026-02-10T00:00:50Z', ['2026-02-10T00:01', '2026-02-10T00:01']],
])('%j in %s is due after %s', (values, timeZone, after, expected) => {
	expect(dueTimes({ ...values }, timeZone, after, expected.length)).toEqual(expected);
});

test('once is no schedule, in no time zone', () => {
	expect(read({ schedule: 'once' }, 'Mars/Olympus')).toBeUndefined();
});

test.each([
	[cron(''), 'UTC', 'Cron Expression must have five parts'],
	[cron('* * * *'), 'UTC', 'Cron Expression must have five parts, or six with seconds ("* * * *")'],
	[cron('* * * * * * *'), 'UTC', 'Cron Expression must have five parts'],
	[cron('@daily'), 'UTC', 'Cron Expression must have five parts'],
	[monthly(32, 0), 'UTC', 'Day of the Month must be a whole number from 1 to 31, but is 32'],
	[monthly(1, 24), 'UTC', 'Hour must be a whole number from 0 to 23'],
	[{ schedule: 'hourly', triggerAtMinute: 60 }, 'UTC', 'Minute must be'],
	[{ schedule: 'yearly' }, 'UTC', 'How Often has no option "yearly"'],
	[cron('0 9 * * *'), 'Mars/Olympus', 'Time zone of the workflow does not exist: "Mars/Olympus"'],
	[monthly(31, 9), '', 'Time zone of the workflow does not exist: ""'],
])('%j in %j is refused', (values, timeZone, message) => {
	expect(() => read(values, timeZone)).toThrow(message);
});

test.each([
	'60 * * * *',
	'* 24 * * *',
	'* * 0 * *',
	'* * * 13 *',
	'5-1 * * * *',
	'*/0 * * * *',
	'a * * * *',
	'* * * * 8',
	'1,,2 * * * *',
])('n8n refuses %s at the activation', (expression) => {
	const schedule = read(cron(expression), 'UTC');
	expect(() => new CronTime(schedule?.expression ?? '', 'UTC')).toThrow();
});
