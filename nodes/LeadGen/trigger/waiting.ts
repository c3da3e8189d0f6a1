import { show } from '../common/parameters';
import { pause } from '../common/pause';
import { LeadGenError } from '../common/errors';
import type { Executing } from './node';
import type { Told } from './nodeMemory';
import { Ended, isRefused } from './notices';
import { tell } from './ownUrl';
import { scrapeIdOf } from './running';
import { findScrape, type FoundScrape } from './scrape';

/** The status may lag behind the notification, and a notification may come before the end. */
const MAX_WAIT_MS = 10 * 60_000;
const PAUSE_MS = 3000;
/**
 * Of several deliveries for a scrape, the best one runs the workflow: each waits for those that may be better. A step is
 * longer than the pause between two looks at the status.
 */
const STEP_MS = PAUSE_MS + 1000;
/** How long a poll leaves the notification the precedence. */
export const POLL_WAIT_MS = 4 * STEP_MS;

/**
 * Requests the status of a scrape until it is finished, and leaves better deliveries the precedence.
 * @param named IDs that the notification names, if the answer to the start never comes
 * @throws LeadGenError if the status cannot be had in time
 */
export async function untilFinished(
	node: Executing,
	told: Told,
	named: string[],
): Promise<FoundScrape | Ended> {
	const signal = node.context.getExecutionCancelSignal();
	const end = Date.now() + MAX_WAIT_MS;
	for (let isFirst = true; ; isFirst = false) {
		node.memory.begin(told);
		const isLast = Date.now() > end;
		const scrape = await find(node, told, named).catch((error: unknown) => {
			if (isLast || isRefused(error)) throw error;
			return undefined;
		});
		if (scrape?.isFinished) {
			if (!isFirst) await pause(rankOf(told) * STEP_MS, signal);
			return scrape;
		}
		if (isLast) return notFinished(told, scrape);
		await pause(PAUSE_MS, signal);
	}
}

/** Those with leads come first, then those that say that the scrape is finished. */
function rankOf({ leads, isFinal }: Told): number {
	if (leads !== '') return 1;
	return isFinal ? 2 : 3;
}

/** The scrape that an attempt started, otherwise the first one that the service knows. */
async function find(
	node: Executing,
	{ attempt = '', scrapeId }: Told,
	named: string[],
): Promise<FoundScrape | undefined> {
	const known = scrapeId ?? scrapeIdOf((await tell(node)).saved, attempt);
	for (const id of known === undefined ? named : [known]) {
		const scrape = await findScrape(node, id);
		if (scrape) return scrape;
	}
	return undefined;
}

function notFinished({ attempt, leads }: Told, scrape: FoundScrape | undefined): Ended {
	if (!scrape) {
		throw new LeadGenError(
			'A notification came for a scrape that the service does not know',
			'The input of this execution contains the notification. Look for the scrape in the dashboard of your account, then retry this execution.',
		);
	}
	const status = show(scrape.data.status);
	// Where the node does not poll, this notification may have been the last one.
	if (leads === '' && attempt !== undefined) {
		return new Ended(
			`Scrape ${scrape.id} is not finished. Its status is still ${status}. When it is finished, another execution runs the workflow.`,
		);
	}
	throw new LeadGenError(
		`Scrape ${scrape.id} is not finished ten minutes after its notification`,
		`Its status is still ${status}. To run the workflow with this notification when the scrape is finished, retry this execution.`,
	);
}
