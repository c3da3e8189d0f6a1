import { API_KEY, Fixture, node, until } from '../fixture/fixture';
import { Part } from './part';

/** How long the senders of notifications that come at once wait for their answers, in milliseconds. */
interface BurstTimes {
	about: string;
	/** Of each round, the median and the longest. */
	rounds: Array<{ median: number; longest: number }>;
}

const AT_ONCE = 100;
const WARM_UP = 30;
const ROUNDS = 3;
const MAX_ROUND_MS = 10 * 60_000;
/** So high that the node need not wait to look up the scrapes. */
const REQUESTS_PER_MINUTE = 60_000;

/**
 * Notifications to triggers, and the same requests to n8n's own Webhook node, by turns in one n8n. For a request to that
 * node from version 2 on, n8n 2 does not prepare expressions. For all other nodes it does.
 */
async function measureBurst(say: (line: string) => void): Promise<BurstTimes[]> {
	const fixture = new Fixture();
	try {
		await fixture.open();
		await fixture.reset({
			accounts: { [API_KEY]: { plan: 'enterprise', credits: 1_000_000 } },
			job: { durationMs: 86_400_000 },
		});
		fixture.credential = await fixture.newCredential('Enterprise', API_KEY, {
			plan: 'enterprise',
			requestsPerMinute: REQUESTS_PER_MINUTE,
		});
		const listening = await fixture.listening();
		const hook = async (typeVersion: number) => {
			const path = `beside${String(typeVersion)}`;
			const parameters = { path, httpMethod: 'POST', responseMode: 'onReceived' };
			const fields = { typeVersion, webhookId: path, parameters };
			const { id } = await fixture.activate(node('Webhook', 'n8n-nodes-base.webhook', fields));
			const about = `n8n's Webhook node, version ${String(typeVersion)}`;
			return { about, url: `${fixture.url}/webhook/${path}`, id };
		};
		const kinds = [
			{ about: 'LeadGen Trigger', url: fixture.plainUrl(listening), id: listening.id },
			await hook(1),
			await hook(2),
		].map((kind) => ({ ...kind, rounds: new Array<BurstTimes['rounds'][number]>() }));
		// The first requests take longer.
		for (const count of [WARM_UP, ...new Array<number>(ROUNDS).fill(AT_ONCE)]) {
			for (const { about, url, id, rounds } of kinds) {
				const ids = await finishedScrapes(fixture, count);
				const runs = async () => (await fixture.executions(id)).length;
				const runsBefore = await runs();
				const times = await sendAll(url, ids);
				const isOver = async () => (await runs()) >= runsBefore + count;
				await until('the execution of each', isOver, MAX_ROUND_MS);
				if (count === WARM_UP) continue;
				rounds.push({ median: times[count / 2] ?? NaN, longest: times.at(-1) ?? NaN });
				say(`  ${about}: ${JSON.stringify(rounds.at(-1))}`);
			}
		}
		return kinds.map(({ about, rounds }) => ({ about, rounds }));
	} finally {
		await fixture.close();
	}
}

/** Scrapes that nobody was told of. @returns their IDs */
async function finishedScrapes(fixture: Fixture, count: number): Promise<string[]> {
	const ids = await fixture.startMany(count);
	for (const id of ids) fixture.sandbox.finish(id, 'completed');
	return ids;
}

/** @returns the times of the answers, the shortest first */
async function sendAll(url: string, ids: string[]): Promise<number[]> {
	const began = performance.now();
	const times = await Promise.all(
		ids.map(async (scrapeId) => {
			const headers = { 'Content-Type': 'application/json' };
			const body = JSON.stringify({ scrapeId });
			const { status } = await fetch(url, { method: 'POST', headers, body });
			if (status !== 200) throw new Error(`A notification was answered with ${String(status)}`);
			return Math.round(performance.now() - began);
		}),
	);
	return times.sort((a, b) => a - b);
}

const seconds = (ms: number) => (ms / 1000).toFixed(1);

export const burst = new Part<BurstTimes>({
	title: 'Many notifications at once',
	about: `How long the senders of ${String(AT_ONCE)} notifications that come at the same moment wait for their answers, in ${String(ROUNDS)} rounds. The time is that which n8n
takes for so many requests in one process, in which their executions begin, too. From version 2 of its Webhook node on, n8n 2 skips a step for this node alone: it prepares no expressions for the request.`,
	head: ['Node', 'Median of each round, s', 'Longest of each round, s'],
	cellsOf: ({ about, rounds }) => [
		about,
		rounds.map(({ median }) => seconds(median)).join(', '),
		rounds.map(({ longest }) => seconds(longest)).join(', '),
	],
	measure: measureBurst,
});
