import { parseArgs } from 'node:util';
import packageJson from '../../package.json';
import { LINE, N8N } from '../fixture/fixture';
import { writeSection } from '../playground/page';
import { diskFull, serverAway } from './outages';
import { AT_DELIVERY, AT_START, cutPower } from './powerCuts';
import type { Outcome } from './tally';

const HELP = `Breaks a real n8n on purpose while a trigger works, and counts what was lost, doubled or paid for twice.

  npm run drills [-- --rounds 100] [-- --seed 1]

  --rounds  power cuts at a notification, and as many just after a start (default 100 each: about 90 minutes)
  --seed    decides the moments of the cuts (default 1)
  --only    deliveryCuts, startCuts, diskFull (mounts a small disk, so it needs root), or
            redisAway or postgresAway (queue mode, which needs Redis and PostgreSQL)
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
	const drills: Record<string, () => Promise<Outcome>> = {
		deliveryCuts: () => cutPower(AT_DELIVERY, rounds, randomFrom(seed)),
		startCuts: () => cutPower(AT_START, rounds, randomFrom(seed)),
		diskFull,
		redisAway: () => serverAway('redis'),
		postgresAway: () => serverAway('postgres'),
	};
	const outcomes: Outcome[] = [];
	for (const [name, drill] of Object.entries(drills)) {
		if (values.only === undefined || values.only === name) outcomes.push(await drill());
	}
	const text = report(outcomes, rounds, seed);
	console.log(text);
	if (rounds >= 50 && values.only === undefined) {
		await writeSection('docs/measurements/reliability.md', `## n8n ${LINE}.`, text);
	}
	const isBad = ({ lost, doubled, paidTwice }: Outcome) => lost + doubled + paidTwice > 0;
	if (outcomes.some(isBad)) process.exitCode = 1;
}

void main();
