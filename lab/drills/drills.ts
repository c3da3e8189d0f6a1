import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json';
import { writeSection } from '../playground/page';
import { Fixture, LINE, N8N, SOON_ACTIVE } from '../fixture/fixture';
import { largeLists } from './largeLists';
import { lookupDrills } from './lookups';
import { diskFull, serviceDown } from './outages';
import { deliveryCuts, startCuts } from './powerCuts';
import { queueMode } from './queue';
import type { Outcome } from './tally';

const HELP = `Breaks things on purpose around a real n8n, and counts what was lost, doubled or paid for twice.

  npm run drills [-- --rounds 100] [-- --seed 1]

  --rounds  power cuts at a notification, and as many just after a start (default 100 each: about 90 minutes)
  --rows    people in the large lists (default 6,000: about 10 minutes for each list)
  --seed    decides the moments of the cuts (default 1)
  --only    lookups, serviceDown, diskFull (mounts a small disk, so it needs root), deliveryCuts,
            startCuts, queue (needs Redis and PostgreSQL) or largeLists (needs PostgreSQL)
  --help    this text

N8N_VERSION=1 takes n8n 1. With all drills and 50 rounds or more it writes its section of docs/measurements/reliability.md.`;

function report(outcomes: Outcome[], rounds: number, seed: number): string {
	const rows = outcomes.map(({ drill, promise, happened, lost, doubled, paidTwice }) =>
		['', drill, promise, happened, lost, doubled, paidTwice, ''].join(' | ').trim(),
	);
	const date = new Date().toISOString().slice(0, 10);
	return `## n8n ${N8N.version}

${packageJson.name} ${packageJson.version}, on ${date}: \`npm run drills\`, with two drills of ${String(rounds)} power cuts each and seed ${String(seed)}.

| Drill | Promised | What happened | Lost | Doubled | Paid twice |
| --- | --- | --- | ---: | ---: | ---: |
${rows.join('\n')}
`;
}

/** Repeatable numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
	let state = seed;
	return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			rounds: { type: 'string', default: '100' },
			rows: { type: 'string', default: '6000' },
			seed: { type: 'string', default: '1' },
			only: { type: 'string' },
			help: { type: 'boolean' },
		},
	});
	if (values.help) {
		console.log(HELP);
		return;
	}
	const rounds = Number(values.rounds);
	const seed = Number(values.seed);
	const fixture = new Fixture(SOON_ACTIVE);
	const drills: Array<[name: string, run: () => Promise<Outcome | Outcome[]>]> = [
		...lookupDrills.map((drill): (typeof drills)[number] => ['lookups', () => drill(fixture)]),
		['serviceDown', () => serviceDown(fixture)],
		['diskFull', () => diskFull(SOON_ACTIVE)],
		['deliveryCuts', () => deliveryCuts(fixture, rounds, randomFrom(seed))],
		['startCuts', () => startCuts(fixture, rounds, randomFrom(seed))],
		['queue', () => queueMode(SOON_ACTIVE)],
		['largeLists', () => largeLists(Number(values.rows), randomFrom(seed))],
	];
	const outcomes: Outcome[] = [];
	try {
		await fixture.open();
		for (const [name, drill] of drills) {
			if (values.only !== undefined && values.only !== name) continue;
			const some = [await drill()].flat();
			outcomes.push(...some);
			console.log(some);
			await sleep(500);
		}
	} finally {
		await fixture.close();
	}
	const text = report(outcomes, rounds, seed);
	console.log(text);
	if (rounds >= 50 && values.only === undefined) {
		await writeSection('docs/measurements/reliability.md', `## n8n ${LINE}.`, text);
	}
	const bad = outcomes.filter(({ lost, doubled, paidTwice }) => lost + doubled + paidTwice > 0);
	if (bad.length > 0) process.exitCode = 1;
}

void main();
