import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture, until } from '../fixture/fixture';
import { QueueFixture } from '../fixture/queueFixture';
import { Part } from './part';

/** How long it took from the notification of a scrape to the start of its execution, in milliseconds. */
interface PromptTimes {
	about: string;
	/** Of each scrape, the shortest first. */
	times: number[];
}

const SCRAPES = 20;
const EVERY_S = 10;
/** Before the node looks at the status for the first time. */
const DURATION_MS = 4000;

/** Scrapes that the trigger starts, and scrapes that are started elsewhere, each in one process and in several. */
async function measurePrompt(say: (line: string) => void): Promise<PromptTimes[]> {
	const results: PromptTimes[] = [];
	for (const [where, fixture] of [
		['One process', new Fixture()],
		['Queue mode on PostgreSQL: a webhook process, two workers', new QueueFixture()],
	] as const) {
		try {
			await fixture.open();
			for (const [which, measure] of [
				['the trigger starts the scrapes', started],
				['the trigger only listens', listened],
			] as const) {
				await fixture.reset({ job: { durationMs: DURATION_MS } });
				const times = (await measure(fixture)).sort((a, b) => a - b);
				results.push({ about: `${where}, ${which}`, times });
				say(`  ${where}, ${which}: ${times.join(' ')}`);
			}
		} finally {
			await fixture.close();
		}
	}
	return results;
}

async function started(fixture: Fixture): Promise<number[]> {
	const cronExpression = `*/${String(EVERY_S)} * * * * *`;
	const { id } = await fixture.activated({ schedule: 'cron', cronExpression });
	return await timesOf(fixture, id);
}

async function listened(fixture: Fixture): Promise<number[]> {
	const workflow = await fixture.listening();
	const url = fixture.plainUrl(workflow);
	for (let count = 0; count < SCRAPES; count++) {
		const scrapeId = await fixture.startElsewhere(url);
		await until('its notification', () => notifiedAt(fixture, scrapeId) !== undefined);
	}
	return await timesOf(fixture, workflow.id);
}

/** Waits until the service notified of so many scrapes and their executions are over. */
async function timesOf(fixture: Fixture, workflowId: string): Promise<number[]> {
	const { sandbox } = fixture;
	const notified = () => sandbox.jobs.filter((job) => job.notifications.length > 0).length;
	await until('its notifications', () => notified() >= SCRAPES, 2 * SCRAPES * EVERY_S * 1000);
	// Not when the next start is due.
	await sleep(2500);
	await fixture.api.deactivateWorkflow(workflowId);
	const times: number[] = [];
	for (const { id, startedAt } of await fixture.executions(workflowId)) {
		const execution = await fixture.finished(id);
		// An execution that starts a scrape has no output.
		const [item] = execution?.nodes['LeadGen Trigger']?.outputs[0] ?? [];
		const from = notifiedAt(fixture, String(item?.json.scrapeId));
		if (from !== undefined) times.push(Date.parse(startedAt) - from);
	}
	return times;
}

/** When the service sent the first notification of a scrape. */
function notifiedAt({ sandbox }: Fixture, id: string): number | undefined {
	return sandbox.jobs.find(({ scrapeId }) => scrapeId === id)?.notifications[0]?.at;
}

const seconds = (ms = NaN) => `${(ms / 1000).toFixed(2)} s`;

export const prompt = new Part<PromptTimes>({
	title: 'From the notification to the execution',
	about: `The time from the moment when the service sends its notification until n8n starts the execution, for ${String(SCRAPES)} scrapes.`,
	head: ['Trigger', 'Median', 'Longest'],
	cellsOf: ({ about, times }) => [
		about,
		seconds(times[Math.floor(times.length / 2)]),
		seconds(times.at(-1)),
	],
	measure: measurePrompt,
});
