import {
	choiceField,
	numberField,
	textField,
	type Field,
	type Parameters,
} from '../common/parameters';

const schedule = choiceField(
	{
		displayName: 'How Often',
		name: 'schedule',
		description:
			'When to start further scrapes. The first one starts when you publish or activate the workflow. Each scrape costs credits.',
	},
	[
		{ name: 'Once', value: 'once' },
		{ name: 'Every Hour', value: 'hourly' },
		{ name: 'Every Day', value: 'daily' },
		{ name: 'Every Week', value: 'weekly' },
		{ name: 'Every Month', value: 'monthly' },
		{ name: 'Custom (Cron)', value: 'cron' },
	],
	'once',
);

function clockField(
	displayName: string,
	name: string,
	[from, to, first]: [number, number, number],
	schedules: string[],
	description: string,
): Field<number> {
	return numberField(
		{
			displayName,
			name,
			typeOptions: { minValue: from, maxValue: to },
			default: first,
			displayOptions: { show: { schedule: schedules } },
			description,
		},
		{ whole: true },
	);
}

const dayOfMonth = clockField(
	'Day of the Month',
	'triggerAtDayOfMonth',
	[1, 31, 1],
	['monthly'],
	'Shorter months use their last day',
);

const WEEKDAYS = [
	{ name: 'Monday', value: '1' },
	{ name: 'Tuesday', value: '2' },
	{ name: 'Wednesday', value: '3' },
	{ name: 'Thursday', value: '4' },
	{ name: 'Friday', value: '5' },
	{ name: 'Saturday', value: '6' },
	{ name: 'Sunday', value: '0' },
];

const weekday = choiceField(
	{
		displayName: 'Day of the Week',
		name: 'triggerAtWeekday',
		displayOptions: { show: { schedule: ['weekly'] } },
	},
	WEEKDAYS,
	'1',
);

const LOCAL = 'Hour of the day, 0 to 23, in the time zone from the workflow settings';

const hour = clockField('Hour', 'triggerAtHour', [0, 23, 9], ['daily', 'weekly', 'monthly'], LOCAL);

const minute = clockField(
	'Minute',
	'triggerAtMinute',
	[0, 59, 0],
	['hourly', 'daily', 'weekly', 'monthly'],
	'Minute of the hour, 0 to 59',
);

const cronExpression = textField({
	displayName: 'Cron Expression',
	name: 'cronExpression',
	required: true,
	placeholder: 'e.g. 0 9 * * 1-5',
	displayOptions: { show: { schedule: ['cron'] } },
	description:
		'Minute, hour, day of the month, month and weekday, in the time zone of the workflow. To add seconds, put a sixth field in front, such as 30 0 9 * * 1-5.',
});

export const scheduleFields: Field[] = [
	schedule,
	cronExpression,
	dayOfMonth,
	weekday,
	hour,
	minute,
];

const DAY_NAMES = Object.fromEntries(WEEKDAYS.map(({ name, value }) => [value, name]));

/** The schedule in words for the canvas, such as "Every Monday at 9:00": an expression without its brackets. */
export const scheduleInWords = `((set, minute, days) => ({
	once: "Start a scrape once",
	hourly: "Every hour" + (minute === "00" ? "" : " at :" + minute),
	daily: "Every day at " + set["triggerAtHour"] + ":" + minute,
	weekly: "Every " + days[set["triggerAtWeekday"]] + " at " + set["triggerAtHour"] + ":" + minute,
	monthly: "Monthly on day " + set["triggerAtDayOfMonth"] + " at " + set["triggerAtHour"] + ":" + minute,
	cron: "Cron: " + set["cronExpression"],
})[set["schedule"]])($parameter, String($parameter["triggerAtMinute"]).padStart(2, "0"), ${JSON.stringify(DAY_NAMES)})`;

/** When to start scrapes. n8n's cron keeps the time. */
export interface Schedule {
	/** With five parts, or six with seconds first. */
	expression: string;
	/** Whether a time of the expression counts. */
	isDue(time: Date): boolean;
	/** The time that was due, in seconds since 1970. Old versions of n8n do not tell it, and may be late. */
	roundDown(time: Date): number;
}

/** Months have at least this many days. */
const MIN_MONTH_DAYS = 28;

/**
 * Time zones and cron expressions are for n8n to judge.
 * @returns undefined to start only once
 * @throws InputError if another parameter is invalid
 */
export function readSchedule(parameters: Parameters, timeZone: string): Schedule | undefined {
	const kind = parameters.get(schedule);
	if (kind === 'once') return undefined;
	if (kind === 'cron') {
		return scheduleOf(parameters.get(cronExpression).trim().split(/\s+/).join(' '));
	}
	const at = String(parameters.get(minute));
	if (kind === 'hourly') return scheduleOf(`${at} * * * *`);
	const time = `${at} ${String(parameters.get(hour))}`;
	if (kind === 'daily') return scheduleOf(`${time} * * *`);
	if (kind === 'weekly') return scheduleOf(`${time} * * ${parameters.get(weekday)}`);
	const day = parameters.get(dayOfMonth);
	if (day <= MIN_MONTH_DAYS) return scheduleOf(`${time} ${String(day)} * *`);
	// Shorter months use their last day, which a cron expression cannot say.
	const isDue = (date: Date) => isLastDayUpTo(day, date, timeZone);
	return { ...scheduleOf(`${time} ${String(MIN_MONTH_DAYS)}-${String(day)} * *`), isDue };
}

function scheduleOf(expression: string): Schedule {
	const stepSeconds = expression.split(' ').length > 5 ? 1 : 60;
	return {
		expression,
		isDue: () => true,
		roundDown: (time) => Math.floor(time.getTime() / 1000 / stepSeconds) * stepSeconds,
	};
}

/** Whether a date is on a day of the month, or on the last day of a month that is shorter. */
function isLastDayUpTo(day: number, date: Date, timeZone: string): boolean {
	// Without a time zone, n8n uses that of the process.
	const zone = timeZone === '' ? undefined : timeZone;
	const local = new Intl.DateTimeFormat('en-US', { timeZone: zone }).format(date);
	const [month = 0, today, year = 0] = local.split('/').map(Number);
	return today === Math.min(day, new Date(Date.UTC(year, month, 0)).getUTCDate());
}
