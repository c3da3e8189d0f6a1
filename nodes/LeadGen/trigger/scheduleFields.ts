import { choiceField, numberField, textField, type Field } from '../common/parameters';

export const schedule = choiceField(
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

export const dayOfMonth = clockField(
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

export const weekday = choiceField(
	{
		displayName: 'Day of the Week',
		name: 'triggerAtWeekday',
		displayOptions: { show: { schedule: ['weekly'] } },
	},
	WEEKDAYS,
	'1',
);

const LOCAL = 'Hour of the day, 0 to 23, in the time zone from the workflow settings';

export const hour = clockField(
	'Hour',
	'triggerAtHour',
	[0, 23, 9],
	['daily', 'weekly', 'monthly'],
	LOCAL,
);

export const minute = clockField(
	'Minute',
	'triggerAtMinute',
	[0, 59, 0],
	['hourly', 'daily', 'weekly', 'monthly'],
	'Minute of the hour, 0 to 59',
);

export const cronExpression = textField({
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
