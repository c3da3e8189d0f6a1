import { API_KEY, Field, node, until } from '../test/e2e/field';
import { KeptResults } from './kept';

/** How long the senders of notifications that come at once wait for their answers, in milliseconds. */
interface BurstTimes {
	about: string;
	/** Of each round, the median and the longest. */
	rounds: Array<{ median: number; longest: number }>;
}

const AT_ONCE = 300;
const WARM_UP = 30;
const ROUNDS = 3;
/** The status of each scrape is looked up before its execution, as the plan allows. */
const LONGEST_ROUND_MS = 10 * 60_000;

/** Notifications to a trigger that listens, and the same requests to n8n's own Webhook node, by turns in one n8n. */
async function measureBurst(say: (line: string) => void): Promise<BurstTimes[]> {
	const field = new Field();
	await field.open();
	try {
		await field.reset({
			accounts: { [API_KEY]: { plan: 'enterprise', credits: 10_000 } },
			job: { durationMs: 86_400_000 },
		});
		field.credential = await field.newCredential('Enterprise', API_KEY, { plan: 'enterprise' });
		const trigger = await field.workflow({ mode: 'listen' });
		const hook = node('Webhook', 'n8n-nodes-base.webhook', {
			typeVersion: 2,
			webhookId: 'burst',
			parameters: { path: 'burst', httpMethod: 'POST', responseMode: 'onReceived' },
		});
		const plain = await field.api.createWorkflow(field.content(hook));
		for (const { id } of [trigger, plain]) await field.api.activateWorkflow(id);
		const url = field.plainUrl(trigger);
		await until('its webhook', async () => (await fetch(url)).status !== 404);
		const kinds = [
			{
				about: 'LeadGen Trigger, which saves the notification first',
				url,
				id: trigger.id,
			},
			{
				about: "n8n's Webhook node, which answers at once",
				url: `${field.url}/webhook/burst`,
				id: plain.id,
			},
		].map((kind) => ({ ...kind, rounds: new Array<BurstTimes['rounds'][number]>() }));
		// The first requests take longer.
		for (const count of [WARM_UP, ...new Array<number>(ROUNDS).fill(AT_ONCE)]) {
			for (const { about, url, id, rounds } of kinds) {
				const ids = await finishedScrapes(field, count);
				const runs = async () => (await field.executions(id)).length;
				const runsBefore = await runs();
				const times = await burst(url, ids);
				const isOver = async () => (await runs()) >= runsBefore + count;
				await until('the execution of each', isOver, LONGEST_ROUND_MS);
				if (count === WARM_UP) continue;
				rounds.push({ median: times[count / 2] ?? NaN, longest: times.at(-1) ?? NaN });
				say(`  ${about}: ${JSON.stringify(rounds.at(-1))}`);
			}
		}
		return kinds.map(({ about, rounds }) => ({ about, rounds }));
	} finally {
		await field.close();
	}
}

/** Scrapes that nobody was told of. @returns their IDs */
async function finishedScrapes(field: Field, count: number): Promise<string[]> {
	const ids: string[] = [];
	while (ids.length < count) ids.push(await field.startElsewhere());
	for (const id of ids) field.sandbox.finish(id, 'completed');
	return ids;
}

/** @returns the times of the answers, the shortest first */
async function burst(url: string, ids: string[]): Promise<number[]> {
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

export const BURST_TITLE = '## Many notifications at once';
const kept = new KeptResults<BurstTimes[]>('burst');

export async function renewBurst(): Promise<void> {
	await kept.renew(() => measureBurst(console.log));
}

/** The part of docs/benchmark.md about notifications that come at once. */
export function burstReport(): string {
	const seconds = (ms: number) => (ms / 1000).toFixed(1);
	const rowOf = ({ about, rounds }: BurstTimes) => [
		about,
		rounds.map(({ median }) => seconds(median)).join(', '),
		rounds.map(({ longest }) => seconds(longest)).join(', '),
	];
	const head = ['Node', 'Median of each round, s', 'Longest of each round, s'];
	return `${BURST_TITLE}

How long the senders of ${String(AT_ONCE)} notifications that come at the same moment wait for their answers, in ${String(ROUNDS)} rounds. The time is that which n8n
takes for so many requests in one process. The executions of the Webhook node are part of its time.

${kept.tables(head, (results) => results.map(rowOf))}
`;
}
