import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture, SOON_ACTIVE, until } from '../fixture/fixture';
import { Tally, type Outcome } from './tally';

/** Then another workflow is activated, so that the power is also cut soon after an activation. */
const ROUNDS_PER_WORKFLOW = 10;
const PROMISE =
	'No completion comes in twice, and no start is sent twice, also if everything that failed is retried. A completion is lost only if the notification came while n8n was down, and the cut was within a second of the answer to the start; a crashed execution tells it.';

interface Moment {
	what: string;
	/** How often it has come. */
	count: (fixture: Fixture) => number;
	/** The cut comes within this time after it. */
	longestMs: number;
}

export const AT_DELIVERY: Moment = {
	what: 'a notification',
	count: ({ sandbox }) =>
		sandbox.jobs.reduce((sum, { notifications }) => sum + notifications.length, 0),
	// From the notification to the end of the run and its saving, it takes about half of that.
	longestMs: 600,
};
export const AT_START: Moment = {
	what: 'POST /start',
	count: ({ starts }) => starts,
	longestMs: 1000,
};

/** Kills n8n soon after something happened, many times, while a trigger starts and receives scrapes. */
export async function cutPower(
	{ what, count, longestMs }: Moment,
	rounds: number,
	random: () => number,
): Promise<Outcome> {
	const fixture = new Fixture(SOON_ACTIVE);
	const tally = new Tally();
	try {
		await fixture.open();
		for (let round = 0; round < rounds; round += ROUNDS_PER_WORKFLOW) {
			await tally.while(fixture, async () => {
				for (let cut = round; cut < Math.min(rounds, round + ROUNDS_PER_WORKFLOW); cut++) {
					const before = count(fixture);
					// The cron of n8n 1 may stop on a busy machine, until n8n starts again.
					await until(what, () => count(fixture) > before, 60_000).catch(console.log);
					await sleep(random() * longestMs);
					tally.cuts.push(Date.now());
					await fixture.kill();
					await sleep(random() * 2000);
					await fixture.start();
					console.log(`power cut ${String(cut + 1)} of ${String(rounds)}`);
				}
			});
		}
	} finally {
		await fixture.close();
	}
	const drill = `${String(rounds)} power cuts (SIGKILL) within ${String(longestMs)} ms of ${what}; the service notifies once`;
	return tally.outcome(drill, PROMISE);
}
