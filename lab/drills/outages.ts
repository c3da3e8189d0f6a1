import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture, SOON_ACTIVE } from '../fixture/fixture';
import { QueueFixture, ROLES } from '../fixture/queueFixture';
import type { ServerName } from '../playground/queue';
import { Tally, type Outcome } from './tally';

const OUTAGE_MS = 60_000;
const RECOVERS_MS = 45_000;

/** The disk with n8n's database is full for a minute. Needs the right to mount a small one. */
export async function diskFull(): Promise<Outcome> {
	const disk = mkdtempSync(join(tmpdir(), 'leadgen-disk-'));
	execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]);
	const DB_SQLITE_DATABASE = join(disk, 'database.sqlite');
	const fixture = new Fixture({ ...SOON_ACTIVE, DB_SQLITE_DATABASE });
	const tally = new Tally();
	try {
		await fixture.open();
		const disturb = async () => {
			await sleep(10_000);
			while (fixture.sandbox.jobs.at(-1)?.status === 'completed') await sleep(50);
			const ballast = join(disk, 'ballast');
			const { bavail, bsize } = statfsSync(disk);
			writeFileSync(ballast, Buffer.alloc(bavail * bsize));
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

/** Kills a server that queue mode needs, and starts it again after a minute. */
export async function serverAway(name: ServerName): Promise<Outcome> {
	const fixture = new QueueFixture(SOON_ACTIVE);
	const tally = new Tally();
	try {
		await fixture.open();
		await tally.while(fixture, async () => {
			const { queue } = fixture;
			await sleep(12_000);
			tally.cuts.push(Date.now());
			await queue.killServer(name);
			await sleep(OUTAGE_MS);
			await queue.startServer(name);
			// n8n ends where it misses its servers for long. A service manager starts it again.
			for (const role of ROLES) await queue.start(role);
			await sleep(RECOVERS_MS);
		});
	} finally {
		await fixture.close();
	}
	return tally.outcome(
		`Queue mode: ${name} killed, and away for a minute`,
		'No completion is lost or comes in twice, no start is sent twice',
	);
}
