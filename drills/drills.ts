import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import packageJson from '../package.json';
import { ROOT, n8nVersion } from '../playground/n8n';
import { Field, LINE } from '../test/e2e/field';
import { bulk } from './bulk';
import { lookupDrills } from './lookups';
import { diskFull, serviceDown } from './outages';
import { deliveryCuts, powerCuts } from './powerCuts';

const HELP = `Breaks things on purpose around a real n8n, and counts what was lost, doubled or paid for twice.

  npm run drills [-- --rounds 50] [-- --seed 1]

  --rounds  power cuts while scrapes are started and delivered (default 50, of each of two kinds: about 40 minutes)
  --seed    decides the moments of the cuts (default 1)
  --only    lookups, bulk, serviceDown, diskFull (mounts a small disk, so it needs root), powerCuts
            or deliveryCuts
  --help    this text

N8N_VERSION=1 takes n8n 1. Writes docs/reliability.md for n8n 2 with all drills and 50 rounds or more.`;

/** What a drill promised, and what came of it. */
export interface Outcome {
	drill: string;
	promise: string;
	happened: string;
	lost: number;
	doubled: number;
	/** Calls that were paid for twice without a person asking twice. */
	paidTwice: number;
}

/** Repeatable numbers from 0 to 1. */
export function randomFrom(seed: number): () => number {
	let state = seed;
	return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function report(outcomes: Outcome[], rounds: number, seed: number): string {
	const rows = outcomes.map(({ drill, promise, happened, lost, doubled, paidTwice }) =>
		['', drill, promise, happened, lost, doubled, paidTwice, ''].join(' | ').trim(),
	);
	return `# Reliability

What happens to results and credits when things break: on a real n8n ${n8nVersion(LINE)} (SQLite), with
${packageJson.name} ${packageJson.version} and the [sandbox](../sandbox/README.md) of the service. By \`npm run drills\`
(twice ${String(rounds)} power cuts, seed ${String(seed)}) on ${new Date().toISOString().slice(0, 10)}.

| Drill | Promised | What happened | Lost | Doubled | Paid twice |
| --- | --- | --- | ---: | ---: | ---: |
${rows.join('\n')}

**Lost**: a finished scrape that ran no workflow and that nobody was told of, or an item without a result or an error.
(Told of: a start that a cut interrupted may have started a scrape; if that finishes while n8n is down, only the person can know.)
**Doubled**: a finished scrape that ran the workflow to its end more than once. **Paid twice**: a call that was sent again though the service
may have taken it, without a person running the workflow again.

What n8n itself loses with a power cut (the results of a run that is under way) is named in the drill, not counted as lost.
A run of the workflow that the cut caught is retried in n8n's list of executions, as a person would, and counted then. n8n 2 activates
workflows anew 10 seconds after a power cut here; its own default is two minutes (\`N8N_WORKFLOW_PUBLICATION_OUTBOX_LEASE_SECONDS\`).
Queue mode has its own tests: each process killed in turn, two webhook processes, 2,000 lookups on two workers (\`npm run test:e2e -- queue\`).
So have strangers: thousands of random requests to the production URLs, all answered, none of which runs or starts anything
(\`FUZZ_REQUESTS=10000 npm run test:e2e -- webhookFuzz\`).
`;
}

const ENV = {
	// n8n 2 activates a workflow after a power cut again when these have run out: two minutes by default.
	N8N_WORKFLOW_PUBLICATION_OUTBOX_LEASE_SECONDS: '10',
	N8N_WORKFLOW_PUBLICATION_OUTBOX_POLL_INTERVAL_MS: '2000',
};

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			rounds: { type: 'string', default: '50' },
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
	const field = new Field(ENV);
	const drills: Array<[name: string, run: () => Promise<Outcome>]> = [
		...lookupDrills.map((drill): (typeof drills)[number] => ['lookups', () => drill(field)]),
		['bulk', () => bulk(field)],
		['serviceDown', () => serviceDown(field)],
		['diskFull', () => diskFull(ENV)],
		['powerCuts', () => powerCuts(field, rounds, randomFrom(seed))],
		['deliveryCuts', () => deliveryCuts(field, rounds, randomFrom(seed))],
	];
	const outcomes: Outcome[] = [];
	try {
		await field.open();
		for (const [name, drill] of drills) {
			if (values.only !== undefined && values.only !== name) continue;
			const outcome = await drill();
			outcomes.push(outcome);
			console.log(outcome);
			await sleep(500);
		}
	} finally {
		await field.close();
	}
	const text = report(outcomes, rounds, seed);
	console.log(text);
	if (LINE === '2' && rounds >= 50 && values.only === undefined) {
		const file = join(ROOT, 'docs/reliability.md');
		const style = await resolveConfig(file);
		await writeFile(file, await format(text, { ...style, filepath: file }));
	}
	const bad = outcomes.filter(
		({ lost, doubled, paidTwice }) => lost + paidTwice + (LINE === '2' ? doubled : 0) > 0,
	);
	if (bad.length > 0) process.exitCode = 1;
}

void main();
