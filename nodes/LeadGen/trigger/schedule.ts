import { choiceField, numberField, textField, type Parameters } from '../common/parameters';

const schedule = choiceField(
	{
		displayName: 'How Often',
		name: 'schedule',
		description:
			'When to start scrapes. "Once" starts one when you publish or activate the workflow. Anything else starts none then, but one at each due time.',
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

/** @param schedules for which the field is shown @param range the smallest value, the greatest, and the default */
function clockField(displayName: string, name: string, range: number[], schedules: string) {
	const [minValue = 0, maxValue = 0, first = 0] = range;
	return numberField(
		{
			displayName,
			name,
			typeOptions: { minValue, maxValue },
			default: first,
			displayOptions: { show: { schedule: schedules.split(' ') } },
			description: `From ${String(minValue)} to ${String(maxValue)}, in the time zone from the workflow settings`,
		},
		{ whole: true },
	);
}

const dayOfMonth = clockField('Day of the Month', 'triggerAtDayOfMonth', [1, 31, 1], 'monthly');
const hour = clockField('Hour', 'triggerAtHour', [0, 23, 9], 'daily weekly monthly');
const minute = clockField('Minute', 'triggerAtMinute', [0, 59, 0], 'hourly daily weekly monthly');

const isWeekly = { show: { schedule: ['weekly'] } };
const weekday = choiceField(
	{ displayName: 'Day of the Week', name: 'triggerAtWeekday', displayOptions: isWeekly },
	'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'
		.split(' ')
		.map((name, at) => ({ name, value: String((at + 1) % 7) })),
	'1',
);

const cronExpression = textField({
	displayName: 'Cron Expression',
	name: 'cronExpression',
	required: true,
	placeholder: 'e.g. 0 9 * * 1-5',
	displayOptions: { show: { schedule: ['cron'] } },
	description:
		'Minute, hour, day of the month, month and weekday, in the time zone of the workflow. A sixth field in front stands for seconds.',
});

export const scheduleFields = [schedule, cronExpression, dayOfMonth, weekday, hour, minute];

/**
 * When to start scrapes, as a cron expression with five parts, or six with seconds first, which n8n judges.
 * @returns undefined to start only once @throws InputError if another parameter is invalid
 */
export function readSchedule(parameters: Parameters): string | undefined {
	const kind = parameters.get(schedule);
	if (kind === 'once') return undefined;
	if (kind === 'cron') return parameters.get(cronExpression).trim().split(/\s+/).join(' ');
	const at = String(parameters.get(minute));
	if (kind === 'hourly') return `${at} * * * *`;
	const time = `${at} ${String(parameters.get(hour))}`;
	if (kind === 'daily') return `${time} * * *`;
	if (kind === 'weekly') return `${time} * * ${parameters.get(weekday)}`;
	return `${time} ${String(parameters.get(dayOfMonth))} * *`;
}

/** How late n8n's cron may be: by the hour that clocks skip in spring. Timers may fire a moment too early. */
const [MAX_LATE_MINUTES, EARLY_MS] = [60, 500];

/**
 * The attempt for a due time: the local time of the schedule that it stands for, so that a local time that clocks
 * repeat starts one scrape. Later ones are greater. When clocks go back, n8n 2's cron also fires an hour too early.
 * @returns undefined if the schedule has no such time
 */
export function attemptAt(time: Date, expression: string, timeZone: string): string | undefined {
	const format = { dateStyle: 'short', timeStyle: 'medium' } as const;
	// Without a time zone, n8n uses that of the process.
	const zone = timeZone === '' ? undefined : timeZone;
	const local = new Intl.DateTimeFormat('sv', { ...format, timeZone: zone });
	const [date = '', clock = ''] = local.format(time.getTime() + EARLY_MS).split(' ');
	const [hours = 0, minutes = 0] = clock.split(':').map(Number);
	const now = 60 * hours + minutes;
	const fields = expression.split(' ');
	const [minuteField = '*', hourField = '*'] = fields.length < 5 ? [] : fields.slice(-5);
	const slots = (hourField === '*' ? [hours] : numbersIn(hourField, 23))
		.flatMap((each) => numbersIn(minuteField, 59).map((at) => 60 * each + at))
		.filter((slot) => slot <= now && slot >= now - MAX_LATE_MINUTES);
	if (slots.length === 0) return undefined;
	const slot = String(Math.max(...slots)).padStart(4, '0');
	const seconds = fields.length > 5 ? clock.slice(-2) : '';
	return `s${date}${slot}${seconds}${timeZone}`.toLowerCase().replace(/[^0-9a-z]/g, '');
}

/** What a field of a cron expression stands for, such as `1,3`, `9-17` or `0/15`. @param most the greatest number */
function numbersIn(field: string, most: number): number[] {
	return field.split(',').flatMap((part) => {
		const [range = '', step] = part.split('/');
		const [from = 0, to = step === undefined ? from : most] =
			range === '*' ? [0, most] : range.split('-').map(Number);
		const all = Array.from({ length: most + 1 }, (_, each) => each);
		return all.filter(
			(each) => each >= from && each <= to && (each - from) % Number(step ?? 1) === 0,
		);
	});
}
