import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Fixture, SOON_ACTIVE, until } from '../fixture/fixture';
import { QueueFixture, ROLES } from '../fixture/queueFixture';
import { markdownTable } from '../table';
import { newCounts, watch, type Counts } from './watch';

const HELP = `Breaks a real n8n on purpose while a trigger works, and prints how many scrapes were lost, ran twice or were paid for
twice, as a table for docs/measurements/reliability.md.

  npm run drills [-- --rounds 100] [-- --only startCuts]

  --rounds  power cuts at a notification, and as many just after a start (default 100 each: about 90 minutes)
  --only    deliveryCuts, startCuts, or redisAway or postgresAway (queue mode, which needs Redis and PostgreSQL)
  --help    this text

N8N_VERSION=1 takes n8n 1.`;

/** Then another workflow is activated, so that the power is also cut soon after an activation. */
const ROUNDS_PER_WORKFLOW = 10;
const OUTAGE_MS = 60_000;
const RECOVERS_MS = 45_000;

/**
 * Kills n8n many times, each time soon after something has happened once more.
 * @param count how often it has happened
 * @param longestMs the cut comes within this time after it
 */
async function cutPower(
	rounds: number,
	count: (fixture: Fixture) => number,
	longestMs: number,
): Promise<Counts> {
	const fixture = new Fixture(SOON_ACTIVE);
	const counts = newCounts();
	const cut = async () => {
		const before = count(fixture);
		// The cron of n8n 1 may stop on a busy machine, until n8n starts again.
		await until('the next moment', () => count(fixture) > before).catch(console.log);
		await sleep(Math.random() * longestMs);
		await fixture.kill();
		await sleep(Math.random() * 2000);
		await fixture.start();
	};
	try {
		await fixture.open();
		for (let round = 0; round < rounds; round += ROUNDS_PER_WORKFLOW) {
			await watch(fixture, counts, async () => {
				const end = Math.min(rounds, round + ROUNDS_PER_WORKFLOW);
				for (let each = round; each < end; each++) await cut();
			});
			console.log(counts);
		}
		return counts;
	} finally {
		await fixture.close();
	}
}

/** Kills a server that queue mode needs, and starts it again after a minute. */
async function serverAway(name: 'redis' | 'postgres'): Promise<Counts> {
	const fixture = new QueueFixture(SOON_ACTIVE);
	const counts = newCounts();
	try {
		await fixture.open();
		await watch(fixture, counts, async () => {
			const { queue } = fixture;
			await sleep(12_000);
			await queue.killServer(name);
			await sleep(OUTAGE_MS);
			await queue.startServer(name);
			// n8n ends where it misses its servers for long. A service manager starts it again.
			for (const role of ROLES) await queue.start(role);
			await sleep(RECOVERS_MS);
		});
		return counts;
	} finally {
		await fixture.close();
	}
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			rounds: { type: 'string', default: '100' },
			only: { type: 'string' },
			help: { type: 'boolean' },
		},
	});
	const rounds = Number(values.rounds);
	const notifications = ({ sandbox }: Fixture) =>
		sandbox.jobs.reduce((sum, job) => sum + job.notifications.length, 0);
	const drills: Record<string, () => Promise<Counts>> = {
		// From the notification to the end of the run and its saving, it takes about half of that.
		deliveryCuts: () => cutPower(rounds, notifications, 600),
		startCuts: () => cutPower(rounds, ({ starts }) => starts, 1000),
		redisAway: () => serverAway('redis'),
		postgresAway: () => serverAway('postgres'),
	};
	const { only } = values;
	const names = Object.keys(drills).filter((name) => only === undefined || only === name);
	if (values.help || names.length === 0) {
		console.log(HELP);
		return;
	}
	for (const name of names) {
		const counts = await drills[name]?.();
		if (!counts) continue;
		console.log(markdownTable([{ Drill: name, ...counts }]));
		if (counts.lost + counts.doubled + counts.paidTwice > 0) process.exitCode = 1;
	}
}

void main();
