import type { Parameters } from '../common/parameters';
import * as field from './scheduleFields';

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
	const kind = parameters.get(field.schedule);
	if (kind === 'once') return undefined;
	if (kind === 'cron') {
		return scheduleOf(parameters.get(field.cronExpression).trim().split(/\s+/).join(' '));
	}
	const minute = String(parameters.get(field.minute));
	if (kind === 'hourly') return scheduleOf(`${minute} * * * *`);
	const time = `${minute} ${String(parameters.get(field.hour))}`;
	if (kind === 'daily') return scheduleOf(`${time} * * *`);
	if (kind === 'weekly') return scheduleOf(`${time} * * ${parameters.get(field.weekday)}`);
	const day = parameters.get(field.dayOfMonth);
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
