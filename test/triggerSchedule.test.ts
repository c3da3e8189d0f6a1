import fc from 'fast-check';
import { everyMonthOn, next, parseCron } from '../nodes/LeadGen/schedule/cron';

function nextOf(cron: string, zone: string, after: string, count = 1): string[] {
	const times: string[] = [];
	let time: number | undefined = Date.parse(after);
	for (let number = 0; number < count && time !== undefined; number++) {
		time = next(parseCron(cron), zone, time);
		if (time !== undefined) times.push(new Date(time).toISOString());
	}
	return times;
}

it.each([
	['0 9 * * *', 'UTC', '2026-03-01T08:59:59.999Z', ['2026-03-01T09:00:00.000Z']],
	['0 9 * * *', 'UTC', '2026-03-01T09:00:00.000Z', ['2026-03-02T09:00:00.000Z']],
	['0 9 * * 1-5', 'Europe/Berlin', '2026-03-06T12:00:00Z', ['2026-03-09T08:00:00.000Z']],
	['*/20 * * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', ['2026-01-01T00:10:00.000Z']],
	['30 0 1 jan *', 'America/New_York', '2026-01-02T00:00:00Z', ['2027-01-01T05:30:00.000Z']],
	['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00.000Z']],
	['0 0 13 * fri', 'UTC', '2026-02-10T00:00:00Z', ['2026-02-13T00:00:00.000Z']],
	['0 0 * * 7', 'UTC', '2026-02-10T00:00:00Z', ['2026-02-15T00:00:00.000Z']],
	['*/7 * * * * *', 'UTC', '2026-02-10T00:00:57Z', ['2026-02-10T00:01:00.000Z']],
	// Clocks go forward at 2:00: 2:30 is 3:30 on that day.
	['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-29T01:30:00.000Z']],
	// Clocks go back at 3:00: 2:30 comes twice and counts once.
	['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00.000Z']],
])('%s in %s after %s', (cron, zone, after, expected) => {
	expect(nextOf(cron, zone, after)).toEqual(expected);
});

it('starts every hour also while clocks change', () => {
	for (const after of ['2026-10-24T20:10:00Z', '2026-03-28T20:10:00Z']) {
		const times = nextOf('0 * * * *', 'Europe/Berlin', after, 10).map(Date.parse);
		const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
		expect(new Set(gaps)).toEqual(new Set([3_600_000]));
	}
	expect(nextOf('30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z')).toEqual([
		'2026-10-26T01:30:00.000Z',
	]);
});

it.each([
	['forward', '2026-03-29T01:00:00Z'],
	['back', '2026-10-25T01:00:00Z'],
])('comes every ten seconds also when clocks go %s', (_where, change) => {
	// Before and after the change, and at the ends of the local times that are left out or come twice.
	for (const hours of [-1, 0, 1, 2]) {
		const from = Date.parse(change) + hours * 3_600_000 - 35_000;
		const expected = [5, 15, 25, 35, 45, 55].map((seconds) =>
			new Date(from + seconds * 1000).toISOString(),
		);
		const after = new Date(from).toISOString();
		expect(nextOf('*/10 * * * * *', 'Europe/Berlin', after, 6)).toEqual(expected);
	}
});

it.each([
	// On the 29th, 2:30:30 is 3:30:30.
	['2026-03-27T12:00:00Z', ['2026-03-28T01:30:30', '2026-03-29T01:30:30', '2026-03-30T00:30:30']],
	// On the 25th, 2:30:30 comes twice and counts once.
	['2026-10-23T12:00:00Z', ['2026-10-24T00:30:30', '2026-10-25T00:30:30', '2026-10-26T01:30:30']],
	['2026-10-25T00:30:29.999Z', ['2026-10-25T00:30:30', '2026-10-26T01:30:30']],
	['2026-10-25T00:30:30Z', ['2026-10-26T01:30:30']],
])('comes once a day with seconds, also when clocks change: after %s', (after, expected) => {
	const times = nextOf('30 30 2 * * *', 'Europe/Berlin', after, expected.length);
	expect(times).toEqual(expected.map((time) => `${time}.000Z`));
});

it('takes the last day of a month that is shorter', () => {
	const days: string[] = [];
	let time = Date.parse('2026-01-01T00:00:00Z');
	for (let month = 0; month < 4; month++) {
		time = next(everyMonthOn(31, 9, 0), 'UTC', time) ?? 0;
		days.push(new Date(time).toISOString().slice(5, 16));
	}
	expect(days).toEqual(['01-31T09:00', '02-28T09:00', '03-31T09:00', '04-30T09:00']);
});

it('is always later, and at a minute of the expression', () => {
	const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe');
	const minute = fc.integer({ min: 0, max: 59 });
	const hour = fc.integer({ min: 0, max: 23 });
	const after = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2034, 0) });
	fc.assert(
		fc.property(zones, minute, hour, after, (zone, wanted, at, from) => {
			const time = next(parseCron(`${String(wanted)} ${String(at)} * * *`), zone, from) ?? 0;
			// Two changes of the clock are the most that a day can be away.
			return time > from && time - from <= 26 * 3_600_000 && time % 60_000 === 0;
		}),
	);
});

it.each(
	['', '* * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '5-1 * * * *'].concat(
		...[
			'*/0 * * * *',
			'1-5-7 * * * *',
			'*-3 * * * *',
			'a * * * *',
			'0 0 30 2 *',
			'* * * * 8',
			'1,,2 * * * *',
			'* * * * * * *',
		],
	),
)('refuses %j', (cron) => {
	expect(() => parseCron(cron)).toThrow(/Cron Expression/);
});
