import { setTimeout as sleep } from 'node:timers/promises';
import { until, type Field } from '../test/e2e/field';
import { Tally, type Outcome } from './tally';

/** Then another workflow is activated, for cuts of a young one as well. */
const ROUNDS_PER_WORKFLOW = 10;
/** From the notification to the end of the run and its writing down it takes about half of this. */
const LONGEST_DELIVERY_MS = 600;

/** A drill of power cuts, each at another moment, while a trigger starts and receives scrapes. */
async function cutPower(
	field: Field,
	rounds: number,
	moment: () => Promise<void>,
	random: () => number,
): Promise<Tally> {
	const tally = new Tally();
	for (let round = 0; round < rounds; round += ROUNDS_PER_WORKFLOW) {
		await tally.while(field, async () => {
			for (let cut = round; cut < Math.min(rounds, round + ROUNDS_PER_WORKFLOW); cut++) {
				await moment();
				await field.kill();
				await sleep(random() * 2000);
				await field.start();
				console.log(`power cut ${String(cut + 1)} of ${String(rounds)}`);
			}
		});
	}
	return tally;
}

const PROMISE =
	'No completion is lost or comes in twice, no start is sent twice. A run that the cut catches is shown as failed, and can be retried.';

/** Kills n8n with SIGKILL at any moment. */
export async function powerCuts(
	field: Field,
	rounds: number,
	random: () => number,
): Promise<Outcome> {
	const anyMoment = async () => {
		await sleep(500 + random() * 6000);
	};
	const tally = await cutPower(field, rounds, anyMoment, random);
	return tally.outcome(
		`${String(rounds)} power cuts of n8n (SIGKILL) at any moment, while a trigger starts and receives scrapes`,
		PROMISE,
	);
}

/** Kills n8n where it is most delicate: just after the service has said that a scrape is finished. */
export async function deliveryCuts(
	field: Field,
	rounds: number,
	random: () => number,
): Promise<Outcome> {
	const justAfterANotification = async () => {
		const notified = () =>
			field.sandbox.jobs.reduce((count, { notifications }) => count + notifications.length, 0);
		const before = notified();
		await until('a notification', () => notified() > before, 60_000);
		await sleep(random() * LONGEST_DELIVERY_MS);
	};
	const tally = await cutPower(field, rounds, justAfterANotification, random);
	return tally.outcome(
		`${String(rounds)} power cuts within ${String(LONGEST_DELIVERY_MS)} ms after the notification of a completion`,
		PROMISE,
	);
}
