import { InputError } from '../service/errors';
import { show } from '../parameters';

/** When to start: the values that each part of the local time may have. */
export interface Schedule {
	seconds: number[];
	minutes: number[];
	hours: number[];
	days: number[];
	months: number[];
	weekdays: number[];
	/** Whether both a day and a weekday are given. Then one of them is enough, as in every cron. */
	eitherDay: boolean;
	/** Whether the last day of a month counts if the month is shorter than the given day. */
	lastDayCounts: boolean;
}

interface Part {
	name: string;
	from: number;
	to: number;
	names?: string[];
}

const SECOND: Part = { name: 'second', from: 0, to: 59 };
const PARTS: Part[] = [
	{ name: 'minute', from: 0, to: 59 },
	{ name: 'hour', from: 0, to: 23 },
	{ name: 'day of the month', from: 1, to: 31 },
	{
		name: 'month',
		from: 1,
		to: 12,
		names: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun'].concat(
			...['jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
		),
	},
	{
		name: 'weekday',
		from: 0,
		to: 7,
		names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
	},
];

/**
 * Reads a cron expression of five parts, or of six parts with seconds first.
 * @throws InputError that names the invalid part
 */
export function parseCron(text: string): Schedule {
	const parts = text.trim().split(/\s+/);
	if (parts.length !== 5 && parts.length !== 6) {
		throw cronError(text, 'must have five parts, or six with seconds');
	}
	const [second = '0', ...rest] = parts.length === 6 ? parts : ['0', ...parts];
	const [minutes, hours, days, months, weekdays] = PARTS.map((part, index) =>
		parsePart(rest[index] ?? '*', part, text),
	);
	const schedule = {
		seconds: parsePart(second, SECOND, text),
		minutes: minutes ?? [],
		hours: hours ?? [],
		days: days ?? [],
		months: months ?? [],
		weekdays: (weekdays ?? []).map((day) => day % 7),
		eitherDay: !/^[*?]/.test(rest[2] ?? '*') && !/^[*?]/.test(rest[4] ?? '*'),
		lastDayCounts: false,
	};
	if (next(schedule, 'UTC', Date.UTC(2024, 0)) === undefined) {
		throw cronError(text, 'describes a date that never occurs');
	}
	return schedule;
}

function parsePart(text: string, part: Part, whole: string): number[] {
	const values = new Set<number>();
	for (const piece of text.toLowerCase().split(',')) {
		const [, range = '', step] = /^([^/]+)(?:\/(\d+))?$/.exec(piece) ?? [];
		const [first = '', last, more] = range === '?' ? ['*'] : range.split('-');
		const from = first === '*' ? part.from : toNumber(first, part);
		const isOpen = first === '*' || (last === undefined && step !== undefined);
		const to = isOpen ? part.to : last === undefined ? from : toNumber(last, part);
		const by = step === undefined ? 1 : Number(step);
		const isOdd = more !== undefined || (first === '*' && last !== undefined);
		if (isOdd || !(from >= part.from && to <= part.to && from <= to && by >= 1)) {
			throw cronError(whole, `has an invalid ${part.name}: ${show(text)}`);
		}
		for (let value = from; value <= to; value += by) values.add(value);
	}
	return [...values].sort((a, b) => a - b);
}

function toNumber(text: string, { names }: Part): number {
	const named = names?.indexOf(text) ?? -1;
	return named >= 0 && text !== '' ? named : /^\d+$/.test(text) ? Number(text) : NaN;
}

function cronError(text: string, problem: string): InputError {
	return new InputError(
		'Cron Expression',
		`${problem} (${show(text)})`,
		'Enter minute, hour, day of the month, month and weekday, such as 0 9 * * 1-5 for 9:00 from Monday to Friday.',
	);
}

export function everyMonthOn(day: number, hour: number, minute: number): Schedule {
	const schedule = parseCron(`${String(minute)} ${String(hour)} * * *`);
	return { ...schedule, days: [day], lastDayCounts: true };
}

const DAY_MS = 86_400_000;
/** Eight years contain a 29 February at least once, even around 2100. */
const MOST_DAYS = 8 * 366 + 1;

/**
 * The first scheduled time after `after` (milliseconds since 1970), in the local time of a zone. When clocks go
 * forward, a skipped time moves forward by the same amount. When they go back, a time that occurs twice counts once,
 * unless the schedule is for every hour.
 */
export function next(schedule: Schedule, timeZone: string, after: number): number | undefined {
	const offset = offsetsOf(timeZone);
	const today = Math.floor((after + offset(after)) / DAY_MS) * DAY_MS;
	for (let ahead = -1; ahead < MOST_DAYS; ahead++) {
		const day = today + ahead * DAY_MS;
		if (!isDay(schedule, day)) continue;
		const offsets = [-1, 0, 1, 2].map((days) => offset(day + days * DAY_MS));
		const [least, most] = [Math.min(...offsets), Math.max(...offsets)];
		let found: number | undefined;
		for (const local of timesOf(schedule, day)) {
			// A day with a clock change may have 86,400 times, and each one takes a while to calculate.
			if (local - least <= after) continue;
			if (local - most > (found ?? Infinity)) break;
			const times =
				least === most ? [local - least] : instants(local, offset, schedule.hours.length === 24);
			for (const time of times) {
				if (time > after && time < (found ?? Infinity)) found = time;
			}
		}
		if (found !== undefined) return found;
	}
	return undefined;
}

function* timesOf({ hours, minutes, seconds }: Schedule, day: number): Generator<number> {
	for (const hour of hours) {
		for (const minute of minutes) {
			for (const second of seconds) yield day + ((hour * 60 + minute) * 60 + second) * 1000;
		}
	}
}

/** @param local midnight of the day, as if it were UTC */
function isDay(schedule: Schedule, local: number): boolean {
	const date = new Date(local);
	const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
	if (!schedule.months.includes(month + 1)) return false;
	const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
	const isLast = schedule.lastDayCounts && day === length;
	const byDay = schedule.days.some((wanted) => wanted === day || (isLast && wanted > day));
	const byWeekday = schedule.weekdays.includes(date.getUTCDay());
	return schedule.eitherDay ? byDay || byWeekday : byDay && byWeekday;
}

type Offset = (time: number) => number;

/** Returns how far local time is ahead of UTC, in milliseconds. */
function offsetsOf(timeZone: string): Offset {
	const format = new Intl.DateTimeFormat('en-US', {
		timeZone,
		hourCycle: 'h23',
		year: 'numeric',
		month: 'numeric',
		day: 'numeric',
		hour: 'numeric',
		minute: 'numeric',
		second: 'numeric',
	});
	return (time) => {
		const parts = format.formatToParts(time);
		const part = (type: Intl.DateTimeFormatPartTypes) =>
			Number(parts.find((each) => each.type === type)?.value);
		const seconds = Math.floor(time / 1000) * 1000;
		return (
			Date.UTC(
				part('year'),
				part('month') - 1,
				part('day'),
				part('hour'),
				part('minute'),
				part('second'),
			) - seconds
		);
	};
}

/** The points in time that a local time may mean when clocks change. */
function instants(local: number, offset: Offset, both: boolean): number[] {
	const [before, after] = [offset(local - DAY_MS), offset(local + DAY_MS)];
	const times = [...new Set([before, after])]
		.map((ahead) => local - ahead)
		.filter((time) => offset(time) === local - time)
		.sort((a, b) => a - b);
	if (times.length === 0) return [local - before];
	return both ? times : times.slice(0, 1);
}
