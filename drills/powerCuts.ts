import { setTimeout as sleep } from 'node:timers/promises';
import type { Field } from '../test/e2e/field';
import type { Outcome } from './drills';
import { Tally } from './tally';

/** n8n lists no more than a hundred executions at once, so each workflow lives for some rounds only. */
const ROUNDS_PER_WORKFLOW = 10;

/**
 * Kills n8n with SIGKILL at random moments, while a trigger starts a scrape every ten seconds and receives
 * the completions.
 */
export async function powerCuts(
	field: Field,
	rounds: number,
	random: () => number,
): Promise<Outcome> {
	const tally = new Tally();
	for (let round = 0; round < rounds; round += ROUNDS_PER_WORKFLOW) {
		await tally.while(field, async () => {
			for (let cut = round; cut < Math.min(rounds, round + ROUNDS_PER_WORKFLOW); cut++) {
				await sleep(500 + random() * 6000);
				await field.kill();
				await sleep(random() * 2000);
				await field.start();
				console.log(`power cut ${String(cut + 1)} of ${String(rounds)}`);
			}
		});
	}
	return tally.outcome(
		`${String(rounds)} power cuts of n8n (SIGKILL) while a trigger starts and receives scrapes`,
		'No completion is lost, no start is sent twice. A completion may come in twice if the cut falls between its run and writing it down.',
	);
}
