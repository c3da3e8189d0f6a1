import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Fixture, SOON_ACTIVE, until } from '../fixture/fixture';
import { markdownTable } from '../table';
import { watch } from './watch';

const HELP = `Breaks a real n8n on purpose while a trigger works, and prints how many scrapes were lost, ran twice or were paid for
twice, as a table for docs/measurements/reliability.md.

  npm run drills [-- --rounds 100] [-- --only startCuts]

  --rounds  power cuts at a notification, and as many just after a start (default 100 each: about 90 minutes)
  --only    deliveryCuts or startCuts
  --help    this text

N8N_VERSION=1 takes n8n 1.`;

/** Then another workflow is activated, so that the power is also cut soon after an activation. */
const ROUNDS_PER_WORKFLOW = 10;

interface Drill {
	/** How often something has happened so far. */
	count: (fixture: Fixture) => number;
	/** Once it has happened again, the cut comes within this time. */
	longestMs: number;
}

const DRILLS: Record<string, Drill> = {
	deliveryCuts: {
		count: ({ sandbox }) => sandbox.jobs.flatMap(({ notifications }) => notifications).length,
		// From the notification to the end of the run and its saving, it takes about half of that.
		longestMs: 600,
	},
	startCuts: { count: ({ starts }) => starts, longestMs: 1000 },
};

/** Kills n8n again and again. @returns what became of the scrapes */
async function cutPower(rounds: number, { count, longestMs }: Drill) {
	const fixture = new Fixture(SOON_ACTIVE);
	const total: Record<string, number> = {};
	const cut = async () => {
		const before = count(fixture);
		// The cron of n8n 1 may stop on a busy machine, until n8n starts again.
		await until('the next moment', () => count(fixture) > before, 60_000).catch(console.log);
		await sleep(Math.random() * longestMs);
		await fixture.kill();
		await sleep(Math.random() * 2000);
		await fixture.start();
	};
	try {
		await fixture.open();
		for (let round = 0; round < rounds; round += ROUNDS_PER_WORKFLOW) {
			const counts = await watch(fixture, async () => {
				const end = Math.min(rounds, round + ROUNDS_PER_WORKFLOW);
				for (let each = round; each < end; each++) await cut();
			});
			for (const [what, times] of Object.entries(counts)) total[what] = (total[what] ?? 0) + times;
			console.log(total);
		}
		return total;
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
	const { rounds, only, help } = values;
	const drills = Object.entries(DRILLS).filter(([name]) => only === undefined || only === name);
	if (help || drills.length === 0) {
		console.log(HELP);
		return;
	}
	for (const [name, drill] of drills) {
		const counts = await cutPower(Number(rounds), drill);
		console.log(markdownTable([{ Drill: name, ...counts }]));
		const { lost = 0, doubled = 0, paidTwice = 0 } = counts;
		if (lost + doubled + paidTwice > 0) process.exitCode = 1;
	}
}

void main();
