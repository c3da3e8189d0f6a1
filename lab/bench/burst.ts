import { API_KEY, Fixture, node } from '../fixture/fixture';
import type { Row } from '../table';

const AT_ONCE = 100;
/** The first requests take longer. */
const WARM_UP = 30;
const ROUNDS = [WARM_UP, AT_ONCE, AT_ONCE, AT_ONCE];
const MAX_ROUND_MS = 10 * 60_000;
/** So high that the node need not wait to look up the scrapes. */
const REQUESTS_PER_MINUTE = 60_000;

/**
 * Sends notifications to a trigger, and the same requests to n8n's own Webhook node, by turns in one n8n. For a request
 * to that node from version 2 on, n8n 2 does not prepare expressions. For all other nodes it does.
 */
export async function burst(): Promise<Row[]> {
	const fixture = new Fixture();
	try {
		await fixture.open();
		const plan = 'enterprise';
		await fixture.reset({
			accounts: { [API_KEY]: { plan, credits: 1_000_000 } },
			job: { durationMs: 86_400_000 },
		});
		const limit = { plan, requestsPerMinute: REQUESTS_PER_MINUTE };
		fixture.credential = await fixture.newCredential('Enterprise', API_KEY, limit);
		const listening = await fixture.listening();
		const receivers = [
			{ about: 'LeadGen Trigger', url: fixture.plainUrl(listening), id: listening.id },
			await webhook(fixture, 1),
			await webhook(fixture, 2),
		];
		const rows: Row[] = [];
		for (const [round, count] of ROUNDS.entries()) {
			for (const { about, url, id } of receivers) {
				const times = await measureRound(fixture, { url, id, count });
				if (round === 0) continue;
				const [median = '', longest = ''] = [times[count / 2], times.at(-1)];
				rows.push({ Node: about, Round: round, 'Median, ms': median, 'Longest, ms': longest });
			}
		}
		return rows;
	} finally {
		await fixture.close();
	}
}

async function webhook(fixture: Fixture, typeVersion: number) {
	const path = `beside${String(typeVersion)}`;
	const parameters = { path, httpMethod: 'POST', responseMode: 'onReceived' };
	const fields = { typeVersion, webhookId: path, parameters };
	const { id } = await fixture.activate(node('Webhook', 'n8n-nodes-base.webhook', fields));
	const about = `n8n's Webhook node, version ${String(typeVersion)}`;
	return { about, url: `${fixture.url}/webhook/${path}`, id };
}

/** @returns how long the senders wait for their answers, the shortest time first */
async function measureRound(
	fixture: Fixture,
	{ url, id, count }: { url: string; id: string; count: number },
): Promise<number[]> {
	// Scrapes that nobody was told of.
	const scrapes = await fixture.startMany(count);
	for (const scrape of scrapes) fixture.sandbox.finish(scrape, 'completed');
	const runsBefore = (await fixture.executions(id)).length;
	const began = performance.now();
	const times = await Promise.all(
		scrapes.map(async (scrapeId) => {
			const headers = { 'Content-Type': 'application/json' };
			const body = JSON.stringify({ scrapeId });
			const { status } = await fetch(url, { method: 'POST', headers, body });
			if (status !== 200) throw new Error(`A notification was answered with ${String(status)}`);
			return Math.round(performance.now() - began);
		}),
	);
	await fixture.untilExecutions(id, runsBefore + count, MAX_ROUND_MS);
	return times.sort((a, b) => a - b);
}
