import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture, until } from '../fixture/fixture';
import { Tally, type Outcome } from './tally';

const OUTAGE_MS = 60_000;

/** The service refuses connections for a minute, while a trigger starts and receives scrapes. */
export async function serviceDown(fixture: Fixture): Promise<Outcome> {
	const tally = new Tally();
	await tally.while(fixture, async () => {
		await sleep(12_000);
		await fixture.sandbox.goDown();
		await sleep(OUTAGE_MS);
		await fixture.sandbox.comeBack();
		// A start is tried again after 5, 10, 20, 40 seconds and so on.
		const before = fixture.starts;
		await until('a start', () => fixture.starts > before, 3 * OUTAGE_MS);
		await sleep(30_000);
	});
	return tally.outcome(
		'The service is down for a minute, while a trigger starts and receives scrapes',
		'No completion is lost, and no start is sent twice; each start that is due meanwhile is sent once, afterwards',
	);
}

/** The disk with n8n's database is full for a minute. Needs the right to mount a small one. */
export async function diskFull(env: Record<string, string>): Promise<Outcome> {
	const disk = mkdtempSync(join(tmpdir(), 'leadgen-disk-'));
	execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]);
	const fixture = new Fixture({ ...env, DB_SQLITE_DATABASE: join(disk, 'database.sqlite') });
	const tally = new Tally();
	try {
		await fixture.open();
		const untilOneRuns = async () => {
			while (fixture.sandbox.jobs.at(-1)?.status === 'completed') await sleep(50);
		};
		const disturb = async () => {
			await sleep(10_000);
			await untilOneRuns();
			const ballast = join(disk, 'ballast');
			fill(disk, ballast);
			await untilNothingCanBeWritten(fixture);
			console.log('the disk is full');
			await sleep(OUTAGE_MS);
			rmSync(ballast);
			await sleep(30_000);
		};
		await tally.while(fixture, disturb, 8000);
	} finally {
		await fixture.close();
		execFileSync('umount', [disk]);
		rmSync(disk, { recursive: true });
	}
	return tally.outcome(
		'The disk of n8n is full for a minute, while a trigger starts and receives scrapes',
		'No start is sent that cannot be recorded first; completions run the workflow when there is room again',
	);
}

/** SQLite has some room of its own, which takes more than a minute's work to use up. */
async function untilNothingCanBeWritten(fixture: Fixture): Promise<void> {
	for (let size = 100_000; size >= 1;) {
		const filters = { jobTitles: ['x'.repeat(size)] };
		await fixture.create(fixture.trigger({ filters })).catch(() => (size = Math.floor(size / 10)));
	}
}

function fill(disk: string, file: string): void {
	const { bavail, bsize } = statfsSync(disk);
	writeFileSync(file, Buffer.alloc(bavail * bsize));
}
