import { API_KEY, quiet, until, use, type Fixture } from '../fixture/fixture';
import type { Outcome } from './tally';

/** The node looks up 20 of them a minute on the smallest plan. */
const SCRAPES = 100;
const MAX_MS = 15 * 60_000;

/** Many scrapes finish at once, and all of them report to one node that only listens. */
export async function bulk(fixture: Fixture): Promise<Outcome> {
	await fixture.reset({
		accounts: { [API_KEY]: { plan: 'starter', credits: 10_000 } },
		job: { durationMs: 3_600_000 },
		// An overwhelmed n8n answers late, or with 503, before the node is asked.
		notification: { retries: 30, backoffMs: 5000 },
	});
	const credential = await fixture.newCredential('Starter', API_KEY, { plan: 'starter' });
	const trigger = fixture.trigger({ mode: 'listen' }, { credentials: use(credential) });
	const workflow = await fixture.api.createWorkflow(fixture.content(trigger));
	await fixture.api.activateWorkflow(workflow.id);
	const url = fixture.plainUrl(workflow);
	await until('its webhook', async () => (await fetch(url)).status !== 404);
	const ids: string[] = [];
	while (ids.length < SCRAPES) ids.push(await fixture.startElsewhere(url));
	fixture.sandbox.set({ rateLimit: { enabled: true, kind: 'sliding' } });
	const began = Date.now();
	for (const id of ids) fixture.sandbox.finish(id, 'completed');
	const runs = async () => (await fixture.executions(workflow.id).catch(() => [])).length;
	while ((await runs()) < SCRAPES && Date.now() < began + MAX_MS) await quiet(1000);
	const seconds = Math.round((Date.now() - began) / 1000);
	await quiet(10_000);
	const delivered = (await fixture.delivered(workflow.id)).map(({ json }) => json.scrapeId);
	await fixture.api.deactivateWorkflow(workflow.id);
	const answers = new Map<string, number>();
	for (const { status, error } of fixture.sandbox.jobs.flatMap((job) => job.notifications)) {
		const answer = error ?? `HTTP ${String(status)}`;
		answers.set(answer, (answers.get(answer) ?? 0) + 1);
	}
	const said = [...answers].map(([answer, times]) => `${String(times)} × ${answer}`).join(', ');
	const requests = fixture.sandbox.requests.filter(
		({ operation }) => operation === 'getScrapeStatus',
	);
	const refused = requests.filter(({ status }) => status === 429).length;
	return {
		drill: `${String(SCRAPES)} scrapes finish at once, of which one node is notified, on the plan Starter (60 requests a minute)`,
		promise:
			'Each runs the workflow once, as fast as the plan allows; the service repeats notifications that n8n does not accept',
		happened: `${String(delivered.length)} runs in ${String(seconds)} s; ${String(requests.length)} status requests, ${String(refused)} refused because of the rate limit; n8n's answers to the notifications: ${said}.`,
		lost: ids.filter((id) => !delivered.includes(id)).length,
		doubled: delivered.length - new Set(delivered).size,
		paidTwice: 0,
	};
}
