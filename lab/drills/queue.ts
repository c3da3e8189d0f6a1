import { setTimeout as sleep } from 'node:timers/promises';
import type { Role, ServerName } from '../playground/queue';
import { QueueFixture } from '../fixture/queueFixture';
import { Tally, type Outcome } from './tally';

const AWAY_MS = 60_000;
const RECOVERS_MS = 45_000;
/** n8n's main processes elect another leader ten seconds after the last one is gone. */
const ELECTED_MS = 10_000;
/** The second main process follows the first one. */
const FOLLOWER = 'main2';
const PROCESSES = ['main', FOLLOWER, 'webhook1', 'worker1', 'worker2'] as const satisfies Role[];

/** What is taken away for a minute, and what people call it. */
const PARTS: Array<[name: string, parts: Array<Role | ServerName>]> = [
	['the webhook process', ['webhook1']],
	['both workers', ['worker1', 'worker2']],
	['Redis', ['redis']],
	['PostgreSQL', ['postgres']],
	// The last one, because the other main process leads from then on.
	['the leading main process', ['main']],
];

const isServer = (part: Role | ServerName): part is ServerName =>
	part === 'redis' || part === 'postgres';

/** Kills each part of queue mode with two main processes in turn, and starts it again after a minute. */
export async function queueMode(env: Record<string, string>): Promise<Outcome[]> {
	const fixture = new QueueFixture(env);
	const outcomes: Outcome[] = [];
	try {
		await fixture.open();
		await fixture.queue.start(FOLLOWER, true);
		for (const [name, parts] of PARTS) {
			console.log(`without ${name}`);
			const tally = new Tally();
			await tally.while(fixture, () => takeAway(fixture, parts, tally.cuts));
			outcomes.push(
				tally.outcome(
					`Queue mode: ${name} killed, and away for a minute`,
					'No completion is lost or comes in twice, no start is sent twice',
				),
			);
		}
	} finally {
		await fixture.close();
	}
	return outcomes;
}

async function takeAway(
	fixture: QueueFixture,
	parts: Array<Role | ServerName>,
	cuts: number[],
): Promise<void> {
	const { queue } = fixture;
	const follows = parts.includes('main') ? 'main' : FOLLOWER;
	await sleep(12_000);
	cuts.push(Date.now());
	for (const part of parts) await (isServer(part) ? queue.killServer(part) : queue.kill(part));
	if (follows === 'main') {
		await sleep(ELECTED_MS);
		await queue.setRole(FOLLOWER, 'leader');
		await fixture.turnTo(FOLLOWER);
	}
	await sleep(AWAY_MS);
	for (const part of parts) if (isServer(part)) await queue.startServer(part);
	// n8n ends where it misses its servers for long. A service manager starts it again.
	for (const role of PROCESSES) await queue.start(role, role === follows);
	await sleep(RECOVERS_MS);
}
